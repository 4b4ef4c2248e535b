//! The loop: the best pairs, merged wherever they occur, until there are enough merges.
//!
//! ```text
//! the best candidates of the queue whose counts are still true, as long as they do not touch
//! for each of them:
//!     at each of its places, in order: merge; note what stands before and after
//!     for each token noted: its pair with the old token is rarer, its pair with the new one is new
//! ```
//!
//! The work is that of the places visited: merging takes the same time in a piece of any length. Each place is visited
//! once for each pair that ever stood there.

use std::thread;

use super::Options;
use super::corpus::Corpus;
use super::count::PieceCounts;
use super::helpers::Helpers;
use super::queue::Queue;
use super::rules::Rules;
use super::start::Start;
use super::ties::Candidate;
use super::work::{Shards, Step, Work};
use crate::checkpoint::{self, Checkpoint, Interrupted};
use crate::error::TrainError;
use crate::token::Pair;

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
    let work = Work::new(&corpus, Rules::new(start, options.max_token_length));
    let helpers = Helpers::new(&work);
    thread::scope(|scope| {
        let _dismissal = helpers.start(scope, &work, checkpoint);
        let mut trainer = Trainer {
            work: &work,
            helpers: &helpers,
            queue: Queue::default(),
        };
        trainer.learn(merges, options.min_frequency.max(1), checkpoint, progress)
    })
}

/// The first thread.
pub(super) struct Trainer<'a> {
    pub(super) work: &'a Work<'a>,
    helpers: &'a Helpers,
    pub(super) queue: Queue,
}

impl Trainer<'_> {
    /// Merges pairs that occur at least `least` times; the rest as [`train`].
    fn learn(
        &mut self,
        merges: usize,
        least: u64,
        checkpoint: &dyn Checkpoint,
        progress: &mut dyn FnMut(usize) -> Result<(), Interrupted>,
    ) -> Result<Vec<Pair>, TrainError> {
        let mut learned = Vec::new();
        let mut now = least.max(self.work.corpus.expected_least(merges));
        self.look_through(now, checkpoint)?;
        let mut visited = 0;
        while learned.len() < merges {
            self.choose_round(merges - learned.len())?;
            let before = learned.len();
            let round = self.work.round();
            learned.extend(round.merges.iter().map(|(merge, _)| merge.pair));
            visited += round.visits;
            drop(round);
            if learned.len() == before {
                if now == least {
                    break;
                }
                now = least.max(now / 8);
                self.queue = Queue::default();
                self.look_through(now, checkpoint)?;
                continue;
            }
            for step in [Step::Merge, Step::Note] {
                self.helpers.step(step, self.work, checkpoint)?;
            }
            self.push_fresh();
            if visited >= STRETCH || before / 1024 != learned.len() / 1024 {
                visited = 0;
                checkpoint::pass(checkpoint)?;
                progress(learned.len())?;
            }
        }
        Ok(learned)
    }

    /// Chooses the merges that come next, `most` at most: those of the round.
    fn choose_round(&mut self, most: usize) -> Result<(), TrainError> {
        let mut rules = self.work.rules_to_change();
        let mut round = self.work.round_to_change();
        let mut shards = self.work.shards_to_change();
        round.clear(rules.lengths.len());
        let most = if rules.allow_rounds() { most } else { 1 };
        while round.merges.len() < most && !round.is_full() {
            let Some(candidate) = self.best(&rules, &mut shards) else {
                break;
            };
            let pair = candidate.pair;
            if round.touches(pair) {
                self.queue.push(candidate, &rules.ties);
                break;
            }
            let places = shards.of(pair).index.remove(pair);
            round.push(rules.push(pair)?, places);
        }
        Ok(())
    }

    /// The candidate that comes next.
    fn best(&mut self, rules: &Rules, shards: &mut Shards<'_>) -> Option<Candidate> {
        loop {
            let candidate = self.queue.pop(&rules.ties)?;
            let pair = candidate.pair;
            match shards.of(pair).index.count(pair) {
                Some(now) if now == candidate.count => return Some(candidate),
                Some(now) => self.push(pair, now, rules, shards),
                None => {}
            }
        }
    }

    /// Adds a pair to the candidates, with the count that is true now.
    pub(super) fn push(&mut self, pair: Pair, count: u64, rules: &Rules, shards: &mut Shards<'_>) {
        let first = if rules.ties.moves() {
            let (corpus, length) = (self.work.corpus, rules.lengths[pair.left as usize]);
            let holds = |place| corpus.holds(place, pair, length);
            shards.of(pair).index.first(pair, holds)
        } else {
            0
        };
        let tie = rules.ties.tie(pair, first);
        self.queue.push(Candidate { count, tie, pair }, &rules.ties);
    }

    /// Adds the pairs that are new to the candidates.
    fn push_fresh(&mut self) {
        let rules = self.work.rules();
        let mut shards = self.work.shards_to_change();
        for number in 0..shards.0.len() {
            let mut fresh = std::mem::take(&mut shards.0[number].fresh);
            for (pair, count) in fresh.drain(..) {
                self.push(pair, count, &rules, &mut shards);
            }
            shards.0[number].fresh = fresh;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::train_in_parts;
    use crate::checkpoint::RunToEnd;
    use crate::error::TrainError;
    use crate::token::Pair;
    use crate::train::count::PieceCounts;
    use crate::train::{Options, TieBreak, reference};

    type Pieces = Vec<(Vec<u8>, u64)>;

    /// Random ones, each occurring up to `often` times.
    fn pieces(number: usize, symbols: u32, often: u32, seed: u32) -> Pieces {
        let mut random = seed;
        let mut below = |limit: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) % limit
        };
        (0..number)
            .map(|_| {
                let length = 2 + below(22);
                let bytes = (0..length).map(|_| b'a' + below(symbols).to_le_bytes()[0]);
                (bytes.collect(), u64::from(1 + below(often)))
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
        let (few, many) = (pieces(300, 3, 9, 1), pieces(60_000, 5, 9, 1));
        for tie_break in TieBreak::ALL {
            let options = Options {
                tie_break,
                ..Options::default()
            };
            let borrowed: Vec<(&[u8], u64)> = few
                .iter()
                .map(|(piece, count)| (&piece[..], *count))
                .collect();
            let defined = reference::train(&borrowed, 60, &options);
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

    /// Whatever is merged in rounds, with as many ties as there can be.
    #[test]
    fn rounds_are_merges_one_after_the_other() -> Result<(), TrainError> {
        for seed in 1..=60 {
            let mut pieces = pieces(4 + seed as usize, 2 + seed % 9, 1 + seed % 2, seed);
            // A run, whose new pairs may be more frequent than any other.
            pieces.push((vec![b'a'; seed as usize], u64::from(seed)));
            let borrowed: Vec<(&[u8], u64)> = pieces
                .iter()
                .map(|(piece, count)| (&piece[..], *count))
                .collect();
            for tie_break in TieBreak::ALL {
                let options = Options {
                    tie_break,
                    max_token_length: (seed % 5 == 0).then_some(5),
                    ..Options::default()
                };
                let defined = reference::train(&borrowed, 200, &options);
                for parts in 1..=2 {
                    let here = learned(&pieces, 200, &options, parts)?;
                    assert_eq!(Some(here), defined, "{seed} {}", tie_break.name());
                }
            }
        }
        Ok(())
    }
}
