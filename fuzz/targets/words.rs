//! Words → ids by random vocabularies of words and their parts, against the definition.

use bytemill::merge;
use bytemill::reference::encode_word;
use bytemill::token::TokenId;
use bytemill::vocabulary::words::{Parts, WordList};
use bytemill::vocabulary::{ListedToken, Vocabulary};

use crate::input::Input;

/// Parts of words and of texts; the first may be the prefix.
const PARTS: [&str; 12] = [
    "#", "##", "a", "b", "ab", "é", "e", "一", "丁", "\u{301}", "😀", "x",
];

pub(crate) fn run(mut input: Input) {
    let prefix = input.pick(&["##", "##", "", "a", "é", "#"]);
    let longest = input.pick(&[100, 100, 0, 1, 3, usize::MAX]);
    let is_whole = input.below(8) == 0;
    let mut texts: Vec<String> = Vec::new();
    for _ in 0..input.below(40) {
        let front = if input.below(2) == 0 { prefix } else { "" };
        let text = format!("{front}{}", spelled(&mut input));
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    let texts: Vec<(&str, TokenId)> = texts.iter().map(|text| &**text).zip(1..).collect();
    let tokens: Vec<ListedToken<'_>> = std::iter::once(("?", 0))
        .chain(texts.iter().copied())
        .map(|(text, id)| ListedToken {
            id,
            bytes: text.as_bytes().into(),
            is_found: id != 0 && !text.is_empty(),
        })
        .collect();
    let list = WordList {
        texts: texts
            .iter()
            .map(|(text, id)| (text.as_bytes(), *id))
            .collect(),
        parts: if is_whole {
            Parts::Whole
        } else {
            Parts::Several {
                prefix: prefix.as_bytes().to_vec(),
                longest,
            }
        },
        unknown: "?".to_owned(),
        unknown_id: Some(0),
        spelling: None,
    };
    let vocabulary = Vocabulary::from_words(&tokens, list).expect("a vocabulary");
    for part in input.parts() {
        let word: String = part
            .iter()
            .map(|&byte| PARTS[usize::from(byte) % 12])
            .collect();
        if word.is_empty() {
            continue;
        }
        let expected = if is_whole {
            texts
                .iter()
                .find(|(text, _)| *text == word)
                .map(|(_, id)| vec![*id])
        } else {
            encode_word(&texts, prefix, longest, &word)
        };
        let expected = expected.unwrap_or_else(|| vec![0]);
        compare(&vocabulary, &word, &expected);
    }
}

/// Compares the ids of a word, and their spans, which stand beside each other and are all of the word.
pub(crate) fn compare(vocabulary: &Vocabulary, word: &str, expected: &[TokenId]) {
    let mut ids = vec![7];
    merge::encode_piece(vocabulary, word.as_bytes(), &mut ids).expect("there is an unknown token");
    assert_eq!(ids[1..], *expected, "{word:?}");
    let mut placed = Vec::new();
    merge::placed(vocabulary, word.as_bytes(), &mut placed).expect("as before");
    assert!(
        placed
            .iter()
            .map(|placed| placed.id)
            .eq(expected.iter().copied())
    );
    let mut end = 0;
    for placed in placed {
        assert_eq!(placed.span.start, end);
        end = placed.span.end;
    }
    assert_eq!(end, word.len());
}

fn spelled(input: &mut Input) -> String {
    (0..=input.below(4)).map(|_| input.pick(&PARTS)).collect()
}
