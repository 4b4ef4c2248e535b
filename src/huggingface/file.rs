//! The whole file.

use std::collections::HashMap;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::added::{self, Added};
use super::decoder::{self, DecoderStep};
use super::json::{At, FileError};
use super::model::Model;
use super::steps::{self, PreTokenizer};
use super::template::{self, Template};
use crate::normalize::chain::Step;
use crate::split::chain::step::Step as Cut;
use crate::token::TokenId;

/// The contents of a `tokenizer.json`.
#[derive(Debug)]
pub struct TokenizerFile<'a> {
    /// Tokens and merges.
    pub model: Model<'a>,
    /// The added tokens, no content twice.
    pub added: Vec<Added>,
    /// The steps of the normalizer.
    pub normalizers: Vec<Step>,
    /// How text is cut.
    pub pre_tokenizer: PreTokenizer,
    /// The steps of the decoder, if there is one.
    pub decoder: Option<Vec<DecoderStep>>,
    /// The special tokens around a text.
    pub template: Template,
}

impl<'a> TokenizerFile<'a> {
    /// Reads a file.
    ///
    /// # Errors
    /// [`FileError`] if it is malformed, or does something that is not supported.
    ///
    /// # Complexity
    /// O(bytes).
    pub fn read(contents: &'a [u8]) -> Result<Self, FileError> {
        let text = std::str::from_utf8(contents)
            .map_err(|error| FileError::new("", format!("expected JSON in UTF-8: {error}")))?;
        let fields: Fields<'a> = serde_json::from_str(text)
            .map_err(|error| FileError::new("", format!("expected JSON: {error}")))?;
        let components = Value::Object(fields.components);
        let root = At::new(&components, "");
        let version = root.get("version")?;
        if !version.is_null() && version.text()? != "1.0" {
            let found = version.text()?;
            return Err(version.refuse(format!("expected \"1.0\", got {found:?}")));
        }
        // The model first: with another one, everything else differs too.
        let model = fields
            .model
            .ok_or_else(|| FileError::new("model", "it is missing"))?;
        let model = Model::read(model)?;
        let normalizers = steps::normalizers(&root.get("normalizer")?)?;
        let pre_tokenizer = steps::pre_tokenizer(&root.get("pre_tokenizer")?)?;
        let decoder = decoder::read(&root.get("decoder")?)?;
        let template = template::read(&root.get("post_processor")?)?;
        let ids: HashMap<&str, TokenId> = model
            .vocabulary
            .iter()
            .map(|(text, id)| (&**text, *id))
            .collect();
        let added = added::read(&root.get("added_tokens")?, &ids)?;
        Ok(Self {
            model,
            added,
            normalizers,
            pre_tokenizer,
            decoder,
            template,
        })
    }
}

impl TokenizerFile<'_> {
    /// Whether merging by rank may give the same ids, as far as the parts besides the model tell.
    pub fn may_have_ranks(&self) -> bool {
        let PreTokenizer {
            steps, adds_space, ..
        } = &self.pre_tokenizer;
        let is_plain =
            |token: &Added| token.special && !token.lstrip && !token.rstrip && !token.single_word;
        self.normalizers.is_empty()
            && !adds_space
            && matches!(steps[..], [Cut::Gpt2 | Cut::Split { .. }, Cut::ByteLevel])
            && self.decoder.as_deref() == Some(&[DecoderStep::ByteLevel])
            && self.added.iter().all(is_plain)
    }
}

/// The fields of a file: the model unread.
#[derive(Default)]
struct Fields<'a> {
    model: Option<&'a RawValue>,
    components: serde_json::Map<String, Value>,
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;

        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Fields::default();
                while let Some(key) = map.next_key::<String>()? {
                    match &*key {
                        "model" => fields.model = Some(map.next_value()?),
                        "version" | "added_tokens" | "normalizer" | "pre_tokenizer"
                        | "post_processor" | "decoder" => {
                            fields.components.insert(key, map.next_value()?);
                        }
                        // They change no ids but where that is asked for.
                        "truncation" | "padding" => {
                            map.next_value::<IgnoredAny>()?;
                        }
                        // The library does not load such a file.
                        _ => {
                            return Err(de::Error::custom(format_args!("unknown entry {key:?}")));
                        }
                    }
                }
                Ok(fields)
            }
        }

        deserializer.deserialize_map(FieldsVisitor)
    }
}
