//! Special tokens and disallowed strings: which are found and where, for every choice of allowed ones.

use bytemill::encode::special::{Allowed, Disallowed, Found, SpecialTokens};
use bytemill::error::{EncodeError, VocabularyError};

use crate::support::{Random, TestResult};

fn special(texts: &[&str]) -> Result<SpecialTokens, VocabularyError> {
    SpecialTokens::new(
        texts
            .iter()
            .map(|text| (*text).to_owned())
            .zip(1000..)
            .collect(),
    )
}

/// All special tokens that are found in `text`, with their offsets.
fn found<'a>(special: &'a SpecialTokens, text: &str, allowed: &Allowed) -> Vec<(usize, &'a str)> {
    let (mut all, mut offset) = (Vec::new(), 0);
    while let Some(Found {
        start,
        text: token,
        id,
    }) = special.find(text, offset, allowed)
    {
        assert_eq!(special.id(token), Some(id));
        all.push((start, token));
        offset = start + token.len();
    }
    all
}

/// The definition: at the first offset where an allowed one starts, the longest of them.
fn expected<'a>(texts: &[&'a str], text: &str) -> Vec<(usize, &'a str)> {
    let (mut all, mut offset) = (Vec::new(), 0);
    while offset < text.len() {
        let here = texts
            .iter()
            .filter(|token| text.as_bytes()[offset..].starts_with(token.as_bytes()))
            .max_by_key(|token| token.len());
        match here {
            Some(token) => {
                all.push((offset, *token));
                offset += token.len();
            }
            None => offset += 1,
        }
    }
    all
}

#[test]
fn special_tokens_are_found_leftmost_then_longest() -> TestResult {
    let tokens = [
        "<|a|>",
        "<|a|><|b|>",
        "<|b|>",
        "|>",
        "中",
        "中文",
        "é",
        "<|a",
        "x",
    ];
    let special = special(&tokens)?;
    assert_eq!((special.len(), special.is_empty()), (9, false));
    let both = "<|a|><|b|>";
    assert_eq!(found(&special, both, &Allowed::All), [(0, both)]);
    assert_eq!(found(&special, both, &Allowed::Nothing), []);
    // If the longer one is not allowed, it hides neither a shorter one at the same offset nor one inside of
    // it.
    for (allowed, expected) in [
        (&["<|a|>"][..], &[(0, "<|a|>")][..]),
        (&["<|a"], &[(0, "<|a")]),
        (&["<|b|>"], &[(5, "<|b|>")]),
        (&["|>"], &[(3, "|>"), (8, "|>")]),
        (&["<|a", "<|a|>"], &[(0, "<|a|>")]),
        (&["<|a", "<|b|>"], &[(0, "<|a"), (5, "<|b|>")]),
        (&["x", "no special token"], &[]),
    ] {
        let allowed = special.allow(allowed.iter().copied());
        assert_eq!(found(&special, both, &allowed), expected);
    }
    assert_eq!(
        found(&special, "é中中文é", &Allowed::All),
        [(0, "é"), (2, "中"), (5, "中文"), (11, "é")]
    );
    assert_eq!(found(&special, "", &Allowed::All), []);
    Ok(())
}

/// The tokens whose bits are set in `mask` are found in the text, if they are allowed.
fn check_some_allowed(special: &SpecialTokens, tokens: &[&str], mask: u32, text: &str) {
    let chosen: Vec<&str> = (0..)
        .zip(tokens)
        .filter_map(|(bit, token)| (mask >> bit & 1 == 1).then_some(*token))
        .collect();
    let allowed = special.allow(chosen.iter().copied());
    assert_eq!(
        found(special, text, &allowed),
        expected(&chosen, text),
        "{text}"
    );
}

#[test]
fn special_tokens_in_random_texts() -> TestResult {
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let alphabet = ["a", "b", "<", "|", "é", "中"];
        let mut word = |longest| -> String {
            let length = random.within(1..longest);
            (0..length)
                .map(|_| *random.pick(&alphabet[..2 + seed % 5]))
                .collect()
        };
        let mut tokens: Vec<String> = (0..8).map(|_| word(6)).collect();
        let text = word(60);
        tokens.sort_unstable();
        tokens.dedup();
        let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
        let special = special(&tokens)?;
        for mask in 0..1_u32 << tokens.len() {
            check_some_allowed(&special, &tokens, mask, &text);
        }
    }
    Ok(())
}

