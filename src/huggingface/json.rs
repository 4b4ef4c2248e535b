//! Values of JSON with their paths, for messages.

use std::cell::Cell;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use thiserror::Error;

/// Why a file cannot be read, and where in it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}: {reason}", if .path.is_empty() { "the whole file" } else { .path })]
pub struct FileError {
    /// The keys and indices that lead to the value, such as `model.vocab`; empty for the whole file.
    pub path: String,
    /// The value that was expected, and the one that came instead.
    pub reason: String,
}

impl FileError {
    /// Creates an error.
    pub fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            reason: reason.into(),
        }
    }
}

/// The path of the large field that is being read, for messages; empty in between.
#[derive(Debug, Default)]
pub(super) struct Place(Cell<&'static str>);

impl Place {
    /// Reads a field; the place stays there if that fails.
    pub(super) fn at<T, E>(
        &self,
        path: &'static str,
        read: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let outside = self.0.replace(path);
        let value = read()?;
        self.0.set(outside);
        Ok(value)
    }

    /// Returns what a parser found wrong, with the place.
    pub(super) fn error(&self, error: &serde_json::Error) -> FileError {
        if error.is_data() && !self.0.get().is_empty() {
            FileError::new(self.0.get(), error.to_string())
        } else {
            FileError::new("", format!("expected JSON: {error}"))
        }
    }
}

/// Fields of an object that are too large to become values.
pub(super) trait LargeFields<'de> {
    /// Reads the next field, which has this key, and returns true; or returns false, and it becomes a value.
    fn read<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error>;
}

/// An object of which some fields are large: reads these, and returns the others.
pub(super) struct Object<'f, F>(pub(super) &'f mut F);

impl<'de, F: LargeFields<'de>> DeserializeSeed<'de> for Object<'_, F> {
    type Value = Map<String, Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, F: LargeFields<'de>> Visitor<'de> for Object<'_, F> {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut others = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if !self.0.read(&key, &mut map)? {
                let value = value_of(map.next_value()?);
                let value =
                    value.map_err(|reason| de::Error::custom(format_args!("{key}: {reason}")))?;
                others.insert(key, value);
            }
        }
        Ok(others)
    }
}

/// Values that a field may have, whatever its length, and bytes for each further one: an added token has twelve for each.
/// An object takes some hundred bytes of memory.
const MOST_VALUES: usize = 1 << 16;
const BYTES_PER_VALUE: usize = 8;

/// Parses a field, unless memory would be out of proportion to it.
fn value_of(field: &RawValue) -> Result<Value, String> {
    let json = field.get();
    // Each value but the first stands behind one of these.
    let values = json.bytes().filter(|byte| b",[{".contains(byte)).count();
    let most = MOST_VALUES + json.len() / BYTES_PER_VALUE;
    if values > most {
        return Err(format!(
            "expected at most {most} values in a field of {} bytes, got {values}",
            json.len()
        ));
    }
    // Without the place in the field: the place in the file, at the end of the field, is put behind the message.
    serde_json::from_str(json).map_err(|error| {
        let message = error.to_string();
        match message.rsplit_once(" at line ") {
            Some((reason, _)) => reason.to_owned(),
            None => message,
        }
    })
}

