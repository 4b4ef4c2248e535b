//! Errors. Each message says what was expected, what came instead, and how to fix it.

use std::error::Error;
use std::fmt;
use std::io;
use std::ops::Range;

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

/// Allocating this many bytes failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory(pub usize);

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(bytes) = self;
        write!(
            f,
            "there is no room for {bytes} bytes in memory: expected a smaller request; make it in several parts"
        )
    }
}

impl Error for OutOfMemory {}

/// Why a normalizer cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NormalizerError {
    /// A map of characters ends before its array does. It has this many bytes.
    Truncated(usize),
    /// The array of a map has this size in bytes, which no array has.
    ArraySize(usize),
    /// The last value of a map is not ended by NUL.
    UnendedValue,
    /// The unit at this place in the array of a map points outside of the map.
    BadUnit(usize),
    /// A value of a map is too long.
    LongValue {
        /// Its bytes.
        bytes: usize,
        /// The most that a value may have.
        most: usize,
    },
    /// A value of a map is not UTF-8.
    NotUtf8,
    /// So many user-defined symbols need too much memory.
    TooManySymbols(usize),
    /// The rule of this number, or on this line, is none; what was expected.
    BadRule(usize, &'static str),
    /// There are more rules than a map can hold.
    TooManyRules,
    /// A step puts the empty string in front of texts.
    EmptyPrepend,
    /// A step replaces the empty string.
    MatchesEmpty,
}

impl fmt::Display for NormalizerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated(length) => write!(
                f,
                "the precompiled_charsmap ends inside its array, after {length} bytes: \
                 expected the bytes that a normalizer_spec of SentencePiece holds, or none"
            ),
            Self::ArraySize(size) => write!(
                f,
                "the array of the precompiled_charsmap has {size} bytes: expected a multiple of 1024"
            ),
            Self::UnendedValue => write!(
                f,
                "the precompiled_charsmap ends inside a value: expected a NUL at the end of each"
            ),
            Self::BadUnit(place) => write!(
                f,
                "unit {place} of the array of the precompiled_charsmap points outside of it: \
                 expected the bytes that a normalizer_spec of SentencePiece holds, or none"
            ),
            Self::LongValue { bytes, most } => write!(
                f,
                "a value of the precompiled_charsmap has {bytes} bytes: expected at most {most}"
            ),
            Self::NotUtf8 => write!(
                f,
                "a value of the precompiled_charsmap is not UTF-8: expected text in place of text"
            ),
            Self::TooManySymbols(count) => write!(
                f,
                "{count} user-defined symbols need more memory than can be addressed: expected fewer or shorter ones"
            ),
            Self::BadRule(number, expected) => {
                write!(f, "rule {number} of the normalization: expected {expected}")
            }
            Self::TooManyRules => write!(
                f,
                "there are more rules of normalization than a precompiled_charsmap can hold: expected fewer"
            ),
            Self::EmptyPrepend => write!(
                f,
                "a normalizer prepends the empty string: expected at least one character; leave the normalizer out"
            ),
            Self::MatchesEmpty => write!(
                f,
                "the pattern of a normalizer that replaces can match the empty string: expected one that matches at \
                 least one character"
            ),
        }
    }
}

impl Error for NormalizerError {}

