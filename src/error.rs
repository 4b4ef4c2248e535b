//! Errors. Each message says what was expected, what came instead, and how to fix it.

use std::error;
use std::io;
use std::ops::Range;

use thiserror::Error;

use crate::checkpoint::Interrupted;
use crate::token::TokenId;

/// Formats bytes for a message: `b"..."`, escaped, cut after forty bytes.
fn display_bytes(bytes: &[u8]) -> String {
    let (head, tail) = if bytes.len() > 40 {
        (&bytes[..40], "...")
    } else {
        (bytes, "")
    };
    format!("b\"{}{tail}\"", head.escape_ascii())
}

/// Names an unknown token for a message.
fn display_unknown(token: Option<&str>) -> String {
    token.map_or_else(
        || "an unknown token".to_owned(),
        |token| format!("the unknown token {token:?}"),
    )
}

/// Allocating this many bytes failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "there is no room for {0} bytes in memory: expected a smaller request; make it in several parts"
)]
pub struct OutOfMemory(pub usize);

/// Why a normalizer cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NormalizerError {
    /// A map of characters ends before its array does. It has this many bytes.
    #[error(
        "the precompiled_charsmap ends inside its array, after {0} bytes: \
         expected the bytes that a normalizer_spec of SentencePiece holds, or none"
    )]
    Truncated(usize),
    /// The array of a map has this size in bytes, which no array has.
    #[error("the array of the precompiled_charsmap has {0} bytes: expected a multiple of 1024")]
    ArraySize(usize),
    /// The last value of a map is not ended by NUL.
    #[error("the precompiled_charsmap ends inside a value: expected a NUL at the end of each")]
    UnendedValue,
    /// The unit at this place in the array of a map points outside of the map.
    #[error(
        "unit {0} of the array of the precompiled_charsmap points outside of it: \
         expected the bytes that a normalizer_spec of SentencePiece holds, or none"
    )]
    BadUnit(usize),
    /// A value of a map is too long.
    #[error("a value of the precompiled_charsmap has {bytes} bytes: expected at most {most}")]
    LongValue {
        /// Its bytes.
        bytes: usize,
        /// The most that a value may have.
        most: usize,
    },
    /// A value of a map is not UTF-8.
    #[error("a value of the precompiled_charsmap is not UTF-8: expected text in place of text")]
    NotUtf8,
    /// So many user-defined symbols need too much memory.
    #[error(
        "{0} user-defined symbols need more memory than can be addressed: expected fewer or shorter ones"
    )]
    TooManySymbols(usize),
    /// The rule of this number, or on this line, is none; what was expected.
    #[error("rule {0} of the normalization: expected {1}")]
    BadRule(usize, &'static str),
    /// There are more rules than a map can hold.
    #[error(
        "there are more rules of normalization than a precompiled_charsmap can hold: expected fewer"
    )]
    TooManyRules,
    /// A step puts the empty string in front of texts.
    #[error(
        "a normalizer prepends the empty string: expected at least one character; leave the normalizer out"
    )]
    EmptyPrepend,
    /// A step replaces the empty string.
    #[error(
        "the pattern of a normalizer that replaces can match the empty string: expected one that matches at \
         least one character"
    )]
    MatchesEmpty,
}

