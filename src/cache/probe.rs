//! Looking up the pieces of some windows: first where each belongs, then what is there.
//!
//! In between the processor brings their lines near. It looks ahead by itself, but not further than a few pieces, and most
//! of the lines of a large text are not in its nearest caches: to look into each line at once was a third slower on 10 MB
//! of text, and no faster where all lines are near.

use std::ops::Range;

use super::bucket::View;
use super::key::{self, Key, LONGEST_SHORT, LONGEST_WHOLE, LONGEST_WIDE, Width};
use super::long;
use crate::token::TokenId;
use crate::util::block::{BLOCK_LEN, Block};

/// Where a piece is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The two numbers of the key; of a piece that belongs to a whole line, or to none, its hash or 0, and its
    /// [stretch](Self::stretch).
    pub(super) numbers: [u64; 2],
    /// The number of a near line, or of a whole one and [`WHOLE`](Self::WHOLE), or [`ELSEWHERE`](Self::ELSEWHERE).
    pub(super) line: u32,
}

impl Spot {
    pub(super) const WHOLE: u32 = 1 << 31;

    /// In no line.
    pub(super) const ELSEWHERE: u32 = u32::MAX;

    /// The bits of the length in a stretch.
    const LENGTH_BITS: u32 = 16;

    /// Where a piece lies and how long it is, in one number.
    #[inline]
    pub(super) fn stretch(place: usize, length: usize) -> u64 {
        (place as u64) << Self::LENGTH_BITS | length as u64
    }

    /// Whether it is a near line.
    #[inline]
    pub(crate) fn is_near(&self) -> bool {
        self.line & Self::WHOLE == 0
    }

    /// The hash of a piece that may be among the longer ones.
    #[inline]
    pub(crate) fn hash(&self) -> Option<u64> {
        (!self.is_near() && self.numbers[0] != 0).then_some(self.numbers[0])
    }

    /// The key, if it is that of a near line.
    #[inline]
    pub(super) fn near_key(&self) -> Option<Key> {
        let [a, b] = self.numbers;
        self.is_near().then_some(Key {
            numbers: [a, b, a, b],
            width: [Width::Short, Width::Wide][self.line as usize & 1],
        })
    }

    /// The stretch of a piece that belongs to no near line.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "as it was packed")]
    pub(super) fn place_and_length(&self) -> (usize, usize) {
        let stretch = self.numbers[1] as usize;
        let length = stretch & ((1 << Self::LENGTH_BITS) - 1);
        (stretch >> Self::LENGTH_BITS, length)
    }

    /// The bytes of such a piece.
    #[inline]
    fn bytes<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let (place, length) = self.place_and_length();
        text.get(place..)?.get(..length)
    }

    /// The piece; `room` is where one that is its own key is put.
    pub(crate) fn piece<'t>(&self, text: &'t [u8], room: &'t mut [u8; LONGEST_WIDE]) -> &'t [u8] {
        let Some(key) = self.near_key() else {
            return self.bytes(text).unwrap_or_default();
        };
        let [a, b] = match key.width {
            Width::Short => [self.numbers[0], 0],
            _ => self.numbers,
        };
        let bytes = u128::from(a) | u128::from(b) << 64;
        *room = bytes.to_le_bytes();
        // It has no NUL, with which it is filled up.
        &room[..LONGEST_WIDE - (bytes.leading_zeros() / 8) as usize]
    }

    /// The key of a piece of the text, if it belongs to a line.
    fn key(&self, text: &[u8]) -> Option<Key> {
        if self.line == Self::ELSEWHERE {
            return None;
        }
        self.near_key().or_else(|| Key::of(self.bytes(text)?))
    }
}

/// Many spots, part by part, so that some can be stored at once.
#[derive(Debug)]
pub(crate) struct Spots {
    numbers: Vec<[u64; 2]>,
    lines: Vec<u32>,
}

impl Spots {
    /// So many, of nothing.
    pub(crate) fn new(count: usize) -> Self {
        Self {
            numbers: vec![[0; 2]; count],
            lines: vec![Spot::ELSEWHERE; count],
        }
    }

