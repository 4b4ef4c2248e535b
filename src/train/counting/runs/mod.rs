//! Sorted runs and their k-way merge: counts larger than memory.
//!
//! ```text
//! a full map ─► a run in a file                (sorted_pieces, sorted_run)
//! 32 runs of a level ─► one of the next level  (kway_merge)
//! all runs at the end ─► one run of all pieces
//! ```
//!
//! So few files are open at once, and a piece is written once for each level: three times when there are
//! thousands of runs.
//!
//! Merging sorted runs of counts is also the reduce step of counting on several machines: each sorts what it
//! counted, and equal pieces meet in the merge, whose memory does not depend on their number.

mod kway_merge;
mod sort_buffer;
mod sorted_pieces;
mod sorted_run;
mod sorted_tables;

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) use self::kway_merge::SortOrder;
use self::kway_merge::{PieceCursor, kway_merge};
pub(super) use self::sort_buffer::SortBuffer;
use self::sorted_pieces::SortedPieces;
use self::sorted_run::RunWriter;
pub(super) use self::sorted_run::SortedRun;
pub use self::sorted_tables::NextTable;
use self::sorted_tables::TableCursor;
use super::counted::Counted;
use super::piece_map::PieceMap;
use crate::checkpoint::{self, Checkpoint};
use crate::error::TrainError;

/// Number of runs of one level that are merged into one of the next.
const FAN_IN: usize = 32;

/// Bounds of the memory in which pieces are sorted by position; between them, the memory limit decides. With
/// less, files would be many and small; with more, sorting would take too long between two checkpoints.
const SORT_BUFFER_BYTES: RangeInclusive<usize> = (1 << 16)..=(1 << 25);

/// A memory limit, and the runs that were written to keep it.
#[derive(Clone, Debug)]
pub(super) struct RunStore {
    /// Memory of all maps together, in bytes.
    limit: usize,
    directory: PathBuf,
    runs: Vec<LeveledRun>,
}

#[derive(Clone, Debug)]
struct LeveledRun {
    level: u32,
    run: SortedRun,
}

impl RunStore {
    /// A limit without runs.
    pub(super) fn new(limit: usize, directory: PathBuf) -> Self {
        Self {
            limit,
            directory,
            runs: Vec::new(),
        }
    }

    /// The same limit and directory, without runs.
    pub(super) fn without_runs(&self) -> Self {
        Self::new(self.limit, self.directory.clone())
    }

