//! Lists of ids from prepared Python integers: making a new integer for each id costs more than encoding it.
//!
//! ```text
//! for some ids:
//!     for each of as many that come next: ask for the memory of its place
//!     for each: integer = the place of the id; ask for the memory of its count of references
//!     for each: count one more reference to the integer, which is made now if it is null; put it into the list
//! ```
//!
//! Integers are made in the order in which ids are first met, so that those of frequent ids lie together. Tried and
//! slower, on 4 KB of English at a time: integers made 256 at a time, which spreads the frequent ones over more memory;
//! a place of 16 bytes (`OnceLock`), and a list filled through an iterator. Places in blocks that are made when they are
//! needed, in small pages and not asked for: lists of 4 KB took a tenth to a fifth more time in all, of which waiting for
//! places was a fifth. To ask for the integers a batch earlier, too, made hardly a difference.
#![expect(
    unsafe_code,
    reason = "a list is filled as the interpreter does it, and a place is one pointer"
)]

use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::exceptions::PyOverflowError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::token::TokenId;
use crate::util::lazy::made;
use crate::util::memory::{self, LargeVec};

/// Larger ids get new integers each time: a vocabulary may have an id near four billion.
const MOST_INTERNED: usize = 1 << 20;

/// The memory of so many integers is asked for at once.
const BATCH: usize = 32;

/// Where an integer is, or null. The place holds a reference to it.
type Place = AtomicPtr<ffi::PyObject>;

/// One Python integer for each id, made when it is first needed.
pub(super) struct InternedIds {
    /// How many places there are.
    count: usize,
    /// Made when the first of them is needed.
    places: OnceLock<LargeVec<Place>>,
}

impl InternedIds {
    /// For ids up to `largest`.
    pub(super) fn new(largest: TokenId) -> Self {
        Self {
            count: (largest as usize + 1).min(MOST_INTERNED),
            places: OnceLock::new(),
        }
    }

    /// How many bytes it takes: the places, and 32 bytes for each integer made so far.
    pub(super) fn memory(&self) -> usize {
        let integers = self.made().iter().filter(|place| !is_empty(place));
        size_of_val(self.made()) + integers.count() * 32
    }

    /// Those that are made.
    fn made(&self) -> &[Place] {
        self.places.get().map_or(&[], |places| places)
    }

    fn places(&self) -> &[Place] {
        made::<LargeVec<Place>>(&self.places, || {
            let mut places = memory::large_vec(self.count);
            places.resize_with(self.count, Place::default);
            places
        })
    }

    /// The list of `ids`.
    pub(super) fn list<'py>(
        &self,
        py: Python<'py>,
        ids: &[TokenId],
    ) -> PyResult<Bound<'py, PyList>> {
        let length = ffi::Py_ssize_t::try_from(ids.len())
            .map_err(|_| PyOverflowError::new_err("more ids than a list can hold"))?;
        // SAFETY: attached, as `py` shows; the result is a new reference, or null with an exception set.
        let list = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(length))? };
        let mut index = 0;
        let places = self.places();
        let mut coming = ids.chunks(BATCH).skip(1);
        let mut integers = [ptr::null_mut(); BATCH];
        for batch in ids.chunks(BATCH) {
            for &id in coming.next().unwrap_or_default() {
                memory::prefetch_at(places.as_ptr().wrapping_add(id as usize));
            }
            for (integer, &id) in integers.iter_mut().zip(batch) {
                let place = places.get(id as usize);
                *integer = place.map_or(ptr::null_mut(), |place| place.load(Ordering::Acquire));
                memory::prefetch_at(*integer);
            }
            for (&integer, &id) in integers.iter().zip(batch) {
                // SAFETY: a place is null or holds a reference, which it keeps as long as `self` is there.
                let integer = unsafe { Bound::from_borrowed_ptr_or_opt(py, integer) };
                let integer = integer.unwrap_or_else(|| self.new_integer(py, id));
                // SAFETY: `list` is a list of `length` empty places that nobody else knows of yet, `index` is below
                // `length`, and the reference to `integer` goes over to the list.
                unsafe { ffi::PyList_SET_ITEM(list.as_ptr(), index, integer.into_ptr()) };
                index += 1;
            }
        }
        Ok(list.cast_into::<PyList>()?)
    }

    /// Makes the integer of `id` and keeps it, if it is to be kept.
    #[cold]
    #[inline(never)]
    fn new_integer<'py>(&self, py: Python<'py>, id: TokenId) -> Bound<'py, PyAny> {
        let Ok(integer) = id.into_pyobject(py);
        let integer = integer.into_any();
        if let Some(place) = self.places().get(id as usize) {
            let kept = integer.clone().into_ptr();
            let before =
                place.compare_exchange(ptr::null_mut(), kept, Ordering::AcqRel, Ordering::Relaxed);
            if before.is_err() {
                // SAFETY: another thread came first; the reference that the place did not take is ours.
                drop(unsafe { Bound::from_owned_ptr(py, kept) });
            }
        }
        integer
    }
}

impl Drop for InternedIds {
    fn drop(&mut self) {
        Python::attach(|py| {
            for place in self.made() {
                let integer = place.swap(ptr::null_mut(), Ordering::AcqRel);
                // SAFETY: the reference is that of the place, which is empty now.
                drop(unsafe { Bound::from_owned_ptr_or_opt(py, integer) });
            }
        });
    }
}

fn is_empty(place: &Place) -> bool {
    place.load(Ordering::Relaxed).is_null()
}
