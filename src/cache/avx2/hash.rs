//! Where the pieces of a window belong, one after the other.

use std::arch::x86_64::{
    _MM_HINT_T0, _mm_prefetch, _mm_shuffle_epi8, _mm_storeu_si128, _mm256_cmpeq_epi8,
    _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_setzero_si256,
};

use super::super::bucket::{Line, View};
use super::super::key;
use super::super::probe::{BlockSpots, Locate, Located, Plain, Spot};
use super::{Avx2, NUL, load, numbers, whole_key};
use crate::util::block::Block;

/// Which bytes make up the key, by the length of the piece: those of a short one twice.
const KEY_BYTES: [[u8; 16]; 17] = {
    let mut bytes = [[NUL; 16]; 17];
    let mut length = 1;
    while length <= 16 {
        let mut byte = 0;
        while byte < length {
            #[expect(clippy::cast_possible_truncation, reason = "below 16")]
            let number = byte as u8;
            bytes[length][byte] = number;
            if length <= 8 {
                bytes[length][byte + 8] = number;
            }
            byte += 1;
        }
        length += 1;
    }
    bytes
};

impl Locate for Avx2 {
    #[inline]
    fn locate(
        &self,
        view: &View<'_>,
        window: &Block,
        place: usize,
        ends: u64,
        spots: BlockSpots<'_>,
    ) -> Located {
        // SAFETY: the machine has what the function is compiled for.
        unsafe { locate(view, window, place, ends, spots) }
    }
}

/// As [`Locate::locate`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[expect(
    clippy::cast_possible_truncation,
    reason = "shifted down to a line number"
)]
fn locate(
    view: &View<'_>,
    window: &Block,
    place: usize,
    mut ends: u64,
    spots: BlockSpots<'_>,
) -> Located {
    if has_nul(window) {
        return Plain.locate(view, window, place, ends, spots);
    }
    let count = ends.count_ones() as usize;
    let (mut start, mut hashed) = (0, false);
    let places = spots.numbers.iter_mut().zip(spots.lines);
    for (to, line) in places.take(count) {
        let end = ends.trailing_zeros() as usize;
        ends &= ends - 1;
        let length = end.wrapping_sub(start);
        if let Some(key_bytes) = KEY_BYTES.get(length) {
            // SAFETY: a bit of `ends` is below `BLOCK_LEN`, and a window has more bytes than these behind it; the other 16
            // bytes are there.
            let (bytes, key_bytes) = unsafe {
                let bytes = load(window.as_ptr().add(start).cast());
                (bytes, load(key_bytes.as_ptr().cast()))
            };
            let key = _mm_shuffle_epi8(bytes, key_bytes);
            // SAFETY: writes both numbers.
            unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), key) };
            let wide = (length + 7) >> 4;
            let number = 2 * (key::mix(numbers(key)) >> view.near.shift) as usize + wide;
            *line = number as u32;
            prefetch(view.near.all, number);
        } else {
            let piece = window.get(start..).unwrap_or_default();
            let spot = locate_beyond(view, piece, place + start, length);
            hashed |= spot.hash().is_some();
            (*to, *line) = (spot.numbers, spot.line);
        }
        start = end;
    }
    Located { count, hashed }
}

/// The spot of a piece of more than 16 bytes: the first `length` of `rest`, at `place` of the text.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[expect(
    clippy::cast_possible_truncation,
    reason = "shifted down to a line number"
)]
pub(in crate::cache) fn locate_beyond(
    view: &View<'_>,
    rest: &[u8],
    place: usize,
    length: usize,
) -> Spot {
    let Some((bytes, (first, second))) = rest
        .first_chunk()
        .and_then(|bytes| Some((bytes, whole_key(bytes, length)?)))
    else {
        return view.elsewhere(rest.get(..length).unwrap_or_default(), place);
    };
    let ([a, b], [c, d]) = (numbers(first), numbers(second));
    let number = (key::mix_four([a, b, c, d]) >> view.whole.shift) as usize;
    prefetch(view.whole.all, number);
    Spot {
        numbers: [view.far_hash(bytes, length), Spot::stretch(place, length)],
        line: number as u32 | Spot::WHOLE,
    }
}

/// Asks for a line to be brought near.
#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::cache) fn prefetch(lines: &[Line], number: usize) {
    _mm_prefetch::<_MM_HINT_T0>(lines.as_ptr().wrapping_add(number).cast());
}

/// Whether a window has NULs, which fill keys up.
#[inline]
#[target_feature(enable = "avx2")]
fn has_nul(window: &Block) -> bool {
    let (halves, _) = window.as_chunks::<32>();
    // SAFETY: each reads the 32 bytes that are there.
    let [low, high] =
        [&halves[0], &halves[1]].map(|half| unsafe { _mm256_loadu_si256(half.as_ptr().cast()) });
    let least = _mm256_min_epu8(low, high);
    _mm256_movemask_epi8(_mm256_cmpeq_epi8(least, _mm256_setzero_si256())) != 0
}
