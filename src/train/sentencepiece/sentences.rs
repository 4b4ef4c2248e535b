//! From texts to counted words.

use std::str;

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::{memchr, memchr_iter};
use thiserror::Error;

use super::words::{Buffer, SentenceWords, Words};
use super::words::{WordRules, for_each_between};
use super::{INNER_MARK, MARK};
use crate::checkpoint::{self, Interrupted};
use crate::error::TrainError;
use crate::normalize::{Normalizer, are_found};
use crate::train::counting::{PieceCounter, PieceCounts};
use crate::util::memory::{self, Growable};

/// A sentence with this character is left out: it stands for characters that are not in the alphabet.
const RESERVED: &[u8] = "\u{2585}".as_bytes();

/// Bytes of a block, which one thread reads.
const BLOCK: usize = 1 << 17;

const MARK_BYTES: &[u8] = "\u{2581}".as_bytes();

/// No UTF-8 has this byte, which a short word may not have to be [counted](PieceCounter::count_word) as it is.
const NOT_UTF8: u8 = 0xFF;

/// Most sentences of a block that were not lines.
const BLOCK_SENTENCES: usize = 1 << 12;

/// A sentence and how often it occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sentence<'a> {
    text: &'a [u8],
    count: u64,
}

/// Why reading sentences stopped.
#[derive(Debug, Error)]
pub enum SentenceError {
    /// A line has no count, or more than a text and a count.
    #[error("Input format must be: word <tab> freq. {}", String::from_utf8_lossy(.0))]
    Fields(Vec<u8>),
    /// A count is no number from 1 on.
    #[error(
        "Could not parse the frequency: expected a number from 1 on behind the tab, got {:?}",
        String::from_utf8_lossy(.0)
    )]
    Count(Vec<u8>),
    /// Too many protected strings.
    #[error("{0} control and user-defined symbols take too much memory: expected fewer")]
    TooManySymbols(usize),
    /// No sentence has a character.
    #[error(
        "expected sentences to train on, got none with a character that is left once they are normalized"
    )]
    NoText,
    /// As in all training.
    #[error(transparent)]
    Train(#[from] TrainError),
}

impl From<Interrupted> for SentenceError {
    fn from(_: Interrupted) -> Self {
        Self::Train(TrainError::Interrupted)
    }
}

/// How texts are read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Whether each line is a text, a tab and how often it occurs.
    pub has_counts: bool,
    /// Longer sentences, in bytes, are left out.
    pub max_sentence_length: usize,
    /// Where words end.
    pub words: WordRules,
    /// Strings that are no part of any piece.
    pub protected: Vec<String>,
    /// A string that is left out of sentences, but ends words and pieces.
    pub delimiter: String,
    /// If only some sentences are kept, which.
    pub sampling: Option<Sampling>,
}

/// Reads sentences and counts their words.
pub struct SentenceReader {
    reading: Reading,
    sentences: SentenceWords,
    sample: Option<Sample>,
    words: PieceCounts,
    /// Number of sentences that were read and not left out.
    pub accepted: u64,
    /// Number of sentences that were too long.
    pub too_long: u64,
}

/// The sentences that a thread found in a block.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    accepted: u64,
    too_long: u64,
}

impl SentenceReader {
    /// A reader that has read nothing.
    ///
    /// # Errors
    /// [`SentenceError::TooManySymbols`].
    pub fn new(reading: Reading, normalizer: Normalizer) -> Result<Self, SentenceError> {
        let delimiter = if reading.delimiter.contains(char::from(INNER_MARK)) {
            Vec::new()
        } else {
            inner(&reading.delimiter).into_bytes()
        };
        Ok(Self {
            sentences: SentenceWords::new(
                reading.words,
                is_word_by_word(&reading, &normalizer),
                normalizer,
                searcher(&reading.protected)?,
                &reading.protected,
                delimiter,
            ),
            sample: reading.sampling.map(Sample::new),
            reading,
            words: PieceCounts::new(),
            accepted: 0,
            too_long: 0,
        })
    }

