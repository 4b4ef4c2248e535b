//! Memory that ends where a test says, in place of the system's. Never part of a release.
//!
//! A test counts the requests of at least some size and has the n-th refused: alone, or with all that would take more
//! memory than was in use then.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::may_fail;

/// Bytes in use.
static IN_USE: AtomicUsize = AtomicUsize::new(0);

/// Bytes that may be in use.
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Requests of fewer bytes are not refused.
static MIN_BYTES: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Number of requests up to the one that is refused.
static COUNTDOWN: AtomicUsize = AtomicUsize::new(0);

/// Whether that sets the limit.
static IS_LASTING: AtomicUsize = AtomicUsize::new(0);

/// Number of requests refused.
static REFUSED: AtomicUsize = AtomicUsize::new(0);

/// The largest request that may not fail.
static LARGEST: AtomicUsize = AtomicUsize::new(0);

/// Requests that may not fail, of at least this many bytes, are traced to standard error.
static TRACED: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Refuses the n-th request of at least `min_bytes` from now on; if `is_lasting`, also later ones that would take more
/// memory than is in use at that time.
pub(crate) fn fail(nth: usize, min_bytes: usize, is_lasting: bool) {
    IS_LASTING.store(usize::from(is_lasting), Relaxed);
    COUNTDOWN.store(nth, Relaxed);
    REFUSED.store(0, Relaxed);
    LARGEST.store(0, Relaxed);
    MIN_BYTES.store(min_bytes, Relaxed);
}

/// Refuses nothing from now on; returns how many requests were refused.
pub(crate) fn stop() -> usize {
    MIN_BYTES.store(usize::MAX, Relaxed);
    LIMIT.store(usize::MAX, Relaxed);
    REFUSED.load(Relaxed)
}

/// Bytes in use.
pub(crate) fn in_use() -> usize {
    IN_USE.load(Relaxed)
}

/// The largest request since the last [`fail`] that may not fail.
pub(crate) fn largest() -> usize {
    LARGEST.load(Relaxed)
}

/// Traces requests that may not fail, of at least this many bytes.
pub(crate) fn trace(min_bytes: usize) {
    TRACED.store(min_bytes, Relaxed);
}

/// Counts a request for more memory; returns true if it is refused.
pub(super) fn refuses(more: usize) -> bool {
    if more >= MIN_BYTES.load(Relaxed) {
        let is_nth = COUNTDOWN.fetch_sub(1, Relaxed) == 1;
        if is_nth && IS_LASTING.load(Relaxed) != 0 {
            LIMIT.store(in_use(), Relaxed);
        }
        if is_nth || in_use().saturating_add(more) > LIMIT.load(Relaxed) {
            REFUSED.fetch_add(1, Relaxed);
            return true;
        }
    }
    IN_USE.fetch_add(more, Relaxed);
    false
}

/// Counts memory that was freed.
pub(super) fn freed(bytes: usize) {
    IN_USE.fetch_sub(bytes, Relaxed);
}

/// The system's allocator with that.
pub(crate) struct FailingSystem;

impl FailingSystem {
    /// Runs a request for `more` bytes in a block of `size`.
    fn request(more: usize, size: usize, system: impl FnOnce() -> *mut u8) -> *mut u8 {
        if more > 0 && !may_fail::is_set() {
            LARGEST.fetch_max(size, Relaxed);
            if size >= TRACED.load(Relaxed) {
                traced(size);
            }
        }
        if refuses(more) {
            return ptr::null_mut();
        }
        system()
    }
}

fn traced(size: usize) {
    thread_local!(static IS_TRACING: Cell<bool> = const { Cell::new(false) });
    if !IS_TRACING.replace(true) {
        eprintln!("REQUEST {size}\n{}", Backtrace::force_capture());
        IS_TRACING.set(false);
    }
}

// SAFETY: passes everything to the system's allocator, or returns null. Nothing here unwinds but a failure to print.
unsafe impl GlobalAlloc for FailingSystem {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let size = layout.size();
        // SAFETY: as the caller ensures.
        Self::request(size, size, || unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let size = layout.size();
        // SAFETY: as the caller ensures.
        Self::request(size, size, || unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let (more, less) = (
            size.saturating_sub(layout.size()),
            layout.size().saturating_sub(size),
        );
        // SAFETY: as the caller ensures.
        let block = Self::request(more, size, || unsafe {
            System.realloc(start, layout, size)
        });
        freed(less);
        block
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        freed(layout.size());
        // SAFETY: as the caller ensures.
        unsafe { System.dealloc(start, layout) };
    }
}
