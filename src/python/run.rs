//! Running long work: other Python threads go on meanwhile, and Ctrl-C stops it soon.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::checkpoint::Checkpoint;
use crate::error::EncodeError;
use crate::util::parallel;

/// Work over fewer bytes than this is done without giving the interpreter to other threads: handing it over and back
/// costs about as much as encoding a few hundred bytes.
const WORTH_DETACHING: usize = 1024;

/// Work over fewer bytes than this is done before another thread has started.
const WORTH_A_THREAD: usize = 64 * 1024;

/// Runs `work`, other Python threads meanwhile too if it is `size` bytes of work and that is much. The checkpoint it is
/// given stops it once a signal handler has raised; what was raised is the error then.
pub(super) fn run<R: Send, E: Into<PyErr> + Send>(
    py: Python<'_>,
    size: usize,
    work: impl FnOnce(&dyn Checkpoint) -> Result<R, E> + Send,
) -> PyResult<R> {
    let signals = Signals::new();
    let result = detached(py, size, || work(&signals));
    result.map_err(|error| signals.explain(error))
}

/// Runs `work` without a checkpoint.
pub(super) fn detached<R: Send>(py: Python<'_>, size: usize, work: impl FnOnce() -> R + Send) -> R {
    if size < WORTH_DETACHING {
        work()
    } else {
        py.detach(work)
    }
}

/// Runs `work` in a thread of its own, and meanwhile `here`, with the interpreter, in this one. Ctrl-C stops the work, as does
/// what `here` raises that is no ordinary error. Of two errors, that of the work comes first.
pub(super) fn beside<H, E: Into<PyErr> + Send>(
    py: Python<'_>,
    work: impl Fn(&dyn Checkpoint) -> Result<(), E> + Sync,
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
            work(&stopped)
        });
        let Ok(worker) = worker else {
            // The system allows no more threads.
            run(py, usize::MAX, |checkpoint| work(checkpoint))?;
            return here();
        };
        let here = here();
        if let Err(error) = &here
            && !error.is_instance_of::<PyException>(py)
        {
            stopped.raise();
        }
        let waited = run(py, usize::MAX, |checkpoint| {
            while !done.is_raised() {
                if checkpoint.should_stop() {
                    stopped.raise();
                    return Err(EncodeError::Interrupted);
                }
                thread::park_timeout(parallel::POLL_INTERVAL);
            }
            Ok(())
        });
        // It ends soon now.
        let outcome = py.detach(|| worker.join());
        match outcome.unwrap_or_else(|panic| resume_unwind(panic)) {
            Err(error) if !stopped.is_raised() => Err(error.into()),
            _ => waited.and(here),
        }
    })
}

/// As many threads as asked for that `size` bytes of work can keep busy.
pub(super) fn threads_for(size: usize, num_threads: usize) -> usize {
    num_threads.min(size.div_ceil(WORTH_A_THREAD))
}

/// How often Python is asked. Asking means waiting for the interpreter, so not more often than a person notices.
const INTERVAL: Duration = Duration::from_millis(50);

/// So many checkpoints are passed without a look at thread and clock: short work is done by then, and pays nothing.
const FREE: u32 = 4;

/// Stops work once a signal handler has raised. Only the thread that made it asks Python; others see its answer.
struct Signals {
    caller: Marker,
    passed: AtomicU32,
    clock: OnceLock<Instant>,
    /// Milliseconds on the clock at which to ask next.
    next: AtomicU64,
    raised: AtomicBool,
    error: Mutex<Option<PyErr>>,
}

impl Signals {
    fn new() -> Self {
        Self {
            caller: Marker::here(),
            passed: AtomicU32::new(0),
            clock: OnceLock::new(),
            next: AtomicU64::new(millis(INTERVAL)),
            raised: AtomicBool::new(false),
            error: Mutex::new(None),
        }
    }

    /// Whether this is one of the first checkpoints, of all threads. Counts it; of two at once, perhaps one.
    fn is_free(&self) -> bool {
        let passed = self.passed.load(Ordering::Relaxed);
        let free = passed < FREE;
        if free {
            self.passed.store(passed + 1, Ordering::Relaxed);
        }
        free
    }

    /// True, at most once in an interval, if it is time to ask Python.
    fn is_due(&self) -> bool {
        let elapsed = millis(self.clock.get_or_init(Instant::now).elapsed());
        let due = elapsed >= self.next.load(Ordering::Relaxed);
        if due {
            self.next
                .store(elapsed + millis(INTERVAL), Ordering::Relaxed);
        }
        due
    }

    /// The Python exception for `error`: what a signal handler raised, if that is why work stopped.
    fn explain(&self, error: impl Into<PyErr>) -> PyErr {
        let raised = self
            .error
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        raised.unwrap_or_else(|| error.into())
    }
}

impl Checkpoint for Signals {
    fn should_stop(&self) -> bool {
        if self.raised.load(Ordering::Relaxed) {
            return true;
        }
        if self.is_free() || Marker::here() != self.caller || !self.is_due() {
            return false;
        }
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method's lifetime is not general enough"
        )]
        match Python::attach(|py| py.check_signals()) {
            Ok(()) => false,
            Err(error) => {
                *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                self.raised.store(true, Ordering::Relaxed);
                true
            }
        }
    }
}

/// Work stops when it is raised.
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

/// Does something at the end, however that comes.
struct Finally<F: Fn()>(F);

impl<F: Fn()> Drop for Finally<F> {
    fn drop(&mut self) {
        self.0();
    }
}

/// Tells threads that run at the same time apart: by the address of something that each of them has. A
/// [`ThreadId`](std::thread::ThreadId) does too, at several times the cost of the smallest call.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Marker(usize);

impl Marker {
    fn here() -> Self {
        thread_local!(static PLACE: u8 = const { 0 });
        Self(PLACE.with(|place| std::ptr::from_ref(place).addr()))
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
