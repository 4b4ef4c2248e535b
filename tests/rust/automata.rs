//! Automata of patterns against fancy-regex, which defines what patterns mean.

use bytemill::error::EncodeError;
use bytemill::split::Splitter;
use bytemill::split::chain::{Behavior, Pattern, Step};
use bytemill::split::general::General;

use crate::cuts::try_cuts;
use crate::support::{CL100K, O200K, R50K, Random, SYMBOLS, TestResult, on_all_cores};

/// Parts of random patterns.
const ATOMS: [&str; 22] = [
    "a",
    "b",
    "ab",
    "é",
    "中",
    r"\s",
    r"\S",
    r"\w",
    r"\d",
    ".",
    "(?s:.)",
    "[ab]",
    "[^a]",
    "[^ab1]",
    r"\p{L}",
    r"[\p{N}é]",
    " ",
    r"\n",
    "(?i:a)",
    "(?i:s)",
    r"[^\s\p{L}\p{N}]",
    "1",
];
const QUANTIFIERS: [&str; 14] = [
    "", "", "", "", "+", "*", "?", "{2}", "{1,2}", "{1,3}", "+?", "??", "++", "*+",
];
const ASSERTIONS: [&str; 15] = [
    r"\b",
    r"\B",
    "$",
    "^",
    "(?m:$)",
    "(?m:^)",
    r"(?!\S)",
    "(?=a)",
    "(?<=a)",
    "(?<!b)",
    "(?!ab)",
    r"(?=\d{2}*b)",
    r"(?=(?:\d\d)*\b)",
    r"(?!a*(?!b) )",
    r"(?=\bs?\B)",
];

/// Parts of texts.
const CHARACTERS: [&str; 10] = ["a", "b", "A", "é", "中", " ", "\n", "1", "s", "."];

fn expression(random: &mut Random, depth: usize) -> String {
    let mut pattern = String::new();
    for _ in 0..random.within(1..4) {
        match random.below(8) {
            0 => pattern.push_str(random.pick::<&str>(&ASSERTIONS)),
            1 | 2 if depth > 0 => {
                let inner = expression(random, depth - 1);
                let start = random.pick(&["(?:", "(?:", "(", "(?=", "(?!"]);
                let quantifier = if start.len() == 3 && start.ends_with(':') || start.len() == 1 {
                    random.pick(&QUANTIFIERS[..10])
                } else {
                    ""
                };
                pattern.extend([*start, &inner, ")", quantifier]);
            }
            3 if depth > 0 => {
                let (first, second) =
                    (expression(random, depth - 1), expression(random, depth - 1));
                pattern.extend(["(?:", &first, "|", &second, ")"]);
            }
            _ => {
                pattern.push_str(random.pick::<&str>(&ATOMS));
                pattern.push_str(random.pick::<&str>(&QUANTIFIERS));
            }
        }
    }
    pattern
}

/// The pieces of a text, or none if the engine gives up.
fn pieces(general: &General, text: &str) -> Option<Vec<String>> {
    let splitter = Splitter::General(Box::new(general.clone()));
    let mut pieces = splitter.pieces(text);
    let (mut found, mut chunk) = (Vec::new(), Vec::new());
    loop {
        match pieces.next_chunk(&mut chunk) {
            Ok(true) => found.extend(chunk.iter().map(|piece| text[piece.clone()].to_owned())),
            Ok(false) => return Some(found),
            Err(EncodeError::Pattern(_)) => return None,
            Err(error) => panic!("nothing else fails: {error}"),
        }
    }
}

/// Compares both engines on some texts. Returns whether the pattern has an automaton.
fn compare(pattern: &str, texts: &[String]) -> bool {
    let Ok(backtracking) = General::new(pattern, 1) else {
        return false;
    };
    let general = General::quick(pattern, 1).expect("it compiles");
    for text in texts {
        let (ours, theirs) = (pieces(&general, text), pieces(&backtracking, text));
        assert!(
            theirs.is_none() || ours == theirs,
            "{pattern:?} splits {text:?} into {ours:?}, not {theirs:?}"
        );
    }
    general.has_automaton()
}

fn texts(random: &mut Random, parts: &[&str], count: usize, most: usize) -> Vec<String> {
    let mut text = || {
        (0..random.within(1..most))
            .map(|_| *random.pick(parts))
            .collect()
    };
    (0..count).map(|_| text()).collect()
}

#[test]
fn automata_match_as_fancy_regex() {
    let mut random = Random::new(1);
    let mut automata = 0;
    for _ in 0..1500 {
        let parts = (0..random.within(1..4)).map(|_| expression(&mut random, 2));
        let pattern = parts.collect::<Vec<_>>().join("|");
        let texts = texts(&mut random, &CHARACTERS, 40, 12);
        automata += usize::from(compare(&pattern, &texts));
    }
    assert!(automata > 500, "only {automata} patterns have automata");
}

#[test]
fn automata_match_as_fancy_regex_in_long_texts() {
    // Longer than a walk, than a chunk, and than what is looked at ahead of a search.
    let mut random = Random::new(3);
    let mut automata = 0;
    for _ in 0..150 {
        let parts = (0..random.within(1..4)).map(|_| expression(&mut random, 1));
        let pattern = parts.collect::<Vec<_>>().join("|");
        let mut texts = texts(&mut random, &CHARACTERS, 3, 600);
        texts.extend(CHARACTERS.map(|part| part.repeat(200)));
        let runs = (0..40).map(|_| {
            random
                .pick::<&str>(&CHARACTERS)
                .repeat(random.within(1..90))
        });
        texts.push(runs.collect());
        automata += usize::from(compare(&pattern, &texts));
    }
    assert!(automata > 50, "only {automata} patterns have automata");
    let words = texts(&mut random, &SYMBOLS, 2, 20_000);
    for pattern in [
        R50K,
        CL100K,
        O200K,
        r"\p{L}+",
        r"\s\p{L}+|\d",
        r"[^\s]*\n|.",
        r"\S+\s*|\s+$",
    ] {
        assert!(compare(pattern, &words), "{pattern:?} has no automaton");
    }
}

