//! The byte alphabet: each byte as a character that can be seen, as GPT-2 has it.
//!
//! Bytes that are visible characters of Latin-1 are these; the others follow from U+0100 on, in their order.

use crate::util::memory::Growable;

/// Returns whether a byte stands for itself.
const fn is_itself(byte: u8) -> bool {
    matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF)
}

/// The character of each byte.
pub const CHARACTERS: [char; 256] = {
    let mut characters = ['\0'; 256];
    let (mut byte, mut next) = (0, 0x100_u32);
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "below 256")]
        let itself = byte as u8;
        characters[byte] = if is_itself(itself) {
            itself as char
        } else {
            next += 1;
            match char::from_u32(next - 1) {
                Some(character) => character,
                None => panic!("the characters from U+0100 on are no surrogates"),
            }
        };
        byte += 1;
    }
    characters
};

/// The byte of each character below this is in the table.
const LIMIT: usize = 0x144;

/// The byte of each character, 256 where there is none.
const BYTES: [u16; LIMIT] = {
    let mut bytes = [256; LIMIT];
    let mut byte = 0_u16;
    while byte < 256 {
        bytes[CHARACTERS[byte as usize] as usize] = byte;
        byte += 1;
    }
    bytes
};

/// Returns the byte that a character stands for.
#[inline]
pub fn byte_of(character: char) -> Option<u8> {
    BYTES
        .get(character as usize)
        .and_then(|&byte| u8::try_from(byte).ok())
}

/// Appends the bytes that a text stands for. Returns false, and appends nothing, if a character of it stands for none.
pub fn push_bytes(text: &str, bytes: &mut Vec<u8>) -> bool {
    let start = bytes.len();
    for character in text.chars() {
        let Some(byte) = byte_of(character) else {
            bytes.truncate(start);
            return false;
        };
        bytes.with_room(1).push(byte);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{CHARACTERS, byte_of, push_bytes};

    #[test]
    fn characters_and_bytes_are_inverse() {
        for (byte, character) in (0..=255_u8).zip(CHARACTERS) {
            assert_eq!(byte_of(character), Some(byte));
        }
        assert_eq!(CHARACTERS[usize::from(b' ')], 'Ġ');
        assert_eq!(CHARACTERS[usize::from(b'\n')], 'Ċ');
        let others = (0..=0x2000).filter_map(char::from_u32);
        let known = others.filter(|&character| byte_of(character).is_some());
        assert_eq!(known.count(), 256);
        let mut bytes = Vec::new();
        assert!(push_bytes("aĠ", &mut bytes) && !push_bytes("a ", &mut bytes));
        assert_eq!(bytes, b"a ");
    }
}
