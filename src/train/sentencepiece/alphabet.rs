//! The alphabet: the characters that are symbols.

use std::collections::BTreeMap;

use super::{BOUNDARY, for_each_character};
use crate::checkpoint::Checkpoint;
use crate::error::TrainError;
use crate::token::TokenId;
use crate::train::counting::PieceCounts;
use crate::util::parallel;

/// Which characters are in the alphabet.
#[derive(Clone, Debug, PartialEq)]
pub enum Coverage {
    /// The required ones, then the most frequent, until they are this share of the text.
    Share {
        /// The share.
        share: f32,
        /// The required characters.
        required: String,
    },
    /// All of them while merges are learned; those that are worth it become pieces.
    Balanced,
}

/// No character in the table of tokens.
const NONE: TokenId = TokenId::MAX;

/// The characters that are symbols.
#[derive(Debug)]
pub(super) struct Alphabet {
    /// Ascending; the index of each is its token.
    characters: Vec<char>,
    /// How often each occurs.
    counts: Vec<u64>,
    /// The token of each code point up to the last that has one, or [`NONE`].
    tokens: Vec<TokenId>,
}

/// Returns how often each character occurs, those of protected strings and NUL left out.
pub(super) fn count_characters(
    spans: &mut PieceCounts,
    threads: usize,
    checkpoint: &dyn Checkpoint,
) -> Result<BTreeMap<char, u64>, TrainError> {
    let threads = threads.min(parallel::cores()).max(1);
    let tables = if let Some(map) = spans.map(checkpoint)? {
        let parts: Vec<usize> = (0..threads).collect();
        parallel::map(&parts, threads, checkpoint, |&part| {
            let mut table = CharacterTable::default();
            map.for_each_in_part(part, threads, checkpoint, |span, counted| {
                table.add(span, counted.count);
                Ok(())
            })?;
            Ok::<_, TrainError>(table)
        })?
    } else {
        let mut table = CharacterTable::default();
        spans.for_each(checkpoint, |span, count| {
            table.add(span, count);
            Ok(())
        })?;
        vec![table]
    };
    let mut counts = BTreeMap::new();
    for table in tables {
        for (character, count) in table.counts() {
            let sum: &mut u64 = counts.entry(character).or_default();
            *sum = sum.saturating_add(count);
            if *sum == u64::MAX {
                return Err(TrainError::TooManyOccurrences);
            }
        }
    }
    counts.remove(&'\0');
    Ok(counts)
}

/// Characters of a page.
const PAGE: usize = 256;

/// How often each character occurs, or the greatest number if it does more often: a page for every 256 code points,
/// if one of them occurs.
#[derive(Default)]
struct CharacterTable(Vec<Option<Box<[u64; PAGE]>>>);

impl CharacterTable {
    /// Adds the characters of a span that occurs `count` times.
    fn add(&mut self, span: &[u8], count: u64) {
        for_each_character(span, |character| {
            let (page, at) = (character as usize / PAGE, character as usize % PAGE);
            let sum = match self.0.get_mut(page) {
                Some(Some(page)) => &mut page[at],
                _ => &mut self.new_page(page)[at],
            };
            *sum = sum.saturating_add(count);
        });
    }

    #[cold]
    fn new_page(&mut self, page: usize) -> &mut [u64; PAGE] {
        if self.0.len() <= page {
            self.0.resize(page + 1, None);
        }
        self.0[page].insert(Box::new([0; PAGE]))
    }

    /// The characters that occur, ascending, and how often each does.
    fn counts(&self) -> impl Iterator<Item = (char, u64)> {
        let pages = (0..).step_by(PAGE).zip(&self.0);
        let pages = pages.filter_map(|(first, page)| Some((first, page.as_ref()?)));
        let counts = pages.flat_map(|(first, page)| (first..).zip(page.iter()));
        counts.filter_map(|(code_point, &count)| {
            let character = char::from_u32(code_point).filter(|_| count > 0);
            Some((character?, count))
        })
    }
}

