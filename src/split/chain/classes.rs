//! Splitting by classes of characters, in one pass for all rules of a chain.
//!
//! Where each rule looks for single characters of a class, the classes decide everything. A rule that removes a character
//! leaves it out of all pieces, and a rule that isolates it makes it a piece of its own. Other characters form one piece
//! with their neighbours of the same classes. BERT's pre-tokenizer is such a chain.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use super::{Behavior, Rule};
use crate::checkpoint::{self, Interrupted};
use crate::split::masks::{self, Classify};
use crate::split::set;
use crate::unicode::character::decode;
use crate::util::block::{BLOCK_LEN, Block, Spans};

/// Code points of a page.
const PAGE: usize = 1 << 8;

/// Bytes between two passes of the checkpoint: a few milliseconds.
const CHECK_INTERVAL: usize = 1 << 20;

/// The codes of characters that are in no piece, and in one by themselves. Others, which are even, are those of groups.
const REMOVED: u8 = 0;
const SINGLE: u8 = 1;
const FIRST_GROUP: u8 = 2;

/// The most rules: a group has a bit for each.
const MAX_RULES: usize = 6;

/// The code of each character.
pub struct Classes {
    /// The page of each 256 code points.
    index: Vec<u8>,
    pages: Vec<[u8; PAGE]>,
    /// The codes of ASCII, and all bits of any code.
    ascii: [[u8; 64]; 2],
    used: u8,
}

impl fmt::Debug for Classes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pages = self.pages.len();
        f.debug_struct("Classes")
            .field("pages", &pages)
            .finish_non_exhaustive()
    }
}

impl Classes {
    /// Returns the codes of rules; `None` if one looks for more than a character, or merges a match with its neighbour.
    pub(super) fn of(rules: &[Rule]) -> Option<Self> {
        if rules.is_empty() || rules.len() > MAX_RULES {
            return None;
        }
        let mut codes = vec![FIRST_GROUP; char::MAX as usize + 1];
        for (number, rule) in rules.iter().enumerate() {
            let mut set = set::of_fancy(&rule.pattern, false)?;
            let apply: &dyn Fn(&mut u8) = match (rule.behavior, rule.invert) {
                (Behavior::Isolated, _) => &|code| *code = (*code).min(SINGLE),
                (Behavior::Removed, false) => &|code| *code = REMOVED,
                (Behavior::Removed, true) => {
                    // Others are removed, and each of these is a piece.
                    for range in set.ranges() {
                        let range = range.start() as usize..=range.end() as usize;
                        codes[range]
                            .iter_mut()
                            .for_each(|code| *code = (*code).min(SINGLE));
                    }
                    set.negate();
                    &|code| *code = REMOVED
                }
                (Behavior::Contiguous, _) => &|code| {
                    if *code >= FIRST_GROUP {
                        *code += FIRST_GROUP << number;
                    }
                },
                _ => return None,
            };
            for range in set.ranges() {
                let range = range.start() as usize..=range.end() as usize;
                codes[range].iter_mut().for_each(apply);
            }
        }
        let used = codes.iter().fold(0, |used, code| used | code);
        let (mut pages, mut index) = (Vec::new(), Vec::with_capacity(codes.len() / PAGE));
        let mut numbers = HashMap::new();
        for page in codes.as_chunks::<PAGE>().0 {
            let number = *numbers.entry(page).or_insert_with(|| {
                pages.push(*page);
                pages.len() - 1
            });
            index.push(u8::try_from(number).ok()?);
        }
        let codes = pages[usize::from(index[0])];
        let ascii = [0, 64].map(|first| std::array::from_fn(|byte| codes[first + byte]));
        Some(Self {
            index,
            pages,
            ascii,
            used,
        })
    }

    /// Returns the code of a character.
    fn code(&self, point: usize) -> u8 {
        let page = usize::from(self.index[point / PAGE]);
        self.pages[page][point % PAGE]
    }

    /// Returns whether two characters that stand beside each other are never in one piece.
    pub(in crate::split) fn separates(&self, before: u32, after: u32) -> bool {
        let [before, after] = [before, after].map(|point| self.code(point as usize));
        before != after || before < FIRST_GROUP
    }

