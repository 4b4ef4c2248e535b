//! `CoreBPE`: text to ids and back.

mod batch;
mod build;
mod decode;
mod encode;
mod growing;
mod padded;
mod special;
mod vocabulary;

use std::sync::Arc;

use pyo3::prelude::*;

use super::ids::InternedIds;
use crate::encode::Encoder;
pub(in crate::python) use build::published_encodings;
pub(in crate::python) use decode::CoreTextStream;
pub(in crate::python) use growing::{CorePrefixCache, CoreSession, CoreStreamEncoder};

/// A vocabulary, its special tokens and its splitter. Immutable, so threads share it freely.
#[pyclass(name = "CoreBPE", module = "bytemill._core", frozen)]
pub(super) struct CoreBpe {
    pub(super) encoder: Arc<Encoder>,
    interned: InternedIds,
}

impl CoreBpe {
    pub(super) fn new(encoder: Encoder) -> Self {
        let interned = InternedIds::new(encoder.largest_id());
        let encoder = Arc::new(encoder);
        Self { encoder, interned }
    }
}

/// Limits the bytes that the caches of all encodings take together in this process.
#[pyfunction]
#[pyo3(signature = (bytes_per_process, /))]
pub(super) fn set_process_cache_limit(bytes_per_process: usize) {
    crate::encode::set_process_cache_limit(bytes_per_process);
}
