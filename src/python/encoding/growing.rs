//! Texts that change, and texts that arrive in parts.

use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use numpy::PyArray1;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::CoreBpe;
use super::decode::BYTES_PER_ID;
use super::special::Tokens;
use crate::checkpoint;
use crate::encode::Encoder;
use crate::encode::offsets::CharCounter;
use crate::encode::prefix_cache::PrefixCache;
use crate::encode::session::{Edit, Session, Update};
use crate::encode::stream::{Step, StreamEncoder};
use crate::error::{CanonicalError, EncodeError};
use crate::python::abi::new_string;
use crate::python::error::guarded;
use crate::python::ids::{TokenIds, arrays};
use crate::python::runtime::run;
use crate::python::strings::text;
use crate::token::TokenId;
use crate::util::memory;

/// The ids between two indices, and what they became.
type Change<'py> = (usize, usize, Bound<'py, PyList>);

/// A text, the pinned ids behind it, and before these the id that they stood behind.
type PinnedPart<'py> = (Bound<'py, PyString>, Option<TokenId>, Bound<'py, PyList>);

/// Something that one thread at a time may use.
struct Exclusive<T>(Mutex<T>);

impl<T> Exclusive<T> {
    fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    /// Never waits: the thread that has it may need the GIL to go on.
    fn lock(&self) -> PyResult<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Ok(guard),
            // What failed has changed nothing.
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(
                "it is in use by another thread: expected calls one after another; give each thread its own, such as \
                 a fork of the session",
            )),
        }
    }
}

#[pymethods]
impl CoreBpe {
    /// Starts a session.
    #[pyo3(signature = (allowed_special, disallowed_special, /))]
    fn session(
        slf: &Bound<'_, Self>,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
    ) -> PyResult<CoreSession> {
        guarded(|| {
            let core = slf.get();
            let policy = core.policy(allowed_special, disallowed_special)?;
            let session = Session::new(Arc::clone(&core.encoder), policy);
            Ok(CoreSession::new(slf.clone().unbind(), session))
        })
    }

    /// Returns offsets in characters where a text can be cut, each at least `every` bytes behind the one before.
    #[pyo3(signature = (text, every, /))]
    fn split_points(&self, text: &Bound<'_, PyAny>, every: usize) -> PyResult<Vec<usize>> {
        guarded(|| {
            let (py, text) = (text.py(), self::text(text)?);
            run(py, text.len(), || -> Result<_, EncodeError> {
                let mut characters = CharCounter::new(text.as_bytes());
                let points = self.encoder.split_points(&text, every);
                let points = points.map(|point| {
                    checkpoint::pass()?;
                    Ok(characters.before(point))
                });
                memory::try_collect(points)
            })
        })
    }

    /// Encodes what follows a place where a text can be cut.
    #[pyo3(signature = (text, allowed_special, disallowed_special, /))]
    fn encode_further<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
    ) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let policy = self.policy(allowed_special, disallowed_special)?;
            let ids = self.ids_by(text, &policy, Encoder::encode_after_cut)?;
            self.interned.list(text.py(), &ids)
        })
    }

    /// Returns the index of the first id that encoding the text would not give.
    #[pyo3(signature = (tokens, is_finished, /))]
    fn first_drift(&self, tokens: &Bound<'_, PyAny>, is_finished: bool) -> PyResult<Option<usize>> {
        guarded(|| {
            let (py, ids) = (tokens.py(), TokenIds::from_py(tokens)?);
            let ids = ids.as_slice()?;
            run(py, ids.len() * BYTES_PER_ID, || {
                self.encoder.first_drift(ids, is_finished)
            })
        })
    }

    /// Returns the ids that encoding the text of some would give.
    #[pyo3(signature = (tokens, /))]
    fn canonicalize<'py>(&self, tokens: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let (py, ids) = (tokens.py(), TokenIds::from_py(tokens)?);
            let ids = ids.as_slice()?;
            let canonical = run(py, ids.len() * BYTES_PER_ID, || {
                let mut canonical = Vec::new();
                self.encoder.canonicalize(ids, &mut canonical)?;
                Ok::<_, CanonicalError>(canonical)
            })?;
            self.interned.list(py, &canonical)
        })
    }

    /// Starts a text that arrives in parts.
    #[pyo3(signature = (allowed_special, disallowed_special, /))]
    fn stream_encoder(
        slf: &Bound<'_, Self>,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
    ) -> PyResult<CoreStreamEncoder> {
        guarded(|| {
            let core = slf.get();
            let policy = core.policy(allowed_special, disallowed_special)?;
            let stream = StreamEncoder::new(Arc::clone(&core.encoder), policy);
            Ok(CoreStreamEncoder {
                core: slf.clone().unbind(),
                stream: Exclusive::new(stream),
            })
        })
    }
}

