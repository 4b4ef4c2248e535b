//! bytemill: byte-level BPE, exactly as `tiktoken` encodes, offline.
//!
//! A **text** is cut into **pieces** by a **pattern** ([`split`]). Each piece becomes tokens by itself: if it is a
//! token, that one; otherwise its bytes are merged, the adjacent **pair** of lowest **rank** first, leftmost first,
//! until no pair merges ([`merge`]). Ids and bytes of tokens and the merges of pairs are the **vocabulary**
//! ([`vocabulary`]); **special tokens** are found before splitting and take no part in merges ([`encode`]).
//!
//! | module | the question it answers |
//! |---|---|
//! | [`train`] | which merges does a corpus teach? |
//! | [`encode`] | which ids does this text become, which text do these ids become? |
//! | [`split`] | where do the pieces of this text start and end? |
//! | `piece_table` | which ids did this piece become before? |
//! | [`merge`] | which ids does this piece become? |
//! | [`vocabulary`], [`pair_table`] | the bytes of this id, the id of these bytes, the merge of this pair? |
//! | `adjacency` | which two bytes merge whatever is around them? |
//! | [`builtin`] | which tokens do the published vocabularies have? |
//! | [`reference`] | what does all this mean? |
//! | [`jsonl`] | which documents do these lines hold? |
//! | [`utf8`] | how are these characters written in UTF-8? |
//! | [`checkpoint`], [`error`], [`token`] | should long work go on; what can go wrong; what are ids and pairs? |
//! | `memory`, [`tier`] | how large tables lie in memory; which instructions does the machine have? |
//! | `sections` | how do tables lie in the library? |
//! | `secret` | how is anything hashed that may come from anybody? |
//!
//! Imports point down this table. The `python` feature adds the bindings, the only part that knows of Python.

pub mod builtin;
mod cache;
pub mod checkpoint;
pub mod documents;
pub mod encode;
pub mod error;
pub mod merge;
pub mod reference;
pub mod split;
pub mod token;
pub mod train;
pub mod unicode;
pub mod util;
pub mod vocabulary;

#[cfg(feature = "python")]
mod python;
