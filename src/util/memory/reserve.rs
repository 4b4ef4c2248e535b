//! A reserve of memory for small requests, where the system has no more.
//!
//! The standard library, and every crate that uses its collections, aborts the process where a small request fails. So
//! the allocator of the Python extension keeps a block that is not used. Where the system refuses a request, it frees
//! the block and asks again. Long work then stops at its next checkpoint, and no other begins until the block is there
//! again. It is freed to the system, not handed out in parts, because some values that are allocated meanwhile live long.
//!
//! Requests that may fail, and that may be large, leave the reserve alone: [`may_fail::without`].
#![allow(unsafe_code)]

#[cfg(not(feature = "failing-allocator"))]
use std::alloc::System;
use std::alloc::{GlobalAlloc, Layout};
use std::panic::resume_unwind;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

#[cfg(feature = "failing-allocator")]
use super::failing::FailingSystem as System;
use super::may_fail;
use crate::error::OutOfMemory;

/// Size of the reserve in bytes.
const RESERVE: usize = 8 << 20;

/// The error of work that does not begin, or ends, because the reserve is empty.
pub(crate) const SHORTAGE: OutOfMemory = OutOfMemory(RESERVE);

const RESERVE_LAYOUT: Layout = match Layout::from_size_align(RESERVE, 16) {
    Ok(layout) => layout,
    Err(_) => panic!("16 is a power of two"),
};

/// Unwinds with an error that no caller on the way can take. Whoever catches the panic finds it as the payload.
#[cold]
pub(crate) fn unwind(error: OutOfMemory) -> ! {
    resume_unwind(Box::new(error))
}

/// The allocator of the Python extension.
#[cfg_attr(feature = "python", global_allocator)]
static ALLOCATOR: ReserveAlloc<System> = ReserveAlloc::new(System);

/// Fills the reserve if it is empty, with which every call begins.
///
/// # Errors
/// [`OutOfMemory`].
#[cfg(feature = "python")]
pub(crate) fn fill() -> Result<(), OutOfMemory> {
    ALLOCATOR.fill()
}

/// Returns true from where the reserve was needed until it is filled again.
pub(crate) fn is_short() -> bool {
    ALLOCATOR.is_short()
}

/// Unwinds with [`OutOfMemory`] where the reserve was needed. Called by loops that make many small values without asking
/// a checkpoint.
#[inline]
pub(crate) fn pass() {
    if is_short() {
        unwind(SHORTAGE);
    }
}

/// In place of the reserve, from where it was needed until it is filled again. No block is there: it is no multiple of 16.
const FREED: *mut u8 = ptr::dangling_mut();

/// An allocator with a reserve.
struct ReserveAlloc<A> {
    system: A,
    /// The reserve, or [`FREED`]; null before it is first filled.
    block: AtomicPtr<u8>,
}

impl<A: GlobalAlloc> ReserveAlloc<A> {
    /// Creates an allocator whose reserve is empty.
    const fn new(system: A) -> Self {
        Self {
            system,
            block: AtomicPtr::new(ptr::null_mut()),
        }
    }

    fn is_short(&self) -> bool {
        self.block.load(Ordering::Relaxed) == FREED
    }

    #[cfg(any(test, feature = "python"))]
    fn fill(&self) -> Result<(), OutOfMemory> {
        let before = self.block.load(Ordering::Relaxed);
        if !before.is_null() && before != FREED {
            return Ok(());
        }
        // SAFETY: the layout has a size.
        let block = may_fail::without(|| unsafe { self.system.alloc(RESERVE_LAYOUT) });
        if block.is_null() {
            return Err(SHORTAGE);
        }
        if !self.replace(before, block) {
            // Another thread has filled it.
            // SAFETY: just allocated by the same allocator with this layout, and not shared yet.
            unsafe { self.system.dealloc(block, RESERVE_LAYOUT) };
        }
        Ok(())
    }

    fn replace(&self, before: *mut u8, after: *mut u8) -> bool {
        self.block
            .compare_exchange(before, after, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    /// Repeats a request of `size` bytes that the system has refused, unless it may fail.
    #[cold]
    fn repeat(&self, size: usize, request: impl Fn(&A) -> *mut u8) -> *mut u8 {
        if size > RESERVE || may_fail::is_set() {
            return ptr::null_mut();
        }
        let block = self.block.load(Ordering::Acquire);
        if !block.is_null() && block != FREED && self.replace(block, FREED) {
            // SAFETY: allocated by the same allocator with this layout; this thread alone has taken it out.
            unsafe { self.system.dealloc(block, RESERVE_LAYOUT) };
        }
        // Also where another thread has just freed the reserve.
        request(&self.system)
    }
}

// SAFETY: every block is one of the inner allocator's, which gets the same layouts. Nothing here unwinds.
unsafe impl<A: GlobalAlloc> GlobalAlloc for ReserveAlloc<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller ensures that the layout has a size.
        let request = |system: &A| unsafe { system.alloc(layout) };
        let block = request(&self.system);
        if block.is_null() {
            return self.repeat(layout.size(), request);
        }
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let request = |system: &A| unsafe { system.alloc_zeroed(layout) };
        let block = request(&self.system);
        if block.is_null() {
            return self.repeat(layout.size(), request);
        }
        block
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller ensures that the block has this layout and the new size is none that overflows; a request
        // that fails leaves the block as it is.
        let request = |system: &A| unsafe { system.realloc(start, layout, size) };
        let block = request(&self.system);
        if block.is_null() {
            return self.repeat(size, request);
        }
        block
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller ensures that the block was allocated here, so by the inner allocator, with this layout.
        unsafe { self.system.dealloc(start, layout) };
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::ptr;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::may_fail::without;
    use super::{RESERVE, ReserveAlloc, SHORTAGE};
    use crate::error::OutOfMemory;

    /// A system with so many bytes.
    struct Limited(AtomicUsize);

    // SAFETY: as the allocator that it passes all requests to, or null.
    unsafe impl GlobalAlloc for Limited {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            let take = |left: usize| left.checked_sub(layout.size());
            match self
                .0
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            {
                // SAFETY: the caller ensures that the layout has a size.
                Ok(_) => unsafe { System.alloc(layout) },
                Err(_) => ptr::null_mut(),
            }
        }

        unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
            self.0.fetch_add(layout.size(), Ordering::Relaxed);
            // SAFETY: as the caller ensures.
            unsafe { System.dealloc(start, layout) };
        }
    }

    /// Requests that may not fail are served by the reserve, which is filled again once there is memory.
    #[test]
    fn the_reserve_serves_what_may_not_fail() -> Result<(), OutOfMemory> {
        let allocator = ReserveAlloc::new(Limited(AtomicUsize::new(RESERVE + 100)));
        allocator.fill()?;
        let layout = Layout::new::<[u8; 101]>();
        // SAFETY: the layout has a size.
        let request = || unsafe { allocator.alloc(layout) };
        assert!(without(request).is_null() && !allocator.is_short());
        let block = request();
        assert!(!block.is_null() && allocator.is_short());
        assert_eq!(allocator.fill(), Err(SHORTAGE));
        // SAFETY: allocated above with this layout.
        unsafe { allocator.dealloc(block, layout) };
        allocator.fill()?;
        assert!(!allocator.is_short());
        // SAFETY: the layout has a size.
        let large = unsafe { allocator.alloc(Layout::new::<[u8; RESERVE + 1]>()) };
        assert!(
            large.is_null() && !allocator.is_short(),
            "more than the reserve has"
        );
        Ok(())
    }
}
