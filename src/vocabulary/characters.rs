//! Merges that begin with characters, as in SentencePiece's BPE.
//!
//! Each character of a piece is a **symbol**, whether it is a token or not. Of all adjacent symbols that
//! together spell a token, those of the highest score merge first, the leftmost among equals. What is left at
//! the end becomes tokens: a symbol that is none is written as the tokens of its bytes, or as the unknown
//! token.
//!
//! Symbols are numbered so that the engines, which merge the lowest rank first, need no scores: those that are
//! merged come first, in the order of their scores, so that the number of a symbol is its rank; then come the
//! characters. Symbols of equal scores share a rank, the lowest of their numbers (`CharacterMerges::rank`); such **ties**
//! occur in published models.
//!
//! **Every** split of a token into two symbols is a pair in the table: ranking pairs by the token that they
//! spell is what the scores do. A half is a token that is merged, or any single character.

use std::ops::Range;

use crate::error::VocabularyError;
use crate::token::{NO_TOKEN, Pair, TokenId};
use crate::unicode::character::decode;
use crate::util::join::join;
use crate::util::memory::{self, Growable, reserve};
use crate::vocabulary::halves::Halves;
use crate::vocabulary::pair_table::PairTable;

/// The symbol of a character that no merge and no token knows is this plus its code point.
const UNKNOWN_CHARACTER: TokenId = 1 << 24;

/// Stands for a space of text in the pieces of most models.
pub const MARK: char = '\u{2581}';

/// The type of a piece of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A token that merges make, or a character.
    Normal,
    /// The token of what is no other token.
    Unknown,
    /// A token that text never becomes.
    Control,
    /// A token that is found in text before anything is merged.
    UserDefined,
    /// A token that merges make, but that is taken apart again.
    Unused,
    /// The token of a byte.
    Byte(u8),
    /// A token that no text becomes, as its spaces are written otherwise in normalized text.
    Unreachable,
}

/// A piece of a model; its index is its id.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// Its text as it stands in normalized text.
    pub text: &'a str,
    /// Higher scores merge first.
    pub score: f32,
    /// Its type.
    pub kind: Kind,
    /// Whether it begins with a space that is none in place of a mark, and is not removed where decoded text starts.
    pub keeps_space: bool,
}

/// Merges of characters. See the module.
#[derive(Debug)]
pub struct CharacterMerges {
    characters: CharacterTable,
    pairs: PairTable,
    /// Numbers of symbols of equal scores.
    ties: Vec<Range<TokenId>>,
    /// The id of each symbol; [`NO_TOKEN`] for a character that is none.
    ids: Vec<TokenId>,
    /// The first symbol that is a character, and the characters from there on.
    first_character: TokenId,
    singles: Vec<char>,
    /// The tokens of bytes, which spell what is no token.
    byte_tokens: Option<Box<[TokenId; 256]>>,
    unknown: Option<TokenId>,
    /// Whether each symbol that merges make is taken apart again; empty if none is.
    unused: Vec<bool>,
    /// Ids of bytes, of the unknown token and of pieces that say so, in increasing order.
    keep_space: Vec<TokenId>,
    /// The character whose bytes a space becomes, if it is no token.
    space: char,
}

