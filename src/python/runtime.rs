//! Long work with the GIL released, which Ctrl-C stops soon.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use super::interpreter;
use crate::checkpoint::{self, Checkpoint};
use crate::error::EncodeError;
use crate::util::memory::reserve::{self, SHORTAGE};
use crate::util::parallel;
use crate::util::text::Text;

/// Work over fewer bytes keeps the GIL: releasing and taking it costs about as much as encoding a few hundred
/// bytes.
const MIN_DETACHED_BYTES: usize = 1024;

/// Work over fewer bytes for each thread is done before another thread has started: below 128 KiB, the calling thread
/// works alone.
const BYTES_PER_THREAD: usize = 64 * 1024;

/// Runs `work`, which processes `size` bytes, and releases the GIL if that pays. It is stopped once a signal handler has
/// raised; the error is then what the handler raised, even if the work was done by then. Short work is done before anybody
/// could stop it: a checkpoint took a twentieth of the time of texts of 100 bytes.
pub(super) fn run<R: Send, E: Into<PyErr> + Send>(
    py: Python<'_>,
    size: usize,
    work: impl FnOnce() -> Result<R, E> + Send,
) -> PyResult<R> {
    if size < MIN_DETACHED_BYTES {
        return work().map_err(Into::into);
    }
    let signals = Signals::new();
    let result = detached(py, size, || checkpoint::with(&signals, work));
    signals.outcome(result)
}

/// As [`run`], without a checkpoint.
pub(super) fn detached<R: Send>(py: Python<'_>, size: usize, work: impl FnOnce() -> R + Send) -> R {
    if size < MIN_DETACHED_BYTES {
        return work();
    }
    py.detach(|| {
        let result = work();
        if interpreter::has_ended() {
            wait_for_exit();
        }
        result
    })
}

