//! Whether requests of this thread may fail.

use std::cell::Cell;

thread_local! {
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
}

/// Runs a request for memory that may fail: it takes nothing from the reserve.
pub(super) fn without<R>(request: impl FnOnce() -> R) -> R {
    let before = MAY_FAIL.replace(true);
    let result = request();
    MAY_FAIL.set(before);
    result
}

/// Returns true within [`without`].
pub(super) fn is_set() -> bool {
    MAY_FAIL.get()
}
