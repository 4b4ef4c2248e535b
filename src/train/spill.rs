//! Pieces that memory has no room for: sorted, written as runs, and merged again.
//!
//! ```text
//! a table is full ─► a run in a file          (sorted, run)
//! 32 runs of a level ─► one run of the next   (ordered)
//! at the end ─► one run of all pieces
//! ```
//!
//! So few files are open at once, and a piece is written once for each level: three times when there are thousands of
//! runs.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::columns::Rows;
use super::ordered::{self, Cursor, Order};
use super::run::{Run, Writer};
use super::sorted::Sorted;
use super::table::{Counted, Table};
use crate::checkpoint::{self, Checkpoint};
use crate::error::TrainError;

/// So many runs become one.
const FAN: usize = 32;

/// The memory for pieces that are ordered by their places at once, if that is the limit. With less, files would be many
/// and small; more would be sorted for too long between two checkpoints.
const ROWS: RangeInclusive<usize> = (1 << 16)..=(1 << 25);

/// How much memory tables may take, and what is in files instead.
#[derive(Clone, Debug)]
pub(super) struct Spill {
    /// In bytes, of all tables together.
    limit: usize,
    directory: PathBuf,
    runs: Vec<Leveled>,
}

#[derive(Clone, Debug)]
struct Leveled {
    level: u32,
    run: Run,
}

impl Spill {
    /// Nothing in files yet.
    pub(super) fn new(limit: usize, directory: PathBuf) -> Self {
        Self {
            limit,
            directory,
            runs: Vec::new(),
        }
    }

    /// The same limit and directory, and nothing in files.
    pub(super) fn emptied(&self) -> Self {
        Self::new(self.limit, self.directory.clone())
    }

    /// How much memory tables may take.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Whether nothing is in files.
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// For that many tables at once.
    pub(super) fn spiller<'a>(
        &'a mut self,
        tables: usize,
        checkpoint: &'a dyn Checkpoint,
    ) -> Spiller<'a> {
        Spiller {
            share: self.limit / tables.max(1),
            store: Store {
                order: Order::Bytes,
                directory: &self.directory,
                runs: Mutex::new(&mut self.runs),
                checkpoint,
            },
        }
    }

    /// Adds all that `other` has in files, its places being `later` than here.
    pub(super) fn add(
        &mut self,
        other: &Self,
        later: u64,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), TrainError> {
        let store = self.spiller(1, checkpoint).store;
        for Leveled { level, run } in &other.runs {
            let mut run = run.clone();
            run.later += later;
            store.push(Leveled { level: *level, run })?;
        }
        Ok(())
    }

    /// All that is in files, as one run; none if nothing is.
    pub(super) fn whole(&mut self, checkpoint: &dyn Checkpoint) -> Result<Option<Run>, TrainError> {
        if self.runs.len() > 1 {
            let level = self.runs.iter().map(|run| run.level).max();
            let readers = self.runs.iter().map(|run| run.run.reader(Order::Bytes));
            let run = write(&self.directory, readers.collect(), checkpoint)?;
            self.runs = vec![Leveled {
                level: level.unwrap_or_default(),
                run,
            }];
        }
        Ok(self.runs.first().map(|run| run.run.clone()))
    }

    /// `visit(piece, counted)` for each piece of a run, in the order of their places.
    pub(super) fn by_place(
        &self,
        run: &Run,
        checkpoint: &dyn Checkpoint,
        visit: impl FnMut(&[u8], Counted) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        let mut runs = Vec::new();
        let store = Store {
            order: Order::Place,
            directory: &self.directory,
            runs: Mutex::new(&mut runs),
            checkpoint,
        };
        let mut rows = Rows::default();
        let reader = run.reader(Order::Bytes);
        ordered::merge(vec![reader], checkpoint, |piece, counted| {
            rows.push(piece, counted);
            if rows.memory() >= self.limit.clamp(*ROWS.start(), *ROWS.end()) {
                store.push_rows(&mut rows)?;
            }
            Ok(())
        })?;
        store.push_rows(&mut rows)?;
        drop(rows);
        let readers = runs.iter().map(|run| run.run.reader(Order::Place));
        ordered::merge(readers.collect(), checkpoint, visit)
    }
}

