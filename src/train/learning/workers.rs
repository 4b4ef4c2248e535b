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

use std::hint;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Scope, Thread};

use super::offset::Offset;
use super::state::{Step, TrainingState};
use crate::checkpoint::{Checkpoint, Interrupted};

/// Batches with at least this many occurrences wake sleeping workers. Those of a large corpus have 3,000;
/// with 4,096 here, workers slept through two of three steps.
const MIN_WAKING_OCCURRENCES: usize = 1 << 10;

/// How often a worker looks for a task before it sleeps: a third of a millisecond or more. Choosing the
/// merges of a batch takes less.
const WORKER_SPINS: usize = 1 << 14;

/// How often the main thread looks for a result before it yields to other threads of the machine.
const MAIN_SPINS: usize = 1 << 14;

/// The states of a slot.
mod state {
    /// There is no worker.
    pub(super) const ABSENT: u8 = 0;
    /// The worker has no task.
    pub(super) const IDLE: u8 = 1;
    /// There is a task that the worker has not begun.
    pub(super) const OFFERED: u8 = 2;
    /// The worker runs the task.
    pub(super) const RUNNING: u8 = 3;
    /// The task is done.
    pub(super) const DONE: u8 = 4;
}

/// Where the main thread leaves tasks for one worker.
#[derive(Debug)]
struct WorkerSlot {
    state: AtomicU8,
    task: Mutex<Task>,
    is_asleep: AtomicBool,
    worker: OnceLock<Thread>,
}

/// The task of a worker, or the result of its last one.
#[derive(Debug)]
struct Task {
    step: Step,
    /// The result of the step, or the panic that ended it.
    result: thread::Result<Result<(), Interrupted>>,
}

impl WorkerSlot {
    fn new() -> Self {
        Self {
            state: AtomicU8::new(state::ABSENT),
            task: Mutex::new(Task {
                step: Step::Merge,
                result: Ok(Ok(())),
            }),
            is_asleep: AtomicBool::new(false),
            worker: OnceLock::new(),
        }
    }

    fn task(&self) -> MutexGuard<'_, Task> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state; returns false if it was not `from`.
    fn transition(&self, from: u8, to: u8) -> bool {
        let result = self
            .state
            .compare_exchange(from, to, Ordering::SeqCst, Ordering::Relaxed);
        result.is_ok()
    }

    fn wake(&self) {
        if self.is_asleep.load(Ordering::SeqCst)
            && let Some(worker) = self.worker.get()
        {
            worker.unpark();
        }
    }

    /// Offers a step of a batch with `occurrences` to the worker, if it is idle, and awake or worth waking.
    fn offer(&self, step: Step, occurrences: usize) {
        if self.state.load(Ordering::Relaxed) != state::IDLE
            || self.is_asleep.load(Ordering::Relaxed) && occurrences < MIN_WAKING_OCCURRENCES
        {
            return;
        }
        self.task().step = step;
        self.state.store(state::OFFERED, Ordering::SeqCst);
        self.wake();
    }

    /// Waits until the task is done. Returns false if the worker has not begun it, or was not offered it.
    fn take_back(&self, checkpoint: &dyn Checkpoint) -> Result<bool, Interrupted> {
        let mut spins = 0;
        loop {
            match self.state.load(Ordering::Acquire) {
                state::OFFERED if self.transition(state::OFFERED, state::IDLE) => return Ok(false),
                state::OFFERED | state::RUNNING if spins < MAIN_SPINS => {
                    spins += 1;
                    hint::spin_loop();
                }
                state::OFFERED | state::RUNNING => {
                    // Only this thread can find out that it should stop. The worker then finds out, too, and
                    // stops soon.
                    checkpoint.should_stop();
                    thread::yield_now();
                }
                state::DONE => {
                    let result = mem::replace(&mut self.task().result, Ok(Ok(())));
                    self.state.store(state::IDLE, Ordering::Relaxed);
                    let result = result.unwrap_or_else(|panic| resume_unwind(panic));
                    return result.map(|()| true);
                }
                _ => return Ok(false),
            }
        }
    }
}