/// A cache of the ids that texts begin with.
#[pyclass(name = "CorePrefixCache", module = "bytemill._core", frozen)]
pub(in crate::python) struct CorePrefixCache(pub(super) PrefixCache);

#[pymethods]
impl CorePrefixCache {
    #[new]
    #[pyo3(signature = (max_bytes, min_text, /))]
    fn new(max_bytes: usize, min_text: usize) -> Self {
        Self(PrefixCache::new(max_bytes, min_text))
    }

    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        let done = py.detach(|| self.0.clear());
        done.then_some(()).ok_or_else(in_use)
    }

    /// Returns hits, misses, reused bytes, bytes and entries.
    fn stats(&self, py: Python<'_>) -> PyResult<(u64, u64, u64, usize, usize)> {
        let stats = py.detach(|| self.0.stats()).ok_or_else(in_use)?;
        Ok((
            stats.hits,
            stats.misses,
            stats.reused_bytes,
            stats.bytes,
            stats.entries,
        ))
    }
}

fn in_use() -> PyErr {
    PyRuntimeError::new_err(
        "the cache has been in use by a thread since the process was forked: create another one in this process",
    )
}

/// A session with its encoding.
#[pyclass(name = "CoreSession", module = "bytemill._core", frozen)]
pub(in crate::python) struct CoreSession {
    core: Py<CoreBpe>,
    session: Exclusive<Session>,
}

#[pymethods]
impl CoreSession {
    #[pyo3(signature = (text, /))]
    fn append<'py>(&self, text: &Bound<'py, PyAny>) -> PyResult<Change<'py>> {
        guarded(|| {
            let (py, text) = (text.py(), self::text(text)?);
            self.change(py, text.len(), |session| {
                let end = session.len();
                session.prepare(end..end, &text)
            })
        })
    }

    /// Replaces the characters between two.
    #[pyo3(signature = (start, end, text, /))]
    fn edit<'py>(
        &self,
        start: isize,
        end: isize,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<Change<'py>> {
        guarded(|| {
            let (py, text) = (text.py(), self::text(text)?);
            let size = text.len().saturating_add(end.abs_diff(start));
            self.change(py, size, |session| {
                let characters = session.characters();
                let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
                let range = range.filter(|&(start, end)| start <= end && end <= characters);
                let (start, end) = range.ok_or_else(|| {
                    PyValueError::new_err(format!(
                        "expected 0 <= start <= end <= {characters}, the characters of the text, got {start} and {end}"
                    ))
                })?;
                Ok::<_, PyErr>(session.prepare(session.byte_range(start..end), &text)?)
            })
        })
    }

    /// Appends ids as they are.
    #[pyo3(signature = (tokens, /))]
    fn append_ids<'py>(&self, tokens: &Bound<'py, PyAny>) -> PyResult<Change<'py>> {
        guarded(|| {
            let (py, ids) = (tokens.py(), TokenIds::from_py(tokens)?);
            let ids = ids.as_slice()?;
            self.change(py, ids.len() * BYTES_PER_ID, |session| {
                session.prepare_ids(ids)
            })
        })
    }

    /// Returns the index of the first id that encoding the text would not give.
    #[pyo3(signature = (/))]
    fn first_drift(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        guarded(|| {
            let session = self.session.lock()?;
            let session = &*session;
            run(py, session.len(), || session.first_drift())
        })
    }

    /// Appends ids as they are, as they stood behind another id.
    #[pyo3(signature = (before, tokens, /))]
    fn append_ids_behind<'py>(
        &self,
        before: Option<TokenId>,
        tokens: &Bound<'py, PyAny>,
    ) -> PyResult<Change<'py>> {
        guarded(|| {
            let (py, ids) = (tokens.py(), TokenIds::from_py(tokens)?);
            let ids = ids.as_slice()?;
            self.change(py, ids.len() * BYTES_PER_ID, |session| {
                session.prepare_ids_behind(before, ids)
            })
        })
    }

    /// Returns the texts between pinned ids, each with those behind it and the id that these stood behind.
    #[pyo3(signature = (/))]
    fn pinned<'py>(&self, py: Python<'py>) -> PyResult<Vec<PinnedPart<'py>>> {
        guarded(|| {
            let session = self.session.lock()?;
            let interned = &self.core.get().interned;
            let pinned = session.pinned();
            pinned
                .map(|(text, before, ids)| {
                    Ok((new_string(py, &text)?, before, interned.list(py, ids)?))
                })
                .collect()
        })
    }

    #[pyo3(signature = (text, /))]
    fn update<'py>(&self, text: &Bound<'py, PyAny>) -> PyResult<Change<'py>> {
        guarded(|| {
            let (py, text) = (text.py(), self::text(text)?);
            self.change(py, text.len(), |session| {
                let (range, new) = session.change_to(&text);
                session.prepare(range, new)
            })
        })
    }

    /// Returns how many ids there would be behind `append`.
    #[pyo3(signature = (text, /))]
    fn count_after(&self, text: &Bound<'_, PyAny>) -> PyResult<usize> {
        guarded(|| {
            let (py, text) = (text.py(), self::text(text)?);
            let session = self.session.lock()?;
            let session = &*session;
            run(py, text.len(), || session.count_after(&text))
        })
    }

    #[getter]
    fn count(&self) -> PyResult<usize> {
        Ok(self.session.lock()?.count())
    }

    /// Number of characters.
    #[getter]
    fn characters(&self) -> PyResult<usize> {
        guarded(|| Ok(self.session.lock()?.characters()))
    }

    /// Whether texts have places where they can be cut.
    #[getter]
    fn is_incremental(&self) -> bool {
        self.core.get().encoder.has_cuts()
    }

    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        guarded(|| {
            let session = self.session.lock()?;
            new_string(py, &session.text())
        })
    }

    #[pyo3(signature = (/))]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<TokenId>>> {
        guarded(|| arrays::immutable_ids(py, self.ids_from(0)?))
    }

    #[pyo3(signature = (start, /))]
    fn tolist<'py>(&self, py: Python<'py>, start: usize) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let ids = self.ids_from(start)?;
            self.core.get().interned.list(py, &ids)
        })
    }

    /// Makes another session of the same text.
    fn fork(&self, py: Python<'_>) -> PyResult<Self> {
        guarded(|| {
            let session = self.session.lock()?.clone();
            Ok(Self::new(self.core.clone_ref(py), session))
        })
    }
}

