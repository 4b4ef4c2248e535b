//! Pieces of at most 32 bytes → their ids, one cache line a look-up.
//!
//! A line holds four numbers of keys and the four of their answers, whose ids are as many as their [packing](Packing) says:
//!
//! | width | pieces | a key, an answer | entries | ids |
//! |---|---|---|---|---|
//! | short | 1–8 bytes | one number | four | up to three, or four |
//! | wide | 9–16 bytes, and shorter ones with more ids | two numbers | two | up to six, or eight |
//! | whole | 17–32 bytes, and wide ones with more ids | four numbers | one | up to twelve, or sixteen |
//!
//! Short and wide lines alternate and are looked up in one way, so that the processor need not foresee which of them
//! comes next: a key is compared as two numbers that alternate, which for a short piece are the same. What finds no room
//! in its line goes to the next line of its width.

use bytemuck::Zeroable;

use super::key::{Key, Width};
use super::long::LongPieces;
use super::packed_ids::{Answer, Packing};
use super::probe::Spot;
use crate::util::memory::{self, LargeVec};

/// One cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Line {
    pub(super) answers: [u64; 4],
    /// 0 is an empty place: no key has NULs only.
    pub(super) keys: [u64; 4],
}

#[expect(unsafe_code, reason = "a fresh table is not touched")]
// SAFETY: it consists of numbers.
unsafe impl Zeroable for Line {}

impl Line {
    /// Where in the line a key is.
    #[inline]
    fn place_of(&self, key: &Key) -> Option<usize> {
        let equal = (0..4).fold(0, |equal, n| {
            equal | usize::from(self.keys[n] == key.numbers[n]) << n
        });
        match key.width {
            Width::Short | Width::Wide => place(equal, key.width as usize),
            Width::Whole => (equal == ALL).then_some(0),
        }
    }

    /// The first place without a key of that width.
    #[inline]
    fn empty_place(&self, width: Width) -> Option<usize> {
        let empty = (0..4).fold(0, |empty, n| empty | u32::from(self.keys[n] == 0) << n);
        let starts = match width {
            Width::Short => 0b1111,
            Width::Wide => 0b0101,
            Width::Whole => 0b0001,
        };
        match (empty & starts).trailing_zeros() as usize {
            at @ 0..4 => Some(at),
            _ => None,
        }
    }

    /// The answer to the key at a place.
    #[inline]
    fn answer(&self, at: usize, width: Width) -> Answer {
        let mut answer = Answer::default();
        let numbers = width.numbers();
        answer[..numbers].copy_from_slice(&self.answers[at..at + numbers]);
        answer
    }
}

/// No answer in a line.
const NOWHERE: u8 = 4;

