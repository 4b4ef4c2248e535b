//! Looking up by AVX2. The safe twin is [`View::get`].
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m128i, __m256i, _mm_and_si128, _mm_extract_epi64, _mm_loadu_si128, _mm_shuffle_epi8,
    _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_castsi256_pd, _mm256_cmpeq_epi64,
    _mm256_loadu_si256, _mm256_movemask_pd, _mm256_set_m128i, _mm256_set1_epi32, _mm256_setr_epi8,
    _mm256_setr_epi32, _mm256_shuffle_epi8, _mm256_srlv_epi32, _mm256_storeu_si256,
};

use super::answer::{IDS_A_NUMBER, LIMIT, Room, count};
use super::key::{self, LONGEST_WHOLE};
use super::lines::{ALL, Line, NOWHERE, PLACE, View};

/// Not a byte of the text, but NUL.
const NUL: u8 = 0x80;

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

/// From byte `16 - n` on: a mask of `n` bytes.
const FIRST_BYTES: [u8; 32] = {
    let mut mask = [0; 32];
    let mut byte = 0;
    while byte < 16 {
        mask[byte] = 0xFF;
        byte += 1;
    }
    mask
};

/// As [`View::get`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[expect(
    clippy::cast_possible_truncation,
    reason = "shifted down to a line number"
)]
pub(crate) fn get(
    view: &View<'_>,
    bytes: &[u8; LONGEST_WHOLE],
    length: usize,
    room: &mut Room,
) -> Option<usize> {
    let Some(key_bytes) = KEY_BYTES.get(length) else {
        return get_whole(view, bytes, length, room);
    };
    // SAFETY: both read 16 bytes that are there.
    let (bytes, key_bytes) =
        unsafe { (load(bytes.as_ptr().cast()), load(key_bytes.as_ptr().cast())) };
    let key = _mm_shuffle_epi8(bytes, key_bytes);
    let wide = (length + 7) >> 4;
    let number = 2 * (key::mix(numbers(key)) >> view.near.shift) as usize + wide;
    let key = _mm256_broadcastsi128_si256(key);
    let mut line = view.near.all.get(number)?;
    let mut at = *PLACE.get(2 * equal(line, key) + wide)?;
    if at >= NOWHERE {
        line = view.near.all.get(number ^ 2)?;
        at = *PLACE.get(2 * equal(line, key) + wide)?;
        if at >= NOWHERE {
            return None;
        }
    }
    // SAFETY: at most three numbers of eight bytes are skipped; six follow that are inside of the line.
    let numbers = unsafe { load(answers(line).add(usize::from(at)).cast()) };
    store(numbers, room, 0);
    Some(count(line.answers[usize::from(at) & 3]))
}

/// As [`get`], for pieces of more than 16 bytes.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[expect(
    clippy::cast_possible_truncation,
    reason = "shifted down to a line number"
)]
fn get_whole(
    view: &View<'_>,
    bytes: &[u8; LONGEST_WHOLE],
    length: usize,
    room: &mut Room,
) -> Option<usize> {
    let mask = FIRST_BYTES.get(LONGEST_WHOLE.checked_sub(length)?..)?;
    let mask = mask.first_chunk::<16>()?;
    let (first, second) = bytes.split_at(16);
    // SAFETY: each reads 16 bytes that are there.
    let (first, second, mask) = unsafe {
        (
            load(first.as_ptr().cast()),
            load(second.as_ptr().cast()),
            load(mask.as_ptr().cast()),
        )
    };
    let second = _mm_and_si128(second, mask);
    let [a, b] = numbers(first);
    let [c, d] = numbers(second);
    let mixed = key::mix_four([a, b, c, d]);
    let number = (mixed >> view.whole.shift) as usize;
    let key = _mm256_set_m128i(second, first);
    let mut line = view.whole.all.get(number)?;
    if equal(line, key) != ALL {
        line = view.whole.all.get(number ^ 1)?;
        if equal(line, key) != ALL {
            return None;
        }
    }
    // SAFETY: both read 16 of the 32 bytes of the answers.
    let (low, high) = unsafe {
        (
            load(answers(line).cast()),
            load(answers(line).add(2).cast()),
        )
    };
    store(low, room, 0);
    store(high, room, 2 * IDS_A_NUMBER);
    Some(count(line.answers[0]))
}

/// The two numbers of a half of a key.
#[inline]
#[target_feature(enable = "avx2")]
fn numbers(half: __m128i) -> [u64; 2] {
    [
        _mm_extract_epi64::<0>(half).cast_unsigned(),
        _mm_extract_epi64::<1>(half).cast_unsigned(),
    ]
}

/// Which of the key numbers of a line equal those of the key, a bit each.
#[inline]
#[target_feature(enable = "avx2")]
fn equal(line: &Line, key: __m256i) -> usize {
    // SAFETY: reads the 32 bytes of the keys.
    let keys = unsafe { _mm256_loadu_si256(line.keys.as_ptr().cast()) };
    let equal = _mm256_cmpeq_epi64(keys, key);
    _mm256_movemask_pd(_mm256_castsi256_pd(equal)).cast_unsigned() as usize
}

/// The answers of a line, by a pointer that may be read from to the end of the line.
#[inline]
fn answers(line: &Line) -> *const u64 {
    let line: *const Line = line;
    line.cast()
}

