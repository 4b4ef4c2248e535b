//! A piece as a key: the piece itself where it is short, a hash of it where it is long.

/// Pieces of at most this many bytes are their own key.
pub(crate) const LONGEST_WHOLE: usize = 16;

/// `FILL[n]` fills two little-endian numbers up after their first n bytes.
pub(super) const FILL: [[u64; 2]; LONGEST_WHOLE + 1] = {
    let mut fill = [[0; 2]; LONGEST_WHOLE + 1];
    let mut bytes = 0;
    while bytes < LONGEST_WHOLE {
        fill[bytes] = if bytes < 8 {
            [u64::MAX << (8 * bytes), u64::MAX]
        } else {
            [0, u64::MAX << (8 * bytes - 64)]
        };
        bytes += 1;
    }
    fill
};

/// The `length` bytes of `text` from `start` on, at most [`LONGEST_WHOLE`], filled up with bytes 0xFF, which UTF-8
/// never has: no two pieces have the same key.
#[inline]
pub(crate) fn whole(text: &[u8], start: usize, length: usize) -> [u64; 2] {
    match (
        text.get(start..start + LONGEST_WHOLE)
            .map(<[u8]>::as_chunks::<8>),
        FILL.get(length),
    ) {
        (Some((&[first, second], _)), Some(fill)) => [
            u64::from_le_bytes(first) | fill[0],
            u64::from_le_bytes(second) | fill[1],
        ],
        _ => last_whole(text, start, length),
    }
}

/// As [`whole`], near the end of the text: its last bytes, moved to where they belong.
#[inline(never)]
fn last_whole(text: &[u8], start: usize, length: usize) -> [u64; 2] {
    let mut short = [0; LONGEST_WHOLE];
    let (last, skipped) = if let Some(last) = text.last_chunk::<LONGEST_WHOLE>() {
        (last, (start + LONGEST_WHOLE).saturating_sub(text.len()))
    } else {
        for (to, from) in short.iter_mut().zip(text) {
            *to = *from;
        }
        (&short, start)
    };
    let bits = u32::try_from(8 * skipped).unwrap_or(u32::MAX);
    let bytes = u128::from_le_bytes(*last).unbounded_shr(bits);
    let fill = FILL.get(length).copied().unwrap_or_default();
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    [bytes as u64 | fill[0], (bytes >> 64) as u64 | fill[1]]
}

/// Spreads a key over the highest bits.
#[inline]
pub(super) fn mix(key: [u64; 2]) -> u64 {
    let both = key[0] ^ key[1].rotate_left(27);
    (both ^ (both >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The key of a piece of any length.
#[inline]
pub(crate) fn hash(piece: &[u8]) -> u64 {
    let (words, rest) = piece.as_chunks::<8>();
    let last = rest
        .iter()
        .rev()
        .fold(0, |last, &byte| (last << 8) | u64::from(byte));
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    words.chain([last]).fold(piece.len() as u64, |hash, word| {
        let mixed = (hash.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ (mixed >> 32)
    })
}
