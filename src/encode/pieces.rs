//! Pieces → ids, some hundred at a time: the loop that nearly all encoding time is spent in.
//!
//! ```text
//! for each piece:
//!     key = its bytes, filled up
//!     if the table of pieces knows the key: store its ids
//!     else: the whole piece as a token, or its merges; store these and remember them
//! ```

use std::ops::Range;

use crate::checkpoint::Checkpoint;
use crate::error::EncodeError;
use crate::merge;
use crate::piece_table::{LONGEST, PieceTable};
use crate::token::TokenId;
use crate::vocabulary::Vocabulary;

/// `FILL[n]` fills a little-endian number up after its first n bytes.
const FILL: [u64; 9] = {
    let mut fill = [u64::MAX; 9];
    let mut bytes = 1;
    while bytes < 9 {
        fill[bytes] = !(u64::MAX >> (64 - 8 * bytes));
        bytes += 1;
    }
    fill
};

/// Bytes `start..start + length` of `text`, at most 8, as a key: filled up with 0xFF.
#[inline]
fn key(text: &[u8], start: usize, length: usize) -> u64 {
    match (
        text.get(start..start + 8)
            .and_then(|word| word.try_into().ok()),
        FILL.get(length),
    ) {
        (Some(word), Some(fill)) => u64::from_le_bytes(word) | fill,
        _ => last_key(text, start, length),
    }
}

/// As [`key`], within eight bytes of the end of the text.
#[cold]
fn last_key(text: &[u8], start: usize, length: usize) -> u64 {
    let piece = text.get(start..start + length).unwrap_or_default();
    piece
        .iter()
        .rev()
        .fold(u64::MAX, |key, &byte| (key << 8) | u64::from(byte))
}

/// Appends the ids of `pieces` of `text`; answers how many the last piece has.
pub(super) fn encode(
    vocabulary: &Vocabulary,
    table: &mut PieceTable,
    text: &[u8],
    pieces: &[Range<usize>],
    ids: &mut Vec<TokenId>,
    checkpoint: &dyn Checkpoint,
) -> Result<usize, EncodeError> {
    let mut place = ids.len();
    // Answers are stored three ids at a time, however many count.
    ids.resize(place + 3 * pieces.len() + 3, 0);
    let mut last = 0;
    let mut learned = Vec::new();
    for (number, piece) in pieces.iter().enumerate() {
        let (start, length) = (piece.start, piece.end - piece.start);
        let answer = if length <= 8 {
            table.short(key(text, start, length))
        } else if length <= 16 {
            table.middle([key(text, start, 8), key(text, start + 8, length - 8)])
        } else {
            None
        };
        if let Some(answer) = answer
            && let Some(room) = ids.get_mut(place..place + 3)
        {
            room.copy_from_slice(&answer.ids());
            last = answer.len();
        } else {
            learned.clear();
            unseen(
                vocabulary,
                table,
                text,
                piece.clone(),
                &mut learned,
                checkpoint,
            )?;
            last = learned.len();
            let needed = place + last + 3 * (pieces.len() - number);
            if needed > ids.len() {
                ids.resize(needed, 0);
            }
            ids[place..place + last].copy_from_slice(&learned);
        }
        place += last;
    }
    ids.truncate(place);
    Ok(last)
}

/// Puts into `ids`, which is empty, those of a piece that the tables of short pieces do not know, and remembers them.
#[cold]
#[inline(never)]
fn unseen(
    vocabulary: &Vocabulary,
    table: &mut PieceTable,
    text: &[u8],
    piece: Range<usize>,
    ids: &mut Vec<TokenId>,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    let (start, length) = (piece.start, piece.len());
    let bytes = &text[piece];
    if length <= LONGEST
        && let Some(known) = table.long(bytes)
    {
        ids.extend_from_slice(known);
        return Ok(());
    }
    merge::encode_piece(vocabulary, bytes, ids, checkpoint)?;
    let kept = match length {
        0..=8 => table.insert_short(key(text, start, length), ids),
        9..=16 => table.insert_middle([key(text, start, 8), key(text, start + 8, length - 8)], ids),
        _ => false,
    };
    if !kept && length <= LONGEST {
        table.insert_long(bytes, ids);
    }
    Ok(())
}
