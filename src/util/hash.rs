//! Hashes that nobody outside of this process can foresee.
//!
//! With a known hash, anybody can write texts whose pieces collide, and vocabularies whose tokens do: 40,000 such pieces of
//! a megabyte took 8 s to count, and four times as long when they were twice as many. What is mixed in here is drawn once
//! for the process; no result depends on it.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;

/// The numbers that are mixed in. They are the same for all tables, so that what lies in one by its hash is in the order of
/// others.
pub(crate) static NUMBERS: LazyLock<[u64; 2]> = LazyLock::new(|| {
    let random = RandomState::new();
    [0, 1].map(|number: u64| random.hash_one(number))
});

/// Multiplied at the end. A secret number may be nearly a simple fraction of 2^64, so that some highest bits of its products
/// come again and again; the lower ones do not.
const SPREADING: u64 = 0x9E37_79B9_7F4A_7C15;

/// Where numbers belong in a table of pairs: they are multiplied, and the highest bits tell the slot. The usual multiplier
/// spreads the pairs that come from texts. It is known, so that some can be made to lie in a row, where each look-up would
/// walk over all: then another is taken, which nobody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spread(u64);

impl Default for Spread {
    fn default() -> Self {
        Self(SPREADING)
    }
}

impl Spread {
    /// Pairs that come from texts are at most a tenth of it behind their own slots.
    const LONGEST_WALK: usize = 512;

    /// The slot of a number in a table of two to the power of `64 - shift`.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "shifted down to a slot number"
    )]
    pub(crate) fn slot(self, number: u64, shift: u32) -> usize {
        (number.wrapping_mul(self.0) >> shift) as usize
    }

    /// How to lay a table out again, if a number has just come so many slots behind its own that it should be.
    pub(crate) fn after_walk(self, walked: usize) -> Option<Self> {
        (walked > Self::LONGEST_WALK && self.0 == SPREADING).then(|| Self(NUMBERS[0] | 1))
    }
}

/// Makes hashers that begin with the secret.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Secret;

impl BuildHasher for Secret {
    type Hasher = SecretHasher;

    #[inline]
    fn build_hasher(&self) -> SecretHasher {
        let [state, number] = *NUMBERS;
        SecretHasher { state, number }
    }
}

/// Folds products: two numbers of the input at a time, as wyhash does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SecretHasher {
    state: u64,
    number: u64,
}

impl SecretHasher {
    #[inline]
    fn mix(&mut self, first: u64, second: u64) {
        self.state = fold(self.state ^ first, self.number ^ second);
    }
}

impl Hasher for SecretHasher {
    #[inline]
    fn finish(&self) -> u64 {
        // Tables take the lowest bits, and the highest.
        self.state.wrapping_mul(SPREADING).rotate_left(26)
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (blocks, rest) = bytes.as_chunks::<16>();
        for block in blocks {
            let [first, second] = halves(u128::from_le_bytes(*block));
            self.mix(first, second);
        }
        let mut last = [0; 16];
        last[..rest.len()].copy_from_slice(rest);
        let [first, second] = halves(u128::from_le_bytes(last));
        self.mix(first, second);
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.mix(number, 0);
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}

/// A short number, mixed with those of [`NUMBERS`], which the caller keeps at hand. The highest bits are the best.
#[inline]
pub(crate) fn mix(number: u128, [first, second]: [u64; 2]) -> u64 {
    let [low, high] = halves(number);
    fold(low ^ first, high ^ second).wrapping_mul(SPREADING)
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the two halves")]
fn halves(number: u128) -> [u64; 2] {
    [number as u64, (number >> 64) as u64]
}

/// Both halves of the product, as one.
#[inline]
fn fold(first: u64, second: u64) -> u64 {
    let [low, high] = halves(u128::from(first) * u128::from(second));
    low ^ high
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::BuildHasher;

    use super::{Secret, mix};

    /// Strings that differ little, in length or by zeros have different hashes, whose bits at both ends are spread.
    #[test]
    fn hashes_are_spread() {
        let mut all = Vec::new();
        for length in 0..50 {
            all.push(vec![0; length]);
            for at in 0..length {
                for byte in [1, 2, 0x80, 0xFF] {
                    let mut bytes = vec![0; length];
                    bytes[at] = byte;
                    all.push(bytes);
                }
            }
        }
        let hashes: Vec<u64> = all.iter().map(|bytes| Secret.hash_one(bytes)).collect();
        let different = |shift: u32| {
            let parts = hashes.iter().map(|hash| hash.rotate_right(shift) & 0xFFFF);
            parts.collect::<HashSet<u64>>().len()
        };
        assert_eq!(hashes.iter().collect::<HashSet<_>>().len(), all.len());
        // Of 4,951 drawn at random, some 180 are not new.
        for shift in [0, 48] {
            assert!(different(shift) > all.len() - 400, "{}", different(shift));
        }
    }

    /// The keys that are best to foresee where the numbers are known.
    #[test]
    fn short_numbers_are_spread() {
        for seed in 0..20_u64 {
            let secret = [1, 2].map(|place| {
                let number = (2 * seed + place).wrapping_mul(0xBF58_476D_1CE4_E5B9);
                (number ^ number >> 31).wrapping_mul(0x94D0_49BB_1331_11EB)
            });
            for step in [0, 8, 40, 64, 72, 104] {
                let hashes = (0..1_u128 << 12).map(|number| mix(number << step, secret) >> 48);
                let different = hashes.collect::<HashSet<u64>>().len();
                assert!(different > 3_500, "{different} by steps of 2^{step}");
            }
        }
    }
}