impl Alphabet {
    /// Chooses from the characters of the text, given how often each occurs.
    pub(super) fn choose(mut counts: BTreeMap<char, u64>, coverage: &Coverage) -> Self {
        if let Coverage::Share { share, required } = coverage {
            let total: u128 = counts.values().map(|&count| u128::from(count)).sum();
            // NUL is no character, as in the text.
            for character in required.chars().filter(|&character| character != '\0') {
                counts.entry(character).or_insert(0);
            }
            let mut order: Vec<(char, u64)> = counts.into_iter().collect();
            order.sort_by_key(|&(character, count)| {
                (!required.contains(character), std::cmp::Reverse(count))
            });
            let mut covered = 0;
            let kept = order.into_iter().take_while(|&(_, count)| {
                let goes_on = fraction(covered, total) < *share;
                covered += u128::from(count);
                goes_on
            });
            counts = kept.collect();
        }
        counts.remove(&char::from(BOUNDARY));
        let last = counts.keys().next_back();
        let mut tokens = vec![NONE; last.map_or(0, |&last| last as usize + 1)];
        for (token, &character) in (0..).zip(counts.keys()) {
            tokens[character as usize] = token;
        }
        let (characters, counts) = counts.into_iter().unzip();
        Self {
            characters,
            counts,
            tokens,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.characters.len()
    }

    /// The characters, ascending; the index of each is its token.
    pub(super) fn characters(&self) -> &[char] {
        &self.characters
    }

    /// The characters, ascending, and how often each occurs.
    pub(super) fn counts(&self) -> impl Iterator<Item = (char, u64)> {
        self.characters
            .iter()
            .copied()
            .zip(self.counts.iter().copied())
    }

    /// The characters, the most frequent first.
    pub(super) fn by_count(&self) -> impl Iterator<Item = char> {
        let mut order: Vec<(char, u64)> = self.counts().collect();
        order.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        order.into_iter().map(|(character, _)| character)
    }

    /// Calls `visit` with the tokens of each run of characters of a span that are in the alphabet, using `tokens`
    /// for them.
    pub(super) fn for_each_run<E>(
        &self,
        span: &[u8],
        tokens: &mut Vec<TokenId>,
        visit: impl FnMut(&[TokenId]) -> Result<(), E>,
    ) -> Result<(), E> {
        tokens.clear();
        for_each_character(span, |character| {
            let token = self.tokens.get(character as usize);
            tokens.push(token.copied().unwrap_or(NONE));
        });
        tokens.split(|&token| token == NONE).try_for_each(visit)
    }
}

/// Returns the share that SentencePiece compares: computed in 64 bits, rounded to 32.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "rounded as there"
)]
fn fraction(covered: u128, total: u128) -> f32 {
    (covered as f64 / total as f64) as f32
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Alphabet, Coverage};

    fn chosen(counts: &[(char, u64)], share: f32, required: &str) -> String {
        let counts: BTreeMap<char, u64> = counts.iter().copied().collect();
        let required = required.to_owned();
        let alphabet = Alphabet::choose(counts, &Coverage::Share { share, required });
        alphabet.by_count().collect()
    }

    #[test]
    fn the_character_that_crosses_the_limit_is_in() {
        let counts = [('a', 97), ('b', 2), ('c', 1), ('\u{1F}', 900)];
        assert_eq!(chosen(&counts[..3], 0.98, ""), "ab");
        assert_eq!(chosen(&counts[..3], 1.0, ""), "abc");
        assert_eq!(chosen(&counts, 0.98, ""), "a");
        assert_eq!(chosen(&counts[..3], 0.98, "cz"), "acz");
        assert_eq!(chosen(&counts[..3], 0.98, "\0z"), "abz");
    }

    /// 2^25 and 2^25 + 1 are one number in 32 bits.
    #[test]
    fn a_tail_below_the_precision_is_left_out() {
        let counts = [('a', 1 << 25), ('b', 1)];
        assert_eq!(chosen(&counts, 1.0, ""), "a");
    }
}
