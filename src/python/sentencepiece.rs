//! `SentencePiece` model files.

use std::borrow::Cow;

use numpy::PyArray1;
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use super::encoding::CoreBpe;
use super::error::guarded;
use super::ids::arrays::array;
use super::objects::new_bytes;
use super::runtime::run;
use crate::normalize::MARK;
use crate::sentencepiece::{
    DENORMALIZER, Draft, DraftPiece, Kind, Model, NORMALIZER, Schema, Setting, Spec, TRAINER,
    TextPiece, Type, Value, write_text,
};
use crate::util::memory::{self, Growable, reserve};

/// A piece in Python: its text, score and type.
type PyPiece = (String, f32, i32);

/// A model file.
#[pyclass(name = "SentencePieceModel", module = "bytemill._core", frozen)]
pub(super) struct SentencePieceModel(pub(super) Model);

#[pymethods]
impl SentencePieceModel {
    #[new]
    fn new(data: &[u8]) -> PyResult<Self> {
        guarded(|| Ok(Self(Model::read(memory::copied(data))?)))
    }

    #[staticmethod]
    #[pyo3(signature = (pieces, trainer_spec, normalizer_spec, denormalizer_spec = None))]
    fn build(
        pieces: Vec<PyPiece>,
        trainer_spec: &Bound<'_, PyDict>,
        normalizer_spec: &Bound<'_, PyDict>,
        denormalizer_spec: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        guarded(|| {
            let mut draft = Draft::default();
            change(
                &mut draft,
                Some(pieces),
                Some(trainer_spec),
                Some(normalizer_spec),
                denormalizer_spec,
            )?;
            Ok(Self(draft.build()?))
        })
    }

    #[pyo3(signature = (*, pieces = None, trainer_spec = None, normalizer_spec = None, denormalizer_spec = None))]
    fn replace(
        &self,
        pieces: Option<Vec<PyPiece>>,
        trainer_spec: Option<&Bound<'_, PyDict>>,
        normalizer_spec: Option<&Bound<'_, PyDict>>,
        denormalizer_spec: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        guarded(|| {
            let mut draft = Draft::of(&self.0);
            change(
                &mut draft,
                pieces,
                trainer_spec,
                normalizer_spec,
                denormalizer_spec,
            )?;
            Ok(Self(draft.build()?))
        })
    }

    #[staticmethod]
    fn is_likely(head: &[u8]) -> bool {
        Model::is_likely(head)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = slf.get().serialize(slf.py())?;
        Ok((slf.get_type().into_any(), (bytes,)))
    }

    fn serialize<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        guarded(|| new_bytes(py, self.0.bytes()))
    }

    #[getter]
    fn pieces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.0.pieces().map(|piece| piece.text))
    }

    #[getter]
    fn control_pieces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let controls = PyDict::new(py);
        for (id, piece) in (0_u32..).zip(self.0.pieces()) {
            if piece.kind == Kind::Control {
                controls.set_item(piece.text, id)?;
            }
        }
        Ok(controls)
    }

    #[getter]
    fn scores<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        guarded(|| {
            let scores = self.0.pieces().map(|piece| piece.score);
            array(py, memory::collect(scores))
        })
    }

    #[getter]
    fn types<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u8>>> {
        guarded(|| {
            let types = self.0.pieces().map(|piece| piece.kind as u8);
            array(py, memory::collect(types))
        })
    }

    #[getter]
    fn trainer_spec<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        options(py, self.0.trainer())
    }

    #[getter]
    fn normalizer_spec<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        options(py, self.0.normalizer())
    }

    #[getter]
    fn denormalizer_spec<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        options(py, self.0.denormalizer())
    }

    fn present(&self, message: &str) -> PyResult<Vec<&'static str>> {
        let model = &self.0;
        let specs = [model.trainer(), model.normalizer(), model.denormalizer()];
        let spec = specs
            .into_iter()
            .find(|spec| spec.schema().message == message)
            .ok_or_else(|| {
                let known = specs.map(|spec| spec.schema().message).join(", ");
                PyValueError::new_err(format!("no message {message:?}: expected one of {known}"))
            })?;
        let settings = spec.schema().settings.iter();
        let present = settings.filter(|setting| !spec.present(setting).is_empty());
        Ok(present.map(|setting| setting.name).collect())
    }

    fn find(&self, piece: &str) -> Option<u32> {
        self.0.find(piece)
    }

    #[getter]
    fn unk_id(&self) -> Option<u32> {
        self.0.unk_id()
    }

    #[getter]
    fn bos_id(&self) -> Option<u32> {
        self.0.bos_id()
    }

    #[getter]
    fn eos_id(&self) -> Option<u32> {
        self.0.eos_id()
    }

    #[getter]
    fn pad_id(&self) -> Option<u32> {
        self.0.pad_id()
    }
}

