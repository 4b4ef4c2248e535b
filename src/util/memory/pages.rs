//! Memory for large arrays that stay, such as tables: mappings of their own, from the start of a huge page on.
//!
//! The usual allocator puts a large array a few bytes behind the start of a page, which it has touched by then, so that the
//! first huge page does not come by itself; and in a process that has freed large arrays before, into memory that has small
//! pages already. To ask the system for a huge page in their place (`MADV_COLLAPSE`) was as good in a quiet process. But the
//! system waits for all processors then: with one of them busy, for up to 7 ms, so that `o200k_base` was loaded in anything
//! from 15 to 60 ms.
#![allow(unsafe_code)]

use std::alloc::Layout;
use std::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator, Global};
#[cfg(target_os = "linux")]
use mapped::Mapped;

/// Smaller arrays are left to the usual allocator: less than a huge page.
#[cfg(any(target_os = "linux", test))]
pub(super) const WORTH_MAPPING: usize = 2 << 20;

/// An allocator: of mappings in huge pages for what is large, else the usual one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pages;

// SAFETY: a layout is always served by the same of both, of which each gives memory of its own, that stays where it is until it
// is given back.
unsafe impl Allocator for Pages {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        #[cfg(target_os = "linux")]
        if let Some(mapped) = Mapped::of(layout) {
            return mapped.allocate().ok_or(AllocError);
        }
        Global.allocate(layout)
    }

    fn allocate_zeroed(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        #[cfg(target_os = "linux")]
        if let Some(mapped) = Mapped::of(layout) {
            // As mappings are.
            return mapped.allocate().ok_or(AllocError);
        }
        Global.allocate_zeroed(layout)
    }

    unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
        #[cfg(target_os = "linux")]
        if let Some(mapped) = Mapped::of(layout) {
            // SAFETY: the caller's: it was allocated with this layout, so in this way.
            unsafe { mapped.deallocate(start) };
            return;
        }
        // SAFETY: the caller's.
        unsafe { Global.deallocate(start, layout) };
    }

    /// A mapping is not copied, which would take as much memory again.
    unsafe fn grow(
        &self,
        start: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        #[cfg(target_os = "linux")]
        if let (Some(before), Some(after)) = (Mapped::of(old), Mapped::of(new)) {
            // SAFETY: the caller's: it was allocated with the old layout, so in this way.
            return unsafe { before.grow_to(after, start) }.ok_or(AllocError);
        }
        let larger = self.allocate(new)?;
        // SAFETY: both have so many bytes, and the larger one is nobody else's; then the other is given back, as the caller may.
        unsafe {
            start.copy_to_nonoverlapping(larger.cast(), old.size());
            self.deallocate(start, old);
        }
        Ok(larger)
    }
}

#[cfg(target_os = "linux")]
mod mapped {
    use std::alloc::Layout;
    use std::ptr::{self, NonNull};

    use super::WORTH_MAPPING;

    /// A huge page on most machines. A multiple of every usual page.
    const HUGE_PAGE: usize = 2 << 20;

    /// The smallest page there is: mappings are aligned to it wherever they are.
    const PAGE: usize = 4096;

    /// How many bytes to map: whole huge pages.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Mapped(usize);

    impl Mapped {
        /// For a layout that is worth it.
        pub(super) fn of(layout: Layout) -> Option<Self> {
            if layout.size() < WORTH_MAPPING || layout.align() > PAGE {
                return None;
            }
            let length = layout.size().checked_next_multiple_of(HUGE_PAGE)?;
            isize::try_from(length).is_ok().then_some(Self(length))
        }

        /// Zeroed memory, from the start of a huge page on if that can be; none if there is none.
        pub(super) fn allocate(self) -> Option<NonNull<[u8]>> {
            let mut start = map(self.0)?;
            // Systems lay out what fills huge pages at the start of one, but for older ones.
            if !start.addr().get().is_multiple_of(HUGE_PAGE)
                && let Some(more) = self.0.checked_add(HUGE_PAGE)
                && let Some(all) = map(more)
            {
                let before = all.addr().get().next_multiple_of(HUGE_PAGE) - all.addr().get();
                // SAFETY: the first mapping is of no use to anybody; the part of the other from `before` on has room for as many
                // bytes as wanted, and what is around it is of no use.
                unsafe {
                    unmap(start, self.0);
                    start = all.add(before);
                    unmap(all, before);
                    unmap(start.add(self.0), HUGE_PAGE - before);
                }
            }
            // SAFETY: the advice changes no contents. Where it is not known the call fails, which is fine.
            let _ = unsafe { libc::madvise(start.as_ptr().cast(), self.0, libc::MADV_HUGEPAGE) };
            Some(NonNull::slice_from_raw_parts(start, self.0))
        }

