//! The Arrow C data interface and C stream interface: owned structs, and the capsules that carry them.
//!
//! <https://arrow.apache.org/docs/format/CDataInterface.html>,
//! <https://arrow.apache.org/docs/format/CStreamInterface.html>,
//! <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

/// The type of a column.
#[repr(C)]
pub(super) struct Schema {
    pub(super) format: *const c_char,
    pub(super) name: *const c_char,
    pub(super) metadata: *const c_char,
    pub(super) flags: i64,
    pub(super) children_count: i64,
    pub(super) children: *mut *mut Schema,
    pub(super) dictionary: *mut Schema,
    pub(super) release: Option<unsafe extern "C" fn(*mut Schema)>,
    pub(super) private_data: *mut c_void,
}

/// Values of a column, which never change.
#[repr(C)]
pub(super) struct Array {
    pub(super) length: i64,
    pub(super) null_count: i64,
    pub(super) offset: i64,
    pub(super) buffers_count: i64,
    pub(super) children_count: i64,
    pub(super) buffers: *mut *const c_void,
    pub(super) children: *mut *mut Array,
    pub(super) dictionary: *mut Array,
    pub(super) release: Option<unsafe extern "C" fn(*mut Array)>,
    pub(super) private_data: *mut c_void,
}

/// A sequence of arrays of one schema.
#[repr(C)]
pub(super) struct Stream {
    pub(super) get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int>,
    pub(super) get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int>,
    pub(super) get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    pub(super) release: Option<unsafe extern "C" fn(*mut Stream)>,
    pub(super) private_data: *mut c_void,
}

/// A struct of the interface. It owns what its pointers lead to, unless it is released.
pub(super) trait Struct: Sized + Send + 'static {
    /// Name of the capsules that carry one.
    const NAME: &'static CStr;
    /// A released struct.
    const RELEASED: Self;

    /// True if it is released, so that it owns nothing.
    fn is_released(&self) -> bool;
}

macro_rules! structs {
    ($($struct:ident $name:literal { $($field:ident: $nothing:expr),* })*) => {$(
        impl Struct for $struct {
            const NAME: &'static CStr = $name;
            const RELEASED: Self = Self { $($field: $nothing),* };

            fn is_released(&self) -> bool {
                self.release.is_none()
            }
        }

        impl Drop for $struct {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: the struct is not released yet, and is dropped once; `release` is the function
                    // that its producer provides for this.
                    unsafe { release(self) }
                }
            }
        }

        // SAFETY: the interface allows structs to be used and released on any thread.
        unsafe impl Send for $struct {}
    )*};
}

structs! {
    Schema c"arrow_schema" {
        format: ptr::null(), name: ptr::null(), metadata: ptr::null(), flags: 0, children_count: 0,
        children: ptr::null_mut(), dictionary: ptr::null_mut(), release: None, private_data: ptr::null_mut()
    }
    Array c"arrow_array" {
        length: 0, null_count: 0, offset: 0, buffers_count: 0, children_count: 0, buffers: ptr::null_mut(),
        children: ptr::null_mut(), dictionary: ptr::null_mut(), release: None, private_data: ptr::null_mut()
    }
    Stream c"arrow_array_stream" {
        get_schema: None, get_next: None, get_last_error: None, release: None, private_data: ptr::null_mut()
    }
}

// SAFETY: the memory of an array does not change until it is released, which requires ownership.
unsafe impl Sync for Array {}

/// Moves the struct out of a capsule, and leaves a released one.
pub(super) fn take<T: Struct>(capsule: &Bound<'_, PyAny>) -> PyResult<T> {
    let pointer = capsule
        .cast::<PyCapsule>()?
        .pointer_checked(Some(T::NAME))?;
    // SAFETY: a capsule of this name holds such a struct, and the interface moves it out by leaving a
    // released one.
    let taken = unsafe { pointer.cast::<T>().replace(T::RELEASED) };
    if taken.is_released() {
        return Err(PyValueError::new_err(format!(
            "the capsule {:?} is empty: expected one that nobody has read yet",
            T::NAME
        )));
    }
    Ok(taken)
}

/// Moves the struct into a capsule, which releases it if no consumer takes it out.
pub(super) fn give<T: Struct>(py: Python<'_>, value: T) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, value, T::NAME)
}
