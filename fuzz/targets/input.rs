//! Parses the inputs of libFuzzer: choices of one byte each, then texts separated by the byte FF, which UTF-8 lacks.

use crate::support::{CONTRACTION_SYMBOLS, Random, SYMBOLS};

/// Characters for vocabularies of few bytes: merges touch, overlap and compete.
const FEW: [&str; 4] = ["a", "b", "ab", " "];

/// Characters of several bytes with bytes in common, for vocabularies of those bytes.
const WIDE: [&str; 5] = ["一", "丁", "乸", "é", "a"];

/// Further parts of an input are ignored.
const MOST_PARTS: usize = 40;
const MOST_TEXTS: usize = 5;

/// The rest of an input.
pub(crate) struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    pub(crate) fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    /// The next byte; 0 if there is none.
    pub(crate) fn byte(&mut self) -> u8 {
        self.rest.split_off_first().copied().unwrap_or(0)
    }

    /// A number below `bound`, which is at most 256.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }

    /// The next bytes, as many as there are.
    pub(crate) fn take(&mut self, most: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(most.min(self.rest.len()));
        self.rest = rest;
        taken
    }

    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// Returns a random generator seeded with the next four bytes.
    pub(crate) fn random(&mut self) -> Random {
        Random::new((0..4).fold(0, |seed, _| seed << 8 | usize::from(self.byte())))
    }

    /// Returns the rest as byte strings, limited in number: each costs the time of the reference.
    pub(crate) fn parts(self) -> impl Iterator<Item = &'a [u8]> {
        self.rest.split(|&byte| byte == 0xFF).take(MOST_PARTS)
    }

    /// Returns the rest as texts, decoded as the next byte chooses.
    pub(crate) fn texts(mut self) -> Vec<String> {
        let way = self.byte();
        let texts = self.parts().take(MOST_TEXTS);
        texts.map(|part| text(way, part)).collect()
    }

    /// Returns the rest.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.rest
    }
}

/// Decodes bytes to a text in one of several ways.
fn text(way: u8, bytes: &[u8]) -> String {
    let symbols = |symbols: &[&'static str]| {
        let chosen = bytes
            .iter()
            .map(|&byte| symbols[usize::from(byte) % symbols.len()]);
        chosen.collect()
    };
    match way % 8 {
        0 => symbols(&SYMBOLS),
        1 => symbols(&CONTRACTION_SYMBOLS),
        2 => symbols(&FEW),
        3 => symbols(&WIDE),
        // Runs of a symbol.
        4 => {
            let runs = bytes.chunks(2).map(|run| {
                let length = run.get(1).map_or(1, |&length| usize::from(length));
                SYMBOLS[usize::from(run[0]) % SYMBOLS.len()].repeat(length % 100)
            });
            runs.collect()
        }
        // Anything that splitters find hard.
        5 => {
            let seed = bytes.iter().fold(bytes.len(), |seed, &byte| {
                seed.wrapping_mul(31) + usize::from(byte)
            });
            Random::new(seed).text(bytes.len().min(60))
        }
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// Returns the last character boundary up to an offset: `str::floor_char_boundary`, which Rust has since 1.91.
pub(crate) fn floor_char_boundary(text: &str, offset: usize) -> usize {
    let mut offsets = (0..=offset.min(text.len())).rev();
    offsets
        .find(|&offset| text.is_char_boundary(offset))
        .unwrap_or(0)
}
