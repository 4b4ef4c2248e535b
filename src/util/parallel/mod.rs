//! Many texts at once, on several threads.
//!
//! Threads live as long as the call: nothing is left behind that a fork could lose or a shutdown could wait for.
//! Work is handed out item by item, a few at a time, so that one long item delays no other.

mod plan;

use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::checkpoint::{self, Checkpoint, Interrupted};
use crate::util::lazy::made;
pub(crate) use plan::{Share, plan};

/// How often the calling thread looks at the checkpoint while others still work.
pub(crate) const WAIT: Duration = Duration::from_millis(20);

/// `work(item)` for each item, in order, on at most `threads` threads; the first failing item's error.
///
/// The calling thread works too, and looks at the checkpoint while it waits for the others.
///
/// # Errors
/// The error of the first item that fails.
pub fn map<T, R, E>(
    items: &[T],
    threads: usize,
    checkpoint: &dyn Checkpoint,
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E>
where
    T: Sync,
    R: Send + Sync,
    E: Send + Sync + From<Interrupted>,
{
    let work = |(): &mut (), item: &T| work(item);
    map_with(items, threads, checkpoint, || (), |()| (), work)
}

/// As [`map`], where each thread has a tool: it takes one before its first item and gives it back after its last.
///
/// # Errors
/// The error of the first item that fails.
pub fn map_with<T, S, R, E>(
    items: &[T],
    threads: usize,
    checkpoint: &dyn Checkpoint,
    take: impl Fn() -> S + Sync,
    give_back: impl Fn(S) + Sync,
    work: impl Fn(&mut S, &T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E>
where
    T: Sync,
    R: Send + Sync,
    E: Send + Sync + From<Interrupted>,
{
    let threads = threads.min(items.len());
    let threads = if threads > 1 { threads.min(cores()) } else { 1 };
    let attempt = |tool: &mut S, item: &T| {
        checkpoint::pass(checkpoint)
            .map_err(E::from)
            .and_then(|()| work(tool, item))
    };
    if threads == 1 {
        let mut tool = take();
        let results = items.iter().map(|item| attempt(&mut tool, item)).collect();
        give_back(tool);
        return results;
    }
    // Small shares even out long items, and short ones that take long; so many a thread keep the counter cool.
    let share = (items.len() / (threads * 64)).clamp(1, 64);
    let results: Vec<OnceLock<Result<R, E>>> = items.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let running = AtomicUsize::new(threads - 1);
    let work_on = |tool: &mut S| {
        loop {
            let start = next.fetch_add(share, Ordering::Relaxed);
            if start >= items.len() {
                break;
            }
            let end = items.len().min(start + share);
            for (item, result) in items[start..end].iter().zip(&results[start..end]) {
                let outcome = attempt(tool, item);
                let failed = outcome.is_err();
                // Each place is written once, by the thread that took it.
                let _ = result.set(outcome);
                if failed {
                    // Later items no longer matter; earlier ones are taken already.
                    next.store(items.len(), Ordering::Relaxed);
                    return;
                }
            }
        }
    };
    let work_on = || {
        let mut tool = take();
        work_on(&mut tool);
        give_back(tool);
    };
    let caller = thread::current();
    thread::scope(|scope| {
        for _ in 1..threads {
            let thread = thread::Builder::new().spawn_scoped(scope, || {
                let _leave = Leave {
                    running: &running,
                    caller: &caller,
                };
                work_on();
            });
            if thread.is_err() {
                // The system allows no more of them; the others do its work.
                running.fetch_sub(1, Ordering::Release);
            }
        }
        work_on();
        while running.load(Ordering::Acquire) > 0 && !checkpoint.should_stop() {
            thread::park_timeout(WAIT);
        }
    });
    results
        .into_iter()
        .map(|result| result.into_inner().unwrap_or(Err(E::from(Interrupted))))
        .collect()
}

/// How many threads can run at once. Asked once: the answer comes from files, which takes longer than a small batch.
pub(crate) fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *made(&CORES, || {
        thread::available_parallelism().map_or(1, NonZeroUsize::get)
    })
}

/// Tells the caller that a worker is done, however it ends.
struct Leave<'a> {
    running: &'a AtomicUsize,
    caller: &'a thread::Thread,
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.running.fetch_sub(1, Ordering::Release);
        self.caller.unpark();
    }
}
