//! Vocabularies of words and their parts: WordPiece and WordLevel of Hugging Face's `tokenizers`.
//!
//! A piece becomes, from left to right, the longest tokens that it consists of; behind the first, those whose text begins
//! with a **prefix** that says so (`##ing`). A piece that is not made of tokens from end to end is the unknown token, and so
//! is one of too many characters. With [`Parts::Whole`], only a piece that is a token as a whole is known.

use crate::checkpoint;
use crate::error::{EncodeError, VocabularyError};
use crate::token::TokenId;
use crate::vocabulary::trie::Trie;

/// The sets of the trie: tokens at the start of a piece, and behind others.
const START: usize = 0;
const INSIDE: usize = 1;

/// Tokens between two passes of the checkpoint: a millisecond.
const CHECK_INTERVAL: usize = 1 << 14;

/// The tokens that a piece may consist of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parts {
    /// One token.
    Whole,
    /// Several tokens.
    Several {
        /// Stands before the text of each but the first.
        prefix: Vec<u8>,
        /// The most characters of a piece; longer ones are unknown.
        longest: usize,
    },
}

/// How words are built.
#[derive(Debug)]
pub struct WordList<'a> {
    /// The texts of tokens, none twice, as they are found in pieces. Empty ones never are.
    pub texts: Vec<(&'a [u8], TokenId)>,
    /// The tokens that a piece may consist of.
    pub parts: Parts,
    /// The text of the unknown token.
    pub unknown: String,
    /// Its id, if it is a token.
    pub unknown_id: Option<TokenId>,
}

/// Words and their parts. See the module.
#[derive(Debug)]
pub struct Words {
    trie: Trie,
    parts: Parts,
    unknown: String,
    unknown_id: Option<TokenId>,
}

impl Words {
    /// Builds the words of a list.
    ///
    /// # Errors
    /// [`VocabularyError::TooLarge`].
    ///
    /// # Complexity
    /// O(n log n) comparisons for n texts, then O(total bytes).
    pub fn new<'a>(list: WordList<'a>) -> Result<Self, VocabularyError> {
        let WordList {
            texts,
            parts,
            unknown,
            unknown_id,
        } = list;
        let mut sets = vec![texts.clone()];
        if let Parts::Several { prefix, .. } = &parts {
            let rest = |(text, id): (&'a [u8], TokenId)| Some((text.strip_prefix(&**prefix)?, id));
            sets.push(texts.into_iter().filter_map(rest).collect());
        }
        for set in &mut sets {
            set.retain(|(text, _)| !text.is_empty());
        }
        Ok(Self {
            trie: Trie::new(sets)?,
            parts,
            unknown,
            unknown_id,
        })
    }

    /// Passes the tokens of a piece, which is not empty, to `each`, with the number of bytes of each; returns whether it is
    /// made of tokens. If it is not, what was passed counts for nothing.
    ///
    /// # Errors
    /// [`EncodeError::Interrupted`] from the checkpoint.
    ///
    /// # Complexity
    /// O(n) look-ups for n bytes, each as long as the longest token at most.
    pub(crate) fn split(
        &self,
        piece: &[u8],
        mut each: impl FnMut(TokenId, usize),
    ) -> Result<bool, EncodeError> {
        let first = self.trie.longest(START, piece);
        let Parts::Several { longest, .. } = &self.parts else {
            let whole = first.filter(|(length, _)| *length == piece.len());
            if let Some((length, id)) = whole {
                each(id, length);
            }
            return Ok(whole.is_some());
        };
        let Some((mut at, id)) = first.filter(|_| !is_longer(piece, *longest)) else {
            return Ok(false);
        };
        each(id, at);
        let mut count = 0;
        while at < piece.len() {
            count += 1;
            if count % CHECK_INTERVAL == 0 {
                checkpoint::pass()?;
            }
            let Some((length, id)) = self.trie.longest(INSIDE, &piece[at..]) else {
                return Ok(false);
            };
            each(id, length);
            at += length;
        }
        Ok(true)
    }

    /// Returns the token of a piece that is not made of tokens.
    ///
    /// # Errors
    /// [`EncodeError::NoUnknown`] if there is none.
    pub(crate) fn unknown(&self) -> Result<TokenId, EncodeError> {
        let missing = || EncodeError::NoUnknown(self.unknown.clone());
        self.unknown_id.ok_or_else(missing)
    }

    /// Returns whether the text of a token, as a piece, becomes that token.
    pub(super) fn is_own(&self, text: &[u8]) -> bool {
        match self.parts {
            Parts::Whole => true,
            Parts::Several { longest, .. } => !is_longer(text, longest),
        }
    }

    /// Number of bytes that the tables occupy.
    pub(super) fn memory(&self) -> usize {
        self.trie.memory()
    }
}

/// Returns whether a piece has more characters than that.
fn is_longer(piece: &[u8], characters: usize) -> bool {
    let begins = |byte: &&u8| **byte & 0xC0 != 0x80;
    piece.len() > characters && piece.iter().filter(begins).count() > characters
}
