//! The model: tokens, merges, and what is done with the rest.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::Value;
use serde_json::value::RawValue;

use super::json::{At, FileError};
use crate::token::TokenId;

/// A text of the file, which has it as it is unless something is escaped there.
pub type Text<'a> = Cow<'a, str>;

/// A model of byte pair encoding.
#[derive(Debug)]
pub struct Model<'a> {
    /// Each token's id, in the order of the file.
    pub vocabulary: Vec<(Text<'a>, TokenId)>,
    /// The texts of the two tokens of each merge.
    pub merges: Vec<(Text<'a>, Text<'a>)>,
    /// The token of what is none.
    pub unknown: Option<String>,
    /// Whether several unknown characters in a row are one token.
    pub fuse_unknown: bool,
    /// Whether unknown characters are spelt by the tokens of their bytes.
    pub byte_fallback: bool,
    /// Whether a piece that is a token is that token, whatever the merges.
    pub whole_pieces: bool,
    /// Stands before all but the first of the characters of a piece.
    pub prefix: String,
    /// Stands after the last character of a piece.
    pub suffix: String,
}

/// Tokens, as the file lists them.
struct Vocabulary<'a>(Vec<(Text<'a>, TokenId)>);

/// Merges, as the file lists them.
struct Merges<'a>(Vec<(Text<'a>, Text<'a>)>);

impl<'a> Model<'a> {
    /// Reads the model of a file.
    pub(super) fn read(file: &'a RawValue) -> Result<Self, FileError> {
        let fields: Fields<'a> = serde_json::from_str(file.get())
            .map_err(|error| FileError::new("model", error.to_string()))?;
        let options = Value::Object(fields.options);
        let options = At::new(&options, "model");
        let kind = options.get("type")?;
        if !kind.is_null() && kind.text()? != "BPE" {
            let name = kind.text()?;
            return Err(kind.refuse(format!(
                "expected BPE, got {name}: other models are not supported"
            )));
        }
        let text = |key: &str| {
            let value = options.get(key)?;
            if value.is_null() {
                Ok(None)
            } else {
                value.text().map(|text| Some(text.to_owned()))
            }
        };
        let dropout = options.get("dropout")?;
        if !dropout.is_null() && dropout.decimal()? > 0.0 {
            return Err(dropout.refuse("expected null or 0: with dropout, ids would be random"));
        }
        let missing = |key: &str| FileError::new(format!("model.{key}"), "it is missing");
        let parse = |key: &str, error: serde_json::Error| {
            FileError::new(format!("model.{key}"), error.to_string())
        };
        let vocabulary = fields.vocabulary.ok_or_else(|| missing("vocab"))?;
        let merges = fields.merges.ok_or_else(|| missing("merges"))?;
        let vocabulary: Vocabulary<'a> =
            serde_json::from_str(vocabulary.get()).map_err(|error| parse("vocab", error))?;
        let merges: Merges<'a> =
            serde_json::from_str(merges.get()).map_err(|error| parse("merges", error))?;
        Ok(Self {
            vocabulary: vocabulary.0,
            merges: merges.0,
            unknown: text("unk_token")?,
            fuse_unknown: options.get("fuse_unk")?.flag_or(false)?,
            byte_fallback: options.get("byte_fallback")?.flag_or(false)?,
            whole_pieces: options.get("ignore_merges")?.flag_or(false)?,
            prefix: text("continuing_subword_prefix")?.unwrap_or_default(),
            suffix: text("end_of_word_suffix")?.unwrap_or_default(),
        })
    }
}

/// The fields of a model: the large ones unread.
#[derive(Default)]
struct Fields<'a> {
    vocabulary: Option<&'a RawValue>,
    merges: Option<&'a RawValue>,
    options: serde_json::Map<String, Value>,
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
                        "vocab" => fields.vocabulary = Some(map.next_value()?),
                        "merges" => fields.merges = Some(map.next_value()?),
                        _ => {
                            fields.options.insert(key, map.next_value()?);
                        }
                    }
                }
                Ok(fields)
            }
        }

        deserializer.deserialize_map(FieldsVisitor)
    }
}

/// A string that is borrowed if it can be.
struct Borrowing<'a>(PhantomData<&'a str>);

impl<'de> DeserializeSeed<'de> for Borrowing<'de> {
    type Value = Text<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Text<'de>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Borrowing<'de> {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a string")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Vocabulary<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct VocabularyVisitor;

        impl<'de> Visitor<'de> for VocabularyVisitor {
            type Value = Vocabulary<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "an object of ids")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vocabulary<'de>, A::Error> {
                let mut tokens = Vec::new();
                while let Some(text) = map.next_key_seed(Borrowing(PhantomData))? {
                    tokens.push((text, map.next_value()?));
                }
                Ok(Vocabulary(tokens))
            }
        }

        deserializer.deserialize_map(VocabularyVisitor)
    }
}

impl<'de> Deserialize<'de> for Merges<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(MergesVisitor)
    }
}

struct MergesVisitor;

impl<'de> Visitor<'de> for MergesVisitor {
    type Value = Merges<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of merges")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Merges<'de>, A::Error> {
        let mut merges = Vec::new();
        let mut first_spelling = None;
        let mut index = 0;
        while let Some((merge, spelling)) = list.next_element_seed(Merge { index })? {
            if *first_spelling.get_or_insert(spelling) != spelling {
                return Err(de::Error::custom(format_args!(
                    "merge {index}: expected all merges as pairs, or all as strings"
                )));
            }
            merges.extend(merge);
            index += 1;
        }
        Ok(Merges(merges))
    }
}

/// How a merge is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Pair,
    String,
}

/// A merge, as a pair of strings or as a string with a space in it; none for a line with a version.
struct Merge {
    index: usize,
}

impl<'de> DeserializeSeed<'de> for Merge {
    type Value = (Option<(Text<'de>, Text<'de>)>, Spelling);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Merge {
    fn halves<'t, E: de::Error>(&self, text: &'t str) -> Result<Option<(&'t str, &'t str)>, E> {
        if text.starts_with("#version") {
            return Ok(None);
        }
        let halves = text.split_once(' ');
        let halves = halves.filter(|(_, right)| !right.contains(' '));
        halves.map(Some).ok_or_else(|| {
            E::custom(format_args!(
                "merge {}: expected two tokens with a space between them, got {text:?}",
                self.index
            ))
        })
    }
}

impl<'de> Visitor<'de> for Merge {
    type Value = (Option<(Text<'de>, Text<'de>)>, Spelling);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "merge {} as two strings, or a string with a space",
            self.index
        )
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        let halves = self.halves(text)?;
        Ok((
            halves.map(|(left, right)| (left.into(), right.into())),
            Spelling::String,
        ))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        let halves = self.halves(text)?;
        let owned = |half: &str| Cow::Owned(half.to_owned());
        Ok((
            halves.map(|(left, right)| (owned(left), owned(right))),
            Spelling::String,
        ))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<Self::Value, A::Error> {
        let too_few =
            || de::Error::custom(format_args!("merge {}: expected two strings", self.index));
        let left = pair
            .next_element_seed(Borrowing(PhantomData))?
            .ok_or_else(too_few)?;
        let right = pair
            .next_element_seed(Borrowing(PhantomData))?
            .ok_or_else(too_few)?;
        if pair.next_element::<IgnoredAny>()?.is_some() {
            return Err(too_few());
        }
        Ok((Some((left, right)), Spelling::Pair))
    }
}
