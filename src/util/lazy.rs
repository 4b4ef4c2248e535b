//! Shared values that survive `fork`: nothing waits for another thread, which may not exist any more.

use std::convert::Infallible;
use std::sync::{Mutex, MutexGuard, OnceLock};

/// How often a lock is tried.
const LOCK_ATTEMPTS: usize = 100;

/// Locks what is locked for moments only, so that it is seldom `None`: after `fork`, if another thread held it, always.
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    for _ in 0..LOCK_ATTEMPTS {
        if let Ok(guard) = mutex.try_lock() {
            return Some(guard);
        }
        std::hint::spin_loop();
    }
    None
}

/// Returns the value of `cell`, initialising it if it is empty.
///
/// Does not wait for another thread that computes the value: after `fork`, that thread may not exist. If
/// several threads compute it at once, one value wins.
pub(crate) fn get_or_init_nonblocking<T>(cell: &OnceLock<T>, init: impl FnOnce() -> T) -> &T {
    get_or_try_init_nonblocking(cell, || Ok::<_, Infallible>(init()))
        .unwrap_or_else(|never| match never {})
}

/// As [`get_or_init_nonblocking`], for a value that cannot always be computed.
///
/// # Errors
/// That of `init`; the cell stays empty.
pub(crate) fn get_or_try_init_nonblocking<T, E>(
    cell: &OnceLock<T>,
    init: impl FnOnce() -> Result<T, E>,
) -> Result<&T, E> {
    if let Some(value) = cell.get() {
        return Ok(value);
    }
    let value = init()?;
    Ok(cell.get_or_init(|| value))
}
