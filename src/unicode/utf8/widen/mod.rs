//! UTF-8 → characters of one, two or four bytes each, as interpreters keep text.
//!
//! ```text
//! the width that the widest character needs: by the largest byte
//! for each character: its number; or for those of 64 bytes at once, by AVX-512
//! ```
//!
//! Decoding a million ids to text of many languages, Python's own way took two fifths of the time from a list, and three
//! quarters from an array.

#[cfg(target_arch = "x86_64")]
mod avx512;

use std::mem::MaybeUninit;

use super::Character;
use crate::util::tier::Tier;

/// How much room a character has where all of a text have the same.
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
    /// The narrowest for a text.
    pub fn of(text: &str) -> Self {
        // The first byte tells how large a character is.
        match text.bytes().max() {
            None | Some(0..0x80) => Self::Ascii,
            Some(0x80..0xC4) => Self::One,
            Some(0xC4..0xF0) => Self::Two,
            Some(0xF0..) => Self::Four,
        }
    }

    /// The largest character that has room, as a number.
    pub fn largest(self) -> u32 {
        match self {
            Self::Ascii => 0x7F,
            Self::One => 0xFF,
            Self::Two => 0xFFFF,
            Self::Four => char::MAX.into(),
        }
    }
}

/// Stores the characters of a text, those that find no room being left out; answers how many.
///
/// What a character is too wide for is lost of it: see [`Width::of`].
///
/// # Complexity
/// O(bytes).
pub fn widen<C: Character>(text: &str, room: &mut [MaybeUninit<C>]) -> usize {
    widen_by(Tier::current(), text, room)
}

fn widen_by<C: Character>(tier: Tier, text: &str, room: &mut [MaybeUninit<C>]) -> usize {
    let (mut place, mut stored) = (0, 0);
    #[cfg(target_arch = "x86_64")]
    if tier == Tier::Avx512 {
        (place, stored) = avx512::widen(text.as_bytes(), room);
    }
    let rest = text.get(place..).unwrap_or_default();
    let room = room.get_mut(stored..).unwrap_or_default();
    for (to, character) in room.iter_mut().zip(rest.chars()) {
        to.write(C::truncated(character.into()));
        stored += 1;
    }
    stored
}

#[cfg(test)]
mod tests {
    use std::mem::MaybeUninit;

    use super::{Width, widen_by};
    use crate::unicode::utf8::{ALPHABETS, Character};
    use crate::util::tier::Tier;

    /// What every tier makes of the text, with `more` places than it needs, or less.
    fn widened<C: Character>(text: &str, more: isize) -> Vec<u32> {
        let places = text.chars().count().saturating_add_signed(more);
        let by = |tier| {
            let mut room = vec![MaybeUninit::new(C::truncated(7)); places];
            let stored = widen_by(tier, text, &mut room);
            assert!(stored <= places);
            #[expect(unsafe_code, reason = "all places were filled before")]
            // SAFETY: they were filled.
            let number = |place: &MaybeUninit<C>| unsafe { place.assume_init() }.number();
            room[..stored].iter().map(number).collect::<Vec<_>>()
        };
        let plain = by(Tier::Scalar);
        for tier in Tier::ALL.into_iter().filter(|tier| tier.available()) {
            assert_eq!(by(tier), plain, "{tier:?} {text:?}");
        }
        plain
    }

    /// That the text comes out, in its own width and in wider ones.
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
    fn each_character_does_among_others() {
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
    fn all_lengths_and_mixtures_come_out() {
        for length in (0..200).chain([1000]) {
            for alphabet in ALPHABETS {
                check(&alphabet.chars().cycle().take(length).collect::<String>());
            }
        }
    }

    /// A character of each length at each place of a window, others of each length around it.
    #[test]
    fn all_places_of_a_window_come_out() {
        for around in ["a", "é", "語", "😀"] {
            for character in ['b', 'ü', '本', '🎉'] {
                for place in 0..130 {
                    let before = "x".repeat(place % 4) + &around.repeat(place);
                    check(&format!("{before}{character}{}", around.repeat(70)));
                }
            }
        }
    }
}