/// Puts what is given into a draft.
fn change(
    draft: &mut Draft,
    pieces: Option<Vec<PyPiece>>,
    trainer_spec: Option<&Bound<'_, PyDict>>,
    normalizer_spec: Option<&Bound<'_, PyDict>>,
    denormalizer_spec: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    if let Some(pieces) = pieces {
        draft.pieces.truncate(pieces.len());
        for (id, (text, score, kind)) in pieces.into_iter().enumerate() {
            let kind = Kind::from_number(kind).ok_or_else(|| {
                PyValueError::new_err(format!(
                    "piece {id} has the type {kind}: expected 1 (NORMAL), 2 (UNKNOWN), 3 (CONTROL), \
                     4 (USER_DEFINED), 5 (UNUSED) or 6 (BYTE)"
                ))
            })?;
            if let Some(piece) = draft.pieces.get_mut(id) {
                piece.set(&text, score, kind);
            } else {
                let piece = DraftPiece::new(&text, score, kind);
                draft.pieces.with_room(1).push(piece);
            }
            reserve::pass();
        }
    }
    let specs = [
        (&mut draft.trainer, trainer_spec),
        (&mut draft.normalizer, normalizer_spec),
        (&mut draft.denormalizer, denormalizer_spec),
    ];
    for (spec, changes) in specs {
        if let Some(changes) = changes {
            set(spec, changes)?;
        }
    }
    Ok(())
}

/// Returns a message with options by name.
pub(super) fn spec_of(schema: &'static Schema, options: &Bound<'_, PyDict>) -> PyResult<Spec> {
    let mut spec = Spec::new(schema);
    set(&mut spec, options)?;
    Ok(spec)
}

/// Sets options by name.
fn set(spec: &mut Spec, changes: &Bound<'_, PyDict>) -> PyResult<()> {
    for (name, value) in changes {
        let name: String = name.extract()?;
        let setting = spec.schema().setting(&name)?;
        let values = values(setting, &value)?;
        spec.set(&name, values)?;
    }
    Ok(())
}

/// The values of an option in Python: `None` removes it.
fn values(setting: &Setting, value: &Bound<'_, PyAny>) -> PyResult<Vec<Value>> {
    if value.is_none() {
        return Ok(Vec::new());
    }
    if setting.kind == Type::Strings {
        let texts = value.try_iter()?;
        return texts.map(|text| Ok(Value::Bytes(bytes(&text?)?))).collect();
    }
    let value = match setting.kind {
        Type::Bool(_) => Value::Bool(value.cast::<PyBool>()?.is_true()),
        Type::Float(_) => Value::Float(value.extract()?),
        Type::String(_) | Type::Bytes | Type::Strings => Value::Bytes(bytes(value)?),
        Type::Int32(_) | Type::Uint64(_) | Type::Enum(..) => Value::Integer(value.extract()?),
    };
    Ok(vec![value])
}

fn bytes(value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    match value.cast::<PyString>() {
        Ok(text) => Ok(text.to_str()?.into()),
        Err(_) => Ok(value.cast::<PyBytes>()?.as_bytes().to_vec()),
    }
}

/// The options of a message by name.
fn options<'py>(py: Python<'py>, spec: &Spec) -> PyResult<Bound<'py, PyDict>> {
    named(py, spec, spec.schema().settings)
}

