//! Something that threads use one after the other.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::runtime::ThreadTag;

/// A value that one thread at a time uses; others wait for it.
pub(super) struct Turns<T> {
    value: Mutex<T>,
    /// The [tag](ThreadTag) of the thread that has it, 0 if none has.
    owner: AtomicUsize,
}

impl<T> Turns<T> {
    pub(super) fn new(value: T) -> Self {
        Self {
            value: Mutex::new(value),
            owner: AtomicUsize::new(0),
        }
    }

    /// Waits for the value; to be called without the GIL, which the thread that has it may need to go on.
    ///
    /// # Errors
    /// `RuntimeError` if this thread has it already, and would wait for itself: work runs Python code at times, such as signal
    /// handlers.
    pub(super) fn take(&self) -> PyResult<Turn<'_, T>> {
        let here = ThreadTag::current().number();
        // Only this thread stores its tag, so that no order is needed.
        if self.owner.load(Ordering::Relaxed) == here {
            return Err(PyRuntimeError::new_err(
                "it is in use by a call of this thread, which has not returned: expected calls one after another, not \
                 from a progress callback, a signal handler or an iterator that the first call runs",
            ));
        }
        let value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        self.owner.store(here, Ordering::Relaxed);
        let owner = &self.owner;
        Ok(Turn { value, owner })
    }
}

/// The value, until it is dropped.
pub(super) struct Turn<'a, T> {
    value: MutexGuard<'a, T>,
    owner: &'a AtomicUsize,
}

impl<T> Deref for Turn<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Turn<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        // The value is given back after that.
        self.owner.store(0, Ordering::Relaxed);
    }
}
