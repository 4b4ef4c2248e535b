//! Which pieces, scores and options does a `SentencePiece` model file hold?
//!
//! A model file is one protocol buffers message with proto2's rules: a field is present or absent, an absent field has a
//! default, and unknown fields are kept. [`Model`] reads a file, checks it and keeps its bytes; [`Draft`] is a model to
//! be written, new or edited. What an edit does not touch keeps its bytes.

mod draft;
mod model;
mod spec;
mod wire;

use std::error::Error;
use std::fmt;

pub use draft::{Draft, DraftPiece};
pub use model::{Kind, Model, ModelType, Piece};
pub use spec::{DENORMALIZER, NORMALIZER, Schema, Setting, Spec, TRAINER, Type, Value};
use wire::{write_bytes, write_varint};

// Why bytes are not a `SentencePiece` BPE model.

/// Why bytes are not a `SentencePiece` BPE model, or a draft cannot be written as one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelError {
    /// The bytes are no protocol buffers message, or end within one.
    Malformed {
        /// The message that cannot be read.
        message: &'static str,
        /// Where in the file its first field stands that cannot be read.
        offset: usize,
    },
    /// The file has 2 GiB or more, which no protocol buffers message has.
    TooLarge(usize),
    /// There are no pieces at all.
    NoPieces,
    /// There are pieces and no options of the trainer, which stand behind them.
    CutOff,
    /// The piece of this id has a score that is infinite or not a number, in a Unigram model.
    NotFinite(usize, String),
    /// The piece of this id is empty.
    EmptyPiece(usize),
    /// The piece of this id is not UTF-8.
    NotUtf8(usize, Vec<u8>),
    /// The piece of this id has this many bytes, more than a piece may have.
    LongPiece(usize, usize),
    /// The piece of this id has a NUL character in it.
    NulInPiece(usize, String),
    /// Two ids have the same piece.
    DuplicatePiece {
        /// The piece of both.
        piece: String,
        /// The two ids.
        ids: (usize, usize),
    },
    /// Two pieces are of type UNKNOWN.
    TwoUnknown(String, String),
    /// No piece is of type UNKNOWN, and bytes do not stand in for it.
    NoUnknown,
    /// The piece of this id is of type BYTE and is not written as a byte.
    NotAByte(usize, String),
    /// The piece is of type BYTE although `byte_fallback` is false.
    UnexpectedByte(usize, String),
    /// `byte_fallback` is true, and this byte has no piece.
    MissingByte(u8),
    /// A message has no field of this name.
    NoSuchField {
        /// The message.
        message: &'static str,
        /// The name that was asked for.
        field: String,
    },
    /// The value of a field is of another type.
    WrongValue {
        /// The field.
        field: &'static str,
        /// The type of its values.
        expected: &'static str,
    },
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed { message, offset } => write!(
                f,
                "the {message} cannot be read from byte {offset} of the file on: expected a SentencePiece model, \
                 a message of protocol buffers; the file is another one, damaged or cut off, so fetch it again"
            ),
            Self::TooLarge(bytes) => write!(
                f,
                "the file has {bytes} bytes: expected a SentencePiece model, which has less than 2 GiB"
            ),
            Self::NoPieces => f.write_str(
                "the file holds no pieces: expected a SentencePiece model, which lists its vocabulary",
            ),
            Self::CutOff => f.write_str(
                "the file has pieces and no trainer_spec: expected a whole SentencePiece model, and this one seems to be \
                 cut off behind its pieces",
            ),
            Self::NotFinite(id, piece) => write!(
                f,
                "piece {id}, {piece:?}, has a score that is infinite or not a number: expected a number"
            ),
            Self::EmptyPiece(id) => write!(
                f,
                "piece {id} is empty: expected at least one character in each piece"
            ),
            Self::NotUtf8(id, piece) => write!(
                f,
                "piece {id} is b\"{}\": expected UTF-8",
                piece.escape_ascii()
            ),
            Self::LongPiece(id, bytes) => write!(
                f,
                "piece {id} has {bytes} bytes: expected less than 8000"
            ),
            Self::NulInPiece(id, piece) => write!(
                f,
                "piece {id} is {piece:?}: expected no NUL character in a piece"
            ),
            Self::DuplicatePiece { piece, ids } => write!(
                f,
                "the piece {piece:?} has two ids, {} and {}: expected one id for each piece",
                ids.0, ids.1
            ),
            Self::TwoUnknown(first, second) => write!(
                f,
                "the pieces {first:?} and {second:?} are both of type UNKNOWN: expected one"
            ),
            Self::NoUnknown => f.write_str(
                "no piece is of type UNKNOWN: expected one, because byte_fallback is false \
                 and a text may hold characters that no piece has",
            ),
            Self::NotAByte(id, piece) => write!(
                f,
                "piece {id} is of type BYTE and is written {piece:?}: expected \"<0x00>\" to \"<0xFF>\""
            ),
            Self::UnexpectedByte(id, piece) => write!(
                f,
                "piece {id}, {piece:?}, is of type BYTE, but byte_fallback is false: \
                 expected byte_fallback to be true, or no pieces of this type"
            ),
            Self::MissingByte(byte) => write!(
                f,
                "byte_fallback is true, but no piece of type BYTE is \"<0x{byte:02X}>\": expected all 256 bytes"
            ),
            Self::NoSuchField { message, field } => write!(
                f,
                "the {message} has no field {field:?}: expected one of its fields"
            ),
            Self::WrongValue { field, expected } => {
                write!(f, "the value of {field} is of the wrong type: expected {expected}")
            }
        }
    }
}

impl Error for ModelError {}

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
