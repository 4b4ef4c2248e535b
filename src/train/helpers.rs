//! Threads that stand by to make a merge in their part of the corpus while the first thread makes it in its own.
//!
//! There are a hundred thousand merges, of some microseconds each: to start a thread for one, or to wake it, takes longer
//! than most. So a helper looks out for work for a while after it has done some before it sleeps, and is woken for much
//! work only. What no helper has begun when the first thread is done with its own part, that does too: it waits for
//! nobody who is not at work.

use std::hint;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Scope, Thread};

use super::corpus::{Corpus, Place};
use super::neighbours::Sides;
use super::replace::Merge;
use crate::checkpoint::{Checkpoint, Interrupted};

/// Places that are worth handing over to a thread that is awake: it takes them ten microseconds or so.
pub(super) const WORTH_HANDING_OVER: usize = 1 << 8;

/// Places that are worth waking a thread for.
const WORTH_WAKING: usize = 1 << 11;

/// How often a helper looks for work before it sleeps, which takes a third of a millisecond or more. Most merges of many places
/// come soon after each other; with an eighth of that, a third of their places were not worth waking a thread for.
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
    work: Mutex<Work>,
    is_asleep: AtomicBool,
    helper: OnceLock<Thread>,
}

/// A merge in a part.
#[derive(Debug, Default)]
struct Work {
    merge: Option<Merge>,
    places: Vec<Place>,
    sides: Sides,
    result: Option<Interrupted>,
}

impl Desk {
    fn new() -> Self {
        Self {
            state: AtomicU8::new(state::ABSENT),
            work: Mutex::default(),
            is_asleep: AtomicBool::new(false),
            helper: OnceLock::new(),
        }
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
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
}

/// One helper for each part of a corpus but the first.
#[derive(Debug)]
pub(super) struct Helpers {
    desks: Vec<Desk>,
    are_dismissed: AtomicBool,
}

impl Helpers {
    /// None has come yet.
    pub(super) fn new(corpus: &Corpus) -> Self {
        Self {
            desks: (1..corpus.parts()).map(|_| Desk::new()).collect(),
            are_dismissed: AtomicBool::new(false),
        }
    }

    /// Starts them; they end when what is returned is dropped. If the system allows no more threads there are fewer.
    pub(super) fn start<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        corpus: &'scope Corpus,
        checkpoint: &'scope dyn Checkpoint,
    ) -> Dismissal<'scope> {
        for (part, desk) in (1..).zip(&self.desks) {
            let serve = move || self.serve(desk, corpus, part, checkpoint);
            if let Ok(helper) = thread::Builder::new().spawn_scoped(scope, serve) {
                let _ = desk.helper.set(helper.thread().clone());
                desk.pass(state::ABSENT, state::FREE);
            }
        }
        Dismissal(self)
    }

    /// Hands the places of a part over, with the sides to note what stands beside them in, nothing else being noted there;
    /// false if that is not worth it, or the helper does not wait.
    pub(super) fn offer(
        &self,
        part: usize,
        merge: Merge,
        places: &[Place],
        sides: &mut Sides,
    ) -> bool {
        let desk = &self.desks[part - 1];
        if places.len() < WORTH_HANDING_OVER
            || desk.state.load(Ordering::Relaxed) != state::FREE
            || desk.is_asleep.load(Ordering::Relaxed) && places.len() < WORTH_WAKING
        {
            return false;
        }
        sides.clear(merge.tokens());
        let mut work = desk.work();
        work.merge = Some(merge);
        work.places.clear();
        work.places.extend_from_slice(places);
        std::mem::swap(&mut work.sides, sides);
        drop(work);
        desk.state.store(state::OFFERED, Ordering::SeqCst);
        desk.wake();
        true
    }

    /// Takes back what was handed over, with what was noted: true once it is done, false if nobody has begun, or nothing
    /// was handed over.
    pub(super) fn take_back(
        &self,
        part: usize,
        sides: &mut Sides,
        checkpoint: &dyn Checkpoint,
    ) -> Result<bool, Interrupted> {
        let desk = &self.desks[part - 1];
        let mut looks = 0;
        loop {
            match desk.state.load(Ordering::Acquire) {
                state::OFFERED if desk.pass(state::OFFERED, state::FREE) => {
                    std::mem::swap(&mut desk.work().sides, sides);
                    return Ok(false);
                }
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
                    let mut work = desk.work();
                    std::mem::swap(&mut work.sides, sides);
                    desk.state.store(state::FREE, Ordering::Relaxed);
                    return work.result.take().map_or(Ok(true), Err);
                }
                // The helper has panicked; the scope that it runs in does, too, once nothing goes on in it.
                state::ABSENT if desk.helper.get().is_some() => return Err(Interrupted),
                _ => return Ok(false),
            }
        }
    }

    /// What a helper does.
    fn serve(&self, desk: &Desk, corpus: &Corpus, part: usize, checkpoint: &dyn Checkpoint) {
        let _leave = Leave(desk);
        while self.wait(desk) {
            let mut guard = desk.work();
            let work = &mut *guard;
            if let Some(merge) = work.merge {
                let mut part = corpus.part(part);
                let done = merge.apply_to(&mut part, &work.places, &mut work.sides, checkpoint);
                work.result = done.err();
            }
            drop(guard);
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
