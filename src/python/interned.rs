//! Lists of ids from prepared Python integers: making a new integer for each id costs more than encoding it.
//!
//! ```text
//! for some ids:
//!     for each: integer = the place of the id; ask for the memory of its count of references
//!     for each: count one more reference to the integer, which is made now if it is null; put it into the list
//! ```
//!
//! Integers are made in the order in which ids are first met, so that those of frequent ids lie together. Tried and
//! slower, on 4 KB of English at a time: integers made 256 at a time, which spreads the frequent ones over more memory;
//! a place of 16 bytes (`OnceLock`), and a list filled through an iterator. To ask for the places of the ids that come
//! next, too, made no difference.
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

use crate::memory;
use crate::token::TokenId;

/// Larger ids get new integers each time: a vocabulary may have an id near four billion.
const MOST_INTERNED: usize = 1 << 20;

/// So many places are made together, when the first of them is needed.
const BLOCK: usize = 1024;

/// The memory of so many integers is asked for at once.
const BATCH: usize = 32;

/// Where an integer is, or null. The place holds a reference to it.
type Place = AtomicPtr<ffi::PyObject>;

/// One Python integer for each id, made when it is first needed.
pub(super) struct InternedIds {
    blocks: Box<[OnceLock<Box<[Place]>>]>,
}

impl InternedIds {
    /// For ids up to `largest`.
    pub(super) fn new(largest: TokenId) -> Self {
        let count = (largest as usize + 1).min(MOST_INTERNED);
        Self {
            blocks: (0..count.div_ceil(BLOCK))
                .map(|_| OnceLock::new())
                .collect(),
        }
    }

    /// How many bytes it takes: the places, and 32 bytes for each integer made so far.
    pub(super) fn memory(&self) -> usize {
        let made = self.places().filter(|place| !is_empty(place)).count();
        self.places().count() * size_of::<Place>() + made * 32
    }

    fn places(&self) -> impl Iterator<Item = &Place> {
        self.blocks.iter().filter_map(OnceLock::get).flatten()
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
        for batch in ids.chunks(BATCH) {
            let mut integers = [ptr::null_mut(); BATCH];
            for (integer, &id) in integers.iter_mut().zip(batch) {
                *integer = self.known(id);
                memory::prefetch_at(*integer);
            }
            for (integer, &id) in integers.into_iter().zip(batch) {
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

    /// The integer of an id, if there is one: null otherwise.
    #[inline]
    fn known(&self, id: TokenId) -> *mut ffi::PyObject {
        let (block, place) = (id as usize / BLOCK, id as usize % BLOCK);
        let known = self.blocks.get(block).and_then(OnceLock::get);
        let place = known.and_then(|block| block.get(place));
        place.map_or(ptr::null_mut(), |place| place.load(Ordering::Acquire))
    }

    /// Makes the integer of `id` and keeps it, if it is to be kept.
    #[cold]
    #[inline(never)]
    fn new_integer<'py>(&self, py: Python<'py>, id: TokenId) -> Bound<'py, PyAny> {
        let Ok(integer) = id.into_pyobject(py);
        let integer = integer.into_any();
        if let Some(block) = self.blocks.get(id as usize / BLOCK) {
            let empty = || (0..BLOCK).map(|_| Place::default()).collect();
            let place = &block.get_or_init(empty)[id as usize % BLOCK];
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
            for place in self.places() {
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
