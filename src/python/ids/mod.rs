//! Token ids from Python integers and to them.

pub(super) mod arrays;
mod interned;
mod list;

use std::fmt::Display;

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use super::buffer::{is_immutable, numpy_is_imported};
use crate::token::TokenId;
use crate::util::memory;
pub(super) use interned::InternedIds;

/// Arrays of fewer ids are copied, which costs less than proving that they can be borrowed.
const MIN_BORROWED: usize = 4096;

/// Ids from an argument.
pub(super) enum TokenIds<'py> {
    Copied(Vec<TokenId>),
    /// A `NumPy` array that nothing can write, as [`is_immutable`] proves.
    Borrowed(PyReadonlyArray1<'py, TokenId>),
}

impl<'py> TokenIds<'py> {
    /// Reads the ids in a list, a tuple or another sequence, or in a one-dimensional buffer of any integer
    /// type, such as a `NumPy` array or `array.array`: a buffer is read without creating Python integers.
    pub(super) fn from_py(argument: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(list) = argument.cast::<PyList>() {
            return list::ids_from_list(list).map(Self::Copied);
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

/// Reads a contiguous array of native integers; `None` for any other argument.
fn from_array<'py>(argument: &Bound<'py, PyAny>) -> Option<PyResult<TokenIds<'py>>> {
    if let Some(array) = contiguous_array::<TokenId>(argument) {
        return Some(borrow_or_copy(array));
    }
    let ids = contiguous_array::<i64>(argument)
        .map(|array| convert(array.as_slice()?))
        .or_else(|| contiguous_array::<i32>(argument).map(|array| convert(array.as_slice()?)))
        .or_else(|| contiguous_array::<u64>(argument).map(|array| convert(array.as_slice()?)))?;
    Some(ids.map(TokenIds::Copied))
}

/// Borrows an array that nothing can write; copies any other before the GIL is released.
fn borrow_or_copy(array: PyReadonlyArray1<'_, TokenId>) -> PyResult<TokenIds<'_>> {
    if array.len() >= MIN_BORROWED && is_immutable(&array)? {
        return Ok(TokenIds::Borrowed(array));
    }
    let mut ids = memory::try_vec_with_capacity(array.len())?;
    ids.extend_from_slice(array.as_slice()?);
    Ok(TokenIds::Copied(ids))
}

/// Returns the argument if it is a contiguous, aligned array of `T`.
fn contiguous_array<'py, T: numpy::Element>(
    argument: &Bound<'py, PyAny>,
) -> Option<PyReadonlyArray1<'py, T>> {
    let array = argument.cast::<PyArray1<T>>().ok()?;
    let is_usable = array.is_contiguous() && array.is_aligned();
    is_usable.then(|| array.try_readonly().ok()).flatten()
}

/// Reads a one-dimensional buffer of `T`; `None` for any other argument.
fn from_buffer<T>(argument: &Bound<'_, PyAny>) -> Option<PyResult<Vec<TokenId>>>
where
    T: Element + Default + Display,
    TokenId: TryFrom<T>,
{
    let buffer = PyBuffer::<T>::get(argument).ok()?;
    // Integers in the other byte order are read as a sequence.
    let format = buffer.format().to_bytes().first();
    let is_swapped = matches!(format, Some(b'>' | b'!')) != cfg!(target_endian = "big")
        && matches!(format, Some(b'<' | b'>' | b'!'));
    if buffer.dimensions() != 1 || is_swapped {
        return None;
    }
    let read = || {
        // With strides of 0, a huge buffer may be one integer in memory.
        let mut numbers = memory::try_vec_with_capacity(buffer.item_count())?;
        numbers.resize(buffer.item_count(), T::default());
        buffer.copy_to_slice(argument.py(), &mut numbers)?;
        convert(&numbers)
    };
    Some(read())
}

/// Reads any other sequence.
fn from_sequence(argument: &Bound<'_, PyAny>) -> PyResult<Vec<TokenId>> {
    let is_sequence = argument.hasattr(intern!(argument.py(), "__getitem__"))?;
    if !is_sequence || argument.is_instance_of::<PyString>() || argument.is_instance_of::<PyDict>()
    {
        return Err(PyTypeError::new_err(format!(
            "expected a sequence of token ids, got {}",
            argument.get_type().qualname()?
        )));
    }
    // The length may be any number: that of a range, or of a user's class.
    let mut ids = memory::try_vec_with_capacity(argument.len()?)?;
    for item in argument.try_iter()? {
        memory::try_reserve(&mut ids, 1)?;
        ids.push(id_of(&item?)?);
    }
    Ok(ids)
}

/// Returns the id that a Python integer is.
fn id_of(item: &Bound<'_, PyAny>) -> PyResult<TokenId> {
    item.extract().map_err(|error: PyErr| {
        let py = item.py();
        // A list, or a row of a two-dimensional array.
        if item.len().is_ok() && !item.is_instance_of::<PyString>() {
            return PyTypeError::new_err(
                "expected token ids as integers, got a list of them: decode_batch decodes several lists",
            );
        }
        if !error.is_instance_of::<PyOverflowError>(py) {
            return error;
        }
        // The digits of a very large integer may not be asked for.
        item.str()
            .map_or(error, |number| out_of_range(number.to_string_lossy()))
    })
}

/// The error for an integer that is no id.
fn out_of_range(number: impl Display) -> PyErr {
    PyOverflowError::new_err(format!(
        "the id {number} is out of range: expected 0 to {}",
        TokenId::MAX
    ))
}

/// Converts integers to ids; the error names the first that does not fit.
fn convert<T: Copy + Display>(numbers: &[T]) -> PyResult<Vec<TokenId>>
where
    TokenId: TryFrom<T>,
{
    // No early exit in the loop, so that it is vectorised.
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
    Err(out_of_range(outside.next().expect("a number did not fit")))
}
