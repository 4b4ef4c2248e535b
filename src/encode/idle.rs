//! The piece tables that no call uses at the moment: what they have learned outlives the call.

use std::sync::Mutex;

use crate::piece_table::PieceTable;

/// Tables for calls to take and give back. As many are made as calls ever run at once.
#[expect(
    clippy::vec_box,
    reason = "a table is large, and every call moves one out and in"
)]
#[derive(Debug)]
pub(super) struct IdleTables {
    tokens: usize,
    // Only ever tried, never waited for: after a fork the lock may be held by a thread that is not there.
    idle: Mutex<Vec<Box<PieceTable>>>,
}

impl IdleTables {
    /// Tables for a vocabulary of `tokens` tokens.
    pub(super) fn new(tokens: usize) -> Self {
        Self {
            tokens,
            idle: Mutex::new(Vec::new()),
        }
    }

    /// A table for one call.
    pub(super) fn take(&self) -> Box<PieceTable> {
        let idle = self.idle.try_lock().ok().and_then(|mut idle| idle.pop());
        idle.unwrap_or_else(|| Box::new(PieceTable::new(self.tokens)))
    }

    /// Keeps the table for the next call.
    pub(super) fn give_back(&self, table: Box<PieceTable>) {
        if let Ok(mut idle) = self.idle.try_lock() {
            idle.push(table);
        }
    }

    /// How many bytes the idle tables take.
    pub(super) fn memory(&self) -> usize {
        let idle = self.idle.try_lock();
        idle.map_or(0, |idle| idle.iter().map(|table| table.memory()).sum())
    }

    /// Drops the idle tables.
    pub(super) fn clear(&self) {
        if let Ok(mut idle) = self.idle.try_lock() {
            idle.clear();
        }
    }
}