/// Those of the options of a message, by name; where they are absent, by their defaults.
fn named<'py, 'a>(
    py: Python<'py>,
    spec: &Spec,
    settings: impl IntoIterator<Item = &'a Setting>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = PyDict::new(py);
    for setting in settings {
        let mut values = spec
            .values(setting)
            .into_iter()
            .map(|value| value_to_python(py, setting, &value));
        if setting.kind == Type::Strings {
            let values: Vec<_> = values.collect();
            options.set_item(setting.name, PyTuple::new(py, values)?)?;
        } else {
            options.set_item(setting.name, values.next())?;
        }
    }
    Ok(options)
}

fn value_to_python<'py>(py: Python<'py>, setting: &Setting, value: &Value) -> Bound<'py, PyAny> {
    match value {
        Value::Integer(number) => PyInt::new(py, *number).into_any(),
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Float(value) => PyFloat::new(py, (*value).into()).into_any(),
        Value::Bytes(bytes) if setting.kind == Type::Bytes => PyBytes::new(py, bytes).into_any(),
        Value::Bytes(bytes) => PyString::new(py, &String::from_utf8_lossy(bytes)).into_any(),
    }
}

/// The options that a message may have, by name, with their defaults.
#[pyfunction]
#[pyo3(signature = (message, /))]
pub(super) fn sentencepiece_options<'py>(
    py: Python<'py>,
    message: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let schemas = [&TRAINER, &NORMALIZER, &DENORMALIZER];
    let schema = schemas.into_iter().find(|schema| schema.message == message);
    let schema = schema.ok_or_else(|| {
        let known = schemas.map(|schema| schema.message).join(", ");
        PyValueError::new_err(format!("no message {message:?}: expected one of {known}"))
    })?;
    options(py, &Spec::new(schema))
}

/// The options that a normalizer sets.
#[pyfunction]
#[pyo3(signature = (data, /, *, in_model))]
pub(super) fn read_normalizer_spec<'py>(
    py: Python<'py>,
    data: &[u8],
    in_model: bool,
) -> PyResult<Bound<'py, PyDict>> {
    guarded(|| {
        let spec = if in_model {
            Model::normalizer_in(data)?
        } else {
            Spec::from_bytes(&NORMALIZER, data)?
        };
        let settings = spec.schema().settings.iter();
        named(
            py,
            &spec,
            settings.filter(|setting| !spec.present(setting).is_empty()),
        )
    })
}

/// The bytes of a normalizer's options, alone or as all that there is of a model.
#[pyfunction]
#[pyo3(signature = (options, /, *, in_model))]
pub(super) fn write_normalizer_spec<'py>(
    options: &Bound<'py, PyDict>,
    in_model: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    guarded(|| {
        let mut draft = Draft::default();
        set(&mut draft.normalizer, options)?;
        let bytes = if in_model {
            draft.to_bytes()
        } else {
            draft.normalizer.to_bytes()
        };
        new_bytes(options.py(), &bytes)
    })
}

/// The pieces of an encoded text, and where each starts and ends in it.
///
/// The piece of unknown text is that text, as it stands in pieces. The last of the bytes of a character stands for it in
/// the normalized text: the others have no surface.
struct EncodedPieces<'m> {
    ids: Vec<u32>,
    pieces: Vec<Cow<'m, [u8]>>,
    has_surface: Vec<bool>,
    spans: Vec<(usize, usize)>,
}

