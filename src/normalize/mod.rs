//! Normalizes texts as SentencePiece does before it looks for pieces.
//!
//! ```text
//! each step takes the longest user-defined symbol, else the longest key of the map of characters, else a
//!     character, else a byte that is not UTF-8, and yields some text: the symbol, the value, the character, U+FFFD
//! extra spaces are dropped: those at both ends, and those after a space
//! a space is put in front or behind; every space becomes a mark
//! ```
//!
//! Nearly all text is left as it is. So `starts` knows which characters can begin anything else, and what stands
//! between those is copied at once. Every byte is read a bounded number of times, except for keys and symbols that
//! begin and do not end: time is at most the length of the text times that of the longest of them.

pub mod chain;
mod charsmap;
mod output;
pub mod rules;
mod starts;

use aho_corasick::{AhoCorasick, Anchored, Input, MatchKind, StartKind};
use memchr::memmem;

use crate::error::NormalizerError;
use crate::util::memory::Growable;
use charsmap::Charsmap;
use output::{MAX_MARK, Output};
use starts::{Starts, decode};

/// Stands for a space in pieces: U+2581.
pub const MARK: &[u8] = "\u{2581}".as_bytes();

/// Stands for a byte that is not UTF-8.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// The treatment of spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the fields of the file of a model"
)]
pub struct Flags {
    /// Whether a space is added to the text.
    pub add_dummy_prefix: bool,
    /// Whether spaces at the ends, and all but one between words, are removed.
    pub remove_extra_whitespaces: bool,
    /// Whether spaces become marks.
    pub escape_whitespaces: bool,
    /// Whether the added space stands behind the text.
    pub treat_whitespace_as_suffix: bool,
}

impl Default for Flags {
    fn default() -> Self {
        Self {
            add_dummy_prefix: true,
            remove_extra_whitespaces: true,
            escape_whitespaces: true,
            treat_whitespace_as_suffix: false,
        }
    }
}

/// Of symbols that begin with each other, how many are found: SentencePiece looks at no more.
const MOST_NESTED: usize = 64;

/// Returns whether each of some user-defined symbols is found in texts: not if it is empty or begins with too many others.
///
/// # Complexity
/// O(n log n) comparisons for n symbols.
pub fn are_found(symbols: &[&[u8]]) -> Vec<bool> {
    let mut found = vec![true; symbols.len()];
    let mut order: Vec<usize> = (0..symbols.len()).collect();
    order.sort_unstable_by_key(|&at| symbols[at]);
    // What the symbol begins with, the shortest first: it stands behind those in this order.
    let mut beginnings: Vec<&[u8]> = Vec::new();
    for at in order {
        while beginnings
            .last()
            .is_some_and(|last| !symbols[at].starts_with(last) || symbols[at] == *last)
        {
            beginnings.pop();
        }
        found[at] = !symbols[at].is_empty() && beginnings.len() < MOST_NESTED;
        if !symbols[at].is_empty() {
            beginnings.push(symbols[at]);
        }
    }
    found
}

/// Normalizes texts.
pub struct Normalizer {
    charsmap: Option<Charsmap>,
    symbols: Option<AhoCorasick>,
    starts: Starts,
    flags: Flags,
    is_identity: bool,
}

impl Normalizer {
    /// Creates a normalizer from the map in a model's file, empty for none, and the user-defined symbols.
    ///
    /// # Errors
    /// If the bytes are not a map, or the symbols need too much memory.
    pub fn new(
        charsmap: &[u8],
        flags: Flags,
        user_defined: &[&[u8]],
    ) -> Result<Self, NormalizerError> {
        let charsmap = match charsmap {
            [] => None,
            blob => Some(Charsmap::parse(blob)?),
        };
        let symbols: Vec<&[u8]> = user_defined
            .iter()
            .zip(are_found(user_defined))
            .filter_map(|(symbol, is_found)| is_found.then_some(*symbol))
            .collect();
        let starts = Starts::new(charsmap.as_ref(), &symbols, flags.escape_whitespaces);
        let is_identity = charsmap.is_none()
            && !flags.remove_extra_whitespaces
            && flags.escape_whitespaces
            && symbols.iter().all(|symbol| is_same_when_merged(symbol));
        let symbols = match symbols.as_slice() {
            [] => None,
            symbols => Some(
                AhoCorasick::builder()
                    .match_kind(MatchKind::LeftmostLongest)
                    .start_kind(StartKind::Anchored)
                    .build(symbols)
                    .map_err(|_| NormalizerError::TooManySymbols(symbols.len()))?,
            ),
        };
        Ok(Self {
            charsmap,
            symbols,
            starts,
            flags,
            is_identity,
        })
    }

