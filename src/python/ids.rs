//! Token ids from whatever holds integers in Python.

use std::fmt::Display;

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use super::buffer::{is_immutable, numpy_is_imported};
use super::listed;
use crate::token::TokenId;
use crate::util::memory;

/// Fewer ids are copied at less cost than borrowed.
const WORTH_BORROWING: usize = 4096;

/// Ids from an argument.
pub(super) enum TokenIds<'py> {
    Copied(Vec<TokenId>),
    /// A `NumPy` array that nothing can write, as [`is_immutable`] proves.
    Borrowed(PyReadonlyArray1<'py, TokenId>),
}

impl<'py> TokenIds<'py> {
    /// The ids in a list, a tuple or another sequence, or in a one-dimensional buffer of any integer type, such as a
    /// `NumPy` array or `array.array`: those are read without a Python integer for each id.
    pub(super) fn of(argument: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(list) = argument.cast::<PyList>() {
            return listed::ids(list).map(Self::Copied);
        }
        if !argument.is_instance_of::<PyTuple>() {
            if numpy_is_imported(argument.py())?
                && let Some(ids) = from_array(argument)
            {
                return ids;
            }
            let ids = from_buffer::<u32>(argument)
                .or_else(|| from_buffer::<i64>(argument))
                .or_else(|| from_buffer::<i32>(argument))
                .or_else(|| from_buffer::<u64>(argument))
                .or_else(|| from_buffer::<u16>(argument))
                .or_else(|| from_buffer::<i16>(argument))
                .or_else(|| from_buffer::<u8>(argument))
                .or_else(|| from_buffer::<i8>(argument));
            if let Some(ids) = ids {
                return ids.map(Self::Copied);
            }
        }
        from_sequence(argument).map(Self::Copied)
    }

    pub(super) fn as_slice(&self) -> PyResult<&[TokenId]> {
        match self {
            Self::Copied(ids) => Ok(ids),
            Self::Borrowed(array) => Ok(array.as_slice()?),
        }
    }
}

/// The ids in an array, if the argument is one that lies in memory as integers of the machine do.
fn from_array<'py>(argument: &Bound<'py, PyAny>) -> Option<PyResult<TokenIds<'py>>> {
    if let Some(array) = array::<TokenId>(argument) {
        return Some(borrowed_or_copied(array));
    }
    let ids = array::<i64>(argument)
        .map(|array| converted(array.as_slice()?))
        .or_else(|| array::<i32>(argument).map(|array| converted(array.as_slice()?)))
        .or_else(|| array::<u64>(argument).map(|array| converted(array.as_slice()?)))?;
    Some(ids.map(TokenIds::Copied))
}

/// Borrows an array that nothing can write, copies any other while the interpreter is held.
fn borrowed_or_copied(array: PyReadonlyArray1<'_, TokenId>) -> PyResult<TokenIds<'_>> {
    if array.len() >= WORTH_BORROWING && is_immutable(&array)? {
        return Ok(TokenIds::Borrowed(array));
    }
    let mut ids = memory::try_vec_with_capacity(array.len())?;
    ids.extend_from_slice(array.as_slice()?);
    Ok(TokenIds::Copied(ids))
}

/// The argument as an array of `T` without gaps.
fn array<'py, T: numpy::Element>(argument: &Bound<'py, PyAny>) -> Option<PyReadonlyArray1<'py, T>> {
    let array = argument.cast::<PyArray1<T>>().ok()?;
    let usable = array.is_contiguous() && array.is_aligned();
    usable.then(|| array.try_readonly().ok()).flatten()
}

/// The ids in a one-dimensional buffer of `T`; `None` if the argument is not one.
fn from_buffer<T>(argument: &Bound<'_, PyAny>) -> Option<PyResult<Vec<TokenId>>>
where
    T: Element + Default + Display,
    TokenId: TryFrom<T>,
{
    let buffer = PyBuffer::<T>::get(argument).ok()?;
    // Numbers in the other byte order are read one by one.
    let format = buffer.format().to_bytes().first();
    let swapped = matches!(format, Some(b'>' | b'!')) != cfg!(target_endian = "big")
        && matches!(format, Some(b'<' | b'>' | b'!'));
    if buffer.dimensions() != 1 || swapped {
        return None;
    }
    let numbers = || {
        // Perhaps one number, said to be there many times.
        let mut numbers = memory::try_vec_with_capacity(buffer.item_count())?;
        numbers.resize(buffer.item_count(), T::default());
        buffer.copy_to_slice(argument.py(), &mut numbers)?;
        converted(&numbers)
    };
    Some(numbers())
}

/// The ids in any other sequence.
fn from_sequence(argument: &Bound<'_, PyAny>) -> PyResult<Vec<TokenId>> {
    let by_place = argument.hasattr(intern!(argument.py(), "__getitem__"))?;
    if !by_place || argument.is_instance_of::<PyString>() || argument.is_instance_of::<PyDict>() {
        return Err(PyTypeError::new_err(format!(
            "expected a sequence of token ids, got {}",
            argument.get_type().qualname()?
        )));
    }
    // The length costs nothing to say: that of a range, or of a class of one's own.
    let mut ids = memory::try_vec_with_capacity(argument.len()?)?;
    for item in argument.try_iter()? {
        memory::try_reserve(&mut ids, 1)?;
        ids.push(item?.extract()?);
    }
    Ok(ids)
}

fn converted<T: Copy + Display>(numbers: &[T]) -> PyResult<Vec<TokenId>>
where
    TokenId: TryFrom<T>,
{
    // Without a way out in the loop, which would keep it from being done several numbers at a time.
    let mut fits = true;
    let id = |&number: &T| {
        TokenId::try_from(number).unwrap_or_else(|_| {
            fits = false;
            0
        })
    };
    let mut ids = memory::try_vec_with_capacity(numbers.len())?;
    ids.extend(numbers.iter().map(id));
    if fits {
        return Ok(ids);
    }
    let mut outside = numbers
        .iter()
        .filter(|&&number| TokenId::try_from(number).is_err());
    Err(PyOverflowError::new_err(format!(
        "the id {} is out of range: expected 0 to 4294967295",
        outside.next().map_or_else(String::new, T::to_string)
    )))
}