/// Why tokens do not form a vocabulary.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum VocabularyError {
    /// A byte has no token of its own, so text that holds it could not be encoded.
    #[error(
        "the vocabulary has no token for the single byte {}: every one of the 256 bytes needs a token, \
         or text that contains it cannot be encoded; add it to mergeable_ranks",
        display_bytes(&[*.0])
    )]
    MissingByte(u8),
    /// Two tokens share an id.
    #[error(
        "the id {id} is given to two tokens, {} and {}: expected one token for each id",
        display_bytes(.first), display_bytes(.second)
    )]
    DuplicateId {
        /// The id that both claim.
        id: TokenId,
        /// The token listed first.
        first: Vec<u8>,
        /// The token that claims the id again.
        second: Vec<u8>,
    },
    /// The same bytes are listed under two ids.
    #[error(
        "the token {} has two ids, {} and {}: expected one id for each token",
        display_bytes(.token), .ids.0, .ids.1
    )]
    DuplicateToken {
        /// The bytes of the token.
        token: Vec<u8>,
        /// Its ids.
        ids: (TokenId, TokenId),
    },
    /// A token is empty.
    #[error("the token with id {0} is empty: expected at least one byte in each token")]
    EmptyToken(TokenId),
    /// The id is reserved for "no token".
    #[error("the token {} has the id 4294967295: expected ids below that", display_bytes(.0))]
    IdTooLarge(Vec<u8>),
    /// A merge has a part that no token before it is.
    #[error(
        "the merge that makes token {id} names token {part}, which is not made yet: \
         expected both parts to be byte tokens or made by earlier merges"
    )]
    UnknownPart {
        /// The token that the merge would make.
        id: TokenId,
        /// The part that is missing.
        part: TokenId,
    },
    /// A merge makes a token whose id is below that of an earlier merge.
    #[error(
        "the merge that makes token {id} comes after token {last}: expected merges in the order of their ids"
    )]
    OutOfOrder {
        /// The token that the merge would make.
        id: TokenId,
        /// The highest id so far.
        last: TokenId,
    },
    /// All tokens together need more than 4 GiB.
    #[error("the tokens hold more than 4 GiB together: expected less")]
    TooLarge,
    /// A table of a published vocabulary has another format than expected.
    #[error("malformed table of a vocabulary: {0}")]
    BadTable(&'static str),
    /// The merges of lower rank do not leave exactly two parts of a token.
    #[error(
        "the token {} comes apart in {parts} parts under the merges of lower rank: \
         expected exactly two, so it cannot be written as a merge",
        display_bytes(.token)
    )]
    NotTwoParts {
        /// The token.
        token: Vec<u8>,
        /// Number of parts that remain.
        parts: usize,
    },
    /// No list of merges gives the ids that merging by rank gives, because of this token.
    #[error(
        "the token {} with the id {id} is made of a token with a higher id: merging by a list of pairs would give \
         different token IDs than merging by rank",
        display_bytes(.token)
    )]
    MadeOfHigher {
        /// The token.
        token: Vec<u8>,
        /// Its id.
        id: TokenId,
    },
    /// A special token is the empty string, which would match everywhere.
    #[error(
        "the special token with id {0} is the empty string, which would match everywhere: \
         expected at least one character"
    )]
    EmptySpecialToken(TokenId),
    /// An added token cannot be normalized.
    #[error("the added token {content:?} cannot be normalized: {reason}")]
    AddedToken {
        /// The token.
        content: String,
        /// Why not.
        reason: String,
    },
    /// Two added tokens are the same in normalized text.
    #[error(
        "the added tokens {first:?} and {second:?} are the same after normalization, so that one of them would \
         be found at random: expected different ones; set their `normalized` to false, or drop one"
    )]
    AmbiguousAddedTokens {
        /// The one listed first.
        first: String,
        /// The other one.
        second: String,
    },
    /// Where an added token takes the blanks after it, another one that is blank would end before it starts.
    #[error(
        "the added token {stripping:?} strips the blanks on its right, and {blank:?}, which is blank, those on its \
         left: in some texts the second would end before it starts; expected no such two, drop one of the flags"
    )]
    OverlappingAddedTokens {
        /// The token that takes blanks.
        stripping: String,
        /// The token of blanks.
        blank: String,
    },
    /// Characters are merged, by scores, not bytes.
    #[error("the vocabulary merges characters by scores: expected one that merges bytes")]
    CharactersMerge,
    /// Texts cannot be normalized as the model says.
    #[error(transparent)]
    Normalizer(#[from] NormalizerError),
}

/// Why a pattern cannot split text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PatternError {
    /// The regular expression engine does not support the pattern.
    #[error("the pattern {pattern:?} does not compile: {reason}")]
    Unsupported {
        /// The pattern.
        pattern: String,
        /// The message of the engine.
        reason: String,
    },
    /// The pattern can match the empty string, so that splitting would not advance.
    #[error(
        "the pattern {0:?} can match the empty string: expected every match to take at least one \
         character; replace an outer `*` by `+`, or drop the empty alternative"
    )]
    MatchesEmpty(String),
}

/// Why encoding stopped.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The caller's [`Checkpoint`](crate::checkpoint::Checkpoint) stopped it.
    #[error("encoding was interrupted")]
    Interrupted,
    /// The pattern's engine gave up, as a backtracking engine may on some texts.
    #[error("the pattern cannot split this text: {0}")]
    Pattern(String),
    /// The engine of a normalizer's pattern gave up, or it matches the empty string in this text.
    #[error("the pattern of a normalizer cannot be replaced in this text: {0}")]
    Normalizer(String),
    /// A splitter supplied by the caller failed.
    #[error("the splitter failed: {0}")]
    Splitter(Box<dyn error::Error + Send + Sync>),
    /// A piece is longer than the merge engines can index.
    #[error(
        "a piece of {0} bytes is too long: expected fewer than 4294967295; split the text before encoding"
    )]
    PieceTooLong(usize),
    /// A piece is not made of tokens, and there is no unknown token, or its text is no token of the vocabulary.
    #[error(
        "the text needs {}, which the vocabulary does not have: expected text of its tokens only",
        display_unknown(.0.as_deref())
    )]
    NoUnknown(Option<String>),
    /// The text contains a disallowed string.
    #[error(
        "the special token {token:?} occurs at character {start}: expected text without it; allow it, or do \
         not disallow it to have it encoded as ordinary text"
    )]
    Disallowed {
        /// The string: the leftmost, then longest.
        token: String,
        /// Number of characters before it.
        start: usize,
    },
    /// A character has more ids than a part of a text may have.
    #[error(
        "no part of the text that begins at character {start} has at most {limit} tokens: {character:?} takes \
         {count} by itself; expected max_tokens to be at least that"
    )]
    NoRoom {
        /// The character.
        character: char,
        /// Number of characters before it.
        start: usize,
        /// Number of ids it has by itself.
        count: usize,
        /// Number of ids a part may have.
        limit: usize,
    },
    /// Memory for the ids could not be allocated.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

