//! Merges by the scores of tokens, as in SentencePiece's BPE, as a list of merges.
//!
//! Of all adjacent symbols that together spell a token, those of the highest score merge first, the leftmost among
//! equals. So **every** split of a token into two symbols is a merge; all that make one token have one rank, the place of
//! the token in the order of scores. What no list of `tokenizers` has is this:
//!
//! * **Ties.** Tokens of equal scores share a rank, the lowest of theirs: with `ab` and `bc` of equal scores, `abc`
//!   becomes `ab`, `c`, and `xbcab` becomes `x`, `bc`, `ab`. The token of a pair is looked up again there.
//! * **Characters that are no token**, but parts of some: with `ab` a token and `b` none, `b` is a symbol until all
//!   merges are made. It has a number behind the ids of all tokens.
//! * **Tokens of the type "unused"**, which are made, and taken apart again at the end
//!   (`merge/apart.rs`).

use std::ops::Range;

use super::{Alphabet, ListedMerges, Unknown};
use crate::error::VocabularyError;
use crate::token::{NO_TOKEN, Pair, TokenId};
use crate::util::join::join;
use crate::util::memory::{self, Growable, reserve};
use crate::vocabulary::characters::CharacterTable;
use crate::vocabulary::halves::Halves;
use crate::vocabulary::pair_table::PairTable;

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
}

/// The additions of scores to a list of merges. See the module.
#[derive(Debug)]
pub(super) struct Scored {
    /// Ranks that are one: each counts as the first of its range.
    ties: Vec<Range<TokenId>>,
    /// The number of the first character that is no token, and these characters from there on.
    first_single: TokenId,
    singles: Vec<char>,
    /// The tokens that are taken apart again, in the order of ids.
    unused: Vec<TokenId>,
}

impl Scored {
    /// Those of a list in which each pair has a rank of its own.
    pub(super) const NOTHING: Self = Self {
        ties: Vec::new(),
        first_single: NO_TOKEN,
        singles: Vec::new(),
        unused: Vec::new(),
    };

    #[inline]
    fn tie(&self, rank: TokenId) -> Option<&Range<TokenId>> {
        match &self.ties[..] {
            [] => None,
            [only] => Some(only).filter(|tie| tie.contains(&rank)),
            ties => {
                let later = ties.partition_point(|tie| tie.end <= rank);
                ties.get(later).filter(|tie| tie.contains(&rank))
            }
        }
    }
}

