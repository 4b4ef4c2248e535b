//! Cutting sentences into words.

use std::ops::Range;

use aho_corasick::AhoCorasick;
use memchr::{memchr, memmem};

use super::{BOUNDARY, INNER_MARK};
use crate::error::TrainError;
use crate::normalize::Normalizer;
use crate::train::counting::{PieceCounter, PieceCounts};
use crate::util::memory::{self, Growable};

/// Where words end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordRules {
    /// Whether a sentence is cut at all.
    pub split_by_whitespace: bool,
    /// Whether a word ends with its mark instead of beginning with it.
    pub treat_whitespace_as_suffix: bool,
    /// Whether successive marks stay together.
    pub allow_whitespace_only_pieces: bool,
}

impl WordRules {
    /// Calls `visit` with the range of each word of a sentence, which is a range of `text`.
    pub(super) fn for_each<E>(
        self,
        text: &[u8],
        sentence: Range<usize>,
        mut visit: impl FnMut(Range<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Range { mut start, end } = sentence;
        let is_mark = |at: usize| at < end && text[at] == INNER_MARK;
        while start < end {
            let mut next = end;
            if self.split_by_whitespace {
                // The first character never ends a word before it.
                let mut from = start + usize::from(!self.treat_whitespace_as_suffix);
                if self.allow_whitespace_only_pieces && !self.treat_whitespace_as_suffix {
                    while is_mark(from) && is_mark(from - 1) {
                        from += 1;
                    }
                }
                if let Some(found) = memchr(INNER_MARK, &text[from.min(end)..end]) {
                    next = from + found;
                    if self.treat_whitespace_as_suffix {
                        next += 1;
                        while self.allow_whitespace_only_pieces && is_mark(next) {
                            next += 1;
                        }
                    }
                }
            }
            visit(start..next)?;
            start = next;
        }
        Ok(())
    }
}

/// Bytes whose separators are found together.
const BLOCK: usize = 64;

/// The texts between separators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Between {
    /// Number of texts that are not empty.
    pub(super) texts: u64,
    /// Number of words in them without a character.
    pub(super) empty: u64,
}

/// Calls `visit` with the range of each word that has a character and stands between the spaces of a text, or of
/// texts with line breaks between them.
pub(super) fn for_each_between<const LINES: bool, E>(
    text: &[u8],
    mut visit: impl FnMut(Range<usize>) -> Result<(), E>,
) -> Result<Between, E> {
    let (mut start, mut words, mut all_spaces, mut texts) = (0, 0, 0, 0);
    let mut after_break = 1;
    for (at, chunk) in (0..).step_by(BLOCK).zip(text.chunks(BLOCK)) {
        let mut block = [0; BLOCK];
        let block = chunk.first_chunk().unwrap_or_else(|| {
            block[..chunk.len()].copy_from_slice(chunk);
            &block
        });
        let spaces = bits_of(block, b' ');
        let breaks = if LINES { bits_of(block, b'\n') } else { 0 };
        all_spaces += u64::from(spaces.count_ones());
        texts += u64::from((breaks & !(breaks << 1 | after_break)).count_ones());
        after_break = breaks >> (BLOCK - 1);
        let mut ends = spaces | breaks;
        while ends != 0 {
            let end = at + ends.trailing_zeros() as usize;
            if end > start {
                words += 1;
                visit(start..end)?;
            }
            start = end + 1;
            ends &= ends - 1;
        }
    }
    if start < text.len() {
        words += 1;
        visit(start..text.len())?;
    }
    let is_open = |&last: &u8| !LINES || last != b'\n';
    texts += u64::from(text.last().is_some_and(is_open));
    // Each text has one word more than spaces.
    let empty = all_spaces + texts - words;
    Ok(Between { texts, empty })
}

/// Returns a bit for each byte of a block, whether it is `byte`: in plain arithmetic on eight bytes at a time, which
/// takes an eighth of the time of finding them one after the other.
#[inline]
fn bits_of(block: &[u8; BLOCK], byte: u8) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const LOW: u64 = u64::from_le_bytes([0x7F; 8]);
    /// Moves the lowest bit of byte n to bit n of the highest byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let wanted = ONES * u64::from(byte);
    let (words, _) = block.as_chunks::<8>();
    let bits = words.iter().map(|word| {
        let other = u64::from_le_bytes(*word) ^ wanted;
        // No carry leaves a byte.
        let is_zero = !(((other & LOW) + LOW) | other | LOW) >> 7;
        is_zero.wrapping_mul(GATHER) >> 56
    });
    (0..)
        .step_by(8)
        .zip(bits)
        .fold(0, |all, (at, bits)| all | bits << at)
}