/// What [`place`] answers: by the bits, twice, plus one for wide lines.
const PLACE: [u8; 32] = {
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

/// Where in a line the answer of a short or wide key is, by the bits of the key numbers that are equal, and 1 for wide
/// lines.
#[inline]
pub(super) fn place(equal: usize, wide: usize) -> Option<usize> {
    let place = usize::from(PLACE[2 * equal + wide]);
    (place < usize::from(NOWHERE)).then_some(place)
}

/// Which key numbers of a line equal those at the same place of the key.
pub(super) const ALL: usize = 0b1111;

/// Lines of one width, or of two in turn.
#[derive(Debug)]
pub(super) struct Lines {
    all: LargeVec<Line>,
    widths: usize,
    /// How many lines of each width there may be, as a power of two.
    most_log2: u32,
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

/// Two neighbours of each of two widths.
const MOST_IN_GROUP: usize = 4;

/// From so many on, which take a MiB, memory for all that may come is asked for at once. It is not touched before it is
/// needed, but then in huge pages, which would be too large for fewer.
const MANY: usize = (1 << 20) / size_of::<Line>();

/// Room for how many lines is asked for where there are `now` so many, and `most` at the most.
fn room_for(now: usize, most: usize) -> usize {
    if now < MANY { now } else { most.max(now) }
}

impl Lines {
    /// Empty lines of one width or two, two to the power of `lines_log2` for each, or of `most_log2` at most.
    pub(super) fn new(widths: usize, lines_log2: u32, most_log2: u32) -> Self {
        let most_log2 = most_log2.clamp(FEWEST_LOG2, MOST_LOG2);
        let lines_log2 = lines_log2.clamp(FEWEST_LOG2, most_log2);
        let now = widths << lines_log2;
        let all = memory::try_zeros(now, room_for(now, widths << most_log2))
            .unwrap_or_else(|_| memory::zeros(now));
        Self {
            all,
            widths,
            most_log2,
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
        size_of::<Line>() * self.all.len()
    }

    /// What looking up needs, borrowed once for many look-ups.
    #[inline]
    pub(super) fn view(&self) -> LinesView<'_> {
        LinesView {
            all: &self.all,
            widths: self.widths,
            shift: self.shift,
        }
    }

    /// Remembers the answer for a key; false if there is no room nearby. When about half of the places are taken the
    /// lines are doubled, as long as there may be more; from then on entries are given up.
    pub(super) fn insert(&mut self, key: &Key, answer: &Answer) -> bool {
        // Wide lines have fewer places, so that more of them are full at the same filling.
        let most_filled = [5, 4, 4][key.width as usize] << self.lines_log2();
        let well_filled = 2 * self.filled[self.view().which(key)] > most_filled;
        if well_filled && self.lines_log2() < self.most_log2 && self.double() {
            return self.add(key, answer);
        }
        let added = self.add(key, answer);
        if !added && well_filled {
            let at = self.next_turn(key.width);
            let [own, _] = self.view().places(key);
            self.put(own, at, key, answer);
        }
        added || well_filled
    }

    /// Remembers an answer if there is room for it.
    pub(super) fn add(&mut self, key: &Key, answer: &Answer) -> bool {
        let numbers = key.width.numbers();
        for line in self.view().places(key) {
            let empty = self.all.get(line).map(|line| line.empty_place(key.width));
            if let Some(at) = empty.flatten() {
                let which = self.view().which(key);
                self.filled[which] += numbers;
                self.put(line, at, key, answer);
                return true;
            }
        }
        false
    }

    /// As [`add`](Self::add), at a spot of a near line, where a number is all of the answer.
    pub(super) fn add_at(&mut self, spot: &Spot, answer: u64) {
        let wide = spot.line as usize % 2;
        for line in [spot.line, spot.line ^ 2] {
            let Some(line) = self.all.get_mut(line as usize) else {
                break;
            };
            let Some(at) = line.empty_place([Width::Short, Width::Wide][wide]) else {
                continue;
            };
            // Of a short key, both are in one place, and the first number stays.
            for (at, key, answer) in [
                (at + wide, spot.numbers[1], 0),
                (at, spot.numbers[0], answer),
            ] {
                line.keys[at % 4] = key;
                line.answers[at % 4] = answer;
            }
            self.filled[wide] += 1 + wide;
            break;
        }
    }

    fn put(&mut self, line: usize, at: usize, key: &Key, answer: &Answer) {
        let line = &mut self.all[line];
        let numbers = key.numbers.iter().zip(answer).take(key.width.numbers());
        for (n, (key, answer)) in numbers.enumerate() {
            // The places of a key are those of one line; the remainder tells the compiler so.
            line.keys[(at + n) % 4] = *key;
            line.answers[(at + n) % 4] = *answer;
        }
    }

    /// The place of the entry of a full line that goes next.
    fn next_turn(&mut self, width: Width) -> usize {
        self.turn = self.turn.wrapping_add(1);
        self.turn * width.numbers() % 4
    }

    /// Twice as many lines, in place: no entry moves further than its group, two neighbours of each width that become four;
    /// those of either half fit into the two that are theirs. So memory that is new is touched once. In a fresh process, where the system must find that, a table of its own for
    /// each size took up to a third of the time of a first pass. False if there is no memory, and none will be asked for again.
    fn double(&mut self) -> bool {
        let before = self.all.len();
        if self.all.capacity() < 2 * before {
            let room = room_for(2 * before, self.widths << self.most_log2);
            let Ok(mut larger) = memory::try_large_vec(room) else {
                self.most_log2 = self.lines_log2();
                return false;
            };
            larger.append(&mut self.all);
            self.all = larger;
        }
        self.all.resize(2 * before, Line::default());
        self.shift -= 1;
        self.filled = [0; 2];
        let group = 2 * self.widths;
        // The last group first, for the new places of a group are those of later ones.
        for start in (0..before).step_by(group).rev() {
            let mut lines = [Line::default(); MOST_IN_GROUP];
            lines[..group].copy_from_slice(&self.all[start..start + group]);
            self.all[2 * start..2 * (start + group)].fill(Line::default());
            for (number, line) in lines[..group].iter().enumerate() {
                self.add_all_of(line, self.width_of(number));
            }
        }
        true
    }

    /// The width of a line, by its number.
    fn width_of(&self, number: usize) -> Width {
        match (self.widths, number % self.widths) {
            (1, _) => Width::Whole,
            (_, 0) => Width::Short,
            _ => Width::Wide,
        }
    }

    fn add_all_of(&mut self, line: &Line, width: Width) {
        let numbers = width.numbers();
        for at in (0..4).step_by(numbers) {
            if line.keys[at] != 0 {
                // Repeated as a key is.
                let key = Key {
                    numbers: std::array::from_fn(|n| line.keys[at + n % numbers]),
                    width,
                };
                self.add(&key, &line.answer(at, width));
            }
        }
    }
}

/// [`Lines`] to look up in.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinesView<'a> {
    pub(super) all: &'a [Line],
    widths: usize,
    pub(super) shift: u32,
}

impl LinesView<'_> {
    /// Which of the widths here a key has.
    #[inline]
    fn which(&self, key: &Key) -> usize {
        key.width as usize % self.widths
    }

    /// The line that a key belongs to, and the next, which may hold it too.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "shifted down")]
    pub(super) fn places(&self, key: &Key) -> [usize; 2] {
        let own = self.widths * (key.mixed() >> self.shift) as usize + self.which(key);
        [own, own ^ self.widths]
    }

    /// Asks for the lines that may hold a key to be brought near.
    #[inline]
    pub(super) fn prefetch(&self, key: &Key) {
        for line in self.places(key) {
            self.prefetch_line(line);
        }
    }

    /// Asks for a line to be brought near.
    #[inline]
    pub(super) fn prefetch_line(&self, number: usize) {
        if let Some(line) = self.all.get(number) {
            memory::prefetch(line);
        }
    }

    /// The answer for a key.
    #[inline]
    pub(super) fn get(&self, key: &Key) -> Option<Answer> {
        self.places(key).into_iter().find_map(|line| {
            let line = self.all.get(line)?;
            Some(line.answer(line.place_of(key)?, key.width))
        })
    }
}