    /// Memory that all maps together may take, in bytes.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Returns whether there are no runs.
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Returns a spiller for `maps` maps at once.
    pub(super) fn spiller<'a>(
        &'a mut self,
        maps: usize,
        checkpoint: &'a dyn Checkpoint,
    ) -> Spiller<'a> {
        Spiller {
            map_limit: self.limit / maps.max(1),
            levels: RunLevels {
                order: SortOrder::Bytes,
                directory: &self.directory,
                runs: Mutex::new(&mut self.runs),
                checkpoint,
            },
        }
    }

    /// Adds sorted pieces as a run. Each has the position `start` and following, in their order.
    ///
    /// `check_total` may refuse the number of their occurrences, before anything is added.
    pub(super) fn add_sorted(
        &mut self,
        sources: Vec<NextTable<'_>>,
        start: u64,
        checkpoint: &dyn Checkpoint,
        check_total: impl FnOnce(u64) -> Result<(), TrainError>,
    ) -> Result<SortedSum, TrainError> {
        let mut sum = SortedSum::default();
        let mut writer = RunWriter::new(&self.directory).map_err(TrainError::TemporaryFile)?;
        merge_tables(sources, checkpoint, |piece, counted| {
            let first = start + sum.pieces;
            sum.add(piece, counted.count)?;
            writer
                .push(piece, Counted { first, ..counted })
                .map_err(TrainError::TemporaryFile)
        })?;
        let run = writer.finish().map_err(TrainError::TemporaryFile)?;
        check_total(sum.total)?;
        if sum.pieces > 0 {
            let levels = self.spiller(1, checkpoint).levels;
            levels.push(LeveledRun { level: 0, run })?;
        }
        Ok(sum)
    }

    /// Adds all runs of `other`, whose positions are shifted by `shift`.
    pub(super) fn add_runs(
        &mut self,
        other: &Self,
        shift: u64,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), TrainError> {
        let levels = self.spiller(1, checkpoint).levels;
        for LeveledRun { level, run } in &other.runs {
            let mut run = run.clone();
            run.shift += shift;
            levels.push(LeveledRun { level: *level, run })?;
        }
        Ok(())
    }

    /// Merges all runs into one and returns it, or `None` if there are none.
    pub(super) fn merge_all(
        &mut self,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Option<SortedRun>, TrainError> {
        if let [first, rest @ ..] = &self.runs[..]
            && !rest.is_empty()
        {
            let level = rest
                .iter()
                .fold(first.level, |level, run| level.max(run.level));
            let readers = self.runs.iter().map(|run| run.run.reader(SortOrder::Bytes));
            let run = write_run(&self.directory, readers.collect(), checkpoint)?;
            self.runs = vec![LeveledRun { level, run }];
        }
        Ok(self.runs.first().map(|run| run.run.clone()))
    }

    /// Calls `visit(piece, counted)` for each piece of a run, in the order of first occurrence.
    pub(super) fn for_each_by_first(
        &self,
        run: &SortedRun,
        checkpoint: &dyn Checkpoint,
        visit: impl FnMut(&[u8], Counted) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        let mut runs = Vec::new();
        let levels = RunLevels {
            order: SortOrder::First,
            directory: &self.directory,
            runs: Mutex::new(&mut runs),
            checkpoint,
        };
        let buffer_limit = self
            .limit
            .clamp(*SORT_BUFFER_BYTES.start(), *SORT_BUFFER_BYTES.end());
        let mut buffer = SortBuffer::default();
        for_each_of_run(run, checkpoint, |piece, counted| {
            buffer.push(piece, counted);
            if buffer.memory() >= buffer_limit {
                levels.push_buffer(&mut buffer)?;
            }
            Ok(())
        })?;
        levels.push_buffer(&mut buffer)?;
        drop(buffer);
        let readers = runs.iter().map(|run| run.run.reader(SortOrder::First));
        kway_merge(readers.collect(), checkpoint, visit)
    }
}

/// Sums over sorted pieces.
#[derive(Debug, Default)]
pub(super) struct SortedSum {
    /// Number of different pieces.
    pub(super) pieces: u64,
    /// Number of occurrences.
    pub(super) total: u64,
    /// Bytes of all occurrences.
    pub(super) text_bytes: u128,
}

impl SortedSum {
    fn add(&mut self, piece: &[u8], count: u64) -> Result<(), TrainError> {
        self.pieces += 1;
        self.total = self
            .total
            .checked_add(count)
            .ok_or(TrainError::TooManyOccurrences)?;
        self.text_bytes += piece.len() as u128 * u128::from(count);
        Ok(())
    }
}

/// Calls `visit(piece, counted)` for the pieces of all sources, sorted by bytes; equal pieces are visited once.
fn merge_tables(
    sources: Vec<NextTable<'_>>,
    checkpoint: &dyn Checkpoint,
    visit: impl FnMut(&[u8], Counted) -> Result<(), TrainError>,
) -> Result<(), TrainError> {
    let cursors = sources.into_iter().map(TableCursor::new).collect();
    kway_merge(cursors, checkpoint, visit)
}

/// Calls `visit(piece, counted)` for each piece of a map, sorted by bytes. A copy is sorted: where memory ends, the map
/// still has its pieces.
pub(super) fn for_each_of_map(
    map: &PieceMap,
    checkpoint: &dyn Checkpoint,
    visit: impl FnMut(&[u8], Counted) -> Result<(), TrainError>,
) -> Result<(), TrainError> {
    let mut sorted = SortedPieces::new(map.clone());
    sorted.sort(checkpoint)?;
    kway_merge(sorted.cursors(), checkpoint, visit)
}

/// Calls `visit(piece, counted)` for each piece of a run of a [`RunStore`], sorted by bytes.
pub(super) fn for_each_of_run(
    run: &SortedRun,
    checkpoint: &dyn Checkpoint,
    visit: impl FnMut(&[u8], Counted) -> Result<(), TrainError>,
) -> Result<(), TrainError> {
    kway_merge(vec![run.reader(SortOrder::Bytes)], checkpoint, visit)
}

