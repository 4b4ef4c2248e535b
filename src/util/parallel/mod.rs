//! Work over many items on several threads.
//!
//! Threads live as long as the call: none is left that a fork could lose or a shutdown would have to wait
//! for. Items are handed out a few at a time, so that one long item delays no other.

mod work_items;

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::checkpoint::{self, Interrupted};
use crate::util::lazy::get_or_init_nonblocking;
use crate::util::memory;
pub(crate) use work_items::{WorkItem, partition};

/// How often the calling thread asks the checkpoint while only other threads work.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Returns `work(item)` for each item, in order, computed on at most `threads` threads.
///
/// The calling thread works too, and asks the checkpoint while it waits for the others.
///
/// # Errors
/// The error of the first item, in order, that fails.
pub fn map<T, R, E>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E>
where
    T: Sync,
    R: Send + Sync,
    E: Send + Sync + From<Interrupted>,
{
    let work = |(): &mut (), item: &T| work(item);
    map_with(items, threads, || (), |()| (), work)
}

/// As [`map`], with a state for each thread: `acquire` runs before its first item and `release` after its
/// last.
///
/// # Errors
/// The error of the first item, in order, that fails.
pub fn map_with<T, S, R, E>(
    items: &[T],
    threads: usize,
    acquire: impl Fn() -> S + Sync,
    release: impl Fn(S) + Sync,
    work: impl Fn(&mut S, &T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E>
where
    T: Sync,
    R: Send + Sync,
    E: Send + Sync + From<Interrupted>,
{
    let threads = threads.min(items.len());
    let threads = if threads > 1 { threads.min(cores()) } else { 1 };
    let attempt = |state: &mut S, item: &T| {
        checkpoint::pass()
            .map_err(E::from)
            .and_then(|()| work(state, item))
    };
    if threads == 1 {
        let mut state = acquire();
        let results = memory::try_collect(items.iter().map(|item| attempt(&mut state, item)));
        release(state);
        return results;
    }
    // Small chunks even out slow items; 64 of them a thread keep contention on the counter low.
    let chunk = (items.len() / (threads * 64)).clamp(1, 64);
    let results: Vec<OnceLock<Result<R, E>>> =
        memory::collect(items.iter().map(|_| OnceLock::new()));
    let next = AtomicUsize::new(0);
    let running = AtomicUsize::new(threads - 1);
    let work_on = |state: &mut S| {
        loop {
            let start = next.fetch_add(chunk, Ordering::Relaxed);
            if start >= items.len() {
                break;
            }
            let end = items.len().min(start + chunk);
            for (item, result) in items[start..end].iter().zip(&results[start..end]) {
                let outcome = attempt(state, item);
                let failed = outcome.is_err();
                assert!(result.set(outcome).is_ok(), "a chunk has one thread");
                if failed {
                    // Later items no longer matter; earlier ones have been handed out already.
                    next.store(items.len(), Ordering::Relaxed);
                    return;
                }
            }
        }
    };
    let work_on = || {
        let _stop = StopOnPanic {
            next: &next,
            end: items.len(),
        };
        let mut state = acquire();
        work_on(&mut state);
        release(state);
    };
    let caller = thread::current();
    checkpoint::inherit(|inherited| {
        thread::scope(|scope| {
            let mut others = memory::vec_with_capacity(threads - 1);
            for _ in 1..threads {
                let thread = thread::Builder::new().spawn_scoped(scope, || {
                    let _exit = ExitGuard {
                        running: &running,
                        caller: &caller,
                    };
                    inherited.with(work_on);
                });
                match thread {
                    Ok(thread) => others.push(thread),
                    // The system allows no more threads; the others do the work.
                    Err(_) => drop(running.fetch_sub(1, Ordering::Release)),
                }
            }
            work_on();
            while running.load(Ordering::Acquire) > 0 && !checkpoint::should_stop() {
                thread::park_timeout(POLL_INTERVAL);
            }
            // A scope tells that a thread has panicked, but not why.
            for thread in others {
                thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            }
        });
    });
    // Stops at the first error. All items before it have a result: they were handed out before, and a thread
    // finishes its chunk unless an item of it fails.
    memory::try_collect(results.into_iter().map(|result| {
        result
            .into_inner()
            .expect("items before the first error are done")
    }))
}

/// Returns how many threads can run at once. Cached: the system reads it from files, which takes longer than
/// a small batch.
pub(crate) fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *get_or_init_nonblocking(&CORES, || {
        thread::available_parallelism().map_or(1, NonZeroUsize::get)
    })
}

/// Hands out no more items once a thread has panicked.
struct StopOnPanic<'a> {
    next: &'a AtomicUsize,
    end: usize,
}

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.next.store(self.end, Ordering::Relaxed);
        }
    }
}

/// Wakes the caller when a worker ends, also by a panic.
struct ExitGuard<'a> {
    running: &'a AtomicUsize,
    caller: &'a thread::Thread,
}

impl Drop for ExitGuard<'_> {
    fn drop(&mut self) {
        self.running.fetch_sub(1, Ordering::Release);
        self.caller.unpark();
    }
}