    /// Reads texts, each of which is a sentence, or lines that are sentences.
    ///
    /// # Errors
    /// [`SentenceError`]; some of the sentences may be counted then.
    pub fn read(
        &mut self,
        texts: &[&[u8]],
        are_lines: bool,
        threads: usize,
    ) -> Result<(), SentenceError> {
        let blocks = blocks(texts, are_lines);
        let reading = &self.reading;
        if let Some(sample) = &mut self.sample {
            let mut found = Found::default();
            for block in blocks {
                checkpoint::pass()?;
                block.for_each_sentence(|text| {
                    if !sample.is_complete()
                        && let Some(sentence) = reading.sentence(text, &mut found)?
                    {
                        sample.add(sentence.text, sentence.count);
                    }
                    Ok(())
                })?;
            }
            self.add(found);
            return Ok(());
        }
        let bytes = texts.iter().map(|text| text.len()).sum();
        let sentences = &self.sentences;
        let count = |counter: &mut PieceCounter<'_, '_>, block: &Block<'_>| {
            let mut found = Found::default();
            let mut empty = 0;
            if sentences.is_word_by_word
                && let Block::Lines(lines) = block
                && reading.takes_all(lines)
            {
                let between =
                    for_each_between::<true, _>(lines, |word| counter.count_word(lines, word, 0))?;
                found.accepted = between.texts;
                empty = between.empty;
            } else {
                let mut buffer = Buffer::default();
                let mut offset = 0;
                block.for_each_sentence(|text| {
                    let Some(sentence) = reading.sentence(text, &mut found)? else {
                        return Ok(());
                    };
                    if sentences.is_word_by_word && has_plain_words(text) {
                        let between = for_each_between::<false, _>(text, |word| {
                            counter.count_word(text, word, offset)
                        })?;
                        empty += between.empty;
                        offset += text.len();
                    } else {
                        sentences.normalize(sentence.text, sentence.count, &mut buffer);
                    }
                    Ok(())
                })?;
                sentences.count(&mut buffer, counter)?;
            }
            if !sentences.normalizer.flags().remove_extra_whitespaces {
                counter.count_repeated(&[INNER_MARK], empty)?;
            }
            Ok::<Found, SentenceError>(found)
        };
        let found = self.words.add_blocks(&blocks, bytes, threads, count)?;
        for found in found {
            self.add(found);
        }
        Ok(())
    }

    /// Returns whether no more sentences are wanted.
    pub fn is_complete(&self) -> bool {
        self.sample.as_ref().is_some_and(Sample::is_complete)
    }

    /// Counts what was kept of the sentences, if not all were, and returns all words. No more are read after that.
    ///
    /// # Errors
    /// [`SentenceError`]; the counts are unspecified then.
    pub fn finish(&mut self, threads: usize) -> Result<Words<'_>, SentenceError> {
        if let Some(sample) = self.sample.take() {
            let bytes = sample.sentences.iter().map(|(text, _)| text.len()).sum();
            let blocks = memory::collect(sample.sentences.chunks(BLOCK_SENTENCES));
            let sentences = &self.sentences;
            let count = |counter: &mut PieceCounter<'_, '_>, block: &&[(Vec<u8>, u64)]| {
                let mut buffer = Buffer::default();
                for (text, count) in *block {
                    sentences.normalize(text, *count, &mut buffer);
                }
                sentences.count(&mut buffer, counter)
            };
            self.words.add_blocks(&blocks, bytes, threads, count)?;
        }
        Ok(Words {
            counts: std::mem::take(&mut self.words),
            sentences: &self.sentences,
        })
    }

    fn add(&mut self, found: Found) {
        self.accepted += found.accepted;
        self.too_long += found.too_long;
    }
}

impl Reading {
    /// Returns whether all lines that are not empty are sentences, and their words may be counted as they are.
    fn takes_all(&self, lines: &[u8]) -> bool {
        let ends = memchr_iter(b'\n', lines).chain([lines.len()]);
        let mut start = 0;
        let mut lengths = ends.map(|end| end - std::mem::replace(&mut start, end + 1));
        !self.has_counts
            && !holds(lines, RESERVED)
            && has_plain_words(lines)
            && (lines.len() <= self.max_sentence_length
                || lengths.all(|length| length <= self.max_sentence_length))
    }

