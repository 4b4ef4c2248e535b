//! The model: tokens, merges, and what is done with the rest.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::Value;
use serde_json::value::RawValue;

use super::json::{At, FileError, LargeFields, Object, Place};
use crate::token::TokenId;
use crate::util::memory::{self, Growable, reserve};
use crate::vocabulary::words::Parts;

/// A text of the file, which has it as it is unless something is escaped there.
pub type Text<'a> = Cow<'a, str>;

/// The model of a file.
#[derive(Debug)]
pub struct Model<'a> {
    /// Each token's id, in the order of the file.
    pub vocabulary: Vec<(Text<'a>, TokenId)>,
    /// The token of what is none.
    pub unknown: Option<String>,
    /// How pieces become tokens.
    pub kind: Kind<'a>,
}

/// How pieces become tokens.
#[derive(Debug)]
pub enum Kind<'a> {
    /// By byte pair encoding.
    Merges(Merging<'a>),
    /// As words and their parts, WordPiece; or as words, WordLevel.
    Words(Parts),
    /// As tokens whose scores have the greatest sum.
    Unigram(Scores),
}

/// Unigram.
#[derive(Debug)]
pub struct Scores {
    /// The score of each id.
    pub scores: Vec<f64>,
    /// The unknown token.
    pub unknown_id: Option<TokenId>,
    /// Whether unknown text is spelled by the tokens of its bytes.
    pub byte_fallback: bool,
}

/// How scores are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decimals {
    /// As the library reads those of a file: about a quarter of them are the double beside the nearest one.
    OfFile,
    /// As the nearest double: a tokenizer in use is written with the shortest decimals of those that it has.
    Nearest,
}

/// Byte pair encoding.
#[derive(Debug)]
pub struct Merging<'a> {
    /// The texts of the two tokens of each merge.
    pub merges: Vec<(Text<'a>, Text<'a>)>,
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
enum Vocabulary<'a> {
    Ids(Vec<(Text<'a>, TokenId)>),
    /// In the order of their ids, with scores.
    Scores(Vec<(Text<'a>, f64)>),
}

/// Merges, as the file lists them.
struct Merges<'a>(Vec<(Text<'a>, Text<'a>)>);

impl<'a> Model<'a> {
    /// Checks the model of a file.
    pub(super) fn new(fields: ModelFields<'a>) -> Result<Self, FileError> {
        let ModelFields {
            vocabulary,
            merges,
            options,
        } = fields;
        let options = Value::Object(options);
        let options = At::new(&options, "model");
        let kind = options.get("type")?;
        let name = match options.entry("type")? {
            Some(kind) => kind.text()?,
            None => type_by_fields(vocabulary.as_ref(), merges.is_some(), &options)?,
        };
        let is_known = matches!(name, "BPE" | "Unigram" | "WordPiece" | "WordLevel");
        if !is_known {
            return Err(kind.refuse(format!(
                "expected BPE, Unigram, WordPiece or WordLevel, got {name}: use the package tokenizers for other models"
            )));
        }
        let missing = |key: &str| FileError::new(format!("model.{key}"), "it is missing");
        let vocabulary = vocabulary.ok_or_else(|| missing("vocab"))?;
        let (vocabulary, scores) = match (vocabulary, name) {
            (Vocabulary::Scores(list), "Unigram") => numbered(list)?,
            (Vocabulary::Ids(vocabulary), name) if name != "Unigram" => (vocabulary, Vec::new()),
            (_, name) => {
                let reason = if name == "Unigram" {
                    "invalid type: map, expected a list of tokens with scores"
                } else {
                    "invalid type: sequence, expected an object of ids"
                };
                return Err(FileError::new("model.vocab", reason));
            }
        };
        let (unknown, kind) = match name {
            "BPE" => {
                let merges = merges.ok_or_else(|| missing("merges"))?;
                let kind = Kind::Merges(Merging::new(merges, &options)?);
                (options.get("unk_token")?.text_or_none()?, kind)
            }
            "Unigram" => {
                let field = options.get("unk_id")?;
                let unknown = if field.is_null() {
                    None
                } else {
                    Some(field.size()?)
                };
                let text = match unknown.map(|id| vocabulary.get(id)) {
                    Some(None) => {
                        let count = vocabulary.len();
                        return Err(field.refuse(format!(
                            "expected an id below {count}, the number of tokens"
                        )));
                    }
                    Some(Some((text, _))) => Some(text.to_string()),
                    None => None,
                };
                let scores = Scores {
                    scores,
                    unknown_id: unknown.and_then(|id| TokenId::try_from(id).ok()),
                    byte_fallback: options.flag_of("byte_fallback", false)?,
                };
                (text, Kind::Unigram(scores))
            }
            "WordPiece" => {
                let prefix = options.get("continuing_subword_prefix")?.text()?;
                let parts = Parts::Several {
                    prefix: prefix.as_bytes().to_vec(),
                    longest: options.get("max_input_chars_per_word")?.size()?,
                };
                let unknown = options.get("unk_token")?.text()?;
                (Some(unknown.to_owned()), Kind::Words(parts))
            }
            _ => {
                let unknown = options.get("unk_token")?.text()?;
                (Some(unknown.to_owned()), Kind::Words(Parts::Whole))
            }
        };
        Ok(Self {
            vocabulary,
            unknown,
            kind,
        })
    }

    /// Byte pair encoding; `None` for other models.
    pub fn merging(&self) -> Option<&Merging<'a>> {
        match &self.kind {
            Kind::Merges(merging) => Some(merging),
            Kind::Words(_) | Kind::Unigram(_) => None,
        }
    }
}

/// Tokens with their ids, and the scores of these.
type Numbered<'a> = (Vec<(Text<'a>, TokenId)>, Vec<f64>);