impl CharacterMerges {
    /// Builds the merges of `pieces`. Characters that are no token become the tokens of their bytes with
    /// `byte_fallback`, which is the character that a space stands for; otherwise the unknown token.
    ///
    /// # Errors
    /// [`VocabularyError::TooLarge`] if there are more pieces than ids.
    ///
    /// # Complexity
    /// O(total characters) look-ups.
    pub fn new(pieces: &[Piece<'_>], byte_fallback: Option<char>) -> Result<Self, VocabularyError> {
        let is_merged = |piece: &Piece<'_>| {
            matches!(piece.kind, Kind::Normal | Kind::Unused) && piece.text.chars().nth(1).is_some()
        };
        let numbered = || (0..).zip(pieces);
        let mut merged: Vec<(TokenId, &Piece<'_>)> =
            memory::collect(numbered().filter(|(_, piece)| is_merged(piece)));
        // Of equal scores in the order of ids.
        merged.sort_unstable_by(|(first, a), (second, b)| {
            b.score.total_cmp(&a.score).then(first.cmp(second))
        });
        let first_character =
            TokenId::try_from(merged.len()).map_err(|_| VocabularyError::TooLarge)?;
        if first_character >= UNKNOWN_CHARACTER {
            return Err(VocabularyError::TooLarge);
        }

        let mut built = Self {
            characters: CharacterTable::new(),
            pairs: PairTable::with_capacity(0),
            ties: ties(&merged),
            ids: memory::collect(merged.iter().map(|(id, _)| *id)),
            first_character,
            singles: Vec::new(),
            byte_tokens: None,
            unknown: None,
            unused: unused(&merged),
            keep_space: Vec::new(),
            space: byte_fallback.unwrap_or(' '),
        };
        for (_, piece) in &merged {
            for character in piece.text.chars() {
                built.character(character);
            }
        }
        let mut byte_tokens = Box::new([NO_TOKEN; 256]);
        for (id, piece) in numbered() {
            if piece.keeps_space || matches!(piece.kind, Kind::Byte(_) | Kind::Unknown) {
                built.keep_space.with_room(1).push(id);
            }
            match piece.kind {
                Kind::Normal => {
                    if let (Some(character), None) = first_two(piece.text) {
                        let symbol = built.character(character);
                        built.ids[symbol as usize] = id;
                    }
                }
                Kind::Byte(byte) => {
                    byte_tokens[usize::from(byte)] = id;
                }
                Kind::Unknown => {
                    built.unknown = Some(id);
                }
                Kind::Control | Kind::UserDefined | Kind::Unused | Kind::Unreachable => {}
            }
        }
        built.byte_tokens = byte_fallback.map(|_| byte_tokens);
        built.pairs = PairTable::of(&built.every_split(&merged));
        Ok(built)
    }

    /// Returns the symbol of a character, a new one if it has none.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "there are fewer characters than that"
    )]
    fn character(&mut self, character: char) -> TokenId {
        let known = self.characters.get(character.into());
        if known != NO_TOKEN {
            return known;
        }
        let symbol = self.ids.len() as TokenId;
        self.characters.set(character, symbol);
        self.singles.with_room(1).push(character);
        self.ids.with_room(1).push(NO_TOKEN);
        symbol
    }

    /// Returns every split of a merged token into two symbols, as a merge of that pair.
    fn every_split(&self, merged: &[(TokenId, &Piece<'_>)]) -> Vec<(TokenId, Pair)> {
        // Numbered as symbols are.
        let singles = self.singles.iter().inspect(|_| reserve::pass());
        let singles = memory::collect(singles.map(char::to_string));
        let texts = merged.iter().map(|(_, piece)| piece.text);
        let texts = texts.chain(singles.iter().map(String::as_str));
        let halves = Halves::new(memory::collect(texts));
        let splits = |range: Range<usize>| {
            let mut splits = memory::vec_with_capacity(2 * range.len());
            let mut hashes = Vec::new();
            let numbers = (0..).zip(0..merged.len());
            for (made, number) in numbers.skip(range.start).take(range.len()) {
                halves.of(number, &mut hashes, |left, right| {
                    splits.with_room(1).push((made, Pair::new(left, right)));
                });
            }
            splits
        };
        let half = merged.len() / 2;
        let (mut all, others) = join(|| splits(0..half), || splits(half..merged.len()));
        memory::extend(&mut all, others);
        all
    }

    /// Returns the symbol that `rest`, which is not empty, begins with, and its length in bytes. A byte that
    /// is no character counts as U+FFFD.
    #[inline]
    pub(crate) fn first(&self, rest: &[u8]) -> (TokenId, usize) {
        let (code_point, length) = match rest[0] {
            ascii @ 0..=127 => (u32::from(ascii), 1),
            _ => decode(rest).unwrap_or((char::REPLACEMENT_CHARACTER.into(), 1)),
        };
        let symbol = self.characters.get(code_point);
        if symbol == NO_TOKEN {
            (UNKNOWN_CHARACTER + code_point, length)
        } else {
            (symbol, length)
        }
    }

    /// The table of pairs that merge.
    pub(crate) fn pairs(&self) -> &PairTable {
        &self.pairs
    }

    /// Number of symbols that merges make: ranks are below it.
    pub(crate) fn ranks(&self) -> TokenId {
        self.first_character
    }

    /// Returns the rank of a symbol that merges make; [`NO_TOKEN`] of itself.
    #[inline]
    pub(crate) fn rank(&self, symbol: TokenId) -> TokenId {
        match self.tie(symbol) {
            Some(tie) => tie.start,
            None => symbol,
        }
    }

    /// Returns the symbol that a pair of this rank merges into; `look_up` looks it up where several have the rank.
    #[inline]
    pub(crate) fn made(&self, rank: TokenId, look_up: impl FnOnce() -> TokenId) -> TokenId {
        match self.tie(rank) {
            Some(_) => look_up(),
            None => rank,
        }
    }

    #[inline]
    fn tie(&self, symbol: TokenId) -> Option<&Range<TokenId>> {
        match &self.ties[..] {
            [] => None,
            [only] => Some(only).filter(|tie| tie.contains(&symbol)),
            ties => {
                let later = ties.partition_point(|tie| tie.end <= symbol);
                ties.get(later).filter(|tie| tie.contains(&symbol))
            }
        }
    }

    /// Returns whether merges make a token that is taken apart again, as it was put together last anywhere in the
    /// text.
    pub(crate) fn takes_apart(&self) -> bool {
        !self.unused.is_empty()
    }

    /// Returns whether a symbol that merges make is taken apart again.
    pub(crate) fn is_unused(&self, symbol: TokenId) -> bool {
        self.unused.get(symbol as usize) == Some(&true)
    }

    /// Returns whether a token, at the start of text that is decoded, keeps a space that it begins with: a byte, the
    /// unknown token, or a piece with a space that is no mark.
    pub(crate) fn keeps_space(&self, id: TokenId) -> bool {
        self.keep_space.binary_search(&id).is_ok()
    }

    /// The token of characters that are none, if several of them in a row become one: it is not so where
    /// their bytes are tokens.
    pub(crate) fn fused(&self) -> Option<TokenId> {
        self.unknown.filter(|_| self.byte_tokens.is_none())
    }

    /// Returns the id of a symbol, unless it is a character that is no token.
    #[inline]
    pub(crate) fn id(&self, symbol: TokenId) -> Option<TokenId> {
        let id = self.ids.get(symbol as usize);
        id.copied().filter(|&id| id != NO_TOKEN)
    }

    /// Replaces the symbols from index `from` on by their ids.
    pub(crate) fn symbols_to_ids(&self, symbols: &mut Vec<TokenId>, from: usize) {
        let known = symbols[from..].iter_mut().map(|symbol| {
            let id = self.id(*symbol);
            if let Some(id) = id {
                *symbol = id;
            }
            id.is_some()
        });
        let known = known.take_while(|&known| known).count();
        if from + known < symbols.len() {
            let rest = memory::collect(symbols.drain(from + known..));
            for symbol in rest {
                match self.id(symbol) {
                    Some(id) => symbols.with_room(1).push(id),
                    None => self.push_unknown(symbol, symbols),
                }
            }
        }
    }

    /// Appends the ids of a character that is no token.
    pub(crate) fn push_unknown(&self, symbol: TokenId, ids: &mut Vec<TokenId>) {
        let mut character = self.character_of(symbol);
        if character == ' ' {
            character = self.space;
        }
        match (&self.byte_tokens, self.unknown) {
            (Some(byte_tokens), _) => {
                let mut utf8 = [0; 4];
                let bytes = character.encode_utf8(&mut utf8).bytes();
                memory::extend(ids, bytes.map(|byte| byte_tokens[usize::from(byte)]));
            }
            (None, Some(unknown)) => ids.with_room(1).push(unknown),
            (None, None) => unreachable!("a model without byte tokens has an unknown token"),
        }
    }

    fn character_of(&self, symbol: TokenId) -> char {
        let single = |index: TokenId| self.singles.get(index as usize).copied();
        let character = match symbol.checked_sub(UNKNOWN_CHARACTER) {
            Some(code_point) => char::from_u32(code_point),
            None => symbol.checked_sub(self.first_character).and_then(single),
        };
        character.expect("what merges make is a token")
    }

    /// The token of a byte, if those spell what is no token and a byte alone is a character that is spelt by itself.
    pub(crate) fn byte_token(&self, byte: u8) -> Option<TokenId> {
        let stands_for_more = byte == b' ' && self.space != ' ';
        let byte_tokens = self.byte_tokens.as_ref().filter(|_| !stands_for_more);
        byte_tokens.map(|tokens| tokens[usize::from(byte)])
    }

    /// Number of bytes that the tables occupy.
    pub(super) fn memory(&self) -> usize {
        self.characters.memory()
            + self.pairs.memory()
            + 4 * (self.ids.capacity() + self.singles.capacity())
    }
}

/// Returns the first two characters of a text.
fn first_two(text: &str) -> (Option<char>, Option<char>) {
    let mut characters = text.chars();
    (characters.next(), characters.next())
}

/// Returns for each symbol whether it is taken apart again; nothing if none is.
fn unused(merged: &[(TokenId, &Piece<'_>)]) -> Vec<bool> {
    let unused = merged.iter().map(|(_, piece)| piece.kind == Kind::Unused);
    if unused.clone().any(|unused| unused) {
        memory::collect(unused)
    } else {
        Vec::new()
    }
}

/// Returns the runs of symbols with equal scores, at least two each.
fn ties(merged: &[(TokenId, &Piece<'_>)]) -> Vec<Range<TokenId>> {
    let mut ties = Vec::new();
    let mut start = 0;
    let equal = |a: &(TokenId, &Piece<'_>), b: &(TokenId, &Piece<'_>)| {
        a.1.score.to_bits() == b.1.score.to_bits()
    };
    for class in merged.chunk_by(equal) {
        let length = TokenId::try_from(class.len()).expect("there are fewer symbols than that");
        if length > 1 {
            ties.push(start..start + length);
        }
        start += length;
    }
    ties
}

// The table from characters to symbols.

/// Code points in a block.
const BLOCK: usize = 1 << 8;

/// The symbols of characters: one look-up for ASCII, two for others.
#[derive(Debug)]
pub struct CharacterTable {
    ascii: [TokenId; 128],
    /// The number of the block of each 256 code points.
    blocks: Vec<u16>,
    /// The first block has no symbols.
    symbols: Vec<[TokenId; BLOCK]>,
}

impl CharacterTable {
    /// Returns a table without characters.
    pub fn new() -> Self {
        Self {
            ascii: [NO_TOKEN; 128],
            blocks: vec![0; (char::MAX as usize + 1) / BLOCK],
            symbols: vec![[NO_TOKEN; BLOCK]],
        }
    }

    /// Returns the symbol of a code point, or [`NO_TOKEN`].
    #[inline]
    pub(crate) fn get(&self, code_point: u32) -> TokenId {
        let code_point = code_point as usize;
        match self.ascii.get(code_point) {
            Some(&symbol) => symbol,
            None => self.symbols[usize::from(self.blocks[code_point / BLOCK])][code_point % BLOCK],
        }
    }

    /// Sets the symbol of a character.
    pub fn set(&mut self, character: char, symbol: TokenId) {
        let code_point = character as usize;
        if let Some(ascii) = self.ascii.get_mut(code_point) {
            *ascii = symbol;
            return;
        }
        let block = &mut self.blocks[code_point / BLOCK];
        if *block == 0 {
            *block = u16::try_from(self.symbols.len()).expect("there are 4,352 blocks");
            self.symbols.with_room(1).push([NO_TOKEN; BLOCK]);
        }
        self.symbols[usize::from(*block)][code_point % BLOCK] = symbol;
    }

    /// Number of bytes that the table occupies.
    pub(super) fn memory(&self) -> usize {
        2 * self.blocks.capacity() + size_of::<[TokenId; BLOCK]>() * self.symbols.capacity()
    }
}

impl Default for CharacterTable {
    fn default() -> Self {
        Self::new()
    }
}
