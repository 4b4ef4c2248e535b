//! Merges that are listed: each pair with a rank of its own, its place in the list.
//!
//! That is BPE as Hugging Face's `tokenizers` has it. A symbol is a token, known by its id. The list says which pairs
//! of symbols merge and which token each makes; of all adjacent pairs that are listed, the one listed first merges
//! first, the leftmost among equals. Where a pair is listed twice, the later place counts. A token may be made of
//! several pairs, or of none.
//!
//! A piece begins as the symbols of its **alphabet**: bytes or characters. What has no token is [`Unknown`].

mod proved;
mod start;

use std::collections::HashMap;

use crate::error::VocabularyError;
use crate::token::{NO_TOKEN, Pair, TokenId};
use crate::unicode::character::decode;
use crate::util::hash::SeededState;
use crate::util::memory::{self, Growable};
use crate::vocabulary::byte_pairs::BytePairTable;
use crate::vocabulary::character_table::CharacterTable;
use crate::vocabulary::pair_table::PairTable;
use proved::{Proved, proved};

/// The symbols that pieces consist of before anything is merged.
#[derive(Debug)]
pub enum Alphabet {
    /// The token of each byte, [`NO_TOKEN`] where there is none.
    Bytes(Box<[TokenId; 256]>),
    /// The tokens of characters.
    Characters(Box<CharacterTable>),
    /// The tokens of characters, which depend on their place in the piece.
    Affixed(Box<Affixed>),
}

/// Tokens of characters that are written otherwise inside of a piece, or at its end.
#[derive(Debug, Default)]
pub struct Affixed {
    /// Stands before each character but the first.
    pub prefix: String,
    /// Stands after the last character.
    pub suffix: String,
    /// Whether pieces consist of bytes, each of which is the character that the byte alphabet has for it.
    pub is_of_bytes: bool,
    /// The first character of several.
    pub first: CharacterTable,
    /// Those between the first and the last.
    pub middle: CharacterTable,
    /// The last of several.
    pub last: CharacterTable,
    /// The only one.
    pub only: CharacterTable,
}

/// How bytes and characters that are no token are treated. With neither of these, it is left out.
#[derive(Debug, Default)]
pub struct Unknown {
    /// The tokens of bytes, where characters are spelt by them: a character of which all bytes have one becomes
    /// these.
    pub byte_tokens: Option<Box<[TokenId; 256]>>,
    /// The token of all others.
    pub token: Option<TokenId>,
    /// Whether several in a row become one.
    pub is_fused: bool,
}

/// How listed merges are built.
#[derive(Debug)]
pub struct Listing {
    /// The symbols that pieces consist of.
    pub alphabet: Alphabet,
    /// The merges in order of rank, each with the token that it makes, whose bytes are those of both parts.
    pub merges: Vec<(TokenId, Pair)>,
    /// How others are treated.
    pub unknown: Unknown,
    /// Whether a piece that is a token is looked up before anything is merged.
    pub whole_pieces: bool,
    /// Pieces that are tokens by their spelling, where these tokens have other bytes.
    pub spellings: Vec<(Vec<u8>, TokenId)>,
    /// The character whose bytes a space becomes, if it is no token.
    pub space: char,
}

/// A symbol of a piece before anything is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub(crate) id: TokenId,
    /// Number of bytes that it stands for as the vocabulary writes the piece.
    pub(crate) length: usize,
}

/// Merges that are listed. See the module.
#[derive(Debug)]
pub struct ListedMerges {
    alphabet: Alphabet,
    pairs: PairTable,
    /// The consequences of the list, if pieces consist of bytes.
    proved: Option<Proved>,
    /// The token that the pair of each rank makes.
    made: Vec<TokenId>,
    unknown: Unknown,
    whole_pieces: bool,
    spellings: HashMap<Vec<u8>, TokenId, SeededState>,
    space: char,
    knows_all_bytes: bool,
}

impl ListedMerges {
    /// Builds the merges of a list.
    ///
    /// # Errors
    /// [`VocabularyError::TooLarge`] if there are more merges than ranks.
    ///
    /// # Complexity
    /// O(merges).
    pub fn new(listing: Listing) -> Result<Self, VocabularyError> {
        let Listing {
            alphabet,
            merges,
            unknown,
            whole_pieces,
            spellings,
            space,
        } = listing;
        if TokenId::try_from(merges.len()).map_or(true, |count| count == NO_TOKEN) {
            return Err(VocabularyError::TooLarge);
        }
        let ranked = |(rank, &(_, pair)): (TokenId, &(TokenId, Pair))| (rank, pair);
        let mut ranked = memory::collect((0..).zip(&merges).map(ranked));
        let made = memory::collect(merges.into_iter().map(|(made, _)| made));
        let mut pairs = PairTable::of(&ranked);
        if pairs.len() < ranked.len() {
            ranked = last_of_each(&ranked);
            pairs = PairTable::of(&ranked);
        }
        let proved = match &alphabet {
            Alphabet::Bytes(tokens) => proved(tokens, &ranked, &pairs, &made),
            Alphabet::Characters(_) | Alphabet::Affixed(_) => None,
        };
        let knows_all_bytes = match &alphabet {
            Alphabet::Bytes(tokens) => !tokens.contains(&NO_TOKEN),
            Alphabet::Characters(_) | Alphabet::Affixed(_) => false,
        };
        Ok(Self {
            alphabet,
            pairs,
            proved,
            made,
            unknown,
            whole_pieces,
            spellings: memory::collect_table(spellings),
            space,
            knows_all_bytes,
        })
    }

