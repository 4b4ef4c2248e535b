//! Allocation that can fail, huge pages, and prefetching: the `unsafe` code for them.
//!
//! A look-up in a large table waits for memory; the processor runs ahead over a few look-ups only, and not
//! past a branch it cannot predict. So tables prefetch the cache lines of a whole batch first. With small
//! pages, look-ups in more than some megabytes wait for page tables more than for the data, and fresh memory
//! costs a page fault for every 4 KB.
//!
//! Tables are [`LargeVec`]s; results that callers keep are `Vec`s.
//!
//! # Where memory ends
//! What grows with its input is allocated by the functions of [`growth`], or by those here. Each either returns
//! [`OutOfMemory`] or unwinds with it, as a panic does: the standard library would abort the process. All other
//! requests are small, and [`reserve`] has memory for them.
#![allow(unsafe_code)]

#[cfg(feature = "failing-allocator")]
pub(crate) mod failing;
mod growth;
mod huge_pages;
mod may_fail;
pub(crate) mod reserve;

use std::alloc::Layout;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use allocator_api2::alloc::Allocator;
use bytemuck::Zeroable;
pub(crate) use growth::{
    Growable, collect, collect_table, copied, extend, filled, hash_table, reserve_entry,
    try_collect, try_reserve, vec_with_capacity,
};
use huge_pages::HugePageAlloc;
pub(crate) use huge_pages::LargeVec;
pub(crate) use reserve::unwind;

use crate::error::OutOfMemory;

/// Creates an empty vector; unwinds with [`OutOfMemory`] if memory is short.
pub(crate) fn large_vec<T>(capacity: usize) -> LargeVec<T> {
    try_large_vec(capacity).unwrap_or_else(|error| unwind(error))
}

/// Creates a vector of `length` zeros. Memory that comes from the system is zero already, and is not touched.
///
/// # Errors
/// [`OutOfMemory`].
pub(crate) fn try_zeros<T: Zeroable>(
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
    let start = may_fail::without(|| HugePageAlloc.allocate_zeroed(layout));
    let start = start.map_err(|_| refused)?;
    // SAFETY: just allocated by `HugePageAlloc`, with the layout of `capacity` values; all bytes are zero,
    // which is a valid value of a `Zeroable` type, and `length` is at most `capacity`.
    Ok(unsafe {
        LargeVec::from_raw_parts_in(start.cast().as_ptr(), length, capacity, HugePageAlloc)
    })
}

/// As [`try_zeros`]; unwinds with [`OutOfMemory`] if memory is short.
pub(crate) fn zeros<T: Zeroable>(length: usize) -> LargeVec<T> {
    try_zeros(length, length).unwrap_or_else(|error| unwind(error))
}

/// As [`large_vec`].
///
/// # Errors
/// [`OutOfMemory`].
pub(crate) fn try_large_vec<T>(capacity: usize) -> Result<LargeVec<T>, OutOfMemory> {
    let mut vector = LargeVec::new_in(HugePageAlloc);
    let reserved = may_fail::without(|| vector.try_reserve_exact(capacity));
    reserved.map_err(|_| OutOfMemory(capacity.saturating_mul(size_of::<T>())))?;
    Ok(vector)
}

/// Creates an empty vector for results, in those huge pages that begin within it.
///
/// # Errors
/// [`OutOfMemory`]. Small arguments can ask for more memory than there is: a range of numbers, a mapped file.
/// Without this error, the process would abort.
pub(crate) fn try_vec_with_capacity<T>(capacity: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut vector = Vec::new();
    try_reserve(&mut vector, capacity)?;
    advise_huge_pages(&vector);
    Ok(vector)
}

/// Reserves capacity for `additional` values in huge pages; does nothing if memory is short. The advice comes
/// before values are moved, because memory that is touched keeps its page size. Amortised O(1) for each
/// value.
pub(crate) fn reserve_amortized<T: Copy>(vector: &mut Vec<T>, additional: usize) {
    let length = vector.len();
    if vector.capacity() - length < additional
        && let Ok(mut larger) = try_vec_with_capacity(length.saturating_add(additional.max(length)))
    {
        larger.extend_from_slice(vector);
        *vector = larger;
    }
}