/// Tokens so long that those which are not allowed are left out of the search, and that the automaton has no
/// table of all transitions.
#[test]
fn long_special_tokens_in_random_texts() -> TestResult {
    for seed in 0..8 {
        let mut random = Random::new(seed);
        let mut word = |longest| -> String {
            let length = random.within(1..longest);
            "ab".repeat(length) + *random.pick(&["", "a", "b", "é"])
        };
        let mut tokens: Vec<String> = [3, 3, 4, 300, 300, 3000].map(&mut word).to_vec();
        let text: String = (0..20).map(|_| word(400)).collect();
        tokens.push("ab".repeat(200));
        tokens.sort_unstable();
        tokens.dedup();
        let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
        let special = special(&tokens)?;
        // In two rounds: the searches of the first are kept, as far as there is room.
        for mask in (0..1_u32 << tokens.len()).chain(0..1_u32 << tokens.len()) {
            check_some_allowed(&special, &tokens, mask, &text);
        }
    }
    Ok(())
}

#[test]
fn allowing_all_or_none_is_told_apart() -> TestResult {
    let special = special(&["x", "y"])?;
    assert_eq!(special.allow(["x", "y", "x"]), Allowed::All);
    assert_eq!(special.allow(["y", "y"]), Allowed::Some(vec![false, true]));
    assert_eq!(special.allow(["z", ""]), Allowed::Nothing);
    assert_eq!(special.allow([]), Allowed::Nothing);
    let none = SpecialTokens::default();
    assert!(none.is_empty());
    assert_eq!(none.find("x", 0, &Allowed::All), None);
    Ok(())
}

/// The disallowed string that a text is refused for, and the character where it starts.
fn refused(
    special: &SpecialTokens,
    text: &str,
    disallowed: &Disallowed,
) -> Option<(String, usize)> {
    match special.refuse(text, disallowed) {
        Err(EncodeError::Disallowed { token, start }) => Some((token, start)),
        _ => None,
    }
}

#[test]
fn disallowed_strings_are_found_leftmost_then_longest() -> TestResult {
    let special = special(&["<|a|>", "<|b|>"])?;
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    // All are special tokens, some are, none is; the empty string is everywhere.
    for (strings, text, expected) in [
        (&[][..], "<|a|>", None),
        (&["<|b|>"], "<|a|>", None),
        (&["<|b|>"], "é<|a|><|b|>", Some(("<|b|>", 6))),
        (&["<|a|>", "<|b|>"], "é<|b|><|a|>", Some(("<|b|>", 1))),
        (&["|>", "<|b|>"], "é<|a|><|b|>", Some(("|>", 4))),
        (&["a", "ab", "<|b|>"], "éab", Some(("ab", 1))),
        (&["x"], "<|a|>", None),
        (&["", "ab"], "xab", Some(("", 0))),
        (&["", "ab"], "abx", Some(("ab", 0))),
    ] {
        let disallowed = special.disallow(texts(strings))?;
        let expected = expected.map(|(token, start): (&str, _)| (token.to_owned(), start));
        assert_eq!(
            refused(&special, text, &disallowed),
            expected,
            "{strings:?}"
        );
    }
    let both = "<|a|><|b|>";
    let all_but = |allowed: &[&str]| {
        let allowed = special.allow(allowed.iter().copied());
        refused(&special, both, &special.disallow_except(&allowed))
    };
    assert_eq!(all_but(&[]), Some(("<|a|>".to_owned(), 0)));
    assert_eq!(all_but(&["<|a|>"]), Some(("<|b|>".to_owned(), 5)));
    assert_eq!(all_but(&["<|a|>", "<|b|>"]), None);
    Ok(())
}

#[test]
fn special_tokens_that_make_no_sense() {
    let empty = SpecialTokens::new(vec![("x".to_owned(), 1), (String::new(), 2)]);
    assert_eq!(empty.err(), Some(VocabularyError::EmptySpecialToken(2)));
}

/// A special token that is listed twice is one special token, whatever follows it in the list.
#[test]
fn special_tokens_listed_twice() -> TestResult {
    let listed = [("x", 1), ("x", 2), ("y", 3)].map(|(text, id)| (text.to_owned(), id));
    let special = SpecialTokens::new(listed.to_vec())?;
    assert_eq!(special.len(), 2);
    assert!(matches!(special.id("x"), Some(1 | 2)));
    assert_eq!(special.id("y"), Some(3));
    assert_eq!(
        found(&special, "xyx", &Allowed::All),
        [(0, "x"), (1, "y"), (2, "x")]
    );
    Ok(())
}
