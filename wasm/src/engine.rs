//! Opened tokenizers, and what is asked of them.

use std::collections::HashSet;
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytemill::builtin::Published;
use bytemill::encode::Encoder;
use bytemill::encode::explain::Explained;
use bytemill::encode::special::{Allowed, Disallowed, SpecialTokens};
use bytemill::encode::tokenizer_json::{FileEncoder, special_tokens};
use bytemill::encode::truncate::Keep;
use bytemill::error::EncodeError;
use bytemill::huggingface::TokenizerFile;
use bytemill::sentencepiece::Model;
use bytemill::split::Splitter;
use bytemill::token::TokenId;
use bytemill::vocabulary::{self, Vocabulary};
use serde_json::{Value, json};

use crate::packed::{self, Tokens};
use crate::units::Units;

/// Why something cannot be answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// For the reader of the page.
    pub message: String,
    /// A special token that the text must not contain, and the number of characters before it.
    pub token: Option<(String, usize)>,
}

impl Refusal {
    /// Returns one with a message alone.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            token: None,
        }
    }

    /// Returns the JSON that the page reads.
    pub fn json(&self) -> Value {
        match &self.token {
            None => json!({ "error": self.message }),
            Some((token, place)) => {
                json!({ "error": self.message, "token": token, "place": place })
            }
        }
    }
}

impl From<EncodeError> for Refusal {
    fn from(error: EncodeError) -> Self {
        match error {
            EncodeError::Disallowed { token, start } => Self {
                message: format!(
                    "The text contains the special token {token} at character {start}."
                ),
                token: Some((token, start)),
            },
            error => Self::new(error.to_string()),
        }
    }
}

/// How special tokens in a text are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// Ordinary text.
    Text,
    /// Their IDs.
    Allow,
    /// A reason to refuse the text.
    Refuse,
}

impl Special {
    /// Returns the rule of a number: 0, 1 or 2 in this order.
    pub fn of(number: u32) -> Self {
        match number {
            0 => Self::Text,
            1 => Self::Allow,
            _ => Self::Refuse,
        }
    }
}

/// A tokenizer.
#[derive(Debug)]
pub struct Opened {
    encoder: Encoder,
    /// The special tokens in the order of their source.
    special: Vec<(String, TokenId)>,
    /// The pattern, if the tokens are found by ranks.
    pattern: Option<String>,
    /// The name in the file, if it has one.
    name: Option<String>,
}

/// Returns the text that bytes are.
///
/// # Errors
/// They are not UTF-8.
pub fn text_of(bytes: &[u8]) -> Result<&str, Refusal> {
    std::str::from_utf8(bytes).map_err(|error| {
        let place = error.valid_up_to();
        let byte = bytes.get(place).copied().unwrap_or_default();
        Refusal::new(format!(
            "The file is not UTF-8: byte {} is 0x{byte:02x}.",
            grouped(place)
        ))
    })
}

