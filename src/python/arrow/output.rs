//! Lists of ids as a column of Arrow.
//!
//! Every export shares the memory of the column, which is freed with the column and the last export.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::interface::{Array, Schema, Stream, Struct, give, take};
use crate::python::error::guarded;
use crate::token::TokenId;

/// Flag of a schema: values may be null.
const NULLABLE: i64 = 2;

const IDS: &CStr = c"I";
const LISTS: &CStr = c"+l";
const LARGE_LISTS: &CStr = c"+L";

/// A list of ids for each text.
#[derive(Clone)]
pub(super) struct Lists {
    ids: Arc<Vec<TokenId>>,
    offsets: Arc<Offsets>,
    /// A bit for each list, 0 if it is null.
    validity: Option<Arc<Vec<u8>>>,
    null_count: usize,
}

/// Offsets where the ids of each list start and end.
enum Offsets {
    /// Those of the type `list`.
    Narrow(Vec<i32>),
    /// Those of the type `large_list`.
    Wide(Vec<i64>),
}

impl Lists {
    /// Creates lists: list i is `ids[offsets[i]..offsets[i + 1]]`, or null if `validity[i]` is false.
    pub(super) fn new(offsets: &[usize], ids: Vec<TokenId>, validity: Option<Vec<bool>>) -> Self {
        let nulls = validity.iter().flatten().filter(|valid| !**valid);
        let null_count = nulls.count();
        let bits = |valid: &[bool]| {
            let bits = valid.iter().zip(0..);
            bits.fold(0, |byte, (&valid, bit)| byte | u8::from(valid) << bit)
        };
        let validity = validity.map(|validity| Arc::new(validity.chunks(8).map(bits).collect()));
        Self {
            ids: Arc::new(ids),
            offsets: Arc::new(Offsets::of(offsets)),
            validity,
            null_count,
        }
    }

    /// Returns the same lists as large lists.
    fn to_large(&self) -> Self {
        let offsets = match &*self.offsets {
            Offsets::Narrow(offsets) => Arc::new(Offsets::Wide(
                offsets.iter().copied().map(i64::from).collect(),
            )),
            Offsets::Wide(_) => Arc::clone(&self.offsets),
        };
        Self {
            offsets,
            ..self.clone()
        }
    }

    fn schema(&self) -> Schema {
        let format = match *self.offsets {
            Offsets::Narrow(_) => LISTS,
            Offsets::Wide(_) => LARGE_LISTS,
        };
        schema(format, c"", Some(schema(IDS, c"item", None)))
    }

    fn array(&self) -> Array {
        let validity = self.validity.as_ref();
        let validity = validity.map_or(ptr::null(), |bits| bits.as_ptr().cast());
        let ids = array(
            self.ids.len(),
            0,
            vec![ptr::null(), self.ids.as_ptr().cast()],
            None,
            self.clone(),
        );
        array(
            self.offsets.count(),
            self.null_count,
            vec![validity, self.offsets.start()],
            Some(ids),
            self.clone(),
        )
    }
}

impl Offsets {
    /// Chooses narrow ones if they suffice.
    fn of(offsets: &[usize]) -> Self {
        let narrow = offsets.iter().map(|&offset| i32::try_from(offset));
        narrow.collect::<Result<_, _>>().map_or_else(
            |_| Self::Wide(offsets.iter().copied().map(number).collect()),
            Self::Narrow,
        )
    }

    /// Number of lists.
    fn count(&self) -> usize {
        match self {
            Self::Narrow(offsets) => offsets.len() - 1,
            Self::Wide(offsets) => offsets.len() - 1,
        }
    }

    fn start(&self) -> *const c_void {
        match self {
            Self::Narrow(offsets) => offsets.as_ptr().cast(),
            Self::Wide(offsets) => offsets.as_ptr().cast(),
        }
    }
}

/// The memory that an exported schema owns.
struct SchemaParts {
    /// Created by `Box::into_raw`.
    children: Vec<*mut Schema>,
}

fn schema(format: &'static CStr, name: &'static CStr, child: Option<Schema>) -> Schema {
    let child = child.map(|child| Box::into_raw(Box::new(child)));
    let mut parts = Box::new(SchemaParts {
        children: child.into_iter().collect(),
    });
    Schema {
        format: format.as_ptr(),
        name: name.as_ptr(),
        flags: NULLABLE,
        children_count: number(parts.children.len()),
        children: parts.children.as_mut_ptr(),
        release: Some(release_schema),
        private_data: Box::into_raw(parts).cast(),
        ..Schema::RELEASED
    }
}

