//! The classes of the characters beyond ASCII in 64 bytes, by AVX2. The safe twin is [`Masks::with_high`].
//!
//! The last byte of a character is one of 64; what stands before it is its *prefix*. Texts have few prefixes at a time:
//! all characters of a window that share one are looked up together, among 64 classes. The prefixes of most Chinese and
//! Korean characters are many, but of caseless letters only: these need no look-up.

use std::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_blendv_epi8, _mm256_broadcastsi128_si256,
    _mm256_cmpeq_epi8, _mm256_max_epu8, _mm256_min_epu8, _mm256_or_si256, _mm256_set1_epi8,
    _mm256_shuffle_epi8, _mm256_slli_epi16,
};

use super::{load, mask};
use crate::split::masks::Masks;
use crate::unicode::classify::{Class, LAST_BYTES, class_of_four, classes_of_prefix, prefix};
use crate::util::block::Block;

/// Up to this many characters are looked up one by one.
const FEW: u32 = 4;

/// 64 bytes.
type Bytes = [__m256i; 2];

/// As [`Masks::with_high`].
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn with_high(masks: Masks, window: &Block) -> Masks {
    let mut rest = masks.high & !masks.continuation;
    if rest.count_ones() <= FEW {
        return masks.with_high(window);
    }
    let [first, second, third] = [0, 1, 2].map(|byte| bytes_from(window, byte));
    let caseless = both(|half| caseless(first[half], second[half]));
    rest &= !mask(caseless[0], caseless[1]);
    // The class of each character, at its first byte; 0 of those that are not looked up.
    let mut found = both(|half| _mm256_and_si256(caseless[half], all(Class::Caseless as u8)));
    let mut classes = [0_u64; 16];
    while rest != 0 {
        let place = rest.trailing_zeros() as usize;
        let Some(&[a, b, c, d]) = window.get(place..).and_then(<[u8]>::first_chunk) else {
            break;
        };
        if a >= 0xF0 {
            // Too few share a prefix of three bytes.
            classes[class_of_four([a, b, c, d]) as usize & 15] |= 1 << place;
            rest &= rest - 1;
            continue;
        }
        let of_last = classes_of_prefix(prefix(a, b));
        let last = if a < 0xE0 { second } else { third };
        let mut same = both(|half| _mm256_cmpeq_epi8(first[half], all(a)));
        if a >= 0xE0 {
            same =
                both(|half| _mm256_and_si256(same[half], _mm256_cmpeq_epi8(second[half], all(b))));
        }
        found = both(|half| {
            let class = look_up(of_last, last[half]);
            _mm256_or_si256(found[half], _mm256_and_si256(class, same[half]))
        });
        rest &= !mask(same[0], same[1]);
    }
    masks.with_firsts(|class| {
        let equal = both(|half| _mm256_cmpeq_epi8(found[half], all(class as u8)));
        classes[class as usize & 15] | mask(equal[0], equal[1])
    })
}

/// The 64 bytes of a window from `byte` on, one of the first few.
#[inline]
#[target_feature(enable = "avx2")]
fn bytes_from(window: &Block, byte: usize) -> Bytes {
    let bytes = window.get(byte..).unwrap_or_default();
    let (halves, _) = bytes.as_chunks::<32>();
    both(|half| halves.get(half).map_or(all(0), |bytes| load(bytes)))
}

/// Both halves of 64 bytes.
#[inline]
fn both(half: impl Fn(usize) -> __m256i) -> Bytes {
    [half(0), half(1)]
}

/// 32 times the same byte.
#[inline]
#[target_feature(enable = "avx2")]
fn all(byte: u8) -> __m256i {
    _mm256_set1_epi8(byte.cast_signed())
}

/// Where characters begin, with these bytes, that the [`CASELESS`] prefixes tell to be caseless.
#[inline]
#[target_feature(enable = "avx2")]
fn caseless(first: __m256i, second: __m256i) -> __m256i {
    let of_three = _mm256_cmpeq_epi8(_mm256_and_si256(first, all(0xF0)), all(0xE0));
    let lead = _mm256_and_si256(first, all(0xF));
    let [least, most] = CASELESS.map(|of_lead| _mm256_shuffle_epi8(twice(&of_lead), lead));
    let above = _mm256_cmpeq_epi8(_mm256_max_epu8(second, least), second);
    let below = _mm256_cmpeq_epi8(_mm256_min_epu8(second, most), second);
    _mm256_and_si256(of_three, _mm256_and_si256(above, below))
}

