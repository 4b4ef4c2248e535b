//! The symbols that a piece begins as.

use std::ops::Range;

use super::{Affixed, Alphabet, ListedMerges, Symbol, Unknown, first_character};
use crate::token::{NO_TOKEN, TokenId};
use crate::util::memory::{self, Growable};
use crate::vocabulary::byte_alphabet;
use crate::vocabulary::character_table::CharacterTable;

impl ListedMerges {
    /// Returns whether each byte or character of a piece is the token that the alphabet has for it, whatever its place.
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

    /// Returns the token that `rest`, which is not empty, begins with, and its length in bytes, in a piece that it
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