    /// One of those that are there.
    #[inline]
    pub(crate) fn get(&self, number: usize) -> Spot {
        Spot {
            numbers: self.numbers[number],
            line: self.lines[number],
        }
    }

    /// Puts a spot in the place of one that is there.
    #[inline]
    pub(crate) fn set(&mut self, number: usize, spot: Spot) {
        self.numbers[number] = spot.numbers;
        self.lines[number] = spot.line;
    }

    /// Some of those that are there, to look up.
    #[inline]
    pub(crate) fn some(&self, range: Range<usize>) -> SomeSpots<'_> {
        SomeSpots {
            numbers: &self.numbers[range.clone()],
            lines: &self.lines[range],
        }
    }

    /// Those of a window, from a number on, to be located; none if there are fewer.
    #[inline]
    pub(crate) fn of_window(&mut self, first: usize) -> Option<BlockSpots<'_>> {
        Some(BlockSpots {
            numbers: self.numbers.get_mut(first..)?.first_chunk_mut()?,
            lines: self.lines.get_mut(first..)?.first_chunk_mut()?,
        })
    }
}

/// [`Spots`] to look up; of both parts as many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SomeSpots<'a> {
    pub(super) numbers: &'a [[u64; 2]],
    pub(super) lines: &'a [u32],
}

impl SomeSpots<'_> {
    /// How many.
    #[inline]
    pub(super) fn len(self) -> usize {
        self.lines.len()
    }

    /// One of them.
    #[inline]
    pub(super) fn get(self, number: usize) -> Option<Spot> {
        Some(Spot {
            numbers: *self.numbers.get(number)?,
            line: *self.lines.get(number)?,
        })
    }

    /// Those from a number on.
    #[inline]
    pub(super) fn from(self, number: usize) -> Self {
        Self {
            numbers: self.numbers.get(number..).unwrap_or_default(),
            lines: self.lines.get(number..).unwrap_or_default(),
        }
    }
}

/// Where the spots of a window's pieces are put: a piece has a byte at least.
#[derive(Debug)]
pub(crate) struct BlockSpots<'a> {
    pub(super) numbers: &'a mut [[u64; 2]; BLOCK_LEN],
    pub(super) lines: &'a mut [u32; BLOCK_LEN],
}

impl BlockSpots<'_> {
    /// Puts one.
    #[inline]
    pub(super) fn set(&mut self, number: usize, spot: Spot) {
        self.numbers[number % BLOCK_LEN] = spot.numbers;
        self.lines[number % BLOCK_LEN] = spot.line;
    }
}

/// Pieces that were located.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Located {
    /// How many.
    pub(crate) count: usize,
    /// Whether one of them has a [hash](Spot::hash).
    pub(crate) hashed: bool,
}

/// How a tier locates.
pub(crate) trait Locate {
    /// Fills `spots` with those of the pieces of a window, which end where `ends` has bits; the first starts where the
    /// window does, at `place` of the text.
    fn locate(
        &self,
        view: &View<'_>,
        window: &Block,
        place: usize,
        ends: u64,
        spots: BlockSpots<'_>,
    ) -> Located;
}

/// How a tier looks up what is located.
pub(crate) trait LookUp {
    /// Appends the ids of the pieces of `spots`, up to the first that no line knows. Answers how many they know.
    fn look(
        &self,
        view: &View<'_>,
        text: &[u8],
        spots: SomeSpots<'_>,
        ids: &mut Vec<TokenId>,
    ) -> usize;

    /// As [`look`](Self::look), without ids: how many pieces lines know, and how many ids these are.
    fn count(&self, view: &View<'_>, text: &[u8], spots: SomeSpots<'_>) -> (usize, usize) {
        let mut ids = Vec::new();
        let known = self.look(view, text, spots, &mut ids);
        (known, ids.len())
    }
}

/// In plain code.
pub(crate) struct Plain;

