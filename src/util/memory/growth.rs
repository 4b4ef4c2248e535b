//! Vectors and strings that grow, where the standard library's own methods would abort the process if memory is short.

use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;

use super::huge_pages::LargeVec;
use super::may_fail::without;
use super::reserve::unwind;
use crate::error::OutOfMemory;

/// A collection that has room for values and can get more.
pub(crate) trait Growable {
    /// Size of a value in bytes.
    const SIZE: usize;

    /// Number of values that there is room for besides those stored.
    fn spare(&self) -> usize;

    /// Reserves capacity for `additional` values, amortised; on failure nothing changes and false is returned.
    fn grow(&mut self, additional: usize) -> bool;

    /// Ensures room for `additional` values; unwinds with [`OutOfMemory`].
    #[inline]
    fn with_room(&mut self, additional: usize) -> &mut Self {
        if self.spare() < additional {
            grow(self, additional);
        }
        self
    }
}

#[cold]
#[inline(never)]
fn grow<G: Growable + ?Sized>(values: &mut G, additional: usize) {
    try_reserve(values, additional).unwrap_or_else(|error| unwind(error));
}

macro_rules! growable {
    ($([$($parameter:ident$(: $bound:ident)?)?] $name:ty, $size:expr;)*) => {$(
        impl$(<$parameter$(: $bound)?>)? Growable for $name {
            const SIZE: usize = $size;

            #[inline]
            fn spare(&self) -> usize {
                self.capacity() - self.len()
            }

            fn grow(&mut self, additional: usize) -> bool {
                self.try_reserve(additional).is_ok()
            }
        }
    )*};
}

growable! {
    [T] Vec<T>, size_of::<T>();
    [T] LargeVec<T>, size_of::<T>();
    [T] VecDeque<T>, size_of::<T>();
    [T: Ord] BinaryHeap<T>, size_of::<T>();
    [] String, 1;
}

impl<K: Eq + Hash, V, S: BuildHasher> Growable for HashMap<K, V, S> {
    const SIZE: usize = size_of::<(K, V)>();

    #[inline]
    fn spare(&self) -> usize {
        self.capacity() - self.len()
    }

    fn grow(&mut self, additional: usize) -> bool {
        self.try_reserve(additional).is_ok()
    }
}

impl<T: Eq + Hash, S: BuildHasher> Growable for HashSet<T, S> {
    const SIZE: usize = size_of::<T>();

    #[inline]
    fn spare(&self) -> usize {
        self.capacity() - self.len()
    }

    fn grow(&mut self, additional: usize) -> bool {
        self.try_reserve(additional).is_ok()
    }
}

/// Reserves capacity for `additional` values.
///
/// # Errors
/// [`OutOfMemory`].
pub(crate) fn try_reserve<G: Growable + ?Sized>(
    values: &mut G,
    additional: usize,
) -> Result<(), OutOfMemory> {
    if values.spare() >= additional || without(|| values.grow(additional)) {
        return Ok(());
    }
    Err(OutOfMemory(additional.saturating_mul(G::SIZE)))
}

/// Creates an empty vector; unwinds with [`OutOfMemory`].
pub(crate) fn vec_with_capacity<T>(capacity: usize) -> Vec<T> {
    let mut values = Vec::new();
    values.with_room(capacity);
    values
}

/// Creates a vector of `length` equal values; unwinds with [`OutOfMemory`].
pub(crate) fn filled<T: Clone>(value: T, length: usize) -> Vec<T> {
    let mut values = vec_with_capacity(length);
    values.resize(length, value);
    values
}

/// Copies values; unwinds with [`OutOfMemory`].
pub(crate) fn copied<T: Clone>(values: &[T]) -> Vec<T> {
    let mut copy = vec_with_capacity(values.len());
    copy.extend_from_slice(values);
    copy
}

/// Creates an empty table; unwinds with [`OutOfMemory`].
pub(crate) fn hash_table<T>(capacity: usize) -> HashTable<T> {
    let mut table = HashTable::new();
    let hash = |_: &T| unreachable!("there is nothing to move");
    if without(|| table.try_reserve(capacity, hash)).is_err() {
        unwind(OutOfMemory(capacity.saturating_mul(size_of::<T>())));
    }
    table
}

/// Ensures room for one more entry of a table; unwinds with [`OutOfMemory`].
#[inline]
pub(crate) fn reserve_entry<T>(table: &mut HashTable<T>, hash: impl Fn(&T) -> u64) {
    if table.len() == table.capacity() && without(|| table.try_reserve(1, hash)).is_err() {
        unwind(OutOfMemory(table.allocation_size()));
    }
}

/// Appends values; unwinds with [`OutOfMemory`].
#[inline]
pub(crate) fn extend<T>(values: &mut Vec<T>, more: impl IntoIterator<Item = T>) {
    let more = more.into_iter();
    values.with_room(more.size_hint().0);
    for value in more {
        values.with_room(1).push(value);
    }
}

/// Collects values; unwinds with [`OutOfMemory`].
pub(crate) fn collect<T>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut collected = Vec::new();
    extend(&mut collected, values);
    collected
}

/// Collects entries of a table; unwinds with [`OutOfMemory`].
pub(crate) fn collect_table<C: Growable + Default + Extend<T>, T>(
    entries: impl IntoIterator<Item = T>,
) -> C {
    let mut table = C::default();
    let entries = entries.into_iter();
    table.with_room(entries.size_hint().0);
    for entry in entries {
        table.with_room(1).extend([entry]);
    }
    table
}

/// As [`collect`], up to the first error.
pub(crate) fn try_collect<T, E>(
    values: impl IntoIterator<Item = Result<T, E>>,
) -> Result<Vec<T>, E> {
    let values = values.into_iter();
    let mut collected = vec_with_capacity(values.size_hint().0);
    for value in values {
        collected.with_room(1).push(value?);
    }
    Ok(collected)
}
