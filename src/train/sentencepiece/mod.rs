//! Training of `SentencePiece`'s BPE models: which pieces does a corpus teach?
//!
//! ```text
//! texts ── lines ──────────────► sentences      (sentences, sample)
//! sentences ── normalized, cut ► words          (normalized, words), counted by `counting`
//! words ── cut again ──────────► spans          (spans), counted by `counting`
//! spans ── coverage ───────────► the alphabet   (alphabet)
//! spans of the alphabet ───────► merges         `learning`, by the rules of (rules)
//! if no pair is left ──────────► more pieces    (zero_counts)
//! a chosen alphabet ───────────► fewer pieces   (balance)
//! ```
//!
//! Symbols are characters. The pair with the highest count is merged; of several, that of the fewest characters;
//! of several of these, that of the smallest text. The text decides whether a pair may be merged at all.
//!
//! Inside, a mark is a space: a byte instead of three. No normalized text holds a space otherwise.
//!
//! A character that is not in the alphabet never is in a pair, so a span ends before it and goes on behind it. Nor
//! does it matter to the counts of pairs whether equal spans are counted together, or what stands around them.

mod alphabet;
mod rules;
mod sentences;
mod spans;
mod words;
mod zero_counts;

pub use alphabet::Coverage;
pub use rules::PieceRules;
pub use sentences::Sampling;
pub use sentences::{Reading, SentenceError, SentenceReader};
pub use words::WordRules;
pub use words::Words;

use std::collections::HashSet;

use self::alphabet::{Alphabet, count_characters};
use self::rules::TextRestriction;
use self::spans::count_spans;
use super::counting::PieceCounts;
use super::learning::{self, Corpus, MergePolicy, Offset, TieBreaker};
use crate::checkpoint::Interrupted;
use crate::error::TrainError;
use crate::token::Pair;
use crate::util::memory::{self, reserve};

/// The byte that stands for a mark inside.
const INNER_MARK: u8 = b' ';

/// The mark in pieces.
const MARK: char = '\u{2581}';

/// Stands between what was before and behind a protected string in the text.
const BOUNDARY: u8 = 0x1F;

/// Returns a character of a word as it is in pieces.
fn as_in_pieces(character: char) -> char {
    if character == char::from(INNER_MARK) {
        MARK
    } else {
        character
    }
}

/// Calls `visit` with the characters of a word as they are in pieces.
fn for_each_character(word: &[u8], mut visit: impl FnMut(char)) {
    let mut visit = |character| visit(as_in_pieces(character));
    // Most words; and most of the others.
    if word.is_ascii() {
        word.iter().copied().map(char::from).for_each(visit);
    } else if let Ok(text) = str::from_utf8(word) {
        text.chars().for_each(visit);
    } else {
        for chunk in word.utf8_chunks() {
            chunk.valid().chars().for_each(&mut visit);
            if !chunk.invalid().is_empty() {
                visit(char::REPLACEMENT_CHARACTER);
            }
        }
    }
}

/// Counted spans with the alphabet that was chosen for them.
pub struct Learner {
    spans: PieceCounts,
    rules: PieceRules,
    alphabet: Alphabet,
    is_balanced: bool,
}

impl Learner {
    /// Chooses the alphabet of counted words, from which pieces are to be learned by some rules.
    ///
    /// # Errors
    /// [`SentenceError::NoText`] where a share is to be covered; [`TrainError::TooManyOccurrences`] if there are too many
    /// characters; [`TrainError`] of reading `words`.
    pub fn new(
        words: Words<'_>,
        rules: &PieceRules,
        coverage: &Coverage,
        threads: usize,
    ) -> Result<Self, SentenceError> {
        let mut spans = count_spans(words, rules, threads)?;
        let counts = count_characters(&mut spans, threads)?;
        let is_balanced = *coverage == Coverage::Balanced;
        // No share of nothing can be covered.
        if counts.is_empty() && !is_balanced {
            return Err(SentenceError::NoText);
        }
        Ok(Self {
            spans,
            rules: *rules,
            alphabet: Alphabet::choose(counts, coverage),
            is_balanced,
        })
    }

    /// Number of characters that are pieces whatever else is learned.
    pub fn required(&self) -> usize {
        if self.is_balanced {
            0
        } else {
            self.alphabet.len()
        }
    }

    /// Returns the first `most` pieces, fewer if there are no more: merges in the order in which they are learned,
    /// then characters.
    ///
    /// # Errors
    /// [`TrainError`] if interrupted, if a word is too long, or of reading words.
    pub fn learn(
        self,
        most: usize,
        threads: usize,
        progress: &mut dyn FnMut(usize) -> Result<(), Interrupted>,
    ) -> Result<Vec<String>, TrainError> {
        self.learn_by_offsets::<u32>(most, threads, progress)
    }

