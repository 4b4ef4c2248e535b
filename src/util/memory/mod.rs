//! Asking for memory that may not be there; and asking the system for huge pages and the processor for memory that is
//! needed soon: the `unsafe` of both. Without, all works the same.
//!
//! A look-up in a large table waits for memory; the processor looks ahead over a few look-ups only, and not beyond a
//! branch it cannot foresee. So tables ask for all lines of a batch first. With small pages, look-ups in more than some
//! megabytes wait for page tables more than for the array itself, and a fresh array costs a fault for every 4 KB.
//!
//! Tables are [`LargeVec`]s, results that callers get are vectors.
#![allow(unsafe_code)]

mod pages;

use std::alloc::{Layout, handle_alloc_error};
use std::sync::atomic::AtomicU32;

use allocator_api2::alloc::Allocator;
use allocator_api2::vec::Vec as AnyVec;
use pages::Pages;

use crate::error::OutOfMemory;

/// An array that stays, in huge pages if it is large.
pub(crate) type LargeVec<T> = AnyVec<T, Pages>;

/// An empty array with room for `capacity` values.
pub(crate) fn large_vec<T>(capacity: usize) -> LargeVec<T> {
    LargeVec::with_capacity_in(capacity, Pages)
}

/// A type of which a value is all zeros.
///
/// # Safety
/// Zeros in all of its bytes are a value.
pub(crate) unsafe trait Zeros: Copy {}

/// `length` values that are all zeros, and room for `capacity`, if there is so much memory. What comes from the system is
/// zeros already, and is not touched.
pub(crate) fn try_zeros<T: Zeros>(
    length: usize,
    capacity: usize,
) -> Result<LargeVec<T>, OutOfMemory> {
    const { assert!(size_of::<T>() > 0) };
    let capacity = capacity.max(length);
    let refused = OutOfMemory(capacity.saturating_mul(size_of::<T>()));
    if capacity == 0 {
        return Ok(large_vec(0));
    }
    let layout = Layout::array::<T>(capacity).map_err(|_| refused)?;
    let start = Pages.allocate_zeroed(layout).map_err(|_| refused)?;
    // SAFETY: just allocated, with the layout of so many values, all of which zeros are.
    Ok(unsafe { LargeVec::from_raw_parts_in(start.cast().as_ptr(), length, capacity, Pages) })
}

/// As [`try_zeros`]. Without memory for them the process ends, as with other vectors.
pub(crate) fn zeros<T: Zeros>(length: usize) -> LargeVec<T> {
    try_zeros(length, length).unwrap_or_else(|_| {
        handle_alloc_error(Layout::array::<T>(length).unwrap_or(Layout::new::<T>()))
    })
}

/// As [`large_vec`], if there is so much memory.
pub(crate) fn try_large_vec<T>(capacity: usize) -> Result<LargeVec<T>, OutOfMemory> {
    let mut vector = LargeVec::new_in(Pages);
    let reserved = vector.try_reserve_exact(capacity);
    reserved.map_err(|_| OutOfMemory(capacity.saturating_mul(size_of::<T>())))?;
    Ok(vector)
}

/// An empty vector for results, in huge pages where it is large and they begin in it. `capacity` can be more than there is
/// though a caller has given little of his own: a range of numbers, a file that is mapped. Without this the process would
/// end.
pub(crate) fn try_vec_with_capacity<T>(capacity: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut vector = Vec::new();
    try_reserve(&mut vector, capacity)?;
    ask_for_huge_pages(&vector);
    Ok(vector)
}

/// Makes room for `more` values, if there is so much memory, as [`try_vec_with_capacity`] does it: before any are moved, as
/// memory that is touched stays in pages of the size it has. Amortised O(1) for each value.
pub(crate) fn make_room<T: Copy>(vector: &mut Vec<T>, more: usize) {
    let length = vector.len();
    if vector.capacity() - length < more
        && let Ok(mut larger) = try_vec_with_capacity(length.saturating_add(more.max(length)))
    {
        larger.extend_from_slice(vector);
        *vector = larger;
    }
}

/// Gives back what a list that may live long does not need, if that is much: then nothing is copied. A little that was never
/// touched takes no memory; and only what is freed as it was asked for does the allocator hand out again, by and by.
pub(crate) fn give_back<T>(vector: &mut Vec<T>) {
    let needed = vector.len();
    if vector.capacity() > needed + needed / 4 {
        vector.shrink_to_fit();
    }
}

/// Numbers that no other thread writes any more.
pub(crate) fn no_longer_shared(numbers: LargeVec<AtomicU32>) -> LargeVec<u32> {
    const { assert!(align_of::<AtomicU32>() == align_of::<u32>()) };
    let (start, length, capacity, pages) = numbers.into_raw_parts_with_alloc();
    // SAFETY: both types have the same size and, as was just seen, alignment; every value of one is one of the other.
    unsafe { LargeVec::from_raw_parts_in(start.cast(), length, capacity, pages) }
}

/// Makes room for `more` values.
pub(crate) fn try_reserve<T>(vector: &mut Vec<T>, more: usize) -> Result<(), OutOfMemory> {
    vector
        .try_reserve(more)
        .map_err(|_| OutOfMemory(more.saturating_mul(size_of::<T>())))
}

/// Asks for huge pages for memory that was not touched yet.
#[cfg(target_os = "linux")]
fn ask_for_huge_pages<T>(vector: &Vec<T>) {
    const PAGE: usize = 4096;
    let start = vector.as_ptr().expose_provenance();
    let bytes = vector.capacity().saturating_mul(size_of::<T>());
    if bytes >= pages::WORTH_MAPPING {
        let first = start / PAGE * PAGE;
        let length = (start + bytes - first).next_multiple_of(PAGE);
        let first = std::ptr::with_exposed_provenance_mut(first);
        // SAFETY: the advice changes no contents, neither of the memory nor of what else is in its first and last page.
        // Where a page is larger than this, or the advice is not known, the call fails, which is fine.
        let _ = unsafe { libc::madvise(first, length, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages<T>(_: &Vec<T>) {}

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

#[cfg(test)]
mod tests {
    use super::make_room;

    /// Values are moved seldom, however little room is asked for at a time.
    #[test]
    fn room_is_made_seldom() {
        let (mut vector, mut moved) = (Vec::new(), 0);
        for number in 0..100_000 {
            let before = vector.as_ptr();
            make_room(&mut vector, 3);
            assert!(vector.capacity() - vector.len() >= 3);
            moved += u32::from(vector.as_ptr() != before);
            vector.push(number);
        }
        assert!(vector.iter().copied().eq(0..100_000));
        assert!(moved <= 20, "{moved} times");
    }
}