/// Keeps the maps of several threads within a memory limit, each within the same part of it.
pub(super) struct Spiller<'a> {
    /// Memory of each map, in bytes.
    map_limit: usize,
    levels: RunLevels<'a>,
}

impl Spiller<'_> {
    /// Spills a map unless `pieces` more pieces of `bytes` bytes in total fit its limit. After an error the
    /// map is unchanged.
    #[inline]
    pub(super) fn reserve(
        &self,
        map: &mut PieceMap,
        pieces: usize,
        bytes: usize,
    ) -> Result<(), TrainError> {
        if map.len() == 0 || map.memory_with(pieces, bytes) <= self.map_limit {
            return Ok(());
        }
        let slots = map.slots_for(pieces);
        self.spill(map)?;
        *map = PieceMap::within(self.map_limit, slots);
        Ok(())
    }

    /// Writes a map as a run and empties it. After an error the map is unchanged.
    #[cold]
    #[inline(never)]
    pub(super) fn spill(&self, map: &mut PieceMap) -> Result<(), TrainError> {
        let mut sorted = SortedPieces::new(map.take());
        let written = sorted
            .sort(self.levels.checkpoint)
            .map_err(TrainError::from)
            .and_then(|()| {
                let RunLevels { directory, .. } = self.levels;
                write_run(directory, sorted.cursors(), self.levels.checkpoint)
            });
        match written {
            Ok(run) => {
                map.set_whole();
                self.levels.push(LeveledRun { level: 0, run })
            }
            Err(error) => {
                *map = sorted.into_map();
                Err(error)
            }
        }
    }
}

/// Runs of one order by level, to which several threads add.
struct RunLevels<'a> {
    order: SortOrder,
    directory: &'a Path,
    /// Not locked during input and output, as waiting for a lock does not look at the checkpoint.
    runs: Mutex<&'a mut Vec<LeveledRun>>,
    checkpoint: &'a dyn Checkpoint,
}

impl<'a> RunLevels<'a> {
    /// Adds a run, and merges the runs of its level if there are enough. The run is added even if merging
    /// fails.
    fn push(&self, mut added: LeveledRun) -> Result<(), TrainError> {
        loop {
            let level = added.level;
            let mut runs = self.lock();
            runs.push(added);
            if runs.iter().filter(|run| run.level == level).count() < FAN_IN {
                return Ok(());
            }
            let full: Vec<LeveledRun> = runs.extract_if(.., |run| run.level == level).collect();
            drop(runs);
            let readers = full.iter().map(|run| run.run.reader(self.order));
            match write_run(self.directory, readers.collect(), self.checkpoint) {
                Ok(run) => {
                    added = LeveledRun {
                        level: level + 1,
                        run,
                    }
                }
                Err(error) => {
                    self.lock().extend(full);
                    return Err(error);
                }
            }
        }
    }

    /// Adds the sorted pieces of a buffer as a run, and empties the buffer.
    fn push_buffer(&self, buffer: &mut SortBuffer) -> Result<(), TrainError> {
        checkpoint::pass(self.checkpoint)?;
        let mut writer = RunWriter::new(self.directory).map_err(TrainError::TemporaryFile)?;
        buffer.for_each_sorted(self.order, usize::MAX, self.checkpoint, |piece, counted| {
            writer
                .push(piece, counted)
                .map_err(TrainError::TemporaryFile)
        })?;
        buffer.clear();
        let run = writer.finish().map_err(TrainError::TemporaryFile)?;
        self.push(LeveledRun { level: 0, run })
    }

    fn lock(&self) -> MutexGuard<'_, &'a mut Vec<LeveledRun>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Merges the pieces of all cursors into a new run.
fn write_run(
    directory: &Path,
    cursors: Vec<impl PieceCursor>,
    checkpoint: &dyn Checkpoint,
) -> Result<SortedRun, TrainError> {
    let mut writer = RunWriter::new(directory).map_err(TrainError::TemporaryFile)?;
    kway_merge(cursors, checkpoint, |piece, counted| {
        writer
            .push(piece, counted)
            .map_err(TrainError::TemporaryFile)
    })?;
    writer.finish().map_err(TrainError::TemporaryFile)
}
