//! Characters of one, two or four bytes each → UTF-8.
//!
//! ```text
//! for some hundred characters, so that their bytes stay near:
//!     for eight of them: one byte each if all are ASCII; else one to four bytes each, one after the other;
//!     or sixteen of them at once, by AVX-512
//!     append the bytes, if they are UTF-8; those of a surrogate are not
//! if there were surrogates: join pairs, and put U+FFFD for lone ones
//! ```
//!
//! Interpreters keep text so. Ten MB of English with a few longer characters took that of Python 20 to 33 ms, much of it for
//! memory that then stays with the string, and take 5 to 10 ms here; encoding them takes 60 when they are met for the first
//! time. A number of bytes that is chosen without a branch was slower, as characters of one length follow each other; so was
//! a search for the first character of a group that is not ASCII. The way back is [`widen`](widen()).

#[cfg(target_arch = "x86_64")]
mod avx512;
mod widen;

pub use widen::{Width, widen};

use crate::checkpoint::{self, Checkpoint};
use crate::error::EncodeError;
use crate::util::memory;
use crate::util::tier::Tier;

/// So many characters are looked at together. With sixteen, English takes three quarters of the time, and French, which has an
/// accent in most groups then, nearly twice as long.
const GROUP: usize = 8;

/// So many are checked and appended together.
const CHUNK: usize = 32 * GROUP;

/// So many pass between two checkpoints.
const STRETCH: usize = 256 * CHUNK;

/// The first number after those of characters.
const TOO_LARGE: u32 = char::MAX as u32 + 1;

/// Bytes of a chunk, and what is stored beyond them.
type Bytes = [u8; 4 * CHUNK + GROUP];

/// A character, or a surrogate, as a number.
pub trait Character: Copy {
    /// Bytes that it takes in UTF-8, at most.
    const LONGEST: usize;

    /// The number.
    fn number(self) -> u32;

    /// The character of a number, of which it takes the lower bits.
    fn truncated(number: u32) -> Self;
}

impl Character for u8 {
    const LONGEST: usize = 2;

    fn number(self) -> u32 {
        self.into()
    }

    #[expect(clippy::cast_possible_truncation, reason = "as it says")]
    fn truncated(number: u32) -> Self {
        number as Self
    }
}

impl Character for u16 {
    const LONGEST: usize = 3;

    fn number(self) -> u32 {
        self.into()
    }

    #[expect(clippy::cast_possible_truncation, reason = "as it says")]
    fn truncated(number: u32) -> Self {
        number as Self
    }
}

impl Character for u32 {
    const LONGEST: usize = 4;

    fn number(self) -> u32 {
        self
    }

    fn truncated(number: u32) -> Self {
        number
    }
}

/// Puts the characters in the place of what `text` was. Pairs of surrogates become the character they stand for and lone ones
/// U+FFFD, as a round trip through UTF-16 makes them; so does a number that is too large for a character.
///
/// # Errors
/// [`EncodeError::OutOfMemory`], and [`EncodeError::Interrupted`] if `checkpoint` says so.
///
/// # Complexity
/// O(n) for n characters. What is asked for is memory for the longest UTF-8, of which only what is needed is touched.
pub fn put_characters<C: Character>(
    characters: &[C],
    text: &mut String,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    put_characters_by(Tier::current(), characters, text, checkpoint)
}

fn put_characters_by<C: Character>(
    tier: Tier,
    characters: &[C],
    text: &mut String,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    clear(text, characters)?;
    let mut bytes = [0; size_of::<Bytes>()];
    for stretch in characters.chunks(STRETCH) {
        checkpoint::pass(checkpoint)?;
        for chunk in stretch.chunks(CHUNK) {
            let length = store(tier, chunk, &mut bytes);
            let Some(Ok(part)) = bytes.get(..length).map(simdutf8::basic::from_utf8) else {
                return mended(characters, text, checkpoint);
            };
            text.push_str(part);
        }
    }
    Ok(())
}

/// Empties a text, and makes room for all characters.
fn clear<C: Character>(text: &mut String, characters: &[C]) -> Result<(), EncodeError> {
    text.clear();
    let most = characters.len().saturating_mul(C::LONGEST);
    if text.capacity() < most {
        let bytes = memory::try_vec_with_capacity(most)?;
        *text = String::from_utf8(bytes).unwrap_or_default();
    }
    Ok(())
}

