//! Asking for memory that may not be there; and asking the system for huge pages and the processor for memory that is
//! needed soon: the `unsafe` of both. Without, all works the same.
//!
//! A look-up in a large table waits for memory; the processor looks ahead over a few look-ups only, and not beyond a
//! branch it cannot foresee. So tables ask for all lines of a batch first. With small pages, look-ups in more than some
//! megabytes wait for page tables more than for the array itself, and a fresh array costs a fault for every 4 KB.
#![allow(unsafe_code)]

use crate::error::OutOfMemory;

/// Smaller arrays are left alone.
const WORTH_ASKING: usize = 1 << 20;

/// A huge page on most machines.
const HUGE_PAGE: usize = 2 << 20;

/// What allocators keep beside an array, at most.
const BESIDE: usize = 64;

/// An empty vector with room for `capacity` values, in huge pages if it is large.
pub(crate) fn vec_with_capacity<T>(capacity: usize) -> Vec<T> {
    in_huge_pages(Vec::with_capacity(filling_huge_pages::<T>(capacity)))
}

/// As [`vec_with_capacity`], where a caller can ask for more than there is with little of his own: a range of numbers, a
/// file that is mapped. Without this the process would end.
pub(crate) fn try_vec_with_capacity<T>(capacity: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut vector = Vec::new();
    try_reserve(&mut vector, filling_huge_pages::<T>(capacity))?;
    Ok(in_huge_pages(vector))
}

/// Makes room for `more` values.
pub(crate) fn try_reserve<T>(vector: &mut Vec<T>, more: usize) -> Result<(), OutOfMemory> {
    vector
        .try_reserve(more)
        .map_err(|_| OutOfMemory(more.saturating_mul(size_of::<T>())))
}

/// So many values or a few more, that they fill huge pages if they are many.
fn filling_huge_pages<T>(capacity: usize) -> usize {
    let bytes = capacity.saturating_mul(size_of::<T>());
    if bytes < WORTH_ASKING || size_of::<T>() == 0 {
        return capacity;
    }
    // Systems lay out what fills huge pages, to the byte, at the start of one.
    let filled = bytes
        .saturating_add(BESIDE)
        .checked_next_multiple_of(HUGE_PAGE);
    filled.map_or(capacity, |filled| (filled - BESIDE) / size_of::<T>())
}

fn in_huge_pages<T>(vector: Vec<T>) -> Vec<T> {
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
    prefetch_at(place);
}

/// As [`prefetch`], whatever is there.
#[inline]
pub(crate) fn prefetch_at<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the instruction changes nothing, and reads nothing that a program could see.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