/// Why tokens do not form a vocabulary.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VocabularyError {
    /// A byte has no token of its own, so text that holds it could not be encoded.
    MissingByte(u8),
    /// Two tokens share an id.
    DuplicateId {
        /// The id that both claim.
        id: TokenId,
        /// The token listed first.
        first: Vec<u8>,
        /// The token that claims the id again.
        second: Vec<u8>,
    },
    /// The same bytes are listed under two ids.
    DuplicateToken {
        /// The bytes of the token.
        token: Vec<u8>,
        /// Its ids.
        ids: (TokenId, TokenId),
    },
    /// A token is empty.
    EmptyToken(TokenId),
    /// The id is reserved for "no token".
    IdTooLarge(Vec<u8>),
    /// A merge has a part that no token before it is.
    UnknownPart {
        /// The token that the merge would make.
        id: TokenId,
        /// The part that is missing.
        part: TokenId,
    },
    /// A merge makes a token whose id is below that of an earlier merge.
    OutOfOrder {
        /// The token that the merge would make.
        id: TokenId,
        /// The highest id so far.
        last: TokenId,
    },
    /// All tokens together need more than 4 GiB.
    TooLarge,
    /// A table of a published vocabulary has another format than expected.
    BadTable(&'static str),
    /// The merges of lower rank do not leave exactly two parts of a token.
    NotTwoParts {
        /// The token.
        token: Vec<u8>,
        /// Number of parts that remain.
        parts: usize,
    },
    /// No list of merges gives the ids that merging by rank gives, because of this token.
    MadeOfHigher {
        /// The token.
        token: Vec<u8>,
        /// Its id.
        id: TokenId,
    },
    /// A special token is the empty string, which would match everywhere.
    EmptySpecialToken(TokenId),
    /// An added token cannot be normalized.
    AddedToken {
        /// The token.
        content: String,
        /// Why not.
        reason: String,
    },
    /// Two added tokens are the same in normalized text.
    AmbiguousAddedTokens {
        /// The one listed first.
        first: String,
        /// The other one.
        second: String,
    },
    /// Where an added token takes the blanks after it, another one that is blank would end before it starts.
    OverlappingAddedTokens {
        /// The token that takes blanks.
        stripping: String,
        /// The token of blanks.
        blank: String,
    },
    /// Characters are merged, by scores, not bytes.
    CharactersMerge,
    /// Texts cannot be normalized as the model says.
    Normalizer(NormalizerError),
}

impl From<NormalizerError> for VocabularyError {
    fn from(error: NormalizerError) -> Self {
        Self::Normalizer(error)
    }
}

impl fmt::Display for VocabularyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingByte(byte) => write!(
                f,
                "the vocabulary has no token for the single byte {}: every one of the 256 bytes needs a token, \
                 or text that contains it cannot be encoded; add it to mergeable_ranks",
                display_bytes(&[*byte])
            ),
            Self::DuplicateId { id, first, second } => write!(
                f,
                "the id {id} is given to two tokens, {} and {}: expected one token for each id",
                display_bytes(first),
                display_bytes(second)
            ),
            Self::DuplicateToken { token, ids } => write!(
                f,
                "the token {} has two ids, {} and {}: expected one id for each token",
                display_bytes(token),
                ids.0,
                ids.1
            ),
            Self::EmptyToken(id) => {
                write!(
                    f,
                    "the token with id {id} is empty: expected at least one byte in each token"
                )
            }
            Self::IdTooLarge(token) => {
                write!(
                    f,
                    "the token {} has the id 4294967295: expected ids below that",
                    display_bytes(token)
                )
            }
            Self::UnknownPart { id, part } => write!(
                f,
                "the merge that makes token {id} names token {part}, which is not made yet: \
                 expected both parts to be byte tokens or made by earlier merges"
            ),
            Self::OutOfOrder { id, last } => write!(
                f,
                "the merge that makes token {id} comes after token {last}: expected merges in the order of their ids"
            ),
            Self::TooLarge => write!(f, "the tokens hold more than 4 GiB together: expected less"),
            Self::BadTable(reason) => write!(f, "malformed table of a vocabulary: {reason}"),
            Self::NotTwoParts { token, parts } => write!(
                f,
                "the token {} comes apart in {parts} parts under the merges of lower rank: \
                 expected exactly two, so it cannot be written as a merge",
                display_bytes(token)
            ),
            Self::MadeOfHigher { token, id } => write!(
                f,
                "the token {} with the id {id} is made of a token with a higher id: merging by a list of pairs would give \
                 different token IDs than merging by rank",
                display_bytes(token)
            ),
            Self::Normalizer(error) => error.fmt(f),
            Self::CharactersMerge => write!(
                f,
                "the vocabulary merges characters by scores: expected one that merges bytes"
            ),
            Self::AddedToken { content, reason } => {
                write!(
                    f,
                    "the added token {content:?} cannot be normalized: {reason}"
                )
            }
            Self::AmbiguousAddedTokens { first, second } => write!(
                f,
                "the added tokens {first:?} and {second:?} are the same after normalization, so that one of them would \
                 be found at random: expected different ones; set their `normalized` to false, or drop one"
            ),
            Self::OverlappingAddedTokens { stripping, blank } => write!(
                f,
                "the added token {stripping:?} strips the blanks on its right, and {blank:?}, which is blank, those on its \
                 left: in some texts the second would end before it starts; expected no such two, drop one of the flags"
            ),
            Self::EmptySpecialToken(id) => write!(
                f,
                "the special token with id {id} is the empty string, which would match everywhere: \
                 expected at least one character"
            ),
        }
    }
}

