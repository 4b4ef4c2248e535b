//! The piece tables that no call uses at the moment: what they have learned outlives the call.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::pieces::Workspace;
use crate::piece_table::{PieceTable, USUAL_LIMIT};
use crate::vocabulary::Vocabulary;

/// Workspaces for calls to take and give back. As many are made as calls ever run at once.
#[derive(Debug)]
pub(super) struct Idle {
    limit: AtomicUsize,
    // Only ever tried, never waited for: after a fork the lock may be held by a thread that is not there.
    idle: Mutex<Vec<Workspace>>,
}

impl Idle {
    /// None yet.
    pub(super) fn new() -> Self {
        Self {
            limit: AtomicUsize::new(USUAL_LIMIT),
            idle: Mutex::new(Vec::new()),
        }
    }

    /// A table for one call.
    pub(super) fn take(&self, vocabulary: &Vocabulary) -> Workspace {
        let idle = self.idle.try_lock().ok().and_then(|mut idle| idle.pop());
        idle.unwrap_or_else(|| {
            let limit = self.limit.load(Ordering::Relaxed);
            Workspace::new(PieceTable::new(vocabulary, limit))
        })
    }

    /// Keeps the table for the next call.
    pub(super) fn give_back(&self, workspace: Workspace) {
        if let Ok(mut idle) = self.idle.try_lock() {
            idle.push(workspace);
        }
    }

    /// How many bytes the idle tables take.
    pub(super) fn memory(&self) -> usize {
        let idle = self.idle.try_lock();
        idle.map_or(0, |idle| {
            idle.iter().map(|workspace| workspace.table.memory()).sum()
        })
    }

    /// Sets the limit of tables to be made.
    pub(super) fn set_limit(&self, bytes: usize) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// Drops the idle tables.
    pub(super) fn clear(&self) {
        if let Ok(mut idle) = self.idle.try_lock() {
            idle.clear();
        }
    }
}