/// Shrinks a vector that may live long, if more than a fifth of it is unused: then nothing is copied. A small
/// untouched rest takes no memory; and the allocator reuses only blocks that are freed with the size they
/// were allocated with.
pub(crate) fn trim_excess<T>(vector: &mut Vec<T>) {
    let needed = vector.len();
    if vector.capacity() > needed + needed / 4 {
        vector.shrink_to_fit();
    }
}

/// An atomic integer.
///
/// # Safety
/// It has the size and the bit validity of `Integer`.
pub(crate) unsafe trait AtomicInteger: Default + Send + Sync {
    /// The integer.
    type Integer;

    /// Writes the integer; other threads see it once they synchronise otherwise.
    fn store(&self, integer: Self::Integer);
}

/// Implements [`AtomicInteger`] for a type of the standard library.
macro_rules! atomic_integer {
    ($atomic:ty, $integer:ty) => {
        // SAFETY: the documentation of the type says so.
        unsafe impl AtomicInteger for $atomic {
            type Integer = $integer;

            #[inline]
            fn store(&self, integer: $integer) {
                self.store(integer, Ordering::Relaxed);
            }
        }
    };
}

atomic_integer!(AtomicU32, u32);
atomic_integer!(AtomicUsize, usize);
#[cfg(test)]
atomic_integer!(std::sync::atomic::AtomicU8, u8);
#[cfg(test)]
atomic_integer!(std::sync::atomic::AtomicU16, u16);

/// Converts a vector of atomics, which is owned and so no longer shared, to one of integers.
pub(crate) fn into_integers<A: AtomicInteger>(numbers: LargeVec<A>) -> LargeVec<A::Integer> {
    const { assert!(align_of::<A>() == align_of::<A::Integer>()) };
    let (start, length, capacity, pages) = numbers.into_raw_parts_with_alloc();
    // SAFETY: the parts come from a vector; both types have the same size and bit validity, as the trait
    // demands, and, as was just asserted, alignment.
    unsafe { LargeVec::from_raw_parts_in(start.cast(), length, capacity, pages) }
}

/// Advises the system to use huge pages for memory that was not touched yet.
#[cfg(target_os = "linux")]
fn advise_huge_pages<T>(vector: &Vec<T>) {
    const PAGE: usize = 4096;
    let start = vector.as_ptr().expose_provenance();
    let bytes = vector.capacity().saturating_mul(size_of::<T>());
    if bytes >= huge_pages::MIN_MAPPED_BYTES {
        let first = start / PAGE * PAGE;
        let length = (start + bytes - first).next_multiple_of(PAGE);
        let first = std::ptr::with_exposed_provenance_mut(first);
        // SAFETY: the advice changes no contents, neither of the vector nor of other memory in its first and
        // last page. The call fails where pages are larger than this or the advice is unknown, which is
        // harmless.
        let _ = unsafe { libc::madvise(first, length, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages<T>(_: &Vec<T>) {}

/// Prefetches the first cache line of `value`.
#[inline]
pub(crate) fn prefetch<T>(value: &T) {
    prefetch_at(value);
}

/// Prefetches the first cache lines of `list`, at most `lines`.
#[inline]
pub(crate) fn prefetch_lines<T>(list: &[T], lines: usize) {
    const LINE: usize = 64;
    for value in list
        .iter()
        .step_by((LINE / size_of::<T>()).max(1))
        .take(lines)
    {
        prefetch(value);
    }
}

/// Prefetches the cache line at an address, which need not be valid.
#[inline]
pub(crate) fn prefetch_at<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch neither faults nor has an effect that a program can observe, whatever the
        // address; SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{address}]", address = in(reg) address,
            options(nostack, readonly, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::reserve_amortized;

    /// Reserving a little at a time moves the values rarely.
    #[test]
    fn reserving_a_little_rarely_moves() {
        let (mut vector, mut moved) = (Vec::new(), 0);
        for number in 0..100_000 {
            let before = vector.as_ptr();
            reserve_amortized(&mut vector, 3);
            assert!(vector.capacity() - vector.len() >= 3);
            moved += u32::from(vector.as_ptr() != before);
            vector.push(number);
        }
        assert!(vector.iter().copied().eq(0..100_000));
        assert!(moved <= 20, "{moved} times");
    }
}
