//! How tokenizers are opened: by name, and from the contents of files.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytemill::builtin::Published;
use bytemill::encode::Encoder;
use bytemill::encode::special::SpecialTokens;
use bytemill::encode::tokenizer_json::{FileEncoder, special_tokens};
use bytemill::huggingface::TokenizerFile;
use bytemill::sentencepiece::Model;
use bytemill::split::Splitter;
use bytemill::token::TokenId;
use bytemill::vocabulary::Vocabulary;
use serde_json::Value;

use crate::engine::Opened;
use crate::refusal::{Refusal, refused};

impl Opened {
    /// Opens a published encoding, given its merge tables in order.
    ///
    /// # Errors
    /// There is none of this name, or a table is damaged.
    pub fn published(name: &str, tables: &[&[u8]]) -> Result<Self, Refusal> {
        let published = Published::from_name(name)
            .ok_or_else(|| Refusal::new(format!("there is no encoding {name:?}")))?;
        let vocabulary = published.vocabulary.of_tables(tables).map_err(refused)?;
        let special: Vec<_> = published.special_tokens();
        Self::by_ranks(vocabulary, special, published.pattern)
    }

    fn by_ranks(
        vocabulary: Vocabulary,
        special: Vec<(String, TokenId)>,
        pattern: &str,
    ) -> Result<Self, Refusal> {
        let tokens = SpecialTokens::new(special.clone()).map_err(refused)?;
        let splitter = Splitter::new(pattern).map_err(refused)?;
        let encoder = Encoder::new(Arc::new(vocabulary), tokens, splitter);
        Ok(Self::new(encoder, special, Some(pattern.to_owned())))
    }

    /// Opens a `tokenizer.json`.
    ///
    /// # Errors
    /// It is malformed, or cannot be followed exactly.
    pub fn tokenizer_json(contents: &[u8]) -> Result<Self, Refusal> {
        let file = TokenizerFile::read(contents).map_err(refused)?;
        let special = special_tokens(&file);
        let tokens = SpecialTokens::new(special.clone()).map_err(refused)?;
        let FileEncoder { encoder, pattern } = FileEncoder::new(&file, tokens).map_err(refused)?;
        Ok(Self::new(encoder, special, pattern))
    }

    /// Opens a `SentencePiece` model.
    ///
    /// # Errors
    /// It is damaged.
    pub fn model(contents: Vec<u8>) -> Result<Self, Refusal> {
        let model = Model::read(contents).map_err(refused)?;
        let special: Vec<_> = model.control_tokens().collect();
        let tokens = SpecialTokens::new(special.clone()).map_err(refused)?;
        let encoder = Encoder::of_model(&model, tokens).map_err(refused)?;
        Ok(Self::new(encoder, special, None))
    }

    /// Opens a file of ranks: a token in base64 and its rank on each line.
    ///
    /// # Errors
    /// A line is malformed, or the ranks are no vocabulary.
    pub fn ranks(contents: &[u8], pattern: &str) -> Result<Self, Refusal> {
        let mut ranks = Vec::new();
        for (number, line) in contents.split(|&byte| byte == b'\n').enumerate() {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                continue;
            }
            let mut parts = line.split(|&byte| byte == b' ');
            let token = parts.next().and_then(|token| STANDARD.decode(token).ok());
            let rank = parts.next().and_then(|rank| std::str::from_utf8(rank).ok());
            let rank = rank.and_then(|rank| rank.parse().ok());
            let (Some(token), Some(rank), None) = (token, rank, parts.next()) else {
                let message = format!(
                    "line {}: expected a token in base64 and its rank",
                    number + 1
                );
                return Err(Refusal::new(message));
            };
            ranks.push((token, rank));
        }
        let vocabulary = Vocabulary::from_ranks(ranks).map_err(refused)?;
        Self::by_ranks(vocabulary, Vec::new(), pattern)
    }

    /// Opens a native file of version 2; `python/bytemill/formats/native.py` describes it.
    ///
    /// # Errors
    /// It is damaged, or of another version.
    pub fn native(contents: &[u8]) -> Result<Self, Refusal> {
        const START: &[u8] = b"bytemill 2\n";
        let damaged = || Refusal::new("the file is damaged");
        let rest = contents
            .strip_prefix(START)
            .ok_or_else(|| Refusal::new("version: expected 2: the Python package may read it"))?;
        let (rest, checksum) = rest.split_last_chunk::<4>().ok_or_else(damaged)?;
        let whole = &contents[..contents.len() - checksum.len()];
        if crc32fast::hash(whole) != u32::from_le_bytes(*checksum) {
            return Err(damaged());
        }
        let end = rest
            .iter()
            .position(|&byte| byte == b'\n')
            .ok_or_else(damaged)?;
        let head: Value = serde_json::from_slice(&rest[..end]).map_err(refused)?;
        let body = &rest[end + 1..];
        let text = |name: &str| {
            let found = head[name].as_str().map(str::to_owned);
            found.ok_or_else(|| Refusal::new(format!("{name}: expected a text")))
        };
        let mut opened = match text("kind")?.as_str() {
            "ranks" => {
                let special = special_of(&head["special_tokens"])
                    .ok_or_else(|| Refusal::new("special_tokens: expected texts and IDs"))?;
                let vocabulary = Vocabulary::of_stored(body).map_err(refused)?;
                Self::by_ranks(vocabulary, special, &text("pattern")?)?
            }
            "sentencepiece" => Self::model(body.to_vec())?,
            "tokenizer.json" => Self::tokenizer_json(body)?,
            kind => {
                let known = "ranks, sentencepiece or tokenizer.json";
                return Err(Refusal::new(format!(
                    "kind: expected {known}, got {kind:?}"
                )));
            }
        };
        opened.name = Some(text("name")?);
        Ok(opened)
    }
}

/// Returns the special tokens of a JSON object, in its order.
pub fn special_of(object: &Value) -> Option<Vec<(String, TokenId)>> {
    let entries = object.as_object()?.iter();
    let entries =
        entries.map(|(text, id)| Some((text.clone(), TokenId::try_from(id.as_u64()?).ok()?)));
    entries.collect()
}
