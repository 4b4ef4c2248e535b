//! `CoreBPE`: text to ids and back.
//!
//! `class` names the methods; each is one call of a function beside it.

mod build;
mod class;
mod decode;
mod encode_batch;
mod encode_one;
mod offsets;
mod spans;
mod special;
mod truncate;
mod vocabulary;

pub(super) use class::CoreBpe;