    /// Returns the sentence of a text or line, unless it is left out.
    fn sentence<'t>(
        &self,
        line: &'t [u8],
        found: &mut Found,
    ) -> Result<Option<Sentence<'t>>, SentenceError> {
        let (text, count) = if self.has_counts {
            let fields = memchr(b'\t', line).map(|tab| (&line[..tab], &line[tab + 1..]));
            match fields {
                Some((text, count)) if memchr(b'\t', count).is_none() => (
                    text,
                    parse_count(count).ok_or_else(|| SentenceError::Count(line.to_vec()))?,
                ),
                _ => return Err(SentenceError::Fields(line.to_vec())),
            }
        } else {
            (line, 1)
        };
        if text.is_empty() {
            return Ok(None);
        }
        if text.len() > self.max_sentence_length {
            found.too_long += 1;
            return Ok(None);
        }
        if holds(text, RESERVED) {
            return Ok(None);
        }
        found.accepted += 1;
        Ok(Some(Sentence { text, count }))
    }
}

/// Returns whether a text holds a character that few texts hold.
fn holds(text: &[u8], character: &[u8]) -> bool {
    memchr_iter(character[0], text).any(|at| text[at..].starts_with(character))
}

/// Returns whether words between spaces may be counted as they are; otherwise a sentence is normalized as a whole.
fn has_plain_words(text: &[u8]) -> bool {
    !holds(text, MARK_BYTES) && memchr(NOT_UTF8, text).is_none()
}

/// Returns whether the words of a sentence without marks are those of its words between spaces, each with a mark before
/// it.
fn is_word_by_word(reading: &Reading, normalizer: &Normalizer) -> bool {
    let rules = reading.words;
    let mut strings = reading.protected.iter().chain([&reading.delimiter]);
    rules.split_by_whitespace
        && !rules.treat_whitespace_as_suffix
        && !rules.allow_whitespace_only_pieces
        && !reading.has_counts
        && normalizer.flags().add_dummy_prefix
        && normalizer.is_word_by_word()
        && strings.all(|text| !text.contains(MARK))
}

/// Returns a number from 1 to 2^63 - 1 with a sign and spaces around it, if it has them.
fn parse_count(text: &[u8]) -> Option<u64> {
    let text = str::from_utf8(text).ok()?;
    let number: i64 = text.trim_ascii().parse().ok()?;
    u64::try_from(number).ok().filter(|&number| number > 0)
}

/// Returns a string with marks as they are inside.
fn inner(text: &str) -> String {
    text.replace(MARK, " ")
}

/// Returns what finds the longest of some strings, if there are any.
fn searcher(strings: &[String]) -> Result<Option<AhoCorasick>, SentenceError> {
    let bytes: Vec<&[u8]> = strings.iter().map(String::as_bytes).collect();
    // No normalized text holds a space.
    let strings = strings
        .iter()
        .zip(are_found(&bytes))
        .filter(|(text, is_found)| *is_found && !text.contains(char::from(INNER_MARK)));
    let strings: Vec<String> = strings.map(|(text, _)| inner(text)).collect();
    if strings.is_empty() {
        return Ok(None);
    }
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .build(&strings)
        .map(Some)
        .map_err(|_| SentenceError::TooManySymbols(strings.len()))
}

/// Sentences that one thread reads.
enum Block<'t> {
    Lines(&'t [u8]),
    Texts(&'t [&'t [u8]]),
}

impl Block<'_> {
    fn for_each_sentence(
        &self,
        mut visit: impl FnMut(&[u8]) -> Result<(), SentenceError>,
    ) -> Result<(), SentenceError> {
        match self {
            Self::Lines(lines) => {
                let mut rest: &[u8] = lines;
                while !rest.is_empty() {
                    let end = memchr(b'\n', rest).unwrap_or(rest.len());
                    visit(&rest[..end])?;
                    rest = rest.get(end + 1..).unwrap_or_default();
                }
                Ok(())
            }
            Self::Texts(texts) => {
                for text in *texts {
                    let end = text.iter().rposition(|byte| !b"\r\n".contains(byte));
                    visit(&text[..end.map_or(0, |last| last + 1)])?;
                }
                Ok(())
            }
        }
    }
}

