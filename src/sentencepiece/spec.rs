//! The options in a model file: of training, of normalizing texts and decoded texts.

use std::collections::BTreeMap;
use std::ops::Range;

use super::ModelError;
use super::wire::{Fields, Payload, write_bytes, write_fixed32, write_varint};

/// The value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number, or an enumeration's.
    Integer(i64),
    /// A truth value.
    Bool(bool),
    /// A fraction of 32 bits.
    Float(f32),
    /// Text, which protocol buffers do not check to be UTF-8, or bytes.
    Bytes(Vec<u8>),
}

/// The type of an option, with its default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Type {
    /// A number of 32 bits.
    Int32(i32),
    /// A number of 64 bits without sign, of which no file uses the topmost.
    Uint64(u64),
    /// One of the numbers from 1 to the first; the second is the default.
    Enum(i32, i32),
    /// A truth value.
    Bool(bool),
    /// A fraction of 32 bits.
    Float(f32),
    /// A text.
    String(&'static str),
    /// Bytes.
    Bytes,
    /// Any number of texts.
    Strings,
}

/// One option of a message.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its number in the file.
    pub number: u32,
    /// Its name.
    pub name: &'static str,
    /// Its type and default.
    pub kind: Type,
}

/// The options that a message may have, in ascending order of their numbers.
#[derive(Debug)]
pub struct Schema {
    /// The message's name.
    pub message: &'static str,
    /// Its options.
    pub settings: &'static [Setting],
}

const fn setting(number: u32, name: &'static str, kind: Type) -> Setting {
    Setting { number, name, kind }
}

/// How the model was trained.
pub static TRAINER: Schema = Schema {
    message: "trainer_spec",
    settings: &[
        setting(1, "input", Type::Strings),
        setting(2, "model_prefix", Type::String("")),
        setting(3, "model_type", Type::Enum(4, 1)),
        setting(4, "vocab_size", Type::Int32(8000)),
        setting(5, "accept_language", Type::Strings),
        setting(6, "self_test_sample_size", Type::Int32(0)),
        setting(7, "input_format", Type::String("")),
        setting(10, "character_coverage", Type::Float(0.9995)),
        setting(11, "input_sentence_size", Type::Uint64(0)),
        setting(12, "mining_sentence_size", Type::Int32(0)),
        setting(13, "training_sentence_size", Type::Int32(0)),
        setting(14, "seed_sentencepiece_size", Type::Int32(1_000_000)),
        setting(15, "shrinking_factor", Type::Float(0.75)),
        setting(16, "num_threads", Type::Int32(16)),
        setting(17, "num_sub_iterations", Type::Int32(2)),
        setting(18, "max_sentence_length", Type::Int32(4192)),
        setting(19, "shuffle_input_sentence", Type::Bool(true)),
        setting(20, "max_sentencepiece_length", Type::Int32(16)),
        setting(21, "split_by_unicode_script", Type::Bool(true)),
        setting(22, "split_by_whitespace", Type::Bool(true)),
        setting(23, "split_by_number", Type::Bool(true)),
        setting(24, "treat_whitespace_as_suffix", Type::Bool(false)),
        setting(25, "split_digits", Type::Bool(false)),
        setting(26, "allow_whitespace_only_pieces", Type::Bool(false)),
        setting(30, "control_symbols", Type::Strings),
        setting(31, "user_defined_symbols", Type::Strings),
        setting(32, "vocabulary_output_piece_score", Type::Bool(true)),
        setting(33, "hard_vocab_limit", Type::Bool(true)),
        setting(34, "use_all_vocab", Type::Bool(false)),
        setting(35, "byte_fallback", Type::Bool(false)),
        setting(36, "required_chars", Type::String("")),
        setting(40, "unk_id", Type::Int32(0)),
        setting(41, "bos_id", Type::Int32(1)),
        setting(42, "eos_id", Type::Int32(2)),
        setting(43, "pad_id", Type::Int32(-1)),
        setting(44, "unk_surface", Type::String(" \u{2047} ")),
        setting(45, "unk_piece", Type::String("<unk>")),
        setting(46, "bos_piece", Type::String("<s>")),
        setting(47, "eos_piece", Type::String("</s>")),
        setting(48, "pad_piece", Type::String("<pad>")),
        setting(49, "train_extremely_large_corpus", Type::Bool(false)),
        setting(50, "enable_differential_privacy", Type::Bool(false)),
        setting(51, "differential_privacy_noise_level", Type::Float(0.0)),
        setting(
            52,
            "differential_privacy_clipping_threshold",
            Type::Uint64(0),
        ),
        setting(53, "pretokenization_delimiter", Type::String("")),
        setting(54, "seed_sentencepieces_file", Type::String("")),
        setting(55, "auto_character_coverage", Type::Bool(false)),
    ],
};