impl Locate for Plain {
    fn locate(
        &self,
        view: &View<'_>,
        window: &Block,
        place: usize,
        mut ends: u64,
        mut spots: BlockSpots<'_>,
    ) -> Located {
        // NUL fills keys up. No piece goes on behind the window.
        let keys = !window[..BLOCK_LEN].contains(&0);
        let count = ends.count_ones() as usize;
        let (mut start, mut hashed) = (0, false);
        for number in 0..count {
            let end = ends.trailing_zeros() as usize;
            ends &= ends - 1;
            let bytes = window.get(start..).and_then(<[u8]>::first_chunk);
            let spot = match bytes {
                Some(bytes) if keys && end - start <= LONGEST_WHOLE => {
                    view.spot(bytes, place + start, end - start)
                }
                _ => view.elsewhere(&window[start..end], place + start),
            };
            hashed |= spot.hash().is_some();
            spots.set(number, spot);
            start = end;
        }
        Located { count, hashed }
    }
}

impl LookUp for Plain {
    fn look(
        &self,
        view: &View<'_>,
        text: &[u8],
        spots: SomeSpots<'_>,
        ids: &mut Vec<TokenId>,
    ) -> usize {
        let spots = (0..spots.len()).map_while(|number| spots.get(number));
        let known = spots.take_while(|spot| {
            let Some(key) = spot.key(text) else {
                return false;
            };
            let beyond = || view.of(key.beyond()?.width).get(&key.beyond()?);
            let answer = view.of(key.width).get(&key).or_else(beyond);
            if let Some(answer) = &answer {
                view.packing.append(answer, ids);
            }
            answer.is_some()
        });
        known.count()
    }
}

impl View<'_> {
    /// Where the first `length` of `bytes`, at `place` of the text, are looked up: at most [`LONGEST_WHOLE`], none of them
    /// NUL or 0xFF.
    #[expect(clippy::cast_possible_truncation, reason = "lines are fewer")]
    fn spot(&self, bytes: &[u8; LONGEST_WHOLE], place: usize, length: usize) -> Spot {
        if length <= LONGEST_WIDE {
            return self.near_spot(bytes, length);
        }
        let key = Key::of_first(bytes, length);
        let [line, _] = self.whole.places(&key);
        self.whole.prefetch_line(line);
        Spot {
            numbers: [self.far_hash(bytes, length), Spot::stretch(place, length)],
            line: line as u32 | Spot::WHOLE,
        }
    }

    /// As [`spot`](Self::spot), for at most [`LONGEST_WIDE`] bytes. No branch tells their widths apart.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "lines are fewer")]
    pub(super) fn near_spot(&self, bytes: &[u8; LONGEST_WHOLE], length: usize) -> Spot {
        let numbers = Key::near(bytes, length);
        let wide = usize::from(length > LONGEST_SHORT);
        let line = 2 * (key::mix(numbers) >> self.near.shift) as usize + wide;
        self.near.prefetch_line(line);
        Spot {
            numbers,
            line: line as u32,
        }
    }

    /// The hash of a piece that belongs to a whole line, if such may be among the longer ones as their ids are many.
    #[inline]
    pub(super) fn far_hash(&self, bytes: &[u8; LONGEST_WHOLE], length: usize) -> u64 {
        if !self.long.has_shorter() {
            return 0;
        }
        let hash = long::hash(bytes.get(..length).unwrap_or_default());
        self.long.prefetch(hash);
        hash
    }

    /// The spot of a piece that belongs to no line, at `place` of the text.
    pub(crate) fn elsewhere(&self, piece: &[u8], place: usize) -> Spot {
        let hash = long::hash(piece);
        self.long.prefetch(hash);
        Spot {
            numbers: [hash, Spot::stretch(place, piece.len())],
            line: Spot::ELSEWHERE,
        }
    }

    /// Asks for the ids of a piece with a hash, if it is known, to be brought near.
    pub(crate) fn prefetch_long(&self, spot: &Spot) {
        if let Some(hash) = spot.hash() {
            self.long.prefetch_record(hash);
        }
    }

    /// Locates again, after lines were added.
    #[expect(clippy::cast_possible_truncation, reason = "lines are fewer")]
    pub(crate) fn locate_again(&self, text: &[u8], spots: &mut Spots, range: Range<usize>) {
        for number in range {
            let spot = spots.get(number);
            if let Some(key) = spot.key(text) {
                let [line, _] = self.of(key.width).places(&key);
                spots.lines[number] = line as u32 | (spot.line & Spot::WHOLE);
            }
        }
    }
}