/// Returns a number with commas between groups of three digits.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn refused(error: impl std::fmt::Display) -> Refusal {
    Refusal::new(error.to_string())
}

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
        Ok(Self {
            encoder: Encoder::new(Arc::new(vocabulary), tokens, splitter),
            special,
            pattern: Some(pattern.to_owned()),
            name: None,
        })
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
        Ok(Self {
            encoder,
            special,
            pattern,
            name: None,
        })
    }

    /// Opens a `SentencePiece` model.
    ///
    /// # Errors
    /// It is damaged.
    pub fn model(contents: Vec<u8>) -> Result<Self, Refusal> {
        let model = Model::read(contents).map_err(refused)?;
        let special: Vec<_> = model.control_tokens().collect();
        let tokens = SpecialTokens::new(special.clone()).map_err(refused)?;
        Ok(Self {
            encoder: Encoder::of_model(&model, tokens).map_err(refused)?,
            special,
            pattern: None,
            name: None,
        })
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

    /// Returns the same tokenizer with further special tokens.
    ///
    /// # Errors
    /// One of them is empty.
    pub fn with_special_tokens(&self, more: &[(String, TokenId)]) -> Result<Self, Refusal> {
        let special = [self.special.as_slice(), more].concat();
        let tokens = SpecialTokens::new(special.clone()).map_err(refused)?;
        Ok(Self {
            encoder: self.encoder.with_special_tokens(tokens).map_err(refused)?,
            special,
            pattern: self.pattern.clone(),
            name: self.name.clone(),
        })
    }

    /// Returns the IDs of a text.
    ///
    /// # Errors
    /// It contains a special token that is refused; or the engine of its pattern gives up.
    pub fn encode(&self, text: &str, special: Special) -> Result<Vec<TokenId>, Refusal> {
        let allowed = self.allowed(text, special)?;
        let mut ids = Vec::new();
        self.encoder.encode(text, &allowed, &mut ids)?;
        Ok(ids)
    }

    /// Returns the number of IDs of a text.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn count(&self, text: &str, special: Special) -> Result<usize, Refusal> {
        let allowed = self.allowed(text, special)?;
        Ok(self.encoder.count(text, &allowed)?)
    }

    fn allowed(&self, text: &str, special: Special) -> Result<Allowed, Refusal> {
        Ok(match special {
            Special::Text => Allowed::Nothing,
            Special::Allow => Allowed::All,
            Special::Refuse => {
                let all = Disallowed::Tokens(Allowed::All);
                self.encoder.special_tokens().refuse(text, &all)?;
                Allowed::Nothing
            }
        })
    }

    /// Returns the IDs of a text in which some special tokens are allowed, and some strings are refused, as in tiktoken: `None`
    /// is all of them, of the refused ones all that are not allowed.
    ///
    /// # Errors
    /// It contains a string that is refused; or the engine of its pattern gives up.
    pub fn encode_with(
        &self,
        text: &str,
        allowed: Option<&[String]>,
        refused_strings: Option<Vec<String>>,
    ) -> Result<Vec<TokenId>, Refusal> {
        let special = self.encoder.special_tokens();
        let allowed = allowed.map_or(Allowed::All, |texts| {
            special.allow(texts.iter().map(String::as_str))
        });
        let disallowed = match refused_strings {
            None => special.disallow_except(&allowed),
            Some(strings) => special.disallow(strings).map_err(refused)?,
        };
        special.refuse(text, &disallowed)?;
        let mut ids = Vec::new();
        self.encoder.encode(text, &allowed, &mut ids)?;
        Ok(ids)
    }

    /// Returns the number of IDs of a text; `None` if there are more than `limit`.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn count_up_to(&self, text: &str, limit: usize) -> Result<Option<usize>, Refusal> {
        Ok(self
            .encoder
            .count_till_limit(text, &Allowed::Nothing, limit)?)
    }

    /// Returns where the longest beginning of a text ends, or its longest end begins, that has at most `limit` tokens.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn cut(&self, text: &str, limit: usize, keep: Keep) -> Result<usize, Refusal> {
        let kept = self
            .encoder
            .truncate(text, &Allowed::Nothing, limit, keep)?;
        Ok(kept.cut)
    }

    /// Returns the IDs of a text, and where each starts and ends, in UTF-16 units.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn with_offsets(&self, text: &str) -> Result<[Vec<usize>; 3], Refusal> {
        let spans = self.encoder.encode_with_offsets(text, &Allowed::Nothing)?;
        let ids = spans.ids.iter().map(|&id| id as usize).collect();
        let units = Units::of(text);
        let starts = spans
            .starts
            .iter()
            .map(|&start| units.before(start))
            .collect();
        let ends = spans.ends.iter().map(|&end| units.behind(end)).collect();
        Ok([ids, starts, ends])
    }

    /// Returns the tokens of a text as the page takes them.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn packed(&self, text: &str, special: Special, sequence: u32) -> Result<Vec<u8>, Refusal> {
        let allowed = self.allowed(text, special)?;
        let mut ids = Vec::new();
        self.encoder.encode(text, &allowed, &mut ids)?;
        let mut lengths: Vec<usize> = ids.iter().map(|&id| self.length(id)).collect();
        let mut gaps = Vec::new();
        if lengths.iter().sum::<usize>() != text.len() || self.pattern.is_none() {
            let spans = self.encoder.encode_with_offsets(text, &allowed)?;
            (lengths, gaps) = packed::spans(&spans.starts, &spans.ends, text.len());
        }
        let special_ids: HashSet<TokenId> = self.special.iter().map(|(_, id)| *id).collect();
        let found = ids
            .iter()
            .enumerate()
            .filter(|(_, id)| special_ids.contains(id));
        let found = match special {
            Special::Allow => found.map(|(index, _)| index).collect(),
            _ => Vec::new(),
        };
        let tokens = Tokens {
            size: text.len(),
            ids,
            lengths,
            special: found,
            gaps,
        };
        Ok(tokens.pack(sequence))
    }

    /// Number of bytes of a token.
    fn length(&self, id: TokenId) -> usize {
        let ordinary = self.encoder.vocabulary().bytes(id).map(<[u8]>::len);
        ordinary
            .or_else(|| self.encoder.token_bytes(id).map(<[u8]>::len))
            .unwrap_or_default()
    }

    /// Returns the bytes of IDs.
    ///
    /// # Errors
    /// One of them is not that of a token.
    pub fn decode(&self, ids: &[TokenId]) -> Result<Vec<u8>, Refusal> {
        self.encoder.decode(ids).map_err(refused)
    }

    /// Returns those of some IDs that no token has, each once.
    pub fn unknown(&self, ids: &[TokenId]) -> Vec<TokenId> {
        let mut seen = HashSet::new();
        let unknown = ids.iter().copied();
        unknown
            .filter(|&id| self.encoder.token_bytes(id).is_none() && seen.insert(id))
            .collect()
    }

    /// Returns the sizes of the pieces of a text in bytes.
    ///
    /// # Errors
    /// It has no single pattern, or its engine gives up.
    pub fn pieces(&self, text: &str) -> Result<Vec<usize>, Refusal> {
        if self.pattern.is_none() {
            return Err(Refusal::new(
                "there is no single pattern that cuts the text into pieces",
            ));
        }
        sizes(self.encoder.splitter(), text)
    }

    /// Returns the sizes of parts of at most `limit` tokens in bytes.
    ///
    /// # Errors
    /// A character alone has more; or as [`encode`](Self::encode).
    pub fn parts(&self, text: &str, limit: usize) -> Result<Vec<usize>, Refusal> {
        let parts = self.ranges(text, limit, 0)?;
        Ok(parts.iter().map(Range::len).collect())
    }

    /// Returns parts of at most `limit` tokens, each of which repeats the last `overlap` of the one before.
    ///
    /// # Errors
    /// As [`parts`](Self::parts).
    pub fn ranges(
        &self,
        text: &str,
        limit: usize,
        overlap: usize,
    ) -> Result<Vec<Range<usize>>, Refusal> {
        if limit == 0 || overlap >= limit {
            return Err(Refusal::new(format!(
                "expected a limit of 1 token or more, and a smaller overlap, got {limit} and {overlap}"
            )));
        }
        let parts = self
            .encoder
            .parts(text, &Allowed::Nothing, limit, overlap, &[])?;
        Ok(parts)
    }

    /// Returns the rank of a mergeable token.
    pub fn rank(&self, token: &[u8]) -> Option<TokenId> {
        self.encoder.vocabulary().token(token)
    }

    /// Returns all tokens: for each ID up to the highest a word with the number of its bytes, and the bytes of all. A word of
    /// ones is an ID without a token; the highest bit marks those that are not merged.
    pub fn tokens(&self) -> Vec<u8> {
        const OTHERS: u32 = 1 << 31;
        let highest = self.encoder.largest_id();
        let mut words = Vec::new();
        let mut contents = Vec::new();
        for id in 0..=highest {
            let mergeable = self.encoder.vocabulary().bytes(id);
            let Some(bytes) = self.encoder.token_bytes(id) else {
                words.extend(u32::MAX.to_le_bytes());
                continue;
            };
            let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX >> 1);
            let mark = if mergeable.is_some() { 0 } else { OTHERS };
            words.extend((length | mark).to_le_bytes());
            contents.extend_from_slice(bytes);
        }
        words.extend(contents);
        words
    }

    /// Returns what it is, as JSON.
    pub fn described(&self) -> Value {
        let mut special = self.special.clone();
        special.sort_by_key(|(_, id)| *id);
        let pairs: Vec<Value> = special.iter().map(|(text, id)| json!([text, id])).collect();
        json!({
            "highest": self.encoder.largest_id(),
            "special": pairs,
            "ranks": self.pattern.is_some(),
            "pattern": self.pattern,
            "name": self.name,
        })
    }

    /// Returns how the pieces of a text become tokens without ranks, as JSON; `None` for models that merge.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn explained(&self, text: &str) -> Result<Option<Value>, Refusal> {
        let kind = match self.encoder.vocabulary().model() {
            vocabulary::Model::Words(_) => "words",
            vocabulary::Model::Unigram(_) => "scores",
            _ => return Ok(None),
        };
        let explained = self.encoder.explained(text)?;
        let pieces = explained.iter().filter(|each| !each.piece.is_empty());
        let pieces: Vec<Value> = pieces
            .map(|each| explained_piece(each, kind == "scores"))
            .collect();
        Ok(Some(
            json!({ "count": pieces.len(), "pieces": pieces, "ranks": false, "kind": kind }),
        ))
    }
}