/// A table, to look up in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    /// Short and wide lines in turn.
    pub(super) near: LinesView<'a>,
    pub(super) whole: LinesView<'a>,
    /// What no line holds.
    pub(super) long: &'a LongPieces,
    pub(super) packing: Packing,
}

impl<'a> View<'a> {
    /// The lines of a width.
    #[inline]
    pub(super) fn of(&self, width: Width) -> LinesView<'a> {
        match width {
            Width::Short | Width::Wide => self.near,
            Width::Whole => self.whole,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::key::{Key, Width};
    use super::super::packed_ids::Packing;
    use super::{FEWEST_LOG2, Lines};
    use crate::token::TokenId;

    /// All that is remembered while lines are doubled again and again is there in the end, and is what it was.
    #[test]
    fn doubled_lines_hold_what_they_held() -> Result<(), Box<dyn std::error::Error>> {
        for (widths, length, width) in [
            (2, 7, Width::Short),
            (2, 15, Width::Wide),
            (1, 31, Width::Whole),
        ] {
            let mut lines = Lines::new(widths, 0, 20);
            let pack = |number| Packing::Three.pack(&[number]);
            let key = |number: TokenId| Key::of(format!("{number:_>length$}").as_bytes());
            let (numbers, mut stored) = (30_000, 0);
            for number in 0..numbers {
                let key = key(number).ok_or("no key")?;
                assert!(key.width == width);
                stored += u32::from(lines.insert(&key, &pack(number).ok_or("no answer")?));
            }
            assert!(lines.lines_log2() > FEWEST_LOG2 + 6);
            let mut found = 0;
            for number in 0..numbers {
                if let Some(answer) = lines.view().get(&key(number).ok_or("no key")?) {
                    assert_eq!(Some(answer), pack(number));
                    found += 1;
                }
            }
            assert_eq!(found, stored, "{width:?}");
            assert!(stored > numbers / 5 * 4, "{width:?} {stored}");
        }
        Ok(())
    }
}