/// Keeps the tables of several threads each within its share of the memory.
pub(super) struct Spiller<'a> {
    share: usize,
    store: Store<'a>,
}

impl Spiller<'_> {
    /// Empties a table unless it has room for so many more pieces that have so many bytes in all. After an error it is as
    /// it was.
    #[inline]
    pub(super) fn make_room(
        &self,
        table: &mut Table,
        pieces: usize,
        bytes: usize,
    ) -> Result<(), TrainError> {
        if table.len() == 0 || table.memory_with(pieces, bytes) <= self.share {
            return Ok(());
        }
        let slots = table.slots_for(pieces);
        self.empty(table)?;
        *table = Table::emptied(slots, self.share);
        Ok(())
    }

    /// Empties a table. After an error it is as it was.
    #[cold]
    #[inline(never)]
    pub(super) fn empty(&self, table: &mut Table) -> Result<(), TrainError> {
        let mut sorted = Sorted::new(std::mem::take(table));
        let written = sorted
            .sort(self.store.checkpoint)
            .map_err(TrainError::from)
            .and_then(|()| {
                let directory = self.store.directory;
                write(directory, sorted.cursors(), self.store.checkpoint)
            });
        match written {
            Ok(run) => self.store.push(Leveled { level: 0, run }),
            Err(error) => {
                *table = sorted.into_table();
                Err(error)
            }
        }
    }
}

/// Where runs are put.
struct Store<'a> {
    order: Order,
    directory: &'a Path,
    /// Nobody writes or reads while holding them, as who waits for them does not look at the checkpoint.
    runs: Mutex<&'a mut Vec<Leveled>>,
    checkpoint: &'a dyn Checkpoint,
}

impl<'a> Store<'a> {
    /// Adds a run, and makes one of those that have become too many. The run is added even if that fails.
    fn push(&self, mut added: Leveled) -> Result<(), TrainError> {
        loop {
            let level = added.level;
            let mut runs = self.lock();
            runs.push(added);
            if runs.iter().filter(|run| run.level == level).count() < FAN {
                return Ok(());
            }
            let full: Vec<Leveled> = runs.extract_if(.., |run| run.level == level).collect();
            drop(runs);
            let readers = full.iter().map(|run| run.run.reader(self.order));
            match write(self.directory, readers.collect(), self.checkpoint) {
                Ok(run) => {
                    added = Leveled {
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

    /// Makes a run of rows, in the order of their places, and empties them.
    fn push_rows(&self, rows: &mut Rows) -> Result<(), TrainError> {
        checkpoint::pass(self.checkpoint)?;
        let mut writer = Writer::new(self.directory).map_err(TrainError::TemporaryFile)?;
        rows.in_order(
            Order::Place,
            usize::MAX,
            self.checkpoint,
            |piece, counted| {
                writer
                    .push(piece, counted)
                    .map_err(TrainError::TemporaryFile)
            },
        )?;
        rows.clear();
        let run = writer.finish().map_err(TrainError::TemporaryFile)?;
        self.push(Leveled { level: 0, run })
    }

    fn lock(&self) -> MutexGuard<'_, &'a mut Vec<Leveled>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the pieces of all cursors as one run.
fn write(
    directory: &Path,
    cursors: Vec<impl Cursor>,
    checkpoint: &dyn Checkpoint,
) -> Result<Run, TrainError> {
    let mut writer = Writer::new(directory).map_err(TrainError::TemporaryFile)?;
    ordered::merge(cursors, checkpoint, |piece, counted| {
        writer
            .push(piece, counted)
            .map_err(TrainError::TemporaryFile)
    })?;
    writer.finish().map_err(TrainError::TemporaryFile)
}
