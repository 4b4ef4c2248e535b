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
const BESIDE: usize = 128;

/// An empty vector with room for `capacity` values, in huge pages if it is large.
pub(crate) fn vec_with_capacity<T>(capacity: usize) -> Vec<T> {
    in_huge_pages(
        Vec::with_capacity(filling_huge_pages::<T>(capacity)),
        capacity,
    )
}

/// As [`vec_with_capacity`], where a caller can ask for more than there is with little of his own: a range of numbers, a
/// file that is mapped. Without this the process would end.
pub(crate) fn try_vec_with_capacity<T>(capacity: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut vector = Vec::new();
    try_reserve(&mut vector, filling_huge_pages::<T>(capacity))?;
    Ok(in_huge_pages(vector, capacity))
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

/// Asks for huge pages for a vector of which the first `wanted` values are, if they are many.
fn in_huge_pages<T>(vector: Vec<T>, wanted: usize) -> Vec<T> {
    let start = vector.as_ptr().expose_provenance();
    let bytes = |values: usize| values.saturating_mul(size_of::<T>());
    if bytes(vector.capacity()) >= WORTH_ASKING {
        let mut end = start.saturating_add(bytes(wanted));
        // Arrays begin a little after a page does. What is beyond the last page for that is not worth a huge one, which
        // costs as much as any before it.
        let beyond = end % HUGE_PAGE;
        if beyond <= BESIDE {
            end -= beyond;
        } else {
            end = start.saturating_add(bytes(vector.capacity()));
        }
        ask_for_huge_pages(start, end - start);
    }
    vector
}

/// Asks for huge pages for memory that belongs to the caller. Best before it is touched for the first time.
#[cfg(target_os = "linux")]
fn ask_for_huge_pages(start: usize, bytes: usize) {
    const PAGE: usize = 4096;
    // All pages that it lies in: what begins after a huge page does, or ends before, gets none.
    let first = start / PAGE * PAGE;
    let length = (start + bytes - first).next_multiple_of(PAGE);
    let advise = |length, advice| {
        // SAFETY: the advice changes no contents, neither of the memory nor of what else is in its first and last page.
        // Where a page is larger than this, or the advice is not known, the call fails, which is fine.
        let _ =
            unsafe { libc::madvise(std::ptr::with_exposed_provenance_mut(first), length, advice) };
    };
    advise(length, libc::MADV_HUGEPAGE);
    if first.is_multiple_of(HUGE_PAGE) && length >= HUGE_PAGE {
        // Its first page was touched by who keeps books beside it, so that the huge page would not come by itself: 512
        // faults, 1.3 ms on a virtual machine instead of 0.4.
        advise(HUGE_PAGE, libc::MADV_COLLAPSE);
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages(_: usize, _: usize) {}

/// Asks for the memory of `place` to be brought near.
#[inline]
pub(crate) fn prefetch<T>(place: &T) {
    prefetch_at(place);
}

/// As [`prefetch`], of the first cache lines of a list, so many at most.
#[inline]
pub(crate) fn prefetch_lines<T>(list: &[T], lines: usize) {
    const LINE: usize = 64;
    for place in list
        .iter()
        .step_by((LINE / size_of::<T>()).max(1))
        .take(lines)
    {
        prefetch(place);
    }
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
