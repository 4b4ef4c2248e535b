//! What is known of pieces that were located.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_cmpeq_epi16, _mm_movemask_epi8, _mm_set1_epi8, _mm_setzero_si128,
    _mm_unpacklo_epi64, _mm256_add_epi32, _mm256_and_si256, _mm256_broadcastsi128_si256,
    _mm256_castsi256_pd, _mm256_cmpeq_epi64, _mm256_cvtepu16_epi32, _mm256_loadu_si256,
    _mm256_movemask_pd, _mm256_set_m128i, _mm256_set1_epi32, _mm256_setr_epi8, _mm256_setr_epi32,
    _mm256_shuffle_epi8, _mm256_srlv_epi32, _mm256_storeu_si256,
};
use std::mem::MaybeUninit;

use super::super::bucket::{ALL, Line, View, place};
use super::super::key::{self, LONGEST_WHOLE};
use super::super::packed_ids::{COUNT_BIT, LIMIT_OF_THREE, Packing, ROOM};
use super::super::probe::{LookUp, SomeSpots, Spot};
use super::{Avx2, NUL, load, numbers, whole_key};
use crate::token::TokenId;

/// Where [`ROOM`] ids can be written.
type Room = [MaybeUninit<TokenId>; ROOM];

impl LookUp for Avx2 {
    #[inline]
    fn look(
        &self,
        view: &View<'_>,
        text: &[u8],
        spots: SomeSpots<'_>,
        ids: &mut Vec<TokenId>,
    ) -> usize {
        let (known, _) = self.look_by_packing::<true>(view, text, spots, ids);
        known
    }

    #[inline]
    fn count(&self, view: &View<'_>, text: &[u8], spots: SomeSpots<'_>) -> (usize, usize) {
        self.look_by_packing::<false>(view, text, spots, &mut Vec::new())
    }
}

impl Avx2 {
    /// As [`LookUp::look`], or, if ids are not to be kept, as [`LookUp::count`]: how many pieces, how many ids.
    #[inline]
    #[expect(clippy::unused_self, reason = "it proves that the machine has AVX2")]
    fn look_by_packing<const KEEP: bool>(
        self,
        view: &View<'_>,
        text: &[u8],
        spots: SomeSpots<'_>,
        ids: &mut Vec<TokenId>,
    ) -> (usize, usize) {
        // SAFETY: the machine has what the functions are compiled for.
        unsafe {
            match view.packing {
                Packing::Three => look::<KEEP, false>(view, text, spots, ids),
                Packing::Four => look::<KEEP, true>(view, text, spots, ids),
            }
        }
    }
}

/// As [`Avx2::look_by_packing`], of ids that are packed by four, or by three.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn look<const KEEP: bool, const FOUR: bool>(
    view: &View<'_>,
    text: &[u8],
    spots: SomeSpots<'_>,
    ids: &mut Vec<TokenId>,
) -> (usize, usize) {
    let (mut known, mut found) = (0, 0);
    while known < spots.len() {
        let rest = spots.from(known);
        ids.reserve(if KEEP { 2 * rest.len() + ROOM } else { ROOM });
        let (pieces, more) = look_near::<KEEP, FOUR>(view.near.all, rest, ids.spare_capacity_mut());
        found += more;
        if KEEP {
            let before = ids.len();
            // SAFETY: so many were written: an entry never has more ids than its numbers hold.
            unsafe { ids.set_len(before + more) };
        }
        known += pieces;
        // If there is room, the next piece is one that near lines do not know.
        if let Some(spot) = spots.get(known)
            && let Some(room) = ids.spare_capacity_mut().first_chunk_mut()
        {
            let more = if spot.is_near() {
                look_beyond::<FOUR>(view, &spot, room)
            } else {
                look_whole::<FOUR>(view, text, &spot, room)
            };
            let Some(more) = more else {
                break;
            };
            found += more;
            if KEEP {
                let before = ids.len();
                // SAFETY: so many were written.
                unsafe { ids.set_len(before + more) };
            }
            known += 1;
        }
    }
    (known, found)
}

/// Writes the ids of the pieces of `spots` to `room`, up to the first that near lines do not know, or for which room might
/// not do. Answers how many pieces and how many ids these are. If they are not to be kept, nothing is written.
///
/// In a function of its own, without calls, for constants to stay in registers: a fifth faster.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn look_near<const KEEP: bool, const FOUR: bool>(
    lines: &[Line],
    spots: SomeSpots<'_>,
    room: &mut [MaybeUninit<TokenId>],
) -> (usize, usize) {
    let Some(most) = room.len().checked_sub(ROOM) else {
        return (0, 0);
    };
    let room: *mut TokenId = room.as_mut_ptr().cast();
    let (mut known, mut found) = (0, 0);
    for (numbers_of_key, &number) in spots.numbers.iter().zip(spots.lines) {
        let number = number as usize;
        let wide = number & 1;
        // SAFETY: reads both numbers.
        let key = _mm256_broadcastsi128_si256(unsafe { load(numbers_of_key.as_ptr().cast()) });
        let Some(line) = lines.get(number) else {
            break;
        };
        let from = if let Some(at) = place(equal(line, key), wide) {
            answers(line).wrapping_add(at)
        } else {
            let Some(next) = lines.get(number ^ 2) else {
                break;
            };
            let Some(at) = place(equal(next, key), wide) else {
                break;
            };
            answers(next).wrapping_add(at)
        };
        if KEEP && found > most {
            break;
        }
        // SAFETY: a place is below four: at most three numbers of eight bytes are skipped, and five follow in the line.
        let answer = unsafe { load(from.cast()) };
        if KEEP {
            // SAFETY: there is room for `ROOM` ids from here on. Of the eight, those of the two numbers count, at most.
            unsafe { store::<FOUR>(answer, room.add(found)) };
        }
        found += count::<FOUR>(answer, wide);
        known += 1;
    }
    (known, found)
}