    /// The table of pairs that merge, with the rank of each.
    #[inline]
    pub(crate) fn pairs(&self) -> &PairTable {
        &self.pairs
    }

    /// The table of forced merges, by rank, if pieces consist of bytes and these merges may be made first.
    #[inline]
    pub(crate) fn byte_pairs(&self) -> Option<&BytePairTable> {
        self.proved.as_ref().map(|proved| &proved.byte_pairs)
    }

    /// Returns whether merging the bytes of a token is known to yield it.
    pub(super) fn is_own(&self, id: TokenId) -> bool {
        let proved = self.proved.as_ref();
        proved.is_some_and(|proved| proved.is_own.get(id as usize) == Some(&true))
    }

    /// Returns the token that the pair of a rank makes.
    #[inline]
    pub(crate) fn made(&self, rank: TokenId) -> TokenId {
        self.made[rank as usize]
    }

    /// Number of ranks.
    pub(crate) fn ranks(&self) -> usize {
        self.made.len()
    }

    /// Returns whether pieces consist of bytes.
    #[inline]
    pub(crate) fn merges_bytes(&self) -> bool {
        matches!(self.alphabet, Alphabet::Bytes(_))
    }

    /// The symbols that pieces consist of.
    #[inline]
    pub(crate) fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    /// Returns whether a piece that is a token is looked up before anything is merged.
    #[inline]
    pub(crate) fn looks_up_whole_pieces(&self) -> bool {
        self.whole_pieces
    }

    /// Returns the token whose spelling a piece is, where the token has other bytes.
    pub(super) fn spelled(&self, piece: &[u8]) -> Option<TokenId> {
        self.spellings.get(piece).copied()
    }

    /// How bytes and characters that are no token are treated.
    pub fn unknown(&self) -> &Unknown {
        &self.unknown
    }

    /// The token of a byte, if those spell what is no token and a byte alone is a character that is spelt by itself.
    pub(crate) fn byte_token(&self, byte: u8) -> Option<TokenId> {
        let stands_for_more = byte == b' ' && self.space != ' ';
        let byte_tokens = self.unknown.byte_tokens.as_ref();
        let id = byte_tokens.filter(|_| !stands_for_more)?[usize::from(byte)];
        (id != NO_TOKEN).then_some(id)
    }

    /// Number of bytes that the tables occupy.
    pub(super) fn memory(&self) -> usize {
        let alphabet = match &self.alphabet {
            Alphabet::Bytes(tokens) => size_of_val(&**tokens),
            Alphabet::Characters(table) => table.memory(),
            Alphabet::Affixed(affixed) => {
                let Affixed {
                    first,
                    middle,
                    last,
                    only,
                    ..
                } = &**affixed;
                [first, middle, last, only]
                    .map(CharacterTable::memory)
                    .iter()
                    .sum()
            }
        };
        let proved = self.proved.as_ref().map_or(0, Proved::memory);
        alphabet + self.pairs.memory() + proved + 4 * self.made.capacity()
    }
}

/// Returns the first character of `rest`, which is not empty, as a code point, and its length in bytes. A byte that is no
/// character counts as U+FFFD.
#[inline]
fn first_character(rest: &[u8]) -> (u32, usize) {
    match rest[0] {
        ascii @ 0..=127 => (u32::from(ascii), 1),
        _ => decode(rest).unwrap_or((char::REPLACEMENT_CHARACTER.into(), 1)),
    }
}

/// Returns each pair once, with the last of its ranks.
fn last_of_each(ranked: &[(TokenId, Pair)]) -> Vec<(TokenId, Pair)> {
    let mut last: HashMap<u64, TokenId, SeededState> = HashMap::default();
    last.with_room(ranked.len());
    last.extend(ranked.iter().map(|(rank, pair)| (pair.key(), *rank)));
    let is_last = |(rank, pair): &&(TokenId, Pair)| last.get(&pair.key()) == Some(rank);
    memory::collect(ranked.iter().filter(is_last).copied())
}