/// The characters, of which some are surrogates, as text, put into `text`.
#[cold]
fn mended<C: Character>(
    characters: &[C],
    text: &mut String,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    text.clear();
    let units = characters
        .iter()
        .flat_map(|character| utf16(character.number()));
    for (number, character) in char::decode_utf16(units).enumerate() {
        if number % STRETCH == 0 {
            checkpoint::pass(checkpoint)?;
        }
        text.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    Ok(())
}

/// A character or a surrogate in UTF-16.
fn utf16(number: u32) -> impl Iterator<Item = u16> {
    let mut units = [None; 2];
    if let Ok(unit) = u16::try_from(number) {
        units[0] = Some(unit);
    } else {
        let character = char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER);
        let mut pair = [0; 2];
        for (place, unit) in units.iter_mut().zip(character.encode_utf16(&mut pair)) {
            *place = Some(*unit);
        }
    }
    units.into_iter().flatten()
}

/// Stores the bytes of up to [`CHUNK`] characters; answers how many.
fn store<C: Character>(tier: Tier, chunk: &[C], bytes: &mut Bytes) -> usize {
    #[cfg(target_arch = "x86_64")]
    if tier == Tier::Avx512
        && let Some(length) = avx512::store(chunk, bytes)
    {
        return length;
    }
    let mut length = 0;
    for group in chunk.chunks(GROUP) {
        if let Some(ascii) = group.first_chunk::<GROUP>().filter(|group| is_ascii(group))
            && let Some(place) = bytes[length..].first_chunk_mut()
        {
            *place = ascii.map(low_byte::<C>);
            length += GROUP;
            continue;
        }
        length += store_each(group, &mut bytes[length..]);
    }
    length
}

/// Stores the bytes of characters, one after the other; answers how many.
fn store_each<C: Character>(group: &[C], bytes: &mut [u8]) -> usize {
    let mut length = 0;
    for &character in group {
        let (word, width) = encoded(character.number());
        if let Some(place) = bytes[length..].first_chunk_mut() {
            *place = word.to_le_bytes();
        }
        length += width;
    }
    length
}

#[inline]
fn is_ascii<C: Character, const N: usize>(group: &[C; N]) -> bool {
    group
        .iter()
        .fold(0, |all, character| all | character.number())
        < 0x80
}

#[inline]
fn low_byte<C: Character>(character: C) -> u8 {
    character.number().to_le_bytes()[0]
}

/// The bytes of a character, the first one lowest, and how many there are.
fn encoded(character: u32) -> (u32, usize) {
    // What is too large stays no UTF-8. Six bits of the character as a byte that goes on a sequence.
    let character = character.min(TOO_LARGE);
    let six = |from: u32| 0x80 | (character >> from & 0x3F);
    match character {
        0..0x80 => (character, 1),
        0x80..0x800 => (0xC0 | character >> 6 | six(0) << 8, 2),
        0x800..0x1_0000 => (0xE0 | character >> 12 | six(6) << 8 | six(0) << 16, 3),
        _ => {
            let first = 0xF0 | character >> 18;
            (first | six(12) << 8 | six(6) << 16 | six(0) << 24, 4)
        }
    }
}

/// Characters of all lengths, alone and mixed, for tests of both ways.
#[cfg(test)]
const ALPHABETS: [&str; 8] = [
    "a",
    "é",
    "ab é",
    "я",
    "語 x",
    "😀",
    "aé語😀",
    "aaaaaaaaaaaaaaaaaaaaaaaaé",
];

#[cfg(test)]
mod tests {
    use super::{ALPHABETS, CHUNK, Character, STRETCH, put_characters, put_characters_by};
    use crate::checkpoint::{Checkpoint, RunToEnd};
    use crate::error::EncodeError;
    use crate::util::tier::Tier;

