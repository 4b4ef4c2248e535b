//! Opened tokenizers, and what is asked of them.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use bytemill::encode::Encoder;
use bytemill::encode::session::Session;
use bytemill::encode::special::{Allowed, Disallowed, Policy, SpecialTokens};
use bytemill::encode::truncate::Keep;
use bytemill::split::Splitter;
use bytemill::token::TokenId;
use bytemill::vocabulary;
use serde_json::{Value, json};

use crate::explained::explained_piece;
use crate::packed::{self, Tokens};
use crate::refusal::{Refusal, refused};
use crate::units::Units;

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

    /// Returns it as the library has it.
    pub fn policy(self) -> Policy {
        match self {
            Self::Text => Policy::ORDINARY,
            Self::Allow => Policy {
                allowed: Allowed::All,
                disallowed: Disallowed::Nothing,
            },
            Self::Refuse => Policy {
                allowed: Allowed::Nothing,
                disallowed: Disallowed::Tokens(Allowed::All),
            },
        }
    }
}

/// A tokenizer.
#[derive(Debug)]
pub struct Opened {
    encoder: Arc<Encoder>,
    /// The special tokens in the order of their source.
    special: Vec<(String, TokenId)>,
    /// The pattern, if the tokens are found by ranks.
    pattern: Option<String>,
    /// The name in the file, if it has one.
    pub name: Option<String>,
}

impl Opened {
    /// Keeps an encoder with what it was made of.
    pub fn new(encoder: Encoder, special: Vec<(String, TokenId)>, pattern: Option<String>) -> Self {
        Self {
            encoder: Arc::new(encoder),
            special,
            pattern,
            name: None,
        }
    }

    /// Returns the same tokenizer with further special tokens.
    ///
    /// # Errors
    /// One of them is empty.
    pub fn with_special_tokens(&self, more: &[(String, TokenId)]) -> Result<Self, Refusal> {
        let special = [self.special.as_slice(), more].concat();
        let tokens = SpecialTokens::new(special.clone()).map_err(refused)?;
        let encoder = self.encoder.with_special_tokens(tokens).map_err(refused)?;
        Ok(Self {
            name: self.name.clone(),
            ..Self::new(encoder, special, self.pattern.clone())
        })
    }

    /// Returns the IDs of a text.
    ///
    /// # Errors
    /// It contains a string that is refused; or the engine of its pattern gives up.
    pub fn encode(&self, text: &str, policy: &Policy) -> Result<Vec<TokenId>, Refusal> {
        self.refuse(text, policy)?;
        // Room for the IDs of most texts: growing from nothing took a tenth of the time of short ones.
        let mut ids = Vec::with_capacity(text.len() / 4 + 4);
        self.encoder.encode(text, &policy.allowed, &mut ids)?;
        Ok(ids)
    }

    /// Returns the number of IDs of a text.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn count(&self, text: &str, policy: &Policy) -> Result<usize, Refusal> {
        self.refuse(text, policy)?;
        Ok(self.encoder.count(text, &policy.allowed)?)
    }

    fn refuse(&self, text: &str, policy: &Policy) -> Result<(), Refusal> {
        let special = self.encoder.special_tokens();
        Ok(special.refuse(text, &policy.disallowed)?)
    }

    /// Returns how special tokens are treated where some are allowed, and some strings are refused, as in tiktoken: `None` is all
    /// of them, of the refused ones all that are not allowed.
    ///
    /// # Errors
    /// A string that is to be refused is empty.
    pub fn policy(
        &self,
        allowed: Option<&[String]>,
        refused_strings: Option<Vec<String>>,
    ) -> Result<Policy, Refusal> {
        let special = self.encoder.special_tokens();
        let allowed = allowed.map_or(Allowed::All, |texts| {
            special.allow(texts.iter().map(String::as_str))
        });
        let disallowed = match refused_strings {
            None => special.disallow_except(&allowed),
            Some(strings) => special.disallow(strings).map_err(refused)?,
        };
        Ok(Policy {
            allowed,
            disallowed,
        })
    }

    /// Starts a text that grows.
    pub fn session(&self, policy: Policy) -> Session {
        Session::new(Arc::clone(&self.encoder), policy)
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
        let policy = special.policy();
        let ids = self.encode(text, &policy)?;
        let mut lengths: Vec<usize> = ids.iter().map(|&id| self.length(id)).collect();
        let mut gaps = Vec::new();
        if lengths.iter().sum::<usize>() != text.len() || self.pattern.is_none() {
            let spans = self.encoder.encode_with_offsets(text, &policy.allowed)?;
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