/// Runs `work`, which needs the GIL, in a thread that has released it.
pub(super) fn attached<R>(work: impl FnOnce(Python<'_>) -> R) -> R {
    Python::try_attach(work).unwrap_or_else(|| wait_for_exit())
}

/// Never returns: the interpreter has ended under a daemon thread, and the process will. There is no way back to Python, whose
/// memory is gone; later versions of it keep such a thread waiting as well.
fn wait_for_exit() -> ! {
    loop {
        thread::park();
    }
}

/// Runs `work` in a new thread, and `here` in this one, which keeps the GIL. Ctrl-C stops the work, as does
/// an exception from `here` that is no `Exception`. If both fail, the error is that of the work.
pub(super) fn run_alongside<H, E: Into<PyErr> + Send>(
    py: Python<'_>,
    work: impl Fn() -> Result<(), E> + Sync,
    here: impl FnOnce() -> PyResult<H>,
) -> PyResult<H> {
    let (stopped, done) = (Flag::default(), Flag::default());
    let caller = thread::current();
    thread::scope(|scope| {
        let worker = thread::Builder::new().spawn_scoped(scope, || {
            let _done = Finally(|| {
                done.raise();
                caller.unpark();
            });
            checkpoint::with(&stopped, &work)
        });
        let Ok(worker) = worker else {
            // The system refuses another thread.
            run(py, usize::MAX, &work)?;
            return here();
        };
        let here = here();
        if let Err(error) = &here
            && !error.is_instance_of::<PyException>(py)
        {
            stopped.raise();
        }
        let joined = run(py, usize::MAX, || {
            while !done.is_raised() {
                if checkpoint::should_stop() {
                    stopped.raise();
                    return Err(EncodeError::Interrupted);
                }
                thread::park_timeout(parallel::POLL_INTERVAL);
            }
            Ok(())
        });
        // Either done, or stopping at its next checkpoint.
        let outcome = detached(py, usize::MAX, || worker.join());
        match outcome.unwrap_or_else(|panic| resume_unwind(panic)) {
            Err(error) if !stopped.is_raised() => Err(error.into()),
            _ => joined.and(here),
        }
    })
}

/// Returns the size of the work over `texts`, in bytes: each has one more than its own, for the work that even an empty
/// text is.
pub(super) fn size_of(texts: &[impl Text]) -> usize {
    texts.iter().map(|text| text.len() + 1).sum()
}

/// Returns the number of threads that `size` bytes of work keep busy, at most `num_threads`.
pub(super) fn threads_for(size: usize, num_threads: usize) -> usize {
    num_threads.min((size / BYTES_PER_THREAD).max(1))
}

/// Interval between checks for signals. A check waits for the GIL, so it is as rare as a person does not
/// notice.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Checkpoints that return before looking at thread and clock, so that short work pays nothing.
const FREE_CHECKPOINTS: u32 = 4;

/// Stops work once a signal handler has raised, or memory is short. Only the calling thread runs handlers; others
/// read the result.
struct Signals {
    caller: ThreadTag,
    passed: AtomicU32,
    clock: OnceLock<Instant>,
    /// Milliseconds on the clock at which the next check is due.
    next: AtomicU64,
    raised: AtomicBool,
    error: Mutex<Option<PyErr>>,
    /// Whether work was stopped because memory is short.
    is_short: AtomicBool,
}

impl Signals {
    fn new() -> Self {
        Self {
            caller: ThreadTag::current(),
            passed: AtomicU32::new(0),
            clock: OnceLock::new(),
            next: AtomicU64::new(millis(CHECK_INTERVAL)),
            raised: AtomicBool::new(false),
            error: Mutex::new(None),
            is_short: AtomicBool::new(false),
        }
    }

    /// Counts a checkpoint; returns true for the first few of all threads. Two at once may count as one.
    fn is_free(&self) -> bool {
        let passed = self.passed.load(Ordering::Relaxed);
        let free = passed < FREE_CHECKPOINTS;
        if free {
            self.passed.store(passed + 1, Ordering::Relaxed);
        }
        free
    }

    /// Returns true, about once in an interval, when the next check is due.
    fn is_due(&self) -> bool {
        let elapsed = millis(self.clock.get_or_init(Instant::now).elapsed());
        let due = elapsed >= self.next.load(Ordering::Relaxed);
        if due {
            self.next
                .store(elapsed + millis(CHECK_INTERVAL), Ordering::Relaxed);
        }
        due
    }

    /// Returns the exception that a signal handler raised, which Python no longer has; otherwise the result of the work, or
    /// the error for a shortage of memory if the work stopped for that.
    fn outcome<R>(&self, result: Result<R, impl Into<PyErr>>) -> PyResult<R> {
        let raised = self
            .error
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(raised) = raised {
            return Err(raised);
        }
        result.map_err(|error| {
            if self.is_short.load(Ordering::Relaxed) {
                SHORTAGE.into()
            } else {
                error.into()
            }
        })
    }
}

impl Checkpoint for Signals {
    fn should_stop(&self) -> bool {
        if self.raised.load(Ordering::Relaxed) {
            return true;
        }
        if reserve::is_short() {
            self.is_short.store(true, Ordering::Relaxed);
            return true;
        }
        if self.is_free() || ThreadTag::current() != self.caller || !self.is_due() {
            return false;
        }
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method's lifetime is not general enough"
        )]
        match attached(|py| py.check_signals()) {
            Ok(()) => false,
            Err(error) => {
                *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                self.raised.store(true, Ordering::Relaxed);
                true
            }
        }
    }
}

/// A checkpoint that another thread raises.
#[derive(Debug, Default)]
struct Flag(AtomicBool);

impl Flag {
    fn raise(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_raised(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl Checkpoint for Flag {
    fn should_stop(&self) -> bool {
        self.is_raised()
    }
}

/// Calls a function on drop, so also when its scope unwinds.
struct Finally<F: Fn()>(F);

impl<F: Fn()> Drop for Finally<F> {
    fn drop(&mut self) {
        self.0();
    }
}

/// Identifies a running thread, by the address of a thread-local. [`ThreadId`](std::thread::ThreadId) does
/// that too, at several times the cost of the smallest call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct ThreadTag(usize);

impl ThreadTag {
    pub(super) fn current() -> Self {
        thread_local!(static ADDRESSED: u8 = const { 0 });
        Self(ADDRESSED.with(|local| std::ptr::from_ref(local).addr()))
    }

    /// The tag as a number, which is not 0.
    pub(super) fn number(self) -> usize {
        self.0
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
