//! Characters that normal forms change → normalized text with spans: by segments as of the whole text, and a kept text
//! stays. Maps of characters against their definition, and runs of characters that are replaced against fancy-regex.

use std::ops::Range;
use std::sync::Arc;

use bytemill::huggingface::read_normalizer;
use bytemill::normalize::chain::{Chain, Find, Precompiled, Step};
use fancy_regex::Regex;
use serde_json::json;
use unicode_normalization_alignments::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use crate::input::Input;
use crate::normalize::{PARTS, Rules, charsmap, rules};

/// Where characters that forms change, reorder or compose begin: Latin, marks, Arabic, Indic scripts, jamo, kana,
/// Hangul, compatibility characters, music.
const BLOCKS: [u32; 16] = [
    0x20, 0xC0, 0x300, 0x320, 0x340, 0x5B0, 0x640, 0x930, 0x9BE, 0xF70, 0x1100, 0x1160, 0x11A8,
    0x3090, 0xAC00, 0x1_D160,
];

/// A normal form of a whole text: its characters, and how much each changes the number of characters.
type Form = fn(&str) -> Vec<(char, isize)>;

/// Clusters of this many bytes are not looked up as a whole.
const LONG_CLUSTER: usize = 6;

pub(crate) fn run(mut input: Input) {
    let which = input.below(7);
    if which == 6 {
        return assert_runs(input);
    }
    if which == 5 {
        let rules = rules(&mut input);
        if !rules.is_empty() {
            assert_maps(&rules, input);
        }
        return;
    }
    let whole: Option<Form> = match which {
        0 => Some(|text| text.nfc().collect()),
        1 => Some(|text| text.nfd().collect()),
        2 => Some(|text| text.nfkc().collect()),
        3 => Some(|text| text.nfkd().collect()),
        _ => None,
    };
    let steps = match whole {
        Some(_) => vec![step(which)],
        None => (0..input.below(5)).map(|_| step(input.below(14))).collect(),
    };
    let chain = Chain::new(steps).expect("no step is empty");
    for text in texts(input) {
        let (out, spans) = normalized(&chain, &text);
        let characters: Vec<Range<usize>> = text
            .char_indices()
            .map(|(at, c)| at..at + c.len_utf8())
            .collect();
        assert!(spans.iter().all(|span| characters.contains(span)));
        if chain.keeps(&text) {
            assert_eq!(out, text);
            assert!(
                spans
                    .iter()
                    .enumerate()
                    .all(|(at, span)| span.contains(&at))
            );
        }
        if let Some(whole) = whole {
            let expected: String = whole(&text).into_iter().map(|(c, _)| c).collect();
            assert_eq!(out, expected, "{text:?}");
            assert_eq!(chain.keeps(&text), text == expected, "{text:?}");
        }
        let mut without = String::new();
        chain
            .normalize(&text, &mut without, None)
            .expect("no regular expression");
        assert_eq!(without, out);
    }
}

/// Returns the normalized text, with the span of each byte.
fn normalized(chain: &Chain, text: &str) -> (String, Vec<Range<usize>>) {
    let (mut out, mut spans) = (String::new(), Vec::new());
    chain
        .normalize(text, &mut out, Some(&mut spans))
        .expect("no step backtracks");
    assert_eq!(spans.len(), out.len());
    (out, spans)
}

/// Expressions that match runs: of one character or of classes with few or many first bytes, some of a minimum length.
const RUNS: [&str; 7] = [
    " +",
    " {2,}",
    r"\s+",
    r"[\s\p{Mn}]+",
    "[a-c\u{301}]{3,}",
    r"\P{L}+",
    "[\u{1100}-\u{11FF} ]{2,}",
];

/// Compares the replacement of runs with that by fancy-regex.
fn assert_runs(mut input: Input) {
    let expression = input.pick(&RUNS);
    let content = input.pick(&["", " ", "\u{2581}", "  ab"]);
    let regex = Regex::new(expression).expect("a regular expression");
    let pattern = json!({"type": "Replace", "pattern": {"Regex": expression}, "content": content});
    let steps = read_normalizer(pattern.to_string().as_bytes()).expect("a normalizer");
    let chain = Chain::new(steps).expect("no step is empty");
    for text in texts(input) {
        let expected = regex.replace_all(&text, content);
        let (out, _) = normalized(&chain, &text);
        assert_eq!(out, expected, "{text:?} by {expression}");
        assert!(
            !chain.keeps(&text) || out == text,
            "{text:?} by {expression}"
        );
    }
}

/// Compares a map of characters with its definition, on texts of parts that keys have, too.
fn assert_maps(rules: &Rules, input: Input) {
    let map = Precompiled::parse(&charsmap(rules)).expect("a map");
    let chain = Chain::new(vec![Step::Precompiled(Arc::new(map))]).expect("a step");
    for part in input.parts() {
        let text: String = part
            .iter()
            .map(|&byte| PARTS[usize::from(byte) % PARTS.len()])
            .collect();
        let expected = mapped(rules, &text);
        let (out, _) = normalized(&chain, &text);
        assert_eq!(out, expected, "{text:?} by {rules:?}");
        assert!(!chain.keeps(&text) || out == text, "{text:?} by {rules:?}");
    }
}

/// Returns what a map makes of a text: a short cluster that begins with a key becomes the value of the shortest such key;
/// of other clusters, each character.
fn mapped(rules: &Rules, text: &str) -> String {
    let value = |part: &str| {
        let keys = rules
            .iter()
            .filter(|(key, _)| part.as_bytes().starts_with(key));
        let (_, value) = keys.min_by_key(|(key, _)| key.len())?;
        Some(String::from_utf8(value.clone()).expect("UTF-8"))
    };
    let mut out = String::new();
    for cluster in text.graphemes(true) {
        let whole = (cluster.len() < LONG_CLUSTER)
            .then(|| value(cluster))
            .flatten();
        if let Some(whole) = whole {
            out += &whole;
            continue;
        }
        for c in cluster.chars() {
            out += &value(c.encode_utf8(&mut [0; 4])).unwrap_or_else(|| c.to_string());
        }
    }
    out
}

fn step(number: usize) -> Step {
    let replace = |find: &str, content: &str| Step::Replace {
        find: Find::Text(find.to_owned()),
        content: content.to_owned(),
    };
    match number {
        0 => Step::Nfc,
        1 => Step::Nfd,
        2 => Step::Nfkc,
        3 => Step::Nfkd,
        4 => Step::Lowercase,
        5 => Step::StripAccents,
        6 => Step::Strip {
            left: true,
            right: true,
        },
        7 => Step::Prepend("\u{2581}\u{301}".to_owned()),
        8 => replace(" ", "\u{2581}"),
        9 => Step::CleanText,
        10 => Step::IsolateHan,
        11 => Step::StripNonspacing,
        12 => Step::Nmt,
        _ => replace("\u{301}", ""),
    }
}

/// Texts of characters of the blocks, or any.
fn texts(mut input: Input) -> Vec<String> {
    if input.below(2) == 0 {
        return input.texts();
    }
    let text = |part: &[u8]| {
        let characters = part.chunks(2).filter_map(|pair| {
            let block = BLOCKS[usize::from(pair[0]) % BLOCKS.len()];
            char::from_u32(block + u32::from(*pair.get(1)? % 64))
        });
        characters.collect()
    };
    input.parts().map(text).collect()
}