        /// The same memory with more behind it, perhaps elsewhere; none, and nothing changed, if there is none.
        ///
        /// # Safety
        /// It was allocated for the same layout, and nobody uses it.
        pub(super) unsafe fn grow_to(self, to: Self, start: NonNull<u8>) -> Option<NonNull<[u8]>> {
            let mut place = start;
            if self.0 != to.0 {
                // SAFETY: the caller's: so many bytes are mapped there.
                let moved = unsafe {
                    libc::mremap(start.as_ptr().cast(), self.0, to.0, libc::MREMAP_MAYMOVE)
                };
                if moved == libc::MAP_FAILED {
                    return None;
                }
                place = NonNull::new(moved.cast())?;
            }
            Some(NonNull::slice_from_raw_parts(place, to.0))
        }

        /// # Safety
        /// It was allocated for the same layout, and nobody uses it.
        pub(super) unsafe fn deallocate(self, start: NonNull<u8>) {
            // SAFETY: the caller's.
            unsafe { unmap(start, self.0) };
        }
    }

    /// Fresh memory.
    fn map(length: usize) -> Option<NonNull<u8>> {
        // SAFETY: asks for memory wherever there is some, so that no other changes.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return None;
        }
        NonNull::new(start.cast())
    }

    /// # Safety
    /// All of it is mapped by [`map`], and nobody uses it. It begins and ends with a page.
    unsafe fn unmap(start: NonNull<u8>, length: usize) {
        if length > 0 {
            // SAFETY: the caller's. It cannot fail but where the system has no room to keep account of two parts of a mapping; then the
            // memory is lost to this process, and nothing else happens.
            let _ = unsafe { libc::munmap(start.as_ptr().cast(), length) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LargeVec, Zeros, try_zeros};
    use super::{Pages, WORTH_MAPPING};
    use crate::error::OutOfMemory;

    // SAFETY: numbers are zeros where all their bytes are.
    unsafe impl Zeros for [u64; 2] {}

    /// Arrays of all sizes hold what is put there, while they grow and others come and go.
    #[test]
    fn holds_what_is_put_there() {
        let mut kept: Vec<(usize, LargeVec<usize>)> = Vec::new();
        for seed in 0..40 {
            // Some of less than a huge page, some of more.
            let length = WORTH_MAPPING / 16 * (1 + seed % 5) + seed;
            let mut array = LargeVec::new_in(Pages);
            if seed % 2 == 0 {
                array.reserve_exact(length);
            }
            array.extend((0..length).map(|number| number ^ seed));
            if seed % 3 == 0 {
                array.shrink_to_fit();
            }
            if seed % 4 == 0 {
                array.truncate(length / (1 + seed % 9));
                array.shrink_to_fit();
            }
            kept.push((seed, array));
            if kept.len() > 7 {
                kept.swap_remove(seed % 7);
            }
            for (seed, array) in &kept {
                let expected = (0..array.len()).map(|number| number ^ seed);
                assert!(array.iter().copied().eq(expected), "{seed}");
            }
        }
    }

    /// Large arrays start where a huge page does.
    #[cfg(target_os = "linux")]
    #[test]
    fn large_ones_start_with_a_huge_page() {
        for length in [WORTH_MAPPING, 3 * WORTH_MAPPING + 1, 64 * WORTH_MAPPING] {
            let array: LargeVec<u8> = LargeVec::with_capacity_in(length, Pages);
            assert!(array.as_ptr().addr().is_multiple_of(2 << 20), "{length}");
        }
    }

    /// Zeros are zeros, whatever was there before.
    #[test]
    fn zeros_are_zeros() -> Result<(), OutOfMemory> {
        for length in [0, 1, 100, WORTH_MAPPING / 8, WORTH_MAPPING] {
            for _ in 0..3 {
                let mut zeros: LargeVec<[u64; 2]> = try_zeros(length, 2 * length)?;
                assert!(zeros.len() == length && zeros.capacity() >= 2 * length);
                assert!(zeros.iter().all(|&value| value == [0; 2]));
                zeros.resize(2 * length, [7; 2]);
            }
        }
        Ok(())
    }

    /// What no machine has is refused, and nothing ends.
    #[test]
    fn too_much_is_refused() {
        let mut array: LargeVec<u8> = LargeVec::new_in(Pages);
        assert!(array.try_reserve_exact(usize::MAX / 4).is_err());
        assert!(try_zeros::<[u64; 2]>(0, usize::MAX / 32).is_err());
        assert!(try_zeros::<[u64; 2]>(usize::MAX, 0).is_err());
        assert!(array.is_empty());
    }
}
