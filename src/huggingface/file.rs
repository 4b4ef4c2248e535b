//! The whole file.

use std::collections::HashMap;
use std::fmt::Write;

use serde::de::{self, DeserializeSeed, MapAccess};
use serde_json::Value;

use super::added_tokens::{Added, AddedIds, read_added};
use super::decoder::{DecoderStep, read_decoder};
use super::json::{At, FileError, LargeFields, Object, Place};
use super::model::{Decimals, Model, ModelFields, ModelSeed};
use super::normalizer::read_normalizers;
use super::pre_tokenizer::{PreTokenizer, read_pre_tokenizer};
use super::template::{Template, read_template};
use crate::error::VocabularyError;
use crate::merge::agreement::listed_or_refused;
use crate::normalize::chain::Step;
use crate::token::{Pair, TokenId};
use crate::util::memory::{self, Growable};
use crate::vocabulary::{Vocabulary, byte_alphabet};

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
        Self::with_ids(contents, AddedIds::Numbered)
    }

    /// As [`read`](Self::read), with these ids of added tokens. Where they are listed, the file is that of a tokenizer in
    /// use, whose scores are the nearest doubles of their decimals.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    ///
    /// # Complexity
    /// O(bytes).
    pub fn with_ids(contents: &'a [u8], added_ids: AddedIds) -> Result<Self, FileError> {
        let text = simdutf8::compat::from_utf8(contents)
            .map_err(|error| FileError::new("", format!("expected JSON in UTF-8: {error}")))?;
        let place = Place::default();
        let mut fields = Fields {
            place: &place,
            decimals: match added_ids {
                AddedIds::Numbered => Decimals::OfFile,
                AddedIds::Listed => Decimals::Nearest,
            },
            model: None,
        };
        let mut parser = serde_json::Deserializer::from_str(text);
        let components = Object(&mut fields)
            .deserialize(&mut parser)
            .and_then(|components| parser.end().map(|()| components))
            .map_err(|error| place.error(&error))?;
        let components = Value::Object(components);
        let root = At::new(&components, "");
        if let Some(version) = root.entry("version")? {
            let found = version.text()?;
            if found != "1.0" {
                return Err(version.refuse(format!("expected \"1.0\", got {found:?}")));
            }
        }
        // The model first: with another one, everything else differs too.
        let model = fields
            .model
            .ok_or_else(|| FileError::new("model", "it is missing"))?;
        let model = Model::new(model)?;
        let normalizers = read_normalizers(&root.get("normalizer")?)?;
        let pre_tokenizer = read_pre_tokenizer(&root.get("pre_tokenizer")?)?;
        let decoder = read_decoder(&root.get("decoder")?)?;
        let template = read_template(&root.get("post_processor")?)?;
        let ids = model.vocabulary.iter().map(|(text, id)| (&**text, *id));
        let ids: HashMap<&str, TokenId> = memory::collect_table(ids);
        let known = (&ids, model.vocabulary.len());
        let added = read_added(&root.get("added_tokens")?, known, added_ids)?;
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

/// Reads the JSON of a normalizer as its steps.
///
/// # Errors
/// As [`TokenizerFile::read`].
///
/// # Complexity
/// O(bytes).
pub fn read_normalizer(contents: &[u8]) -> Result<Vec<Step>, FileError> {
    let value: Value = serde_json::from_slice(contents)
        .map_err(|error| FileError::new("normalizer", error.to_string()))?;
    read_normalizers(&At::new(&value, "normalizer"))
}

/// The large fields of a file, and those that are left out.
struct Fields<'a, 'p> {
    place: &'p Place,
    decimals: Decimals,
    model: Option<ModelFields<'a>>,
}

impl<'de> LargeFields<'de> for Fields<'de, '_> {
    fn read<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "model" => {
                let (place, decimals) = (self.place, self.decimals);
                let seed = ModelSeed { place, decimals };
                self.model = Some(self.place.at("model", || map.next_value_seed(seed))?);
                Ok(true)
            }
            // Truncation and padding change no IDs unless that is asked for. They are read all the same, as the library
            // refuses deep ones.
            "version" | "added_tokens" | "normalizer" | "pre_tokenizer" | "post_processor"
            | "decoder" | "truncation" | "padding" => Ok(false),
            // The library does not load such a file.
            _ => Err(de::Error::custom(format_args!("unknown entry {key:?}"))),
        }
    }
}

