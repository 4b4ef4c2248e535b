//! The compiled module `bytemill._core`: converts arguments, calls the library, converts results. The only
//! files that name Python.

mod abi;
mod arrow;
mod buffer;
mod counting;
mod documents;
mod encoding;
mod error;
#[cfg(feature = "failing-allocator")]
mod failing;
mod ids;
mod interpreter;
mod module;
mod normalizer;
mod objects;
mod runtime;
mod sentencepiece;
mod splitter;
mod strings;
mod tokenizer_json;
mod training;
mod turns;
