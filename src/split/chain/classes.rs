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
use crate::split::set;
use crate::unicode::character::decode;
use crate::util::memory::Growable;

/// Code points of a page.
const PAGE: usize = 1 << 8;

/// Bytes of ASCII that are looked at together.
const BLOCK: usize = 64;

/// Bytes between two passes of the checkpoint: a few milliseconds.
const CHECK_INTERVAL: usize = 1 << 20;

/// The codes of characters that are in no piece, and in one by themselves. Others are the numbers of groups.
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
    /// Whether all characters that are in pieces with others are of one group.
    has_one_group: bool,
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
        let has_one_group = codes.iter().all(|&code| code <= FIRST_GROUP);
        let (mut pages, mut index) = (Vec::new(), Vec::with_capacity(codes.len() / PAGE));
        let mut numbers = HashMap::new();
        for page in codes.as_chunks::<PAGE>().0 {
            let number = *numbers.entry(page).or_insert_with(|| {
                pages.push(*page);
                pages.len() - 1
            });
            index.push(u8::try_from(number).ok()?);
        }
        Some(Self {
            index,
            pages,
            has_one_group,
        })
    }

    /// Returns the code of the character at a place that is not of ASCII, and its length.
    fn beyond_ascii(&self, text: &[u8], at: usize) -> (u8, usize) {
        let (point, length) = decode(&text[at..]).expect("it is UTF-8");
        let point = point as usize;
        let page = usize::from(self.index[point / PAGE]);
        (self.pages[page][point % PAGE], length)
    }

    /// Appends the pieces that end in a block of ASCII at a place, of which one may have been `open` before it. Returns where
    /// the one that is open behind it starts.
    fn fill_block(
        &self,
        block: &[u8; BLOCK],
        at: usize,
        open: Option<usize>,
        pieces: &mut Vec<Range<usize>>,
    ) -> Option<usize> {
        let codes = &self.pages[usize::from(self.index[0])];
        let (mut single, mut words) = (0_u64, 0_u64);
        for (place, &byte) in block.iter().enumerate() {
            let code = codes[usize::from(byte)];
            single |= u64::from(code == SINGLE) << place;
            words |= u64::from(code >= FIRST_GROUP) << place;
        }
        pieces.with_room(1 + BLOCK);
        let goes_on = open.is_some() && words & 1 != 0;
        let mut starts = words & !(words << 1 | u64::from(goes_on)) | single;
        // Of a word that reaches the end of the block, the end is not known.
        let mut lasts = words & !(words >> 1) & !(1 << (BLOCK - 1)) | single;
        if let Some(start) = open {
            if !goes_on {
                pieces.push(start..at);
            } else if lasts == 0 {
                return open;
            } else {
                pieces.push(start..at + lasts.trailing_zeros() as usize + 1);
                lasts &= lasts - 1;
            }
        }
        while lasts != 0 {
            let (start, last) = (starts.trailing_zeros(), lasts.trailing_zeros());
            pieces.push(at + start as usize..at + last as usize + 1);
            starts &= starts - 1;
            lasts &= lasts - 1;
        }
        (starts != 0).then(|| at + starts.trailing_zeros() as usize)
    }

    /// Appends the next pieces, up to where there are `most` of them, or that many bytes are behind it.
    ///
    /// # Errors
    /// [`Interrupted`] from the checkpoint.
    pub(in crate::split) fn fill(
        &self,
        text: &str,
        offset: &mut usize,
        (most, bytes): (usize, usize),
        pieces: &mut Vec<Range<usize>>,
    ) -> Result<(), Interrupted> {
        let text = text.as_bytes();
        let ascii = &self.pages[usize::from(self.index[0])];
        let limit = *offset + bytes;
        let mut check = *offset + CHECK_INTERVAL;
        let (mut at, mut start, mut group) = (*offset, *offset, REMOVED);
        // Where a block of ASCII may begin.
        let mut next_block = if self.has_one_group { at } else { text.len() };
        while at < text.len() {
            if at >= next_block
                && at < limit
                && pieces.len() < most
                && let Some(block) = text[at..].first_chunk()
            {
                if let Some(last) = block.iter().rposition(|byte| !byte.is_ascii()) {
                    next_block = at + last + 1;
                } else {
                    let open = (group >= FIRST_GROUP).then_some(start);
                    let open = self.fill_block(block, at, open, pieces);
                    group = open.map_or(REMOVED, |_| FIRST_GROUP);
                    start = open.unwrap_or(at);
                    at += BLOCK;
                    continue;
                }
            }
            let first = text[at];
            let (code, length) = if first.is_ascii() {
                (ascii[usize::from(first)], 1)
            } else {
                self.beyond_ascii(text, at)
            };
            if code != group || code == SINGLE {
                if group >= FIRST_GROUP {
                    pieces.push(start..at);
                }
                group = REMOVED;
                if pieces.len() >= most || at >= limit {
                    break;
                }
                if at >= check {
                    check = at + CHECK_INTERVAL;
                    checkpoint::pass()?;
                }
                if code == SINGLE {
                    pieces.push(at..at + length);
                } else {
                    (start, group) = (at, code);
                }
            }
            at += length;
        }
        if group >= FIRST_GROUP {
            pieces.push(start..at);
        }
        *offset = at;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::split::Splitter;
    use crate::split::chain::cascade::Cascade;
    use crate::split::chain::{Pattern, Step};

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
            let classes = Splitter::Classes(Arc::new(classes));
            let cascade = Splitter::Cascade(Arc::new(Cascade::new(&rules).expect("known")));
            for size in [0, 1, 5, 40, 700] {
                // Long stretches of ASCII, too: blocks are looked at together.
                let few = if number(2) == 0 { 11 } else { parts.len() };
                let text: String = (0..size).map(|_| parts[number(few)]).collect();
                assert_eq!(
                    pieces(&classes, &text),
                    pieces(&cascade, &text),
                    "{text:?} by {rules:?}"
                );
            }
            let long = "word".repeat(5000) + " end";
            assert_eq!(
                pieces(&classes, &long),
                pieces(&cascade, &long),
                "{rules:?}"
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
