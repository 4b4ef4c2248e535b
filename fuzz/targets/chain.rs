//! Characters that normal forms change → normalized text with spans: by segments as of the whole text, and a kept text
//! stays.

use std::ops::Range;

use bytemill::normalize::chain::{Chain, Find, Step};
use unicode_normalization_alignments::UnicodeNormalization;

use crate::input::Input;

/// Where characters that forms change, reorder or compose begin: Latin, marks, Arabic, Indic scripts, jamo, kana,
/// Hangul, compatibility characters, music.
const BLOCKS: [u32; 16] = [
    0x20, 0xC0, 0x300, 0x320, 0x340, 0x5B0, 0x640, 0x930, 0x9BE, 0xF70, 0x1100, 0x1160, 0x11A8,
    0x3090, 0xAC00, 0x1_D160,
];

/// A normal form of a whole text: its characters, and how much each changes the number of characters.
type Form = fn(&str) -> Vec<(char, isize)>;

pub(crate) fn run(mut input: Input) {
    let which = input.below(5);
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
        let (mut out, mut spans) = (String::new(), Vec::new());
        chain
            .normalize(&text, &mut out, Some(&mut spans))
            .expect("no regular expression");
        assert_eq!(spans.len(), out.len());
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
