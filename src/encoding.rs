//! A tokenizer in a dozen methods: what programs in Rust use of the library.

use std::fmt;
use std::sync::Arc;
use std::thread;

use crate::builtin::Published;
use crate::encode::Encoder;
use crate::encode::batch::Batch;
use crate::encode::session;
use crate::encode::special::{Allowed, Policy, SpecialTokens};
use crate::encode::tokenizer_json::{FileEncoder, special_tokens};
use crate::encode::truncate::Keep;
use crate::error::{DecodeError, EncodeError, SessionError};
use crate::huggingface::TokenizerFile;
use crate::sentencepiece::Model;
use crate::split::Splitter;
use crate::token::TokenId;
use crate::train::counting::{Item, PieceCounts};
use crate::train::{self, Options};

/// A tokenizer: turns text into token IDs and back.
///
/// It is immutable. Clones share the vocabulary, and any number of threads may use one at the same time.
///
/// ```
/// use bytemill::Encoding;
///
/// let encoding = Encoding::builtin("o200k_base")?;
/// let ids = encoding.encode("hello world")?;
/// assert_eq!(ids, [24912, 2375]);
/// assert_eq!(encoding.decode(&ids)?, "hello world");
/// # Ok::<(), bytemill::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Encoding(Arc<Encoder>);

impl Encoding {
    /// Returns a published encoding of tiktoken: `gpt2`, `r50k_base`, `p50k_base`, `p50k_edit`, `cl100k_base`, `o200k_base`
    /// or `o200k_harmony`. It is part of the library: no file is read.
    ///
    /// # Errors
    /// [`Error::UnknownEncoding`] for any other name.
    ///
    /// # Complexity
    /// Some milliseconds for the first of its vocabulary; clone it instead of calling this again.
    pub fn builtin(name: &str) -> Result<Self, Error> {
        let published = Published::from_name(name);
        let published = published.ok_or_else(|| Error::UnknownEncoding(name.to_owned()))?;
        let vocabulary = published.vocabulary.vocabulary().map_err(invalid)?;
        let special_tokens = SpecialTokens::new(published.special_tokens()).map_err(invalid)?;
        let splitter = Splitter::new(published.pattern).map_err(invalid)?;
        Ok(Self::around(Encoder::new(
            vocabulary,
            special_tokens,
            splitter,
        )))
    }

    /// Returns the encoding of a `tokenizer.json` of Hugging Face, given its contents. It gives the token IDs of their library,
    /// without the special tokens that its post-processor adds.
    ///
    /// # Errors
    /// [`Error::InvalidFile`] if it is malformed, or does something that is not supported exactly; the message names it.
    ///
    /// # Complexity
    /// O(bytes).
    pub fn from_tokenizer_json(contents: &[u8]) -> Result<Self, Error> {
        let file = TokenizerFile::read(contents).map_err(invalid)?;
        let special_tokens = SpecialTokens::new(special_tokens(&file)).map_err(invalid)?;
        let FileEncoder { encoder, .. } =
            FileEncoder::new(&file, special_tokens).map_err(invalid)?;
        Ok(Self::around(encoder))
    }

    /// Returns the encoding of a `SentencePiece` model, given the contents of its `.model` file. Control pieces such as `</s>` are
    /// its special tokens.
    ///
    /// # Errors
    /// [`Error::InvalidFile`] if it is damaged.
    ///
    /// # Complexity
    /// O(bytes).
    pub fn from_model(contents: Vec<u8>) -> Result<Self, Error> {
        let model = Model::read(contents).map_err(invalid)?;
        let control = model.control_tokens().collect();
        let special_tokens = SpecialTokens::new(control).map_err(invalid)?;
        let encoder = Encoder::of_model(&model, special_tokens).map_err(invalid)?;
        Ok(Self::around(encoder))
    }

