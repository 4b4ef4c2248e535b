//! Reading counts: the maps of all threads and the files are merged first.

use std::sync::{Mutex, PoisonError};

use super::PieceCounts;
use super::counted::Counted;
use super::counter::PieceCounter;
use super::export::CountTable;
use super::piece_map::PieceMap;
use super::runs::{RunStore, SortBuffer, SortOrder, SortedRun, for_each_of_map, for_each_of_run};
use crate::checkpoint::Checkpoint;
use crate::error::TrainError;
use crate::util::memory;
use crate::util::parallel;

impl PieceCounts {
    /// Calls `visit(piece, count)` for every piece, sorted by bytes, until it fails.
    ///
    /// # Errors
    /// Those of `visit`; [`TrainError`] of temporary files, or if interrupted.
    pub fn for_each_sorted(
        &mut self,
        checkpoint: &dyn Checkpoint,
        mut visit: impl FnMut(&[u8], u64) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        let visit = |piece: &[u8], counted: Counted| visit(piece, counted.count);
        if let Gathered::Run(run, _) = self.gather(checkpoint)? {
            return for_each_of_run(&run, checkpoint, visit);
        }
        for_each_of_map(&self.maps[0], checkpoint, visit)
    }

    /// Number of different pieces.
    ///
    /// # Errors
    /// With a memory limit: [`TrainError`] of temporary files, or if interrupted.
    pub fn len(&mut self, checkpoint: &dyn Checkpoint) -> Result<usize, TrainError> {
        Ok(match self.gather(checkpoint)? {
            Gathered::Map(map) => map.len(),
            Gathered::Run(run, _) => run.pieces,
        })
    }

    /// Total length of all different pieces in bytes.
    pub(in crate::train) fn bytes(
        &mut self,
        checkpoint: &dyn Checkpoint,
    ) -> Result<usize, TrainError> {
        if let Gathered::Run(run, _) = self.gather(checkpoint)? {
            return Ok(run.bytes);
        }
        let mut bytes = 0;
        self.for_each(checkpoint, |piece, _| {
            bytes += piece.len();
            Ok(())
        })?;
        Ok(bytes)
    }

