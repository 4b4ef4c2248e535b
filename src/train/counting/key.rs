//! A short piece as a number.
//!
//! The cache of an encoding has keys of its own (`cache::key`, NUL-padded, up to 32 bytes): its buckets are
//! compared by vectors and may refuse a piece with a NUL, whereas counting needs a key that zeroed memory
//! does not hold, that every piece of UTF-8 has without a check, and that leaves room for a count and a
//! position in half a cache line.

use std::ops::Range;

/// A piece of at most [`MAX_KEY_LEN`] bytes, each inverted, padded with zeros. No two pieces without bytes
/// 0xFF (which UTF-8 never has) share a key, and only the empty piece has the key 0.
pub(super) type PieceKey = u128;

/// Pieces of at most this many bytes have a key.
pub(super) const MAX_KEY_LEN: usize = 16;

/// `MASKS[n]` selects the first n bytes of a little-endian number.
const MASKS: [u128; MAX_KEY_LEN + 1] = {
    let mut masks = [u128::MAX; MAX_KEY_LEN + 1];
    let mut bytes = 0;
    while bytes < MAX_KEY_LEN {
        masks[bytes] = !(u128::MAX << (8 * bytes));
        bytes += 1;
    }
    masks
};

/// Returns the key of the first `length` of these bytes, or `None` if they are too many for a key.
#[inline]
pub(super) fn of_first(bytes: &[u8; MAX_KEY_LEN], length: usize) -> Option<PieceKey> {
    let mask = MASKS.get(length)?;
    Some(!u128::from_le_bytes(*bytes) & mask)
}

/// Returns the key of a piece of a text, as [`of_first`] does.
#[inline]
pub(super) fn of_piece(text: &[u8], piece: &Range<usize>) -> Option<PieceKey> {
    let rest = &text[piece.start..];
    match rest.first_chunk() {
        Some(bytes) => of_first(bytes, piece.len()),
        None => of_first(&padded(rest), piece.len()),
    }
}

/// Pads the last bytes of a text, fewer than a key has.
#[cold]
#[inline(never)]
fn padded(last: &[u8]) -> [u8; MAX_KEY_LEN] {
    let mut bytes = [0; MAX_KEY_LEN];
    bytes[..last.len()].copy_from_slice(last);
    bytes
}

/// Returns the piece of a key: its bytes, padded, and their number.
pub(super) fn decode(key: PieceKey) -> ([u8; MAX_KEY_LEN], usize) {
    let length = MAX_KEY_LEN - (key.leading_zeros() / 8) as usize;
    ((!key).to_le_bytes(), length)
}

/// Returns what orders keys as their pieces are ordered: by bytes, then by length.
pub(super) fn sort_key(key: PieceKey) -> (u128, usize) {
    let (bytes, length) = decode(key);
    let mask = MASKS[length].swap_bytes();
    (u128::from_be_bytes(bytes) & mask, length)
}