    /// Trains byte pair encoding on texts, on all processors, and returns the encoding. The result is the same on any machine.
    ///
    /// `vocab_size` counts the 256 bytes, so that there are `vocab_size - 256` merges, or fewer if no pair is left. `pattern` is
    /// the regular expression that splits texts into pieces, across which no pair is merged; that of `cl100k_base` is usual.
    ///
    /// ```
    /// use bytemill::{CL100K_PATTERN, Encoding};
    ///
    /// let encoding = Encoding::train(["low lower lowest"], 259, CL100K_PATTERN)?;
    /// assert_eq!(encoding.decode(&[258])?, " low");
    /// # Ok::<(), bytemill::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidPattern`] if the pattern does not compile or can match nothing; [`Error::Other`] if `vocab_size` is below
    /// 256 or memory ends.
    ///
    /// # Complexity
    /// O(n log n) for n bytes of distinct pieces.
    pub fn train<'t>(
        texts: impl IntoIterator<Item = &'t str>,
        vocab_size: usize,
        pattern: &str,
    ) -> Result<Self, Error> {
        let merges = vocab_size.checked_sub(256).ok_or_else(|| {
            Error::Other(format!(
                "expected a vocab_size of 256 or more, as each byte is a token, got {vocab_size}"
            ))
        })?;
        let splitter =
            Splitter::new(pattern).map_err(|error| Error::InvalidPattern(error.to_string()))?;
        let special_tokens = SpecialTokens::new(Vec::new()).map_err(invalid)?;
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let items: Vec<Item<'_>> = texts.into_iter().map(Item::Text).collect();
        let mut counts = PieceCounts::new();
        counts
            .add(&items, Some(&splitter), &special_tokens, threads)
            .map_err(other)?;
        let options = Options {
            threads,
            ..Options::default()
        };
        let learned = train::learning::learn_merges(&mut counts, merges, &options, &mut |_| Ok(()));
        let vocabulary = train::vocabulary(&learned.map_err(other)?.pairs).map_err(invalid)?;
        Ok(Self::around(Encoder::new(
            Arc::new(vocabulary),
            special_tokens,
            splitter,
        )))
    }

    fn around(encoder: Encoder) -> Self {
        Self(Arc::new(encoder))
    }

    /// Returns the token IDs of a text. Special tokens in it are ordinary text, so user input cannot become one.
    ///
    /// # Errors
    /// [`Error::Other`] if a pattern that needs backtracking gives up on this text; never with a published encoding.
    ///
    /// # Complexity
    /// O(n log n) for n bytes.
    pub fn encode(&self, text: &str) -> Result<Vec<TokenId>, Error> {
        let mut ids = Vec::new();
        self.0.encode_ordinary(text, &mut ids)?;
        Ok(ids)
    }

    /// As [`encode`](Self::encode), but special tokens in the text become their IDs.
    ///
    /// ```
    /// let encoding = bytemill::Encoding::builtin("o200k_base")?;
    /// let ids = encoding.encode_with_special_tokens("end<|endoftext|>")?;
    /// assert_eq!(ids.last(), Some(&199_999));
    /// # Ok::<(), bytemill::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn encode_with_special_tokens(&self, text: &str) -> Result<Vec<TokenId>, Error> {
        let mut ids = Vec::new();
        self.0.encode(text, &Allowed::All, &mut ids)?;
        Ok(ids)
    }

    /// Returns the token IDs of each of many texts, as [`encode`](Self::encode) does, on at most `threads` threads.
    ///
    /// # Errors
    /// As [`encode`](Self::encode), for the first text that fails.
    pub fn encode_batch<T: AsRef<str>>(
        &self,
        texts: &[T],
        threads: usize,
    ) -> Result<Vec<Vec<TokenId>>, Error> {
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let batch = Batch::new(Policy::ORDINARY, threads.max(1));
        let ragged = self.0.encode_batch::<TokenId>(&texts, &batch)?;
        let rows = ragged.offsets.windows(2);
        Ok(rows
            .map(|row| ragged.ids[row[0]..row[1]].to_vec())
            .collect())
    }

    /// Returns the number of token IDs that [`encode`](Self::encode) gives, without creating them.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn count(&self, text: &str) -> Result<usize, Error> {
        Ok(self.0.count(text, &Allowed::Nothing)?)
    }

    /// Returns the text of token IDs. Bytes that are not UTF-8, as of a character of which tokens are missing, become U+FFFD.
    ///
    /// # Errors
    /// [`Error::UnknownToken`] for an ID that is not of a token.
    pub fn decode(&self, ids: &[TokenId]) -> Result<String, Error> {
        let bytes = self.decode_bytes(ids)?;
        Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// Returns the bytes of token IDs.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_bytes(&self, ids: &[TokenId]) -> Result<Vec<u8>, Error> {
        Ok(self.0.decode(ids)?)
    }

    /// Returns the longest beginning of a text that has at most `max_tokens` tokens; in a very long run of letters or blanks it
    /// may be some characters shorter.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    ///
    /// # Complexity
    /// That of encoding a few times what is kept.
    pub fn truncate<'t>(&self, text: &'t str, max_tokens: usize) -> Result<&'t str, Error> {
        let kept = self
            .0
            .truncate(text, &Allowed::Nothing, max_tokens, Keep::Start)?;
        Ok(&text[..kept.cut])
    }

    /// Returns the parts of a text that have at most `max_tokens` tokens each; joined they are the text. A part ends behind the
    /// last of the first of the `separators` that it contains, such as `["\n\n", "\n", " "]`; without any, where it is longest.
    ///
    /// # Errors
    /// [`Error::Other`] if a character alone has more than `max_tokens` tokens; and as [`encode`](Self::encode).
    ///
    /// # Complexity
    /// That of encoding the text a few times.
    pub fn split<'t>(
        &self,
        text: &'t str,
        max_tokens: usize,
        separators: &[&str],
    ) -> Result<Vec<&'t str>, Error> {
        let separators = separators.iter().filter(|separator| !separator.is_empty());
        let separators: Vec<String> = separators.map(|&each| each.to_owned()).collect();
        let parts = self
            .0
            .parts(text, &Allowed::Nothing, max_tokens, 0, &separators)?;
        Ok(parts.into_iter().map(|part| &text[part]).collect())
    }

    /// Returns the ID of a special token; `None` if there is none with this text.
    pub fn special_token(&self, text: &str) -> Option<TokenId> {
        self.0.special_tokens().id(text)
    }

    /// Returns the highest token ID.
    pub fn max_token_id(&self) -> TokenId {
        self.0.largest_id()
    }

    /// Starts a text that grows, and whose token IDs are known after each change: that takes the time of what is new.
    pub fn session(&self) -> Session {
        Session(session::Session::new(Arc::clone(&self.0), Policy::ORDINARY))
    }
}

