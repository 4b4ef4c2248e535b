//! Splitting by classes of characters, in one pass for all rules of a chain.
//!
//! Where each rule looks for single characters of a class, the classes decide everything. A rule that removes a character
//! leaves it out of all pieces, and a rule that isolates it makes it a piece of its own. Other characters form one piece
//! with their neighbours of the same classes. BERT's pre-tokenizer is such a chain.
//!
//! So is a pattern whose alternatives are runs of classes, of which no two share a character. If texts are looked for before
//! these, as CLIP's pattern does for contractions, each place where a piece begins is compared with them.

use std::ops::Range;

use super::alternatives::Alternatives;
use super::codes::{ByClasses, CODE_POINTS, Codes, Found, Planes, inside};
use super::{Behavior, Rule};
use crate::checkpoint::{self, Interrupted};
use crate::split::masks::{self, Classify};
use crate::unicode::character::decode;
use crate::unicode::set;
use crate::util::block::{BLOCK_LEN, Block, Spans};

/// Bytes between two passes of the checkpoint: a few milliseconds.
const CHECK_INTERVAL: usize = 1 << 20;

/// The codes of characters that are in no piece, and in one by themselves. Others, which are even, are those of groups.
const REMOVED: u8 = 0;
const SINGLE: u8 = 1;
const FIRST_GROUP: u8 = 2;

/// The most rules: a group has a bit for each.
const MAX_RULES: usize = 6;

/// Texts that are pieces where a piece begins with them.
#[derive(Debug)]
struct Texts {
    all: Vec<Box<[u8]>>,
    /// The first bytes of them, at most two.
    first: [u8; 2],
    longest: usize,
}

/// The code of each character, and texts that are looked for before it.
#[derive(Debug)]
pub struct Classes {
    codes: Codes,
    texts: Option<Texts>,
}

impl Classes {
    /// Returns the codes of rules; `None` if one looks for more than a character, or merges a match with its neighbour.
    pub(super) fn of(rules: &[Rule]) -> Option<Self> {
        if let [rule] = rules
            && (rule.behavior, rule.invert) == (Behavior::Removed, true)
            && let Some(alternatives) = Alternatives::of(&rule.pattern)
        {
            return Self::of_alternatives(&alternatives);
        }
        if rules.is_empty() || rules.len() > MAX_RULES {
            return None;
        }
        let mut codes = vec![FIRST_GROUP; CODE_POINTS];
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
        let codes = Codes::of(&codes)?;
        Some(Self { codes, texts: None })
    }

    /// As [`of`](Self::of), of the alternatives of a pattern whose matches are kept, and nothing else.
    fn of_alternatives(alternatives: &Alternatives) -> Option<Self> {
        let Alternatives { texts, runs } = alternatives;
        let mut codes = vec![REMOVED; CODE_POINTS];
        for (run, group) in runs.iter().zip((FIRST_GROUP..).step_by(2)) {
            let code = if run.is_single { SINGLE } else { group };
            for range in run.class.ranges() {
                codes[range.start() as usize..=range.end() as usize].fill(code);
            }
        }
        // Places where a piece may begin with a text are looked for among those where one of a class does.
        let is_in_class = |text: &String| {
            let first = text.chars().next();
            first.is_some_and(|first| codes[first as usize] != REMOVED)
        };
        if runs.len() > MAX_RULES || !texts.iter().all(is_in_class) {
            return None;
        }
        let codes = Codes::of(&codes)?;
        let texts = if texts.is_empty() {
            None
        } else {
            Some(Texts::of(texts)?)
        };
        Some(Self { codes, texts })
    }

    /// Returns whether two characters that stand beside each other are never in one piece.
    pub(in crate::split) fn separates(&self, before: u32, after: u32) -> bool {
        let joins = |texts: &Texts| texts.join(before, after);
        if self.texts.as_ref().is_some_and(joins) {
            return false;
        }
        let [before, after] = [before, after].map(|point| self.codes.code(point));
        before != after || before < FIRST_GROUP
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
            let code = self.codes.code(point);
            if open.is_none()
                && let Some(text) = self.texts.as_ref().and_then(|texts| texts.at(&text[at..]))
            {
                return Ok(Some(at..at + text.len()));
            }
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

impl ByClasses<true> for Classes {
    #[expect(
        clippy::inline_always,
        reason = "compiled anew for each tier, with its instructions"
    )]
    #[inline(always)]
    fn spans(&self, classify: impl Classify, block: &Block, rest: &[u8]) -> Found<true> {
        let length = rest.len();
        let Planes { bits, continuation } = self.codes.planes(classify, block, inside(length));
        // Bytes of a piece, and those that are of another piece than the byte before them.
        let (mut any, mut borders) = (0, 0);
        for (bit, plane) in bits.into_iter().enumerate() {
            if self.codes.used() >> bit & 1 != 0 {
                any |= plane;
                borders |= plane ^ plane << 1;
            }
        }
        borders |= (bits[0] | bits[0] << 1) & !continuation;
        let (mut starts, mut ends) = (borders & any, borders & any << 1);
        if let Some(texts) = &self.texts {
            texts.in_block(block, rest, any, &mut starts, &mut ends);
        }
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
}

impl Texts {
    /// Returns the search for texts; `None` if they begin with more than two bytes, or one is too long for a block.
    fn of(texts: &[String]) -> Option<Self> {
        let mut first: Vec<u8> = texts.iter().map(|text| text.as_bytes()[0]).collect();
        first.sort_unstable();
        first.dedup();
        let first = match *first {
            [one] => [one, one],
            [one, other] => [one, other],
            _ => return None,
        };
        let longest = texts.iter().map(String::len).max().unwrap_or(0);
        let all = texts.iter().map(|text| text.as_bytes().into()).collect();
        (longest < BLOCK_LEN / 2).then_some(Self {
            all,
            first,
            longest,
        })
    }