impl EncodeError {
    /// Returns the error of a text that stands behind some characters of another.
    pub(crate) fn behind(self, characters: usize) -> Self {
        match self {
            Self::Disallowed { token, start } => {
                let start = characters + start;
                Self::Disallowed { token, start }
            }
            other => other,
        }
    }
}

/// Why training stopped.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The caller's [`Checkpoint`](crate::checkpoint::Checkpoint) stopped it.
    #[error("training was interrupted")]
    Interrupted,
    /// A text could not be split.
    #[error(transparent)]
    Split(EncodeError),
    /// The sum of all counts exceeds 64 bits.
    #[error(
        "all occurrences together, weighted, are more than 18446744073709551615: expected counts whose sum is \
         below that; divide them by a common factor"
    )]
    TooManyOccurrences,
    /// A piece has as many symbols: 2^30 or more.
    #[error(
        "a piece of {0} bytes (SentencePiece: characters) is too long: expected fewer than 1073741824; use \
         a pattern that splits the text more, or cut it into shorter texts"
    )]
    PieceTooLong(usize),
    /// There are 2^30 tokens or more, or as many pieces that occur 2^30 times or more.
    #[error(
        "there are 1073741824 tokens or more, or as many pieces that occur that often: expected fewer; learn \
         fewer merges, or divide all counts by a common factor"
    )]
    TooLarge,
    /// A byte has no token in the initial vocabulary.
    #[error(
        "the initial vocabulary has no token for the byte {}: expected each of the 256 bytes once",
        display_bytes(&[*.0])
    )]
    MissingByte(u8),
    /// The initial merges form no vocabulary.
    #[error("the initial merges are no vocabulary: {0}")]
    Initial(VocabularyError),
    /// Pieces beyond the memory limit could not be written to a temporary file, or read back.
    #[error(
        "{0}: expected room in the directory for temporary files, for pieces that the memory limit leaves \
         none for; make room, name another directory, or raise the limit"
    )]
    TemporaryFile(io::Error),
    /// A piece of sorted counts is not greater than the one before it.
    #[error("expected sorted counts, each piece once, got {} after a greater or equal piece", display_bytes(.0))]
    NotSorted(Vec<u8>),
    /// A piece of sorted counts is empty or does not occur.
    #[error(
        "expected pieces that are not empty and counts of at least 1 in sorted counts, got {}",
        display_bytes(.0)
    )]
    NotCounted(Vec<u8>),
    /// Reading or writing sorted counts failed.
    #[error(transparent)]
    Tables(Box<dyn error::Error + Send + Sync>),
}

impl From<Interrupted> for TrainError {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

impl From<EncodeError> for TrainError {
    fn from(error: EncodeError) -> Self {
        match error {
            EncodeError::Interrupted => Self::Interrupted,
            other => Self::Split(other),
        }
    }
}

/// Why decoding stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The caller's [`Checkpoint`](crate::checkpoint::Checkpoint) stopped it.
    #[error("decoding was interrupted")]
    Interrupted,
    /// An id has no token.
    #[error("Invalid token for decoding: {0}")]
    UnknownToken(TokenId),
    /// Memory for the bytes could not be allocated.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

/// Why a session could not be changed.
#[derive(Debug, Error)]
pub enum SessionError {
    /// Text could not be encoded, or ids could not be decoded.
    #[error(transparent)]
    Text(CanonicalError),
    /// The edit begins or ends inside the text of pinned ids.
    #[error(
        "characters {} to {} are the text of appended token IDs, which are kept as they are, so characters {} to {} \
         cannot be replaced: expected a range with all of them or none; to end the text inside, expected the end of \
         one of these tokens",
        .pinned.start, .pinned.end, .edited.start, .edited.end
    )]
    Pinned {
        /// The characters of that text.
        pinned: Range<usize>,
        /// Those that were to be replaced.
        edited: Range<usize>,
    },
}

impl From<EncodeError> for SessionError {
    fn from(error: EncodeError) -> Self {
        Self::Text(error.into())
    }
}

impl From<DecodeError> for SessionError {
    fn from(error: DecodeError) -> Self {
        Self::Text(error.into())
    }
}

/// Why ids could not be compared with those of their text.
#[derive(Debug, Error)]
pub enum CanonicalError {
    /// They could not be decoded.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// Their text could not be encoded.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// Why reading lines of JSON stopped.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum JsonLinesError {
    /// The caller's [`Checkpoint`](crate::checkpoint::Checkpoint) stopped it.
    #[error("reading lines of JSON was interrupted")]
    Interrupted,
    /// A line is invalid.
    #[error("line {number}: {reason}")]
    Line {
        /// Number of the line in the block, from 1.
        number: usize,
        /// Expected and actual contents.
        reason: String,
    },
}

impl From<Interrupted> for JsonLinesError {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

impl From<Interrupted> for EncodeError {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

impl From<Interrupted> for DecodeError {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}
