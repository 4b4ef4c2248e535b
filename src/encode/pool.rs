//! A pool of workspaces, whose caches persist between calls.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::hot_loop::Workspace;
use crate::cache::{DEFAULT_LIMIT, PieceCache, budget};
use crate::util::lazy::try_lock;
use crate::vocabulary::Vocabulary;

/// Sets how many bytes the caches of all encoders may take together, in all threads of the process; at first 64 MiB for
/// each processor, and at least 256 MiB. Besides, each takes some kilobytes in any case. Caches that take more are
/// replaced by empty ones when they are next used.
pub fn set_process_cache_limit(bytes: usize) {
    budget::PROCESS.set_limit(bytes);
}

/// Boxed, because a workspace is large and every short call moves one.
type Boxes = Vec<Box<Workspace>>;

/// Workspaces that no call uses. As many are created as calls ever run at once. Where the lock cannot be had, calls do
/// without the pool.
#[derive(Debug)]
pub(super) struct WorkspacePool {
    limit: AtomicUsize,
    workspaces: Mutex<Boxes>,
}

impl WorkspacePool {
    /// Creates an empty pool.
    pub(super) fn new() -> Self {
        Self {
            limit: AtomicUsize::new(DEFAULT_LIMIT),
            workspaces: Mutex::new(Boxes::new()),
        }
    }

    /// Takes a workspace out of the pool, or creates one, which replaces that of the pool if all caches take more than
    /// they may.
    pub(super) fn acquire(&self, vocabulary: &Vocabulary) -> Box<Workspace> {
        try_lock(&self.workspaces)
            .and_then(|mut workspaces| workspaces.pop())
            .filter(|workspace| !workspace.cache.is_excessive())
            .unwrap_or_else(|| {
                let limit = self.limit.load(Ordering::Relaxed);
                Box::new(Workspace::new(PieceCache::new(vocabulary, limit)))
            })
    }

    /// Puts a workspace back for the next call.
    pub(super) fn release(&self, workspace: Box<Workspace>) {
        if let Some(mut workspaces) = try_lock(&self.workspaces) {
            workspaces.push(workspace);
        }
    }

    /// Number of bytes that the caches in the pool take.
    pub(super) fn memory(&self) -> usize {
        try_lock(&self.workspaces).map_or(0, |workspaces| {
            let caches = workspaces.iter().map(|workspace| &workspace.cache);
            caches.map(PieceCache::memory).sum()
        })
    }

    /// Sets the limit of caches that are created from now on, in bytes.
    pub(super) fn set_limit(&self, bytes: usize) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// Drops the workspaces in the pool.
    pub(super) fn clear(&self) {
        if let Some(mut workspaces) = try_lock(&self.workspaces) {
            workspaces.clear();
        }
    }
}