/// As [`look_near`], for one piece with more ids than belong to its width. To ask for these lines before, in a pass over
/// all pieces that wait, took a fifth to a third longer, even where a fifth of them come here.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[expect(
    clippy::cast_possible_truncation,
    reason = "shifted down to a line number"
)]
fn look_beyond<const FOUR: bool>(view: &View<'_>, spot: &Spot, room: &mut Room) -> Option<usize> {
    let [a, b] = spot.numbers;
    // SAFETY: reads both numbers.
    let numbers = unsafe { load(spot.numbers.as_ptr().cast()) };
    if spot.line & 1 == 1 {
        let number = key::mix_four([a, b, u64::MAX, u64::MAX]) >> view.whole.shift;
        let key = _mm256_set_m128i(_mm_set1_epi8(-1), numbers);
        return look_in_whole::<FOUR>(view.whole.all, number as usize, key, room);
    }
    let number = 2 * (key::mix([a, u64::MAX]) >> view.near.shift) as usize + 1;
    let key = _mm256_broadcastsi128_si256(_mm_unpacklo_epi64(numbers, _mm_set1_epi8(-1)));
    for number in [number, number ^ 2] {
        let line = view.near.all.get(number)?;
        if let Some(at) = place(equal(line, key), 1) {
            // SAFETY: at most two numbers are skipped; six follow that are inside of the line.
            let answer = unsafe { load(answers(line).add(at).cast()) };
            // SAFETY: there is room for more than eight ids.
            unsafe { store::<FOUR>(answer, room.as_mut_ptr().cast()) };
            return Some(count::<FOUR>(answer, 1));
        }
    }
    None
}

/// As [`look_near`], for one piece of more than 16 bytes.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn look_whole<const FOUR: bool>(
    view: &View<'_>,
    text: &[u8],
    spot: &Spot,
    room: &mut Room,
) -> Option<usize> {
    if spot.line == Spot::ELSEWHERE {
        return None;
    }
    let (place, length) = spot.place_and_length();
    let rest = text.get(place..)?;
    let mut last = [0; LONGEST_WHOLE];
    let bytes = rest.first_chunk().unwrap_or_else(|| {
        for (to, from) in last.iter_mut().zip(rest) {
            *to = *from;
        }
        &last
    });
    let (first, second) = whole_key(bytes, length)?;
    let key = _mm256_set_m128i(second, first);
    let number = (spot.line ^ Spot::WHOLE) as usize;
    look_in_whole::<FOUR>(view.whole.all, number, key, room)
}

/// As [`look_near`], for one key of a whole line, of which the number is known.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn look_in_whole<const FOUR: bool>(
    lines: &[Line],
    number: usize,
    key: __m256i,
    room: &mut Room,
) -> Option<usize> {
    let mut line = lines.get(number)?;
    if equal(line, key) != ALL {
        line = lines.get(number ^ 1)?;
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
    let room: *mut TokenId = room.as_mut_ptr().cast();
    // SAFETY: there is room for eight ids and eight.
    unsafe {
        store::<FOUR>(low, room);
        store::<FOUR>(high, room.add(if FOUR { 8 } else { 6 }));
    }
    Some(if FOUR {
        count::<FOUR>(low, 1) + count::<FOUR>(high, 1)
    } else {
        count::<FOUR>(low, 1)
    })
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

/// Stores the ids of two numbers: eight, of which six have a meaning if there are three a number.
///
/// # Safety
/// There must be room for eight.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store<const FOUR: bool>(numbers: __m128i, room: *mut TokenId) {
    const N: i8 = NUL.cast_signed();
    let ids = if FOUR {
        _mm256_add_epi32(_mm256_cvtepu16_epi32(numbers), _mm256_set1_epi32(-1))
    } else {
        // Each id's bits begin in the first of its three bytes, or four bits later.
        let bytes = _mm256_setr_epi8(
            0, 1, 2, N, 2, 3, 4, N, 5, 6, 7, N, 8, 9, 10, N, //
            10, 11, 12, N, 13, 14, 15, N, N, N, N, N, N, N, N, N,
        );
        let ids = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(numbers), bytes);
        let ids = _mm256_srlv_epi32(ids, _mm256_setr_epi32(0, 4, 0, 0, 4, 0, 0, 0));
        _mm256_and_si256(ids, _mm256_set1_epi32((LIMIT_OF_THREE - 1).cast_signed()))
    };
    // SAFETY: the caller's.
    unsafe { _mm256_storeu_si256(room.cast(), ids) };
}

/// How many ids there are in an answer: of three a number, in all; of four, in the first number, or both if it is wide.
#[inline]
#[target_feature(enable = "avx2,bmi1")]
fn count<const FOUR: bool>(answer: __m128i, wide: usize) -> usize {
    if FOUR {
        let none = _mm_movemask_epi8(_mm_cmpeq_epi16(answer, _mm_setzero_si128()));
        // Two bits an id.
        (none.cast_unsigned() | 0x100 << (8 * wide)).trailing_zeros() as usize / 2
    } else {
        (numbers(answer)[0] >> COUNT_BIT) as usize
    }
}
