//! Which characters can begin a key of a map or a user-defined symbol, and how far text goes on without them.

use super::MARK;
use super::charsmap::Charsmap;

/// The byte may begin something whatever follows; or it is no ASCII and no character begins with it.
const STOPS: u8 = 1;
/// The byte begins something only if no ASCII follows.
const JOINS: u8 = 2;

/// Bytes tested together.
const BLOCK: usize = 16;

/// Characters of a page.
const PAGE: usize = 256;

/// The characters that must be looked at more closely.
pub(super) struct Starts {
    /// The class of each byte: `STOPS`, `JOINS` or neither.
    bytes: [u8; 256],
    /// The page of every 256 characters.
    index: Vec<u16>,
    /// One bit for each character.
    pages: Vec<[u64; PAGE / 64]>,
}

impl Starts {
    pub(super) fn new(charsmap: Option<&Charsmap>, symbols: &[&[u8]], escapes: bool) -> Self {
        let mut starts = Self {
            bytes: [0; 256],
            index: vec![0; (char::MAX as usize + 1) / PAGE],
            pages: vec![[0; PAGE / 64]],
        };
        if let Some(charsmap) = charsmap {
            charsmap.for_each_start(|key| starts.add(key));
        }
        for symbol in symbols {
            starts.add(symbol);
        }
        // A mark in the text becomes what the caller calls a mark.
        if escapes {
            starts.add(MARK);
        }
        starts
    }

    /// Adds the first character of what begins with `key`. More than one character is given only if the first is
    /// ASCII: then one byte more.
    fn add(&mut self, key: &[u8]) {
        let class = match *key {
            [] => return,
            [first, second, ..] if first.is_ascii() && !second.is_ascii() => JOINS,
            _ => STOPS,
        };
        match decode(key) {
            Some((character, _)) if !key[0].is_ascii() => {
                let page = &mut self.index[character / PAGE];
                if *page == 0 {
                    *page = u16::try_from(self.pages.len()).expect("there are 4,352 pages");
                    self.pages.push([0; PAGE / 64]);
                }
                self.pages[usize::from(*page)][character % PAGE / 64] |= 1 << (character % 64);
            }
            _ => self.bytes[usize::from(key[0])] |= class,
        }
    }

    /// Returns where the characters that stay as they are end, from `start`. With `removes`, extra spaces do not stay: those
    /// after a space, which may stand before the start.
    pub(super) fn unchanged(
        &self,
        text: &[u8],
        start: usize,
        removes: bool,
        after_space: bool,
    ) -> usize {
        if after_space && text[start] == b' ' {
            return start;
        }
        let mut at = start;
        loop {
            while let Some(block) = text.get(at..=at + BLOCK)
                && self.keeps_all(&block[..BLOCK])
                && !self.joins(block[BLOCK - 1], block[BLOCK])
                && !(removes && has_two_spaces(block))
            {
                at += BLOCK;
            }
            let limit = text.len().min(at + BLOCK);
            while at < limit {
                let byte = text[at];
                if byte.is_ascii() {
                    let next = text.get(at + 1).copied().unwrap_or(0);
                    if !self.keeps(byte) || self.joins(byte, next) {
                        return at;
                    }
                    at += 1;
                    if removes && byte == b' ' && next == b' ' {
                        return at;
                    }
                } else {
                    match self.kept_character(&text[at..]) {
                        0 => return at,
                        length => at += length,
                    }
                }
            }
            if at == text.len() {
                return at;
            }
        }
    }

    /// Returns whether all bytes are ASCII and stay, if what follows the last lets it.
    fn keeps_all(&self, block: &[u8]) -> bool {
        block.is_ascii()
            && block
                .iter()
                .fold(0, |all, &byte| all | self.bytes[usize::from(byte)])
                & STOPS
                == 0
    }

    /// Returns whether an ASCII byte stays if ASCII follows.
    pub(super) fn keeps(&self, byte: u8) -> bool {
        self.bytes[usize::from(byte)] & STOPS == 0
    }

    /// Returns whether an ASCII byte may begin something with the one that follows it.
    fn joins(&self, byte: u8, next: u8) -> bool {
        !next.is_ascii() && self.bytes[usize::from(byte)] & JOINS != 0
    }

    /// Returns the length of the character, not ASCII, that `rest` begins with if it stays as it is, else 0.
    fn kept_character(&self, rest: &[u8]) -> usize {
        if !self.keeps(rest[0]) {
            return 0;
        }
        let Some((character, length)) = decode(rest) else {
            return 0;
        };
        let page = self.pages[usize::from(self.index[character / PAGE])];
        if page[character % PAGE / 64] >> (character % 64) & 1 == 0 {
            length
        } else {
            0
        }
    }
}

/// Returns whether two spaces follow each other.
fn has_two_spaces(block: &[u8]) -> bool {
    let pairs = block.iter().zip(&block[1..]);
    // Without a branch for each.
    pairs.fold(0, |found, (&a, &b)| {
        found | (u8::from(a == b' ') & u8::from(b == b' '))
    }) != 0
}

/// Returns the code point that `bytes` begin with, and its length, if it is well-formed.
pub(super) fn decode(bytes: &[u8]) -> Option<(usize, usize)> {
    let low = |byte: u8| usize::from(byte & 0x3F);
    let continues = |byte: u8| byte & 0xC0 == 0x80;
    match *bytes {
        [a @ ..0x80, ..] => Some((usize::from(a), 1)),
        [a @ 0xC2..=0xDF, b, ..] if continues(b) => Some((usize::from(a & 0x1F) << 6 | low(b), 2)),
        [a @ 0xE0..=0xEF, b, c, ..] if continues(b) && continues(c) => {
            let character = usize::from(a & 0x0F) << 12 | low(b) << 6 | low(c);
            let is_scalar = character >= 0x800 && !(0xD800..0xE000).contains(&character);
            is_scalar.then_some((character, 3))
        }
        [a @ 0xF0..=0xF4, b, c, d, ..] if continues(b) && continues(c) && continues(d) => {
            let character = usize::from(a & 0x07) << 18 | low(b) << 12 | low(c) << 6 | low(d);
            (0x1_0000..=0x10_FFFF)
                .contains(&character)
                .then_some((character, 4))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn decodes_as_the_standard_library() {
        let mut buffer = [0; 4];
        for character in '\0'..=char::MAX {
            let bytes = character.encode_utf8(&mut buffer).as_bytes();
            assert_eq!(decode(bytes), Some((character as usize, bytes.len())));
            assert_eq!(decode(&bytes[..bytes.len() - 1]), None);
        }
    }

    #[test]
    fn malformed_bytes_are_no_character() {
        let edges = [
            0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF,
        ];
        for first in 0x80..=0xFF {
            for second in edges {
                for third in edges {
                    let bytes = [first, second, third, 0x80];
                    let valid = (2..=4).find(|&length| {
                        std::str::from_utf8(&bytes[..length])
                            .is_ok_and(|text| text.chars().count() == 1)
                    });
                    assert_eq!(
                        decode(&bytes).map(|(_, length)| length),
                        valid,
                        "{bytes:x?}"
                    );
                }
            }
        }
    }
}