    /// Returns the pieces of a block with which the rest of a text begins, `length` bytes. A piece that does not end inside of
    /// the block is not among them.
    #[expect(
        clippy::inline_always,
        reason = "compiled anew for each tier, with its instructions"
    )]
    #[inline(always)]
    pub(in crate::split) fn spans(
        &self,
        classify: impl Classify,
        block: &Block,
        length: usize,
    ) -> Found {
        let (mut planes, non_ascii, continuation) = classify.codes(block, &self.ascii, self.used);
        if non_ascii != 0 {
            self.add_non_ascii(block, non_ascii & !continuation, &mut planes);
        }
        let inside = 1_u64.checked_shl(length.try_into().unwrap_or(u32::MAX));
        let inside = inside.map_or(u64::MAX, |end| end - 1);
        // Bytes of a piece, and those that are of another piece than the byte before them.
        let (mut any, mut borders) = (0, 0);
        for (bit, plane) in planes.iter_mut().enumerate() {
            if self.used >> bit & 1 != 0 {
                *plane &= inside;
                any |= *plane;
                borders |= *plane ^ *plane << 1;
            }
        }
        borders |= (planes[0] | planes[0] << 1) & !continuation;
        let (mut starts, ends) = (borders & any, borders & any << 1);
        if starts == 0 {
            // Not beyond the start of the last character.
            let last = BLOCK_LEN - 1 - (!continuation).leading_zeros() as usize;
            return Found::Gap(if length <= last { length } else { last.max(1) });
        }
        let open = BLOCK_LEN - 1 - starts.leading_zeros() as usize;
        if ends == 0 {
            return if open == 0 {
                Found::Unsure
            } else {
                Found::Gap(open)
            };
        }
        let mut end = BLOCK_LEN - 1 - ends.leading_zeros() as usize;
        if open >= end {
            starts ^= 1 << open;
            end = open;
        }
        Found::Pieces(Spans::apart(starts, ends), end)
    }

    /// Adds the codes of the characters that begin at the bits of `firsts` to the masks of their bits.
    #[inline(never)]
    fn add_non_ascii(&self, block: &Block, firsts: u64, planes: &mut [u64; 8]) {
        for (point, bytes) in masks::characters(block, firsts) {
            let mut code = self.code(point as usize);
            while code != 0 {
                planes[code.trailing_zeros() as usize] |= bytes;
                code &= code - 1;
            }
        }
    }

    /// Returns the next piece from an offset on, where a piece may start.
    ///
    /// # Errors
    /// [`Interrupted`] from the checkpoint.
    pub(in crate::split) fn piece(
        &self,
        text: &[u8],
        offset: usize,
    ) -> Result<Option<Range<usize>>, Interrupted> {
        let (mut at, mut check) = (offset, offset + CHECK_INTERVAL);
        let mut open = None;
        while at < text.len() {
            let (point, length) = match text[at] {
                byte if byte.is_ascii() => (byte.into(), 1),
                _ => decode(&text[at..]).expect("it is UTF-8"),
            };
            let code = self.code(point as usize);
            match open {
                Some((start, of)) if of != code => return Ok(Some(start..at)),
                None if code == SINGLE => return Ok(Some(at..at + length)),
                None if code != REMOVED => open = Some((at, code)),
                _ => {}
            }
            at += length;
            if at >= check {
                check = at + CHECK_INTERVAL;
                checkpoint::pass()?;
            }
        }
        Ok(open.map(|(start, _)| start..at))
    }
}

/// Pieces at the beginning of a block.
pub(in crate::split) enum Found {
    /// Pieces, and where one may start behind them.
    Pieces(Spans<true>, usize),
    /// No piece, up to where one may start.
    Gap(usize),
    /// A piece that does not end inside of the block.
    Unsure,
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::split::Splitter;
    use crate::split::chain::cascade::Cascade;
    use crate::split::chain::{Pattern, Step};
    use crate::util::tier::Tier;

    /// A generator of numbers, the same in every run.
    fn numbers() -> impl FnMut(usize) -> usize {
        let mut state = 7_u64;
        move |below| {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            usize::try_from(state >> 33).expect("it has 31 bits") % below
        }
    }

    fn steps() -> Vec<Step> {
        let behaviors = [Behavior::Isolated, Behavior::Removed, Behavior::Contiguous];
        let split = |pattern: Pattern, behavior, invert| Step::Split {
            pattern,
            behavior,
            invert,
        };
        let mut steps = vec![
            Step::WhitespaceSplit,
            Step::Digits { individual: true },
            Step::Digits { individual: false },
        ];
        for behavior in behaviors {
            steps.push(Step::Punctuation(behavior));
            for invert in [false, true] {
                steps.push(split(Pattern::Text(" ".to_owned()), behavior, invert));
                steps.push(split(
                    Pattern::Regex("[a-zé中]".to_owned()),
                    behavior,
                    invert,
                ));
            }
        }
        steps
    }

    fn pieces(splitter: &Splitter, text: &str) -> Vec<Range<usize>> {
        let (mut all, mut chunk) = (Vec::new(), Vec::new());
        let mut pieces = splitter.pieces(text);
        while pieces.next_chunk(&mut chunk).expect("nothing fails") {
            all.append(&mut chunk);
        }
        all
    }

    #[test]
    fn pieces_are_those_of_rules_one_after_another() {
        let mut number = numbers();
        let all = steps();
        let parts = [
            "a", "the", " ", "  ", "\n", "\u{85}", ".", "!?", "$", "7", "42", "é", "中", "中文",
            "\u{3000}", "x.y", "Ⅷ",
        ];
        for _ in 0..400 {
            let rules: Vec<Rule> = (0..=number(3))
                .map(|_| {
                    all[number(all.len())]
                        .rule()
                        .expect("known")
                        .expect("it splits")
                })
                .collect();
            let classes = Classes::of(&rules).expect("all are classes");
            let classes = Arc::new(classes);
            let cascade = Splitter::Cascade(Arc::new(Cascade::new(&rules).expect("known")));
            for size in [0, 1, 5, 40, 700] {
                // Long stretches of ASCII, too: blocks are looked at together.
                let few = if number(2) == 0 { 11 } else { parts.len() };
                let text: String = (0..size).map(|_| parts[number(few)]).collect();
                compare(&classes, &cascade, &text);
            }
            compare(&classes, &cascade, &("word".repeat(5000) + " end"));
        }
    }

    /// Compares the pieces of a text as each tier finds them with those of the rules, one after another.
    fn compare(classes: &Arc<Classes>, cascade: &Splitter, text: &str) {
        let expected = pieces(cascade, text);
        for tier in Tier::ALL {
            let splitter = Splitter::Classes(Arc::clone(classes), tier);
            assert_eq!(
                pieces(&splitter, text),
                expected,
                "{text:?} by {cascade:?} on {tier:?}"
            );
        }
    }

    #[test]
    fn others_are_left_to_the_cascade() {
        let merged = Step::Punctuation(Behavior::MergedWithNext);
        for step in [merged, Step::Whitespace, Step::Gpt2] {
            let rule = step.rule().expect("known").expect("it splits");
            assert!(Classes::of(&[rule]).is_none(), "{step:?}");
        }
    }
}
