//! The classes of the characters in 64 bytes, by vector operations. The safe twin is
//! [`Scalar`](super::masks::Scalar).
//!
//! Beyond ASCII, the last byte of a character is one of 64; what precedes it is its *prefix*. A text has few
//! prefixes at a time: all characters of a block that share one are looked up together, in a table of 64
//! classes. Chinese and Korean characters have many prefixes, but most of these contain only caseless letters
//! and need no look-up.

#![expect(
    clippy::inline_always,
    reason = "compiled into the caller, which has the target features"
)]

use super::masks::Masks;
use super::ranges::{is, load_from};
use crate::unicode::classify::{Class, LAST_BYTES, class_of_four, classes_of_prefix, prefix};
use crate::util::block::Block;
use crate::util::vector::Vector;

/// Up to this many characters are looked up one at a time.
const FEW: u32 = 4;

/// As [`Classify::ascii`](super::masks::Classify::ascii).
#[inline(always)]
pub(super) fn ascii<V: Vector>(v: V, block: &Block) -> Masks {
    let bytes = load_from::<V, 0>(v, block);
    let vertical = v.either(is(v, bytes, b'\t'), v.in_range::<0x0B, 2>(bytes));
    Masks {
        upper: v.bits(v.in_range::<b'A', 26>(bytes)),
        lower: v.bits(v.in_range::<b'a', 26>(bytes)),
        number: v.bits(v.in_range::<b'0', 10>(bytes)),
        other_whitespace: v.bits(vertical),
        newline: v.bits(v.either(is(v, bytes, b'\n'), is(v, bytes, b'\r'))),
        space: v.bits(is(v, bytes, b' ')),
        apostrophe: v.bits(is(v, bytes, b'\'')),
        slash: v.bits(is(v, bytes, b'/')),
        non_ascii: v.highest_bits(bytes),
        continuation: v.bits(v.in_range::<0x80, 64>(bytes)),
        ..Masks::default()
    }
}

/// As [`Classify::add_non_ascii`](super::masks::Classify::add_non_ascii).
#[inline(always)]
pub(super) fn add_non_ascii<V: Vector>(v: V, masks: Masks, block: &Block) -> Masks {
    let mut rest = masks.non_ascii & !masks.continuation;
    if rest.count_ones() <= FEW {
        return masks.add_non_ascii(block);
    }
    let first = load_from::<V, 0>(v, block);
    let second = load_from::<V, 1>(v, block);
    let third = load_from::<V, 2>(v, block);
    let caseless = caseless(v, first, second);
    rest &= !v.bits(caseless);
    // The class of each character, at its first byte; 0 for those that are not looked up here.
    let mut found = v.keep(caseless, v.splat(Class::Caseless as u8));
    let mut firsts = [0_u64; Class::COUNT];
    while rest != 0 {
        let index = rest.trailing_zeros() as usize;
        let bytes: &[u8; 4] = block[index..].first_chunk().expect("a block overhangs");
        let [a, b, ..] = *bytes;
        if a >= 0xF0 {
            // Too few characters of four bytes share a prefix.
            firsts[class_of_four(*bytes) as usize] |= 1 << index;
            rest &= rest - 1;
            continue;
        }
        let classes = classes_of_prefix(prefix(a, b)).map(|class| class as u8);
        let mut same = is(v, first, a);
        let mut last = second;
        if a >= 0xE0 {
            same = v.both(same, is(v, second, b));
            last = third;
        }
        found = v.or(found, v.keep(same, v.look_up_64(&classes, last)));
        rest &= !v.bits(same);
    }
    for class in Class::NON_ASCII {
        firsts[class as usize] |= v.bits(is(v, found, class as u8));
    }
    masks.add_characters(&firsts)
}

/// Where a character begins whose first two bytes are in [`CASELESS`].
#[inline(always)]
fn caseless<V: Vector>(v: V, first: V::Bytes, second: V::Bytes) -> V::Mask {
    let of_three = is(v, v.and(first, v.splat(0xF0)), 0xE0);
    let lead = v.and(first, v.splat(0xF));
    let least = v.look_up_16(&CASELESS[0], lead);
    let most = v.look_up_16(&CASELESS[1], lead);
    let between = v.both(v.at_least(second, least), v.at_least(most, second));
    v.both(of_three, between)
}