// From sentences to words: normalizing, and what stands between spaces.

/// Zeros behind the text of a block, so that the last words are read like others.
const PADDING: [u8; 16] = [0; 16];

/// Counted words.
///
/// Those that begin with a mark are words as they are. Others are what stood between spaces: the words of it are
/// those of its normalized text. So a text that occurs often is normalized only a few times.
pub struct Words<'a> {
    pub(super) counts: PieceCounts,
    pub(super) sentences: &'a SentenceWords,
}

/// From sentences to words.
pub(super) struct SentenceWords {
    rules: WordRules,
    /// Whether sentences without marks are counted as what stands between spaces.
    pub(super) is_word_by_word: bool,
    pub(super) normalizer: Normalizer,
    protected: Option<AhoCorasick>,
    delimiter: Vec<u8>,
    /// The bytes of ASCII that stay as they are, and end or begin nothing, if all others are of these.
    is_plain: [bool; 256],
}

/// Normalized sentences.
#[derive(Default)]
pub(super) struct Buffer {
    text: Vec<u8>,
    /// Where each sentence ends, and how often it occurs.
    ends: Vec<(usize, u64)>,
}

impl SentenceWords {
    /// Words by some rules, of sentences in which neither a delimiter nor what `protected` finds, which is one of
    /// some strings, is part of a word.
    pub(super) fn new(
        rules: WordRules,
        is_word_by_word: bool,
        normalizer: Normalizer,
        protected: Option<AhoCorasick>,
        strings: &[String],
        delimiter: Vec<u8>,
    ) -> Self {
        let strings = strings.iter().map(String::as_bytes);
        let firsts = strings.chain([&delimiter[..]]).filter_map(<[u8]>::first);
        let mut is_plain = [false; 256];
        for byte in b'!'..=b'~' {
            is_plain[usize::from(byte)] = normalizer.keeps_ascii(byte);
        }
        for &first in firsts {
            is_plain[usize::from(first)] = false;
        }
        Self {
            rules,
            is_word_by_word,
            normalizer,
            protected,
            delimiter,
            is_plain,
        }
    }

    /// Calls `visit` with the words of what was counted, using `buffer` for them.
    pub(super) fn for_each_word<E>(
        &self,
        counted: &[u8],
        buffer: &mut Vec<u8>,
        mut visit: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.is_word_by_word || counted.first() == Some(&INNER_MARK) {
            return visit(counted);
        }
        buffer.clear();
        // Most words: with all of them normalized, these and their characters took half as long as learning.
        if counted.iter().all(|&byte| self.is_plain[usize::from(byte)]) {
            buffer.with_room(1 + counted.len()).push(INNER_MARK);
            buffer.extend_from_slice(counted);
            return visit(buffer);
        }
        self.append_normalized(counted, buffer);
        self.rules
            .for_each(buffer, 0..buffer.len(), |word| visit(&buffer[word]))
    }

    /// Appends the normalized text of a sentence that occurs `count` times.
    pub(super) fn normalize(&self, sentence: &[u8], count: u64, buffer: &mut Buffer) {
        self.append_normalized(sentence, &mut buffer.text);
        buffer.ends.with_room(1).push((buffer.text.len(), count));
    }

    fn append_normalized(&self, sentence: &[u8], text: &mut Vec<u8>) {
        let start = text.len();
        self.normalizer
            .normalize(sentence, &[INNER_MARK], text, None);
        if let Some(protected) = &self.protected {
            let found = protected.find_iter(&text[start..]);
            let found = memory::collect(found.map(|found| found.range()));
            replace_by_boundary(text, start, found);
        }
        if !self.delimiter.is_empty() {
            let found = memmem::find_iter(&text[start..], &self.delimiter);
            let found = memory::collect(found.map(|at| at..at + self.delimiter.len()));
            replace_by_boundary(text, start, found);
        }
    }