// Tokens and merges as entries of a `tokenizer.json`, spelled as Python's `json` spells them.

/// Returns the entries `vocab` and `merges` of a model of a vocabulary that merges bytes, and whether whole pieces have to
/// be looked up, as there are tokens that no merges make.
///
/// `others` are further tokens of the file, as they are spelled there, with ids that the vocabulary does not have.
///
/// # Errors
/// As [`listed_or_refused`].
///
/// # Complexity
/// O(total bytes) merges.
pub fn model_entries(
    vocabulary: &Vocabulary,
    others: &[(String, TokenId)],
) -> Result<(String, bool), VocabularyError> {
    let merges = listed_or_refused(vocabulary)?;
    let mut tokens: Vec<(TokenId, Option<&str>)> =
        memory::collect(vocabulary.ids().map(|id| (id, None)));
    memory::extend(
        &mut tokens,
        others.iter().map(|(text, id)| (*id, Some(text.as_str()))),
    );
    tokens.sort_unstable();
    let has_whole = merges.len() < vocabulary.lengths().filter(|&length| length > 1).count();
    let spelled = |json: &mut String, id| {
        json.push('"');
        for &byte in vocabulary.bytes(id).unwrap_or_default() {
            if matches!(byte, b'"' | b'\\') {
                json.push('\\');
            }
            json.push(byte_alphabet::CHARACTERS[usize::from(byte)]);
        }
        json.push('"');
    };
    let mut json = String::from("\"vocab\": {");
    let (mut entry, mut separator) = (String::new(), "");
    for (id, text) in tokens {
        entry += separator;
        match text {
            Some(text) => entry += &serde_json::Value::from(text).to_string(),
            None => spelled(&mut entry, id),
        }
        write!(entry, ": {id}").expect("a string takes everything");
        move_to(&mut json, &mut entry);
        separator = ", ";
    }
    json += "}, \"merges\": [";
    separator = "";
    for (_, Pair { left, right }) in merges {
        entry += separator;
        entry.push('[');
        spelled(&mut entry, left);
        entry += ", ";
        spelled(&mut entry, right);
        entry.push(']');
        move_to(&mut json, &mut entry);
        separator = ", ";
    }
    json.push(']');
    Ok((json, has_whole))
}

/// Appends an entry, which is then empty; unwinds with [`OutOfMemory`](crate::error::OutOfMemory).
fn move_to(json: &mut String, entry: &mut String) {
    json.with_room(entry.len()).push_str(entry);
    entry.clear();
}

#[cfg(test)]
mod write_tests {
    use super::*;

    #[test]
    fn tokens_are_in_the_order_of_ids() -> Result<(), VocabularyError> {
        let mut ranks: Vec<(Vec<u8>, TokenId)> =
            (0..=u8::MAX).map(|byte| vec![byte]).zip(10..).collect();
        ranks.push((b"\"\\".to_vec(), 300));
        ranks.push((b"\"\\ ".to_vec(), 302));
        let vocabulary = Vocabulary::from_ranks(ranks)?;
        let others = [("<\n\">", 301), ("<s>", 3)].map(|(text, id)| (text.to_owned(), id));
        let (json, has_whole) = model_entries(&vocabulary, &others)?;
        assert!(!has_whole);
        assert!(
            json.starts_with(r#""vocab": {"<s>": 3, "Ā": 10, "ā": 11, "#),
            "{json}"
        );
        let end =
            r#""\"\\": 300, "<\n\">": 301, "\"\\Ġ": 302}, "merges": [["\"", "\\"], ["\"\\", "Ġ"]]"#;
        assert!(json.ends_with(end), "{json}");
        Ok(())
    }
}
