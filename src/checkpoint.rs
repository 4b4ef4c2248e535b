//! Cooperative cancellation of long work.

/// Decides whether work goes on. Long work asks at intervals, and stops soon after the answer is no.
pub trait Checkpoint: Sync {
    /// Returns true once the work should stop. Called often, so it must be cheap.
    fn should_stop(&self) -> bool;
}

/// A checkpoint that never stops work.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunToEnd;

impl Checkpoint for RunToEnd {
    fn should_stop(&self) -> bool {
        false
    }
}

/// The error of work that a checkpoint has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// Returns the answer of a checkpoint as a result.
pub(crate) fn pass(checkpoint: &dyn Checkpoint) -> Result<(), Interrupted> {
    if checkpoint.should_stop() {
        Err(Interrupted)
    } else {
        Ok(())
    }
}
