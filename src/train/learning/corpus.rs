//! All pieces, in a partition for each thread that merges.
//!
//! Each partition has a lock of its own, so threads that merge in different ones never wait for each other.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::offset::Offset;
use super::partition::{CorpusPartition, MAX_HISTOGRAM_COUNT};
use crate::checkpoint::Interrupted;
use crate::error::TrainError;
use crate::token::{Pair, TokenId};
use crate::train::counting::PieceCounts;
use crate::util::memory;
use crate::util::parallel;

/// A partition has at least as many pieces, or as many bytes: with fewer, merging and all that goes with it
/// takes a few milliseconds.
const MIN_PARTITION_PIECES: usize = 1 << 13;
const MIN_PARTITION_BYTES: usize = 1 << 18;

/// Most batches of merges have too few occurrences for more threads.
const MAX_PARTITIONS: usize = 8;

/// All pieces.
#[derive(Debug)]
pub(in crate::train) struct Corpus {
    partitions: Vec<Mutex<CorpusPartition>>,
    /// Offset of the first cell of each partition.
    starts: Vec<usize>,
    /// Offset after the last cell.
    end: usize,
}

impl Corpus {
    /// Returns how many partitions the counted pieces are worth, at most one for each of `threads` threads.
    ///
    /// # Errors
    /// Those of reading `counts`.
    pub(in crate::train) fn partitions_for(
        counts: &mut PieceCounts,
        threads: usize,
    ) -> Result<usize, TrainError> {
        let pieces = counts.len()?;
        let most = threads
            .min(parallel::cores())
            .min(MAX_PARTITIONS)
            .min(pieces);
        let mut worth = pieces / MIN_PARTITION_PIECES;
        if worth < most {
            worth = worth.max(counts.bytes()? / MIN_PARTITION_BYTES);
        }
        Ok(most.min(worth).max(1))
    }

    /// Distributes all counted pieces to `number` partitions, in the order of first occurrence if `in_order`.
    /// `new_push` makes, for each thread, the function that adds a piece and its count to a partition.
    ///
    /// # Errors
    /// [`TrainError::TooManyOccurrences`] if the count of a pair might not fit 64 bits; those of reading `counts`
    /// and of pushing.
    pub(in crate::train) fn new<
        P: FnMut(&mut CorpusPartition, &[u8], u64) -> Result<(), TrainError>,
    >(
        counts: &mut PieceCounts,
        in_order: bool,
        number: usize,
        new_push: impl Fn() -> P + Sync,
    ) -> Result<Self, TrainError> {
        if !in_order && let Some(map) = counts.map()? {
            let indices: Vec<usize> = (0..number).collect();
            let partitions = parallel::map(&indices, number, |&index| {
                let mut cells = 0;
                map.for_each_in_part(index, number, |piece, _| {
                    cells += CorpusPartition::cells_of(piece.len());
                    Ok(())
                })?;
                let mut partition = CorpusPartition::with_capacity(cells);
                let mut push = new_push();
                map.for_each_in_part(index, number, |piece, counted| {
                    push(&mut partition, piece, counted.count)
                })?;
                Ok::<CorpusPartition, TrainError>(partition)
            })?;
            return Self::of(partitions);
        }
        // Fills one after the other, each with the same number of bytes.
        let pieces = counts.len()? / number + 1;
        let bytes = counts.bytes()? / number + 1;
        let cells = CorpusPartition::cells_of(bytes) + pieces * CorpusPartition::cells_of(0);
        let mut partitions = memory::vec_with_capacity(number);
        partitions.resize_with(number, || CorpusPartition::with_capacity(cells));
        let mut push = new_push();
        let mut done = 0;
        let visit = |piece: &[u8], count: u64| {
            let partition = &mut partitions[done / bytes];
            done += piece.len();
            push(partition, piece, count)
        };
        if in_order {
            counts.for_each_in_order(visit)?;
        } else {
            counts.for_each(visit)?;
        }
        Self::of(partitions)
    }

    fn of(mut partitions: Vec<CorpusPartition>) -> Result<Self, TrainError> {
        let mut starts = Vec::with_capacity(partitions.len());
        let mut start = 0;
        for partition in &mut partitions {
            starts.push(start);
            start = partition.finish(start);
        }
        // No pair occurs more often than there are bytes.
        let weight: u128 = partitions.iter().map(CorpusPartition::weight).sum();
        if weight > u128::from(u64::MAX) {
            return Err(TrainError::TooManyOccurrences);
        }
        let partitions = partitions.into_iter().map(Mutex::new).collect();
        Ok(Self {
            partitions,
            starts,
            end: start,
        })
    }

