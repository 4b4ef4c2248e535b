//! UTF-8 to characters of one, two or four bytes each, as interpreters store text.
//!
//! ```text
//! the width that the widest character needs: from the largest byte
//! for each character: its number; or those of 64 bytes at a time, with AVX-512
//! ```
//!
//! When a million ids are decoded to text of many languages, Python's own conversion took two fifths of the
//! time from a list, and three quarters from an array.

#[cfg(target_arch = "x86_64")]
mod avx512;

use std::mem::MaybeUninit;

use super::Character;
use crate::util::tier::Tier;

/// Size of the characters of a text, all of which have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// One byte, and all of them are ASCII.
    Ascii,
    /// One byte.
    One,
    /// Two bytes.
    Two,
    /// Four bytes.
    Four,
}

impl Width {
    /// Returns the narrowest width for a text.
    pub fn of(text: &str) -> Self {
        // Larger characters have larger first bytes.
        match text.bytes().max() {
            None | Some(0..0x80) => Self::Ascii,
            Some(0x80..0xC4) => Self::One,
            Some(0xC4..0xF0) => Self::Two,
            Some(0xF0..) => Self::Four,
        }
    }

    /// Number of the largest character of this width.
    pub fn largest(self) -> u32 {
        match self {
            Self::Ascii => 0x7F,
            Self::One => 0xFF,
            Self::Two => 0xFFFF,
            Self::Four => char::MAX.into(),
        }
    }
}

/// Stores the characters of a text; returns their number. Characters beyond the length of `dest` are left
/// out.
///
/// Of characters wider than `C` only the lower bits are stored: see [`Width::of`].
///
/// # Complexity
/// O(bytes).
pub fn widen<C: Character>(text: &str, dest: &mut [MaybeUninit<C>]) -> usize {
    widen_with(Tier::current(), text, dest)
}

fn widen_with<C: Character>(tier: Tier, text: &str, dest: &mut [MaybeUninit<C>]) -> usize {
    let (read, mut stored) = match tier {
        #[cfg(target_arch = "x86_64")]
        Tier::Avx512 => avx512::widen(text.as_bytes(), dest),
        // Blocks of 16 bytes, those of ASCII at once, took a fifth longer for text of many languages.
        _ => (0, 0),
    };
    for (slot, character) in dest[stored..].iter_mut().zip(text[read..].chars()) {
        slot.write(C::truncated(character.into()));
        stored += 1;
    }
    stored
}

#[cfg(test)]
mod tests {
    use std::mem::MaybeUninit;

    use super::{Width, widen_with};
    use crate::unicode::utf8::{ALPHABETS, Character};
    use crate::util::tier::Tier;

    /// The characters of the text, which every tier agrees on, stored in `more` slots than they need, or
    /// less.
    fn widened<C: Character>(text: &str, more: isize) -> Vec<u32> {
        let slots = text.chars().count().saturating_add_signed(more);
        let by = |tier| {
            let mut dest = vec![MaybeUninit::new(C::truncated(7)); slots];
            let stored = widen_with(tier, text, &mut dest);
            assert!(stored <= slots);
            #[expect(unsafe_code, reason = "all slots were initialised before")]
            // SAFETY: every slot was initialised above.
            let number = |slot: &MaybeUninit<C>| unsafe { slot.assume_init() }.number();
            dest[..stored].iter().map(number).collect::<Vec<_>>()
        };
        let scalar = by(Tier::Scalar);
        for tier in Tier::ALL.into_iter().filter(|tier| tier.available()) {
            assert_eq!(by(tier), scalar, "{tier:?} {text:?}");
        }
        scalar
    }

    /// Checks a text in its own width and in wider ones.
    fn check(text: &str) {
        let expected: Vec<u32> = text.chars().map(u32::from).collect();
        let width = Width::of(text);
        let largest = expected.iter().copied().max().unwrap_or(0);
        assert!(largest <= width.largest(), "{text:?}");
        for more in [0, 1, 100] {
            assert_eq!(widened::<u32>(text, more), expected);
            if width != Width::Four {
                assert_eq!(widened::<u16>(text, more), expected);
            }
            if matches!(width, Width::Ascii | Width::One) {
                assert_eq!(widened::<u8>(text, more), expected);
            }
        }
        let less = widened::<u32>(text, -1);
        assert_eq!(less, expected[..expected.len().saturating_sub(1)]);
    }

    #[test]
    fn all_characters_in_one_text() {
        check(&('\0'..=char::MAX).collect::<String>());
        check(&('\0'..='\u{FFFF}').collect::<String>());
        check(&('\0'..='\u{FF}').collect::<String>());
        check(&('\0'..='\u{7F}').collect::<String>());
    }

    #[test]
    fn the_width_is_the_narrowest() {
        for (character, width) in [
            ('\u{7F}', Width::Ascii),
            ('\u{80}', Width::One),
            ('\u{FF}', Width::One),
            ('\u{100}', Width::Two),
            ('\u{FFFF}', Width::Two),
            ('\u{1_0000}', Width::Four),
            (char::MAX, Width::Four),
        ] {
            assert_eq!(Width::of(&format!("a{character}a")), width, "{character:?}");
        }
        assert_eq!(Width::of(""), Width::Ascii);
    }

    #[test]
    fn all_lengths_and_mixtures() {
        for length in (0..200).chain([1000]) {
            for alphabet in ALPHABETS {
                check(&alphabet.chars().cycle().take(length).collect::<String>());
            }
        }
    }

    /// A character of each length at each offset of a block, between others of each length.
    #[test]
    fn all_offsets_in_a_block() {
        for around in ["a", "é", "語", "😀"] {
            for character in ['b', 'ü', '本', '🎉'] {
                for offset in 0..130 {
                    let before = "x".repeat(offset % 4) + &around.repeat(offset);
                    check(&format!("{before}{character}{}", around.repeat(70)));
                }
            }
        }
    }
}
