//! Training of `SentencePiece`'s BPE models: which pieces does a corpus teach?
//!
//! ```text
//! texts ── lines ──────────────► sentences      (sentences, sample)
//! sentences ── normalized, cut ► words          (normalized, words), counted by `counting`
//! words ── coverage ───────────► the alphabet   (alphabet)
//! words of the alphabet ───────► merges         `learning`, by the rules of (rules)
//! if no pair is left ──────────► more pieces    (zero_counts)
//! a chosen alphabet ───────────► fewer pieces   (balance)
//! ```
//!
//! Symbols are characters. The pair with the highest count is merged; of several, that of the fewest characters;
//! of several of these, that of the smallest text. The text decides whether a pair may be merged at all.
//!
//! Inside, a mark is a space: a byte instead of three. No normalized text holds a space otherwise.
//!
//! A character that is not in the alphabet never is in a pair, so a word ends before it and goes on behind it. Nor
//! does it matter to the counts of pairs whether equal words are counted together.

mod alphabet;
mod balance;
mod normalized;
mod rules;
mod sample;
mod sentences;
mod words;
mod zero_counts;

pub use alphabet::Coverage;
pub use normalized::Words;
pub use rules::PieceRules;
pub use sample::Sampling;
pub use sentences::{Reading, SentenceError, SentenceReader};
pub use words::WordRules;

use std::collections::HashSet;

use self::alphabet::{Alphabet, count_characters};
use self::rules::TextRestriction;
use super::learning::{self, Corpus, MergePolicy, TieBreaker};
use crate::checkpoint::{Checkpoint, Interrupted};
use crate::error::TrainError;
use crate::token::Pair;

/// The byte that stands for a mark inside.
const INNER_MARK: u8 = b' ';

/// The mark in pieces.
const MARK: char = '\u{2581}';

/// Stands between what was before and behind a protected string in the text.
const BOUNDARY: u8 = 0x1F;

/// Calls `visit` with the characters of a word as they are in pieces.
fn for_each_character(word: &[u8], mut visit: impl FnMut(char)) {
    let mut visit = |character| {
        visit(if character == char::from(INNER_MARK) {
            MARK
        } else {
            character
        });
    };
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

/// Counted words with the alphabet that was chosen for them.
pub struct Learner<'a> {
    words: Words<'a>,
    alphabet: Alphabet,
    is_balanced: bool,
}

impl<'a> Learner<'a> {
    /// Chooses the alphabet of counted words.
    ///
    /// # Errors
    /// [`SentenceError::NoText`]; [`TrainError::TooManyOccurrences`] if there are too many characters; [`TrainError`]
    /// of reading `words`.
    pub fn new(
        mut words: Words<'a>,
        coverage: &Coverage,
        threads: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Self, SentenceError> {
        let counts = count_characters(&mut words, threads, checkpoint)?;
        if counts.is_empty() {
            return Err(SentenceError::NoText);
        }
        Ok(Self {
            words,
            alphabet: Alphabet::choose(counts, coverage),
            is_balanced: *coverage == Coverage::Balanced,
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
    /// [`TrainError`] if interrupted, if there are too many words, or of reading them.
    pub fn learn(
        self,
        most: usize,
        rules: &PieceRules,
        threads: usize,
        checkpoint: &dyn Checkpoint,
        progress: &mut dyn FnMut(usize) -> Result<(), Interrupted>,
    ) -> Result<Vec<String>, TrainError> {
        let wanted = most.saturating_sub(self.required());
        let Self {
            words,
            alphabet,
            is_balanced,
        } = self;
        // The counts are no longer needed, and their memory is free, while merges are learned.
        let corpus = corpus(words, &alphabet, threads, checkpoint)?;
        let policy = MergePolicy::new(
            TieBreaker::shortest_text(alphabet.characters()),
            vec![1; alphabet.len()],
            Some(rules.max_length),
            Some(Box::new(TextRestriction::new(
                *rules,
                alphabet.characters(),
            ))),
        );
        let merges = learning::learn(&corpus, policy, wanted, 1, checkpoint, progress)?;
        let mut pieces = texts(&alphabet, &merges.pairs);
        if merges.len() < wanted {
            let more = zero_counts::pieces(&corpus, &alphabet, &merges.pairs, rules, checkpoint)?;
            let known: HashSet<&String> = pieces.iter().collect();
            let more = more.into_iter().filter(|piece| !known.contains(piece));
            let more: Vec<String> = more.take(wanted - merges.len()).collect();
            pieces.extend(more);
        }
        drop(corpus);
        if is_balanced {
            let mut gains = merges.counts;
            gains.resize(pieces.len(), 0);
            let kept = balance::choose(&pieces, &gains, alphabet.counts(), wanted);
            pieces.truncate(kept.merges);
            pieces.extend(kept.characters.iter().map(char::to_string));
        } else {
            pieces.extend(alphabet.by_count().map(|character| character.to_string()));
        }
        Ok(pieces)
    }
}

/// Returns the runs of characters of the alphabet in all words, to be merged.
fn corpus(
    words: Words<'_>,
    alphabet: &Alphabet,
    threads: usize,
    checkpoint: &dyn Checkpoint,
) -> Result<Corpus, TrainError> {
    let Words {
        mut counts,
        sentences,
    } = words;
    let partitions = Corpus::partitions_for(&mut counts, threads, checkpoint)?;
    let new_push = || {
        let (mut buffer, mut tokens) = (Vec::new(), Vec::new());
        move |partition: &mut learning::CorpusPartition, found: &[u8], count| {
            sentences.for_each_word(found, &mut buffer, |word| {
                alphabet.for_each_run(word, &mut tokens, |run| {
                    partition.push_units(run, |token| token, count, checkpoint)
                })
            })
        }
    };
    Corpus::new(&mut counts, false, partitions, new_push, checkpoint)
}

/// Returns the text of each merge.
fn texts(alphabet: &Alphabet, merges: &[Pair]) -> Vec<String> {
    let characters = alphabet.characters();
    let mut texts: Vec<String> = Vec::with_capacity(merges.len());
    for pair in merges {
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
