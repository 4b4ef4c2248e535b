//! Properties of characters that only some patterns ask for.
//!
//! Most are of Unicode 16, as [`Class`](super::classify::Class). The numbers that Unicode 17 added are for patterns that
//! take numbers from Rust's standard library, as Hugging Face's `Digits` does.

#![forbid(unsafe_code)]

use super::properties::{HAN, SIGNS, SIGNS_OF};

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
