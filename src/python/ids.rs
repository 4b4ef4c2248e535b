//! Token ids from whatever holds integers in Python.

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::token::TokenId;

/// The ids in a list, a tuple or another sequence, or in a one-dimensional buffer of any integer type, such as a `NumPy`
/// array or `array.array`: those are read without a Python integer for each id.
pub(super) fn token_ids(argument: &Bound<'_, PyAny>) -> PyResult<Vec<TokenId>> {
    if !argument.is_instance_of::<PyList>() && !argument.is_instance_of::<PyTuple>() {
        let from_buffer = read::<u32>(argument)
            .or_else(|| read::<i64>(argument))
            .or_else(|| read::<i32>(argument))
            .or_else(|| read::<u64>(argument))
            .or_else(|| read::<u16>(argument))
            .or_else(|| read::<i16>(argument))
            .or_else(|| read::<u8>(argument))
            .or_else(|| read::<i8>(argument));
        if let Some(ids) = from_buffer {
            return ids;
        }
    }
    argument.extract()
}

/// The ids in a one-dimensional buffer of `T`; `None` if the argument is not one.
fn read<T>(argument: &Bound<'_, PyAny>) -> Option<PyResult<Vec<TokenId>>>
where
    T: Element + Copy + std::fmt::Display,
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
    let convert = |number: T| {
        TokenId::try_from(number).map_err(|_| {
            PyOverflowError::new_err(format!(
                "the id {number} is out of range: expected 0 to 4294967295"
            ))
        })
    };
    Some(
        buffer
            .to_vec(argument.py())
            .and_then(|numbers| numbers.into_iter().map(convert).collect()),
    )
}