    /// As [`learn`](Self::learn), with [offsets](learning::learn_in) of type `O`.
    fn learn_by_offsets<O: Offset>(
        self,
        most: usize,
        threads: usize,
        progress: &mut dyn FnMut(usize) -> Result<(), Interrupted>,
    ) -> Result<Vec<String>, TrainError> {
        let wanted = most.saturating_sub(self.required());
        let Self {
            mut spans,
            rules,
            alphabet,
            is_balanced,
        } = self;
        let corpus = corpus(&mut spans, &alphabet, threads)?;
        // Their memory is free while merges are learned.
        drop(spans);
        let policy = MergePolicy::new(
            TieBreaker::shortest_text(alphabet.characters()),
            vec![1; alphabet.len()],
            Some(rules.max_length),
            Some(Box::new(TextRestriction::new(rules, alphabet.characters()))),
        );
        let merges = learning::learn_in::<O>(&corpus, policy, wanted, 1, progress)?;
        let mut pieces = texts(&alphabet, &merges.pairs);
        if merges.len() < wanted {
            let more = zero_counts::pieces(&corpus, &alphabet, &merges.pairs, &rules)?;
            let known: HashSet<&String> = pieces.iter().collect();
            let more = more.into_iter().filter(|piece| !known.contains(piece));
            let more: Vec<String> = more.take(wanted - merges.len()).collect();
            memory::extend(&mut pieces, more);
        }
        drop(corpus);
        if is_balanced {
            let mut gains = merges.counts;
            gains.resize(pieces.len(), 0);
            let kept = alphabet::choose(&pieces, &gains, alphabet.counts(), wanted);
            pieces.truncate(kept.merges);
            pieces.extend(kept.characters.iter().map(char::to_string));
        } else {
            memory::extend(
                &mut pieces,
                alphabet.by_count().map(|character| character.to_string()),
            );
        }
        Ok(pieces)
    }
}

/// Returns the runs of characters of the alphabet in all spans, to be merged.
fn corpus(
    spans: &mut PieceCounts,
    alphabet: &Alphabet,
    threads: usize,
) -> Result<Corpus, TrainError> {
    let partitions = Corpus::partitions_for(spans, threads)?;
    let new_push = || {
        let mut tokens = Vec::new();
        move |partition: &mut learning::CorpusPartition, span: &[u8], count| {
            alphabet.for_each_run(span, &mut tokens, |run| {
                partition.push_units(run, |token| token, count)
            })
        }
    };
    Corpus::new(spans, false, partitions, new_push)
}

/// Returns the text of each merge.
fn texts(alphabet: &Alphabet, merges: &[Pair]) -> Vec<String> {
    let characters = alphabet.characters();
    let mut texts: Vec<String> = memory::vec_with_capacity(merges.len());
    for pair in merges {
        reserve::pass();
        let mut text = String::new();
        for part in [pair.left as usize, pair.right as usize] {
            match characters.get(part) {
                Some(character) => text.push(*character),
                None => text.push_str(&texts[part - characters.len()]),
            }
        }
        texts.push(text);
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::spans::tests::DEFAULT;
    use super::{Alphabet, Coverage, Learner, Offset, count_characters};
    use crate::error::TrainError;
    use crate::train::counting::PieceCounts;

    fn learned<O: Offset>(
        words: &[(String, u64)],
        most: usize,
        coverage: &Coverage,
    ) -> Result<Vec<String>, TrainError> {
        let mut spans = PieceCounts::new();
        let pieces = words.iter().map(|(word, count)| (word.as_bytes(), *count));
        spans.add_pieces(pieces)?;
        let counts = count_characters(&mut spans, 1)?;
        let learner = Learner {
            spans,
            rules: DEFAULT,
            alphabet: Alphabet::choose(counts, coverage),
            is_balanced: *coverage == Coverage::Balanced,
        };
        learner.learn_by_offsets::<O>(most, 2, &mut |_| Ok(()))
    }

    /// From a few words, whose pairs run out, to more than 16 bits can tell apart.
    #[test]
    fn pieces_do_not_depend_on_the_width_of_offsets() -> Result<(), TrainError> {
        let all = Coverage::Share {
            share: 1.0,
            required: String::new(),
        };
        let symbols = ['e', 't', 'é', 'я', '中', '1'];
        let mut random = 1_u32;
        let mut below = |limit: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((random >> 8) % limit) as usize
        };
        for number in [3, 12, 40, 2_000, 20_000] {
            let words = (0..number).map(|_| {
                let symbols = (0..2 + below(20)).map(|_| symbols[below(6)]);
                let word = format!(" {}", symbols.collect::<String>());
                (word, 1 + below(9) as u64)
            });
            let words: Vec<(String, u64)> = words.collect();
            for coverage in [&all, &Coverage::Balanced] {
                let expected = learned::<u32>(&words, 400, coverage)?;
                assert!(expected.len() > 10, "{expected:?}");
                assert_eq!(learned::<u8>(&words, 400, coverage)?, expected);
                assert_eq!(learned::<u16>(&words, 400, coverage)?, expected);
                assert_eq!(learned::<usize>(&words, 400, coverage)?, expected);
            }
        }
        Ok(())
    }
}