impl Drop for SchemaParts {
    fn drop(&mut self) {
        for &child in &self.children {
            // SAFETY: `schema` created the box, and nothing else frees it: a consumer may move the struct out
            // of it, but not the box.
            drop(unsafe { Box::from_raw(child) });
        }
    }
}

/// The memory that an exported array owns.
struct ArrayParts {
    /// Created by `Box::into_raw`.
    children: Vec<*mut Array>,
    buffers: Vec<*const c_void>,
    /// Keeps the buffers alive.
    _lists: Lists,
}

/// Creates an array around `buffers`, which are parts of `lists`.
fn array(
    length: usize,
    null_count: usize,
    buffers: Vec<*const c_void>,
    child: Option<Array>,
    lists: Lists,
) -> Array {
    let child = child.map(|child| Box::into_raw(Box::new(child)));
    let mut parts = Box::new(ArrayParts {
        children: child.into_iter().collect(),
        buffers,
        _lists: lists,
    });
    Array {
        length: number(length),
        null_count: number(null_count),
        buffers_count: number(parts.buffers.len()),
        children_count: number(parts.children.len()),
        buffers: parts.buffers.as_mut_ptr(),
        children: parts.children.as_mut_ptr(),
        release: Some(release_array),
        private_data: Box::into_raw(parts).cast(),
        ..Array::RELEASED
    }
}

impl Drop for ArrayParts {
    fn drop(&mut self) {
        for &child in &self.children {
            // SAFETY: `array` created the box, and nothing else frees it: a consumer may move the struct out
            // of it, but not the box.
            drop(unsafe { Box::from_raw(child) });
        }
    }
}

/// Converts a count, as the interface has it.
fn number(count: usize) -> i64 {
    i64::try_from(count).expect("counts of objects in memory fit")
}

unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: consumers call this once, with a struct that `schema` created, as the interface demands.
    unsafe {
        drop(Box::from_raw((*schema).private_data.cast::<SchemaParts>()));
        (*schema).release = None;
    }
}

unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: consumers call this once, with a struct that `array` created, as the interface demands.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<ArrayParts>()));
        (*array).release = None;
    }
}

/// The memory that an exported stream owns.
struct StreamParts {
    lists: Lists,
    is_read: bool,
}

fn stream(lists: Lists) -> Stream {
    let parts = Box::new(StreamParts {
        lists,
        is_read: false,
    });
    Stream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private_data: Box::into_raw(parts).cast(),
    }
}

unsafe extern "C" fn get_schema(stream: *mut Stream, result: *mut Schema) -> c_int {
    // SAFETY: consumers call this with a struct that `stream` created and that is not released; `result` is
    // writable, and what it held needs no release.
    unsafe {
        let parts = &*(*stream).private_data.cast::<StreamParts>();
        result.write(parts.lists.schema());
    }
    0
}

unsafe extern "C" fn get_next(stream: *mut Stream, result: *mut Array) -> c_int {
    // SAFETY: as in `get_schema`; consumers call the functions of a stream from one thread at a time.
    unsafe {
        let parts = &mut *(*stream).private_data.cast::<StreamParts>();
        let array = if parts.is_read {
            Array::RELEASED
        } else {
            parts.lists.array()
        };
        result.write(array);
        parts.is_read = true;
    }
    0
}

unsafe extern "C" fn get_last_error(_: *mut Stream) -> *const c_char {
    ptr::null()
}

unsafe extern "C" fn release_stream(stream: *mut Stream) {
    // SAFETY: consumers call this once, with a struct that `stream` created, as the interface demands.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<StreamParts>()));
        (*stream).release = None;
    }
}

/// The ids of a column of texts.
#[pyclass(module = "bytemill._core", frozen)]
pub(in crate::python) struct EncodedColumn {
    lists: Lists,
}

impl EncodedColumn {
    pub(super) fn new(lists: Lists) -> Self {
        Self { lists }
    }

    /// Returns the lists in the requested type: large lists, or else the type they have.
    fn requested(&self, requested_schema: Option<&Bound<'_, PyAny>>) -> PyResult<Lists> {
        if let Some(capsule) = requested_schema {
            let requested: Schema = take(capsule)?;
            // SAFETY: the interface demands a C string in a schema that is not released.
            if unsafe { CStr::from_ptr(requested.format) } == LARGE_LISTS {
                return Ok(self.lists.to_large());
            }
        }
        Ok(self.lists.clone())
    }
}

#[pymethods]
impl EncodedColumn {
    fn __len__(&self) -> usize {
        self.lists.offsets.count()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        guarded(|| {
            let lists = self.requested(requested_schema)?;
            Ok((give(py, lists.schema())?, give(py, lists.array())?))
        })
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        guarded(|| give(py, stream(self.requested(requested_schema)?)))
    }
}
