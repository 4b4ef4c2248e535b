//! Any pattern: native splitters and the general engine split as the regular expression does.

use std::cell::LazyCell;
use std::ops::Range;

use bytemill::split::Splitter;
use fancy_regex::{Error, Regex, RegexBuilder};

use crate::input::Input;
use crate::models::Pattern;
use crate::support;

/// Enough for every published pattern; longer ones are slow to compile.
const LONGEST_PATTERN: usize = 400;
const LONGEST_TEXT: usize = 60;

pub(crate) fn run(input: Input) {
    let mut parts = input.parts();
    let Some(Ok(pattern)) = parts.next().map(std::str::from_utf8) else {
        return;
    };
    if pattern.len() > LONGEST_PATTERN {
        return;
    }
    let Ok(splitter) = Splitter::new(pattern) else {
        return;
    };
    let regex = Regex::new(pattern).expect("what splits compiles");
    // fancy-regex 0.19.0 optimizes `a+b?a+` to `a+(?:ba+)?`, which also matches "a". Only with this option it compiles
    // the pattern as it is written.
    let plain = LazyCell::new(|| RegexBuilder::new(pattern).find_not_empty(true).build());
    let splitters = if splitter.is_native() {
        Pattern::new(pattern).splitters()
    } else {
        vec![splitter]
    };
    let symbols = support::SYMBOLS.concat();
    let texts = parts.map(|bytes| String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST_TEXT)]));
    for text in texts.chain([symbols.into(), "It's  12345 I'LL\n\n x!\r\n/ ".into()]) {
        let expected = matches(&regex, &text);
        for splitter in &splitters {
            let pieces = support::pieces(splitter, &text);
            match (&pieces, &expected) {
                (Ok(pieces), Ok(expected)) if pieces == expected => {}
                (Ok(pieces), Ok(expected)) => {
                    // The engine agrees with itself.
                    assert!(
                        !backtracks(splitter),
                        "{pattern:?}: {text:?}: {pieces:?}, not {expected:?}"
                    );
                    let plain = plain.as_ref().expect("what splits compiles");
                    let expected = matches(plain, &text).expect("a short text");
                    assert_eq!(pieces, &expected, "{pattern:?}: {splitter:?}: {text:?}");
                }
                // A match may be empty by what stands around it; that is an error for splitters alone.
                (Err(_), _) => assert!(!splitter.is_native(), "{pattern:?}: {text:?}: {pieces:?}"),
                (Ok(_), Err(error)) => panic!("{pattern:?}: {text:?}: pieces, but {error}"),
            }
        }
    }
}

fn backtracks(splitter: &Splitter) -> bool {
    matches!(splitter, Splitter::General(general) if !general.has_automaton())
}

fn matches(regex: &Regex, text: &str) -> Result<Vec<Range<usize>>, Error> {
    let found = regex.find_iter(text);
    found.map(|found| Ok(found?.range())).collect()
}
