//! Sentences → the pieces of a SentencePiece model, against the definition: every option of reading and of pieces,
//! any map of characters, lines and texts in batches, threads, and counts in files.

mod case;
mod definition;

use bytemill::error::TrainError;
use bytemill::normalize::Normalizer;
use bytemill::train::sentencepiece::{Coverage, Learner, Sampling, SentenceError, SentenceReader};

use crate::input::Input;
use crate::normalize::charsmap;
use case::Case;

/// From this sum of counts on, the library may refuse them.
const HUGE: u128 = 1 << 63;

/// A way of learning, which decides nothing.
#[derive(Clone, Copy, Debug)]
struct Way {
    threads: usize,
    texts_at_once: usize,
}

/// The numbers of sentences, and the pieces.
#[derive(Clone, Debug, PartialEq)]
struct Learned {
    accepted: u64,
    too_long: u64,
    /// The number of characters that are pieces in any case.
    required: usize,
    /// The pieces, if these have room.
    pieces: Option<Vec<String>>,
}

/// Why nothing is learned.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Refusal {
    /// A line has no count.
    Line,
    NoText,
    TooManyOccurrences,
}

type Outcome = Result<Learned, Refusal>;

pub(crate) fn run(mut input: Input) {
    let way = Way {
        threads: 1 + input.below(2),
        texts_at_once: input.pick(&[1, 2, 7, usize::MAX]),
    };
    let case = Case::draw(input);
    check(&case, &case.learned(way));
}

/// Checks what was learned.
fn check(case: &Case, learned: &Outcome) {
    if *learned == Err(Refusal::TooManyOccurrences) && case.total() >= HUGE {
        return;
    }
    // A random sample is the same however it is read.
    let other = Way {
        threads: 1,
        texts_at_once: 3,
    };
    let expected = case.defined().unwrap_or_else(|| case.learned(other));
    assert_eq!(*learned, expected, "{case:?}");
}

impl Case {
    /// Returns what the library learns.
    fn learned(&self, way: Way) -> Outcome {
        let normalizer = Normalizer::new(&charsmap(&self.rules), self.flags, &[]);
        let normalizer = normalizer.expect("a normalizer");
        let reader = SentenceReader::new(self.reading.clone(), normalizer);
        let mut reader = reader.expect("few symbols");
        let texts: Vec<&[u8]> = self.texts.iter().map(Vec::as_slice).collect();
        for texts in texts.chunks(way.texts_at_once) {
            if !reader.is_complete() {
                reader.read(texts, self.are_lines, way.threads)?;
            }
        }
        let (accepted, too_long) = (reader.accepted, reader.too_long);
        let words = reader.finish(way.threads)?;
        let learner = Learner::new(words, &self.pieces, &self.coverage, way.threads)?;
        let required = learner.required();
        let learn = || learner.learn(self.most, way.threads, &mut |_| Ok(()));
        let pieces = (required <= self.most).then(learn);
        Ok(Learned {
            accepted,
            too_long,
            required,
            pieces: pieces.transpose().map_err(SentenceError::from)?,
        })
    }

    /// Returns what the definition learns; `None` if sentences are chosen at random.
    fn defined(&self) -> Option<Outcome> {
        let Some(sentences) = self.sentences() else {
            return Some(Err(Refusal::Line));
        };
        if let Some(Sampling::Random { size, .. }) = self.reading.sampling
            && sentences.accepted > size as u64
        {
            return None;
        }
        let prepared = self.prepared(&sentences);
        let counts = definition::characters(&prepared);
        let is_balanced = self.coverage == Coverage::Balanced;
        if counts.is_empty() && !is_balanced {
            return Some(Err(Refusal::NoText));
        }
        let alphabet = definition::alphabet(counts, &self.coverage);
        let required = if is_balanced { 0 } else { alphabet.len() };
        let pieces = self.most.checked_sub(required).map(|room| {
            let words = definition::words(&prepared, self.reading.words, &alphabet);
            let merges = definition::learn(words, room, &self.pieces);
            if is_balanced {
                return definition::balanced(&merges, &alphabet, room);
            }
            let characters = alphabet.iter().map(|(character, _)| character.to_string());
            let merges = merges.iter().map(|(text, _)| text.clone());
            merges.chain(characters).collect()
        });
        Some(Ok(Learned {
            accepted: sentences.accepted,
            too_long: sentences.too_long,
            required,
            pieces,
        }))
    }

    fn sentences(&self) -> Option<definition::Sentences> {
        definition::sentences(&self.texts, self.are_lines, &self.reading)
    }

    /// The sum of the counts of all characters.
    fn total(&self) -> u128 {
        let Some(sentences) = self.sentences() else {
            return 0;
        };
        let characters = definition::characters(&self.prepared(&sentences));
        characters.values().sum()
    }

