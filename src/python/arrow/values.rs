//! Where the values of an array of text lie.
//!
//! Numbers are read one by one, wherever they are: some producers map files in which they are not aligned.
#![allow(unsafe_code)]

use std::{ptr, slice};

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::interface::Array;

/// How the values of a column lie in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// One after the other, and where each ends as 32-bit numbers.
    Narrow,
    /// The same with 64-bit numbers.
    Wide,
    /// Short ones in place, others anywhere in further buffers.
    Views,
    /// There are no values.
    Nulls,
}

/// The values of an array.
pub(super) struct Values<'a> {
    layout: Layout,
    length: usize,
    /// The place of the first value in the buffers.
    first: usize,
    /// Bits that are 0 where a value is null; null if none is.
    validity: *const u8,
    /// Where each value ends, or its view.
    places: *const u8,
    /// The bytes of all values, or the buffers of those that do not fit their views.
    data: &'a [*const u8],
    /// How many bytes these buffers have, if the values are views.
    sizes: Vec<usize>,
}

/// A view: the length of a value; then all of it, or its first bytes, a buffer and the place in that.
const VIEW: usize = 16;

/// Values of more bytes do not fit their view.
const IN_VIEW: usize = 12;

impl<'a> Values<'a> {
    /// Those of an array with that layout.
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
            places: ptr::null(),
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
        // SAFETY: the array has so many pointers to buffers, for as long as it is not released.
        let buffers: &'a [*const u8] =
            unsafe { slice::from_raw_parts(array.buffers.cast(), count) };
        values.places = buffers[1];
        if values.places.is_null() {
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
            // SAFETY: the last buffer has the size of each of the buffers between.
            let sizes = (0..data.len()).map(|index| size(unsafe { read(sizes, index) }));
            values.sizes = sizes.collect::<PyResult<_>>()?;
        }
        Ok(values)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Value `index`, which is below their number; `None` if it is null.
    pub(super) fn get(&self, index: usize) -> PyResult<Option<&'a [u8]>> {
        assert!(index < self.length, "value {index} of {}", self.length);
        let place = self.first + index;
        if self.is_null(place) {
            return Ok(None);
        }
        let places = self.places;
        // SAFETY: there is a place more than there are values, and a view for each value.
        let value = unsafe {
            match self.layout {
                Layout::Nulls => return Ok(None),
                Layout::Narrow => {
                    let end: [i32; 2] = [read(places, place), read(places, place + 1)];
                    self.between(end[0].into(), end[1].into())
                }
                Layout::Wide => self.between(read(places, place), read(places, place + 1)),
                Layout::Views => self.view(place),
            }
        };
        value.map(Some)
    }

    fn is_null(&self, place: usize) -> bool {
        if self.layout == Layout::Nulls || self.validity.is_null() {
            return self.layout == Layout::Nulls;
        }
        // SAFETY: the buffer has a bit for each value.
        let bits: u8 = unsafe { read(self.validity, place / 8) };
        bits >> (place % 8) & 1 == 0
    }

    /// The bytes of all values from `start` to `end`.
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
        // SAFETY: values end where the buffer does or before; it lives as long as the array.
        Ok(unsafe { slice::from_raw_parts(data.add(start), end - start) })
    }

    /// The value of a view.
    ///
    /// # Safety
    /// There are more views than `place`.
    unsafe fn view(&self, place: usize) -> PyResult<&'a [u8]> {
        // SAFETY: as the caller promises.
        let [length, _, buffer, start]: [i32; 4] = unsafe { read(self.places, place) };
        let length = size(length.into())?;
        if length <= IN_VIEW {
            // SAFETY: the value is in the view, after its length.
            return Ok(unsafe { slice::from_raw_parts(self.places.add(place * VIEW + 4), length) });
        }
        let (buffer, start) = (size(buffer.into())?, size(start.into())?);
        let (data, size) = match (self.data.get(buffer), self.sizes.get(buffer)) {
            (Some(&data), Some(&size)) if !data.is_null() => (data, size),
            _ => return Err(malformed("a buffer is missing")),
        };
        if start.checked_add(length).is_none_or(|end| end > size) {
            return Err(malformed("a view leads out of its buffer"));
        }
        // SAFETY: the buffer has so many bytes; it lives as long as the array.
        Ok(unsafe { slice::from_raw_parts(data.add(start), length) })
    }
}

/// Number `index` of those in a buffer, aligned or not.
///
/// # Safety
/// The buffer has so many numbers.
unsafe fn read<T: Copy>(buffer: *const u8, index: usize) -> T {
    // SAFETY: as the caller promises.
    unsafe { buffer.cast::<T>().add(index).read_unaligned() }
}

/// A length, count or place.
fn size(number: i64) -> PyResult<usize> {
    usize::try_from(number).map_err(|_| malformed("a length or place is negative"))
}

/// The error for data that breaks the interface's rules.
pub(super) fn malformed(what: &str) -> PyErr {
    PyValueError::new_err(format!(
        "malformed Arrow data: {what}; expected what the Arrow C data interface demands"
    ))
}