/// Divides texts into blocks.
fn blocks<'t>(texts: &'t [&'t [u8]], are_lines: bool) -> Vec<Block<'t>> {
    let mut blocks = Vec::new();
    if !are_lines {
        let mut rest = texts;
        while !rest.is_empty() {
            let mut bytes = 0;
            let within = rest.iter().take_while(|text| {
                bytes += text.len();
                bytes <= BLOCK
            });
            let number = within.count().clamp(1, BLOCK_SENTENCES).min(rest.len());
            let (block, later) = rest.split_at(number);
            blocks.with_room(1).push(Block::Texts(block));
            rest = later;
        }
        return blocks;
    }
    for text in texts {
        let mut rest: &[u8] = text;
        while !rest.is_empty() {
            let near = rest.get(BLOCK..).unwrap_or_default();
            let end = memchr(b'\n', near).map_or(rest.len(), |at| BLOCK + at + 1);
            let (block, later) = rest.split_at(end);
            blocks.with_room(1).push(Block::Lines(block));
            rest = later;
        }
    }
    blocks
}

// Keeping some of the sentences.

/// Which sentences are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// The first ones.
    First(usize),
    /// A number of them, each with the same probability, by a seed.
    Random {
        /// The number.
        size: usize,
        /// The seed.
        seed: u64,
    },
}

/// Sentences that were kept so far (reservoir sampling).
#[derive(Debug)]
pub(super) struct Sample {
    sampling: Sampling,
    state: u64,
    seen: u64,
    pub(super) sentences: Vec<(Vec<u8>, u64)>,
}

impl Sample {
    pub(super) fn new(sampling: Sampling) -> Self {
        let state = match sampling {
            Sampling::First(_) => 0,
            Sampling::Random { seed, .. } => seed,
        };
        Self {
            sampling,
            state,
            seen: 0,
            sentences: Vec::new(),
        }
    }

    /// Adds a sentence that occurs `count` times, and drops another one if there are enough.
    pub(super) fn add(&mut self, text: &[u8], count: u64) {
        self.seen += 1;
        let slot = match self.sampling {
            Sampling::First(size) | Sampling::Random { size, .. }
                if self.sentences.len() < size =>
            {
                let sentence = (memory::copied(text), count);
                self.sentences.with_room(1).push(sentence);
                return;
            }
            Sampling::First(_) => return,
            Sampling::Random { .. } => self.below(self.seen),
        };
        let slot = usize::try_from(slot).ok();
        if let Some(kept) = slot.and_then(|slot| self.sentences.get_mut(slot)) {
            *kept = (memory::copied(text), count);
        }
    }

    /// Returns whether no more sentences are wanted.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self.sampling, Sampling::First(size) if self.sentences.len() >= size)
    }

    /// Returns a random number below a limit (`SplitMix64`).
    fn below(&mut self, limit: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        let scaled = (u128::from(mixed) * u128::from(limit)) >> u64::BITS;
        u64::try_from(scaled).expect("below the limit")
    }
}

#[cfg(test)]
mod tests {
    use super::parse_count;

    #[test]
    fn counts_are_numbers_from_one_on() {
        assert_eq!(parse_count(b" +7\r"), Some(7));
        for text in ["", "0", "-3", "1.5", "1 2", "0x1", "9223372036854775808"] {
            assert_eq!(parse_count(text.as_bytes()), None, "{text}");
        }
    }
}

#[cfg(test)]
mod sample_tests {
    use super::{Sample, Sampling};

    fn kept(sampling: Sampling, of: u32) -> Vec<u32> {
        let mut sample = Sample::new(sampling);
        for number in 0..of {
            sample.add(&number.to_le_bytes(), 1);
        }
        let numbers = sample.sentences.into_iter().map(|(text, _)| {
            let bytes = text.try_into().unwrap_or([0; 4]);
            u32::from_le_bytes(bytes)
        });
        numbers.collect()
    }

    #[test]
    fn every_sentence_is_as_likely_and_a_seed_decides() {
        assert_eq!(kept(Sampling::First(3), 9), [0, 1, 2]);
        let mut times = [0; 20];
        for seed in 0..2_000 {
            let kept = kept(Sampling::Random { size: 5, seed }, 20);
            assert_eq!(kept.len(), 5);
            for number in kept {
                times[number as usize] += 1;
            }
        }
        assert!(
            times.iter().all(|times| (400..600).contains(times)),
            "{times:?}"
        );
        let again = |seed| kept(Sampling::Random { size: 5, seed }, 1000);
        assert_eq!(again(7), again(7));
        assert_ne!(again(7), again(8));
    }
}