/// Stores the six ids of two numbers at place `at` of `room`, and two that have no meaning.
#[inline]
#[target_feature(enable = "avx2")]
fn store(numbers: __m128i, room: &mut Room, at: usize) {
    const N: i8 = NUL.cast_signed();
    // Each id's bits begin in the first of its three bytes, or four bits later.
    let bytes = _mm256_setr_epi8(
        0, 1, 2, N, 2, 3, 4, N, 5, 6, 7, N, 8, 9, 10, N, //
        10, 11, 12, N, 13, 14, 15, N, N, N, N, N, N, N, N, N,
    );
    let ids = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(numbers), bytes);
    let ids = _mm256_srlv_epi32(ids, _mm256_setr_epi32(0, 4, 0, 0, 4, 0, 0, 0));
    let ids = _mm256_and_si256(ids, _mm256_set1_epi32((LIMIT - 1).cast_signed()));
    if let Some(room) = room.get_mut(at..at + 8) {
        // SAFETY: writes the eight ids that there is room for.
        unsafe { _mm256_storeu_si256(room.as_mut_ptr().cast(), ids) };
    }
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

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::answer::ROOM;
    use super::super::key::LONGEST_WHOLE;
    use super::super::{PieceTable, USUAL_LIMIT};
    use super::get;
    use crate::tier::Tier;
    use crate::token::TokenId;
    use crate::vocabulary::Vocabulary;

    /// Numbers that look random.
    fn random(state: &mut u64) -> usize {
        *state = state
            .wrapping_mul(0x5851_F42D_4C95_7F2D)
            .wrapping_add(0x1405_7B7E_F767_814F);
        (*state >> 33) as usize
    }

    /// Both ways to look up know the same pieces, whatever follows them, and their ids; and the table tells no others.
    #[test]
    fn tiers_agree() -> Result<(), Box<dyn std::error::Error>> {
        let bytes = (0..=255_u8).map(|byte| (vec![byte], TokenId::from(byte)));
        let vocabulary = Vocabulary::from_ranks(bytes.collect())?;
        let mut answered_beyond = 0;
        for seed in 0..24 {
            let state = &mut (seed << 32);
            // From tables that are hardly filled to some that give up entries.
            let limit = [0, 1 << 14, 1 << 18, USUAL_LIMIT][random(state) % 4];
            let mut table = PieceTable::new(&vocabulary, limit);
            // Few bytes, so that pieces differ in a single one, or in their lengths alone.
            let alphabet = [b"ab".as_slice(), b"a\x01", b"abcdefgh\xF4"][random(state) % 3];
            let mut known: HashMap<Vec<u8>, Vec<TokenId>> = HashMap::new();
            let pieces: Vec<Vec<u8>> = (0..3000)
                .map(|number| {
                    let length = 2 + number % LONGEST_WHOLE;
                    let byte = |_| alphabet[random(state) % alphabet.len()];
                    (0..length).map(byte).collect()
                })
                .collect();
            for (number, piece) in pieces.iter().enumerate() {
                let ids = known.entry(piece.clone()).or_insert_with(|| {
                    let count = 1 + random(state) % piece.len().min(14);
                    let high = if random(state).is_multiple_of(9) {
                        22
                    } else {
                        20
                    };
                    let id = |_| TokenId::try_from(random(state) % (1 << high));
                    (0..count).flat_map(id).collect()
                });
                let mut found = Vec::new();
                if !table.get(piece, &mut found) {
                    table.insert(piece, ids);
                    table.get(piece, &mut found);
                }
                assert!(found.is_empty() || found == *ids, "{piece:?}");

                let view = table.view();
                let mut window = [0; LONGEST_WHOLE];
                let before = &pieces[random(state) % (number + 1)];
                let follows = [0, b'a', 0xF4][random(state) % 3];
                window.fill(follows);
                let kept = before.len().min(LONGEST_WHOLE);
                window[..kept].copy_from_slice(&before[..kept]);
                for length in 1..=LONGEST_WHOLE + 1 {
                    let (mut plain, mut here) = ([0; ROOM], [0; ROOM]);
                    if window[..length.min(LONGEST_WHOLE)].contains(&0) {
                        break;
                    }
                    let count = view.get(&window, length, &mut plain);
                    if let Some(count) = count {
                        let piece = &window[..length];
                        let ids = match known.get(piece) {
                            Some(ids) => ids,
                            None => &vec![TokenId::from(piece[0])],
                        };
                        assert_eq!(&plain[..count], ids, "{piece:?}");
                    }
                    let mut beyond = [0; ROOM];
                    if let Some(count) = view.get_beyond(&window, length, &mut beyond) {
                        assert_eq!(
                            Some(&beyond[..count]),
                            known.get(&window[..length]).map(Vec::as_slice)
                        );
                        answered_beyond += 1;
                    }
                    if Tier::Avx2.available() {
                        // SAFETY: the machine has what the function is compiled for.
                        let same = unsafe { get(&view, &window, length, &mut here) };
                        assert_eq!(same, count, "{length} of {window:?}");
                        let count = count.unwrap_or(0);
                        assert_eq!(here[..count], plain[..count], "{length} of {window:?}");
                    }
                }
            }
        }
        assert!(answered_beyond > 1000, "{answered_beyond}");
        Ok(())
    }
}
