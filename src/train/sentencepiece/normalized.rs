//! From sentences to words: normalizing, and what stands between spaces.

use std::ops::Range;

use aho_corasick::AhoCorasick;
use memchr::memmem;

use super::words::WordRules;
use super::{BOUNDARY, INNER_MARK};
use crate::error::TrainError;
use crate::normalize::Normalizer;
use crate::train::counting::{PieceCounter, PieceCounts};
use crate::util::memory::{self, Growable};

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
