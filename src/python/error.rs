//! Maps errors of the library to Python exceptions, whose classes are defined in `bytemill.errors`.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::{
    PyKeyboardInterrupt, PyMemoryError, PyOSError, PyOverflowError, PyValueError,
};
use pyo3::prelude::*;

use crate::error::{
    CanonicalError, DecodeError, EncodeError, JsonLinesError, NormalizerError, OutOfMemory,
    PatternError, SessionError, TrainError, VocabularyError,
};
use crate::huggingface::FileError;
use crate::sentencepiece::ModelError;
use crate::util::memory::reserve;

mod classes {
    use pyo3::import_exception;

    import_exception!(bytemill.errors, DisallowedSpecialTokenError);
    import_exception!(bytemill.errors, InternalError);
    import_exception!(bytemill.errors, PatternError);
    import_exception!(bytemill.errors, UnknownTokenError);
    import_exception!(bytemill.errors, UnsupportedPatternError);
    import_exception!(bytemill.errors, VocabularyError);
}

pub(super) use classes::UnknownTokenError;

/// The exception of Python code that the library calls, such as a splitter, while it passes through the library.
#[derive(Debug)]
pub(super) struct Raised(pub(super) PyErr);

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Raised {}

impl From<OutOfMemory> for PyErr {
    fn from(error: OutOfMemory) -> Self {
        PyMemoryError::new_err(error.to_string())
    }
}

impl From<VocabularyError> for PyErr {
    fn from(error: VocabularyError) -> Self {
        classes::VocabularyError::new_err(error.to_string())
    }
}

impl From<ModelError> for PyErr {
    fn from(error: ModelError) -> Self {
        classes::VocabularyError::new_err(error.to_string())
    }
}

impl From<FileError> for PyErr {
    fn from(error: FileError) -> Self {
        classes::VocabularyError::new_err(error.to_string())
    }
}

impl From<NormalizerError> for PyErr {
    fn from(error: NormalizerError) -> Self {
        PyValueError::new_err(error.to_string())
    }
}

impl From<PatternError> for PyErr {
    fn from(error: PatternError) -> Self {
        match error {
            PatternError::Unsupported { .. } => {
                classes::UnsupportedPatternError::new_err(error.to_string())
            }
            PatternError::MatchesEmpty(_) => classes::PatternError::new_err(error.to_string()),
        }
    }
}

impl From<EncodeError> for PyErr {
    fn from(error: EncodeError) -> Self {
        match error {
            // Only if the exception of the signal handler was not recorded.
            EncodeError::Interrupted => PyKeyboardInterrupt::new_err(()),
            EncodeError::Pattern(_) | EncodeError::Normalizer(_) => {
                classes::PatternError::new_err(error.to_string())
            }
            EncodeError::Disallowed { token, start } => {
                classes::DisallowedSpecialTokenError::new_err((token, start))
            }
            EncodeError::NoRoom { .. } | EncodeError::NoUnknown(_) => {
                PyValueError::new_err(error.to_string())
            }
            EncodeError::OutOfMemory(error) => error.into(),
            EncodeError::PieceTooLong(_) => PyOverflowError::new_err(error.to_string()),
            EncodeError::Splitter(inner) => match inner.downcast::<Raised>() {
                Ok(raised) => raised.0,
                Err(other) => {
                    classes::PatternError::new_err(format!("the splitter failed: {other}"))
                }
            },
        }
    }
}

impl From<CanonicalError> for PyErr {
    fn from(error: CanonicalError) -> Self {
        match error {
            CanonicalError::Decode(error) => error.into(),
            CanonicalError::Encode(error) => error.into(),
        }
    }
}

impl From<SessionError> for PyErr {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Text(error) => error.into(),
            SessionError::Pinned { .. } => PyValueError::new_err(error.to_string()),
        }
    }
}

impl From<DecodeError> for PyErr {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::Interrupted => PyKeyboardInterrupt::new_err(()),
            DecodeError::UnknownToken(_) => UnknownTokenError::new_err(error.to_string()),
            DecodeError::OutOfMemory(error) => error.into(),
        }
    }
}

impl From<JsonLinesError> for PyErr {
    fn from(error: JsonLinesError) -> Self {
        match error {
            JsonLinesError::Interrupted => PyKeyboardInterrupt::new_err(()),
            JsonLinesError::Line { .. } => PyValueError::new_err(error.to_string()),
        }
    }
}

impl From<TrainError> for PyErr {
    fn from(error: TrainError) -> Self {
        match error {
            TrainError::Interrupted => PyKeyboardInterrupt::new_err(()),
            TrainError::Split(error) => error.into(),
            TrainError::TooManyOccurrences | TrainError::PieceTooLong(_) | TrainError::TooLarge => {
                PyOverflowError::new_err(error.to_string())
            }
            // Python chooses the subclass by the number.
            TrainError::TemporaryFile(ref inner) => match inner.raw_os_error() {
                Some(number) => PyOSError::new_err((number, error.to_string())),
                None => PyOSError::new_err(error.to_string()),
            },
            TrainError::MissingByte(_) | TrainError::Initial(_) => {
                classes::VocabularyError::new_err(error.to_string())
            }
            TrainError::NotSorted(_) | TrainError::NotCounted(_) => {
                PyValueError::new_err(error.to_string())
            }
            TrainError::Tables(inner) => match inner.downcast::<Raised>() {
                Ok(raised) => raised.0,
                Err(other) => PyOSError::new_err(other.to_string()),
            },
        }
    }
}

/// Runs `body`, if there is memory to begin with. A panic in it, always a bug of this library unless it carries
/// [`OutOfMemory`], becomes an `InternalError`, which `except Exception` catches.
pub(super) fn guarded<R>(body: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
    // Without a message, which would take memory.
    let shortage = |_: OutOfMemory| PyMemoryError::new_err(());
    reserve::fill().map_err(shortage)?;
    let result = catch_unwind(AssertUnwindSafe(body));
    // For the arguments of the next call, which are converted before it begins.
    let filled = reserve::fill();
    result.unwrap_or_else(|panic| {
        if let Some(&error) = panic.downcast_ref::<OutOfMemory>() {
            filled.map_err(shortage)?;
            return Err(error.into());
        }
        let reason = message(panic.as_ref());
        Err(classes::InternalError::new_err(format!(
            "bytemill {} failed internally: {reason}. This is a bug: please report it together with the call that caused it",
            env!("CARGO_PKG_VERSION"),
        )))
    })
}

fn message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
