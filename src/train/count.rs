//! Counting pieces: texts → how often each piece occurs.
//!
//! Each thread counts shares of the texts into a table of its own. Tables become one only when somebody looks, so that
//! many small batches of texts cost no more than a large one.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

pub use super::columns::Columns;
use super::columns::Rows;
pub use super::counter::Item;
use super::counter::{Counter, How};
use super::ordered::{self, Order};
use super::run::Run;
use super::spill::Spill;
use super::table::{Counted, Table};
use crate::checkpoint::{Checkpoint, RunToEnd};
use crate::encode::special::SpecialTokens;
use crate::error::TrainError;
use crate::split::Splitter;
use crate::util::parallel;
use crate::util::parallel::partition;

/// Pieces and how often they occur.
#[derive(Clone, Debug, Default)]
pub struct PieceCounts {
    /// One for each thread that ever counted. What they hold together is meant.
    tables: Vec<Table>,
    /// What their limit is, and what they have no room for; none if there is no limit.
    spill: Option<Spill>,
    /// All occurrences of pieces; checked, so that no count of a single piece overflows.
    total: u64,
    /// Bytes of text counted.
    text_bytes: u128,
    /// The place of the next text among all texts, in bytes.
    next_place: u64,
}

impl PieceCounts {
    /// Nothing counted.
    pub fn new() -> Self {
        Self::default()
    }

    /// Nothing counted, and never more than about `limit` bytes of tables. A full table is sorted and written to a
    /// temporary file in `directory`, which has no name there, or vanishes when the counts do.
    ///
    /// Three things are not in the limit: each thread has a table of 32 KiB even if that is more; a single piece is in
    /// memory whole; and files are read and written through some MiB, whatever the limit.
    pub fn with_memory_limit(limit: usize, directory: PathBuf) -> Self {
        Self {
            spill: Some(Spill::new(limit, directory)),
            ..Self::default()
        }
    }