/// By the lower half of the first byte of a character of three bytes: the least and the greatest second byte
/// of its longest range of second bytes after which all characters are caseless. The least is above the
/// greatest if there is none.
const CASELESS: [[u8; 16]; 2] = {
    let mut ranges = [[0xFF_u8; 16], [0; 16]];
    let mut lead = 0;
    while lead < 16 {
        let (mut start, mut second) = (0x80_u8, 0x80_u8);
        while second < 0xC0 {
            if is_caseless(lead << 6 | (second as usize & 0x3F)) {
                let longest = ranges[1][lead].wrapping_sub(ranges[0][lead]);
                if ranges[1][lead] == 0 || second - start > longest {
                    ranges[0][lead] = start;
                    ranges[1][lead] = second;
                }
            } else {
                start = second + 1;
            }
            second += 1;
        }
        lead += 1;
    }
    ranges
};

/// Returns whether all characters of a prefix are caseless letters.
const fn is_caseless(prefix: usize) -> bool {
    let classes = classes_of_prefix(prefix);
    let mut last = 0;
    while last < LAST_BYTES {
        if !matches!(classes[last], Class::Caseless) {
            return false;
        }
        last += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{add_non_ascii, ascii};
    use crate::split::masks::{Classify, Scalar};
    use crate::util::block::{BLOCK_LEN, Block, OVERHANG};
    use crate::util::vector::portable::Portable;

    /// Compares all classifiers on each block of a text that starts where a character does.
    fn compare(text: &str) {
        let mut start = 0;
        while start < text.len() {
            let mut block: Block = [b' '; BLOCK_LEN + OVERHANG];
            for (to, from) in block.iter_mut().zip(&text.as_bytes()[start..]) {
                *to = *from;
            }
            let expected = Scalar.add_non_ascii(Scalar.ascii(&block), &block);
            let portable = add_non_ascii(Portable, ascii(Portable, &block), &block);
            assert_eq!(portable, expected, "{:?}", &text[start..]);
            #[cfg(vectors)]
            if let Some(simd128) = crate::util::vector::Simd128::detect() {
                let here = simd128.add_non_ascii(simd128.ascii(&block), &block);
                assert_eq!(here, expected, "{:?}", &text[start..]);
            }
            #[cfg(target_arch = "x86_64")]
            if let Some(avx2) = crate::util::vector::avx2::Avx2::detect() {
                let here = avx2.add_non_ascii(avx2.ascii(&block), &block);
                assert_eq!(here, expected, "{:?}", &text[start..]);
            }
            #[cfg(target_arch = "x86_64")]
            if let Some(avx512) = crate::util::vector::avx512::Avx512::detect() {
                let here = avx512.add_non_ascii(avx512.ascii(&block), &block);
                assert_eq!(here, expected, "{:?}", &text[start..]);
            }
            start = text.ceil_char_boundary(start + BLOCK_LEN - 3);
        }
    }

    #[test]
    fn tiers_agree_on_every_character() {
        let all: String = (0..=u32::from(char::MAX))
            .filter_map(char::from_u32)
            .collect();
        compare(&all);
        // Runs of characters among others that share their prefix or do not.
        let mut mixed = String::new();
        let mut state = 1_u64;
        for _ in 0..60_000 {
            state = state
                .wrapping_mul(0x5851_F42D_4C95_7F2D)
                .wrapping_add(0x1405_7B7E_F767_814F);
            let blocks = [
                0, 0x370, 0x400, 0x600, 0x900, 0x3040, 0x4DB0, 0x9FE0, 0xAC00, 0xD7A0, 0x1F300,
            ];
            let start = blocks[(state >> 60) as usize % blocks.len()];
            let spread = [0x80, 0x40, 0x800][(state >> 56) as usize % 3];
            let code_point = start + (state >> 33) as u32 % spread;
            for _ in 0..=(state >> 50) % 12 {
                mixed.extend(char::from_u32(code_point ^ (state >> 40) as u32 & 7));
            }
        }
        compare(&mixed);
        for cut in 0..mixed.len().min(3000) {
            compare(mixed.get(cut..cut + 90).unwrap_or_default());
        }
    }
}
