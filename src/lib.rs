//! Tokenizers, exact and fast: the encodings of tiktoken, `tokenizer.json` files of Hugging Face and `SentencePiece` models,
//! offline.
//!
//! ```
//! use bytemill::Encoding;
//!
//! let encoding = Encoding::builtin("o200k_base")?;
//! assert_eq!(encoding.encode("hello world")?, [24912, 2375]);
//! assert_eq!(encoding.count("hello world")?, 2);
//! assert_eq!(encoding.truncate("hello world", 1)?, "hello");
//! # Ok::<(), bytemill::Error>(())
//! ```
//!
//! [`Encoding`] loads tokenizers ([`builtin`](Encoding::builtin), [`from_tokenizer_json`](Encoding::from_tokenizer_json),
//! [`from_model`](Encoding::from_model)), trains them ([`train`](Encoding::train)), encodes, counts, decodes, truncates and
//! splits. A [`Session`] has the token IDs of a text that grows. These names follow semantic versioning.
//!
//! Everything else is hidden, public for the Python package, tests, benchmarks and fuzzing alone, and may change at any time.
//! `docs/internals/source.md` is the map of the source. The feature `python` adds the bindings.

#![cfg_attr(
    target_arch = "wasm32",
    allow(
        unused_unsafe,
        reason = "where all is compiled with SIMD, a function with that feature is safe to call"
    )
)]

#[doc(hidden)]
pub mod builtin;
mod cache;
#[doc(hidden)]
pub mod checkpoint;
#[doc(hidden)]
pub mod documents;
#[doc(hidden)]
pub mod encode;
mod encoding;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod huggingface;
#[doc(hidden)]
pub mod merge;
#[doc(hidden)]
pub mod normalize;
#[doc(hidden)]
pub mod reference;
#[doc(hidden)]
pub mod sentencepiece;
#[doc(hidden)]
pub mod split;
#[doc(hidden)]
pub mod token;
#[doc(hidden)]
pub mod train;
#[doc(hidden)]
pub mod unicode;
#[doc(hidden)]
pub mod util;
#[doc(hidden)]
pub mod vocabulary;

#[cfg(feature = "python")]
mod python;

#[doc(inline)]
pub use builtin::{CL100K_PATTERN, O200K_PATTERN, R50K_PATTERN};
pub use encoding::{Encoding, Error, Session};
