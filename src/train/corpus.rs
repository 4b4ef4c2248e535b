//! All pieces, in a part for each thread that may merge.
//!
//! Parts are locked one by one: a thread that merges in its own waits for nobody.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::count::PieceCounts;
pub(super) use super::part::Place;
use super::part::{MOST_FREQUENT, Part};
use crate::checkpoint::Checkpoint;
use crate::error::TrainError;
use crate::token::Pair;
use crate::util::parallel;

/// So many pieces are worth a part of their own, and so many bytes of them are: with fewer, merging takes a few
/// milliseconds with all that goes with it.
const WORTH_A_PART: usize = 1 << 13;
const BYTES_WORTH_A_PART: usize = 1 << 18;

/// Most rounds of merges are at too few places to be shared by more threads.
const MOST_PARTS: usize = 8;

/// All pieces.
#[derive(Debug)]
pub(super) struct Corpus {
    parts: Vec<Mutex<Part>>,
    /// The first place of each part.
    starts: Vec<usize>,
}

impl Corpus {
    /// How many parts counted pieces are worth, one for each of `threads` threads at most.
    ///
    /// # Errors
    /// What `counts` raise.
    pub(super) fn parts_for(
        counts: &mut PieceCounts,
        threads: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<usize, TrainError> {
        let pieces = counts.len(checkpoint)?;
        let most = threads.min(parallel::cores()).min(MOST_PARTS).min(pieces);
        let mut worth = pieces / WORTH_A_PART;
        if worth < most {
            worth = worth.max(counts.bytes(checkpoint)? / BYTES_WORTH_A_PART);
        }
        Ok(most.min(worth).max(1))
    }

    /// All counted pieces in `number` parts, as what `pushing` makes for each thread adds them to a part, with how often
    /// they occur; in the order of their first occurrence if that is asked for.
    ///
    /// # Errors
    /// [`TrainError::TooManyOccurrences`] if the count of a pair might not fit; [`TrainError::TooLarge`]; what `counts` and
    /// the adding raise.
    pub(super) fn new<P: FnMut(&mut Part, &[u8], u64) -> Result<(), TrainError>>(
        counts: &mut PieceCounts,
        in_order: bool,
        number: usize,
        pushing: impl Fn() -> P + Sync,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Self, TrainError> {
        if !in_order && let Some(table) = counts.table(checkpoint)? {
            let shares: Vec<usize> = (0..number).collect();
            let parts = parallel::map(&shares, number, checkpoint, |&share| {
                let (mut pieces, mut bytes) = (0, 0);
                table.for_each_of(share, number, checkpoint, |piece, _| {
                    pieces += 1;
                    bytes += piece.len();
                    Ok(())
                })?;
                let mut part = Part::with_capacity(pieces, bytes);
                let mut push = pushing();
                table.for_each_of(share, number, checkpoint, |piece, counted| {
                    push(&mut part, piece, counted.count)
                })?;
                Ok::<Part, TrainError>(part)
            })?;
            return Self::of(parts);
        }
        // One after the other, as long as each has its share of the bytes.
        let pieces = counts.len(checkpoint)? / number + 1;
        let bytes = counts.bytes(checkpoint)? / number + 1;
        let mut parts = Vec::with_capacity(number);
        parts.resize_with(number, || Part::with_capacity(pieces, bytes));
        let mut push = pushing();
        let mut done = 0;
        let visit = |piece: &[u8], count: u64| {
            let part = &mut parts[done / bytes];
            done += piece.len();
            push(part, piece, count)
        };
        if in_order {
            counts.for_each_in_order(checkpoint, visit)?;
        } else {
            counts.for_each(checkpoint, visit)?;
        }
        Self::of(parts)
    }

    fn of(mut parts: Vec<Part>) -> Result<Self, TrainError> {
        let mut starts = Vec::with_capacity(parts.len());
        let mut start = 0;
        for part in &mut parts {
            starts.push(start);
            start = part.finish(start)?;
        }
        if parts.iter().map(Part::weight).sum::<u128>() > u128::from(u64::MAX) {
            return Err(TrainError::TooManyOccurrences);
        }
        let parts = parts.into_iter().map(Mutex::new).collect();
        Ok(Self { parts, starts })
    }

    /// How many parts there are.
    pub(super) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// A part, which nobody else has as long.
    pub(super) fn part(&self, number: usize) -> MutexGuard<'_, Part> {
        let part = &self.parts[number];
        part.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those of `places`, which are in order, that are in a part.
    #[inline]
    pub(super) fn share<'p>(&self, number: usize, places: &'p [Place]) -> &'p [Place] {
        let before = |start: usize| places.partition_point(|&place| (place as usize) < start);
        let end = self.starts.get(number + 1);
        let end = end.map_or(places.len(), |&end| before(end));
        let start = if number == 0 {
            0
        } else {
            before(self.starts[number])
        };
        &places[start..end]
    }

    /// Whether `pair` starts at `place`, its left token having `left_length` bytes.
    pub(super) fn holds(&self, place: Place, pair: Pair, left_length: u32) -> bool {
        let starts = &self.starts;
        let number = starts.partition_point(|&start| start <= place as usize) - 1;
        self.part(number).holds(place, pair, left_length)
    }

    /// How often the last of so many merges is expected to occur, or less: as often as the piece that is the last of as
    /// many frequent ones. If each merge made one of these a token, it would be that; some make parts of tokens.
    pub(super) fn expected_least(&self, merges: usize) -> u64 {
        let parts: Vec<_> = (0..self.parts()).map(|number| self.part(number)).collect();
        let mut pieces = 0;
        let last = (0..=MOST_FREQUENT).rev().find(|&frequency| {
            let of_all = parts.iter().map(|part| part.frequencies()[frequency]);
            pieces += of_all.sum::<usize>();
            pieces >= merges
        });
        last.map_or(0, |frequency| frequency as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::{BYTES_WORTH_A_PART, Corpus, MOST_PARTS, WORTH_A_PART};
    use crate::checkpoint::RunToEnd;
    use crate::error::TrainError;
    use crate::train::count::PieceCounts;
    use crate::util::parallel;

    fn parts_for(pieces: usize, length: usize, threads: usize) -> Result<usize, TrainError> {
        let pieces: Vec<Vec<u8>> = (0..pieces)
            .map(|number| {
                let mut piece = number.to_le_bytes().to_vec();
                piece.resize(length, b'.');
                piece
            })
            .collect();
        let mut counts = PieceCounts::new();
        counts.add_pieces(pieces.iter().map(|piece| (&piece[..], 1)), &RunToEnd)?;
        Corpus::parts_for(&mut counts, threads, &RunToEnd)
    }

    #[test]
    fn many_pieces_and_long_ones_are_worth_parts() -> Result<(), TrainError> {
        let most = parallel::cores().min(MOST_PARTS);
        let all = usize::MAX;
        assert_eq!(parts_for(0, 8, all)?, 1);
        assert_eq!(parts_for(100, 8, all)?, 1);
        assert_eq!(parts_for(MOST_PARTS * WORTH_A_PART, 8, all)?, most);
        assert_eq!(parts_for(MOST_PARTS * WORTH_A_PART, 8, 1)?, 1);
        assert_eq!(parts_for(MOST_PARTS, BYTES_WORTH_A_PART, all)?, most);
        // One piece is never in two parts.
        assert_eq!(parts_for(1, MOST_PARTS * BYTES_WORTH_A_PART, all)?, 1);
        Ok(())
    }
}
