//! Looking up by AVX2. The safe twins are the methods of [`View`].
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m128i, _mm_castsi128_ps, _mm_loadu_si128, _mm_movemask_ps, _mm_or_si128, _mm_shuffle_epi8,
    _mm_storeu_si128, _mm256_broadcastsi128_si256, _mm256_castsi256_pd, _mm256_cmpeq_epi64,
    _mm256_loadu_si256, _mm256_movemask_pd,
};

use super::key::{self, FILL, LONGEST_WHOLE};
use super::lines::{ABSENT, Answer, NOWHERE, PLACE, Spot, View};

/// How the bytes of a key are compared, by the length of the piece: those of a short one twice.
const COMPARED: [[u8; 16]; LONGEST_WHOLE + 1] = {
    let mut compared = [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]; LONGEST_WHOLE + 1];
    let mut length = 0;
    while length <= 8 {
        compared[length] = [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7];
        length += 1;
    }
    compared
};

/// The words of an answer that do not count, by width.
const BEYOND: [[u32; 4]; 2] = [[0, 0, ABSENT, ABSENT], [0; 4]];

/// As [`View::find`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[expect(
    clippy::cast_possible_truncation,
    reason = "shifted down to a line number"
)]
pub(crate) fn find(view: &View<'_>, text: &[u8], start: usize, length: usize) -> Spot {
    let (Some(bytes), Some(fill), Some(compared)) = (
        text.get(start..start + LONGEST_WHOLE),
        FILL.get(length),
        COMPARED.get(length),
    ) else {
        return view.find(text, start, length);
    };
    // SAFETY: reads three times 16 bytes that are there.
    let (bytes, fill, compared) = unsafe {
        (
            load(bytes.as_ptr().cast()),
            load(fill.as_ptr().cast()),
            load(compared.as_ptr().cast()),
        )
    };
    let mut key = [0; 2];
    // SAFETY: writes the 16 bytes of the key.
    unsafe {
        _mm_storeu_si128(
            key.as_mut_ptr().cast(),
            _mm_shuffle_epi8(_mm_or_si128(bytes, fill), compared),
        );
    }
    let line = 2 + 2 * (key::mix(key) >> view.shift) as u32 + u32::from(length > 8);
    Spot {
        key,
        line: if key[0] == 0 { 0 } else { line },
    }
}

/// As [`View::get`]; also tells how many ids there are.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn get(view: &View<'_>, spot: &Spot) -> Option<(Answer, usize)> {
    let line = view.lines.get(spot.line as usize)?;
    let wide = (spot.line & 1) as usize;
    // SAFETY: reads the 32 bytes of the keys and the 16 bytes of the key that are there.
    let (keys, key) = unsafe {
        (
            _mm256_loadu_si256(line.keys.as_ptr().cast()),
            load(spot.key.as_ptr().cast()),
        )
    };
    let equal = _mm256_cmpeq_epi64(keys, _mm256_broadcastsi128_si256(key));
    let equal = _mm256_movemask_pd(_mm256_castsi256_pd(equal)).cast_unsigned() as usize;
    let at = *PLACE.get(16 * wide + equal)?;
    if at == NOWHERE {
        return None;
    }
    let line: *const super::Line = line;
    // SAFETY: `at` is at most 6: the 16 bytes from the word `at` of the line on are inside of it.
    let words = unsafe { load(line.cast::<u32>().add(usize::from(at)).cast()) };
    // SAFETY: reads 16 bytes that are there.
    let words = _mm_or_si128(words, unsafe { load(BEYOND[wide].as_ptr().cast()) });
    let absent = _mm_movemask_ps(_mm_castsi128_ps(words)).cast_unsigned() | 16;
    let mut answer = [0; 4];
    // SAFETY: writes the 16 bytes of the answer.
    unsafe { _mm_storeu_si128(answer.as_mut_ptr().cast(), words) };
    Some((answer, absent.trailing_zeros() as usize))
}

/// 16 bytes as they are.
///
/// # Safety
/// They must be there.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load(from: *const __m128i) -> __m128i {
    // SAFETY: the caller's.
    unsafe { _mm_loadu_si128(from) }
}
