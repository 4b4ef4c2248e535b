//! The bytes of Python objects: borrowed if nothing can write them while the GIL is released, else copied.
#![expect(
    unsafe_code,
    reason = "a buffer is a pointer and a length; copying hundreds of megabytes of `bytes` would double the memory"
)]

use std::ops::Deref;
use std::{ptr, slice};

use numpy::PyUntypedArray;
use pyo3::buffer::{ElementType, PyUntypedBuffer};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

use super::ids::arrays::{ImmutableIds, load_numpy};
use crate::util::memory;

/// The bytes of a contiguous buffer.
///
/// A mapped file that is truncated meanwhile raises `SIGBUS` in whatever reads it, here as in Python itself.
pub(super) enum Bytes {
    /// Memory that [`is_immutable`].
    Borrowed(PyUntypedBuffer),
    Copied(Vec<u8>),
}

impl Bytes {
    /// Borrows or copies the bytes of `data`.
    pub(super) fn of(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(data).ok();
        let bytes = buffer.filter(|buffer| {
            let element = ElementType::from_format(buffer.format());
            let is_byte = matches!(
                element,
                ElementType::UnsignedInteger { bytes: 1 } | ElementType::SignedInteger { bytes: 1 }
            );
            is_byte && buffer.is_c_contiguous()
        });
        let Some(buffer) = bytes else {
            return Err(PyTypeError::new_err(format!(
                "expected bytes or a contiguous buffer of them, such as a bytearray, an mmap or an array of uint8, got \
                 {}; of an array with gaps, pass a copy",
                data.get_type().qualname()?
            )));
        };
        if is_immutable(data)? {
            return Ok(Self::Borrowed(buffer));
        }
        copy(&buffer).map(Self::Copied)
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Borrowed(buffer) => as_slice(buffer),
            Self::Copied(bytes) => bytes,
        }
    }
}

/// Copies the bytes of a contiguous buffer while the GIL is held: a snapshot, unless another process writes
/// to them meanwhile, which may tear it.
fn copy(buffer: &PyUntypedBuffer) -> PyResult<Vec<u8>> {
    let length = buffer.len_bytes();
    // A mapped file may be larger than memory.
    let mut copy: Vec<u8> = memory::try_vec_with_capacity(length)?;
    if length > 0 {
        // SAFETY: the exporter keeps `length` contiguous bytes at `buf_ptr` while the buffer is held, and
        // `copy`, fresh memory, has capacity for them. No reference is made to bytes that another process may
        // write.
        unsafe {
            ptr::copy_nonoverlapping(buffer.buf_ptr().cast(), copy.as_mut_ptr(), length);
            copy.set_len(length);
        }
    }
    Ok(copy)
}

/// The bytes of a contiguous buffer that [`is_immutable`].
fn as_slice(buffer: &PyUntypedBuffer) -> &[u8] {
    let length = buffer.len_bytes();
    if length == 0 {
        return &[];
    }
    // SAFETY: the exporter keeps `length` contiguous bytes at `buf_ptr` while the buffer is held, which the
    // result borrows. They belong to an object that never changes, as `Bytes::of` has found.
    unsafe { slice::from_raw_parts(buffer.buf_ptr().cast(), length) }
}

/// Returns true if nothing can write the bytes of `data`: it is a `bytes`, or a chain of memory views and
/// `NumPy` arrays that ends in one, or in [`ImmutableIds`].
///
/// Being read-only proves nothing. Another process may write a file that is mapped read-only, here or by
/// Arrow; an array that was made read-only may have views that are not, and its owner may make it writable
/// again. Subclasses do not count, as they may export other memory than their base class does.
pub(super) fn is_immutable(data: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = data.py();
    let mut owner = data.clone();
    while !owner.is_exact_instance_of::<PyBytes>() && !owner.is_exact_instance_of::<ImmutableIds>()
    {
        let exporter = if owner.is_exact_instance_of::<PyMemoryView>() {
            intern!(py, "obj")
        } else if numpy_is_imported(py)? && owner.is_exact_instance_of::<PyUntypedArray>() {
            intern!(py, "base")
        } else {
            return Ok(false);
        };
        owner = owner.getattr(exporter)?;
    }
    Ok(true)
}

/// Returns true if `NumPy` is imported, and [loaded](load_numpy) then. If not, nothing is an array, and asking whether
/// something is one would import it.
pub(super) fn numpy_is_imported(py: Python<'_>) -> PyResult<bool> {
    let modules = py
        .import(intern!(py, "sys"))?
        .getattr(intern!(py, "modules"))?;
    let is_imported = modules.contains(intern!(py, "numpy"))?;
    if is_imported {
        load_numpy(py)?;
    }
    Ok(is_imported)
}