impl Error for VocabularyError {}

/// Why a pattern cannot split text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatternError {
    /// The regular expression engine does not support the pattern.
    Unsupported {
        /// The pattern.
        pattern: String,
        /// The message of the engine.
        reason: String,
    },
    /// The pattern can match the empty string, so that splitting would not advance.
    MatchesEmpty(String),
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported { pattern, reason } => {
                write!(f, "the pattern {pattern:?} does not compile: {reason}")
            }
            Self::MatchesEmpty(pattern) => write!(
                f,
                "the pattern {pattern:?} can match the empty string: expected every match to take at least one \
                 character; replace an outer `*` by `+`, or drop the empty alternative"
            ),
        }
    }
}

impl Error for PatternError {}

/// Why encoding stopped.
#[derive(Debug)]
#[non_exhaustive]
pub enum EncodeError {
    /// The caller's [`Checkpoint`](crate::checkpoint::Checkpoint) stopped it.
    Interrupted,
    /// The pattern's engine gave up, as a backtracking engine may on some texts.
    Pattern(String),
    /// The engine of a normalizer's pattern gave up, or it matches the empty string in this text.
    Normalizer(String),
    /// A splitter supplied by the caller failed.
    Splitter(Box<dyn Error + Send + Sync>),
    /// A piece is longer than the merge engines can index.
    PieceTooLong(usize),
    /// A piece is not made of tokens, and there is no unknown token, or its text is no token of the vocabulary.
    NoUnknown(Option<String>),
    /// The text contains a disallowed string.
    Disallowed {
        /// The string: the leftmost, then longest.
        token: String,
        /// Number of characters before it.
        start: usize,
    },
    /// A character has more ids than a part of a text may have.
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
    OutOfMemory(OutOfMemory),
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

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => write!(f, "encoding was interrupted"),
            Self::Pattern(reason) => write!(f, "the pattern cannot split this text: {reason}"),
            Self::Normalizer(reason) => write!(
                f,
                "the pattern of a normalizer cannot be replaced in this text: {reason}"
            ),
            Self::Splitter(error) => write!(f, "the splitter failed: {error}"),
            Self::PieceTooLong(length) => write!(
                f,
                "a piece of {length} bytes is too long: expected fewer than 4294967295; split the text before encoding"
            ),
            Self::NoUnknown(None) => write!(
                f,
                "the text needs an unknown token, which the vocabulary does not have: expected text of its tokens only"
            ),
            Self::NoUnknown(Some(token)) => write!(
                f,
                "the text needs the unknown token {token:?}, which the vocabulary does not have: expected text of its \
                 tokens only"
            ),
            Self::Disallowed { token, start } => write!(
                f,
                "the special token {token:?} occurs at character {start}: expected text without it; allow it, or do \
                 not disallow it to have it encoded as ordinary text"
            ),
            Self::NoRoom {
                character,
                start,
                count,
                limit,
            } => write!(
                f,
                "no part of the text that begins at character {start} has at most {limit} tokens: {character:?} takes \
                 {count} by itself; expected max_tokens to be at least that"
            ),
            Self::OutOfMemory(error) => error.fmt(f),
        }
    }
}

impl Error for EncodeError {}

/// Why training stopped.
#[derive(Debug)]
#[non_exhaustive]
pub enum TrainError {
    /// The caller's [`Checkpoint`](crate::checkpoint::Checkpoint) stopped it.
    Interrupted,
    /// A text could not be split.
    Split(EncodeError),
    /// The sum of all counts exceeds 64 bits.
    TooManyOccurrences,
    /// A piece has as many symbols: 2^30 or more.
    PieceTooLong(usize),
    /// There are 2^30 tokens or more, or as many pieces that occur 2^30 times or more.
    TooLarge,
    /// A byte has no token in the initial vocabulary.
    MissingByte(u8),
    /// The initial merges form no vocabulary.
    Initial(VocabularyError),
    /// Pieces beyond the memory limit could not be written to a temporary file, or read back.
    TemporaryFile(io::Error),
    /// A piece of sorted counts is not greater than the one before it.
    NotSorted(Vec<u8>),
    /// A piece of sorted counts is empty or does not occur.
    NotCounted(Vec<u8>),
    /// Reading or writing sorted counts failed.
    Tables(Box<dyn Error + Send + Sync>),
}

