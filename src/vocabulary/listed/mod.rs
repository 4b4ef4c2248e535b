//! Merges by list: each pair that merges has a rank, and the token that it makes need not be its rank.
//!
//! A symbol is a token, known by its id. Of all adjacent pairs that merge, the one of lowest rank merges first, the
//! leftmost among equals. There are two kinds of lists:
//!
//! * BPE as Hugging Face's `tokenizers` has it: the rank of a pair is its place in the list of the file. Where a pair is
//!   listed twice, the later place counts. A token may be made of several pairs, or of none.
//! * BPE as SentencePiece has it, where tokens have scores: [`scored`].
//!
//! A piece begins as the symbols of its **alphabet**: bytes or characters. What has no token is [`Unknown`].

mod proved;
pub mod scored;

use std::collections::HashMap;
use std::ops::Range;

use proved::{Proved, proved};
use scored::Scored;

use crate::error::VocabularyError;
use crate::token::{NO_TOKEN, Pair, TokenId};
use crate::util::hash::SeededState;
use crate::util::memory::{self, Growable};
use crate::vocabulary::byte_alphabet;
use crate::vocabulary::byte_pairs::BytePairTable;
use crate::vocabulary::characters::{CharacterTable, first_character};
use crate::vocabulary::pair_table::PairTable;

/// The symbols that pieces consist of before anything is merged.
#[derive(Debug)]
pub enum Alphabet {
    /// The token of each byte, [`NO_TOKEN`] where there is none.
    Bytes(Box<[TokenId; 256]>),
    /// The symbols of characters.
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

impl Unknown {
    /// The unknown token, if one of it stands for several characters in a row, whatever bytes have tokens.
    pub(crate) fn fused(&self) -> Option<TokenId> {
        self.token
            .filter(|_| self.is_fused && self.byte_tokens.is_none())
    }
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

/// Merges by list. See the module.
#[derive(Debug)]
pub struct ListedMerges {
    alphabet: Alphabet,
    /// The rank of each pair.
    pairs: PairTable,
    /// Which merges may be made first, and which tokens their bytes become, if pieces consist of bytes.
    proved: Option<Proved>,
    /// The token that the pairs of each rank make.
    made: Vec<TokenId>,
    unknown: Unknown,
    whole_pieces: bool,
    spellings: HashMap<Vec<u8>, TokenId, SeededState>,
    space: char,
    knows_all_bytes: bool,
    scored: Scored,
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
            scored: Scored::NOTHING,
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

    /// Returns whether merging the bytes of a token is known to yield it, for any token.
    pub(super) fn has_own(&self) -> bool {
        self.proved.is_some()
    }

    /// Returns whether merging the bytes of a token is known to yield it.
    pub(super) fn is_own(&self, id: TokenId) -> bool {
        let proved = self.proved.as_ref();
        proved.is_some_and(|proved| proved.is_own.get(id as usize) == Some(&true))
    }

