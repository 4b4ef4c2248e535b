//! Pieces of at most 32 bytes → their ids, one cache line a look-up.
//!
//! A line holds four numbers of keys and the four of their answers:
//!
//! | width | pieces | a key, an answer | entries | ids |
//! |---|---|---|---|---|
//! | short | 1–8 bytes | one number | four | up to three |
//! | wide | 9–16 bytes, and shorter ones with more ids | two numbers | two | up to six |
//! | whole | 17–32 bytes, and wide ones with more ids | four numbers | one | up to twelve |
//!
//! Short and wide lines alternate and are looked up in one way, so that the processor need not foresee which of them
//! comes next: a key is compared as two numbers that alternate, which for a short piece are the same. What finds no room
//! in its line goes to the next line of its width, and changes places with another when it is asked for.

use super::answer::{Answer, IDS_A_NUMBER, Room, count, unpack};
use super::key::{Key, LONGEST_WHOLE, Width};
use crate::memory;

/// One cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Line {
    pub(super) answers: [u64; 4],
    /// 0 is an empty place: no key has NULs only.
    pub(super) keys: [u64; 4],
}

/// No answer in a line.
pub(super) const NOWHERE: u8 = 4;

/// Where in a line the answer of a short or wide key is: by the bits of the key numbers that are equal, twice, plus one
/// for wide lines.
pub(super) const PLACE: [u8; 32] = {
    let mut place = [NOWHERE; 32];
    let mut equal = 1;
    while equal < 16_usize {
        // A key stands once in a line.
        #[expect(clippy::cast_possible_truncation, reason = "below 4")]
        let first = equal.trailing_zeros() as u8;
        place[2 * equal] = first;
        if equal & 0b0011 == 0b0011 {
            place[2 * equal + 1] = 0;
        } else if equal & 0b1100 == 0b1100 {
            place[2 * equal + 1] = 2;
        }
        equal += 1;
    }
    place
};

/// Which key numbers of a line equal those at the same place of the key.
const ALL: usize = 0b1111;

