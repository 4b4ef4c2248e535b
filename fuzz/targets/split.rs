//! Splitting by each family with all its parameters and spellings, in each tier, against the regular expression; and the
//! offsets at which a text may be cut.

use std::ops::Range;
use std::sync::LazyLock;

use bytemill::split::Splitter;
use fancy_regex::Regex;

use crate::input::{Input, floor_char_boundary};
use crate::models::Pattern;
use crate::spellings::{self, SPELLERS};
use crate::support;

/// Longer texts only slow the run down.
const LONGEST: usize = 1_000;

static JUDGES: LazyLock<Vec<(Regex, Vec<Splitter>)>> = LazyLock::new(|| {
    let published = SPELLERS.map(spellings::published).into_iter();
    let changed = SPELLERS.into_iter().flat_map(spellings::one_rule_changed);
    let all = published.chain(spellings::parameter_sets()).chain(changed);
    let judges = all.map(|spelling| {
        let pattern = Pattern::new(&spelling.pattern);
        let splitters = pattern.splitters();
        assert!(
            splitters.iter().all(Splitter::is_native),
            "{}",
            pattern.source
        );
        (pattern.regex, splitters)
    });
    judges.collect()
});

pub(crate) fn run(mut input: Input) {
    const FILLERS: [&str; 9] = ["a", "A", " ", ".", "1", "\n", "中", "\u{301}", "word "];
    let (regex, splitters) = match input.byte() {
        published @ ..128 => &JUDGES[usize::from(published) % 3],
        other => &JUDGES[(usize::from(other) << 8 | usize::from(input.byte())) % JUDGES.len()],
    };
    let filler = input.pick(&FILLERS);
    let mut before = filler.repeat(usize::from(input.byte()) / filler.len());
    if input.below(100) == 99 {
        // Near where chunks end.
        before = before.repeat(8192 / before.len().max(1));
    }
    let repeat = input.pick(&[1, 1, 1, 1, 1, 1, 3, 100]);
    for text in input.texts() {
        let mut text = [before.as_str(), &text.repeat(repeat)].concat();
        text.truncate(floor_char_boundary(&text, before.len() + LONGEST));
        let expected: Vec<_> = regex
            .find_iter(&text)
            .map(|found| found.expect("a match").range())
            .collect();
        for splitter in splitters {
            let pieces = support::pieces(splitter, &text).expect("pieces");
            assert_eq!(pieces, expected, "{splitter:?}: {text:?}");
        }
        assert_cuts(&splitters[splitters.len() - 1], &text, &expected);
    }
}

/// Cutting changes no piece.
fn assert_cuts(splitter: &Splitter, text: &str, expected: &[Range<usize>]) {
    for cut in splitter.cuts(text, 0..text.len() + 9).take(12) {
        let (before, after) = text.split_at(cut);
        let mut pieces = support::pieces(splitter, before).expect("pieces");
        let after = support::pieces(splitter, after)
            .expect("pieces")
            .into_iter();
        pieces.extend(after.map(|piece| cut + piece.start..cut + piece.end));
        assert_eq!(pieces, expected, "{splitter:?}: {text:?} cut at {cut}");
    }
}
