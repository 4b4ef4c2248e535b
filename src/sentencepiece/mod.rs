//! Which pieces, scores and options does a `SentencePiece` model file hold?
//!
//! A model file is one protocol buffers message with proto2's rules: a field is present or absent, an absent field has a
//! default, and unknown fields are kept. [`Model`] reads a file, checks it and keeps its bytes; [`Draft`] is a model to
//! be written, new or edited. What an edit does not touch keeps its bytes.

mod draft;
mod model;
mod spec;
mod wire;

use thiserror::Error;

pub use draft::{Draft, DraftPiece};
pub use model::{Kind, Model, ModelType, Piece};
pub use spec::{DENORMALIZER, NORMALIZER, Schema, Setting, Spec, TRAINER, Type, Value};
use wire::{write_bytes, write_varint};

// Why bytes are not a `SentencePiece` BPE model.

/// Why bytes are not a `SentencePiece` BPE model, or a draft cannot be written as one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The bytes are no protocol buffers message, or end within one.
    #[error(
        "the {message} cannot be read from byte {offset} of the file on: expected a SentencePiece model, \
         a message of protocol buffers; the file is another one, damaged or cut off, so fetch it again"
    )]
    Malformed {
        /// The message that cannot be read.
        message: &'static str,
        /// Where in the file its first field stands that cannot be read.
        offset: usize,
    },
    /// The file has 2 GiB or more, which no protocol buffers message has.
    #[error("the file has {0} bytes: expected a SentencePiece model, which has less than 2 GiB")]
    TooLarge(usize),
    /// There are no pieces at all.
    #[error("the file holds no pieces: expected a SentencePiece model, which lists its vocabulary")]
    NoPieces,
    /// There are pieces and no options of the trainer, which stand behind them.
    #[error(
        "the file has pieces and no trainer_spec: expected a whole SentencePiece model, and this one seems to be \
         cut off behind its pieces"
    )]
    CutOff,
    /// The piece of this id has a score that is infinite or not a number, in a Unigram model.
    #[error("piece {0}, {1:?}, has a score that is infinite or not a number: expected a number")]
    NotFinite(usize, String),
    /// The piece of this id is empty.
    #[error("piece {0} is empty: expected at least one character in each piece")]
    EmptyPiece(usize),
    /// The piece of this id is not UTF-8.
    #[error("piece {0} is b\"{piece}\": expected UTF-8", piece = .1.escape_ascii())]
    NotUtf8(usize, Vec<u8>),
    /// The piece of this id has this many bytes, more than a piece may have.
    #[error("piece {0} has {1} bytes: expected less than 8000")]
    LongPiece(usize, usize),
    /// The piece of this id has a NUL character in it.
    #[error("piece {0} is {1:?}: expected no NUL character in a piece")]
    NulInPiece(usize, String),
    /// Two ids have the same piece.
    #[error("the piece {piece:?} has two ids, {} and {}: expected one id for each piece", .ids.0, .ids.1)]
    DuplicatePiece {
        /// The piece of both.
        piece: String,
        /// The two ids.
        ids: (usize, usize),
    },
    /// Two pieces are of type UNKNOWN.
    #[error("the pieces {0:?} and {1:?} are both of type UNKNOWN: expected one")]
    TwoUnknown(String, String),
    /// No piece is of type UNKNOWN, and bytes do not stand in for it.
    #[error(
        "no piece is of type UNKNOWN: expected one, because byte_fallback is false \
         and a text may hold characters that no piece has"
    )]
    NoUnknown,
    /// The piece of this id is of type BYTE and is not written as a byte.
    #[error("piece {0} is of type BYTE and is written {1:?}: expected \"<0x00>\" to \"<0xFF>\"")]
    NotAByte(usize, String),
    /// The piece is of type BYTE although `byte_fallback` is false.
    #[error(
        "piece {0}, {1:?}, is of type BYTE, but byte_fallback is false: \
         expected byte_fallback to be true, or no pieces of this type"
    )]
    UnexpectedByte(usize, String),
    /// `byte_fallback` is true, and this byte has no piece.
    #[error(
        "byte_fallback is true, but no piece of type BYTE is \"<0x{0:02X}>\": expected all 256 bytes"
    )]
    MissingByte(u8),
    /// A message has no field of this name.
    #[error("the {message} has no field {field:?}: expected one of its fields")]
    NoSuchField {
        /// The message.
        message: &'static str,
        /// The name that was asked for.
        field: String,
    },
    /// The value of a field is of another type.
    #[error("the value of {field} is of the wrong type: expected {expected}")]
    WrongValue {
        /// The field.
        field: &'static str,
        /// The type of its values.
        expected: &'static str,
    },
}

// The message that says the parts of an encoded or decoded text.

/// A part of a text.
#[derive(Clone, Copy, Debug)]
pub struct TextPiece<'a> {
    /// The piece.
    pub piece: &'a [u8],
    /// Its id.
    pub id: u32,
    /// The text that it stands for; `None` is not written.
    pub surface: Option<&'a [u8]>,
    /// Where that begins, in bytes.
    pub begin: u32,
    /// Where that ends.
    pub end: u32,
}

/// Returns the bytes of a message `SentencePieceText`.
pub fn write_text<'a>(text: &[u8], pieces: impl IntoIterator<Item = TextPiece<'a>>) -> Vec<u8> {
    let mut out = Vec::new();
    write_bytes(1, text, &mut out);
    let mut message = Vec::new();
    for piece in pieces {
        message.clear();
        write_bytes(1, piece.piece, &mut message);
        write_varint(2, piece.id.into(), &mut message);
        if let Some(surface) = piece.surface {
            write_bytes(3, surface, &mut message);
        }
        write_varint(4, piece.begin.into(), &mut message);
        write_varint(5, piece.end.into(), &mut message);
        write_bytes(2, &message, &mut out);
    }
    out
}
