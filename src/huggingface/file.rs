//! The whole file.

use std::collections::HashMap;

use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess};
use serde_json::Value;

use super::added::{self, Added};
use super::decoder::{self, DecoderStep};
use super::json::{At, FileError, LargeFields, Object, Place};
use super::model::{Model, ModelFields, ModelSeed};
use super::steps::{self, PreTokenizer};
use super::template::{self, Template};
use crate::normalize::chain::Step;
use crate::token::TokenId;
use crate::util::memory;

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
        let text = simdutf8::compat::from_utf8(contents)
            .map_err(|error| FileError::new("", format!("expected JSON in UTF-8: {error}")))?;
        let place = Place::default();
        let mut fields = Fields {
            place: &place,
            model: None,
        };
        let mut parser = serde_json::Deserializer::from_str(text);
        let components = Object(&mut fields)
            .deserialize(&mut parser)
            .and_then(|components| parser.end().map(|()| components))
            .map_err(|error| place.error(&error))?;
        let components = Value::Object(components);
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
        let model = Model::new(model)?;
        let normalizers = steps::normalizers(&root.get("normalizer")?)?;
        let pre_tokenizer = steps::pre_tokenizer(&root.get("pre_tokenizer")?)?;
        let decoder = decoder::read(&root.get("decoder")?)?;
        let template = template::read(&root.get("post_processor")?)?;
        let ids = model.vocabulary.iter().map(|(text, id)| (&**text, *id));
        let ids: HashMap<&str, TokenId> = memory::collect_table(ids);
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

/// The large fields of a file, and those that are left out.
struct Fields<'a, 'p> {
    place: &'p Place,
    model: Option<ModelFields<'a>>,
}

impl<'de> LargeFields<'de> for Fields<'de, '_> {
    fn read<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "model" => {
                let seed = ModelSeed(self.place);
                self.model = Some(self.place.at("model", || map.next_value_seed(seed))?);
                Ok(true)
            }
            "version" | "added_tokens" | "normalizer" | "pre_tokenizer" | "post_processor"
            | "decoder" => Ok(false),
            // They change no ids but where that is asked for.
            "truncation" | "padding" => map.next_value::<IgnoredAny>().map(|_| true),
            // The library does not load such a file.
            _ => Err(de::Error::custom(format_args!("unknown entry {key:?}"))),
        }
    }
}