    /// Returns what is done to spaces.
    pub fn flags(&self) -> Flags {
        self.flags
    }

    /// Returns whether a text that is UTF-8 and holds no mark changes only by the added space and by spaces becoming
    /// marks, each character of the output at the offset of the same character of the text.
    pub fn is_identity(&self) -> bool {
        self.is_identity
    }

    /// Returns whether each span between two spaces of a text may be normalized alone, if no mark is in it: no key or
    /// symbol holds a space, and no value is a mark.
    pub fn is_word_by_word(&self) -> bool {
        self.symbols.is_none()
            && self
                .charsmap
                .as_ref()
                .is_none_or(|map| map.lacks(b' ') && !map.makes(MARK))
    }

    /// Returns whether a character of ASCII stays as it is if ASCII follows.
    pub fn keeps_ascii(&self, byte: u8) -> bool {
        byte.is_ascii() && self.starts.keeps(byte)
    }

    /// Returns whether the last byte of `word`, a letter or digit of ASCII, becomes itself and nothing else, wherever
    /// before it the text begins. There is no space in the word, and text is normalized word by word.
    pub fn keeps_end(&self, word: &[u8]) -> bool {
        let Some(last) = word.len().checked_sub(1) else {
            return false;
        };
        let is_apart = |start: usize| start + self.step(&word[start..]).1 <= last;
        (0..last).all(is_apart) && self.step(&word[last..]) == (&word[last..], 1)
    }

    /// Appends the normalized `text` to `out`. A space becomes `mark`, of at most four bytes, if spaces are escaped at
    /// all; so does a mark that stands in the text already. If `offsets` are wanted, appends for each byte of output
    /// where in `text` the step began that made it, and finally where the output ends.
    pub fn normalize(
        &self,
        text: &[u8],
        mark: &[u8],
        out: &mut Vec<u8>,
        offsets: Option<&mut Vec<usize>>,
    ) {
        self.normalize_part(text, true, mark, out, offsets);
    }

    /// As [`normalize`](Self::normalize); `text` that does not start a text follows a character that becomes no space,
    /// so that no space is added before it, and one that it begins with is kept.
    pub fn normalize_part(
        &self,
        text: &[u8],
        is_start: bool,
        mark: &[u8],
        out: &mut Vec<u8>,
        offsets: Option<&mut Vec<usize>>,
    ) {
        assert!(
            (1..=MAX_MARK).contains(&mark.len()),
            "a mark is one character"
        );
        let mut output = Output {
            start: out.len(),
            bytes: out,
            offsets,
            mark: if self.flags.escape_whitespaces {
                mark
            } else {
                b" "
            },
            escapes: self.flags.escape_whitespaces,
        };
        let end = self.run(text, is_start, &mut output);
        if let Some(offsets) = output.offsets {
            offsets.with_room(1).push(end);
        }
    }

    /// Normalizes, and returns the offset at which the output ends.
    fn run(&self, text: &[u8], is_start: bool, output: &mut Output<'_>) -> usize {
        let removes = self.flags.remove_extra_whitespaces;
        let mut at = 0;
        while removes && is_start && at < text.len() {
            let (replacement, length) = self.step(&text[at..]);
            if replacement != b" " {
                break;
            }
            at += length;
        }
        if at == text.len() {
            return 0;
        }
        // Most texts have a space among every four bytes or more.
        let growth = (output.mark.len() - 1) * text.len() / 4;
        output.bytes.with_room(text.len() + growth + MAX_MARK);
        let adds = self.flags.add_dummy_prefix;
        let suffix = self.flags.treat_whitespace_as_suffix;
        if adds && !suffix && is_start {
            output.append(b" ", at);
        }
        let mut after_space = removes && is_start;
        while at < text.len() {
            let end = self.starts.unchanged(text, at, removes, after_space);
            if end > at {
                output.copy(&text[at..end], at);
                after_space = removes && text[end - 1] == b' ';
                at = end;
                continue;
            }
            let (mut replacement, length) = self.step(&text[at..]);
            if after_space {
                let extra = replacement.iter().take_while(|&&byte| byte == b' ').count();
                replacement = &replacement[extra..];
            }
            if let Some(&last) = replacement.last() {
                output.append(replacement, at);
                after_space = removes && last == b' ';
            }
            at += length;
        }
        if removes {
            at = output.trim_end(at);
        }
        if adds && suffix {
            output.append(b" ", at);
        }
        at
    }