impl CoreSession {
    fn new(core: Py<CoreBpe>, session: Session) -> Self {
        let session = Exclusive::new(session);
        Self { core, session }
    }

    /// Changes the text. `size` is that of the work, in bytes.
    fn change<'py, E: Into<PyErr> + Send>(
        &self,
        py: Python<'py>,
        size: usize,
        prepare: impl FnOnce(&Session) -> Result<Edit, E> + Send,
    ) -> PyResult<Change<'py>> {
        let mut session = self.session.lock()?;
        let current = &*session;
        let edit = run(py, size, || prepare(current))?;
        let ids = self.core.get().interned.list(py, &edit.update.ids)?;
        // Nothing fails any more, or nothing is changed.
        let Update { start, stop, .. } = session.apply(edit);
        Ok((start, stop, ids))
    }

    fn ids_from(&self, start: usize) -> PyResult<Vec<TokenId>> {
        let session = self.session.lock()?;
        let mut ids = Vec::new();
        let count = session.count();
        session.push_ids(start.min(count)..count, &mut ids);
        Ok(ids)
    }
}

/// A text that arrives in parts, with its encoding.
#[pyclass(name = "CoreStreamEncoder", module = "bytemill._core", frozen)]
pub(in crate::python) struct CoreStreamEncoder {
    core: Py<CoreBpe>,
    stream: Exclusive<StreamEncoder>,
}

#[pymethods]
impl CoreStreamEncoder {
    #[pyo3(signature = (text, /))]
    fn push<'py>(&self, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let (py, text) = (text.py(), self::text(text)?);
            self.emit(py, text.len(), |stream| stream.step(&text, false))
        })
    }

    /// Takes the last part, and ends the text.
    #[pyo3(signature = (text, /))]
    fn flush<'py>(&self, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let (py, text) = (text.py(), self::text(text)?);
            let size = self.stream.lock()?.held().len() + text.len();
            self.emit(py, size, |stream| stream.step(&text, true))
        })
    }

    #[getter]
    fn count(&self) -> PyResult<usize> {
        Ok(self.stream.lock()?.count())
    }

    #[getter]
    fn held<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        guarded(|| {
            let stream = self.stream.lock()?;
            new_string(py, stream.held())
        })
    }
}

impl CoreStreamEncoder {
    fn emit<'py>(
        &self,
        py: Python<'py>,
        size: usize,
        step: impl FnOnce(&mut StreamEncoder) -> Result<Step<'_>, EncodeError> + Send,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut stream = self.stream.lock()?;
        let stream = &mut *stream;
        let step = run(py, size, || step(stream))?;
        let ids = self.core.get().interned.list(py, step.ids())?;
        step.confirm();
        Ok(ids)
    }
}
