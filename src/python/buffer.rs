//! Bytes of Python objects, read where they are if nothing can change them while other threads run.
#![expect(
    unsafe_code,
    reason = "a buffer is a pointer and a length; copying hundreds of megabytes to avoid it would double the memory"
)]

use std::ops::Deref;

use pyo3::buffer::{ElementType, PyUntypedBuffer};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

use crate::util::memory;

/// The bytes of a contiguous buffer: immutable ones where they are, kept alive; a copy of others.
pub(super) enum Bytes {
    Borrowed(PyUntypedBuffer),
    Copied(Vec<u8>),
}

impl Bytes {
    /// The bytes of `data`.
    pub(super) fn of(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(data).ok();
        let bytes = buffer.filter(|buffer| {
            let kind = ElementType::from_format(buffer.format());
            let bytes = matches!(
                kind,
                ElementType::UnsignedInteger { bytes: 1 } | ElementType::SignedInteger { bytes: 1 }
            );
            bytes && buffer.is_c_contiguous()
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
        let bytes = bytes_of(&buffer);
        // A file that is mapped may be larger than memory.
        let mut copy = memory::try_vec_with_capacity(bytes.len())?;
        copy.extend_from_slice(bytes);
        Ok(Self::Copied(copy))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Borrowed(buffer) => bytes_of(buffer),
            Self::Copied(bytes) => bytes,
        }
    }
}

/// The bytes of a buffer that has been found to be contiguous.
fn bytes_of(buffer: &PyUntypedBuffer) -> &[u8] {
    let length = buffer.len_bytes();
    if length == 0 {
        return &[];
    }
    // SAFETY: the exporter keeps so many contiguous bytes there while the buffer is held, which the result borrows.
    // Either nothing writes to them, or the caller copies them before other Python threads run.
    unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast(), length) }
}

/// True if Python code cannot change the bytes of `data`: neither through it nor through the object whose bytes they
/// are. So are those of `bytes`, of read-only buffers of Arrow, and of files mapped to be read.
fn is_immutable(data: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = data.py();
    let mut owner = data.clone();
    while !owner.is_instance_of::<PyBytes>() {
        if !PyUntypedBuffer::get(&owner).is_ok_and(|buffer| buffer.readonly()) {
            return Ok(false);
        }
        if owner.is_instance_of::<PyMemoryView>() {
            owner = owner.getattr(intern!(py, "obj"))?;
        } else if let Some(base) = owner.getattr_opt(intern!(py, "base"))? {
            // An array may be made writable again by who owns its memory: itself, if it has no base.
            owner = base;
        } else {
            break;
        }
    }
    Ok(true)
}
