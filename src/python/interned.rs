//! Lists of ids from prepared Python integers: making a new integer for each id costs more than encoding it.

use std::sync::OnceLock;

use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList};

use crate::token::TokenId;

/// Larger ids get new integers each time: a vocabulary may have an id near four billion.
const MOST_INTERNED: usize = 1 << 20;

/// So many ids get their integers together: some microseconds of work, and neighbours in memory.
const BLOCK: TokenId = 256;

type Block = Box<[Py<PyInt>]>;

/// One Python integer for each id, made when one of its block is first needed.
pub(super) struct InternedIds {
    blocks: Box<[OnceLock<Block>]>,
}

impl InternedIds {
    /// For ids up to `largest`.
    pub(super) fn new(largest: TokenId) -> Self {
        let count = (largest as usize + 1).min(MOST_INTERNED);
        Self {
            blocks: (0..count.div_ceil(BLOCK as usize))
                .map(|_| OnceLock::new())
                .collect(),
        }
    }

    /// How many bytes it takes: the places, and 32 bytes for each integer made so far.
    pub(super) fn memory(&self) -> usize {
        let made = self.blocks.iter().filter_map(OnceLock::get);
        let integers: usize = made.map(|block| block.len()).sum();
        self.blocks.len() * size_of::<OnceLock<Block>>() + integers * (size_of::<Py<PyInt>>() + 32)
    }

    /// The list of `ids`.
    pub(super) fn list<'py>(
        &self,
        py: Python<'py>,
        ids: &[TokenId],
    ) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, ids.iter().map(|&id| self.integer(py, id)))
    }

    #[inline]
    fn integer<'py>(&self, py: Python<'py>, id: TokenId) -> Bound<'py, PyInt> {
        let (block, place) = ((id / BLOCK) as usize, (id % BLOCK) as usize);
        let known = self.blocks.get(block).and_then(OnceLock::get);
        match known.and_then(|block| block.get(place)) {
            Some(integer) => integer.bind(py).clone(),
            None => self.new_integer(py, id),
        }
    }

    /// Makes the block of `id`, if it is to have one.
    #[cold]
    #[inline(never)]
    fn new_integer<'py>(&self, py: Python<'py>, id: TokenId) -> Bound<'py, PyInt> {
        if let Some(block) = self.blocks.get((id / BLOCK) as usize) {
            let first = id & !(BLOCK - 1);
            let integers = (first..first + BLOCK).map(|id| integer(py, id).unbind());
            // Where another thread came first, its block stays: nothing here waits for anything.
            let _ = block.set(integers.collect());
        }
        integer(py, id)
    }
}

fn integer(py: Python<'_>, id: TokenId) -> Bound<'_, PyInt> {
    let Ok(integer) = id.into_pyobject(py);
    integer
}