    /// Returns the text that another begins with.
    fn at(&self, text: &[u8]) -> Option<&[u8]> {
        let mut all = self.all.iter().map(|each| &**each);
        all.find(|each| text.starts_with(each))
    }

    /// Returns whether a text has two characters beside each other.
    fn join(&self, before: u32, after: u32) -> bool {
        let pair: Option<String> = [before, after].into_iter().map(char::from_u32).collect();
        let pair = pair.unwrap_or_default();
        let mut all = self.all.iter();
        all.any(|each| each.windows(pair.len()).any(|part| part == pair.as_bytes()))
    }

    /// Makes pieces of texts out of the pieces of classes in a block, with which `rest` begins; `any` are the bytes of pieces.
    /// Where a text may reach beyond the block, the pieces from there on are left to the next one.
    fn in_block(&self, block: &Block, rest: &[u8], any: u64, starts: &mut u64, ends: &mut u64) {
        let is_first = |byte: u8| self.first.contains(&byte);
        let mut places = masks::filter(block, *starts, is_first);
        while places != 0 {
            let place = places.trailing_zeros() as usize;
            places &= places - 1;
            if place + self.longest >= BLOCK_LEN {
                let before = (2_u64 << place).wrapping_sub(1);
                (*starts, *ends) = (*starts & before, *ends & before);
                return;
            }
            let Some(text) = self.at(&rest[place..]) else {
                continue;
            };
            let end = place + text.len();
            let inside = (1 << end) - (2 << place);
            let is_open = any >> end & 1;
            *starts = (*starts & !inside) | is_open << end;
            *ends = (*ends & !inside) | 1 << end;
            // Another may follow, and what began inside of it does not.
            let follows = is_open == 1 && is_first(block[end]);
            places = (places & !inside) | u64::from(follows) << end;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::split::Splitter;
    use crate::split::chain::compared::Compared;
    use crate::split::chain::{Pattern, Step};
    use crate::util::random::numbers;
    use crate::util::tier::Tier;

    fn by_classes(rules: &[Rule], tier: Tier) -> Option<Splitter> {
        Some(Splitter::Classes(Arc::new(Classes::of(rules)?), tier))
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

    #[test]
    fn pieces_are_those_of_rules_one_after_another() {
        let mut number = numbers(7);
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
            let compared = Compared::new(&rules, by_classes);
            for size in [0, 1, 5, 40, 700] {
                // Long stretches of ASCII, too: blocks are looked at together.
                let few = if number(2) == 0 { 11 } else { parts.len() };
                let text: String = (0..size).map(|_| parts[number(few)]).collect();
                compared.check(&text);
            }
            compared.check(&("word".repeat(5000) + " end"));
        }
    }

    #[test]
    fn pieces_are_those_of_alternatives() {
        let mut number = numbers(7);
        let clip = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+";
        let patterns = [
            clip,
            r"'s|''|\p{L}+|[^\s\p{L}]+",
            r"a b|ab|[a-z]+|\d|[.']+",
            r"é's|\p{L}|'+",
        ];
        let parts = [
            "a",
            "the",
            " ",
            "  ",
            "\n",
            "'",
            "''",
            "'s",
            "'re",
            "'ll",
            "s",
            "<|endoftext|>",
            "<|",
            "|>",
            "<",
            ".",
            "!?",
            "7",
            "42",
            "é",
            "é's",
            "中文",
            "\u{3000}",
            "a b",
            "ab",
        ];
        let steps = patterns.map(|pattern| Step::Split {
            pattern: Pattern::Regex(pattern.to_owned()),
            behavior: Behavior::Removed,
            invert: true,
        });
        for step in steps.into_iter().chain([Step::Whitespace]) {
            let rules = [step.rule().expect("known").expect("it splits")];
            let compared = Compared::new(&rules, by_classes);
            for round in 0..400 {
                let size = [0, 1, 5, 40, 200][round % 5];
                let few = if number(2) == 0 { 19 } else { parts.len() };
                let text: String = (0..size).map(|_| parts[number(few)]).collect();
                compared.check(&text);
            }
            // At each place of a block.
            for before in 0..140 {
                for part in parts {
                    compared.check(&format!("{}{part}s'", "x.".repeat(before)));
                    compared.check(&format!("{}{part}ve ", " ".repeat(before)));
                }
            }
        }
    }

    #[test]
    fn alternatives_that_are_no_classes_are_left_to_the_cascade() {
        for pattern in [
            r"\p{L}+|\w+",
            r"a+|b*",
            r"\p{L}+?|\d",
            r"(?i:'s)|\p{L}+",
            r"\p{L}+|'s",
            r"'|'s|\p{L}+",
            r"a|b|c|\p{N}+",
            r"\b\p{L}+|\d",
            " x|[a-z]+",
        ] {
            let rule = Rule::new(pattern.to_owned(), Behavior::Removed, true);
            assert!(Classes::of(&[rule]).is_none(), "{pattern}");
        }
    }

    #[test]
    fn others_are_left_to_the_cascade() {
        let merged = Step::Punctuation(Behavior::MergedWithNext);
        for step in [merged, Step::Gpt2] {
            let rule = step.rule().expect("known").expect("it splits");
            assert!(Classes::of(&[rule]).is_none(), "{step:?}");
        }
    }
}
