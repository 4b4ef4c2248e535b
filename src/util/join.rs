//! Two computations at a time.

use std::panic::resume_unwind;
use std::thread;

use crate::checkpoint;

/// Returns both results, computing the second in a thread of its own if the system allows one more.
pub(crate) fn join<A, B: Send>(first: impl FnOnce() -> A, second: impl Fn() -> B + Sync) -> (A, B) {
    checkpoint::inherit(|inherited| {
        thread::scope(|scope| {
            let second_there = || inherited.with(&second);
            let spawned = thread::Builder::new().spawn_scoped(scope, second_there);
            let first = first();
            let second = match spawned {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                Err(_) => second(),
            };
            (first, second)
        })
    })
}
