//! Where one thread offers tasks to another, and takes back those that the other has not begun.

use std::sync::{OnceLock, PoisonError};

use crate::util::loom::sync::atomic::{AtomicBool, AtomicU8, Ordering, fence};
use crate::util::loom::sync::{Mutex, MutexGuard};
use crate::util::loom::thread::{self, Thread};
use crate::util::loom::{hint, spins};

/// How often a worker looks for a task before it sleeps: a third of a millisecond or more. Choosing the
/// merges of a batch takes less.
const WORKER_SPINS: usize = spins(1 << 14);

/// How often the owner looks for a result before it yields to other threads of the machine.
const OWNER_SPINS: usize = spins(1 << 14);

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

/// A place for one task at a time, between the thread that owns it and one worker.
#[derive(Debug)]
pub(super) struct TaskSlot<T> {
    state: AtomicU8,
    /// The task, and its result.
    task: Mutex<T>,
    is_asleep: AtomicBool,
    is_shut_down: AtomicBool,
    worker: OnceLock<Thread>,
}

impl<T> TaskSlot<T> {
    /// Returns a slot without a worker, to which nothing can be offered yet.
    pub(super) fn new(task: T) -> Self {
        Self {
            state: AtomicU8::new(state::ABSENT),
            task: Mutex::new(task),
            is_asleep: AtomicBool::new(false),
            is_shut_down: AtomicBool::new(false),
            worker: OnceLock::new(),
        }
    }

    /// Offers a task to the worker, if it is idle, and awake or worth waking.
    pub(super) fn offer(&self, is_worth_waking: bool, write: impl FnOnce(&mut T)) {
        if self.state.load(Ordering::Relaxed) != state::IDLE
            || self.is_asleep.load(Ordering::Relaxed) && !is_worth_waking
        {
            return;
        }
        write(&mut self.task());
        self.state.store(state::OFFERED, Ordering::Release);
        self.wake();
    }

    /// Waits until the task is done and reads its result. Returns `None` if the worker has not begun it, or was not
    /// offered it.
    pub(super) fn take_back<R>(
        &self,
        while_waiting: impl Fn(),
        read: impl FnOnce(&mut T) -> R,
    ) -> Option<R> {
        let mut spins = 0;
        loop {
            match self.state.load(Ordering::Acquire) {
                state::OFFERED if self.transition(state::OFFERED, state::IDLE) => return None,
                state::OFFERED | state::RUNNING if spins < OWNER_SPINS => {
                    spins += 1;
                    hint::spin_loop();
                }
                state::OFFERED | state::RUNNING => {
                    while_waiting();
                    thread::yield_now();
                }
                state::DONE => {
                    let result = read(&mut self.task());
                    self.state.store(state::IDLE, Ordering::Relaxed);
                    return Some(result);
                }
                _ => return None,
            }
        }
    }

    /// Ends the worker once it has no task.
    pub(super) fn shut_down(&self) {
        self.is_shut_down.store(true, Ordering::Release);
        self.wake();
    }

    /// Makes this thread the worker, which runs tasks until shutdown.
    pub(super) fn serve(&self, mut run: impl FnMut(&mut T)) {
        let _ = self.worker.set(thread::current());
        self.state.store(state::IDLE, Ordering::Release);
        while self.wait() {
            run(&mut self.task());
            self.state.store(state::DONE, Ordering::Release);
        }
    }

    /// Waits for a task and begins it. Returns false at shutdown.
    fn wait(&self) -> bool {
        for _ in 0..WORKER_SPINS {
            if let Some(has_task) = self.poll() {
                return has_task;
            }
            hint::spin_loop();
        }
        self.is_asleep.store(true, Ordering::Relaxed);
        // One of both threads sees what the other wrote before its fence: this one polls once more before it sleeps, the
        // owner wakes what is asleep.
        fence(Ordering::SeqCst);
        let has_task = loop {
            match self.poll() {
                Some(has_task) => break has_task,
                None => thread::park(),
            }
        };
        self.is_asleep.store(false, Ordering::Relaxed);
        has_task
    }

    /// Begins the task, if there is one, and returns true; returns false at shutdown, `None` otherwise.
    fn poll(&self) -> Option<bool> {
        // Reads until there is a task: a cache line that this thread writes to is slow to read for the owner.
        let is_offered = self.state.load(Ordering::Relaxed) == state::OFFERED;
        if is_offered && self.transition(state::OFFERED, state::RUNNING) {
            return Some(true);
        }
        self.is_shut_down.load(Ordering::Acquire).then_some(false)
    }

    /// Wakes the worker, if it sleeps, after something was written that it polls for.
    fn wake(&self) {
        fence(Ordering::SeqCst);
        if self.is_asleep.load(Ordering::Relaxed)
            && let Some(worker) = self.worker.get()
        {
            worker.unpark();
        }
    }

    fn task(&self) -> MutexGuard<'_, T> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state; returns false if it was not `from`.
    fn transition(&self, from: u8, to: u8) -> bool {
        let result = self
            .state
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed);
        result.is_ok()
    }
}

#[cfg(all(loom, test))]
mod models {
    use loom::sync::Arc;
    use loom::thread;

    use super::{Ordering, TaskSlot, state};

    /// Runs a model: what the owner of a slot does while a worker notes each task that it runs.
    fn model(owner: impl Fn(&TaskSlot<Vec<u32>>) + Sync + Send + 'static) {
        loom::model(move || {
            let slot = Arc::new(TaskSlot::new(Vec::new()));
            let shared = Arc::clone(&slot);
            let worker = thread::spawn(move || shared.serve(|task| task.push(1)));
            owner(&slot);
            slot.shut_down();
            worker.join().expect("a worker that ends");
        });
    }

    fn wait_for(slot: &TaskSlot<Vec<u32>>, state: u8) {
        while slot.state.load(Ordering::Acquire) != state {
            thread::yield_now();
        }
    }

    /// Offers a task, and takes it back. It is run once, and seen, unless it has not begun.
    fn run(slot: &TaskSlot<Vec<u32>>, is_worth_waking: bool) {
        slot.offer(is_worth_waking, Vec::clear);
        let result = slot.take_back(|| (), |task| task.clone());
        assert!(result.is_none_or(|runs| runs == [1]));
    }

    #[test]
    fn a_worker_without_tasks_ends() {
        model(|_| ());
    }

    #[test]
    fn a_task_is_run_once_or_taken_back() {
        model(|slot| run(slot, true));
    }

    #[test]
    fn tasks_follow_each_other() {
        model(|slot| {
            wait_for(slot, state::IDLE);
            run(slot, true);
            run(slot, false);
        });
    }

    /// A worker that goes to sleep meanwhile does not miss a task.
    #[test]
    fn a_task_worth_waking_for_is_run() {
        model(|slot| {
            wait_for(slot, state::IDLE);
            slot.offer(true, Vec::clear);
            wait_for(slot, state::DONE);
            let runs = slot.take_back(|| (), |task| task.clone());
            assert_eq!(runs, Some(vec![1]));
        });
    }
}
