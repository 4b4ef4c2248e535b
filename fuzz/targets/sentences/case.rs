//! Corpora of few characters, and options.

use bytemill::normalize::Flags;
use bytemill::train::sentencepiece::{Coverage, PieceRules, Reading, Sampling, WordRules};

use crate::input::Input;
use crate::normalize::{self, Rules};

/// Longer sentences take the definition too long.
const LONGEST: usize = 60;

/// Bytes, of a few blocks, and texts up to which they are repeated.
const MOST_BYTES: usize = 300_000;
const MOST_TEXTS: usize = 3_000;

/// Characters that the rules look at: scripts, marks, digits of two widths, accents, symbols, and what is left out.
const ALPHABETS: [&[&str]; 8] = [
    &["a", "b"],
    &["a", "b", "c", "d", " "],
    &["a", "б", "α", " ", "."],
    &["a", "1", "２", " ", "3"],
    &["日", "ひ", "カ", "ー", "一", " ", "a"],
    &["a", "b", "\u{2581}", "\u{1F}", "\t", "\0", "  "],
    &["a", "é", "\u{301}", "\u{953}", "क", " ", "😀"],
    &["<s>", "<", "ab", " ", "\r", "\n", "\u{2585}", "\u{3000}"],
];

/// Strings that may be protected or delimit.
const STRINGS: [&str; 9] = [
    "<s>",
    "ab",
    "b",
    "<",
    "\u{2581}a",
    "a b",
    "",
    "\u{1F}",
    "一",
];

/// Fields behind a sentence: counts, large ones, and others.
const COUNTS: [&[&str]; 4] = [
    &["\t1", "\t2", "\t5"],
    &["\t1", "\t +7\r", "\t1000000000000"],
    &["\t2", "\t9223372036854775807"],
    &[
        "\t1",
        "\t3",
        "\t4",
        "\t0",
        "\tx",
        "",
        "\t1\t2",
        "\t-3",
        "\t9223372036854775808",
    ],
];

/// A corpus and options.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) texts: Vec<Vec<u8>>,
    pub(super) are_lines: bool,
    pub(super) rules: Rules,
    pub(super) flags: Flags,
    pub(super) reading: Reading,
    pub(super) pieces: PieceRules,
    pub(super) coverage: Coverage,
    pub(super) most: usize,
}

impl Case {
    pub(super) fn draw(mut input: Input) -> Self {
        let bits = input.byte();
        let option = |bit: u32| bits >> bit & 1 == 1;
        let words = WordRules {
            split_by_whitespace: !option(0),
            treat_whitespace_as_suffix: option(1),
            allow_whitespace_only_pieces: option(2),
        };
        let flags = Flags {
            escape_whitespaces: true,
            treat_whitespace_as_suffix: words.treat_whitespace_as_suffix,
            ..normalize::flags(&mut input)
        };
        let pieces = PieceRules {
            max_length: input.pick(&[16, 16, 16, 1, 2, 3, 5]),
            split_by_whitespace: words.split_by_whitespace,
            treat_whitespace_as_suffix: words.treat_whitespace_as_suffix,
            allow_whitespace_only_pieces: words.allow_whitespace_only_pieces,
            split_by_unicode_script: !option(3),
            split_by_number: !option(4),
            split_digits: option(5),
        };
        let rules = match input.below(2) {
            0 => Rules::new(),
            _ => normalize::rules(&mut input),
        };
        let reading = reading(&mut input, words);
        let required = ["", "", "", "a", "zé", "一b", "\u{2581}", "\u{1F}q"];
        let coverage = match input.below(7) {
            0 => Coverage::Balanced,
            _ => Coverage::Share {
                share: input.pick(&[1.0, 0.9995, 0.98, 0.99]),
                required: input.pick(&required).to_owned(),
            },
        };
        let most = input.pick(&[5, 20, 40, 100]) + input.below(20);
        let are_lines = option(6);
        let texts = texts(input, are_lines, option(7), reading.has_counts);
        Self {
            texts,
            are_lines,
            rules,
            flags,
            reading,
            pieces,
            coverage,
            most,
        }
    }
}

fn reading(input: &mut Input, words: WordRules) -> Reading {
    let number = input.pick(&[0, 0, 0, 1, 2, 3]);
    let protected = (0..number).map(|_| input.pick(&STRINGS).to_owned());
    let protected = protected.collect();
    let delimiter = input.pick(&[false, false, false, false, false, true]);
    let delimiter = if delimiter { input.pick(&STRINGS) } else { "" };
    let sampling = match input.below(24) {
        0 => Some(Sampling::First(input.below(12))),
        1 => Some(Sampling::Random {
            size: input.below(40),
            seed: input.byte().into(),
        }),
        _ => None,
    };
    Reading {
        has_counts: input.below(8) == 0,
        max_sentence_length: input.pick(&[4192, 4192, 4192, 20, 10]),
        words,
        protected,
        delimiter: delimiter.to_owned(),
        sampling,
    }
}

/// Draws texts, each of one sentence or of some lines.
fn texts(mut input: Input, are_lines: bool, is_raw: bool, have_counts: bool) -> Vec<Vec<u8>> {
    let alphabet = input.pick(&ALPHABETS);
    let counts = input.pick(&COUNTS);
    let lines = 1 + input.below(9);
    let repeat = input.pick(&[1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, MOST_BYTES]);
    let sentences = input.parts().map(|part| {
        let letters = part.iter().take(LONGEST);
        let mut text: Vec<u8> = if is_raw {
            // No part holds the byte FF, and no text the byte FE.
            letters.map(|&byte| byte | u8::from(byte == 0xFE)).collect()
        } else {
            let letters = letters.map(|&letter| alphabet[usize::from(letter) % alphabet.len()]);
            letters.flat_map(str::bytes).collect()
        };
        if have_counts {
            text.retain(|byte| !b"\t\n".contains(byte));
            let count = counts[part.len() % counts.len()];
            text.extend_from_slice(count.as_bytes());
        }
        text
    });
    let sentences: Vec<Vec<u8>> = sentences.collect();
    let texts: Vec<Vec<u8>> = if are_lines {
        let lines = sentences.chunks(lines);
        lines.map(|lines| lines.join(&b'\n')).collect()
    } else {
        sentences
    };
    let bytes: usize = texts.iter().map(|text| text.len() + 1).sum();
    let most = (MOST_BYTES / (bytes + 1)).min(MOST_TEXTS / texts.len());
    let repeat = repeat.min(1 + most);
    std::iter::repeat_n(texts, repeat).flatten().collect()
}