    /// What every tier makes of the characters.
    fn text(characters: &[impl Character]) -> String {
        let text = |tier| {
            let mut text = "what was there before".to_owned();
            let put = put_characters_by(tier, characters, &mut text, &RunToEnd);
            put.map_or_else(|error| error.to_string(), |()| text)
        };
        let plain = text(Tier::Scalar);
        for tier in Tier::ALL.into_iter().filter(|tier| tier.available()) {
            assert_eq!(text(tier), plain, "{tier:?}");
        }
        plain
    }

    #[test]
    fn each_number_is_what_the_standard_library_says() {
        let beyond = (21..32).flat_map(|bit| [1 << bit, (1 << bit) | 0x1_F600]);
        for number in (0..0x0011_0010).chain(beyond).chain([u32::MAX]) {
            let expected = char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER);
            assert_eq!(text(&[number]), String::from(expected), "{number:x}");
            if let Ok(number) = u16::try_from(number) {
                assert_eq!(text(&[number]), String::from(expected), "{number:x}");
            }
            if let Ok(number) = u8::try_from(number) {
                assert_eq!(text(&[number]), String::from(expected), "{number:x}");
            }
        }
    }

    #[test]
    fn each_character_does_among_others() {
        let expected: String = ('\0'..=char::MAX).collect();
        let wide: Vec<u32> = expected.chars().map(u32::from).collect();
        assert_eq!(text(&wide), expected);
        let narrow: Vec<u16> = wide.iter().map_while(|&c| u16::try_from(c).ok()).collect();
        assert_eq!(narrow.len(), 0x1_0000 - 0x800);
        assert!(expected.starts_with(&text(&narrow)));
        assert_eq!(text(&(0..=0xFF).collect::<Vec<u8>>()), text(&wide[..0x100]));
        for number in [0xD800, 0xDFFF, 0x11_0000, 1 << 31, u32::MAX] {
            let mut wide = wide[..64].to_vec();
            wide[40] = number;
            let expected: String = ('\0'..'@')
                .map(|c| if c == '(' { '\u{FFFD}' } else { c })
                .collect();
            assert_eq!(text(&wide), expected);
        }
    }

    #[test]
    fn all_lengths_and_mixtures_come_out() {
        for length in [
            0,
            1,
            15,
            16,
            17,
            31,
            32,
            33,
            47,
            48,
            64,
            CHUNK - 1,
            CHUNK,
            CHUNK + 1,
            STRETCH + 3,
        ] {
            for alphabet in ALPHABETS {
                let expected: String = alphabet.chars().cycle().take(length).collect();
                let wide: Vec<u32> = expected.chars().map(u32::from).collect();
                assert_eq!(text(&wide), expected);
                let narrow: Result<Vec<u16>, _> = wide.iter().map(|&c| u16::try_from(c)).collect();
                if let Ok(narrow) = narrow {
                    assert_eq!(text(&narrow), expected);
                }
                let bytes: Result<Vec<u8>, _> = wide.iter().map(|&c| u8::try_from(c)).collect();
                if let Ok(bytes) = bytes {
                    assert_eq!(text(&bytes), expected);
                }
            }
        }
    }

    #[test]
    fn surrogates_are_mended_wherever_they_are() {
        let (high, low) = (0xD83D, 0xDE00);
        for place in 0..2 * CHUNK {
            let mut characters = vec![0x8A9E_u16; 2 * CHUNK + 2];
            for (found, expected) in [
                ([high, low], "😀"),
                ([low, high], "\u{FFFD}\u{FFFD}"),
                ([high, high], "\u{FFFD}\u{FFFD}"),
                ([0x61, high], "a\u{FFFD}"),
            ] {
                characters[place..place + 2].copy_from_slice(&found);
                let expected = "語".repeat(place) + expected + &"語".repeat(2 * CHUNK - place);
                assert_eq!(text(&characters), expected);
                let wide: Vec<u32> = characters.iter().copied().map(u32::from).collect();
                assert_eq!(text(&wide), expected);
            }
        }
    }

    #[test]
    fn it_can_be_stopped() {
        struct Stopped;
        impl Checkpoint for Stopped {
            fn should_stop(&self) -> bool {
                true
            }
        }
        let result = put_characters(&[0x41_u32], &mut String::new(), &Stopped);
        assert!(matches!(result, Err(EncodeError::Interrupted)));
    }
}