/// A value with its path; null where it is missing.
#[derive(Clone, Debug)]
pub(super) struct At<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> At<'a> {
    pub(super) fn new(value: &'a Value, path: impl Into<String>) -> Self {
        let path = path.into();
        Self { value, path }
    }

    /// Returns the error that refuses this value.
    pub(super) fn refuse(&self, reason: impl Into<String>) -> FileError {
        FileError::new(&*self.path, reason)
    }

    fn expect(&self, kind: &str) -> FileError {
        self.refuse(format!("expected {kind}, got {}", shown(self.value)))
    }

    pub(super) fn is_null(&self) -> bool {
        self.value.is_null()
    }

    /// Returns the entry of an object.
    pub(super) fn get(&self, key: &str) -> Result<Self, FileError> {
        let object = self
            .value
            .as_object()
            .ok_or_else(|| self.expect("an object"))?;
        let path = match &*self.path {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        };
        Ok(Self::new(object.get(key).unwrap_or(&Value::Null), path))
    }

    /// Returns the entry of an object; `None` where it is missing, and not where it is null, for fields that may be left out
    /// and not be null.
    pub(super) fn entry(&self, key: &str) -> Result<Option<Self>, FileError> {
        let entry = self.get(key)?;
        Ok(self.value.get(key).map(|_| entry))
    }

    /// Returns the key and the value of an object with one entry; `None` for other objects.
    pub(super) fn only_entry(&self) -> Result<Option<(&'a str, Self)>, FileError> {
        let object = self
            .value
            .as_object()
            .ok_or_else(|| self.expect("an object"))?;
        let key = object.keys().next().filter(|_| object.len() == 1);
        key.map(|key| Ok((key.as_str(), self.get(key)?)))
            .transpose()
    }

    /// Returns the elements of a list.
    pub(super) fn items(&self) -> Result<Vec<Self>, FileError> {
        let list = self.value.as_array().ok_or_else(|| self.expect("a list"))?;
        let item = |(index, value)| Self::new(value, format!("{}[{index}]", self.path));
        Ok(list.iter().enumerate().map(item).collect())
    }

    pub(super) fn text(&self) -> Result<&'a str, FileError> {
        self.value.as_str().ok_or_else(|| self.expect("a string"))
    }

    /// As [`text`](Self::text); `None` where there is none.
    pub(super) fn text_or_none(&self) -> Result<Option<String>, FileError> {
        if self.is_null() {
            return Ok(None);
        }
        self.text().map(|text| Some(text.to_owned()))
    }

    /// Returns the only character of a string.
    pub(super) fn character(&self) -> Result<char, FileError> {
        let mut characters = self.text()?.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) => Ok(character),
            _ => Err(self.refuse("expected one character")),
        }
    }

    pub(super) fn flag(&self) -> Result<bool, FileError> {
        self.value
            .as_bool()
            .ok_or_else(|| self.expect("true or false"))
    }

    /// As [`flag`](Self::flag); `default` where there is none.
    pub(super) fn flag_or(&self, default: bool) -> Result<bool, FileError> {
        if self.is_null() {
            Ok(default)
        } else {
            self.flag()
        }
    }

    /// Returns the flag of an entry, which may be missing and not be null: then it is `default`.
    pub(super) fn flag_of(&self, key: &str, default: bool) -> Result<bool, FileError> {
        self.entry(key)?.map_or(Ok(default), |flag| flag.flag())
    }

    /// Returns a number of at most 32 bits.
    pub(super) fn number(&self) -> Result<u32, FileError> {
        let number = self
            .value
            .as_u64()
            .and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| self.expect("a number from 0 to 4294967295"))
    }

    /// Returns a number of elements; one that no memory has room for stands for no limit.
    pub(super) fn size(&self) -> Result<usize, FileError> {
        let number = self.value.as_u64();
        let number = number.ok_or_else(|| self.expect("a number from 0 on"))?;
        Ok(usize::try_from(number).unwrap_or(usize::MAX))
    }

    pub(super) fn decimal(&self) -> Result<f64, FileError> {
        self.value.as_f64().ok_or_else(|| self.expect("a number"))
    }

    /// The type of a component.
    pub(super) fn kind(&self) -> Result<(Self, &'a str), FileError> {
        let kind = self.get("type")?;
        let name = kind.text()?;
        Ok((kind, name))
    }

    /// The steps of a component: those in `list` if it is a sequence, otherwise itself; of a sequence in a sequence too.
    pub(super) fn steps(&self, list: &str) -> Result<Vec<Self>, FileError> {
        if self.is_null() {
            return Ok(Vec::new());
        }
        if self.kind()?.1 != "Sequence" {
            return Ok(vec![self.clone()]);
        }
        let mut steps = Vec::new();
        for step in self.get(list)?.items()? {
            if step.is_null() {
                return Err(step.expect("a component"));
            }
            steps.extend(step.steps(list)?);
        }
        Ok(steps)
    }
}

/// Describes a value for a message: its kind, and the value itself if it is short.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    let kind = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(_) => return text,
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    if text.chars().count() <= 40 {
        format!("{kind} {text}")
    } else {
        kind.to_owned()
    }
}