    /// The map of all pieces, or `None` if some are in files.
    pub(in crate::train) fn map(
        &mut self,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Option<&PieceMap>, TrainError> {
        Ok(match self.gather(checkpoint)? {
            Gathered::Map(map) => Some(map),
            Gathered::Run(..) => None,
        })
    }

    /// Calls `visit(piece, count)` for every piece, in no particular order, until it fails.
    pub(in crate::train) fn for_each(
        &mut self,
        checkpoint: &dyn Checkpoint,
        mut visit: impl FnMut(&[u8], u64) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        let visit = |piece: &[u8], counted: Counted| visit(piece, counted.count);
        match self.gather(checkpoint)? {
            Gathered::Map(map) => map.for_each(checkpoint, visit),
            Gathered::Run(run, _) => for_each_of_run(&run, checkpoint, visit),
        }
    }

    /// As [`for_each`](Self::for_each), in the order of first occurrence.
    pub(in crate::train) fn for_each_in_order(
        &mut self,
        checkpoint: &dyn Checkpoint,
        mut visit: impl FnMut(&[u8], u64) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        let visit = |piece: &[u8], counted: Counted| visit(piece, counted.count);
        match self.gather(checkpoint)? {
            Gathered::Map(map) => {
                let mut buffer = SortBuffer::default();
                map.for_each(checkpoint, |piece, counted| {
                    buffer.push(piece, counted);
                    Ok(())
                })?;
                buffer.for_each_sorted(SortOrder::First, usize::MAX, checkpoint, visit)
            }
            Gathered::Run(run, runs) => runs.for_each_by_first(&run, checkpoint, visit),
        }
    }

    /// Returns the counts of parts of all pieces, with the same memory limit. `new_cut` makes, for each thread, the
    /// function that gets a piece and its count, and counts the parts.
    ///
    /// # Errors
    /// [`TrainError::TooManyOccurrences`]; those of `cut`; [`TrainError`] of temporary files, or if interrupted.
    pub(in crate::train) fn count_parts<
        C: FnMut(&mut PieceCounter<'_, '_>, &[u8], u64) -> Result<(), TrainError>,
    >(
        mut self,
        threads: usize,
        checkpoint: &dyn Checkpoint,
        new_cut: impl Fn() -> C + Sync,
    ) -> Result<Self, TrainError> {
        let mut parts = Self {
            runs: self.runs.as_ref().map(RunStore::without_runs),
            ..Self::default()
        };
        if let Some(map) = self.map(checkpoint)? {
            let threads = threads.min(parallel::cores()).max(1);
            let indices = memory::collect(0..threads);
            parts.add_blocks(&indices, 0, threads, checkpoint, |counter, &index| {
                let mut cut = new_cut();
                map.for_each_in_part(index, threads, checkpoint, |piece, counted| {
                    cut(counter, piece, counted.count)
                })
            })?;
            return Ok(parts);
        }
        let whole = [Mutex::new(self)];
        parts.add_blocks(&whole, 0, 1, checkpoint, |counter, whole| {
            let mut cut = new_cut();
            let mut whole = whole.lock().unwrap_or_else(PoisonError::into_inner);
            whole.for_each(checkpoint, |piece, count| cut(counter, piece, count))
        })?;
        Ok(parts)
    }

    /// Returns all pieces in the order of first occurrence, in memory whatever the limit.
    ///
    /// # Errors
    /// As [`len`](Self::len).
    pub fn columns(&mut self, checkpoint: &dyn Checkpoint) -> Result<CountTable, TrainError> {
        let mut table = CountTable::with_capacity(self.len(checkpoint)?, self.bytes(checkpoint)?);
        self.for_each_in_order(checkpoint, |piece, count| {
            table.push(piece, count);
            Ok(())
        })?;
        Ok(table)
    }

    /// Returns the most frequent pieces, at most `most`; of equally frequent ones, those that occur first.
    /// Needs memory for all pieces.
    ///
    /// # Errors
    /// As [`len`](Self::len).
    pub fn most_common(
        &mut self,
        most: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<CountTable, TrainError> {
        let mut buffer = SortBuffer::default();
        let mut first = 0;
        self.for_each_in_order(checkpoint, |piece, count| {
            buffer.push(piece, Counted { count, first });
            first += 1;
            Ok(())
        })?;
        let mut table = CountTable::default();
        buffer.for_each_sorted(SortOrder::Count, most, checkpoint, |piece, counted| {
            if table.counts.len() < most {
                table.push(piece, counted.count);
            }
            Ok(())
        })?;
        Ok(table)
    }

    /// Merges all counts: into one map if there are no runs and merging keeps the limit, else into one run.
    fn gather(&mut self, checkpoint: &dyn Checkpoint) -> Result<Gathered<'_>, TrainError> {
        self.maps.iter().for_each(PieceMap::assert_whole);
        self.maps.sort_by_key(PieceMap::len);
        if let Some(runs) = &mut self.runs
            && (!runs.is_empty() || memory_to_merge(&self.maps) > runs.limit())
        {
            let spiller = runs.spiller(1, checkpoint);
            while let Some(map) = self.maps.last_mut() {
                if map.len() > 0 {
                    spiller.spill(map)?;
                }
                self.maps.pop();
            }
        }
        if let Some(runs) = &mut self.runs
            && let Some(run) = runs.merge_all(checkpoint)?
        {
            return Ok(Gathered::Run(run, runs));
        }
        if self.maps.is_empty() {
            self.maps.push(PieceMap::default());
        }
        while let [first, .., all] = &mut self.maps[..] {
            all.take_from(first);
            self.maps.remove(0);
        }
        Ok(Gathered::Map(&self.maps[0]))
    }
}

/// All counts, merged.
enum Gathered<'a> {
    Map(&'a PieceMap),
    Run(SortedRun, &'a RunStore),
}

/// Peak memory, in bytes, while all maps are merged into the last one.
fn memory_to_merge(maps: &[PieceMap]) -> usize {
    let memory: usize = maps.iter().map(PieceMap::memory).sum();
    match maps.split_last() {
        Some((last, others)) if !others.is_empty() => {
            let pieces = others.iter().map(PieceMap::len).sum();
            let bytes = others.iter().map(PieceMap::long_bytes).sum();
            memory - last.memory() + last.memory_with(pieces, bytes)
        }
        _ => memory,
    }
}
