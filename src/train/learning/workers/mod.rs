//! A pool of threads that run the tasks of a step while the main thread runs one itself.
//!
//! There are thousands of batches, of about a tenth of a millisecond each; starting a thread for one, or
//! waking it, takes nearly as long. So a worker spins for a while after a task before it sleeps, and is woken
//! only for a large batch. The main thread takes back the tasks that no worker has begun, so it never waits
//! for a sleeping worker.
//!
//! 100,000 merges of 38 MB of text took 0.436 s on two threads instead of 0.585 on one
//! (docs/benchmarks/training.md). That holds for idle processors. At a load of nine on two cores, two threads
//! took 1.9 s at best and one thread 1.1: the main thread then waits for tasks whose workers are preempted.

mod slot;

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::{self, Scope};

use self::slot::TaskSlot;
use super::offset::Offset;
use super::state::{Step, TrainingState};
use crate::checkpoint::{self, Inherited, Interrupted};

/// Batches with at least this many occurrences wake sleeping workers. Those of a large corpus have 3,000;
/// with 4,096 here, workers slept through two of three steps.
const MIN_WAKING_OCCURRENCES: usize = 1 << 10;

/// The task of a worker, or the result of its last one.
#[derive(Debug)]
struct Task {
    step: Step,
    /// The result of the step, or the panic that ended it.
    result: thread::Result<Result<(), Interrupted>>,
}

impl Task {
    fn new() -> Self {
        Self {
            step: Step::Merge,
            result: Ok(Ok(())),
        }
    }
}

/// The workers of the main thread.
#[derive(Debug)]
pub(super) struct WorkerPool {
    slots: Vec<TaskSlot<Task>>,
}

impl WorkerPool {
    /// A pool whose workers are not started, with one fewer than there are partitions.
    pub(super) fn new(state: &TrainingState<'_, impl Offset>) -> Self {
        let workers = 1..state.corpus.partitions();
        Self {
            slots: workers.map(|_| TaskSlot::new(Task::new())).collect(),
        }
    }

    /// Starts the workers; they end when the guard is dropped. There are fewer if the system allows no more
    /// threads.
    pub(super) fn start<'scope, O: Offset>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        state: &'scope TrainingState<'_, O>,
        inherited: Inherited<'scope>,
    ) -> ShutdownGuard<'scope> {
        let guard = ShutdownGuard(self);
        for (number, slot) in (1..).zip(&self.slots) {
            let serve = move || {
                slot.serve(|task| {
                    let step = task.step;
                    let run = || inherited.with(|| state.run(step, number));
                    let run = AssertUnwindSafe(run);
                    task.result = catch_unwind(run);
                });
            };
            let _ = thread::Builder::new().spawn_scoped(scope, serve);
        }
        guard
    }

    /// Runs all tasks of a step of the current batch.
    pub(super) fn run(
        &self,
        step: Step,
        state: &TrainingState<'_, impl Offset>,
    ) -> Result<(), Interrupted> {
        let batch = state.batch();
        let (occurrences, is_shared) = (batch.occurrences, batch.is_shared());
        drop(batch);
        let others = 1..state.tasks(step);
        if is_shared {
            let is_worth_waking = occurrences >= MIN_WAKING_OCCURRENCES;
            for (_, slot) in others.clone().zip(&self.slots) {
                slot.offer(is_worth_waking, |task| task.step = step);
            }
        }
        state.run(step, 0)?;
        // Only this thread can find out that it should stop. Workers then find out, too, and stop soon.
        let while_waiting = || {
            checkpoint::should_stop();
        };
        for (number, slot) in others.zip(&self.slots) {
            let result = slot.take_back(while_waiting, |task| {
                mem::replace(&mut task.result, Ok(Ok(())))
            });
            match result {
                Some(result) => result.unwrap_or_else(|panic| resume_unwind(panic))?,
                None => state.run(step, number)?,
            }
        }
        Ok(())
    }
}

/// Shuts the workers down on drop.
pub(super) struct ShutdownGuard<'a>(&'a WorkerPool);

impl Drop for ShutdownGuard<'_> {
    fn drop(&mut self) {
        for slot in &self.0.slots {
            slot.shut_down();
        }
    }
}
