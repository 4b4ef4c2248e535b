//! Threads that stand by to do a step for their part or shard while the first thread does it for its own.
//!
//! There are thousands of rounds, of a tenth of a millisecond or so: to start a thread for one, or to wake it, takes nearly
//! as long. So a helper looks out for work for a while after it has done some before it sleeps, and is woken for much
//! work only. What no helper has begun when the first thread is done with its own share, that does too: it waits for
//! nobody who is not at work.

use std::hint;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Scope, Thread};

use super::work::{Step, Work};
use crate::checkpoint::{Checkpoint, Interrupted};
use crate::error::TrainError;

/// Places that are worth waking threads for. A large corpus has 3,000 in a round; with 4,096 in the place of this number,
/// helpers slept through two of three steps.
const WORTH_WAKING: usize = 1 << 10;

/// How often a helper looks for work before it sleeps, which takes a third of a millisecond or more. To choose the merges
/// of a round takes less.
const LOOKS: usize = 1 << 14;

/// How often the first thread looks for a result before it lets other threads of the machine run.
const PATIENT_LOOKS: usize = 1 << 14;

/// What a desk is like.
mod state {
    /// Nobody has sat down at it.
    pub(super) const ABSENT: u8 = 0;
    /// The helper waits.
    pub(super) const FREE: u8 = 1;
    /// There is work.
    pub(super) const OFFERED: u8 = 2;
    /// The helper works.
    pub(super) const TAKEN: u8 = 3;
    /// The work is done.
    pub(super) const DONE: u8 = 4;
}

/// Where a helper finds its work.
#[derive(Debug)]
struct Desk {
    state: AtomicU8,
    order: Mutex<Order>,
    is_asleep: AtomicBool,
    helper: OnceLock<Thread>,
}

/// What is to be done, or has been.
#[derive(Debug)]
struct Order {
    step: Step,
    result: Result<(), TrainError>,
}

impl Desk {
    fn new() -> Self {
        Self {
            state: AtomicU8::new(state::ABSENT),
            order: Mutex::new(Order {
                step: Step::Merge,
                result: Ok(()),
            }),
            is_asleep: AtomicBool::new(false),
            helper: OnceLock::new(),
        }
    }

    fn order(&self) -> MutexGuard<'_, Order> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes from one state to another; false if it is not in the first.
    fn pass(&self, from: u8, to: u8) -> bool {
        let pass = self
            .state
            .compare_exchange(from, to, Ordering::SeqCst, Ordering::Relaxed);
        pass.is_ok()
    }

    fn wake(&self) {
        if self.is_asleep.load(Ordering::SeqCst)
            && let Some(helper) = self.helper.get()
        {
            helper.unpark();
        }
    }

    /// Hands a step of a round of so many places over, if the helper waits and that is worth it.
    fn offer(&self, step: Step, visits: usize) {
        if self.state.load(Ordering::Relaxed) != state::FREE
            || self.is_asleep.load(Ordering::Relaxed) && visits < WORTH_WAKING
        {
            return;
        }
        self.order().step = step;
        self.state.store(state::OFFERED, Ordering::SeqCst);
        self.wake();
    }

    /// Waits until what was handed over is done; false if nobody has begun, or nothing was handed over.
    fn take_back(&self, checkpoint: &dyn Checkpoint) -> Result<bool, TrainError> {
        let mut looks = 0;
        loop {
            match self.state.load(Ordering::Acquire) {
                state::OFFERED if self.pass(state::OFFERED, state::FREE) => return Ok(false),
                state::OFFERED | state::TAKEN if looks < PATIENT_LOOKS => {
                    looks += 1;
                    hint::spin_loop();
                }
                state::OFFERED | state::TAKEN => {
                    // Only this thread may learn of a reason to stop. The helper does then, too, and stops soon.
                    checkpoint.should_stop();
                    thread::yield_now();
                }
                state::DONE => {
                    let result = mem::replace(&mut self.order().result, Ok(()));
                    self.state.store(state::FREE, Ordering::Relaxed);
                    return result.map(|()| true);
                }
                // The helper has panicked; the scope that it runs in does, too, once nothing goes on in it.
                state::ABSENT if self.helper.get().is_some() => return Err(Interrupted.into()),
                _ => return Ok(false),
            }
        }
    }
}

