//! What is made once, when it is first asked for.

use std::sync::OnceLock;

/// What a cell holds, made now if it is empty. Nobody waits for who makes it: after a fork, that thread may not be there. Of
/// several threads that come here at once, one's is kept.
pub(crate) fn made<T>(cell: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    if let Some(there) = cell.get() {
        return there;
    }
    let value = make();
    cell.get_or_init(|| value)
}
