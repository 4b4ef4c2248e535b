//! Cooperative cancellation of long work.
//!
//! Long work asks at intervals whether it should go on, and stops soon after the answer is no. The checkpoint
//! that answers is not an argument: it is [set](with) for the current thread while the work runs, and threads that take
//! part in the work [`inherit`] it.

#![allow(unsafe_code)]

use std::cell::Cell;

/// Decides whether work goes on.
pub trait Checkpoint: Sync {
    /// Returns true once the work should stop. Called often, so it must be cheap.
    fn should_stop(&self) -> bool;
}

/// The error of work that a checkpoint has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

thread_local! {
    /// The checkpoint of this thread; without one, work runs to its end.
    static CURRENT: Cell<Option<&'static dyn Checkpoint>> = const { Cell::new(None) };
}

/// Runs `work`, which `checkpoint` may stop: it decides for this thread until the work returns or unwinds.
pub fn with<R>(checkpoint: &dyn Checkpoint, work: impl FnOnce() -> R) -> R {
    // SAFETY: only `should_stop` and `inherit` read the reference from `CURRENT`, in this thread, while `work` runs;
    // `Restored` removes it before the borrow of `checkpoint` ends. `inherit` passes it on with a lifetime that ends
    // within `work`.
    let checkpoint =
        unsafe { std::mem::transmute::<&dyn Checkpoint, &'static dyn Checkpoint>(checkpoint) };
    let _restored = Restored(CURRENT.replace(Some(checkpoint)));
    work()
}

/// Puts back the checkpoint before, also when the work unwinds.
struct Restored(Option<&'static dyn Checkpoint>);

impl Drop for Restored {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// The checkpoint of a thread, to be set in others that take part in its work.
#[derive(Clone, Copy)]
pub struct Inherited<'a>(Option<&'a dyn Checkpoint>);

impl Inherited<'_> {
    /// Runs `work` as [`with`] the checkpoint of the thread that this comes from.
    pub fn with<R>(self, work: impl FnOnce() -> R) -> R {
        match self.0 {
            Some(checkpoint) => with(checkpoint, work),
            None => work(),
        }
    }
}

/// Runs `work`, which gets the checkpoint of this thread.
pub fn inherit<R>(work: impl FnOnce(Inherited<'_>) -> R) -> R {
    work(Inherited(CURRENT.get()))
}

/// Returns true once the work of this thread should stop.
#[inline]
pub fn should_stop() -> bool {
    match CURRENT.get() {
        Some(checkpoint) => checkpoint.should_stop(),
        None => false,
    }
}

/// Returns an error once the work of this thread should stop.
#[inline]
pub(crate) fn pass() -> Result<(), Interrupted> {
    if should_stop() {
        Err(Interrupted)
    } else {
        Ok(())
    }
}
