//! Normal forms by segments, beside those of the whole text.

use std::error::Error;
use std::ops::Range;

use bytemill::normalize::chain::{Chain, Step};
use unicode_normalization_alignments::UnicodeNormalization;

use crate::support::Random;

type Form = (Step, fn(&str) -> Vec<(char, isize)>);

fn forms() -> [Form; 4] {
    [
        (Step::Nfc, |text| text.nfc().collect()),
        (Step::Nfd, |text| text.nfd().collect()),
        (Step::Nfkc, |text| text.nfkc().collect()),
        (Step::Nfkd, |text| text.nfkd().collect()),
    ]
}

/// The spans of the output, by the rule of `tokenizers`: a new character has the span of the last one taken, any other
/// takes a character of the text, and drops some after it.
fn spans(text: &str, normal: &[(char, isize)]) -> Vec<Range<usize>> {
    let mut characters = text.char_indices().map(|(at, c)| at..at + c.len_utf8());
    let mut last = 0..0;
    let mut spans = Vec::new();
    for &(c, change) in normal {
        let mut span = last.clone();
        if change <= 0 {
            span = characters.next().expect("a character to take");
            last = span.clone();
            for _ in change..0 {
                last = characters.next().expect("a character to drop");
            }
        }
        spans.extend(vec![span; c.len_utf8()]);
    }
    assert_eq!(characters.next(), None, "all are taken: {text:?}");
    spans
}

fn check(
    chain: &Chain,
    whole: fn(&str) -> Vec<(char, isize)>,
    text: &str,
) -> Result<(), Box<dyn Error>> {
    let normal = whole(text);
    let expected: String = normal.iter().map(|&(c, _)| c).collect();
    let mut out = "before".to_owned();
    let mut found: Vec<_> = std::iter::once(7..9).collect();
    chain.normalize(text, &mut out, Some(&mut found))?;
    assert_eq!(out[6..], expected, "{text:?}");
    assert_eq!(found[1..], spans(text, &normal), "{text:?}");
    let mut out = String::new();
    chain.normalize(text, &mut out, None)?;
    assert_eq!(out, expected);
    assert_eq!(chain.keeps(text), text == expected, "{text:?}");
    Ok(())
}

/// All characters that a form changes or reorders, or that compose with what stands before them, and some others.
fn alphabet() -> Vec<char> {
    let special = ('\0'..='\u{2FFFF}').filter(|&c| {
        let changes = c.to_string().nfkd().map(|(c, _)| c).ne([c]);
        let joins = ["a", "\u{1100}", "\u{AC00}", "\u{9C7}", "\u{1025}"];
        changes
            || joins
                .iter()
                .any(|before| format!("{before}\u{301}{c}").nfc().count() == 1)
            || unicode_normalization_alignments::char::is_combining_mark(c)
    });
    special
        .chain("aeiou \u{4E00}\u{430}".chars().cycle().take(2000))
        .collect()
}

#[test]
fn segments_make_the_whole() -> Result<(), Box<dyn Error>> {
    let alphabet = alphabet();
    for (seed, (step, whole)) in forms().into_iter().enumerate() {
        let chain = Chain::new(vec![step])?;
        let mut random = Random::new(seed);
        for _ in 0..20_000 {
            let length = random.below(10);
            let text: String = (0..length)
                .map(|_| alphabet[random.below(alphabet.len())])
                .collect();
            check(&chain, whole, &text)?;
        }
    }
    Ok(())
}

#[test]
fn every_character_between_others() -> Result<(), Box<dyn Error>> {
    let contexts = [("", ""), ("e\u{301}", "\u{302}"), ("\u{1100}", "\u{11A8}")];
    for (step, whole) in forms() {
        let chain = Chain::new(vec![step])?;
        for (before, after) in contexts {
            for c in '\0'..='\u{30000}' {
                check(&chain, whole, &format!("{before}{c}{after}"))?;
            }
        }
    }
    Ok(())
}

#[test]
fn long_runs_of_marks_take_linear_time_or_nearly() -> Result<(), Box<dyn Error>> {
    let chain = Chain::new(vec![Step::Nfc])?;
    let text = format!("e{}", "\u{301}\u{323}".repeat(100_000));
    check(&chain, |text| text.nfc().collect(), &text)
}
