//! Texts → pieces by the splitting steps of a `tokenizer.json`, against the definition: each step splits the pieces of
//! the one before as texts of their own.

use std::ops::Range;
use std::sync::LazyLock;

use bytemill::split::Splitter;
use bytemill::split::chain::{Behavior, GPT2, Pattern, Step};
use fancy_regex::Regex;

use crate::files::{CJK, QWEN2};
use crate::input::{Input, floor_char_boundary};
use crate::support::pieces;

/// Longer texts take the definition too long.
const LONGEST: usize = 2000;

/// How many of the patterns, the first, are given as texts.
const TEXTS: usize = 3;

/// Patterns of which native splitters, tables of classes, layers of patterns and automata each run some.
const PATTERNS: [&str; 16] = [
    " ",
    "ab",
    "\u{2581}",
    r"\s+",
    r"\s",
    r"\p{L}+",
    r"\p{N}",
    r"\p{N}{1,3}",
    r"[\r\n]",
    r"[^\s\p{L}\p{N}]+",
    r"'s|'t|'re|'ve|'m|'ll|'d|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+",
    GPT2,
    CJK,
    r"\s+(?!\S)|\s+",
    r"a+b|b",
    QWEN2,
];

static REGEXES: LazyLock<[Regex; PATTERNS.len()]> =
    LazyLock::new(|| PATTERNS.map(|pattern| Regex::new(pattern).expect("a pattern")));

const BEHAVIORS: [Behavior; 5] = [
    Behavior::Isolated,
    Behavior::Removed,
    Behavior::Contiguous,
    Behavior::MergedWithPrevious,
    Behavior::MergedWithNext,
];

/// A step: the number of its pattern, what becomes of matches, and whether these and the text between change roles.
#[derive(Clone, Copy, Debug)]
struct Split {
    pattern: usize,
    behavior: Behavior,
    invert: bool,
}

impl Split {
    fn draw(input: &mut Input) -> Self {
        Self {
            pattern: input.below(PATTERNS.len()),
            behavior: input.pick(&BEHAVIORS),
            invert: input.below(4) == 0,
        }
    }

    fn step(self) -> Step {
        let pattern = PATTERNS[self.pattern].to_owned();
        Step::Split {
            pattern: if self.pattern < TEXTS {
                Pattern::Text(pattern)
            } else {
                Pattern::Regex(pattern)
            },
            behavior: self.behavior,
            invert: self.invert,
        }
    }

    /// Returns the pieces of a piece.
    fn of(self, text: &str, piece: Range<usize>) -> Vec<Range<usize>> {
        let (mut all, mut end) = (Vec::new(), piece.start);
        for found in REGEXES[self.pattern].find_iter(&text[piece.clone()]) {
            let found = found.expect("a match").range();
            let found = found.start + piece.start..found.end + piece.start;
            all.push((end..found.start, self.invert));
            end = found.end;
            all.push((found, !self.invert));
        }
        all.push((end..piece.end, self.invert));
        all.retain(|(span, _)| !span.is_empty());
        self.treated(&all)
    }

    /// Returns what becomes of matches and the text between, each with whether it counts as a match.
    fn treated(self, all: &[(Range<usize>, bool)]) -> Vec<Range<usize>> {
        let mut made: Vec<Range<usize>> = Vec::new();
        for (at, (span, is_match)) in all.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| all[before].1);
            let joins = match self.behavior {
                Behavior::Removed if *is_match => continue,
                Behavior::Isolated | Behavior::Removed => false,
                Behavior::Contiguous => before == Some(*is_match),
                // A match behind a match does not belong to what is before that.
                Behavior::MergedWithPrevious => *is_match && before == Some(false),
                // Nor does a match belong to a match after it.
                Behavior::MergedWithNext => !*is_match && before == Some(true),
            };
            match made.last_mut() {
                Some(last) if joins => last.end = span.end,
                _ => made.push(span.clone()),
            }
        }
        made
    }
}

pub(crate) fn run(mut input: Input) {
    let splits: Vec<Split> = (0..=input.below(4))
        .map(|_| Split::draw(&mut input))
        .collect();
    let steps: Vec<Step> = splits.iter().map(|split| split.step()).collect();
    let splitter = Splitter::from_chain(&steps).expect("steps that are supported");
    for text in input.texts() {
        let text = &text[..floor_char_boundary(&text, LONGEST)];
        let mut expected: Vec<Range<usize>> = Vec::new();
        if !text.is_empty() {
            expected.push(0..text.len());
        }
        for split in &splits {
            expected = expected
                .into_iter()
                .flat_map(|piece| split.of(text, piece))
                .collect();
        }
        assert_eq!(
            pieces(&splitter, text).expect("pieces"),
            expected,
            "{text:?} by {steps:?}"
        );
    }
}