/// A text that grows or changes, with its token IDs, which are always those of [`Encoding::encode`].
///
/// ```
/// let encoding = bytemill::Encoding::builtin("o200k_base")?;
/// let mut session = encoding.session();
/// session.append("hello wor")?;
/// session.append("ld")?;
/// assert_eq!(session.ids(), encoding.encode("hello world")?);
/// session.update("hello again")?;
/// assert_eq!(session.count(), encoding.count("hello again")?);
/// # Ok::<(), bytemill::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Session(session::Session);

impl Session {
    /// Appends to the text.
    ///
    /// # Errors
    /// As [`Encoding::encode`]; the text is then unchanged.
    pub fn append(&mut self, text: &str) -> Result<(), Error> {
        self.0.append(text)?;
        Ok(())
    }

    /// Replaces the text; what both begin and end with is not encoded again.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub fn update(&mut self, text: &str) -> Result<(), Error> {
        self.0.update(text)?;
        Ok(())
    }

    /// Returns the number of token IDs.
    pub fn count(&self) -> usize {
        self.0.count()
    }

    /// Returns the token IDs.
    pub fn ids(&self) -> Vec<TokenId> {
        let mut ids = Vec::new();
        self.0.push_ids(0..self.0.count(), &mut ids);
        ids
    }

    /// Returns the text.
    pub fn text(&self) -> String {
        self.0.text()
    }
}

/// The reason for which a call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No published encoding has this name.
    #[error("unknown encoding {0:?}: expected one of {known}", known = Published::ALL.map(|it| it.name).join(", "))]
    UnknownEncoding(String),
    /// A file is malformed, or does something that is not supported.
    #[error("{0}")]
    InvalidFile(String),
    /// A pattern does not compile, or can match nothing.
    #[error("{0}")]
    InvalidPattern(String),
    /// An ID is not that of a token.
    #[error("no token has the ID {0}")]
    UnknownToken(TokenId),
    /// Anything else, as its message says.
    #[error("{0}")]
    Other(String),
}

impl From<EncodeError> for Error {
    fn from(error: EncodeError) -> Self {
        other(error)
    }
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::UnknownToken(id) => Self::UnknownToken(id),
            error => other(error),
        }
    }
}

impl From<SessionError> for Error {
    fn from(error: SessionError) -> Self {
        other(error)
    }
}

fn other(error: impl fmt::Display) -> Error {
    Error::Other(error.to_string())
}

fn invalid(error: impl fmt::Display) -> Error {
    Error::InvalidFile(error.to_string())
}
