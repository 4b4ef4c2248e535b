//! Properties of characters that only some patterns ask for.
//!
//! Most are of Unicode 16, as [`Class`](super::classify::Class). The numbers that Unicode 17 added are for patterns that
//! take numbers from Rust's standard library, as Hugging Face's `Digits` does.

#![forbid(unsafe_code)]

use super::properties::{HAN, SIGNS, SIGNS_OF};
use super::scripts::RANGES;

/// Returns whether a code point is punctuation or a symbol, `[\p{P}\p{S}]`.
#[inline]
pub fn is_sign(code_point: u32) -> bool {
    let set = SIGNS_OF.get((code_point / 64) as usize);
    set.is_some_and(|&set| SIGNS[usize::from(set)] >> (code_point % 64) & 1 != 0)
}

/// Returns whether a code point is of the script Han, `\p{Han}`.
#[inline]
pub fn is_han(code_point: u32) -> bool {
    let after = HAN.partition_point(|&(first, _)| first <= code_point);
    after > 0 && code_point <= HAN[after - 1].1
}

/// Returns whether a code point is in `[一-龥぀-ゟ゠-ヿ]`: the Chinese characters and the kana that some patterns list.
#[inline]
pub fn is_cjk(code_point: u32) -> bool {
    matches!(code_point, 0x4E00..=0x9FA5 | 0x3040..=0x30FF)
}

/// Returns whether a code point is a number that Unicode 17 added.
#[inline]
pub fn is_new_number(code_point: u32) -> bool {
    matches!(code_point, 0x11DE0..=0x11DE9 | 0x16FF4..=0x16FF6)
}

// Scripts of Unicode 9.0, by which SentencePiece decides which characters may be in one piece.

/// The script of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Script(u8);

impl Script {
    /// Characters that belong to no script, and those that Unicode 9.0 does not have.
    pub const COMMON: Self = Self(0);
    /// Marks that take the script of the character before.
    pub const INHERITED: Self = Self(1);
    /// Chinese characters.
    pub const HAN: Self = Self(2);
    /// Cursive Japanese syllables.
    pub const HIRAGANA: Self = Self(3);
    /// The other Japanese syllables.
    pub const KATAKANA: Self = Self(4);

    /// Returns the script of a character.
    pub fn of(character: char) -> Self {
        let code_point = u32::from(character);
        let after = RANGES.partition_point(|&(first, ..)| first <= code_point);
        match after.checked_sub(1).map(|index| RANGES[index]) {
            Some((_, last, script)) if code_point <= last => Self(script),
            _ => Self::COMMON,
        }
    }
}

#[cfg(test)]
mod script_tests {
    use super::Script;

    #[test]
    fn characters_have_the_scripts_of_unicode_9() {
        for (character, script) in [
            ('!', Script::COMMON),
            ('\u{301}', Script::INHERITED),
            ('\u{4E2D}', Script::HAN),
            ('\u{3042}', Script::HIRAGANA),
            ('\u{30A2}', Script::KATAKANA),
            ('\u{30FC}', Script::COMMON),
            ('\u{589}', Script::COMMON),
            // Added in Unicode 10 and 13.
            ('\u{2BA0}', Script::COMMON),
            ('\u{30000}', Script::COMMON),
            (char::MAX, Script::COMMON),
        ] {
            assert_eq!(Script::of(character), script, "{character:?}");
        }
        assert_eq!(Script::of('a'), Script::of('\u{FF5A}'));
        assert_ne!(Script::of('a'), Script::of('\u{430}'));
        assert_eq!(Script::of('\u{953}'), Script::of('\u{915}'));
    }
}