/// The workers of the main thread.
#[derive(Debug)]
pub(super) struct WorkerPool {
    slots: Vec<WorkerSlot>,
    is_shut_down: AtomicBool,
}

impl WorkerPool {
    /// A pool whose workers are not started, with one fewer than there are partitions.
    pub(super) fn new(state: &TrainingState<'_, impl Offset>) -> Self {
        let workers = 1..state.corpus.partitions();
        Self {
            slots: workers.map(|_| WorkerSlot::new()).collect(),
            is_shut_down: AtomicBool::new(false),
        }
    }

    /// Starts the workers; they end when the guard is dropped. There are fewer if the system allows no more
    /// threads.
    pub(super) fn start<'scope, O: Offset>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        state: &'scope TrainingState<'_, O>,
        checkpoint: &'scope dyn Checkpoint,
    ) -> ShutdownGuard<'scope> {
        let guard = ShutdownGuard(self);
        for (number, slot) in (1..).zip(&self.slots) {
            let serve = move || self.serve(slot, state, number, checkpoint);
            if let Ok(worker) = thread::Builder::new().spawn_scoped(scope, serve) {
                let _ = slot.worker.set(worker.thread().clone());
                slot.transition(state::ABSENT, state::IDLE);
            }
        }
        guard
    }

    /// Runs all tasks of a step of the current batch.
    pub(super) fn run(
        &self,
        step: Step,
        state: &TrainingState<'_, impl Offset>,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), Interrupted> {
        let batch = state.batch();
        let (occurrences, is_shared) = (batch.occurrences, batch.is_shared());
        drop(batch);
        let others = 1..state.tasks(step);
        if is_shared {
            for (_, slot) in others.clone().zip(&self.slots) {
                slot.offer(step, occurrences);
            }
        }
        state.run(step, 0, checkpoint)?;
        for (task, slot) in others.zip(&self.slots) {
            if !slot.take_back(checkpoint)? {
                state.run(step, task, checkpoint)?;
            }
        }
        Ok(())
    }

    /// The loop of a worker, whose number is that of its tasks.
    fn serve(
        &self,
        slot: &WorkerSlot,
        state: &TrainingState<'_, impl Offset>,
        number: usize,
        checkpoint: &dyn Checkpoint,
    ) {
        while self.wait(slot) {
            let mut task = slot.task();
            let step = task.step;
            let run = AssertUnwindSafe(|| state.run(step, number, checkpoint));
            task.result = catch_unwind(run);
            drop(task);
            slot.state.store(state::DONE, Ordering::Release);
        }
    }

    /// Waits for a task and begins it. Returns false at shutdown.
    fn wait(&self, slot: &WorkerSlot) -> bool {
        for _ in 0..WORKER_SPINS {
            if let Some(has_task) = self.poll(slot) {
                return has_task;
            }
            hint::spin_loop();
        }
        slot.is_asleep.store(true, Ordering::SeqCst);
        // Polls once more before it sleeps: an offer made until now did not wake it.
        let has_task = loop {
            match self.poll(slot) {
                Some(has_task) => break has_task,
                None => thread::park(),
            }
        };
        slot.is_asleep.store(false, Ordering::SeqCst);
        has_task
    }

    /// Begins the task, if there is one, and returns true; returns false at shutdown, `None` otherwise.
    fn poll(&self, slot: &WorkerSlot) -> Option<bool> {
        // Reads until there is a task: a cache line that this thread writes to is slow to read for the main
        // thread.
        let is_offered = slot.state.load(Ordering::SeqCst) == state::OFFERED;
        if is_offered && slot.transition(state::OFFERED, state::RUNNING) {
            return Some(true);
        }
        self.is_shut_down.load(Ordering::SeqCst).then_some(false)
    }
}

/// Shuts the workers down on drop.
pub(super) struct ShutdownGuard<'a>(&'a WorkerPool);

impl Drop for ShutdownGuard<'_> {
    fn drop(&mut self) {
        self.0.is_shut_down.store(true, Ordering::SeqCst);
        for slot in &self.0.slots {
            slot.wake();
        }
    }
}