/// Lines of one width, or of two in turn.
#[derive(Debug)]
pub(super) struct Lines {
    all: Vec<Line>,
    widths: usize,
    /// Shifts a mixed key down to the number of its line among those of its width.
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
    /// Empty lines of one width or two, two to the power of `lines_log2` for each.
    pub(super) fn new(widths: usize, lines_log2: u32) -> Self {
        let lines_log2 = lines_log2.clamp(FEWEST_LOG2, MOST_LOG2);
        let number = widths << lines_log2;
        let mut all = memory::vec_with_capacity(number);
        all.resize(number, Line::default());
        Self {
            all,
            widths,
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

    /// All lines, and the shift from a mixed key to a line's number.
    #[inline]
    pub(super) fn parts(&self) -> (&[Line], u32) {
        (&self.all, self.shift)
    }

    /// Which of the widths here a key has.
    fn which(&self, key: &Key) -> usize {
        key.width as usize % self.widths
    }

    /// The number of the line that a key belongs to.
    #[expect(clippy::cast_possible_truncation, reason = "shifted down")]
    fn line_of(&self, key: &Key) -> usize {
        self.widths * (key.mixed() >> self.shift) as usize + self.which(key)
    }

    /// The other line that may hold what belongs to this one.
    fn next(&self, line: usize) -> usize {
        line ^ self.widths
    }

    /// Asks for the line of a key to be brought near.
    pub(super) fn prefetch(&self, key: &Key) {
        if let Some(line) = self.all.get(self.line_of(key)) {
            memory::prefetch(line);
        }
    }

    /// The answer for a key, in its line or the next. From there it changes places with one in its own line; all that is
    /// in either line belongs to one of the two.
    pub(super) fn get(&mut self, key: &Key) -> Option<Answer> {
        let own = self.line_of(key);
        if let Some(at) = self.place_in(own, key) {
            return Some(self.answer(own, at, key.width));
        }
        let next = self.next(own);
        let from = self.place_in(next, key)?;
        let answer = self.answer(next, from, key.width);
        let to = self.next_turn(key.width);
        let numbers = key.width.numbers();
        let [mut own_line, mut next_line] = [self.all[own], self.all[next]];
        own_line.keys[to..to + numbers].swap_with_slice(&mut next_line.keys[from..from + numbers]);
        own_line.answers[to..to + numbers]
            .swap_with_slice(&mut next_line.answers[from..from + numbers]);
        self.all[own] = own_line;
        self.all[next] = next_line;
        Some(answer)
    }

    /// Where in a line a key is.
    fn place_in(&self, line: usize, key: &Key) -> Option<usize> {
        let numbers = key.width.numbers();
        let keys = &self.all.get(line)?.keys;
        let same = |at: &usize| (0..numbers).all(|n| keys[at + n] == key.numbers[n]);
        (0..4).step_by(numbers).find(same)
    }

    fn answer(&self, line: usize, at: usize, width: Width) -> Answer {
        let mut answer = Answer::default();
        let numbers = width.numbers();
        answer[..numbers].copy_from_slice(&self.all[line].answers[at..at + numbers]);
        answer
    }

    /// Remembers the answer for a key; false if there is no room nearby. When about half of the places are taken the
    /// lines are doubled, as long as there are fewer than two to the power of `most_log2`; from then on entries are given
    /// up.
    pub(super) fn insert(&mut self, key: &Key, answer: &Answer, most_log2: u32) -> bool {
        // Wide lines have fewer places, so that more of them are full at the same filling.
        let most_filled = [5, 4, 4][key.width as usize] << self.lines_log2();
        let well_filled = 2 * self.filled[self.which(key)] > most_filled;
        if well_filled && self.lines_log2() < most_log2.min(MOST_LOG2) {
            self.double();
            return self.add(key, answer);
        }
        let added = self.add(key, answer);
        if !added && well_filled {
            let at = self.next_turn(key.width);
            self.put(self.line_of(key), at, key, answer);
        }
        added || well_filled
    }

    /// Remembers an answer if there is room for it.
    pub(super) fn add(&mut self, key: &Key, answer: &Answer) -> bool {
        let numbers = key.width.numbers();
        let own = self.line_of(key);
        for line in [own, self.next(own)] {
            let Some(keys) = self.all.get(line).map(|line| &line.keys) else {
                return false;
            };
            if let Some(at) = (0..4).step_by(numbers).find(|&at| keys[at] == 0) {
                let which = self.which(key);
                self.filled[which] += numbers;
                self.put(line, at, key, answer);
                return true;
            }
        }
        false
    }

    fn put(&mut self, line: usize, at: usize, key: &Key, answer: &Answer) {
        let numbers = key.width.numbers();
        let line = &mut self.all[line];
        line.keys[at..at + numbers].copy_from_slice(&key.numbers[..numbers]);
        line.answers[at..at + numbers].copy_from_slice(&answer[..numbers]);
    }

    /// The place of the entry of a full line that goes next.
    fn next_turn(&mut self, width: Width) -> usize {
        self.turn = self.turn.wrapping_add(1);
        self.turn * width.numbers() % 4
    }

    fn double(&mut self) {
        let mut larger = Self::new(self.widths, self.lines_log2() + 1);
        for (number, line) in self.all.iter().enumerate() {
            let width = match (self.widths, number % self.widths) {
                (1, _) => Width::Whole,
                (_, 0) => Width::Short,
                _ => Width::Wide,
            };
            let numbers = width.numbers();
            for at in (0..4).step_by(numbers) {
                if line.keys[at] != 0 {
                    // Repeated as a key is.
                    let key = Key {
                        numbers: std::array::from_fn(|n| line.keys[at + n % numbers]),
                        width,
                    };
                    larger.add(&key, &self.answer(number, at, width));
                }
            }
        }
        *self = larger;
    }
}

/// All [`Lines`], to look up in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    /// Short and wide lines in turn.
    pub(super) near: &'a [Line],
    pub(super) near_shift: u32,
    pub(super) whole: &'a [Line],
    pub(super) whole_shift: u32,
}

impl View<'_> {
    /// Stores the ids of the first `length` of `bytes` at the start of `room`, if their own line knows them, and answers
    /// how many there are; what is stored after them has no meaning. No byte of them may be NUL. In plain code.
    #[inline]
    pub(crate) fn get(
        &self,
        bytes: &[u8; LONGEST_WHOLE],
        length: usize,
        room: &mut Room,
    ) -> Option<usize> {
        if length > LONGEST_WHOLE {
            return None;
        }
        let key = Key::of_first(bytes, length);
        let mixed = key.mixed();
        #[expect(clippy::cast_possible_truncation, reason = "shifted down")]
        let (line, wide) = if key.width == Width::Whole {
            (self.whole.get((mixed >> self.whole_shift) as usize)?, 0)
        } else {
            let wide = key.width as usize;
            let line = 2 * (mixed >> self.near_shift) as usize + wide;
            (self.near.get(line)?, wide)
        };
        let equal = (0..4)
            .map(|n| usize::from(line.keys[n] == key.numbers[n]) << n)
            .sum::<usize>();
        if key.width == Width::Whole {
            if equal != ALL {
                return None;
            }
            room.as_chunks_mut::<IDS_A_NUMBER>()
                .0
                .iter_mut()
                .zip(line.answers)
                .for_each(|(ids, number)| *ids = unpack(number));
            return Some(count(line.answers[0]));
        }
        let numbers = line.answers.get(usize::from(PLACE[2 * equal + wide])..)?;
        let (&first, rest) = numbers.split_first()?;
        let (ids, more) = room.split_first_chunk_mut::<IDS_A_NUMBER>()?;
        *ids = unpack(first);
        if wide == 1
            && let (Some(ids), Some(&second)) = (more.first_chunk_mut(), rest.first())
        {
            *ids = unpack(second);
        }
        Some(count(first))
    }
}