    /// Returns the token that a pair of this rank makes, unless several have the rank.
    #[inline]
    pub(crate) fn likely(&self, rank: TokenId) -> TokenId {
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

    /// Returns whether pairs are merged by their ranks alone, wherever they stand in a piece, and nothing else happens to it.
    pub(crate) fn merges_by_pairs(&self) -> bool {
        let has_affixes = matches!(self.alphabet, Alphabet::Affixed(_));
        !has_affixes && !self.whole_pieces && !self.takes_apart()
    }

    /// Returns the token whose spelling a piece is, where the token has other bytes.
    pub(super) fn spelled(&self, piece: &[u8]) -> Option<TokenId> {
        self.spellings.get(piece).copied()
    }

    /// How bytes and characters that are no token are treated.
    pub fn unknown(&self) -> &Unknown {
        &self.unknown
    }

    /// The token of a byte, if those spell what is no token and a byte alone is a character that is spelt by itself: not
    /// where bytes are written as characters, of which the bytes are spelt.
    pub(crate) fn byte_token(&self, byte: u8) -> Option<TokenId> {
        match &self.alphabet {
            Alphabet::Bytes(_) => return None,
            Alphabet::Affixed(affixed) if affixed.is_of_bytes => return None,
            Alphabet::Affixed(_) | Alphabet::Characters(_) => {}
        }
        let stands_for_more = byte == b' ' && self.space != ' ';
        let byte_tokens = self.unknown.byte_tokens.as_ref();
        let id = byte_tokens.filter(|_| !stands_for_more)?[usize::from(byte)];
        (id != NO_TOKEN).then_some(id)
    }

    /// Number of bytes that the tables of merges occupy.
    pub(super) fn memory(&self) -> usize {
        self.pairs.memory() + 4 * self.made.capacity()
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

// The symbols that a piece begins as.

impl ListedMerges {
    /// Returns whether each byte or character of a piece is the symbol that the alphabet has for it, whatever its place.
    #[inline]
    pub(crate) fn knows(&self, piece: &[u8]) -> bool {
        match &self.alphabet {
            Alphabet::Bytes(tokens) => {
                let known = |&byte: &u8| tokens[usize::from(byte)] != NO_TOKEN;
                self.knows_all_bytes || piece.iter().all(known)
            }
            Alphabet::Characters(table) => knows_characters(table, piece),
            Alphabet::Affixed(_) => false,
        }
    }

    /// Returns the symbol that `rest`, which is not empty, begins with, and its length in bytes, in a piece that it
    /// [knows](Self::knows).
    #[inline]
    pub(crate) fn first(&self, rest: &[u8]) -> (TokenId, usize) {
        match &self.alphabet {
            Alphabet::Bytes(tokens) => (tokens[usize::from(rest[0])], 1),
            Alphabet::Characters(table) => {
                let (code_point, length) = first_character(rest);
                (table.get(code_point), length)
            }
            Alphabet::Affixed(_) => unreachable!("tokens depend on their place in the piece"),
        }
    }

    /// Appends the symbols that a piece begins as.
    pub(crate) fn start(&self, piece: &[u8], symbols: &mut Vec<Symbol>) {
        let mut beginning = Beginning {
            unknown: &self.unknown,
            pending: None,
            symbols,
        };
        match &self.alphabet {
            Alphabet::Bytes(tokens) => {
                for &byte in piece {
                    let spelled = || byte_alphabet::CHARACTERS[usize::from(byte)].to_string();
                    beginning.add(tokens[usize::from(byte)], written_byte(byte), spelled);
                }
            }
            Alphabet::Characters(table) => {
                for (code_point, _, _) in characters(piece, false) {
                    let length = self.character(code_point).len_utf8();
                    let spelled = || self.character(code_point).to_string();
                    beginning.add(table.get(code_point), length, spelled);
                }
            }
            Alphabet::Affixed(affixed) => {
                for (code_point, _, place) in characters(piece, affixed.is_of_bytes) {
                    let length = self.character(code_point).len_utf8();
                    let table = affixed.table(place);
                    let spelled = || affixed.spelled(self.character(code_point), place);
                    beginning.add(table.get(code_point), length, spelled);
                }
            }
        }
        beginning.flush();
    }

    /// Returns for each byte of a piece as the vocabulary writes it the span of the byte or character of the piece that it
    /// belongs to.
    pub(crate) fn written(&self, piece: &[u8]) -> Vec<Range<usize>> {
        let is_of_bytes = match &self.alphabet {
            Alphabet::Bytes(_) => true,
            Alphabet::Characters(_) => false,
            Alphabet::Affixed(affixed) => affixed.is_of_bytes,
        };
        let mut written = memory::vec_with_capacity(piece.len());
        let mut start = 0;
        for (code_point, length, _) in characters(piece, is_of_bytes) {
            let count = self.character(code_point).len_utf8();
            written.extend(std::iter::repeat_n(start..start + length, count));
            start += length;
        }
        written
    }

    /// Returns the character that is spelt by bytes if it is no token.
    fn character(&self, code_point: u32) -> char {
        match char::from_u32(code_point) {
            Some(' ') => self.space,
            character => character.unwrap_or(char::REPLACEMENT_CHARACTER),
        }
    }
}

/// Number of bytes of the character of a byte.
fn written_byte(byte: u8) -> usize {
    byte_alphabet::CHARACTERS[usize::from(byte)].len_utf8()
}

fn knows_characters(table: &CharacterTable, mut piece: &[u8]) -> bool {
    while !piece.is_empty() {
        let (code_point, length) = first_character(piece);
        if table.get(code_point) == NO_TOKEN {
            return false;
        }
        piece = &piece[length..];
    }
    true
}

/// Where a character stands in a piece.
#[derive(Clone, Copy)]
struct Place {
    is_first: bool,
    is_last: bool,
}

/// Returns the characters of a piece, or those that its bytes stand for, each with its length in bytes and its place.
fn characters(piece: &[u8], of_bytes: bool) -> impl Iterator<Item = (u32, usize, Place)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = piece.get(start..).filter(|rest| !rest.is_empty())?;
        let (code_point, length) = if of_bytes {
            (byte_alphabet::CHARACTERS[usize::from(rest[0])].into(), 1)
        } else {
            first_character(rest)
        };
        let place = Place {
            is_first: start == 0,
            is_last: length == rest.len(),
        };
        start += length;
        Some((code_point, length, place))
    })
}

impl Affixed {
    fn table(&self, place: Place) -> &CharacterTable {
        match (place.is_first, place.is_last) {
            (true, true) => &self.only,
            (true, false) => &self.first,
            (false, true) => &self.last,
            (false, false) => &self.middle,
        }
    }

    /// Returns how the vocabulary writes a character.
    fn spelled(&self, character: char, place: Place) -> String {
        let prefix = if place.is_first { "" } else { &self.prefix };
        let suffix = if place.is_last { &self.suffix } else { "" };
        format!("{prefix}{character}{suffix}")
    }
}

/// The symbols so far.
struct Beginning<'a> {
    unknown: &'a Unknown,
    /// The unknown token, not added yet, as more may be fused with it. Bytes overtake it, as in `tokenizers`.
    pending: Option<Symbol>,
    symbols: &'a mut Vec<Symbol>,
}

impl Beginning<'_> {
    /// Adds the token of a character of `length` bytes, or what becomes of it without one.
    fn add(&mut self, id: TokenId, length: usize, spelled: impl FnOnce() -> String) {
        if id != NO_TOKEN {
            self.flush();
            self.symbols.with_room(1).push(Symbol { id, length });
            return;
        }
        if let Some(byte_tokens) = &self.unknown.byte_tokens {
            let spelled = spelled();
            let ids = spelled.bytes().map(|byte| byte_tokens[usize::from(byte)]);
            if ids.clone().all(|id| id != NO_TOKEN) {
                memory::extend(self.symbols, ids.map(|id| Symbol { id, length: 1 }));
                return;
            }
        }
        let Some(id) = self.unknown.token else { return };
        match &mut self.pending {
            Some(pending) if self.unknown.is_fused => pending.length += length,
            _ => {
                self.flush();
                self.pending = Some(Symbol { id, length });
            }
        }
    }

    fn flush(&mut self) {
        memory::extend(self.symbols, self.pending.take());
    }
}