impl ListedMerges {
    /// Builds the merges of `pieces` by their scores. Characters that are no token become the tokens of their bytes with
    /// `byte_fallback`, which is the character that a space stands for; otherwise the unknown token.
    ///
    /// # Errors
    /// [`VocabularyError::TooLarge`] if there are more pieces than ids.
    ///
    /// # Complexity
    /// O(total characters) look-ups.
    pub fn by_scores(
        pieces: &[Piece<'_>],
        byte_fallback: Option<char>,
    ) -> Result<Self, VocabularyError> {
        let first_single =
            TokenId::try_from(pieces.len()).map_err(|_| VocabularyError::TooLarge)?;
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

        let mut table = CharacterTable::new();
        let mut byte_tokens = Box::new([NO_TOKEN; 256]);
        let mut unknown = None;
        for (id, piece) in numbered() {
            match piece.kind {
                Kind::Normal => {
                    let mut characters = piece.text.chars();
                    if let (Some(character), None) = (characters.next(), characters.next()) {
                        table.set(character, id);
                    }
                }
                Kind::Byte(byte) => byte_tokens[usize::from(byte)] = id,
                Kind::Unknown => unknown = Some(id),
                Kind::Control | Kind::UserDefined | Kind::Unused | Kind::Unreachable => {}
            }
        }
        let byte_tokens = byte_fallback.map(|_| byte_tokens);
        let Characters { symbols, singles } = Characters::of(&merged, &mut table, first_single)?;
        let mut unused = memory::collect(
            merged
                .iter()
                .filter(|(_, piece)| piece.kind == Kind::Unused)
                .map(|(id, _)| *id),
        );
        unused.sort_unstable();
        let scored = Scored {
            ties: ties(&merged),
            first_single,
            singles,
            unused,
        };
        Ok(Self {
            alphabet: Alphabet::Characters(Box::new(table)),
            pairs: PairTable::of(&every_split(&merged, &symbols)),
            proved: None,
            made: memory::collect(merged.iter().map(|(id, _)| *id)),
            unknown: Unknown {
                is_fused: byte_tokens.is_none(),
                byte_tokens,
                token: unknown,
            },
            whole_pieces: false,
            spellings: memory::collect_table([]),
            space: byte_fallback.unwrap_or(' '),
            knows_all_bytes: false,
            scored,
        })
    }

    /// Returns the rank of an entry of the table of pairs; [`NO_TOKEN`] of itself.
    #[inline]
    pub(crate) fn rank(&self, entry: TokenId) -> TokenId {
        match self.scored.tie(entry) {
            Some(tie) => tie.start,
            None => entry,
        }
    }

    /// Returns the token that a pair of this rank makes; `look_up` looks up its entry in the table where several tokens
    /// have the rank.
    #[inline]
    pub(crate) fn made(&self, rank: TokenId, look_up: impl FnOnce() -> TokenId) -> TokenId {
        match self.scored.tie(rank) {
            Some(_) => self.likely(look_up()),
            None => self.likely(rank),
        }
    }

    /// Returns whether merges make a token that is taken apart again, as it was put together last anywhere in the
    /// text.
    #[inline]
    pub(crate) fn takes_apart(&self) -> bool {
        !self.scored.unused.is_empty()
    }

    /// Returns whether a token is taken apart again.
    pub(crate) fn is_unused(&self, id: TokenId) -> bool {
        self.scored.unused.binary_search(&id).is_ok()
    }

    /// Returns whether a character is a token.
    pub(crate) fn is_token(&self, character: char) -> bool {
        match &self.alphabet {
            Alphabet::Characters(table) => table.get(character.into()) < self.scored.first_single,
            Alphabet::Bytes(_) | Alphabet::Affixed(_) => false,
        }
    }

    /// Returns whether a symbol is a character that is no token.
    #[inline]
    pub(crate) fn is_single(&self, symbol: TokenId) -> bool {
        symbol >= self.scored.first_single
    }

    /// Replaces the characters that are no token among the symbols from index `from` on.
    #[inline]
    pub(crate) fn replace_singles(&self, symbols: &mut Vec<TokenId>, from: usize) {
        if self.scored.singles.is_empty() {
            return;
        }
        let is_single = |symbol: &TokenId| self.is_single(*symbol);
        if let Some(first) = symbols[from..].iter().position(is_single) {
            let rest = memory::collect(symbols.drain(from + first..));
            for symbol in rest {
                if self.is_single(symbol) {
                    self.push_single(symbol, symbols);
                } else {
                    symbols.with_room(1).push(symbol);
                }
            }
        }
    }

    /// Appends the ids of a character that is no token.
    pub(crate) fn push_single(&self, symbol: TokenId, ids: &mut Vec<TokenId>) {
        let index = symbol - self.scored.first_single;
        let character = match self.scored.singles[index as usize] {
            ' ' => self.space,
            character => character,
        };
        match (&self.unknown.byte_tokens, self.unknown.token) {
            (Some(byte_tokens), _) => {
                let mut utf8 = [0; 4];
                let bytes = character.encode_utf8(&mut utf8).bytes();
                memory::extend(ids, bytes.map(|byte| byte_tokens[usize::from(byte)]));
            }
            (None, Some(unknown)) => ids.with_room(1).push(unknown),
            (None, None) => unreachable!("a model without byte tokens has an unknown token"),
        }
    }
}

/// The characters of merged pieces.
struct Characters {
    /// Each with its symbol.
    symbols: Vec<(char, TokenId)>,
    /// Those that are no token, in the order of their symbols.
    singles: Vec<char>,
}

impl Characters {
    /// Collects them; those that have no symbol in the `table` get one, from `next` on.
    fn of(
        merged: &[(TokenId, &Piece<'_>)],
        table: &mut CharacterTable,
        mut next: TokenId,
    ) -> Result<Self, VocabularyError> {
        let mut seen = CharacterTable::new();
        let (mut symbols, mut singles) = (Vec::new(), Vec::new());
        for character in merged.iter().flat_map(|(_, piece)| piece.text.chars()) {
            if seen.get(character.into()) != NO_TOKEN {
                continue;
            }
            seen.set(character, 0);
            let mut symbol = table.get(character.into());
            if symbol == NO_TOKEN {
                symbol = next;
                next = next
                    .checked_add(1)
                    .filter(|&next| next != NO_TOKEN)
                    .ok_or(VocabularyError::TooLarge)?;
                table.set(character, symbol);
                singles.with_room(1).push(character);
            }
            symbols.with_room(1).push((character, symbol));
        }
        Ok(Self { symbols, singles })
    }
}

/// Returns every split of a merged token into two symbols, with the rank of the token.
fn every_split(
    merged: &[(TokenId, &Piece<'_>)],
    characters: &[(char, TokenId)],
) -> Vec<(TokenId, Pair)> {
    let texts = characters.iter().inspect(|_| reserve::pass());
    let texts = memory::collect(texts.map(|(character, _)| character.to_string()));
    let texts = texts.iter().map(String::as_str);
    let halves = merged.iter().map(|(_, piece)| piece.text).chain(texts);
    let halves = Halves::new(memory::collect(halves));
    let symbol = |number: u32| match (number as usize).checked_sub(merged.len()) {
        Some(character) => characters[character].1,
        None => merged[number as usize].0,
    };
    let splits = |range: Range<usize>| {
        let mut splits = memory::vec_with_capacity(2 * range.len());
        let mut hashes = Vec::new();
        let ranks = (0..).zip(0..merged.len());
        for (rank, number) in ranks.skip(range.start).take(range.len()) {
            halves.of(number, &mut hashes, |left, right| {
                let pair = Pair::new(symbol(left), symbol(right));
                splits.with_room(1).push((rank, pair));
            });
        }
        splits
    };
    let half = merged.len() / 2;
    let (mut all, others) = join(|| splits(0..half), || splits(half..merged.len()));
    memory::extend(&mut all, others);
    all
}

/// Returns the runs of ranks of tokens with equal scores, at least two each.
fn ties(merged: &[(TokenId, &Piece<'_>)]) -> Vec<Range<TokenId>> {
    let mut ties = Vec::new();
    let mut start = 0;
    let equal = |a: &(TokenId, &Piece<'_>), b: &(TokenId, &Piece<'_>)| {
        a.1.score.to_bits() == b.1.score.to_bits()
    };
    for class in merged.chunk_by(equal) {
        let length = TokenId::try_from(class.len()).expect("there are fewer tokens than that");
        if length > 1 {
            ties.push(start..start + length);
        }
        start += length;
    }
    ties
}
