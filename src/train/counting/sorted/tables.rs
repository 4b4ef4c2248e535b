//! Sorted counts from elsewhere, a table at a time: what other processes have counted and sorted.

use super::super::{CountTable, Counted};
use super::{PieceCursor, SortOrder};
use crate::error::TrainError;

/// Returns the next rows of a source, or `None` at its end.
pub type NextTable<'a> = Box<dyn FnMut() -> Result<Option<CountTable>, TrainError> + Send + 'a>;

/// Reads a source, and checks that each piece is greater than the one before it.
pub(super) struct TableCursor<'a> {
    next_table: NextTable<'a>,
    table: CountTable,
    /// The current row, and where its piece starts.
    row: usize,
    start: usize,
    sort_key: u128,
    /// The last piece of the table before.
    previous: Vec<u8>,
    /// Number of rows before the current one, which stands for the position of its first occurrence.
    rows: u64,
}

impl<'a> TableCursor<'a> {
    /// A cursor before the first row of a source.
    pub(super) fn new(next_table: NextTable<'a>) -> Self {
        Self {
            next_table,
            table: CountTable::default(),
            row: 0,
            start: 0,
            sort_key: 0,
            previous: Vec::new(),
            rows: 0,
        }
    }

    /// Moves to the next row of the table; false if there is none.
    fn next_row(&mut self) -> bool {
        let next = self.row + 1;
        let has_next = next < self.table.ends.len();
        if has_next {
            self.start = self.table.ends[self.row];
            self.row = next;
        }
        has_next
    }

    /// Moves to the first row of the next table that has rows; false at the end of the source.
    fn next_table(&mut self) -> Result<bool, TrainError> {
        if !self.table.ends.is_empty() {
            self.previous.clear();
            self.previous
                .extend_from_slice(&self.table.bytes[self.start..]);
        }
        while let Some(table) = (self.next_table)()? {
            if !table.ends.is_empty() {
                self.table = table;
                (self.row, self.start) = (0, 0);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl PieceCursor for TableCursor<'_> {
    fn sort_key(&self) -> u128 {
        self.sort_key
    }

    fn piece(&self) -> &[u8] {
        &self.table.bytes[self.start..self.table.ends[self.row]]
    }

    fn counted(&self) -> Counted {
        Counted {
            count: self.table.counts[self.row],
            first: self.rows - 1,
        }
    }

    fn advance(&mut self) -> Result<bool, TrainError> {
        let before = self.start;
        let is_sorted = if self.next_row() {
            self.table.bytes[before..self.start] < *self.piece()
        } else if self.next_table()? {
            self.rows == 0 || *self.previous < *self.piece()
        } else {
            return Ok(false);
        };
        if !is_sorted {
            return Err(TrainError::NotSorted(self.piece().to_vec()));
        }
        if self.table.counts[self.row] == 0 || self.piece().is_empty() {
            return Err(TrainError::NotCounted(self.piece().to_vec()));
        }
        self.rows += 1;
        self.sort_key = SortOrder::Bytes.sort_key(self.piece(), Counted::NONE);
        Ok(true)
    }
}