/// The helpers of the first thread.
#[derive(Debug)]
pub(super) struct Helpers {
    desks: Vec<Desk>,
    are_dismissed: AtomicBool,
}

impl Helpers {
    /// None has come yet.
    pub(super) fn new(work: &Work<'_>) -> Self {
        Self {
            desks: (1..work.corpus.parts()).map(|_| Desk::new()).collect(),
            are_dismissed: AtomicBool::new(false),
        }
    }

    /// Starts them; they end when what is returned is dropped. If the system allows no more threads there are fewer.
    pub(super) fn start<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        work: &'scope Work<'_>,
        checkpoint: &'scope dyn Checkpoint,
    ) -> Dismissal<'scope> {
        let dismissal = Dismissal(self);
        for (number, desk) in (1..).zip(&self.desks) {
            let serve = move || self.serve(desk, work, number, checkpoint);
            if let Ok(helper) = thread::Builder::new().spawn_scoped(scope, serve) {
                let _ = desk.helper.set(helper.thread().clone());
                desk.pass(state::ABSENT, state::FREE);
            }
        }
        dismissal
    }

    /// Does a step of the round for all parts or shards.
    pub(super) fn step(
        &self,
        step: Step,
        work: &Work<'_>,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), TrainError> {
        let round = work.round();
        let (visits, is_shared) = (round.visits, round.is_shared());
        drop(round);
        let others = 1..work.shares(step);
        if is_shared {
            for (_, desk) in others.clone().zip(&self.desks) {
                desk.offer(step, visits);
            }
        }
        work.step(step, 0, checkpoint)?;
        for (number, desk) in others.zip(&self.desks) {
            if !desk.take_back(checkpoint)? {
                work.step(step, number, checkpoint)?;
            }
        }
        Ok(())
    }

    /// What a helper does.
    fn serve(&self, desk: &Desk, work: &Work<'_>, number: usize, checkpoint: &dyn Checkpoint) {
        let _leave = Leave(desk);
        while self.wait(desk) {
            let mut order = desk.order();
            order.result = work.step(order.step, number, checkpoint);
            drop(order);
            desk.state.store(state::DONE, Ordering::Release);
        }
    }

    /// Waits until there is work, and takes it; false if there will be none.
    fn wait(&self, desk: &Desk) -> bool {
        for _ in 0..LOOKS {
            if let Some(is_work) = self.look(desk) {
                return is_work;
            }
            hint::spin_loop();
        }
        desk.is_asleep.store(true, Ordering::SeqCst);
        // Looks once more first: what was offered before then did not wake it.
        let is_work = loop {
            match self.look(desk) {
                Some(is_work) => break is_work,
                None => thread::park(),
            }
        };
        desk.is_asleep.store(false, Ordering::SeqCst);
        is_work
    }

    /// Whether there is work, which is taken, or will be none; `None` if that is not known.
    fn look(&self, desk: &Desk) -> Option<bool> {
        // Only read as long as there is nothing: what is written to is slow to read for the first thread.
        let is_offered = desk.state.load(Ordering::SeqCst) == state::OFFERED;
        if is_offered && desk.pass(state::OFFERED, state::TAKEN) {
            return Some(true);
        }
        self.are_dismissed.load(Ordering::SeqCst).then_some(false)
    }
}

/// Sends helpers home when it is dropped.
pub(super) struct Dismissal<'a>(&'a Helpers);

impl Drop for Dismissal<'_> {
    fn drop(&mut self) {
        self.0.are_dismissed.store(true, Ordering::SeqCst);
        for desk in &self.0.desks {
            desk.wake();
        }
    }
}

/// Leaves a desk, however the helper ends.
struct Leave<'a>(&'a Desk);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.state.store(state::ABSENT, Ordering::SeqCst);
    }
}
