//! Which pieces, scores and options does a `SentencePiece` model file hold?
//!
//! A model file is one protocol buffers message with proto2's rules: a field is present or absent, an absent field has a
//! default, and unknown fields are kept. [`Model`] reads a file, checks it and keeps its bytes; [`Draft`] is a model to
//! be written, new or edited. What an edit does not touch keeps its bytes.

mod draft;
mod error;
mod model;
mod spec;
mod text;
mod wire;

pub use draft::{Draft, DraftPiece};
pub use error::ModelError;
pub use model::{Kind, Model, Piece};
pub use spec::{DENORMALIZER, NORMALIZER, Schema, Setting, Spec, TRAINER, Type, Value};
pub use text::{TextPiece, write_text};
