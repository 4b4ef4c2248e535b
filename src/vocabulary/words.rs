//! Vocabularies of words and their parts: WordPiece and WordLevel of Hugging Face's `tokenizers`, and SentencePiece's models of
//! words and of characters.
//!
//! A piece becomes, from left to right, the longest tokens that it consists of; behind the first, those whose text begins
//! with a **prefix** that says so (`##ing`). A piece that is not made of tokens from end to end is the unknown token, and so
//! is one of too many characters. With [`Parts::Whole`], only a piece that is a token as a whole is known. In SentencePiece's models a part is
//! unknown, not the piece.

use crate::checkpoint;
use crate::error::{EncodeError, VocabularyError};

use crate::token::TokenId;
use crate::unicode::character::length_of;
use crate::vocabulary::characters::ByteSpelling;
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
    /// Words, each of which is one token, or unknown by itself: SentencePiece's models of words.
    Words {
        /// Begins each word but the first.
        mark: Vec<u8>,
    },
    /// Characters, each of which is one token, or unknown by itself: SentencePiece's models of characters.
    Characters,
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
    /// Spells unknown words and characters of SentencePiece's models.
    pub spelling: Option<ByteSpelling>,
}

/// Words and their parts. See the module.
#[derive(Debug)]
pub struct Words {
    trie: Trie<TokenId>,
    parts: Parts,
    unknown: String,
    unknown_id: Option<TokenId>,
    spelling: Option<ByteSpelling>,
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
            spelling,
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
            spelling,
        })
    }

    /// Passes the tokens of a piece, which is not empty, to `each`, with the start and the end of each.
    ///
    /// Returns false if the piece is unknown as a whole: what was passed counts for nothing then.
    ///
    /// # Errors
    /// [`EncodeError::Interrupted`] from the checkpoint; [`EncodeError::NoUnknown`].
    ///
    /// # Complexity
    /// O(n) look-ups for n bytes, each as long as the longest token at most.
    pub(crate) fn split(
        &self,
        piece: &[u8],
        mut each: impl FnMut(TokenId, (usize, usize)),
    ) -> Result<bool, EncodeError> {
        match &self.parts {
            Parts::Whole => Ok(self
                .whole(piece)
                .map(|id| each(id, (0, piece.len())))
                .is_some()),
            Parts::Several { longest, .. } => {
                Ok(!is_longer(piece, *longest) && self.split_in_several(piece, each)?)
            }
            Parts::Characters => {
                let next = |start: usize| start + length_of(piece[start]);
                self.split_one_by_one(piece, next, each).map(|()| true)
            }
            Parts::Words { mark } => {
                let next = |start: usize| {
                    let first = start + length_of(piece[start]);
                    let at = piece[first..]
                        .windows(mark.len())
                        .position(|bytes| bytes == mark);
                    at.map_or(piece.len(), |at| first + at)
                };
                self.split_one_by_one(piece, next, each).map(|()| true)
            }
        }
    }

    fn split_in_several(
        &self,
        piece: &[u8],
        mut each: impl FnMut(TokenId, (usize, usize)),
    ) -> Result<bool, EncodeError> {
        let (mut at, mut count) = (0, 0);
        while at < piece.len() {
            count += 1;
            if count % CHECK_INTERVAL == 0 {
                checkpoint::pass()?;
            }
            let set = if at == 0 { START } else { INSIDE };
            let Some((length, id)) = self.trie.longest(set, &piece[at..]) else {
                return Ok(false);
            };
            each(id, (at, at + length));
            at += length;
        }
        Ok(true)
    }

    /// Passes the token of each part of a piece, which ends at the `next` one of its start.
    fn split_one_by_one(
        &self,
        piece: &[u8],
        next: impl Fn(usize) -> usize,
        mut each: impl FnMut(TokenId, (usize, usize)),
    ) -> Result<(), EncodeError> {
        let (mut start, mut count) = (0, 0);
        while start < piece.len() {
            count += 1;
            if count % CHECK_INTERVAL == 0 {
                checkpoint::pass()?;
            }
            let span = (start, next(start).min(piece.len()));
            let text = &piece[span.0..span.1];
            if let Some(id) = self.whole(text) {
                each(id, span);
            } else if let Some(tokens) = self
                .spelling
                .as_ref()
                .and_then(|spelling| spelling.of(text))
            {
                tokens.for_each(|id| each(id, span));
            } else {
                each(self.unknown()?, span);
            }
            start = span.1;
        }
        Ok(())
    }

    /// Returns the token that a text is.
    fn whole(&self, text: &[u8]) -> Option<TokenId> {
        let found = self.trie.longest(START, text);
        found
            .filter(|(length, _)| *length == text.len())
            .map(|(_, id)| id)
    }

    /// Returns the token of a piece that is not made of tokens.
    ///
    /// # Errors
    /// [`EncodeError::NoUnknown`] if there is none.
    pub(crate) fn unknown(&self) -> Result<TokenId, EncodeError> {
        let missing = || EncodeError::NoUnknown(Some(self.unknown.clone()));
        self.unknown_id.ok_or_else(missing)
    }

    /// Returns whether the text of a token, as a piece, becomes that token.
    pub(super) fn is_own(&self, text: &[u8]) -> bool {
        match self.parts {
            Parts::Whole => true,
            Parts::Several { longest, .. } => !is_longer(text, longest),
            // Texts of these models are pieces as a whole.
            Parts::Words { .. } | Parts::Characters => false,
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
