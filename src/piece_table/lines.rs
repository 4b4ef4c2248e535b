//! Short pieces → their ids, one cache line a look-up.
//!
//! A line holds four numbers of keys and the answers to them. Even lines are short, odd ones wide:
//!
//! | width | pieces | a key | an answer |
//! |---|---|---|---|
//! | short | 1–8 bytes | one number | up to two ids |
//! | wide | 9–16 bytes, and shorter ones with more ids | two numbers | up to four ids |
//!
//! Both are compared in one way, so that the processor need not foresee which of them comes next: a key is compared as
//! two numbers that alternate, which for a short piece are the same. What finds no room in its line goes to the next line
//! of its width, and changes places with another when it is asked for.

use super::key::{self, LONGEST_WHOLE};
use crate::memory;
use crate::token::TokenId;

/// The most ids that an answer holds.
pub(crate) const MOST_IDS: usize = 4;

/// In an answer: there is no id here, nor after. Ids from here on are not kept in lines.
pub(super) const ABSENT: u32 = 1 << 31;

/// One cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Line {
    /// Two words for each key number.
    pub(super) answers: [u32; 8],
    /// 0 is an empty place: pieces whose key starts with it are not kept.
    pub(super) keys: [u64; 4],
}

const EMPTY: Line = Line {
    answers: [ABSENT; 8],
    keys: [0; 4],
};

/// A line that nothing is found in, for pieces that have no place: bytes 0xFF alone are no key.
const NO_LINE: Line = Line {
    keys: [u64::MAX; 4],
    ..EMPTY
};

/// Where the answer for a piece of at most 16 bytes is, if there is one. By default, nowhere: in line 0.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spot {
    /// The key as it is compared.
    pub(super) key: [u64; 2],
    /// The number of the line; odd ones are wide.
    pub(super) line: u32,
}

impl Spot {
    /// How many numbers a key has in this line; an answer has twice as many words.
    fn numbers(&self) -> usize {
        1 + (self.line & 1) as usize
    }

    /// The other line that may hold what belongs here.
    fn next(self) -> Self {
        let line = self.line ^ 2;
        Self { line, ..self }
    }
}

/// The ids of a piece, [`ABSENT`] marking the words after them.
pub(crate) type Answer = [u32; MOST_IDS];

/// How many ids there are.
#[inline]
pub(crate) fn count(answer: &Answer) -> usize {
    answer.iter().take_while(|&&id| id < ABSENT).count()
}

/// No answer in a line.
pub(super) const NOWHERE: u8 = 8;

/// Where in a line the answer is, by 16 for wide lines plus the bits of the key numbers that are equal.
pub(super) const PLACE: [u8; 32] = {
    let mut place = [NOWHERE; 32];
    let mut equal = 1;
    while equal < 16_usize {
        // A key stands once in a line.
        #[expect(clippy::cast_possible_truncation, reason = "below 4")]
        let first = equal.trailing_zeros() as u8;
        place[equal] = 2 * first;
        if equal & 0b0011 == 0b0011 {
            place[16 + equal] = 0;
        } else if equal & 0b1100 == 0b1100 {
            place[16 + equal] = 4;
        }
        equal += 1;
    }
    place
};

/// All lines: two without entries, then as many of each width in turn.
#[derive(Debug)]
pub(super) struct Lines {
    all: Vec<Line>,
    /// Shifts a mixed key down to the number of a pair of lines.
    shift: u32,
    /// How many key numbers of each width are taken.
    filled: [usize; 2],
    /// Which place of a full line goes next.
    turn: usize,
}

/// The fewest and the most lines of one width, as powers of two.
const FEWEST_LOG2: u32 = 4;
const MOST_LOG2: u32 = 24;

impl Lines {
    /// Empty lines, two to the power of `lines_log2` for each width.
    pub(super) fn new(lines_log2: u32) -> Self {
        let lines_log2 = lines_log2.clamp(FEWEST_LOG2, MOST_LOG2);
        let count = 2 + (2 << lines_log2);
        let mut lines = memory::vec_with_capacity(count);
        lines.resize(2, NO_LINE);
        lines.resize(count, EMPTY);
        Self {
            all: lines,
            shift: 64 - lines_log2,
            filled: [0; 2],
            turn: 0,
        }
    }

    fn lines_log2(&self) -> u32 {
        64 - self.shift
    }

    /// How many bytes they take.
    pub(super) fn memory(&self) -> usize {
        size_of::<Line>() * self.all.capacity()
    }