    /// The sentences as they are learned from, with the count of each.
    fn prepared(&self, sentences: &definition::Sentences) -> definition::Counts<String> {
        definition::prepared(&sentences.counts, self.flags, &self.rules, &self.reading)
    }
}

impl From<SentenceError> for Refusal {
    fn from(error: SentenceError) -> Self {
        match error {
            SentenceError::Fields(_) | SentenceError::Count(_) => Self::Line,
            SentenceError::NoText => Self::NoText,
            SentenceError::Train(TrainError::TooManyOccurrences) => Self::TooManyOccurrences,
            other => panic!("{other}"),
        }
    }
}

impl From<TrainError> for Refusal {
    fn from(error: TrainError) -> Self {
        SentenceError::from(error).into()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::{Case, Learned, Way, check};
    use crate::input::Input;
    use crate::replay::kept;
    use bytemill::train::sentencepiece::Coverage;

    const PLAIN: Way = Way {
        threads: 1,
        texts_at_once: usize::MAX,
    };

    /// The name of what is changed, and what changes it.
    type Change = (&'static str, fn(&mut Case));

    /// Other corpora and options.
    const CHANGES: [Change; 18] = [
        ("texts", |case| case.texts.truncate(case.texts.len() / 2)),
        ("are_lines", |case| case.are_lines ^= true),
        ("rules", |case| case.rules.clear()),
        ("add_dummy_prefix", |case| {
            case.flags.add_dummy_prefix ^= true;
        }),
        ("remove_extra_whitespaces", |case| {
            case.flags.remove_extra_whitespaces ^= true;
        }),
        ("max_sentence_length", |case| {
            case.reading.max_sentence_length = 15;
        }),
        ("protected", |case| case.reading.protected.clear()),
        ("delimiter", |case| case.reading.delimiter.clear()),
        ("sampling", |case| case.reading.sampling = None),
        ("split_by_whitespace", |case| {
            case.reading.words.split_by_whitespace ^= true;
            case.pieces.split_by_whitespace ^= true;
        }),
        ("treat_whitespace_as_suffix", |case| {
            case.reading.words.treat_whitespace_as_suffix ^= true;
            case.pieces.treat_whitespace_as_suffix ^= true;
            case.flags.treat_whitespace_as_suffix ^= true;
        }),
        ("allow_whitespace_only_pieces", |case| {
            case.reading.words.allow_whitespace_only_pieces ^= true;
            case.pieces.allow_whitespace_only_pieces ^= true;
        }),
        ("split_by_unicode_script", |case| {
            case.pieces.split_by_unicode_script ^= true;
        }),
        ("split_by_number", |case| {
            case.pieces.split_by_number ^= true;
        }),
        ("split_digits", |case| case.pieces.split_digits ^= true),
        ("max_length", |case| case.pieces.max_length -= 1),
        ("coverage", |case| {
            case.coverage = Coverage::Share {
                share: 0.99,
                required: String::new(),
            };
        }),
        ("most", |case| case.most += 1),
    ];

    /// The kept cases, apart from large ones.
    fn cases() -> impl Iterator<Item = Case> {
        let cases = kept("sentences").into_iter().map(|input| {
            let (_, input) = input.split_at_checked(3).unwrap_or_default();
            Case::draw(Input::new(input))
        });
        cases.filter(|case| case.texts.len() < 100)
    }

    /// The library makes something else of another corpus or with other options than the definition makes of the
    /// kept inputs: so if it did not look at one of them, that would be found.
    #[test]
    fn every_option_is_compared() {
        let mut found = CHANGES.map(|_| 0);
        for case in cases() {
            let Some(expected) = case.defined() else {
                continue;
            };
            for (found, (_, change)) in found.iter_mut().zip(CHANGES) {
                let mut changed = case.clone();
                change(&mut changed);
                *found += usize::from(changed.learned(PLAIN) != expected);
            }
        }
        for (found, (name, _)) in found.iter().zip(CHANGES) {
            assert!(*found > 0, "{name} decides nothing in the kept inputs");
        }
    }

    /// Two pieces in another order, and a sentence more.
    #[test]
    fn wrong_results_are_found() {
        let learned = cases().map(|case| (case.learned(PLAIN), case));
        let mut learned = learned.filter_map(|(learned, case)| Some((learned.ok()?, case)));
        let is_enough =
            |learned: &Learned| learned.pieces.as_ref().is_some_and(|all| all.len() > 9);
        let found = learned.find(|(learned, _)| is_enough(learned));
        let (right, case) = found.expect("a case that learns pieces");
        check(&case, &Ok(right.clone()));
        let mut swapped = right.clone();
        swapped.pieces.as_mut().expect("pieces").swap(0, 1);
        let mut more = right;
        more.accepted += 1;
        for wrong in [swapped, more] {
            assert!(catch_unwind(|| check(&case, &Ok(wrong))).is_err());
        }
    }
}