/// Returns a piece with its steps, as `python/bytemill/explanation.py` has them.
fn explained_piece(explained: &Explained, has_scores: bool) -> Value {
    let piece = &explained.piece;
    let parts: Vec<&[u8]> = explained
        .tokens
        .iter()
        .map(|each| &piece[each.span.clone()])
        .collect();
    let text = String::from_utf8_lossy(piece);
    let mut rows: Vec<Vec<String>> = Vec::new();
    if explained.candidates.is_empty() {
        rows.push(vec![hex(piece)]);
        for (number, token) in explained.tokens.iter().enumerate().skip(1) {
            let whole = parts[..number].iter().map(|part| hex(part));
            rows.push(whole.chain([hex(&piece[token.span.start..])]).collect());
        }
    } else {
        rows.push(
            text.chars()
                .map(|each| hex(each.to_string().as_bytes()))
                .collect(),
        );
    }
    let last: Vec<String> = parts.iter().map(|part| hex(part)).collect();
    if !explained.candidates.is_empty() || rows.last() != Some(&last) {
        rows.push(last);
    }
    let candidates = explained.candidates.iter().filter(|_| has_scores);
    let candidates: Vec<Value> = candidates
        .map(|each| {
            let score: f64 = format!("{:.3}", each.score).parse().unwrap_or_default();
            let bytes = hex(&piece[each.span.clone()]);
            json!({ "start": each.span.start, "bytes": bytes, "id": each.id, "score": score })
        })
        .collect();
    let ids: Vec<TokenId> = explained.tokens.iter().map(|each| each.id).collect();
    json!({ "bytes": hex(piece), "rows": rows, "ids": ids, "candidates": candidates })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns the special tokens of a JSON object, in its order.
pub fn special_of(object: &Value) -> Option<Vec<(String, TokenId)>> {
    let entries = object.as_object()?.iter();
    let entries =
        entries.map(|(text, id)| Some((text.clone(), TokenId::try_from(id.as_u64()?).ok()?)));
    entries.collect()
}

/// Returns the sizes of the pieces that a pattern cuts a text into.
///
/// # Errors
/// The pattern does not compile, or its engine gives up.
pub fn pieces_by(pattern: &str, text: &str) -> Result<Vec<usize>, Refusal> {
    sizes(&Splitter::new(pattern).map_err(refused)?, text)
}

fn sizes(splitter: &Splitter, text: &str) -> Result<Vec<usize>, Refusal> {
    let mut pieces = splitter.pieces(text);
    let mut sizes = Vec::new();
    let mut chunk = Vec::new();
    loop {
        chunk.clear();
        let goes_on = pieces.next_chunk(&mut chunk)?;
        sizes.extend(chunk.iter().map(Range::len));
        if !goes_on {
            return Ok(sizes);
        }
    }
}