    /// Returns what the beginning of `rest` becomes, and how many bytes that takes.
    fn step<'a>(&'a self, rest: &'a [u8]) -> (&'a [u8], usize) {
        if let Some(symbols) = &self.symbols {
            let input = Input::new(rest).anchored(Anchored::Yes);
            if let Some(found) = symbols.find(input) {
                return (&rest[..found.end()], found.end());
            }
        }
        if let Some(found) = self.charsmap.as_ref().and_then(|map| map.longest(rest)) {
            return found;
        }
        match decode(rest) {
            Some((_, length)) => (&rest[..length], length),
            None => (REPLACEMENT, 1),
        }
    }
}

/// Returns whether pieces are cut at a symbol in the normalized text exactly where it was found in a text without
/// marks.
///
/// A symbol with a space is found in the text and never in the output, where spaces are marks; one with a mark is
/// found in the output alone, and may there cover the beginning of another symbol unless it is of marks only.
fn is_same_when_merged(symbol: &[u8]) -> bool {
    let marks = memmem::find_iter(symbol, MARK).count();
    !symbol.contains(&b' ') && (marks == 0 || marks * MARK.len() == symbol.len())
}

#[cfg(test)]
mod tests {
    use super::{Flags, MARK, Normalizer, are_found};
    use crate::error::NormalizerError;

    type Tested = Result<(), NormalizerError>;

    const LOSSLESS: Flags = Flags {
        add_dummy_prefix: false,
        remove_extra_whitespaces: false,
        escape_whitespaces: true,
        treat_whitespace_as_suffix: false,
    };

    fn normalized(normalizer: &Normalizer, text: &[u8]) -> (String, Vec<usize>) {
        let (mut out, mut offsets) = (b"before".to_vec(), vec![77]);
        normalizer.normalize(text, MARK, &mut out, Some(&mut offsets));
        let mut alone = Vec::new();
        normalizer.normalize(text, MARK, &mut alone, None);
        assert_eq!(out[6..], alone);
        assert_eq!(offsets.remove(0), 77);
        assert_eq!(offsets.len(), alone.len() + 1);
        (String::from_utf8_lossy(&alone).into_owned(), offsets)
    }

    #[test]
    fn spaces_become_marks() -> Tested {
        let identity = Normalizer::new(b"", LOSSLESS, &[])?;
        assert!(identity.is_identity());
        assert_eq!(
            normalized(&identity, b" a  b"),
            (
                "\u{2581}a\u{2581}\u{2581}b".to_owned(),
                vec![0, 0, 0, 1, 2, 2, 2, 3, 3, 3, 4, 5]
            )
        );
        assert_eq!(normalized(&identity, b""), (String::new(), vec![0]));
        Ok(())
    }

    #[test]
    fn extra_spaces_are_removed() -> Tested {
        let normalizer = Normalizer::new(b"", Flags::default(), &[])?;
        assert!(!normalizer.is_identity());
        let long = "abcdefgh ijklmnopqrst uvwxyz";
        for spaces in 1..40 {
            let text = format!("{:spaces$}{long}{:spaces$}{long}  ", "", "");
            let expected = format!(" {long} {long}").replace(' ', "\u{2581}");
            assert_eq!(normalized(&normalizer, text.as_bytes()).0, expected);
        }
        assert_eq!(normalized(&normalizer, b"   "), (String::new(), vec![0]));
        let (text, offsets) = normalized(&normalizer, "  \u{e9} x  ".as_bytes());
        assert_eq!(text, "\u{2581}\u{e9}\u{2581}x");
        assert_eq!(offsets, [2, 2, 2, 2, 2, 4, 4, 4, 5, 6]);
        Ok(())
    }

    #[test]
    fn suffix_stands_behind() -> Tested {
        let flags = Flags {
            treat_whitespace_as_suffix: true,
            ..Flags::default()
        };
        let normalizer = Normalizer::new(b"", flags, &[])?;
        assert_eq!(
            normalized(&normalizer, b" a "),
            ("a\u{2581}".to_owned(), vec![1, 2, 2, 2, 2])
        );
        Ok(())
    }

