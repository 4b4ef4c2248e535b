//! Byte-level BPE with exactly tiktoken's ids, offline.
//!
//! A **text** is split into **pieces** by a **pattern** ([`split`]). A piece that is a token becomes that token; otherwise
//! its bytes are merged, the adjacent **pair** of lowest **rank** first, leftmost first, until no pair merges ([`merge`]).
//! The ids and bytes of tokens and the merges of pairs are the **vocabulary** ([`vocabulary`]); **special tokens** are
//! found before splitting and take no part in merges ([`encode`]). [`mod@reference`] is the definition.
//!
//! `docs/internals/source.md` is the map of the source: each module with the question it answers. Imports point down the
//! list that `tests/rust/layers.rs` checks. The feature `python` adds the bindings, the only part that knows of Python.
//!
//! Modules that are hidden here are public for tests, benchmarks and fuzzing alone, and may change at any time.

pub mod builtin;
mod cache;
pub mod checkpoint;
pub mod documents;
pub mod encode;
pub mod error;
pub mod huggingface;
pub mod merge;
pub mod normalize;
pub mod reference;
pub mod sentencepiece;
pub mod split;
pub mod token;
pub mod train;
pub mod unicode;
pub mod util;
pub mod vocabulary;

#[cfg(feature = "python")]
mod python;
