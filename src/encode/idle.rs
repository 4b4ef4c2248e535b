//! The piece tables that no call uses at the moment: what they have learned outlives the call.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::pieces::Workspace;
use crate::cache::{PieceTable, USUAL_LIMIT};
use crate::vocabulary::Vocabulary;

/// To move only a pointer when a call takes or gives back what is large: each short call does.
type Boxes = Vec<Box<Workspace>>;

/// Workspaces for calls to take and give back. As many are made as calls ever run at once.
#[derive(Debug)]
pub(super) struct Idle {
    limit: AtomicUsize,
    idle: Mutex<Boxes>,
}

/// How often the lock is tried. It is held for a moment only; but after a fork, by a thread that is not there.
const TRIES: usize = 100;

impl Idle {
    /// None yet.
    pub(super) fn new() -> Self {
        Self {
            limit: AtomicUsize::new(USUAL_LIMIT),
            idle: Mutex::new(Boxes::new()),
        }
    }

    /// A table for one call.
    pub(super) fn take(&self, vocabulary: &Vocabulary) -> Box<Workspace> {
        self.lock()
            .and_then(|mut idle| idle.pop())
            .unwrap_or_else(|| {
                let limit = self.limit.load(Ordering::Relaxed);
                Box::new(Workspace::new(PieceTable::new(vocabulary, limit)))
            })
    }

    /// Keeps the table for the next call.
    pub(super) fn give_back(&self, workspace: Box<Workspace>) {
        if let Some(mut idle) = self.lock() {
            idle.push(workspace);
        }
    }

    fn lock(&self) -> Option<MutexGuard<'_, Boxes>> {
        for _ in 0..TRIES {
            if let Ok(idle) = self.idle.try_lock() {
                return Some(idle);
            }
            std::hint::spin_loop();
        }
        None
    }

    /// How many bytes the idle tables take.
    pub(super) fn memory(&self) -> usize {
        self.lock().map_or(0, |idle| {
            idle.iter().map(|workspace| workspace.table.memory()).sum()
        })
    }

    /// Sets the limit of tables to be made.
    pub(super) fn set_limit(&self, bytes: usize) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// Drops the idle tables.
    pub(super) fn clear(&self) {
        if let Some(mut idle) = self.lock() {
            idle.clear();
        }
    }
}
