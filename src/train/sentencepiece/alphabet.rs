//! The alphabet: the characters that are symbols.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{BOUNDARY, for_each_character};
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
) -> Result<BTreeMap<char, u64>, TrainError> {
    let threads = threads.min(parallel::cores()).max(1);
    let tables = if let Some(map) = spans.map()? {
        let parts: Vec<usize> = (0..threads).collect();
        parallel::map(&parts, threads, |&part| {
            let mut table = CharacterTable::default();
            map.for_each_in_part(part, threads, |span, counted| {
                table.add(span, counted.count);
                Ok(())
            })?;
            Ok::<_, TrainError>(table)
        })?
    } else {
        let mut table = CharacterTable::default();
        spans.for_each(|span, count| {
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

// Choosing between merges and characters where bytes stand for all other characters.
//
// A merge is worth as many tokens as it saved when it was made; a character of n bytes, n - 1 for each
// time it occurs. The first k merges need their characters; what room is left goes to the characters
// that are worth most. The k of the highest worth is taken, the greatest of several.

/// The pieces that are kept.
pub(super) struct Kept {
    /// The number of merges.
    pub(super) merges: usize,
    /// The characters: those that merges need, ascending, then others, the best first.
    pub(super) characters: Vec<char>,
}

/// Chooses at most `room` pieces, given the text and the gain of each merge, and how often each character occurs.
pub(super) fn choose(
    merges: &[String],
    gains: &[u64],
    counts: impl Iterator<Item = (char, u64)>,
    room: usize,
) -> Kept {
    let mut singles: Vec<(u128, u64, char)> = counts
        .filter(|(character, _)| character.len_utf8() > 1)
        .map(|(character, count)| (worth(character, count), count, character))
        .collect();
    singles.sort_by_key(|&(gain, count, character)| (Reverse((gain, count)), character));
    let rank_of: HashMap<char, usize> = singles
        .iter()
        .enumerate()
        .map(|(rank, &(.., character))| (character, rank))
        .collect();
    let mut rest = Rest::new(singles.iter().map(|&(gain, ..)| gain));
    let mut needed = BTreeSet::new();
    let mut gained = 0;
    // The worth, the number of merges, and of characters that they need.
    let mut best = (rest.sum_of_first(room), 0);
    for (index, (text, &gain)) in merges.iter().zip(gains).enumerate() {
        gained += u128::from(gain);
        for character in text.chars() {
            if needed.insert(character)
                && let Some(&rank) = rank_of.get(&character)
            {
                gained += singles[rank].0;
                rest.remove(rank);
            }
        }
        let Some(left) = room.checked_sub(index + 1 + needed.len()) else {
            // The next merge needs no less room.
            break;
        };
        let total = gained + rest.sum_of_first(left);
        if total >= best.0 {
            best = (total, index + 1);
        }
    }
    let kept = best.1;
    let needed: BTreeSet<char> = merges[..kept]
        .iter()
        .flat_map(|text| text.chars())
        .collect();
    let left = room - kept - needed.len();
    let others = singles.iter().map(|&(.., character)| character);
    let others = others.filter(|character| !needed.contains(character));
    Kept {
        merges: kept,
        characters: needed.iter().copied().chain(others.take(left)).collect(),
    }
}

fn worth(character: char, count: u64) -> u128 {
    u128::from(count) * (character.len_utf8() as u128 - 1)
}

/// Gains in descending order, of which some were removed (a Fenwick tree).
struct Rest {
    gains: Vec<u128>,
    /// Number and sum of the gains in the range that ends at each index.
    tree: Vec<(usize, u128)>,
}

impl Rest {
    fn new(gains: impl Iterator<Item = u128>) -> Self {
        let gains: Vec<u128> = gains.collect();
        let mut tree = vec![(0, 0); gains.len() + 1];
        for index in 1..tree.len() {
            tree[index].0 += 1;
            tree[index].1 += gains[index - 1];
            let parent = index + (index & index.wrapping_neg());
            if parent < tree.len() {
                let (number, sum) = tree[index];
                tree[parent].0 += number;
                tree[parent].1 += sum;
            }
        }
        Self { gains, tree }
    }

    fn remove(&mut self, index: usize) {
        let mut at = index + 1;
        while at < self.tree.len() {
            self.tree[at].0 -= 1;
            self.tree[at].1 -= self.gains[index];
            at += at & at.wrapping_neg();
        }
    }

    /// The sum of the first `number` gains that are left.
    fn sum_of_first(&self, number: usize) -> u128 {
        let (mut at, mut left, mut sum) = (0, number, 0);
        let mut step = self.tree.len().next_power_of_two();
        while step > 0 {
            if let Some(&(count, gain)) = self.tree.get(at + step)
                && count <= left
            {
                at += step;
                left -= count;
                sum += gain;
            }
            step /= 2;
        }
        sum
    }
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

#[cfg(test)]
mod balance_tests {
    use super::choose;

    #[test]
    fn room_goes_to_what_is_worth_most() {
        let merges = ["ab", "éa", "中é"].map(str::to_owned);
        let counts = [('a', 50), ('b', 9), ('é', 7), ('中', 3)];
        let kept = choose(&merges, &[9, 6, 1], counts.into_iter(), 5);
        // With one merge, `é` and `中` have room, which are worth 13 as are the next merge and its `é`.
        assert_eq!((kept.merges, kept.characters), (2, vec!['a', 'b', 'é']));
        let kept = choose(&merges, &[9, 0, 0], counts.into_iter(), 5);
        assert_eq!(
            (kept.merges, kept.characters),
            (1, vec!['a', 'b', 'é', '中'])
        );
        let kept = choose(&merges, &[9, 5, 1], counts.into_iter(), 2);
        assert_eq!((kept.merges, kept.characters), (0, vec!['é', '中']));
    }
}
