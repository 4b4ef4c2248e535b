//! `SentencePiece` model files.

use numpy::{PyArray1, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use super::error::guarded;
use crate::sentencepiece::{Draft, DraftPiece, Kind, Model, Setting, Spec, Type, Value};

/// A piece in Python: its text, score and type.
type PyPiece = (String, f32, i32);

/// A model file.
#[pyclass(name = "SentencePieceModel", module = "bytemill._core", frozen)]
pub(super) struct SentencePieceModel(pub(super) Model);

#[pymethods]
impl SentencePieceModel {
    #[new]
    fn new(data: &[u8]) -> PyResult<Self> {
        guarded(|| Ok(Self(Model::read(data.to_vec())?)))
    }

    #[staticmethod]
    #[pyo3(signature = (pieces, trainer_spec, normalizer_spec, denormalizer_spec = None))]
    fn build(
        pieces: Vec<PyPiece>,
        trainer_spec: &Bound<'_, PyDict>,
        normalizer_spec: &Bound<'_, PyDict>,
        denormalizer_spec: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut draft = Draft::default();
        change(
            &mut draft,
            Some(pieces),
            Some(trainer_spec),
            Some(normalizer_spec),
            denormalizer_spec,
        )?;
        guarded(|| Ok(Self(draft.build()?)))
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

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (Bound<'py, PyBytes>,)) {
        let bytes = PyBytes::new(slf.py(), slf.get().0.bytes());
        (slf.get_type().into_any(), (bytes,))
    }

    fn serialize<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.bytes())
    }

    #[getter]
    fn pieces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.0.pieces().map(|piece| piece.text))
    }

    #[getter]
    fn scores<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        let scores: Vec<f32> = self.0.pieces().map(|piece| piece.score).collect();
        scores.to_pyarray(py)
    }

    #[getter]
    fn types<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u8>> {
        let types: Vec<u8> = self.0.pieces().map(|piece| piece.kind as u8).collect();
        types.to_pyarray(py)
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
            match draft.pieces.get_mut(id) {
                Some(piece) => piece.set(&text, score, kind),
                None => draft.pieces.push(DraftPiece::new(&text, score, kind)),
            }
        }
    }
    let specs = [
        (&mut draft.trainer, trainer_spec),
        (&mut draft.normalizer, normalizer_spec),
        (&mut draft.denormalizer, denormalizer_spec),
    ];
    for (spec, changes) in specs {
        for (name, value) in changes.into_iter().flatten() {
            let name: String = name.extract()?;
            let setting = spec.schema().setting(&name)?;
            let values = values(setting, &value)?;
            spec.set(&name, values)?;
        }
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

/// All options of a message by name, those that are absent by their defaults.
fn options<'py>(py: Python<'py>, spec: &Spec) -> PyResult<Bound<'py, PyDict>> {
    let options = PyDict::new(py);
    for setting in spec.schema().settings {
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