    /// Splits `items` and counts their pieces, on at most `threads` threads. Without a splitter a text is one piece.
    /// Special tokens cut texts and are not counted.
    ///
    /// # Errors
    /// [`TrainError`]: interrupted, the splitter failed, there are too many pieces, or a temporary file cannot be written.
    /// Some of the texts may be counted then, and others not.
    ///
    /// # Complexity
    /// O(bytes), as far as the splitter is; memory O(bytes of unique pieces), for each thread. With a limit, pieces are
    /// sorted too.
    pub fn add(
        &mut self,
        items: &[Item<'_>],
        splitter: Option<&Splitter>,
        special: &SpecialTokens,
        threads: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), TrainError> {
        let mut bases = Vec::with_capacity(items.len());
        let mut place = self.next_place;
        for item in items {
            bases.push(place);
            place += item.len() as u64;
        }
        // No text has more pieces than bytes.
        let bytes = place - self.next_place;
        self.total
            .checked_add(bytes)
            .ok_or(TrainError::TooManyOccurrences)?;
        let cut = splitter.map(|splitter| {
            |text: &str, near| {
                let cut = splitter.cut(text, near);
                cut.filter(|&cut| !special.lies_across(text, cut))
            }
        });
        let shares = partition(items, threads, cut.as_ref());
        let workers = threads.min(parallel::cores()).min(shares.len());
        let workers = workers.max(self.tables.len());
        let spill = self.spill.as_mut();
        let spiller = spill.map(|spill| spill.spiller(workers, checkpoint));
        if let Some(spiller) = &spiller {
            for table in &mut self.tables {
                spiller.make_room(table, 0, 0)?;
            }
        }
        let how = How {
            splitter,
            special,
            spiller,
            checkpoint,
        };
        let text = usize::try_from(bytes).unwrap_or(usize::MAX) / workers.max(1);
        let new_table = || match how.spiller {
            Some(_) => Table::default(),
            None => Table::for_text(text),
        };
        // Before other threads run: the system gives no memory to one while it fills the first pages of another.
        self.tables.resize_with(workers, new_table);
        let idle = Mutex::new(std::mem::take(&mut self.tables));
        let lock = || idle.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = parallel::map_with(
            &shares,
            threads,
            checkpoint,
            || lock().pop().unwrap_or_default(),
            |table| lock().push(table),
            |table, share| {
                let mut counter = Counter::new(table, &how);
                counter.share(items, &bases, share)?;
                Ok::<u64, TrainError>(counter.pieces)
            },
        );
        self.tables = idle.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.next_place = place;
        self.total += counted?.iter().sum::<u64>();
        self.text_bytes += u128::from(bytes);
        Ok(())
    }

    /// Counts pieces that occur so many times each.
    ///
    /// # Errors
    /// [`TrainError::TooManyOccurrences`]; nothing is counted then. [`TrainError`] of temporary files, and interrupted
    /// while one is written; some are counted then.
    pub fn add_pieces<'a>(
        &mut self,
        pieces: impl Iterator<Item = (&'a [u8], u64)> + Clone,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), TrainError> {
        let pieces = pieces.filter(|(piece, count)| !piece.is_empty() && *count > 0);
        self.total
            .checked_add(checked_sum(pieces.clone().map(|(_, count)| count))?)
            .ok_or(TrainError::TooManyOccurrences)?;
        if self.tables.is_empty() {
            self.tables.push(Table::default());
        }
        let spill = self.spill.as_mut();
        let spiller = spill.map(|spill| spill.spiller(self.tables.len(), checkpoint));
        let table = &mut self.tables[0];
        for (piece, count) in pieces {
            if let Some(spiller) = &spiller {
                spiller.make_room(table, 1, piece.len())?;
            }
            let first = self.next_place;
            table.add(piece, Counted { count, first });
            self.next_place += 1;
            self.text_bytes += piece.len() as u128 * u128::from(count);
            self.total += count;
        }
        Ok(())
    }

    /// Adds all that `other` has counted, as if it had come after. The memory limit stays what it is; if there is none,
    /// that of `other` is taken.
    ///
    /// # Errors
    /// [`TrainError::TooManyOccurrences`]; nothing is added then. [`TrainError`] of temporary files, and interrupted; what
    /// these counts are then is not defined.
    pub fn merge(&mut self, other: &Self, checkpoint: &dyn Checkpoint) -> Result<(), TrainError> {
        self.total = self
            .total
            .checked_add(other.total)
            .ok_or(TrainError::TooManyOccurrences)?;
        let later = self.next_place;
        self.next_place += other.next_place;
        self.text_bytes += other.text_bytes;
        if self.tables.is_empty() {
            self.tables.push(Table::default());
        }
        if let Some(theirs) = &other.spill {
            let spill = self.spill.get_or_insert_with(|| theirs.emptied());
            spill.add(theirs, later, checkpoint)?;
        }
        let spill = self.spill.as_mut();
        let spiller = spill.map(|spill| spill.spiller(self.tables.len(), checkpoint));
        let table = &mut self.tables[0];
        for part in &other.tables {
            let Some(spiller) = &spiller else {
                table.merge(part, later, checkpoint)?;
                continue;
            };
            part.for_each(checkpoint, |piece, counted| {
                spiller.make_room(table, 1, piece.len())?;
                table.add(piece, counted.later(later));
                Ok(())
            })?;
        }
        Ok(())
    }

    /// How many different pieces there are.
    ///
    /// # Errors
    /// With a memory limit: [`TrainError`] of temporary files, and interrupted.
    pub fn len(&mut self, checkpoint: &dyn Checkpoint) -> Result<usize, TrainError> {
        Ok(match self.whole(checkpoint)? {
            Whole::Table(table) => table.len(),
            Whole::Run(run, _) => run.pieces,
        })
    }

    /// How many bytes all different pieces hold.
    pub(super) fn bytes(&mut self, checkpoint: &dyn Checkpoint) -> Result<usize, TrainError> {
        if let Whole::Run(run, _) = self.whole(checkpoint)? {
            return Ok(run.bytes);
        }
        let mut bytes = 0;
        self.for_each(checkpoint, |piece, _| {
            bytes += piece.len();
            Ok(())
        })?;
        Ok(bytes)
    }

    /// True if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// How many pieces there are.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many bytes of text were counted.
    pub fn text_bytes(&self) -> u128 {
        self.text_bytes
    }

    /// How many bytes of memory it takes.
    pub fn memory(&self) -> usize {
        self.tables.iter().map(Table::memory).sum()
    }

    /// The table of all pieces, if nothing is in files.
    pub(super) fn table(
        &mut self,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Option<&Table>, TrainError> {
        Ok(match self.whole(checkpoint)? {
            Whole::Table(table) => Some(table),
            Whole::Run(..) => None,
        })
    }

    /// `visit(piece, count)` for every piece, in no particular order, until it fails.
    pub(super) fn for_each(
        &mut self,
        checkpoint: &dyn Checkpoint,
        mut visit: impl FnMut(&[u8], u64) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        let visit = |piece: &[u8], counted: Counted| visit(piece, counted.count);
        match self.whole(checkpoint)? {
            Whole::Table(table) => table.for_each(checkpoint, visit),
            Whole::Run(run, _) => ordered::merge(vec![run.reader(Order::Bytes)], checkpoint, visit),
        }
    }

    /// As [`for_each`](Self::for_each), in the order of first occurrence.
    pub(super) fn for_each_in_order(
        &mut self,
        checkpoint: &dyn Checkpoint,
        mut visit: impl FnMut(&[u8], u64) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        let visit = |piece: &[u8], counted: Counted| visit(piece, counted.count);
        match self.whole(checkpoint)? {
            Whole::Table(table) => {
                let mut rows = Rows::default();
                table.for_each(checkpoint, |piece, counted| {
                    rows.push(piece, counted);
                    Ok(())
                })?;
                rows.in_order(Order::Place, usize::MAX, checkpoint, visit)
            }
            Whole::Run(run, spill) => spill.by_place(&run, checkpoint, visit),
        }
    }

    /// All pieces in the order of their first occurrence, in memory whatever the limit.
    ///
    /// # Errors
    /// As [`len`](Self::len).
    pub fn columns(&mut self, checkpoint: &dyn Checkpoint) -> Result<Columns, TrainError> {
        let mut columns = Columns::with_capacity(self.len(checkpoint)?, self.bytes(checkpoint)?);
        self.for_each_in_order(checkpoint, |piece, count| {
            columns.push(piece, count);
            Ok(())
        })?;
        Ok(columns)
    }

    /// The most frequent pieces, at most `most`; of equally frequent ones, those that occur first. All are in memory
    /// meanwhile.
    ///
    /// # Errors
    /// As [`len`](Self::len).
    pub fn most_common(
        &mut self,
        most: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Columns, TrainError> {
        let mut rows = Rows::default();
        let mut first = 0;
        self.for_each_in_order(checkpoint, |piece, count| {
            rows.push(piece, Counted { count, first });
            first += 1;
            Ok(())
        })?;
        let mut columns = Columns::default();
        rows.in_order(Order::Count, most, checkpoint, |piece, counted| {
            if columns.counts.len() < most {
                columns.push(piece, counted.count);
            }
            Ok(())
        })?;
        Ok(columns)
    }

    /// All that was counted in one place: a table if nothing is in files, and all tables together keep the limit.
    fn whole(&mut self, checkpoint: &dyn Checkpoint) -> Result<Whole<'_>, TrainError> {
        self.tables.sort_by_key(Table::len);
        if let Some(spill) = &mut self.spill
            && (!spill.is_empty() || together(&self.tables) > spill.limit())
        {
            let spiller = spill.spiller(1, checkpoint);
            while let Some(table) = self.tables.last_mut() {
                if table.len() > 0 {
                    spiller.empty(table)?;
                }
                self.tables.pop();
            }
        }
        if let Some(spill) = &mut self.spill
            && let Some(run) = spill.whole(checkpoint)?
        {
            return Ok(Whole::Run(run, spill));
        }
        let mut whole = self.tables.pop().unwrap_or_default();
        for part in self.tables.drain(..) {
            // Not stopped half way, when some would be counted twice or not at all.
            whole.merge(&part, 0, &RunToEnd)?;
        }
        self.tables.push(whole);
        Ok(Whole::Table(&self.tables[0]))
    }
}

/// All that was counted in one place.
enum Whole<'a> {
    Table(&'a Table),
    Run(Run, &'a Spill),
}

/// The most bytes that tables take while all become one, the last one.
fn together(tables: &[Table]) -> usize {
    let memory: usize = tables.iter().map(Table::memory).sum();
    match tables.split_last() {
        Some((whole, parts)) if !parts.is_empty() => {
            let pieces = parts.iter().map(Table::len).sum();
            let bytes = parts.iter().map(Table::long_bytes).sum();
            memory - whole.memory() + whole.memory_with(pieces, bytes)
        }
        _ => memory,
    }
}

fn checked_sum(mut counts: impl Iterator<Item = u64>) -> Result<u64, TrainError> {
    counts
        .try_fold(0, u64::checked_add)
        .ok_or(TrainError::TooManyOccurrences)
}
