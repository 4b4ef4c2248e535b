//! The loop: best pair, merged wherever it occurs, until there are enough merges.
//!
//! ```text
//! the best candidate of the queue whose count is still true
//! at each of its places, in order: merge; note what stands before and after
//! for each token noted: its pair with the old token is rarer, its pair with the new one is new
//! ```
//!
//! The work is that of the places visited: merging takes the same time in a piece of any length. Each place is visited
//! once for each pair that ever stood there.

use std::collections::HashSet;
use std::thread;

use super::Options;
use super::corpus::Corpus;
use super::count::PieceCounts;
use super::helpers::Helpers;
use super::neighbours::{Neighbours, Sides};
use super::pair_index::PairIndex;
use super::part::MOST_TOKENS;
use super::queue::Queue;
use super::replace::Merge;
use super::start::Start;
use super::ties::{Candidate, Ties};
use crate::checkpoint::{self, Checkpoint, Interrupted};
use crate::error::TrainError;
use crate::token::{Pair, TokenId};

/// Places looked at between two reports of progress.
const STRETCH: usize = 1 << 16;

/// The first `merges` merges that the pieces teach, fewer if no pair is left that may be merged. `progress` is told how
/// many there are, now and then, and may stop it.
///
/// # Errors
/// [`TrainError`].
///
/// # Complexity
/// O(n log n) for n bytes of unique pieces; memory 4.5 bytes for each of these, some 20 for each piece, and 4 for each
/// place of a pair that may still be merged.
pub fn train(
    counts: &mut PieceCounts,
    merges: usize,
    options: &Options,
    checkpoint: &dyn Checkpoint,
    progress: &mut dyn FnMut(usize) -> Result<(), Interrupted>,
) -> Result<Vec<Pair>, TrainError> {
    let parts = Corpus::parts_for(counts, options.threads, checkpoint)?;
    train_in_parts(counts, merges, options, parts, checkpoint, progress)
}

/// As [`train`], with so many parts and threads.
fn train_in_parts(
    counts: &mut PieceCounts,
    merges: usize,
    options: &Options,
    parts: usize,
    checkpoint: &dyn Checkpoint,
    progress: &mut dyn FnMut(usize) -> Result<(), Interrupted>,
) -> Result<Vec<Pair>, TrainError> {
    let start = Start::new(options, checkpoint)?;
    let in_order = start.ties.moves();
    let corpus = Corpus::new(
        counts,
        in_order,
        parts,
        || start.pushing(checkpoint),
        checkpoint,
    )?;
    let helpers = Helpers::new(&corpus);
    thread::scope(|scope| {
        let _dismissal = helpers.start(scope, &corpus, checkpoint);
        let mut trainer = Trainer::new(start, &corpus, &helpers, options);
        trainer.learn(merges, options.min_frequency.max(1), checkpoint, progress)
    })
}

/// The state between two merges.
pub(super) struct Trainer<'a> {
    pub(super) corpus: &'a Corpus,
    helpers: &'a Helpers,
    pub(super) index: PairIndex,
    pub(super) queue: Queue,
    ties: Ties,
    /// The bytes of each token.
    pub(super) lengths: Vec<u32>,
    /// What stands beside the last merged pair, as each thread saw it.
    sides: Vec<Sides>,
    /// Rarer pairs are not in the index.
    least: u64,
    /// The most bytes in a token.
    longest: u32,
    /// Initial tokens that no merge may make again, because their own bytes do not become them.
    taken: HashSet<Vec<u8>>,
}

impl<'a> Trainer<'a> {
    fn new(start: Start, corpus: &'a Corpus, helpers: &'a Helpers, options: &Options) -> Self {
        let longest = options.max_token_length.unwrap_or(usize::MAX);
        let Start {
            ties,
            lengths,
            taken,
            ..
        } = start;
        Self {
            corpus,
            helpers,
            index: PairIndex::default(),
            queue: Queue::default(),
            ties,
            lengths,
            sides: (0..corpus.parts()).map(|_| Sides::default()).collect(),
            least: 0,
            longest: u32::try_from(longest).unwrap_or(u32::MAX),
            taken,
        }
    }

    /// Merges pairs that occur at least `least` times; the rest as [`train`].
    fn learn(
        &mut self,
        merges: usize,
        least: u64,
        checkpoint: &dyn Checkpoint,
        progress: &mut dyn FnMut(usize) -> Result<(), Interrupted>,
    ) -> Result<Vec<Pair>, TrainError> {
        let mut learned = Vec::new();
        self.least = least.max(self.corpus.expected_least(merges));
        self.look_through(checkpoint)?;
        let mut visited = 0;
        while learned.len() < merges {
            let Some(pair) = self.best() else {
                if self.least == least {
                    break;
                }
                self.least = least.max(self.least / 8);
                self.look_through(checkpoint)?;
                continue;
            };
            visited += self.merge(pair, checkpoint)?;
            learned.push(pair);
            if visited >= STRETCH || learned.len() % 1024 == 0 {
                visited = 0;
                checkpoint::pass(checkpoint)?;
                progress(learned.len())?;
            }
        }
        Ok(learned)
    }

    /// Whether a pair that occurs so often may be merged.
    pub(super) fn may_merge(&self, pair: Pair, count: u64) -> bool {
        let lengths = [pair.left, pair.right].map(|part| self.lengths[part as usize]);
        let bytes = || [self.ties.bytes(pair.left), self.ties.bytes(pair.right)].concat();
        count >= self.least
            && lengths[0].saturating_add(lengths[1]) <= self.longest
            && (self.taken.is_empty() || !self.taken.contains(&bytes()))
    }

