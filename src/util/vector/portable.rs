//! The operations of [`Vector`] as its documentation defines them: what every instruction set is compared
//! with, and what machines with none of them run.

use super::Vector;
use crate::util::block::BLOCK_LEN;

/// The definition of the operations, byte by byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

fn zip<T: Copy, R>(a: [T; BLOCK_LEN], b: [T; BLOCK_LEN], f: impl Fn(T, T) -> R) -> [R; BLOCK_LEN] {
    std::array::from_fn(|index| f(a[index], b[index]))
}

impl Vector for Portable {
    type Bytes = [u8; BLOCK_LEN];
    type Mask = [bool; BLOCK_LEN];

    fn load(self, bytes: &[u8; BLOCK_LEN]) -> Self::Bytes {
        *bytes
    }

    fn splat(self, byte: u8) -> Self::Bytes {
        [byte; BLOCK_LEN]
    }

    fn and(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes {
        zip(a, b, |a, b| a & b)
    }

    fn or(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes {
        zip(a, b, |a, b| a | b)
    }

    fn equal(self, a: Self::Bytes, b: Self::Bytes) -> Self::Mask {
        zip(a, b, |a, b| a == b)
    }

    fn at_least(self, a: Self::Bytes, b: Self::Bytes) -> Self::Mask {
        zip(a, b, |a, b| a >= b)
    }

    fn in_range<const FIRST: u8, const COUNT: u8>(self, a: Self::Bytes) -> Self::Mask {
        a.map(|byte| FIRST <= byte && byte - FIRST < COUNT)
    }

    fn look_up_16(self, table: &[u8; 16], indices: Self::Bytes) -> Self::Bytes {
        assert!(indices.iter().all(|&index| index < 0x80), "documented");
        indices.map(|index| table[usize::from(index % 16)])
    }

    fn look_up_64(self, table: &[u8; 64], indices: Self::Bytes) -> Self::Bytes {
        indices.map(|index| table[usize::from(index % 64)])
    }

    fn both(self, a: Self::Mask, b: Self::Mask) -> Self::Mask {
        zip(a, b, |a, b| a && b)
    }

    fn either(self, a: Self::Mask, b: Self::Mask) -> Self::Mask {
        zip(a, b, |a, b| a || b)
    }

    fn keep(self, mask: Self::Mask, bytes: Self::Bytes) -> Self::Bytes {
        std::array::from_fn(|index| if mask[index] { bytes[index] } else { 0 })
    }

    fn bits(self, mask: Self::Mask) -> u64 {
        let bit = |(index, &truth)| u64::from(truth) << index;
        mask.iter().enumerate().map(bit).sum()
    }

    fn highest_bits(self, bytes: Self::Bytes) -> u64 {
        self.bits(bytes.map(|byte| byte >= 0x80))
    }
}

#[cfg(test)]
mod tests {
    use super::{Portable, Vector};

    /// All operations, each by all bits of its result.
    fn results(v: impl Vector, a: &[u8; 64], b: &[u8; 64]) -> Vec<u64> {
        let table: [u8; 16] = std::array::from_fn(|index| a[index] ^ b[63 - index]);
        let table_64 = *b;
        let splat = v.splat(a[7]);
        let (a, b) = (v.load(a), v.load(b));
        let vectors = [
            a,
            splat,
            v.and(a, b),
            v.or(a, b),
            v.keep(v.equal(a, b), a),
            v.look_up_16(&table, v.and(a, v.splat(0x7F))),
            v.look_up_64(&table_64, a),
        ];
        let masks = [
            v.equal(a, b),
            v.at_least(a, b),
            v.both(v.at_least(a, b), v.at_least(b, a)),
            v.either(v.equal(a, b), v.at_least(b, a)),
            v.in_range::<b'a', 26>(a),
            v.in_range::<0x80, 64>(a),
            v.in_range::<0x0B, 2>(a),
            v.in_range::<0, 127>(a),
            v.in_range::<200, 55>(a),
        ];
        let bit = |bytes, bit| v.bits(v.equal(v.and(bytes, v.splat(bit)), v.splat(bit)));
        let all_bits = |bytes| [1, 2, 4, 8, 16, 32, 64, 128].map(|mask| bit(bytes, mask));
        let masks = masks.iter().map(|&mask| v.bits(mask));
        masks
            .chain(vectors.iter().map(|&bytes| v.highest_bits(bytes)))
            .chain(vectors.iter().flat_map(|&bytes| all_bits(bytes)))
            .collect()
    }

    #[test]
    fn instruction_sets_agree_with_the_definition() {
        let mut state = 3_u64;
        let mut random = || {
            state = state
                .wrapping_mul(0x5851_F42D_4C95_7F2D)
                .wrapping_add(0x1405_7B7E_F767_814F);
            (state >> 33).to_le_bytes()[0]
        };
        for round in 0..2000 {
            let a: [u8; 64] = std::array::from_fn(|_| random());
            let narrow = if round % 2 == 0 { 0xFF } else { 3 };
            let b = a.map(|byte| byte ^ (random() & narrow));
            let expected = results(Portable, &a, &b);
            #[cfg(target_arch = "x86_64")]
            if let Some(avx2) = crate::util::vector::avx2::Avx2::detect() {
                assert_eq!(results(avx2, &a, &b), expected);
            }
            #[cfg(target_arch = "x86_64")]
            if let Some(avx512) = crate::util::vector::avx512::Avx512::detect() {
                assert_eq!(results(avx512, &a, &b), expected);
            }
            #[cfg(vectors)]
            if let Some(simd128) = crate::util::vector::Simd128::detect() {
                assert_eq!(results(simd128, &a, &b), expected);
            }
            assert!(!expected.is_empty());
        }
    }
}
