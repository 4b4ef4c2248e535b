//! Lazy initialisation that survives `fork`.

use std::sync::OnceLock;

/// Returns the value of `cell`, initialising it if it is empty.
///
/// Does not wait for another thread that computes the value: after `fork`, that thread may not exist. If
/// several threads compute it at once, one value wins.
pub(crate) fn get_or_init_nonblocking<T>(cell: &OnceLock<T>, init: impl FnOnce() -> T) -> &T {
    if let Some(value) = cell.get() {
        return value;
    }
    let value = init();
    cell.get_or_init(|| value)
}