const NORMALIZATION: &[Setting] = &[
    setting(1, "name", Type::String("")),
    setting(2, "precompiled_charsmap", Type::Bytes),
    setting(3, "add_dummy_prefix", Type::Bool(true)),
    setting(4, "remove_extra_whitespaces", Type::Bool(true)),
    setting(5, "escape_whitespaces", Type::Bool(true)),
    setting(6, "normalization_rule_tsv", Type::String("")),
];

/// How texts are normalized before encoding.
pub static NORMALIZER: Schema = Schema {
    message: "normalizer_spec",
    settings: NORMALIZATION,
};

/// How decoded texts are normalized.
pub static DENORMALIZER: Schema = Schema {
    message: "denormalizer_spec",
    settings: NORMALIZATION,
};

impl Schema {
    /// The option of this name.
    ///
    /// # Errors
    /// [`ModelError::NoSuchField`] if there is none.
    pub fn setting(&self, name: &str) -> Result<&'static Setting, ModelError> {
        let mut options = self.settings.iter();
        options
            .find(|option| option.name == name)
            .ok_or_else(|| ModelError::NoSuchField {
                message: self.message,
                field: name.to_owned(),
            })
    }
}

impl Setting {
    /// The value of a field's payload; `None` if it is none of this option, so that the field counts as unknown.
    fn read(&self, payload: Payload<'_>) -> Option<Value> {
        match (self.kind, payload) {
            (Type::Int32(_), Payload::Varint(number)) => Some(Value::Integer(int32(number).into())),
            (Type::Uint64(_), Payload::Varint(number)) => {
                Some(Value::Integer(number.cast_signed()))
            }
            (Type::Enum(last, _), Payload::Varint(number)) => {
                let number = int32(number);
                (1..=last)
                    .contains(&number)
                    .then(|| Value::Integer(number.into()))
            }
            (Type::Bool(_), Payload::Varint(number)) => Some(Value::Bool(number != 0)),
            (Type::Float(_), Payload::Fixed32(bits)) => {
                Some(Value::Float(f32::from_le_bytes(bits)))
            }
            (Type::String(_) | Type::Bytes | Type::Strings, Payload::Bytes(bytes)) => {
                Some(Value::Bytes(bytes.to_vec()))
            }
            _ => None,
        }
    }

    /// The value where the field is absent; `None` for any number of texts.
    fn default(&self) -> Option<Value> {
        Some(match self.kind {
            Type::Int32(number) | Type::Enum(_, number) => Value::Integer(number.into()),
            Type::Uint64(number) => Value::Integer(number.cast_signed()),
            Type::Bool(value) => Value::Bool(value),
            Type::Float(value) => Value::Float(value),
            Type::String(text) => Value::Bytes(text.into()),
            Type::Bytes => Value::Bytes(Vec::new()),
            Type::Strings => return None,
        })
    }

    fn check(&self, value: &Value) -> Result<(), ModelError> {
        let (fits, expected) = match (self.kind, value) {
            (Type::Int32(_), Value::Integer(number)) => {
                (i32::try_from(*number).is_ok(), "a whole number of 32 bits")
            }
            (Type::Uint64(_), Value::Integer(number)) => {
                (*number >= 0, "a whole number that is not negative")
            }
            (Type::Enum(last, _), Value::Integer(number)) => {
                ((1..=last.into()).contains(number), "a known number")
            }
            (Type::Int32(_) | Type::Uint64(_) | Type::Enum(..), _) => (false, "a whole number"),
            (Type::Bool(_), value) => (matches!(value, Value::Bool(_)), "a truth value"),
            (Type::Float(_), value) => (matches!(value, Value::Float(_)), "a fraction"),
            (Type::String(_) | Type::Bytes | Type::Strings, value) => {
                (matches!(value, Value::Bytes(_)), "a text")
            }
        };
        let field = self.name;
        fits.then_some(())
            .ok_or(ModelError::WrongValue { field, expected })
    }
}

/// The lower 32 bits, which are all that protocol buffers take of an int32 or an enumeration.
#[expect(clippy::cast_possible_truncation, reason = "the rule of the format")]
pub(super) fn int32(number: u64) -> i32 {
    (number as u32).cast_signed()
}

/// The options of one message that are present, and what of it is not understood.
#[derive(Clone, Debug)]
pub struct Spec {
    schema: &'static Schema,
    values: BTreeMap<u32, Vec<Value>>,
    unknown: Vec<u8>,
    /// The message as it was read, until it is changed.
    source: Option<Vec<u8>>,
}

impl Spec {
    /// A message without options.
    pub fn new(schema: &'static Schema) -> Self {
        Self {
            schema,
            values: BTreeMap::new(),
            unknown: Vec::new(),
            source: None,
        }
    }