/// The least and the greatest second byte of some characters of three bytes that are caseless, all in between: by the lower
/// half of their first byte.
pub(in crate::split) const CASELESS: [[u8; 16]; 2] = {
    let mut of_lead = [[0xFF_u8; 16], [0; 16]];
    let mut lead = 0;
    while lead < 16 {
        let (mut start, mut second) = (0x80_u8, 0x80_u8);
        while second < 0xC0 {
            if is_caseless(lead << 6 | (second as usize & 0x3F)) {
                let longest = of_lead[1][lead].wrapping_sub(of_lead[0][lead]);
                if of_lead[1][lead] == 0 || second - start > longest {
                    of_lead[0][lead] = start;
                    of_lead[1][lead] = second;
                }
            } else {
                start = second + 1;
            }
            second += 1;
        }
        lead += 1;
    }
    of_lead
};

/// Whether all characters of a prefix are caseless letters.
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

/// The class that each of these last bytes chooses.
#[inline]
#[target_feature(enable = "avx2")]
fn look_up(classes: &[Class; LAST_BYTES], last: __m256i) -> __m256i {
    let lowest = _mm256_and_si256(last, all(0xF));
    let bytes = classes.map(|class| class as u8);
    let (quarters, _) = bytes.as_chunks::<16>();
    let [a, b, c, d] = [0, 1, 2, 3].map(|quarter| {
        let classes = quarters.get(quarter).map_or(all(0), |bytes| twice(bytes));
        _mm256_shuffle_epi8(classes, lowest)
    });
    // To choose by bits 4 and 5, these are moved to the top of their bytes.
    let fourth = _mm256_slli_epi16::<3>(last);
    let fifth = _mm256_slli_epi16::<2>(last);
    let low = _mm256_blendv_epi8(a, b, fourth);
    let high = _mm256_blendv_epi8(c, d, fourth);
    _mm256_blendv_epi8(low, high, fifth)
}

/// 16 bytes, twice.
#[inline]
#[target_feature(enable = "avx2")]
fn twice(bytes: &[u8; 16]) -> __m256i {
    // SAFETY: reads the 16 bytes that are there.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

#[cfg(test)]
mod tests {
    use super::with_high;
    use crate::split::masks::{self, Masks};
    use crate::split::{avx2, avx512};
    use crate::util::block::{BLOCK_LEN, Block, OVERHANG};
    use crate::util::tier::Tier;

    /// Compares the tiers on each window of a text that starts where a character does.
    fn compare(text: &str) {
        let mut place = 0;
        while place < text.len() {
            let mut window: Block = [b' '; BLOCK_LEN + OVERHANG];
            for (to, from) in window.iter_mut().zip(&text.as_bytes()[place..]) {
                *to = *from;
            }
            let expected = masks::ascii(&window).with_high(&window);
            let mut tiers: Vec<Masks> = Vec::new();
            if Tier::Avx2.available() {
                // SAFETY: the machine has what the functions are compiled for.
                tiers.push(unsafe { with_high(avx2::ascii(&window), &window) });
            }
            if Tier::Avx512.available() {
                // SAFETY: as above.
                tiers.push(unsafe { avx512::with_high(avx512::ascii(&window), &window) });
            }
            for here in tiers {
                assert_eq!(here, expected, "{:?}", text.get(place..));
            }
            place = text.ceil_char_boundary(place + BLOCK_LEN - 3);
        }
    }

    #[test]
    fn tiers_agree_on_every_character() {
        let all: String = (0..=u32::from(char::MAX))
            .filter_map(char::from_u32)
            .collect();
        compare(&all);
        // Among others, which share its prefix or do not.
        let mut mixed = String::new();
        let mut state = 1_u64;
        for _ in 0..60_000 {
            state = state
                .wrapping_mul(0x5851_F42D_4C95_7F2D)
                .wrapping_add(0x1405_7B7E_F767_814F);
            let near = [
                0, 0x370, 0x400, 0x600, 0x900, 0x3040, 0x4DB0, 0x9FE0, 0xAC00, 0xD7A0, 0x1F300,
            ];
            let start = near[(state >> 60) as usize % near.len()];
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
