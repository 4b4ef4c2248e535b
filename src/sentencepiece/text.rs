//! The message that says the parts of an encoded or decoded text.

use super::wire::{write_bytes, write_varint};

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
