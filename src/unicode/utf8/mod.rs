//! Characters of one, two or four bytes each to UTF-8.
//!
//! ```text
//! for some hundred characters, so that their bytes stay in L1:
//!     eight at a time: one byte each if all are ASCII, else one to four bytes each, one after the other;
//!     or four at a time, with SSE4.1 or NEON, or sixteen, with AVX-512
//!     append the bytes if they are UTF-8; those of a surrogate are not
//! if there was a surrogate: start again, joining pairs, with U+FFFD for lone ones
//! ```
//!
//! Interpreters store text like this. For 10 MB of English with a few longer characters, Python's own
//! conversion took 20 to 33 ms, much of it for memory that then stays with the string, and this one takes 5
//! to 10 ms; encoding them takes 60 when their pieces are not cached. Slower: choosing the number of bytes
//! without a branch, as characters of one length follow each other; and searching a group for its first
//! character that is not ASCII. The way back is [`widen`](widen()).
//!
//! `encoding_rs::mem` converts from one and two bytes only, and stops at a surrogate; this code serves four
//! bytes as well.

#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod simd128;
mod widen;

pub use widen::{Width, widen};

use crate::checkpoint;
use crate::error::EncodeError;
use crate::util::memory::{self, Growable};
use crate::util::tier::Tier;

/// Characters tested together for ASCII. With sixteen, English takes three quarters of the time, and French,
/// which then has an accent in most groups, nearly twice as long.
const GROUP: usize = 8;

/// Characters validated and appended together.
const CHUNK: usize = 32 * GROUP;

/// Characters between checkpoints.
const CHECK_INTERVAL: usize = 256 * CHUNK;

/// The first number beyond those of characters.
const TOO_LARGE: u32 = char::MAX as u32 + 1;

/// The bytes of a chunk, and as many as stores write beyond them.
type Bytes = [u8; 4 * CHUNK + GROUP];

/// A character, or a surrogate, as a number.
pub trait Character: Copy {
    /// Maximum number of bytes in UTF-8.
    const MAX_BYTES: usize;

    /// Returns its number.
    fn number(self) -> u32;

    /// Returns the character of the lower bits of a number.
    fn truncated(number: u32) -> Self;
}

impl Character for u8 {
    const MAX_BYTES: usize = 2;

    fn number(self) -> u32 {
        self.into()
    }

    #[expect(clippy::cast_possible_truncation, reason = "as it says")]
    fn truncated(number: u32) -> Self {
        number as Self
    }
}

impl Character for u16 {
    const MAX_BYTES: usize = 3;

    fn number(self) -> u32 {
        self.into()
    }

    #[expect(clippy::cast_possible_truncation, reason = "as it says")]
    fn truncated(number: u32) -> Self {
        number as Self
    }
}

impl Character for u32 {
    const MAX_BYTES: usize = 4;

    fn number(self) -> u32 {
        self
    }

    fn truncated(number: u32) -> Self {
        number
    }
}

/// Replaces `text` by the UTF-8 of the characters. Pairs of surrogates become the character they stand for
/// and lone ones U+FFFD, as a round trip through UTF-16 makes them; so do numbers beyond those of characters.
///
/// # Errors
/// [`EncodeError::OutOfMemory`]; [`EncodeError::Interrupted`] from the checkpoint.
///
/// # Complexity
/// O(n) for n characters. Capacity is for the longest UTF-8 that they may have; memory that is not needed is
/// not touched.
pub fn transcode<C: Character>(characters: &[C], text: &mut String) -> Result<(), EncodeError> {
    transcode_with(Tier::current(), characters, text)
}

fn transcode_with<C: Character>(
    tier: Tier,
    characters: &[C],
    text: &mut String,
) -> Result<(), EncodeError> {
    clear_and_reserve(text, characters)?;
    let mut bytes = [0; size_of::<Bytes>()];
    for interval in characters.chunks(CHECK_INTERVAL) {
        checkpoint::pass()?;
        for chunk in interval.chunks(CHUNK) {
            let length = store(tier, chunk, &mut bytes);
            let Ok(utf8) = simdutf8::basic::from_utf8(&bytes[..length]) else {
                return transcode_repaired(characters, text);
            };
            text.with_room(utf8.len()).push_str(utf8);
        }
    }
    Ok(())
}

/// Clears `text` and reserves capacity for the UTF-8 of all characters.
fn clear_and_reserve<C: Character>(text: &mut String, characters: &[C]) -> Result<(), EncodeError> {
    text.clear();
    let capacity = characters.len().saturating_mul(C::MAX_BYTES);
    if text.capacity() < capacity {
        let bytes = memory::try_vec_with_capacity(capacity)?;
        *text = String::from_utf8(bytes).expect("no bytes are UTF-8");
    }
    Ok(())
}

