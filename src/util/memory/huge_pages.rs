//! An allocator for large, long-lived tables: mappings of their own that start at a huge page.
//!
//! The usual allocator puts a large array a few bytes behind the start of a page that it has touched by then,
//! so that the first huge page is not used; and, in a process that has freed large arrays, into memory that
//! has small pages already. Collapsing these to a huge page (`MADV_COLLAPSE`) was as good in a quiet process.
//! But the system then waits for all processors: with one of them busy, for up to 7 ms, so that loading
//! `o200k_base` took anything from 15 to 60 ms.
#![allow(unsafe_code)]

use std::alloc::Layout;
use std::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator, Global};
use allocator_api2::vec::Vec as VecIn;
#[cfg(target_os = "linux")]
use mapped::Mapped;

/// Smaller arrays, of less than a huge page, are left to the usual allocator.
#[cfg(any(target_os = "linux", test))]
pub(super) const MIN_MAPPED_BYTES: usize = 2 << 20;

/// A vector for long-lived tables, in huge pages if it is large.
pub(crate) type LargeVec<T> = VecIn<T, HugePageAlloc>;

/// Maps large arrays in huge pages; passes small ones to the usual allocator.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HugePageAlloc;

// SAFETY: whether a block is mapped depends on its layout alone, so that it is freed by the allocator that it
// came from. Both return blocks that fit the layout, overlap no other, and stay valid until they are freed;
// copies of the unit struct are interchangeable.
unsafe impl Allocator for HugePageAlloc {
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
            // Fresh mappings are zero.
            return mapped.allocate().ok_or(AllocError);
        }
        Global.allocate_zeroed(layout)
    }

    unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
        #[cfg(target_os = "linux")]
        if let Some(mapped) = Mapped::of(layout) {
            // SAFETY: the caller ensures that the block was allocated with this layout, hence mapped with
            // this length, and is not used any more.
            unsafe { mapped.deallocate(start) };
            return;
        }
        // SAFETY: the caller ensures that the block was allocated with this layout, hence by `Global`, and is
        // not used any more.
        unsafe { Global.deallocate(start, layout) };
    }

    /// Moves a mapping without copying it, which would take as much memory again.
    unsafe fn grow(
        &self,
        start: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        #[cfg(target_os = "linux")]
        if let (Some(before), Some(after)) = (Mapped::of(old), Mapped::of(new)) {
            // SAFETY: the caller ensures that the block was allocated with the old layout, hence mapped with
            // its length, and is used only at the returned address from now on.
            return unsafe { before.grow_to(after, start) }.ok_or(AllocError);
        }
        let larger = self.allocate(new)?;
        // SAFETY: the caller ensures that the old block has `old.size()` bytes and the new layout is no
        // smaller; the new block is fresh, so that they do not overlap. The old one may be freed, as the
        // caller uses only the new one from now on.
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

    #[cfg(feature = "failing-allocator")]
    use super::super::failing;
    use super::MIN_MAPPED_BYTES;

    /// Size of a huge page on most machines, a multiple of every usual page size.
    const HUGE_PAGE: usize = 2 << 20;

    /// The smallest page size, to which every mapping is aligned.
    const PAGE: usize = 4096;

    /// The length of a mapping: whole huge pages.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Mapped(usize);

    impl Mapped {
        /// Returns the length to map for a layout; `None` if it is left to the usual allocator.
        pub(super) fn of(layout: Layout) -> Option<Self> {
            if layout.size() < MIN_MAPPED_BYTES || layout.align() > PAGE {
                return None;
            }
            let length = layout.size().checked_next_multiple_of(HUGE_PAGE)?;
            isize::try_from(length).is_ok().then_some(Self(length))
        }

        /// Maps zeroed memory, from the start of a huge page on if possible; `None` if memory is short.
        pub(super) fn allocate(self) -> Option<NonNull<[u8]>> {
            let mut start = map(self.0)?;
            // Recent kernels align a mapping of whole huge pages; on older ones, map more and unmap the ends.
            if !start.addr().get().is_multiple_of(HUGE_PAGE)
                && let Some(more) = self.0.checked_add(HUGE_PAGE)
                && let Some(all) = map(more)
            {
                let before = all.addr().get().next_multiple_of(HUGE_PAGE) - all.addr().get();
                // SAFETY: the first mapping is not used yet. The second has `self.0 + HUGE_PAGE` bytes, of
                // which the block takes `self.0` from `before <= HUGE_PAGE` on; what is unmapped before and
                // after it is not used.
                unsafe {
                    unmap(start, self.0);
                    start = all.add(before);
                    unmap(all, before);
                    unmap(start.add(self.0), HUGE_PAGE - before);
                }
            }
            // SAFETY: the advice changes no contents; the call fails where it is unknown, which is harmless.
            let _ = unsafe { libc::madvise(start.as_ptr().cast(), self.0, libc::MADV_HUGEPAGE) };
            Some(NonNull::slice_from_raw_parts(start, self.0))
        }

        /// Extends a mapping, perhaps at another address; `None`, and no change, if memory is short.
        ///
        /// # Safety
        /// `start` must be a block that `self` allocated, which is used only at the returned address from now
        /// on.
        pub(super) unsafe fn grow_to(self, to: Self, start: NonNull<u8>) -> Option<NonNull<[u8]>> {
            let mut address = start;
            if self.0 != to.0 {
                #[cfg(feature = "failing-allocator")]
                if failing::refuses(to.0.saturating_sub(self.0)) {
                    return None;
                }
                // SAFETY: `self.0` bytes are mapped at `start`, as the caller ensures, and no reference to
                // them remains.
                let moved = unsafe {
                    libc::mremap(start.as_ptr().cast(), self.0, to.0, libc::MREMAP_MAYMOVE)
                };
                if moved == libc::MAP_FAILED {
                    return None;
                }
                address = NonNull::new(moved.cast())?;
            }
            Some(NonNull::slice_from_raw_parts(address, to.0))
        }

        /// Unmaps a block.
        ///
        /// # Safety
        /// `start` must be a block that `self` allocated, which is not used any more.
        pub(super) unsafe fn deallocate(self, start: NonNull<u8>) {
            // SAFETY: `self.0` bytes are mapped at `start` and not used any more, as the caller ensures.
            unsafe { unmap(start, self.0) };
        }
    }

    /// Maps fresh memory.
    fn map(length: usize) -> Option<NonNull<u8>> {
        #[cfg(feature = "failing-allocator")]
        if failing::refuses(length) {
            return None;
        }
        // SAFETY: without a fixed address, the system chooses unmapped memory, so that no other mapping
        // changes.
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

    /// Unmaps `length` bytes.
    ///
    /// # Safety
    /// All of them must be mapped by [`map`] and not used any more; they must start and end at page
    /// boundaries.
    unsafe fn unmap(start: NonNull<u8>, length: usize) {
        if length > 0 {
            #[cfg(feature = "failing-allocator")]
            failing::freed(length);
            // SAFETY: mapped and not used any more, as the caller ensures. It fails only where the system
            // cannot keep track of two parts of a mapping; then the memory is leaked, and nothing else
            // happens.
            let _ = unsafe { libc::munmap(start.as_ptr().cast(), length) };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::super::{LargeVec, try_zeros};
    use super::{HugePageAlloc, MIN_MAPPED_BYTES};
    use crate::error::OutOfMemory;

    /// Arrays of all sizes keep their values while they grow and others are allocated and freed.
    #[test]
    fn arrays_keep_their_values() {
        let mut kept: Vec<(usize, LargeVec<usize>)> = Vec::new();
        for seed in 0..40 {
            // Some of less than a huge page, some of more.
            let length = MIN_MAPPED_BYTES / 16 * (1 + seed % 5) + seed;
            let mut array = LargeVec::new_in(HugePageAlloc);
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

    #[cfg(target_os = "linux")]
    #[test]
    fn large_arrays_start_at_a_huge_page() {
        for length in [
            MIN_MAPPED_BYTES,
            3 * MIN_MAPPED_BYTES + 1,
            64 * MIN_MAPPED_BYTES,
        ] {
            let array: LargeVec<u8> = LargeVec::with_capacity_in(length, HugePageAlloc);
            assert!(array.as_ptr().addr().is_multiple_of(2 << 20), "{length}");
        }
    }

    /// Memory that was used before is zeroed again.
    #[test]
    fn try_zeros_returns_zeros() -> Result<(), OutOfMemory> {
        for length in [0, 1, 100, MIN_MAPPED_BYTES / 8, MIN_MAPPED_BYTES] {
            for _ in 0..3 {
                let mut zeros: LargeVec<[u64; 2]> = try_zeros(length, 2 * length)?;
                assert!(zeros.len() == length && zeros.capacity() >= 2 * length);
                assert!(zeros.iter().all(|&value| value == [0; 2]));
                zeros.resize(2 * length, [7; 2]);
            }
        }
        Ok(())
    }

    /// More memory than any machine has is an error, not an abort. With 32 bits, a machine may have all that can be asked
    /// for.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn excessive_requests_fail() {
        let mut array: LargeVec<u8> = LargeVec::new_in(HugePageAlloc);
        assert!(array.try_reserve_exact(usize::MAX / 4).is_err());
        // Unseen, memory that is not used would be optimised away, and its request with it.
        assert!(black_box(try_zeros::<[u64; 2]>(0, usize::MAX / 32)).is_err());
        assert!(try_zeros::<[u64; 2]>(usize::MAX, 0).is_err());
        assert!(array.is_empty());
    }
}