    /// What looking up needs, borrowed once for many look-ups.
    #[inline]
    pub(super) fn view(&self) -> View<'_> {
        View {
            lines: &self.all,
            shift: self.shift,
        }
    }

    /// The answer for what belongs at `spot`, in its line or the next.
    pub(super) fn near(&mut self, spot: Spot) -> Option<Answer> {
        if spot.line < 2 {
            return None;
        }
        self.view().get(&spot).or_else(|| self.promote(spot))
    }

    /// The answer for what belongs at `spot` if it is in the next line. It changes places with one in its own then; all
    /// that is in either line belongs to one of the two.
    fn promote(&mut self, spot: Spot) -> Option<Answer> {
        let numbers = spot.numbers();
        let answer = self.view().get(&spot.next())?;
        let (own, next) = (spot.line as usize, spot.next().line as usize);
        let [mut own_line, mut next_line] = [self.all[own], self.all[next]];
        let same = |at: &usize| next_line.keys[*at..at + numbers] == spot.key[..numbers];
        let from = (0..4).step_by(numbers).find(same)?;
        let to = self.next_turn(numbers);
        own_line.keys[to..to + numbers].swap_with_slice(&mut next_line.keys[from..from + numbers]);
        own_line.answers[2 * to..2 * (to + numbers)]
            .swap_with_slice(&mut next_line.answers[2 * from..2 * (from + numbers)]);
        self.all[own] = own_line;
        self.all[next] = next_line;
        Some(answer)
    }

    /// Remembers the ids of the piece that belongs at `spot`; false if they do not fit or there is no room nearby. When
    /// about half of the places are taken the lines are doubled, as long as there are fewer than two to the power of
    /// `most_log2`; from then on entries are given up.
    pub(super) fn insert(&mut self, spot: Spot, ids: &[TokenId], most_log2: u32) -> bool {
        let wide = spot.numbers() - 1;
        if spot.line < 2
            || !(1..=2 * spot.numbers()).contains(&ids.len())
            || ids.iter().any(|&id| id >= ABSENT)
        {
            return false;
        }
        let mut answer = [ABSENT; MOST_IDS];
        answer[..ids.len()].copy_from_slice(ids);
        // Wide lines have fewer places, so that more of them are full at the same filling.
        let well_filled = 2 * self.filled[wide] > [5, 4][wide] << self.lines_log2();
        if well_filled && self.lines_log2() < most_log2.min(MOST_LOG2) {
            self.double();
            let spot = self.view().spot(spot.key, wide == 1);
            return self.add(spot, &answer);
        }
        let added = self.add(spot, &answer);
        if !added && well_filled {
            let at = self.next_turn(spot.numbers());
            self.put(spot, at, &answer);
        }
        added || well_filled
    }

    /// Remembers an answer if there is room for it.
    pub(super) fn add(&mut self, spot: Spot, answer: &Answer) -> bool {
        if spot.line < 2 {
            return false;
        }
        let numbers = spot.numbers();
        for spot in [spot, spot.next()] {
            let Some(line) = self.all.get(spot.line as usize) else {
                return false;
            };
            if let Some(at) = (0..4).step_by(numbers).find(|&at| line.keys[at] == 0) {
                self.filled[numbers - 1] += numbers;
                self.put(spot, at, answer);
                return true;
            }
        }
        false
    }

    fn put(&mut self, spot: Spot, at: usize, answer: &Answer) {
        let numbers = spot.numbers();
        let line = &mut self.all[spot.line as usize];
        line.keys[at..at + numbers].copy_from_slice(&spot.key[..numbers]);
        line.answers[2 * at..2 * (at + numbers)].copy_from_slice(&answer[..2 * numbers]);
    }

    /// The place of the entry of a full line that goes next.
    fn next_turn(&mut self, numbers: usize) -> usize {
        self.turn = self.turn.wrapping_add(1);
        self.turn * numbers % 4
    }

    fn double(&mut self) {
        let mut larger = Self::new(self.lines_log2() + 1);
        for (number, line) in self.all.iter().enumerate().skip(2) {
            let wide = number % 2 == 1;
            for at in (0..4).step_by(1 + usize::from(wide)) {
                let (first, second) = (line.keys[at], line.keys[at | usize::from(wide)]);
                if first != 0 {
                    let mut answer = [ABSENT; MOST_IDS];
                    let words = if wide { 4 } else { 2 };
                    answer[..words].copy_from_slice(&line.answers[2 * at..2 * at + words]);
                    let spot = larger.view().spot([first, second], wide);
                    larger.add(spot, &answer);
                }
            }
        }
        *self = larger;
    }
}

/// [`Lines`] to look up in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    pub(super) lines: &'a [Line],
    pub(super) shift: u32,
}

impl View<'_> {
    /// Where the answer for the `length` bytes of `text` from `start` on is, if there are at most 16. In plain code.
    #[inline]
    pub(crate) fn find(&self, text: &[u8], start: usize, length: usize) -> Spot {
        if length > LONGEST_WHOLE {
            return Spot::default();
        }
        let [first, second] = key::whole(text, start, length);
        let wide = length > 8;
        self.spot([first, if wide { second } else { first }], wide)
    }

    /// Where the answer for a key is.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "shifted down to a line number"
    )]
    pub(super) fn spot(&self, key: [u64; 2], wide: bool) -> Spot {
        if key[0] == 0 {
            return Spot::default();
        }
        let line = 2 + 2 * (key::mix(key) >> self.shift) as u32 + u32::from(wide);
        Spot { key, line }
    }

    /// The same spot, if the lines were doubled since it was found.
    pub(super) fn renewed(&self, spot: Spot) -> Spot {
        self.spot(spot.key, spot.line % 2 == 1)
    }

    /// Where a piece of at most 8 bytes is that has too many ids for its own spot.
    pub(super) fn beyond(&self, spot: Spot) -> Spot {
        self.spot([spot.key[0], u64::MAX], true)
    }

    /// Asks for the line at `spot` to be brought near.
    #[inline]
    pub(crate) fn prefetch(&self, spot: &Spot) {
        if let Some(line) = self.lines.get(spot.line as usize) {
            memory::prefetch(line);
        }
    }

    /// The answer at `spot`. In plain code.
    #[inline]
    pub(crate) fn get(&self, spot: &Spot) -> Option<Answer> {
        let line = self.lines.get(spot.line as usize)?;
        let wide = spot.line % 2 == 1;
        let [first, second] = spot.key;
        let equal = usize::from(line.keys[0] == first)
            | usize::from(line.keys[1] == second) << 1
            | usize::from(line.keys[2] == first) << 2
            | usize::from(line.keys[3] == second) << 3;
        let at = PLACE[16 * usize::from(wide) + equal];
        let words = line.answers.get(usize::from(at)..)?;
        match *words {
            [first, second, third, fourth, ..] if wide => Some([first, second, third, fourth]),
            [first, second, ..] => Some([first, second, ABSENT, ABSENT]),
            _ => None,
        }
    }
}
