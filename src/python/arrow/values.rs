//! The values of an array of text, in memory of the producer.
//!
//! Integers are read one by one, without assuming alignment: some producers map files in which they are not
//! aligned.
#![allow(unsafe_code)]

use std::{ptr, slice};

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::interface::Array;

/// Memory layout of the values of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Contiguous, with 32-bit offsets.
    Narrow,
    /// Contiguous, with 64-bit offsets.
    Wide,
    /// Views: short values inline, others in further buffers.
    Views,
    /// No values, only nulls.
    Nulls,
}

/// The values of an array.
pub(super) struct Values<'a> {
    layout: Layout,
    length: usize,
    /// Index of the first value in the buffers.
    first: usize,
    /// Bitmap, 0 where a value is null; a null pointer if none is.
    validity: *const u8,
    /// The offsets, one more than values, or the views.
    index: *const u8,
    /// The buffer with the bytes of all values, or those of the values that do not fit their views.
    data: &'a [*const u8],
    /// Sizes of these buffers in bytes, if the values are views.
    sizes: Vec<usize>,
}

/// Size of a view: the length of a value; then its bytes, or a prefix, the index of a buffer and the offset
/// in that.
const VIEW: usize = 16;

/// Longer values do not fit their view.
const MAX_INLINE: usize = 12;

impl<'a> Values<'a> {
    /// Reads the header of an array with that layout.
    pub(super) fn of(array: &'a Array, layout: Layout) -> PyResult<Self> {
        let (length, first) = (size(array.length)?, size(array.offset)?);
        if first
            .checked_add(length)
            .is_none_or(|end| end >= isize::MAX as usize / VIEW)
        {
            return Err(malformed("it is longer than memory"));
        }
        let mut values = Self {
            layout,
            length,
            first,
            validity: ptr::null(),
            index: ptr::null(),
            data: &[],
            sizes: Vec::new(),
        };
        if layout == Layout::Nulls || length == 0 {
            return Ok(values);
        }
        let count = size(array.buffers_count)?;
        if array.buffers.is_null() || count < 3 {
            return Err(malformed("a buffer is missing"));
        }
        // SAFETY: the interface promises `buffers_count` pointers at `buffers`, valid until the array is
        // released, and the array is borrowed for `'a`.
        let buffers: &'a [*const u8] =
            unsafe { slice::from_raw_parts(array.buffers.cast(), count) };
        values.index = buffers[1];
        if values.index.is_null() {
            return Err(malformed("a buffer is missing"));
        }
        if array.null_count != 0 {
            values.validity = buffers[0];
        }
        values.data = &buffers[2..];
        if layout == Layout::Views
            && let Some((&sizes, data)) = values.data.split_last()
        {
            values.data = data;
            if sizes.is_null() && !data.is_empty() {
                return Err(malformed("a buffer is missing"));
            }
            // SAFETY: the interface promises, in the last buffer, a size for each variadic buffer before it.
            let sizes = (0..data.len()).map(|index| size(unsafe { read(sizes, index) }));
            values.sizes = sizes.collect::<PyResult<_>>()?;
        }
        Ok(values)
    }

    /// Number of values.
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Returns value `index`, `None` if it is null.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    pub(super) fn get(&self, index: usize) -> PyResult<Option<&'a [u8]>> {
        assert!(index < self.length, "value {index} of {}", self.length);
        let entry = self.first + index;
        if self.is_null(entry) {
            return Ok(None);
        }
        let index = self.index;
        // SAFETY: `entry` is below the number of values, as was just asserted; the interface promises an
        // offset more than values, or a view for each.
        let value = unsafe {
            match self.layout {
                Layout::Nulls => return Ok(None),
                Layout::Narrow => {
                    let end: [i32; 2] = [read(index, entry), read(index, entry + 1)];
                    self.between(end[0].into(), end[1].into())
                }
                Layout::Wide => self.between(read(index, entry), read(index, entry + 1)),
                Layout::Views => self.view(entry),
            }
        };
        value.map(Some)
    }

    fn is_null(&self, entry: usize) -> bool {
        if self.layout == Layout::Nulls || self.validity.is_null() {
            return self.layout == Layout::Nulls;
        }
        // SAFETY: the interface promises a bit for each value.
        let bits: u8 = unsafe { read(self.validity, entry / 8) };
        bits >> (entry % 8) & 1 == 0
    }

    /// Returns the bytes at offsets `start..end` of the data buffer.
    fn between(&self, start: i64, end: i64) -> PyResult<&'a [u8]> {
        let (start, end) = (size(start)?, size(end)?);
        if start > end {
            return Err(malformed("a value ends before it starts"));
        }
        if start == end {
            return Ok(&[]);
        }
        let data = self.data.first().filter(|data| !data.is_null());
        let data = data.ok_or_else(|| malformed("a buffer is missing"))?;
        // SAFETY: the interface promises that offsets lie within the buffer, whose size it does not tell; the
        // buffer lives as long as the array, which is borrowed for `'a`.
        Ok(unsafe { slice::from_raw_parts(data.add(start), end - start) })
    }

    /// Returns the value of a view.
    ///
    /// # Safety
    /// `entry` must be below the number of views.
    unsafe fn view(&self, entry: usize) -> PyResult<&'a [u8]> {
        // SAFETY: the view exists, as the caller ensures.
        let [length, _, buffer, start]: [i32; 4] = unsafe { read(self.index, entry) };
        let length = size(length.into())?;
        if length <= MAX_INLINE {
            // SAFETY: the value is in the 12 bytes of the view after its length.
            return Ok(unsafe { slice::from_raw_parts(self.index.add(entry * VIEW + 4), length) });
        }
        let (buffer, start) = (size(buffer.into())?, size(start.into())?);
        let (data, size) = match (self.data.get(buffer), self.sizes.get(buffer)) {
            (Some(&data), Some(&size)) if !data.is_null() => (data, size),
            _ => return Err(malformed("a buffer is missing")),
        };
        if start.checked_add(length).is_none_or(|end| end > size) {
            return Err(malformed("a view leads out of its buffer"));
        }
        // SAFETY: the range lies within the buffer, as was just checked, which lives as long as the array.
        Ok(unsafe { slice::from_raw_parts(data.add(start), length) })
    }
}

/// Reads integer `index` of a buffer, aligned or not.
///
/// # Safety
/// The buffer must have more than `index` integers.
unsafe fn read<T: Copy>(buffer: *const u8, index: usize) -> T {
    // SAFETY: within the buffer, as the caller ensures; no alignment is assumed.
    unsafe { buffer.cast::<T>().add(index).read_unaligned() }
}

/// Converts a length, count or offset.
fn size(number: i64) -> PyResult<usize> {
    usize::try_from(number).map_err(|_| malformed("a length or offset is negative"))
}

/// Builds the error for data that breaks the rules of the interface.
pub(super) fn malformed(reason: &str) -> PyErr {
    PyValueError::new_err(format!(
        "malformed Arrow data: {reason}; expected what the Arrow C data interface demands"
    ))
}
