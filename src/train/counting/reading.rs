//! Reading counts: the maps of all threads and the files are merged first.

use std::sync::{Mutex, PoisonError};

use super::counter::PieceCounter;
use super::piece_map::PieceMap;
use super::sorted::{SortBuffer, SortOrder, SortedRun, for_each_of_map};
use super::{Counted, PieceCounts};
use crate::error::TrainError;
use crate::util::memory::{self, Growable};
use crate::util::parallel;

impl PieceCounts {
    /// Calls `visit(piece, count)` for every piece, sorted by bytes, until it fails.
    ///
    /// # Errors
    /// Those of `visit`; [`TrainError`] of temporary files, or if interrupted.
    pub fn for_each_sorted(
        &mut self,
        mut visit: impl FnMut(&[u8], u64) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        let visit = |piece: &[u8], counted: Counted| visit(piece, counted.count);
        match self.gather()? {
            Gathered::Map(map) => for_each_of_map(map, visit),
            Gathered::Run(run) => run.for_each(visit),
        }
    }

    /// Number of distinct pieces.
    ///
    /// # Errors
    /// With sorted counts of other processes: [`TrainError`] of temporary files, or if interrupted.
    pub fn len(&mut self) -> Result<usize, TrainError> {
        Ok(match self.gather()? {
            Gathered::Map(map) => map.len(),
            Gathered::Run(run) => run.pieces,
        })
    }

    /// Total length of all distinct pieces in bytes.
    pub(in crate::train) fn bytes(&mut self) -> Result<usize, TrainError> {
        if let Gathered::Run(run) = self.gather()? {
            return Ok(run.bytes);
        }
        let mut bytes = 0;
        self.for_each(|piece, _| {
            bytes += piece.len();
            Ok(())
        })?;
        Ok(bytes)
    }

    /// The map of all pieces, or `None` if some are in files.
    pub(in crate::train) fn map(&mut self) -> Result<Option<&PieceMap>, TrainError> {
        Ok(match self.gather()? {
            Gathered::Map(map) => Some(map),
            Gathered::Run(..) => None,
        })
    }

    /// Calls `visit(piece, count)` for every piece, in no particular order, until it fails.
    pub(in crate::train) fn for_each(
        &mut self,
        mut visit: impl FnMut(&[u8], u64) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        let visit = |piece: &[u8], counted: Counted| visit(piece, counted.count);
        match self.gather()? {
            Gathered::Map(map) => map.for_each(visit),
            Gathered::Run(run) => run.for_each(visit),
        }
    }

    /// As [`for_each`](Self::for_each), in the order of first occurrence.
    pub(in crate::train) fn for_each_in_order(
        &mut self,
        mut visit: impl FnMut(&[u8], u64) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        let visit = |piece: &[u8], counted: Counted| visit(piece, counted.count);
        let mut buffer = SortBuffer::default();
        let push = |piece: &[u8], counted: Counted| {
            buffer.push(piece, counted);
            Ok(())
        };
        match self.gather()? {
            Gathered::Map(map) => map.for_each(push)?,
            Gathered::Run(run) => run.for_each(push)?,
        }
        buffer.for_each_sorted(SortOrder::First, usize::MAX, visit)
    }

    /// Returns the counts of parts of all pieces. `new_cut` makes, for each thread, the
    /// function that gets a piece and its count, and counts the parts.
    ///
    /// # Errors
    /// [`TrainError::TooManyOccurrences`]; those of `cut`; [`TrainError`] of temporary files, or if interrupted.
    pub(in crate::train) fn count_parts<
        C: FnMut(&mut PieceCounter<'_, '_>, &[u8], u64) -> Result<(), TrainError>,
    >(
        mut self,
        threads: usize,
        new_cut: impl Fn() -> C + Sync,
    ) -> Result<Self, TrainError> {
        let mut parts = Self::default();
        if let Some(map) = self.map()? {
            let threads = threads.min(parallel::cores()).max(1);
            let indices = memory::collect(0..threads);
            parts.add_blocks(&indices, 0, threads, |counter, &index| {
                let mut cut = new_cut();
                map.for_each_in_part(index, threads, |piece, counted| {
                    cut(counter, piece, counted.count)
                })
            })?;
            return Ok(parts);
        }
        let whole = [Mutex::new(self)];
        parts.add_blocks(&whole, 0, 1, |counter, whole| {
            let mut cut = new_cut();
            let mut whole = whole.lock().unwrap_or_else(PoisonError::into_inner);
            whole.for_each(|piece, count| cut(counter, piece, count))
        })?;
        Ok(parts)
    }

    /// Returns all pieces in the order of first occurrence.
    ///
    /// # Errors
    /// As [`len`](Self::len).
    pub fn columns(&mut self) -> Result<CountTable, TrainError> {
        let mut table = CountTable::with_capacity(self.len()?, self.bytes()?);
        self.for_each_in_order(|piece, count| {
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
    pub fn most_common(&mut self, most: usize) -> Result<CountTable, TrainError> {
        let mut buffer = SortBuffer::default();
        let mut first = 0;
        self.for_each_in_order(|piece, count| {
            buffer.push(piece, Counted { count, first });
            first += 1;
            Ok(())
        })?;
        let mut table = CountTable::default();
        buffer.for_each_sorted(SortOrder::Count, most, |piece, counted| {
            if table.counts.len() < most {
                table.push(piece, counted.count);
            }
            Ok(())
        })?;
        Ok(table)
    }

    /// Merges all counts: into one map if there are no runs, else into one run.
    fn gather(&mut self) -> Result<Gathered<'_>, TrainError> {
        if !self.runs.is_empty() {
            while let Some(map) = self.maps.last() {
                if map.len() > 0 {
                    self.runs.add_map(map)?;
                }
                self.maps.pop();
            }
        }
        if let Some(run) = self.runs.merge_all()? {
            return Ok(Gathered::Run(run));
        }
        self.maps.sort_by_key(PieceMap::len);
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
    Run(SortedRun),
}

/// Pieces with their counts: the bytes of all pieces in one array, as Arrow lays out strings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountTable {
    /// The bytes of all pieces, concatenated.
    pub bytes: Vec<u8>,
    /// The end offset of each piece.
    pub ends: Vec<usize>,
    /// The count of each piece.
    pub counts: Vec<u64>,
}

impl CountTable {
    /// An empty table with room for `pieces` pieces of `bytes` bytes in total.
    fn with_capacity(pieces: usize, bytes: usize) -> Self {
        Self {
            bytes: memory::vec_with_capacity(bytes),
            ends: memory::vec_with_capacity(pieces),
            counts: memory::vec_with_capacity(pieces),
        }
    }

    /// Appends a piece.
    pub fn push(&mut self, piece: &[u8], count: u64) {
        let bytes = self.bytes.with_room(piece.len());
        bytes.extend_from_slice(piece);
        self.ends.with_room(1).push(bytes.len());
        self.counts.with_room(1).push(count);
    }

    /// Iterates over the pieces with their counts.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], u64)> {
        let mut start = 0;
        self.ends
            .iter()
            .zip(&self.counts)
            .map(move |(&end, &count)| {
                let piece = &self.bytes[start..end];
                start = end;
                (piece, count)
            })
    }
}