impl<'m> EncodedPieces<'m> {
    /// Encodes a text, which need not be UTF-8, by a model and its encoder.
    fn of(core: &Bound<'_, CoreBpe>, model: &'m Model, text: &[u8]) -> PyResult<Self> {
        let encoder = &core.get().encoder;
        let rules = encoder.sentencepiece().ok_or_else(|| {
            PyValueError::new_err("expected the encoder of a SentencePiece model")
        })?;
        let parts = run(core.py(), text.len(), || encoder.encode_parts(rules, text))?;
        let escapes = model.normalizer().flag("escape_whitespaces");
        let (mut pieces, mut has_surface) = (Vec::new(), Vec::new());
        let mut start = 0;
        for (&id, &end) in parts.spans.ids.iter().zip(&parts.ends) {
            let piece = model
                .piece(id)
                .ok_or_else(|| PyValueError::new_err("expected the model of this encoder"))?;
            let normalized = &parts.normalized[start..end];
            pieces.push(match piece.kind {
                Kind::Unknown if escapes => with_marks(normalized).into(),
                Kind::Unknown => normalized.to_vec().into(),
                _ => piece.text.as_bytes().into(),
            });
            has_surface.push(start < end || piece.kind != Kind::Byte);
            start = end;
        }
        let starts = parts.spans.starts.into_iter();
        Ok(Self {
            ids: parts.spans.ids,
            pieces,
            has_surface,
            spans: starts.zip(parts.spans.ends).collect(),
        })
    }
}

/// Returns normalized text with marks for its spaces.
fn with_marks(text: &[u8]) -> Vec<u8> {
    let parts: Vec<&[u8]> = text.split(|&byte| byte == b' ').collect();
    parts.join(MARK)
}

/// Ids, pieces, and where each starts and ends in bytes.
type PyEncodedPieces<'py> = (Vec<u32>, Vec<Bound<'py, PyBytes>>, Vec<(usize, usize)>);

/// Encodes a text to ids, pieces and offsets.
#[pyfunction]
#[pyo3(signature = (core, model, text, /))]
pub(super) fn encode_pieces<'py>(
    core: &Bound<'py, CoreBpe>,
    model: &Bound<'py, SentencePieceModel>,
    text: &[u8],
) -> PyResult<PyEncodedPieces<'py>> {
    guarded(|| {
        let encoded = EncodedPieces::of(core, &model.get().0, text)?;
        let pieces = encoded.pieces.iter();
        let pieces = pieces.map(|piece| new_bytes(core.py(), piece));
        let pieces = memory::try_collect::<_, PyErr>(pieces)?;
        Ok((encoded.ids, pieces, encoded.spans))
    })
}

/// Encodes a text to the bytes of a message.
#[pyfunction]
#[pyo3(signature = (core, model, text, /))]
pub(super) fn encode_message<'py>(
    core: &Bound<'py, CoreBpe>,
    model: &Bound<'py, SentencePieceModel>,
    text: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    guarded(|| {
        let encoded = EncodedPieces::of(core, &model.get().0, text)?;
        let offset = |offset: usize| {
            u32::try_from(offset).map_err(|_| {
                PyOverflowError::new_err(
                    "expected a text of less than 4 GiB, as offsets in messages are",
                )
            })
        };
        let mut pieces = memory::vec_with_capacity(encoded.ids.len());
        for (index, &(begin, end)) in encoded.spans.iter().enumerate() {
            pieces.push(TextPiece {
                piece: &encoded.pieces[index],
                id: encoded.ids[index],
                surface: encoded.has_surface[index].then(|| &text[begin..end]),
                begin: offset(begin)?,
                end: offset(end)?,
            });
        }
        new_bytes(core.py(), &write_text(text, pieces))
    })
}

/// A part of a text in Python: id, piece, surface, begin and end.
type PyPart<'a> = (u32, &'a [u8], Option<&'a [u8]>, u32, u32);

/// The bytes of a message with the parts of a text.
#[pyfunction]
#[pyo3(signature = (text, parts, /))]
pub(super) fn write_sentencepiece_text<'py>(
    text: &[u8],
    parts: &Bound<'py, PyList>,
) -> PyResult<Bound<'py, PyBytes>> {
    guarded(|| {
        let py = parts.py();
        let parts = memory::collect(parts.iter());
        let parts = parts.iter().map(PyAnyMethods::extract);
        let parts = memory::try_collect::<PyPart<'_>, PyErr>(parts)?;
        let pieces = parts
            .iter()
            .map(|&(id, piece, surface, begin, end)| TextPiece {
                piece,
                id,
                surface,
                begin,
                end,
            });
        new_bytes(py, &write_text(text, pieces))
    })
}
