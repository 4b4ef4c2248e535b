//! The tokens of characters.

use crate::token::{NO_TOKEN, TokenId};
use crate::unicode::character::decode;
use crate::util::memory::Growable;

/// Stands for a space of text in the pieces of most models.
pub const MARK: char = '\u{2581}';

/// Returns the first character of `rest`, which is not empty, as a code point, and its length in bytes. A byte that is no
/// character counts as U+FFFD.
#[inline]
pub(crate) fn first_character(rest: &[u8]) -> (u32, usize) {
    match rest[0] {
        ascii @ 0..=127 => (u32::from(ascii), 1),
        _ => decode(rest).unwrap_or((char::REPLACEMENT_CHARACTER.into(), 1)),
    }
}

/// The tokens of bytes, which spell text that is no token.
#[derive(Debug)]
pub struct ByteSpelling {
    tokens: Box<[TokenId; 256]>,
    /// The bytes that a space has.
    space: Vec<u8>,
}

impl ByteSpelling {
    /// Takes the token of each byte, [`NO_TOKEN`] for one that has none, and the character that a space in pieces stands
    /// for.
    pub fn new(tokens: Box<[TokenId; 256]>, space: char) -> Self {
        let space = space.to_string().into_bytes();
        Self { tokens, space }
    }

    /// Each byte with its token.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = (u8, TokenId)> {
        (0..=u8::MAX).zip(self.tokens.iter().copied())
    }

    /// Returns whether a token is one of these.
    pub(crate) fn has(&self, id: TokenId) -> bool {
        self.tokens.contains(&id)
    }

    /// Returns the tokens of the bytes of `text`, if each has one.
    pub(crate) fn of<'t>(&'t self, text: &'t [u8]) -> Option<impl Iterator<Item = TokenId> + 't> {
        let bytes = text.iter().flat_map(|byte| match byte {
            b' ' => &self.space[..],
            _ => std::slice::from_ref(byte),
        });
        let tokens = bytes.map(|&byte| self.tokens[usize::from(byte)]);
        let is_complete = tokens.clone().all(|id| id != NO_TOKEN);
        is_complete.then_some(tokens)
    }
}

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
}

impl Default for CharacterTable {
    fn default() -> Self {
        Self::new()
    }
}