    /// A candidate of the count that is true now.
    fn candidate(&mut self, pair: Pair, count: u64) -> Candidate {
        let first = if self.ties.moves() {
            let (corpus, length) = (self.corpus, self.lengths[pair.left as usize]);
            self.index
                .first(pair, |place| corpus.holds(place, pair, length))
        } else {
            0
        };
        let tie = self.ties.tie(pair, first);
        Candidate { count, tie, pair }
    }

    pub(super) fn push(&mut self, pair: Pair, count: u64) {
        let candidate = self.candidate(pair, count);
        self.queue.push(candidate, &self.ties);
    }

    /// The pair to be merged next.
    fn best(&mut self) -> Option<Pair> {
        loop {
            let Candidate { count, pair, .. } = self.queue.pop(&self.ties)?;
            match self.index.count(pair) {
                Some(now) if now == count => return Some(pair),
                Some(now) => self.push(pair, now),
                None => {}
            }
        }
    }

    /// Makes `pair` the next token everywhere; how many places were looked at.
    fn merge(&mut self, pair: Pair, checkpoint: &dyn Checkpoint) -> Result<usize, TrainError> {
        let token = TokenId::try_from(self.lengths.len())
            .ok()
            .filter(|&token| token < MOST_TOKENS)
            .ok_or(TrainError::TooLarge)?;
        let lengths = [pair.left, pair.right].map(|part| self.lengths[part as usize]);
        self.ties.push(pair);
        self.lengths.push(lengths[0] + lengths[1]);
        let places = self.index.remove(pair);
        let visited = places.len();
        let merge = Merge {
            pair,
            lengths,
            token,
        };
        merge.apply(
            self.corpus,
            self.index.places(places),
            self.helpers,
            &mut self.sides,
            checkpoint,
        )?;
        self.note(pair, token)?;
        self.index.close_gaps();
        Ok(visited)
    }

    /// Notes the pairs that have become rarer and those that are new, now that `pair` is `token`.
    fn note(&mut self, pair: Pair, token: TokenId) -> Result<(), TrainError> {
        let sides = std::mem::take(&mut self.sides);
        let before = |other: TokenId| [Pair::new(other, pair.left), Pair::new(other, token)];
        let after = |other: TokenId| [Pair::new(pair.right, other), Pair::new(token, other)];
        let result = match sides.first() {
            Some(Sides { left, right }) => self
                .note_side(left, token, before)
                .and_then(|()| self.note_side(right, token, after)),
            None => Ok(()),
        };
        self.sides = sides;
        result
    }

    /// As [`note`](Self::note), for one side: `pairs` are the old and the new pair with a neighbour.
    fn note_side(
        &mut self,
        side: &Neighbours,
        token: TokenId,
        pairs: impl Fn(TokenId) -> [Pair; 2],
    ) -> Result<(), TrainError> {
        for neighbour in &side.found {
            for pair in pairs(neighbour.token) {
                self.index.prefetch(pair);
            }
        }
        let mut starts = Vec::with_capacity(side.found.len());
        for neighbour in &side.found {
            let [old, new] = pairs(neighbour.token);
            if neighbour.token != token {
                self.index.decrease(old, neighbour.count, self.least);
            }
            let count = neighbour.count - neighbour.merged;
            starts.push(if self.may_merge(new, count) {
                Some(self.index.insert(new, count, neighbour.places)?)
            } else {
                None
            });
        }
        let pool = self.index.pool();
        for &(number, place) in &side.places {
            if let Some(next) = &mut starts[number as usize] {
                pool[*next as usize] = place;
                *next += 1;
            }
        }
        for (neighbour, start) in side.found.iter().zip(&starts) {
            if start.is_some() {
                let [_, new] = pairs(neighbour.token);
                self.push(new, neighbour.count - neighbour.merged);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::train_in_parts;
    use crate::checkpoint::RunToEnd;
    use crate::error::TrainError;
    use crate::token::Pair;
    use crate::train::count::PieceCounts;
    use crate::train::{Options, TieBreak, naive};

    type Pieces = Vec<(Vec<u8>, u64)>;

    fn pieces(number: usize, symbols: u32) -> Pieces {
        let mut random = 1_u32;
        let mut below = |limit: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) % limit
        };
        (0..number)
            .map(|_| {
                let length = 2 + below(22);
                let bytes = (0..length).map(|_| b'a' + below(symbols).to_le_bytes()[0]);
                (bytes.collect(), u64::from(1 + below(9)))
            })
            .collect()
    }

    fn learned(
        pieces: &Pieces,
        merges: usize,
        options: &Options,
        parts: usize,
    ) -> Result<Vec<Pair>, TrainError> {
        let mut counts = PieceCounts::new();
        let pieces = pieces.iter().map(|(piece, count)| (&piece[..], *count));
        counts.add_pieces(pieces, &RunToEnd)?;
        train_in_parts(&mut counts, merges, options, parts, &RunToEnd, &mut |_| {
            Ok(())
        })
    }

    /// However many parts, and helpers with work: pairs are at thousands of places in each.
    #[test]
    fn parts_change_nothing() -> Result<(), TrainError> {
        let (few, many) = (pieces(300, 3), pieces(60_000, 5));
        for tie_break in TieBreak::ALL {
            let options = Options {
                tie_break,
                ..Options::default()
            };
            let borrowed: Vec<(&[u8], u64)> = few
                .iter()
                .map(|(piece, count)| (&piece[..], *count))
                .collect();
            let defined = naive::train(&borrowed, 60, &options);
            let alone = learned(&many, 400, &options, 1)?;
            assert_eq!(alone.len(), 400);
            for parts in 1..=5 {
                assert_eq!(Some(learned(&few, 60, &options, parts)?), defined);
                let together = learned(&many, 400, &options, parts)?;
                assert_eq!(together, alone, "{} parts, {}", parts, tie_break.name());
            }
        }
        Ok(())
    }
}
