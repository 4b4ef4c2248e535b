//! Asking the system for huge pages and the processor for memory that is needed soon: the `unsafe` of both. Without,
//! all works the same.
//!
//! A look-up in a large table waits for memory; the processor looks ahead over a few look-ups only, and not beyond a
//! branch it cannot foresee. So tables ask for all lines of a batch first. With small pages, look-ups in more than some
//! megabytes wait for page tables more than for the array itself, and a fresh array costs a fault for every 4 KB.
#![allow(unsafe_code)]

/// Smaller arrays are left alone.
const WORTH_ASKING: usize = 1 << 20;

/// A huge page on most machines.
const HUGE_PAGE: usize = 2 << 20;

/// What allocators keep beside an array, at most.
const BESIDE: usize = 64;

/// An empty vector with room for `capacity` values, in huge pages if it is large.
pub(crate) fn vec_with_capacity<T>(capacity: usize) -> Vec<T> {
    let bytes = capacity.saturating_mul(size_of::<T>());
    let capacity = if bytes >= WORTH_ASKING && size_of::<T>() > 0 {
        // Systems lay out what fills huge pages, to the byte, at the start of one.
        let filled = (bytes.saturating_add(BESIDE)).next_multiple_of(HUGE_PAGE) - BESIDE;
        filled / size_of::<T>()
    } else {
        capacity
    };
    let vector: Vec<T> = Vec::with_capacity(capacity);
    let bytes = vector.capacity().saturating_mul(size_of::<T>());
    if bytes >= WORTH_ASKING {
        ask_for_huge_pages(vector.as_ptr().expose_provenance(), bytes);
    }
    vector
}

/// Asks for huge pages for memory that belongs to the caller. Best before it is touched for the first time.
#[cfg(target_os = "linux")]
fn ask_for_huge_pages(start: usize, bytes: usize) {
    const PAGE: usize = 4096;
    let first = start.next_multiple_of(PAGE);
    let length = (start + bytes).saturating_sub(first) / PAGE * PAGE;
    let place = std::ptr::with_exposed_provenance_mut(first);
    // SAFETY: the advice changes no contents and covers nothing outside of the memory, as whole pages inside of it are
    // meant. Where a page is larger than this the call fails, which is fine.
    let _ = unsafe { libc::madvise(place, length, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages(_: usize, _: usize) {}

/// Asks for the memory of `place` to be brought near.
#[inline]
pub(crate) fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the instruction changes nothing and the place is borrowed memory.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