/// As [`transcode`], of characters with surrogates among them.
#[cold]
fn transcode_repaired<C: Character>(
    characters: &[C],
    text: &mut String,
) -> Result<(), EncodeError> {
    text.clear();
    let units = characters
        .iter()
        .flat_map(|character| utf16(character.number()));
    for (index, character) in char::decode_utf16(units).enumerate() {
        if index % CHECK_INTERVAL == 0 {
            checkpoint::pass()?;
        }
        text.with_room(4)
            .push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    Ok(())
}

/// Returns a character or surrogate in UTF-16; U+FFFD for a number beyond them.
fn utf16(number: u32) -> impl Iterator<Item = u16> {
    let mut units = [None; 2];
    if let Ok(unit) = u16::try_from(number) {
        units[0] = Some(unit);
    } else {
        let character = char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER);
        let mut pair = [0; 2];
        for (slot, unit) in units.iter_mut().zip(character.encode_utf16(&mut pair)) {
            *slot = Some(*unit);
        }
    }
    units.into_iter().flatten()
}

/// Stores the bytes of up to [`CHUNK`] characters; returns their number.
fn store<C: Character>(tier: Tier, chunk: &[C], bytes: &mut Bytes) -> usize {
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = tier;
    #[cfg(target_arch = "x86_64")]
    if tier == Tier::Avx512
        && let Some(length) = avx512::store(chunk, bytes)
    {
        return length;
    }
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if matches!(tier, Tier::Simd128 | Tier::Avx2)
        && let Some(length) = simd128::store(chunk, bytes)
    {
        return length;
    }
    let mut length = 0;
    for group in chunk.chunks(GROUP) {
        if let Some(ascii) = group.first_chunk::<GROUP>().filter(|group| is_ascii(group)) {
            *dest(bytes, length) = ascii.map(low_byte::<C>);
            length += GROUP;
            continue;
        }
        length = store_each(group, bytes, length);
    }
    length
}

/// Stores the bytes of characters from `length` on, one after the other; returns where they end.
fn store_each<C: Character>(group: &[C], bytes: &mut Bytes, mut length: usize) -> usize {
    for &character in group {
        let (word, width) = encode(character.number());
        *dest(bytes, length) = word.to_le_bytes();
        length += width;
    }
    length
}

/// The next `N` bytes to write.
#[inline]
fn dest<const N: usize>(bytes: &mut Bytes, length: usize) -> &mut [u8; N] {
    bytes[length..]
        .first_chunk_mut()
        .expect("there are four bytes for each character of the chunk")
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

/// Returns the bytes of a character, the first one lowest, and their number.
fn encode(character: u32) -> (u32, usize) {
    // Numbers beyond those of characters give invalid UTF-8. `six` is a continuation byte of six bits.
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

/// Characters of all lengths, alone and mixed, for the tests of both directions.
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
    use super::{ALPHABETS, CHECK_INTERVAL, CHUNK, Character, transcode, transcode_with};
    use crate::checkpoint::{self, Checkpoint};
    use crate::error::EncodeError;
    use crate::util::tier::Tier;

    /// The UTF-8 of the characters, which every tier agrees on.
    fn text(characters: &[impl Character]) -> String {
        let text = |tier| {
            let mut text = "what was there before".to_owned();
            let result = transcode_with(tier, characters, &mut text);
            result.map_or_else(|error| error.to_string(), |()| text)
        };
        let scalar = text(Tier::Scalar);
        for tier in Tier::ALL.into_iter().filter(|tier| tier.available()) {
            assert_eq!(text(tier), scalar, "{tier:?}");
        }
        scalar
    }

    #[test]
    fn each_number_alone_agrees_with_the_standard_library() {
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
    fn all_characters_in_one_text() {
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
    fn all_lengths_and_mixtures() {
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
            CHECK_INTERVAL + 3,
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
    fn surrogates_are_repaired_at_every_index() {
        let (high, low) = (0xD83D, 0xDE00);
        for index in 0..2 * CHUNK {
            let mut characters = vec![0x8A9E_u16; 2 * CHUNK + 2];
            for (found, expected) in [
                ([high, low], "😀"),
                ([low, high], "\u{FFFD}\u{FFFD}"),
                ([high, high], "\u{FFFD}\u{FFFD}"),
                ([0x61, high], "a\u{FFFD}"),
            ] {
                characters[index..index + 2].copy_from_slice(&found);
                let expected = "語".repeat(index) + expected + &"語".repeat(2 * CHUNK - index);
                assert_eq!(text(&characters), expected);
                let wide: Vec<u32> = characters.iter().copied().map(u32::from).collect();
                assert_eq!(text(&wide), expected);
            }
        }
    }

    #[test]
    fn checkpoints_interrupt() {
        struct Stopped;
        impl Checkpoint for Stopped {
            fn should_stop(&self) -> bool {
                true
            }
        }
        let result = checkpoint::with(&Stopped, || transcode(&[0x41_u32], &mut String::new()));
        assert!(matches!(result, Err(EncodeError::Interrupted)));
    }
}