fn numbered(list: Vec<(Text<'_>, f64)>) -> Result<Numbered<'_>, FileError> {
    if TokenId::try_from(list.len()).is_err() {
        return Err(FileError::new(
            "model.vocab",
            "expected ids below 4294967295",
        ));
    }
    let scores = memory::collect(list.iter().map(|(_, score)| *score));
    let tokens = (0..).zip(list).map(|(id, (text, _))| (text, id));
    Ok((memory::collect(tokens), scores))
}

/// Returns the type of a model that does not say it, as early files: the first that has these fields.
fn type_by_fields(
    vocabulary: Option<&Vocabulary<'_>>,
    has_merges: bool,
    options: &At<'_>,
) -> Result<&'static str, FileError> {
    let has = |key: &str| options.get(key).map(|value| !value.is_null());
    Ok(match vocabulary {
        _ if has_merges => "BPE",
        Some(Vocabulary::Scores(_)) => "Unigram",
        Some(Vocabulary::Ids(_)) if has("unk_token")? => {
            let of_words = has("max_input_chars_per_word")? && has("continuing_subword_prefix")?;
            if of_words { "WordPiece" } else { "WordLevel" }
        }
        _ => "BPE",
    })
}

impl<'a> Merging<'a> {
    fn new(merges: Merges<'a>, options: &At<'_>) -> Result<Self, FileError> {
        let text = |key: &str| Ok(options.get(key)?.text_or_none()?.unwrap_or_default());
        let dropout = options.get("dropout")?;
        if !dropout.is_null() && dropout.decimal()? != 0.0 {
            return Err(dropout.refuse("expected null or 0: with dropout, ids would be random"));
        }
        Ok(Self {
            merges: merges.0,
            fuse_unknown: options.get("fuse_unk")?.flag_or(false)?,
            byte_fallback: options.get("byte_fallback")?.flag_or(false)?,
            whole_pieces: options.get("ignore_merges")?.flag_or(false)?,
            prefix: text("continuing_subword_prefix")?,
            suffix: text("end_of_word_suffix")?,
        })
    }
}

/// The fields of a model.
pub(super) struct ModelFields<'a> {
    vocabulary: Option<Vocabulary<'a>>,
    merges: Option<Merges<'a>>,
    options: serde_json::Map<String, Value>,
}

/// Reads the fields of a model.
pub(super) struct ModelSeed<'p> {
    pub(super) place: &'p Place,
    pub(super) decimals: Decimals,
}

impl<'de> DeserializeSeed<'de> for ModelSeed<'_> {
    type Value = ModelFields<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let mut large = Large {
            place: self.place,
            decimals: self.decimals,
            vocabulary: None,
            merges: None,
        };
        let options = Object(&mut large).deserialize(deserializer)?;
        Ok(ModelFields {
            vocabulary: large.vocabulary,
            merges: large.merges,
            options,
        })
    }
}

/// The large fields of a model.
struct Large<'a, 'p> {
    place: &'p Place,
    decimals: Decimals,
    vocabulary: Option<Vocabulary<'a>>,
    merges: Option<Merges<'a>>,
}

impl<'de> LargeFields<'de> for Large<'de, '_> {
    fn read<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "vocab" => {
                let seed = VocabularySeed(self.decimals);
                let read = self.place.at("model.vocab", || map.next_value_seed(seed))?;
                self.vocabulary = Some(read);
            }
            "merges" => {
                self.merges = Some(self.place.at("model.merges", || map.next_value())?);
            }
            _ => return Ok(false),
        }
        Ok(true)
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

/// Reads tokens, with decimals as it says.
struct VocabularySeed(Decimals);

impl<'de> DeserializeSeed<'de> for VocabularySeed {
    type Value = Vocabulary<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        // That of a map would refuse a list, whatever the type of the model.
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for VocabularySeed {
    type Value = Vocabulary<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object of ids, or a list of tokens with scores")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vocabulary<'de>, A::Error> {
        let mut tokens = Vec::new();
        while let Some(text) = map.next_key_seed(Borrowing(PhantomData))? {
            tokens.with_room(1).push((text, map.next_value()?));
            reserve::pass();
        }
        Ok(Vocabulary::Ids(tokens))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vocabulary<'de>, A::Error> {
        let mut tokens = Vec::new();
        while let Some(token) = list.next_element_seed(ScoredToken(self.0))? {
            tokens.with_room(1).push(token);
            reserve::pass();
        }
        Ok(Vocabulary::Scores(tokens))
    }
}

/// A token and its score.
struct ScoredToken(Decimals);

impl<'de> DeserializeSeed<'de> for ScoredToken {
    type Value = (Text<'de>, f64);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ScoredToken {
    type Value = (Text<'de>, f64);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a token and its score")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<Self::Value, A::Error> {
        let missing = || de::Error::custom("expected a token and its score");
        let text = pair.next_element_seed(Borrowing(PhantomData))?;
        let score = match self.0 {
            Decimals::OfFile => pair.next_element::<f64>()?,
            Decimals::Nearest => match pair.next_element::<&RawValue>()? {
                Some(number) => Some(number.get().parse().map_err(|_| {
                    de::Error::custom(format_args!("expected a number, got {number}"))
                })?),
                None => None,
            },
        };
        if pair.next_element::<IgnoredAny>()?.is_some() {
            return Err(missing());
        }
        text.zip(score).ok_or_else(missing)
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
            memory::extend(&mut merges, merge);
            reserve::pass();
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
