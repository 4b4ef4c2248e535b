//! Lists of ids built from interned Python integers: creating an integer for each id costs more than encoding
//! it.
//!
//! ```text
//! for a batch of ids:
//!     prefetch the slots of the next batch
//!     for each id: load the integer from its slot; prefetch its reference count
//!     for each id: take a reference, creating the integer if the slot is empty; store it into the list
//! ```
//!
//! Integers are created in the order in which ids are first met, so that those of frequent ids are close to
//! each other. Tried and slower, on 4 KB of English at a time: integers created 256 at a time, which spreads
//! the frequent ones over more memory; slots of 16 bytes (`OnceLock`); and a list filled through an iterator.
//! With slots in blocks created on demand, in small pages and without prefetching, lists of 4 KB took a tenth
//! to a fifth more time in all, a fifth of it waiting for slots. Prefetching the integers a batch earlier as
//! well made hardly a difference.
#![expect(
    unsafe_code,
    reason = "an integer is borrowed from its slot, which is one pointer, and stored into a new list"
)]

use std::ptr;
use std::sync::OnceLock;

use pyo3::exceptions::PyOverflowError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::error::OutOfMemory;
use crate::python::abi;
use crate::token::TokenId;
use crate::util::lazy::get_or_try_init_nonblocking;
use crate::util::memory::{self, LargeVec};
use crate::util::once_pointer::OncePointer;

/// Larger ids get new integers each time: a vocabulary may have an id near four billion.
const MAX_INTERNED: usize = 1 << 20;

/// Integers that are prefetched at a time.
const BATCH: usize = 32;

/// Pointer to an integer, to which the slot holds a reference; null while there is none.
type Slot = OncePointer<ffi::PyObject>;

/// One Python integer for each id, created on first use.
pub(in crate::python) struct InternedIds {
    /// Number of slots.
    count: usize,
    /// Allocated on first use.
    slots: OnceLock<LargeVec<Slot>>,
}

impl InternedIds {
    /// Interns ids up to `largest`.
    pub(in crate::python) fn new(largest: TokenId) -> Self {
        Self {
            count: (largest as usize + 1).min(MAX_INTERNED),
            slots: OnceLock::new(),
        }
    }

    /// The slots; none if there is no memory for them.
    fn slots(&self) -> &[Slot] {
        let slots = get_or_try_init_nonblocking(&self.slots, || {
            let mut slots = memory::try_large_vec(self.count)?;
            slots.resize_with(self.count, Slot::default);
            Ok::<LargeVec<Slot>, OutOfMemory>(slots)
        });
        slots.map_or(&[], |slots| slots)
    }

    /// Builds the list of `ids`.
    pub(in crate::python) fn list<'py>(
        &self,
        py: Python<'py>,
        ids: &[TokenId],
    ) -> PyResult<Bound<'py, PyList>> {
        let length = ffi::Py_ssize_t::try_from(ids.len())
            .map_err(|_| PyOverflowError::new_err("more ids than a list can hold"))?;
        // SAFETY: attached, as `py` shows; the result is a new reference to a list, or null with an exception
        // set.
        let list: Bound<'_, PyList> = unsafe {
            Bound::from_owned_ptr_or_err(py, ffi::PyList_New(length))?.cast_into_unchecked()
        };
        let mut index = 0;
        let slots = self.slots();
        let mut next_batches = ids.chunks(BATCH).skip(1);
        let mut integers = [ptr::null_mut(); BATCH];
        for batch in ids.chunks(BATCH) {
            for &id in next_batches.next().unwrap_or_default() {
                memory::prefetch_at(slots.as_ptr().wrapping_add(id as usize));
            }
            for (integer, &id) in integers.iter_mut().zip(batch) {
                let slot = slots.get(id as usize);
                *integer = slot.map_or(ptr::null_mut(), OncePointer::get);
                memory::prefetch_at(*integer);
            }
            for (&integer, &id) in integers.iter().zip(batch) {
                // SAFETY: a slot is null or holds a reference to an integer, which it keeps as long as `self`
                // lives.
                let integer = unsafe { Bound::from_borrowed_ptr_or_opt(py, integer) };
                let integer = integer.unwrap_or_else(|| self.new_integer(py, id));
                // SAFETY: `list` is a new list of `length` empty items that nothing else refers to yet, and
                // `index` counts `ids`, of which there are `length`.
                unsafe { abi::set_item(&list, index, integer) };
                index += 1;
            }
        }
        Ok(list)
    }

    /// Creates the integer of `id`, and interns it if there is a slot for it.
    #[cold]
    #[inline(never)]
    fn new_integer<'py>(&self, py: Python<'py>, id: TokenId) -> Bound<'py, PyAny> {
        let Ok(integer) = id.into_pyobject(py);
        let integer = integer.into_any();
        if let Some(slot) = self.slots().get(id as usize) {
            let owned = integer.clone().into_ptr();
            if !slot.set(owned) {
                // SAFETY: another thread filled the slot first, so that the reference in `owned` was not
                // transferred.
                drop(unsafe { Bound::from_owned_ptr(py, owned) });
            }
        }
        integer
    }
}

impl Drop for InternedIds {
    fn drop(&mut self) {
        let slots = self.slots.get_mut().into_iter().flatten();
        // Once the interpreter has ended, there is nothing to release.
        Python::try_attach(|py| {
            for slot in slots {
                let integer = slot.take();
                // SAFETY: the reference was the slot's, which is empty now.
                drop(unsafe { Bound::from_owned_ptr_or_opt(py, integer) });
            }
        });
    }
}