impl fmt::Display for TrainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => write!(f, "training was interrupted"),
            Self::Split(error) => error.fmt(f),
            Self::TooManyOccurrences => write!(
                f,
                "all occurrences together, weighted, are more than 18446744073709551615: expected counts whose sum is \
                 below that; divide them by a common factor"
            ),
            Self::PieceTooLong(length) => write!(
                f,
                "a piece of {length} bytes (SentencePiece: characters) is too long: expected fewer than 1073741824; use \
                 a pattern that splits the text more, or cut it into shorter texts"
            ),
            Self::TooLarge => write!(
                f,
                "there are 1073741824 tokens or more, or as many pieces that occur that often: expected fewer; learn \
                 fewer merges, or divide all counts by a common factor"
            ),
            Self::MissingByte(byte) => write!(
                f,
                "the initial vocabulary has no token for the byte {}: expected each of the 256 bytes once",
                display_bytes(&[*byte])
            ),
            Self::Initial(error) => write!(f, "the initial merges are no vocabulary: {error}"),
            Self::TemporaryFile(error) => write!(
                f,
                "{error}: expected room in the directory for temporary files, for pieces that the memory limit leaves \
                 none for; make room, name another directory, or raise the limit"
            ),
            Self::NotSorted(piece) => write!(
                f,
                "expected sorted counts, each piece once, got {} after a greater or equal piece",
                display_bytes(piece)
            ),
            Self::NotCounted(piece) => write!(
                f,
                "expected pieces that are not empty and counts of at least 1 in sorted counts, got {}",
                display_bytes(piece)
            ),
            Self::Tables(error) => error.fmt(f),
        }
    }
}

impl Error for TrainError {}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// The caller's [`Checkpoint`](crate::checkpoint::Checkpoint) stopped it.
    Interrupted,
    /// An id has no token.
    UnknownToken(TokenId),
    /// Memory for the bytes could not be allocated.
    OutOfMemory(OutOfMemory),
}

/// Why a session could not be changed.
#[derive(Debug)]
pub enum SessionError {
    /// Text could not be encoded, or ids could not be decoded.
    Text(CanonicalError),
    /// The edit begins or ends inside the text of pinned ids.
    Pinned {
        /// The characters of that text.
        pinned: Range<usize>,
        /// Those that were to be replaced.
        edited: Range<usize>,
    },
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(error) => error.fmt(f),
            Self::Pinned { pinned, edited } => write!(
                f,
                "characters {} to {} are the text of appended token IDs, which are kept as they are, so characters {} to {} \
                 cannot be replaced: expected a range with all of them or none; to end the text inside, expected the end of \
                 one of these tokens",
                pinned.start, pinned.end, edited.start, edited.end
            ),
        }
    }
}

impl Error for SessionError {}

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
#[derive(Debug)]
pub enum CanonicalError {
    /// They could not be decoded.
    Decode(DecodeError),
    /// Their text could not be encoded.
    Encode(EncodeError),
}

impl fmt::Display for CanonicalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decode(error) => error.fmt(f),
            Self::Encode(error) => error.fmt(f),
        }
    }
}

impl Error for CanonicalError {}

impl From<DecodeError> for CanonicalError {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

impl From<EncodeError> for CanonicalError {
    fn from(error: EncodeError) -> Self {
        Self::Encode(error)
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => write!(f, "decoding was interrupted"),
            Self::UnknownToken(id) => write!(f, "Invalid token for decoding: {id}"),
            Self::OutOfMemory(error) => error.fmt(f),
        }
    }
}

impl Error for DecodeError {}

/// Why reading lines of JSON stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonLinesError {
    /// The caller's [`Checkpoint`](crate::checkpoint::Checkpoint) stopped it.
    Interrupted,
    /// A line is invalid.
    Line {
        /// Number of the line in the block, from 1.
        number: usize,
        /// Expected and actual contents.
        reason: String,
    },
}

impl fmt::Display for JsonLinesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => write!(f, "reading lines of JSON was interrupted"),
            Self::Line { number, reason } => write!(f, "line {number}: {reason}"),
        }
    }
}

impl Error for JsonLinesError {}

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

impl From<OutOfMemory> for EncodeError {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory(error)
    }
}

impl From<OutOfMemory> for DecodeError {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory(error)
    }
}
