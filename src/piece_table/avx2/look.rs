//! What is known of pieces that were located.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_set1_epi8, _mm_unpacklo_epi64, _mm256_and_si256,
    _mm256_broadcastsi128_si256, _mm256_castsi256_pd, _mm256_cmpeq_epi64, _mm256_loadu_si256,
    _mm256_movemask_pd, _mm256_set_m128i, _mm256_set1_epi32, _mm256_setr_epi8, _mm256_setr_epi32,
    _mm256_shuffle_epi8, _mm256_srlv_epi32, _mm256_storeu_si256,
};
use std::mem::MaybeUninit;

use super::super::answer::{IDS_A_NUMBER, LIMIT, ROOM, count};
use super::super::key::{self, LONGEST_WHOLE};
use super::super::lines::{ALL, Line, View, place};
use super::super::spot::{LookUp, SomeSpots, Spot};
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
        // SAFETY: the machine has what the function is compiled for.
        let (known, _) = unsafe { look::<true>(view, text, spots, ids) };
        known
    }

    #[inline]
    fn count(&self, view: &View<'_>, text: &[u8], spots: SomeSpots<'_>) -> (usize, usize) {
        // SAFETY: the machine has what the function is compiled for.
        unsafe { look::<false>(view, text, spots, &mut Vec::new()) }
    }
}

/// As [`LookUp::look`], or, if ids are not to be kept, as [`LookUp::count`]: how many pieces, how many ids.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn look<const KEEP: bool>(
    view: &View<'_>,
    text: &[u8],
    spots: SomeSpots<'_>,
    ids: &mut Vec<TokenId>,
) -> (usize, usize) {
    let (mut known, mut found) = (0, 0);
    while known < spots.len() {
        let rest = spots.from(known);
        ids.reserve(if KEEP { 2 * rest.len() + ROOM } else { ROOM });
        let (pieces, more) = look_near::<KEEP>(view.near.all, rest, ids.spare_capacity_mut());
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
                look_beyond(view, &spot, room)
            } else {
                look_whole(view, text, &spot, room)
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
fn look_near<const KEEP: bool>(
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
            unsafe { store(answer, room.add(found)) };
        }
        found += count(numbers(answer)[0]);
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
fn look_beyond(view: &View<'_>, spot: &Spot, room: &mut Room) -> Option<usize> {
    let [a, b] = spot.numbers;
    // SAFETY: reads both numbers.
    let numbers = unsafe { load(spot.numbers.as_ptr().cast()) };
    if spot.line & 1 == 1 {
        let number = key::mix_four([a, b, u64::MAX, u64::MAX]) >> view.whole.shift;
        let key = _mm256_set_m128i(_mm_set1_epi8(-1), numbers);
        return look_in_whole(view.whole.all, number as usize, key, room);
    }
    let number = 2 * (key::mix([a, u64::MAX]) >> view.near.shift) as usize + 1;
    let key = _mm256_broadcastsi128_si256(_mm_unpacklo_epi64(numbers, _mm_set1_epi8(-1)));
    for number in [number, number ^ 2] {
        let line = view.near.all.get(number)?;
        if let Some(at) = place(equal(line, key), 1) {
            // SAFETY: at most two numbers are skipped; six follow that are inside of the line.
            let answer = unsafe { load(answers(line).add(at).cast()) };
            // SAFETY: there is room for more than eight ids.
            unsafe { store(answer, room.as_mut_ptr().cast()) };
            return Some(count(line.answers[at & 3]));
        }
    }
    None
}

/// As [`look_near`], for one piece of more than 16 bytes.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn look_whole(view: &View<'_>, text: &[u8], spot: &Spot, room: &mut Room) -> Option<usize> {
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
    look_in_whole(view.whole.all, number, key, room)
}

/// As [`look_near`], for one key of a whole line, of which the number is known.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn look_in_whole(lines: &[Line], number: usize, key: __m256i, room: &mut Room) -> Option<usize> {
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
    // SAFETY: there is room for six ids and eight.
    unsafe {
        store(low, room);
        store(high, room.add(2 * IDS_A_NUMBER));
    }
    Some(count(line.answers[0]))
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

/// Stores the six ids of two numbers, and two that have no meaning.
///
/// # Safety
/// There must be room for eight.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store(numbers: __m128i, room: *mut TokenId) {
    const N: i8 = NUL.cast_signed();
    // Each id's bits begin in the first of its three bytes, or four bits later.
    let bytes = _mm256_setr_epi8(
        0, 1, 2, N, 2, 3, 4, N, 5, 6, 7, N, 8, 9, 10, N, //
        10, 11, 12, N, 13, 14, 15, N, N, N, N, N, N, N, N, N,
    );
    let ids = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(numbers), bytes);
    let ids = _mm256_srlv_epi32(ids, _mm256_setr_epi32(0, 4, 0, 0, 4, 0, 0, 0));
    let ids = _mm256_and_si256(ids, _mm256_set1_epi32((LIMIT - 1).cast_signed()));
    // SAFETY: the caller's.
    unsafe { _mm256_storeu_si256(room.cast(), ids) };
}
