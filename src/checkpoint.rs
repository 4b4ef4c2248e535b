//! How long work asks, now and then, whether it should go on.

/// Asked between stretches of work; long work stops soon after it says so.
pub trait Checkpoint: Sync {
    /// True once the work should stop. Called often, so it must be cheap.
    fn should_stop(&self) -> bool;
}

/// Never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunToEnd;

impl Checkpoint for RunToEnd {
    fn should_stop(&self) -> bool {
        false
    }
}

/// The work was asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// The checkpoint's answer as a result.
pub(crate) fn pass(checkpoint: &dyn Checkpoint) -> Result<(), Interrupted> {
    if checkpoint.should_stop() {
        Err(Interrupted)
    } else {
        Ok(())
    }
}
