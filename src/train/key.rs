//! A short piece as a number.

use std::ops::Range;

/// Pieces of at most this many bytes are their own key.
pub(super) const LONGEST_WHOLE: usize = 16;

/// `KEPT[n]` has the bits of the first n bytes of a little-endian number.
const KEPT: [u128; LONGEST_WHOLE + 1] = {
    let mut kept = [u128::MAX; LONGEST_WHOLE + 1];
    let mut bytes = 0;
    while bytes < LONGEST_WHOLE {
        kept[bytes] = !(u128::MAX << (8 * bytes));
        bytes += 1;
    }
    kept
};

/// The first `length` of these bytes, each inverted, filled up with zeros; none if they are too many. No two pieces
/// without bytes 0xFF have the same key, and none but the empty one has the key 0.
#[inline]
pub(super) fn of_first(bytes: &[u8; LONGEST_WHOLE], length: usize) -> Option<u128> {
    let kept = KEPT.get(length)?;
    Some(!u128::from_le_bytes(*bytes) & kept)
}

/// As [`of_first`], of any piece of a text.
#[inline]
pub(super) fn of_piece(text: &[u8], piece: &Range<usize>) -> Option<u128> {
    let rest = text.get(piece.start..).unwrap_or_default();
    match rest.first_chunk() {
        Some(bytes) => of_first(bytes, piece.len()),
        None => of_first(&last_bytes(rest), piece.len()),
    }
}

/// The last bytes of a text, fewer than a key has.
#[cold]
#[inline(never)]
fn last_bytes(last: &[u8]) -> [u8; LONGEST_WHOLE] {
    let mut bytes = [0; LONGEST_WHOLE];
    for (to, from) in bytes.iter_mut().zip(last) {
        *to = *from;
    }
    bytes
}

/// The piece of a key: so many bytes, filled up.
pub(super) fn piece(key: u128) -> ([u8; LONGEST_WHOLE], usize) {
    (
        (!key).to_le_bytes(),
        LONGEST_WHOLE - (key.leading_zeros() / 8) as usize,
    )
}

/// A short piece as it is ordered among others: by its bytes, then by its length.
pub(super) fn ordered(key: u128) -> (u128, usize) {
    let (bytes, length) = piece(key);
    let kept = KEPT.get(length).copied().unwrap_or_default();
    (u128::from_be_bytes(bytes) & kept.swap_bytes(), length)
}