    /// Adds to the offsets of all cells.
    #[cfg(test)]
    pub(super) fn shift(&mut self, by: usize) {
        self.end += by;
        for (partition, start) in self.partitions.iter_mut().zip(&mut self.starts) {
            *start += by;
            let partition = partition.get_mut();
            partition.unwrap_or_else(PoisonError::into_inner).start = *start;
        }
    }

    /// Offset after the last cell.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Number of partitions.
    pub(super) fn partitions(&self) -> usize {
        self.partitions.len()
    }

    /// Calls `visit` with the tokens of each piece, as merged so far. `length` returns the length of a token.
    ///
    /// # Errors
    /// [`Interrupted`].
    pub(in crate::train) fn for_each_piece(
        &self,
        length: impl Fn(TokenId) -> u32,
        mut visit: impl FnMut(&[TokenId]),
    ) -> Result<(), Interrupted> {
        for index in 0..self.partitions() {
            let partition = self.partition(index);
            partition.for_each_piece(&length, &mut visit)?;
        }
        Ok(())
    }

    /// Locks a partition.
    pub(super) fn partition(&self, index: usize) -> MutexGuard<'_, CorpusPartition> {
        let partition = &self.partitions[index];
        partition.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns those of the sorted `occurrences` that are in a partition.
    #[inline]
    pub(super) fn occurrences_in<'o, O: Offset>(
        &self,
        partition: usize,
        occurrences: &'o [O],
    ) -> &'o [O] {
        let before =
            |start: usize| occurrences.partition_point(|&occurrence| occurrence.get() < start);
        let end = self.starts.get(partition + 1);
        let end = end.map_or(occurrences.len(), |&end| before(end));
        let start = if partition == 0 {
            0
        } else {
            before(self.starts[partition])
        };
        &occurrences[start..end]
    }

    /// Returns whether `pair`, whose left token has `left_length` bytes, begins at `occurrence`.
    pub(super) fn holds(&self, occurrence: usize, pair: Pair, left_length: u32) -> bool {
        let starts = &self.starts;
        let index = starts.partition_point(|&start| start <= occurrence) - 1;
        self.partition(index).holds(occurrence, pair, left_length)
    }

    /// Estimates how often the last of `merges` merges occurs, or less: as often as the least frequent of the
    /// `merges` most frequent pieces. If each merge made one of these pieces a token, that would be exact;
    /// some make parts of tokens.
    pub(super) fn expected_min_count(&self, merges: usize) -> u64 {
        let partitions = (0..self.partitions()).map(|index| self.partition(index));
        let partitions: Vec<_> = partitions.collect();
        let mut pieces = 0;
        let last = (0..=MAX_HISTOGRAM_COUNT).rev().find(|&count| {
            let in_each = partitions
                .iter()
                .map(|partition| partition.histogram()[count]);
            pieces += in_each.sum::<usize>();
            pieces >= merges
        });
        last.map_or(0, |count| count as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::{Corpus, MAX_PARTITIONS, MIN_PARTITION_BYTES, MIN_PARTITION_PIECES};
    use crate::error::TrainError;
    use crate::train::counting::PieceCounts;
    use crate::util::parallel;

    fn partitions_for(pieces: usize, length: usize, threads: usize) -> Result<usize, TrainError> {
        let pieces: Vec<Vec<u8>> = (0..pieces)
            .map(|number| {
                let mut piece = number.to_le_bytes().to_vec();
                piece.resize(length, b'.');
                piece
            })
            .collect();
        let mut counts = PieceCounts::new();
        counts.add_pieces(pieces.iter().map(|piece| (&piece[..], 1)))?;
        Corpus::partitions_for(&mut counts, threads)
    }

    #[test]
    fn many_pieces_and_long_ones_are_worth_partitions() -> Result<(), TrainError> {
        let most = parallel::cores().min(MAX_PARTITIONS);
        let all = usize::MAX;
        assert_eq!(partitions_for(0, 8, all)?, 1);
        assert_eq!(partitions_for(100, 8, all)?, 1);
        let many = MAX_PARTITIONS * MIN_PARTITION_PIECES;
        assert_eq!(partitions_for(many, 8, all)?, most);
        assert_eq!(partitions_for(many, 8, 1)?, 1);
        assert_eq!(
            partitions_for(MAX_PARTITIONS, MIN_PARTITION_BYTES, all)?,
            most
        );
        // One piece is never in two partitions.
        assert_eq!(
            partitions_for(1, MAX_PARTITIONS * MIN_PARTITION_BYTES, all)?,
            1
        );
        Ok(())
    }
}