#[test]
fn automata_of_published_patterns_match_as_fancy_regex() {
    let mut random = Random::new(2);
    let texts = texts(&mut random, &SYMBOLS, 2_000, 12);
    for pattern in [
        R50K,
        CL100K,
        O200K,
        r"\d{1,3}(?=(?:\d{3})*\b)|.",
        r"a(?!\r?\n)|(?s:.)",
    ] {
        assert!(compare(pattern, &texts), "{pattern:?} has no automaton");
    }
}

#[test]
fn attempts_that_fail_far_on_are_not_repeated() -> TestResult {
    // Each would look at the rest of the text again from every character.
    for pattern in [
        r"(?:a+)+(?!c)b|x",
        r"(a+)+(?=b)b|x",
        r"a.*b|x",
        r"(?:a|aa)*é?b|x",
        r"a+$|x|a",
    ] {
        let general = General::quick(pattern, 1)?;
        assert!(general.has_automaton(), "{pattern:?} has no automaton");
        let text = format!("{}x{}c", "a".repeat(300_000), "a".repeat(300_000));
        let found = pieces(&general, &text).ok_or("the engine gives up")?;
        assert_eq!(found.iter().filter(|piece| *piece == "x").count(), 1);
    }
    Ok(())
}

#[test]
fn patterns_that_need_backtracking_are_left_to_fancy_regex() -> TestResult {
    for pattern in [
        r"(a)\1|.",
        r"(?<=ab)c|.",
        r"(?>ab|a)b|.",
        r"(?:a?)+b",
        r"a{5000}",
    ] {
        assert!(
            !General::quick(pattern, 1)?.has_automaton(),
            "{pattern:?} has an automaton"
        );
    }
    Ok(())
}

/// Returns a splitter by random patterns: one, or a chain of them, whatever becomes of their matches.
fn splitter(random: &mut Random) -> Option<Splitter> {
    let general = |random: &mut Random| {
        let depth = random.below(3);
        let pattern = expression(random, depth);
        let general = General::quick(&pattern, 1).ok();
        general
            .filter(General::has_automaton)
            .map(|general| (pattern, general))
    };
    if random.below(2) == 0 {
        let (_, general) = general(random)?;
        return Some(Splitter::General(Box::new(general)));
    }
    let mut steps = Vec::new();
    for _ in 0..=random.below(3) {
        let (pattern, _) = general(random)?;
        steps.push(Step::Split {
            pattern: Pattern::Regex(pattern),
            behavior: *random.pick(&[
                Behavior::Isolated,
                Behavior::Isolated,
                Behavior::Removed,
                Behavior::Contiguous,
                Behavior::MergedWithPrevious,
                Behavior::MergedWithNext,
            ]),
            invert: random.below(2) == 0,
        });
    }
    if random.below(3) == 0 {
        let individual = random.below(2) == 0;
        steps.push(Step::Digits { individual });
    }
    Splitter::from_chain(&steps).ok()
}

/// Where automata say that nothing reaches across, texts can be cut.
#[test]
fn cuts_of_random_patterns() {
    let answers = on_all_cores(12_000, |seed| {
        let mut random = Random::new(seed);
        let splitter = splitter(&mut random)?;
        let mut cuts = 0;
        for _ in 0..60 {
            let length = random.below(9);
            let text: String = (0..length).map(|_| *random.pick(&CHARACTERS)).collect();
            match try_cuts(&splitter, &text) {
                Ok(found) => cuts += found,
                Err(wrong) => return Some(Err(wrong)),
            }
        }
        Some(Ok(cuts))
    });
    let cuts: Result<Vec<usize>, String> = answers.into_iter().collect();
    match cuts {
        Ok(cuts) => {
            let with = cuts.iter().filter(|&&cuts| cuts > 0).count();
            assert!(cuts.len() > 2_000, "{} splitters", cuts.len());
            assert!(with > 500, "only {with} of {} have cuts", cuts.len());
        }
        Err(wrong) => panic!("{wrong}"),
    }
}

/// Command R's pre-tokenizer, which counts digits from the right: so it looks ahead to the end of a number.
#[test]
fn cuts_where_digits_are_counted_from_the_right() -> TestResult {
    let step = |pattern: &str| Step::Split {
        pattern: Pattern::Regex(pattern.to_owned()),
        behavior: Behavior::Isolated,
        invert: false,
    };
    let splitter = Splitter::from_chain(&[step(r"\d{1,3}(?=(?:\d{3})*\b)"), step(O200K)])?;
    let cuts: Vec<usize> = splitter.cuts("ab 1234567 cd, x", 0..16).collect();
    assert_eq!(cuts, [2, 13, 14]);
    let symbols = ["a", "B", "1", "٣", " ", "_", ".", "\n", "中", "\u{301}"];
    let mut texts = vec![String::new()];
    let mut cuts = 0;
    for _ in 0..4 {
        let longer = |text: &String| symbols.map(|symbol| format!("{text}{symbol}"));
        texts = texts.iter().flat_map(longer).collect();
        for text in &texts {
            cuts += try_cuts(&splitter, text)?;
        }
    }
    let mut random = Random::new(4);
    for text in self::texts(&mut random, &["a", "1", "22", " ", "333", "_"], 2_000, 12) {
        cuts += try_cuts(&splitter, &text)?;
    }
    assert!(cuts > 5_000, "only {cuts} cuts");
    Ok(())
}
