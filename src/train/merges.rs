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

use super::corpus::{Corpus, MOST_TOKENS};
use super::count::PieceCounts;
use super::neighbours::{Neighbours, Sides};
use super::pair_index::PairIndex;
use super::queue::Queue;
use super::replace::Merge;
use super::tally::{AnyPairs, BytePairs, NOWHERE, Tally};
use super::ties::{Candidate, Ties};
use super::{FIRST_MERGE, Options};
use crate::checkpoint::{self, Checkpoint, Interrupted};
use crate::error::TrainError;
use crate::merge;
use crate::token::{Pair, TokenId};
use crate::vocabulary::Vocabulary;

/// Places looked at between two reports of progress.
const STRETCH: usize = 1 << 16;

/// The first `merges` merges that the pieces teach, fewer if no pair is left that may be merged. `progress` is told how
/// many there are, now and then, and may stop it.
///
/// # Errors
/// [`TrainError`].
///
/// # Complexity
/// O(n log n) for n bytes of unique pieces; memory 4 bytes for each of these, and 4 for each place of a pair that may
/// still be merged.
pub fn train(
    counts: &mut PieceCounts,
    merges: usize,
    options: &Options,
    checkpoint: &dyn Checkpoint,
    progress: &mut dyn FnMut(usize) -> Result<(), Interrupted>,
) -> Result<Vec<Pair>, TrainError> {
    let least = options.min_frequency.max(1);
    let mut trainer = Trainer::new(counts, options, checkpoint)?;
    let mut learned = Vec::new();
    trainer.least = trainer.least.max(trainer.corpus.expected_least(merges));
    trainer.index(checkpoint)?;
    let mut visited = 0;
    while learned.len() < merges {
        let Some(pair) = trainer.best() else {
            if trainer.least == least {
                break;
            }
            trainer.least = least.max(trainer.least / 8);
            trainer.index(checkpoint)?;
            continue;
        };
        visited += trainer.merge(pair, checkpoint)?;
        learned.push(pair);
        if visited >= STRETCH || learned.len() % 1024 == 0 {
            visited = 0;
            checkpoint::pass(checkpoint)?;
            progress(learned.len())?;
        }
    }
    Ok(learned)
}

/// The state between two merges.
struct Trainer {
    corpus: Corpus,
    index: PairIndex,
    queue: Queue,
    ties: Ties,
    /// The bytes of each token.
    lengths: Vec<u32>,
    /// What stands beside the last merged pair, as each thread saw it.
    sides: Vec<Sides>,
    threads: usize,
    /// Rarer pairs are not in the index.
    least: u64,
    /// The most bytes in a token.
    longest: u32,
    /// Initial tokens that no merge may make again, because their own bytes do not become them.
    taken: HashSet<Vec<u8>>,
}