    /// Counts the words of normalized sentences.
    pub(super) fn count(
        &self,
        buffer: &mut Buffer,
        counter: &mut PieceCounter<'_, '_>,
    ) -> Result<(), TrainError> {
        memory::extend(&mut buffer.text, PADDING);
        let mut start = 0;
        for &(end, count) in &buffer.ends {
            self.rules.for_each(&buffer.text, start..end, |word| {
                if count == 1 {
                    return counter.count_word(&buffer.text, word, 0);
                }
                counter.count_repeated(&buffer.text[word], count)
            })?;
            start = end;
        }
        Ok(())
    }
}

/// Replaces ranges of the text from `start` on, none of them empty, each by one boundary.
fn replace_by_boundary(text: &mut Vec<u8>, start: usize, ranges: Vec<Range<usize>>) {
    let (mut from, mut to) = (start, start);
    for range in ranges {
        let length = start + range.start - from;
        text.copy_within(from..from + length, to);
        to += length;
        text[to] = BOUNDARY;
        to += 1;
        from = start + range.end;
    }
    if to < from {
        let end = text.len();
        text.copy_within(from..end, to);
        text.truncate(to + end - from);
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::{Between, WordRules, bits_of, for_each_between};

    fn words(text: &str, suffix: bool, marks: bool) -> Vec<String> {
        let rules = WordRules {
            split_by_whitespace: true,
            treat_whitespace_as_suffix: suffix,
            allow_whitespace_only_pieces: marks,
        };
        let mut words = Vec::new();
        let text = text.replace('_', " ");
        let cut = rules.for_each(text.as_bytes(), 0..text.len(), |word| {
            words.push(text[word].replace(' ', "_"));
            Ok::<(), Infallible>(())
        });
        assert_eq!(cut, Ok(()));
        words
    }

    #[test]
    fn words_begin_or_end_with_marks() {
        assert_eq!(words("a__b_", false, false), ["a", "_", "_b", "_"]);
        assert_eq!(words("__a__b_", false, true), ["__a", "__b", "_"]);
        assert_eq!(words("a__b_", true, false), ["a_", "_", "b_"]);
        assert_eq!(words("a__b_c", true, true), ["a__", "b_", "c"]);
        assert_eq!(words("___", false, true), ["___"]);
        assert_eq!(words("", false, false), [""; 0]);
    }

    #[test]
    fn separators_have_bits() {
        let block: [u8; 64] =
            std::array::from_fn(|at| b" \n!\x1F\xA0\0\xFFa"[(3 * at + at / 8) % 8]);
        for byte in [b' ', b'\n', 0, 0xFF] {
            let bits = bits_of(&block, byte);
            for (at, &found) in block.iter().enumerate() {
                assert_eq!(bits >> at & 1 == 1, found == byte, "{at} {byte}");
            }
        }
    }

    /// Compared with splitting, for texts that end anywhere in a block.
    #[test]
    fn words_are_between_spaces_and_breaks() {
        let text = " a  bc\n\n\nde f g\n   \nh \n".repeat(9);
        for from in 0..text.len() {
            for to in from..text.len() {
                let text = &text[from..to];
                let mut words = Vec::new();
                let found = for_each_between::<true, _>(text.as_bytes(), |word| {
                    words.push(&text[word]);
                    Ok::<(), Infallible>(())
                });
                let lines = text.split('\n').filter(|line| !line.is_empty());
                let all: Vec<&str> = lines.clone().flat_map(|line| line.split(' ')).collect();
                let (empty, some): (Vec<&str>, _) = all.iter().partition(|word| word.is_empty());
                assert_eq!(words, some);
                let expected = Between {
                    texts: lines.count() as u64,
                    empty: empty.len() as u64,
                };
                assert_eq!(found, Ok(expected));
            }
        }
        let found = for_each_between::<false, Infallible>(b" a\n\n  b", |_| Ok(()));
        assert_eq!(found, Ok(Between { texts: 1, empty: 2 }));
    }
}

#[cfg(test)]
mod normalized_tests {
    use super::replace_by_boundary;

    #[test]
    fn ranges_become_one_byte_each() {
        let mut text = b"--ab<s>c<s><s>d".to_vec();
        replace_by_boundary(&mut text, 2, vec![2..5, 6..9, 9..12]);
        assert_eq!(text, b"--ab\x1Fc\x1F\x1Fd");
        replace_by_boundary(&mut text, 2, vec![0..1, 1..2]);
        assert_eq!(text, b"--\x1F\x1F\x1Fc\x1F\x1Fd");
    }
}
