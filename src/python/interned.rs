//! Lists of ids from prepared Python integers: making a new integer for each id costs more than encoding it.

use std::sync::OnceLock;

use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList};

use crate::token::TokenId;

/// Larger ids get new integers each time: a vocabulary may have an id near four billion.
const MOST_INTERNED: usize = 1 << 20;

/// One Python integer for each id, made when it is first needed.
pub(super) struct InternedIds {
    count: usize,
    ids: OnceLock<Vec<OnceLock<Py<PyInt>>>>,
}

impl InternedIds {
    /// For ids up to `largest`.
    pub(super) fn new(largest: TokenId) -> Self {
        Self {
            count: (largest as usize + 1).min(MOST_INTERNED),
            ids: OnceLock::new(),
        }
    }

    /// How many bytes it takes once all ids have been seen: the places, and 32 bytes for each integer.
    pub(super) fn memory(&self) -> usize {
        let integers = self.ids.get().map_or(0, Vec::len);
        integers * (size_of::<OnceLock<Py<PyInt>>>() + 32)
    }

    /// The list of `ids`.
    pub(super) fn list<'py>(
        &self,
        py: Python<'py>,
        ids: &[TokenId],
    ) -> PyResult<Bound<'py, PyList>> {
        let interned = self
            .ids
            .get_or_init(|| (0..self.count).map(|_| OnceLock::new()).collect());
        PyList::new(
            py,
            ids.iter().map(|&id| match interned.get(id as usize) {
                Some(slot) => slot
                    .get_or_init(|| integer(py, id).unbind())
                    .clone_ref(py)
                    .into_bound(py),
                None => integer(py, id),
            }),
        )
    }
}

fn integer(py: Python<'_>, id: TokenId) -> Bound<'_, PyInt> {
    let Ok(integer) = id.into_pyobject(py);
    integer
}