    #[test]
    fn each_byte_that_is_not_utf8_is_replaced() -> Tested {
        let normalizer = Normalizer::new(b"", LOSSLESS, &[])?;
        let (text, offsets) = normalized(&normalizer, b"a\xE3\x81\xED\xA0\x80z");
        assert_eq!(text, format!("a{}z", "\u{FFFD}".repeat(5)));
        assert_eq!(offsets[1..5], [1, 1, 1, 2]);
        Ok(())
    }

    #[test]
    fn symbols_that_begin_with_64_others_are_not_found() {
        let long = [b'x'; 66];
        let mut symbols: Vec<&[u8]> = (1..=66).rev().map(|length| &long[..length]).collect();
        symbols.extend([b"y".as_slice(), b"x", b"xy", b""]);
        let expected = (1..=66).rev().map(|length| length <= 64);
        let expected: Vec<bool> = expected.chain([true, true, true, false]).collect();
        assert_eq!(are_found(&symbols), expected);
    }

    #[test]
    fn longest_symbols_are_one_step() -> Tested {
        let symbols: [&[u8]; 3] = [b"ab", b"abc d", "\u{2581}".as_bytes()];
        let normalizer = Normalizer::new(b"", LOSSLESS, &symbols)?;
        assert!(!normalizer.is_identity());
        assert_eq!(
            normalized(&normalizer, b"xabc dab"),
            (
                "xabc\u{2581}dab".to_owned(),
                vec![0, 1, 1, 1, 1, 1, 1, 1, 6, 6, 8]
            )
        );
        Ok(())
    }

    #[test]
    fn marks_in_the_text_are_marks() -> Tested {
        let mut out = Vec::new();
        let normalizer = Normalizer::new(b"", LOSSLESS, &[])?;
        normalizer.normalize("a b\u{2581}c".as_bytes(), b" ", &mut out, None);
        assert_eq!(out, b"a b c");
        let flags = Flags {
            escape_whitespaces: false,
            ..LOSSLESS
        };
        out.clear();
        Normalizer::new(b"", flags, &[])?.normalize(
            "a b\u{2581}c".as_bytes(),
            MARK,
            &mut out,
            None,
        );
        assert_eq!(out, "a b\u{2581}c".as_bytes());
        Ok(())
    }

    /// A map of one key without children: the units of the root, of the byte, of the value.
    fn map_of(key: u8, value: &[u8]) -> Vec<u8> {
        let mut units = vec![0_u32; 512];
        units[0] = 256 << 10;
        units[256 | usize::from(key)] = 1 << 8 | 1 << 10 | u32::from(key);
        units[(256 | usize::from(key)) ^ 1] = 1 << 31;
        let mut blob = 2048_u32.to_le_bytes().to_vec();
        blob.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
        blob.extend(value);
        blob
    }

    #[test]
    fn keys_become_values() -> Tested {
        let normalizer = Normalizer::new(&map_of(b'q', b"  QQ \0"), Flags::default(), &[])?;
        assert_eq!(
            normalized(&normalizer, b"qaq"),
            (
                "\u{2581}QQ\u{2581}a\u{2581}\u{2581}QQ".to_owned(),
                vec![0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2]
            )
        );
        Ok(())
    }

    #[test]
    fn damaged_maps_are_refused() {
        let blob = map_of(b'q', b"x\0");
        let error = |blob: &[u8]| Normalizer::new(blob, LOSSLESS, &[]).err();
        assert_eq!(error(&blob), None);
        assert_eq!(error(b"abc"), Some(NormalizerError::Truncated(3)));
        assert_eq!(error(&blob[..100]), Some(NormalizerError::Truncated(100)));
        assert_eq!(
            error(&blob[..blob.len() - 1]),
            Some(NormalizerError::UnendedValue)
        );
        assert_eq!(
            error(b"\x01\x00\x00\x00\x00\x00"),
            Some(NormalizerError::ArraySize(1))
        );
        let mut outside = blob.clone();
        outside[7] = 0x7F;
        assert_eq!(error(&outside), Some(NormalizerError::BadUnit(0)));
        let value = 4 + 4 * ((256 | usize::from(b'q')) ^ 1);
        outside.clone_from(&blob);
        outside[value] = 2;
        assert!(matches!(error(&outside), Some(NormalizerError::BadUnit(_))));
    }
}
