//! Looking up the pieces of some windows: first where each belongs, then what is there.
//!
//! In between the processor brings their lines near. It looks ahead by itself, but not further than a few pieces, and most
//! of the lines of a large text are not in its nearest caches: to look into each line at once was a third slower on 10 MB
//! of text, and no faster where all lines are near.

use super::answer::{IDS_A_NUMBER, count, unpack};
use super::key::{Key, LONGEST_WHOLE, LONGEST_WIDE, Width};
use super::lines::View;
use crate::memory;
use crate::split::masks::{WINDOW, Window};
use crate::token::TokenId;

/// Where a piece is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The two numbers of the key; of a piece for whole lines, its place in the text and its length.
    pub(super) numbers: [u64; 2],
    /// The number of a near line, or of a whole one and [`WHOLE`](Self::WHOLE), or [`ELSEWHERE`](Self::ELSEWHERE).
    pub(super) line: u32,
}

impl Spot {
    pub(super) const WHOLE: u32 = 1 << 31;

    /// In no line.
    pub(super) const ELSEWHERE: u32 = u32::MAX;

    /// Whether it is a near line.
    #[inline]
    pub(crate) fn is_near(&self) -> bool {
        self.line & Self::WHOLE == 0
    }

    /// The key, if it is that of a near line.
    #[inline]
    fn near_key(&self) -> Option<Key> {
        let [a, b] = self.numbers;
        self.is_near().then_some(Key {
            numbers: [a, b, a, b],
            width: [Width::Short, Width::Wide][self.line as usize & 1],
        })
    }

    /// The key of a piece of the text, if it belongs to a line.
    fn key(&self, text: &[u8]) -> Option<Key> {
        if self.line == Self::ELSEWHERE {
            return None;
        }
        self.near_key().or_else(|| {
            let [place, length] = self.numbers.map(usize::try_from);
            let (place, length) = (place.ok()?, length.ok()?);
            Key::of(text.get(place..)?.get(..length)?)
        })
    }
}

impl Default for Spot {
    /// In no line.
    fn default() -> Self {
        Self {
            numbers: [0; 2],
            line: Self::ELSEWHERE,
        }
    }
}

/// How a tier looks up.
pub(crate) trait LookUp {
    /// Fills `spots` with those of the pieces of a window, which end where `ends` has bits; the first starts where the
    /// window does, at `place` of the text. Answers how many they are.
    fn locate(
        &self,
        view: &View<'_>,
        window: &Window,
        place: usize,
        ends: u64,
        spots: &mut [Spot; WINDOW],
    ) -> usize;

    /// Appends the ids of the pieces of `spots`, up to the first that no line knows. Answers how many they know.
    fn look(&self, view: &View<'_>, text: &[u8], spots: &[Spot], ids: &mut Vec<TokenId>) -> usize;

    /// As [`look`](Self::look), without ids: how many pieces lines know, and how many ids these are.
    fn count(&self, view: &View<'_>, text: &[u8], spots: &[Spot]) -> (usize, usize) {
        let mut ids = Vec::new();
        let known = self.look(view, text, spots, &mut ids);
        (known, ids.len())
    }
}

/// In plain code.
pub(crate) struct Plain;

impl LookUp for Plain {
    fn locate(
        &self,
        view: &View<'_>,
        window: &Window,
        place: usize,
        mut ends: u64,
        spots: &mut [Spot; WINDOW],
    ) -> usize {
        // NUL fills keys up. No piece goes on behind the window.
        let keys = !window[..WINDOW].contains(&0);
        let count = ends.count_ones() as usize;
        let mut start = 0;
        for spot in &mut spots[..count] {
            let end = ends.trailing_zeros() as usize;
            ends &= ends - 1;
            let bytes = window.get(start..).and_then(<[u8]>::first_chunk);
            *spot = match bytes {
                Some(bytes) if keys => view.spot(bytes, place + start, end - start),
                _ => Spot::default(),
            };
            start = end;
        }
        count
    }

    fn look(&self, view: &View<'_>, text: &[u8], spots: &[Spot], ids: &mut Vec<TokenId>) -> usize {
        let known = spots.iter().take_while(|spot| {
            let Some(key) = spot.key(text) else {
                return false;
            };
            let beyond = || view.of(key.beyond()?.width).get(&key.beyond()?);
            let answer = view.of(key.width).get(&key).or_else(beyond);
            if let Some(answer) = &answer {
                let unpacked: [[TokenId; IDS_A_NUMBER]; _] = answer.map(unpack);
                ids.extend_from_slice(&unpacked.as_flattened()[..count(answer[0])]);
            }
            answer.is_some()
        });
        known.count()
    }
}

impl View<'_> {
    /// Where the first `length` of `bytes`, at `place` of the text, are looked up. None of them is NUL or 0xFF.
    #[expect(clippy::cast_possible_truncation, reason = "lines are fewer")]
    pub(super) fn spot(&self, bytes: &[u8; LONGEST_WHOLE], place: usize, length: usize) -> Spot {
        if length > LONGEST_WHOLE {
            return Spot::default();
        }
        let key = Key::of_first(bytes, length);
        let lines = self.of(key.width);
        let [line, _] = lines.places(&key);
        if let Some(line) = lines.all.get(line) {
            memory::prefetch(line);
        }
        let [a, b, ..] = key.numbers;
        if length > LONGEST_WIDE {
            let numbers = [place as u64, length as u64];
            let line = line as u32 | Spot::WHOLE;
            return Spot { numbers, line };
        }
        let line = line as u32;
        Spot {
            numbers: [a, b],
            line,
        }
    }

    /// Locates again, after lines were added.
    #[expect(clippy::cast_possible_truncation, reason = "lines are fewer")]
    pub(crate) fn locate_again(&self, text: &[u8], spots: &mut [Spot]) {
        for spot in spots {
            if let Some(key) = spot.key(text) {
                let [line, _] = self.of(key.width).places(&key);
                spot.line = line as u32 | (spot.line & Spot::WHOLE);
            }
        }
    }
}
