//! What libFuzzer makes, read: choices first, one byte each, then texts, with the byte FF between them, which is in none.

use crate::support::{CONTRACTION_SYMBOLS, Random, SYMBOLS};

/// Symbols for vocabularies of few bytes: merges meet, overlap and compete.
const FEW: [&str; 4] = ["a", "b", "ab", " "];

/// Characters of several bytes that share theirs, in vocabularies of bytes of them.
const WIDE: [&str; 5] = ["一", "丁", "乸", "é", "a"];

/// More parts of an input are not looked at.
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

    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// Chance that the next four bytes determine.
    pub(crate) fn random(&mut self) -> Random {
        Random::new((0..4).fold(0, |seed, _| seed << 8 | usize::from(self.byte())))
    }

    /// All that is left, as byte strings, of which only some are taken: each costs what the definition costs.
    pub(crate) fn parts(self) -> impl Iterator<Item = &'a [u8]> {
        self.rest.split(|&byte| byte == 0xFF).take(MOST_PARTS)
    }

    /// All that is left, as texts, in the way that the next byte chooses.
    pub(crate) fn texts(mut self) -> Vec<String> {
        let way = self.byte();
        let texts = self.parts().take(MOST_TEXTS);
        texts.map(|part| text(way, part)).collect()
    }

    /// All that is left.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.rest
    }
}

/// The text that bytes stand for, in one of several ways.
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
