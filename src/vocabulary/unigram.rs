//! Vocabularies whose tokens have scores: Unigram, of Hugging Face's `tokenizers` and of SentencePiece.
//!
//! A piece becomes the tokens whose scores have the greatest sum. A character that is no token by itself may be unknown
//! instead, with a score below all others; what is unknown is spelled by the tokens of its bytes, if there are such.

use crate::error::{EncodeError, VocabularyError};
use crate::token::{NO_TOKEN, TokenId};
use crate::unicode::character::length_of;
use crate::util::memory;
use crate::vocabulary::characters::ByteSpelling;
use crate::vocabulary::trie::Trie;

/// The set of the trie.
const ALL: usize = 0;

/// An unknown character has the lowest score of tokens, less this.
pub const PENALTY: f64 = 10.0;

/// Tokens with scores.
#[derive(Debug)]
pub struct ScoreList<'a> {
    /// The texts of tokens, none twice and none empty, as they are found in pieces, with their ids.
    pub texts: Vec<(&'a [u8], TokenId)>,
    /// The score of each id; of an id without a text, too.
    pub scores: Vec<f64>,
    /// The token of what is unknown.
    pub unknown: Option<TokenId>,
    /// The score of an unknown character.
    pub unknown_score: f64,
    /// Spells unknown text, if each of its bytes has a token.
    pub spelling: Option<ByteSpelling>,
    /// How sums are made, and what is unknown.
    pub origin: Origin,
}

/// The library that a model is made for: they compute differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `tokenizers`: sums are doubles. What is unknown in a row is one text, which is looked up as a whole.
    Tokenizers,
    /// SentencePiece: sums are floats of single precision, which start again where they are large. What is unknown are
    /// single characters.
    SentencePiece,
}

/// Numbers to encode a text by chunks, if sums of scores run through it: see [`sums`](crate::merge::sums).
#[derive(Debug)]
pub(crate) struct Chunks {
    /// The number that each token adds to the sum of scores. An unknown character that several tokens spell counts with
    /// the first of these.
    pub(crate) steps: Vec<f64>,
    /// The score of the greatest magnitude.
    pub(crate) largest: f64,
    /// The most that an addition rounds by; `None` if sums may be too large to know.
    pub(crate) unit: Option<f64>,
}

/// Tokens with scores. See the module.
#[derive(Debug)]
pub struct Unigram {
    /// Each text with its score beside its token: one load for both.
    trie: Trie<(f64, TokenId)>,
    scores: Vec<f64>,
    unknown: Option<TokenId>,
    unknown_score: f64,
    spelling: Option<ByteSpelling>,
    origin: Origin,
    chunks: Option<Chunks>,
}

impl Unigram {
    /// Builds the tables of a list.
    ///
    /// # Errors
    /// [`VocabularyError::TooLarge`].
    ///
    /// # Complexity
    /// O(n log n) comparisons for n texts, then O(total bytes).
    pub fn new(list: ScoreList<'_>) -> Result<Self, VocabularyError> {
        let ScoreList {
            texts,
            scores,
            unknown,
            unknown_score,
            spelling,
            origin,
        } = list;
        let chunks = (origin == Origin::SentencePiece).then(|| {
            let found = texts.iter().map(|(_, id)| scores[*id as usize]);
            let largest = found.fold(unknown_score.abs(), |most, score| most.max(score.abs()));
            Chunks::new(&scores, largest, unknown_score, unknown, spelling.as_ref())
        });
        let texts = texts
            .into_iter()
            .map(|(text, id)| (text, (scores[id as usize], id)));
        Ok(Self {
            trie: Trie::new(vec![memory::collect(texts)])?,
            scores,
            unknown,
            unknown_score,
            spelling,
            origin,
            chunks,
        })
    }

    /// Passes the length, the id and the score of each token that `text` begins with to `each`, the shortest first; then
    /// [`NO_TOKEN`] for its first character, if that is no token by itself. Returns the length of that character.
    ///
    /// # Complexity
    /// O(length of the longest token).
    #[inline]
    pub(crate) fn candidates(
        &self,
        text: &[u8],
        mut each: impl FnMut(usize, TokenId, f64),
    ) -> usize {
        // Only a damaged map of characters makes text that ends inside of a character.
        let character = length_of(text[0]).min(text.len());
        let mut is_known = false;
        self.trie.prefixes(ALL, text, |length, (score, id)| {
            is_known |= length == character;
            each(length, id, score);
        });
        if !is_known {
            each(character, NO_TOKEN, self.unknown_score);
        }
        character
    }

    /// Returns the token that is exactly `text`.
    ///
    /// # Complexity
    /// O(length of the longest token).
    pub(crate) fn token(&self, text: &[u8]) -> Option<TokenId> {
        let found = self.trie.longest(ALL, text);
        found
            .filter(|(length, _)| *length == text.len())
            .map(|(_, (_, id))| id)
    }

    /// The scores of tokens by id.
    pub(super) fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Returns the token of what is unknown.
    ///
    /// # Errors
    /// [`EncodeError::NoUnknown`] if there is none.
    #[inline]
    pub(crate) fn unknown(&self) -> Result<TokenId, EncodeError> {
        self.unknown.ok_or(EncodeError::NoUnknown(None))
    }

    /// Returns whether a token is the one of what is unknown.
    #[inline]
    pub(crate) fn is_unknown(&self, id: TokenId) -> bool {
        self.unknown == Some(id)
    }

    /// Spells what is unknown, if it is spelled.
    pub(crate) fn spelling(&self) -> Option<&ByteSpelling> {
        self.spelling.as_ref()
    }

    /// Numbers to encode by chunks, if sums run through a text.
    pub(crate) fn chunks(&self) -> Option<&Chunks> {
        self.chunks.as_ref()
    }

    /// How sums are made, and what is unknown.
    pub(crate) fn origin(&self) -> Origin {
        self.origin
    }

    /// Number of bytes that the tables occupy.
    pub(super) fn memory(&self) -> usize {
        let steps = self
            .chunks
            .as_ref()
            .map_or(0, |chunks| chunks.steps.capacity());
        self.trie.memory() + size_of::<f64>() * (self.scores.capacity() + steps)
    }
}

impl Chunks {
    /// Only shorter chunks may be cached: this times the largest score is how far sums go inside of one.
    pub(crate) const LONGEST: u8 = 64;

    /// Sums of SentencePiece start again beyond 100,000. Scores up to this keep those of a chunk below 2^17, and near
    /// enough to that bound for the difference to be exact.
    const LARGEST_SCORE: f64 = 480.0;

    /// Half of the distance between two numbers of single precision below 2^17, and some more for the rounding of bounds.
    const UNIT: f64 = 1.01 / 256.0;

    fn new(
        scores: &[f64],
        largest: f64,
        unknown_score: f64,
        unknown: Option<TokenId>,
        spelling: Option<&ByteSpelling>,
    ) -> Self {
        let mut steps = memory::collect(scores.iter().copied());
        if let Some(unknown) = unknown {
            steps[unknown as usize] = unknown_score;
        }
        for (byte, id) in spelling.into_iter().flat_map(ByteSpelling::tokens) {
            let starts_character = byte & 0xC0 != 0x80;
            if let Some(step) = steps.get_mut(id as usize) {
                *step = if starts_character { unknown_score } else { 0.0 };
            }
        }
        Self {
            steps,
            largest,
            unit: (largest <= Self::LARGEST_SCORE).then_some(Self::UNIT),
        }
    }
}