impl Trainer {
    /// All pieces as the initial vocabulary has them.
    fn new(
        counts: &mut PieceCounts,
        options: &Options,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Self, TrainError> {
        let mut ties = Ties::new(options.tie_break, &options.initial);
        let byte_tokens = options.initial.byte_tokens()?;
        let mut lengths = vec![1; byte_tokens.len()];
        let pairs = options.initial.merges.iter().copied();
        let made: Vec<(TokenId, Pair)> = (FIRST_MERGE..).zip(pairs).collect();
        let vocabulary =
            Vocabulary::from_merges(&byte_tokens, made.into_iter()).map_err(TrainError::Initial)?;
        for &pair in &options.initial.merges {
            let length = |token: TokenId| -> u32 { lengths[token as usize] };
            let length = length(pair.left).saturating_add(length(pair.right));
            lengths.push(length);
            ties.push(pair);
        }
        let taken = unreached(&vocabulary, options.initial.merges.len(), checkpoint)?;
        if taken.is_empty() {
            ties.forget_bytes();
        }
        let (pieces, bytes) = (counts.len(checkpoint)?, counts.bytes(checkpoint)?);
        let mut corpus = Corpus::with_capacity(pieces, bytes);
        let mut ids = Vec::new();
        let mut unchecked = 0;
        let visit = |piece: &[u8], count: u64| {
            unchecked += piece.len();
            if unchecked > STRETCH {
                unchecked = 0;
                checkpoint::pass(checkpoint)?;
            }
            if options.initial.merges.is_empty() {
                return corpus.push_bytes(piece, &byte_tokens, count, checkpoint);
            }
            ids.clear();
            merge::merge(&vocabulary, piece, &mut ids, checkpoint)?;
            let tokens = ids.iter().map(|&token| (token, lengths[token as usize]));
            corpus.push(piece.len(), tokens, count, checkpoint)
        };
        if ties.moves() {
            counts.for_each_in_order(checkpoint, visit)?;
        } else {
            counts.for_each(checkpoint, visit)?;
        }
        corpus.finish()?;
        let longest = options.max_token_length.unwrap_or(usize::MAX);
        Ok(Self {
            corpus,
            index: PairIndex::default(),
            queue: Queue::default(),
            ties,
            lengths,
            sides: Vec::new(),
            threads: options.threads,
            least: options.min_frequency.max(1),
            longest: u32::try_from(longest).unwrap_or(u32::MAX),
            taken,
        })
    }

    /// Whether a pair that occurs so often may be merged.
    fn may_merge(&self, pair: Pair, count: u64) -> bool {
        let lengths = [pair.left, pair.right].map(|part| self.lengths[part as usize]);
        let bytes = || [self.ties.bytes(pair.left), self.ties.bytes(pair.right)].concat();
        count >= self.least
            && lengths[0].saturating_add(lengths[1]) <= self.longest
            && (self.taken.is_empty() || !self.taken.contains(&bytes()))
    }

    /// Looks through the whole corpus for pairs that occur at least `least` times.
    fn index(&mut self, checkpoint: &dyn Checkpoint) -> Result<(), TrainError> {
        if self.lengths.len() == 256 {
            self.index_by::<BytePairs>(|_| 1, checkpoint)
        } else {
            let lengths = self.lengths.clone();
            self.index_by::<AnyPairs>(|token| lengths[token as usize], checkpoint)
        }
    }

    /// As [`index`](Self::index), for tokens of the `length` that is told.
    fn index_by<T: Tally>(
        &mut self,
        length: impl Fn(TokenId) -> u32,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), TrainError> {
        let mut tally = T::default();
        self.index = PairIndex::default();
        self.queue = Queue::default();
        self.corpus
            .for_each_pair(&length, checkpoint, |_, pair, count| {
                let row = tally.row(pair);
                row.count += count;
                row.places += 1;
            })?;
        let places: usize = tally.rows().map(|(_, row)| row.places as usize).sum();
        self.index = PairIndex::with_capacity(places + places / 2);
        for (pair, row) in tally.rows() {
            if self.may_merge(pair, row.count) {
                row.next = self.index.insert(pair, row.count, row.places)?;
            }
        }
        let pool = self.index.pool();
        self.corpus
            .for_each_pair(&length, checkpoint, |place, pair, _| {
                let row = tally.row(pair);
                if row.next != NOWHERE {
                    pool[row.next as usize] = place;
                    row.next += 1;
                }
            })?;
        for (pair, row) in tally.rows().filter(|(_, row)| row.next != NOWHERE) {
            self.push(pair, row.count);
        }
        Ok(())
    }

    /// A candidate of the count that is true now.
    fn candidate(&mut self, pair: Pair, count: u64) -> Candidate {
        let first = if self.ties.moves() {
            let (corpus, length) = (&self.corpus, self.lengths[pair.left as usize]);
            self.index
                .first(pair, |place| corpus.holds(place, pair, length))
        } else {
            0
        };
        let tie = self.ties.tie(pair, first);
        Candidate { count, tie, pair }
    }

    fn push(&mut self, pair: Pair, count: u64) {
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
            &mut self.corpus,
            &self.index.pool()[places],
            self.threads,
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

/// The bytes of the merged tokens of a vocabulary that its merges make something else of.
fn unreached(
    vocabulary: &Vocabulary,
    merges: usize,
    checkpoint: &dyn Checkpoint,
) -> Result<HashSet<Vec<u8>>, TrainError> {
    let mut unreached = HashSet::new();
    let mut ids = Vec::new();
    for token in (FIRST_MERGE..).take(merges) {
        let bytes = vocabulary.bytes(token).unwrap_or_default();
        ids.clear();
        merge::merge(vocabulary, bytes, &mut ids, checkpoint)?;
        if ids != [token] {
            unreached.insert(bytes.to_vec());
        }
    }
    Ok(unreached)
}
