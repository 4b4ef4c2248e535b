//! A short piece as a number.

/// Pieces of at most this many bytes are their own key.
pub(super) const LONGEST_WHOLE: usize = 16;

/// `FILL[n]` fills a little-endian number up after its first n bytes.
const FILL: [u128; LONGEST_WHOLE + 1] = {
    let mut fill = [0; LONGEST_WHOLE + 1];
    let mut bytes = 0;
    while bytes < LONGEST_WHOLE {
        fill[bytes] = u128::MAX << (8 * bytes);
        bytes += 1;
    }
    fill
};

/// The `length` bytes of `text` from `start` on, at most [`LONGEST_WHOLE`], filled up with bytes 0xFF: no two pieces
/// without such bytes have the same key.
#[inline]
pub(super) fn whole(text: &[u8], start: usize, length: usize) -> u128 {
    let fill = FILL.get(length).copied().unwrap_or_default();
    match text.get(start..).and_then(<[u8]>::first_chunk) {
        Some(bytes) => u128::from_le_bytes(*bytes) | fill,
        None => last_whole(text, start) | fill,
    }
}

/// The last bytes of a text, fewer than a key has.
#[cold]
#[inline(never)]
fn last_whole(text: &[u8], start: usize) -> u128 {
    let mut bytes = [0; LONGEST_WHOLE];
    let last = text.get(start..).unwrap_or_default();
    for (to, from) in bytes.iter_mut().zip(last) {
        *to = *from;
    }
    u128::from_le_bytes(bytes)
}

/// The piece of a key.
pub(super) fn piece(key: u128) -> ([u8; LONGEST_WHOLE], usize) {
    (
        key.to_le_bytes(),
        LONGEST_WHOLE - (key.leading_ones() / 8) as usize,
    )
}

/// A short piece as it is ordered among others: by its bytes, then by its length.
pub(super) fn ordered(key: u128) -> (u128, usize) {
    let (bytes, length) = piece(key);
    let fill = FILL.get(length).copied().unwrap_or_default();
    (u128::from_be_bytes(bytes) & !fill.swap_bytes(), length)
}