    /// Reads one more part of a message that stands at `range` of `file`: parts add up, as the format has it.
    pub(super) fn read(&mut self, file: &[u8], range: Range<usize>) -> Result<(), ModelError> {
        let message = &file[range.clone()];
        for field in Fields::new(message) {
            let field = field.map_err(|offset| ModelError::Malformed {
                message: self.schema.message,
                offset: range.start + offset,
            })?;
            let options = self.schema.settings;
            let option = options
                .binary_search_by_key(&field.number, |option| option.number)
                .ok()
                .map(|at| &options[at]);
            match option.and_then(|option| Some((option, option.read(field.payload)?))) {
                Some((option, value)) => {
                    let values = self.values.entry(option.number).or_default();
                    if option.kind != Type::Strings {
                        values.clear();
                    }
                    values.push(value);
                }
                None => self.unknown.extend_from_slice(&message[field.range]),
            }
        }
        self.source.get_or_insert_default().extend(message);
        Ok(())
    }

    /// Reads a message from its bytes.
    ///
    /// # Errors
    /// [`ModelError::Malformed`] if they are none.
    pub fn from_bytes(schema: &'static Schema, message: &[u8]) -> Result<Self, ModelError> {
        let mut spec = Self::new(schema);
        spec.read(message, 0..message.len())?;
        Ok(spec)
    }

    /// Returns whether the file has the message, empty or not.
    pub(super) fn is_present(&self) -> bool {
        self.source.is_some() || !self.values.is_empty() || !self.unknown.is_empty()
    }

    /// Returns the options that the message may have.
    pub fn schema(&self) -> &'static Schema {
        self.schema
    }

    /// The values of an option that are present in the message: one, or any number if it is repeated.
    pub fn present(&self, option: &Setting) -> &[Value] {
        self.values.get(&option.number).map_or(&[], Vec::as_slice)
    }

    /// The values of an option: the default if it is absent, which is no value at all if it is repeated.
    pub fn values(&self, option: &Setting) -> Vec<Value> {
        match self.present(option) {
            [] => option.default().into_iter().collect(),
            present => present.to_vec(),
        }
    }

    /// Sets the values of an option, none to remove it. A message that does not change keeps its bytes.
    ///
    /// # Errors
    /// [`ModelError`] if there is no such option, or a value or their number does not fit it.
    pub fn set(&mut self, name: &str, values: Vec<Value>) -> Result<(), ModelError> {
        let option = self.schema.setting(name)?;
        values.iter().try_for_each(|value| option.check(value))?;
        if values.len() > 1 && option.kind != Type::Strings {
            return Err(ModelError::WrongValue {
                field: option.name,
                expected: "a single value",
            });
        }
        if values == self.present(option) {
            return Ok(());
        }
        self.source = None;
        if values.is_empty() {
            self.values.remove(&option.number);
        } else {
            self.values.insert(option.number, values);
        }
        Ok(())
    }

    /// The truth value of an option.
    ///
    /// # Panics
    /// If there is no such option, or it is of another type.
    pub fn flag(&self, name: &str) -> bool {
        match self.value(name) {
            Value::Bool(value) => value,
            other => panic!("{name} is no truth value, but {other:?}"),
        }
    }

    /// The number of an option.
    ///
    /// # Panics
    /// If there is no such option, or it is of another type.
    pub fn integer(&self, name: &str) -> i64 {
        match self.value(name) {
            Value::Integer(value) => value,
            other => panic!("{name} is no number, but {other:?}"),
        }
    }

    /// The fraction of an option.
    ///
    /// # Panics
    /// If there is no such option, or it is of another type.
    pub fn float(&self, name: &str) -> f32 {
        match self.value(name) {
            Value::Float(value) => value,
            other => panic!("{name} is no fraction, but {other:?}"),
        }
    }

    /// The bytes, or the text as bytes, of an option.
    ///
    /// # Panics
    /// If there is no such option, or it is of another type.
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        match self.value(name) {
            Value::Bytes(value) => value,
            other => panic!("{name} is no text, but {other:?}"),
        }
    }

    fn value(&self, name: &str) -> Value {
        let option = self
            .schema
            .setting(name)
            .expect("the name is in the schema");
        let value = self.values(option).pop();
        value.expect("an option that is not repeated has a default")
    }

    /// The message in its canonical form, known fields in ascending order; the bytes read, if nothing changed.
    pub fn to_bytes(&self) -> Vec<u8> {
        if let Some(source) = &self.source {
            return source.clone();
        }
        let mut out = Vec::new();
        for (number, values) in &self.values {
            for value in values {
                match value {
                    Value::Integer(value) => write_varint(*number, value.cast_unsigned(), &mut out),
                    Value::Bool(value) => write_varint(*number, (*value).into(), &mut out),
                    Value::Float(value) => write_fixed32(*number, value.to_le_bytes(), &mut out),
                    Value::Bytes(value) => write_bytes(*number, value, &mut out),
                }
            }
        }
        out.extend(&self.unknown);
        out
    }
}
