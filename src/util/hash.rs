//! Hashing keyed with a per-process random seed (resists hash flooding).
//!
//! With a known hash, anybody can write texts whose pieces collide, and vocabularies whose tokens do: 40,000
//! such pieces of a megabyte took 8 s to count, and four times as long when they were twice as many. No
//! result depends on the seeds.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;

use super::lazy::get_or_init_nonblocking;

/// 2^64 divided by the golden ratio, the usual multiplier of Fibonacci hashing. A random multiplier may be
/// nearly a simple fraction of 2^64, so that some of the highest bits of its products recur; those of this
/// one do not.
pub(crate) const GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C15;

static SEEDS: OnceLock<[u64; 2]> = OnceLock::new();

/// Sets the seeds, before anything is hashed. Returns false if they are drawn already.
///
/// In WebAssembly the standard library has no source of randomness: its seeds are addresses, the same in every run.
pub fn set_seeds(seeds: [u64; 2]) -> bool {
    SEEDS.set(seeds).is_ok()
}

/// Returns the seeds, drawn once for the process. All tables share them, so that entries in the order of one
/// table's hashes are in that of another.
#[inline]
pub(crate) fn seeds() -> [u64; 2] {
    *get_or_init_nonblocking(&SEEDS, || {
        let random = RandomState::new();
        [0, 1].map(|number: u64| random.hash_one(number))
    })
}

/// Fibonacci hashing, for tables of pairs: multiplies, and takes the highest bits as the slot. The usual
/// multiplier spreads the pairs of real text. As it is known, pairs can be chosen to fill a run of slots,
/// which each look-up would walk: then a secret one replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FibonacciHash(u64);

impl Default for FibonacciHash {
    fn default() -> Self {
        Self(GOLDEN_RATIO)
    }
}

impl FibonacciHash {
    /// Longest acceptable distance from an entry's own slot. Pairs of real text stay below a tenth of it.
    const MAX_WALK: usize = 512;

    /// Returns the slot of a number in a table of two to the power of `64 - shift` slots.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "shifted down to a slot number"
    )]
    pub(crate) fn slot(self, number: u64, shift: u32) -> usize {
        (number.wrapping_mul(self.0) >> shift) as usize
    }

    /// Returns the hash to rebuild the table with if an insertion walked too many slots.
    pub(crate) fn after_walk(self, walked: usize) -> Option<Self> {
        (walked > Self::MAX_WALK && self.0 == GOLDEN_RATIO).then(|| Self(seeds()[0] | 1))
    }
}

/// Builds hashers that start with the seeds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SeededState;

impl BuildHasher for SeededState {
    type Hasher = SeededHasher;

    #[inline]
    fn build_hasher(&self) -> SeededHasher {
        let [state, seed] = seeds();
        SeededHasher { state, seed }
    }
}

/// Folds products of two words of the input at a time, as wyhash does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeededHasher {
    state: u64,
    seed: u64,
}

impl SeededHasher {
    #[inline]
    fn mix(&mut self, first: u64, second: u64) {
        self.state = fold(self.state ^ first, self.seed ^ second);
    }
}

impl Hasher for SeededHasher {
    #[inline]
    fn finish(&self) -> u64 {
        // Tables use the lowest bits, and the highest.
        self.state.wrapping_mul(GOLDEN_RATIO).rotate_left(26)
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

/// Hashes a key of at most 16 bytes with the [`seeds`], which the caller keeps at hand. The highest bits are
/// the best.
#[inline]
pub(crate) fn hash_u128(key: u128, [first, second]: [u64; 2]) -> u64 {
    let [low, high] = halves(key);
    fold(low ^ first, high ^ second).wrapping_mul(GOLDEN_RATIO)
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the two halves")]
fn halves(number: u128) -> [u64; 2] {
    [number as u64, (number >> 64) as u64]
}

/// Returns both halves of the product, combined.
#[inline]
fn fold(first: u64, second: u64) -> u64 {
    let [low, high] = halves(u128::from(first) * u128::from(second));
    low ^ high
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::BuildHasher;

    use super::{SeededState, hash_u128};

    /// Strings that differ in one byte or in length have different hashes, with random bits at both ends.
    #[test]
    fn hashes_are_spread() {
        let mut all = Vec::new();
        for length in 0..50 {
            all.push(vec![0; length]);
            for index in 0..length {
                for byte in [1, 2, 0x80, 0xFF] {
                    let mut bytes = vec![0; length];
                    bytes[index] = byte;
                    all.push(bytes);
                }
            }
        }
        let hashes: Vec<u64> = all
            .iter()
            .map(|bytes| SeededState.hash_one(bytes))
            .collect();
        let different = |shift: u32| {
            let parts = hashes.iter().map(|hash| hash.rotate_right(shift) & 0xFFFF);
            parts.collect::<HashSet<u64>>().len()
        };
        assert_eq!(hashes.iter().collect::<HashSet<_>>().len(), all.len());
        // Of 4,951 random 16-bit numbers, some 180 are duplicates.
        for shift in [0, 48] {
            assert!(different(shift) > all.len() - 400, "{}", different(shift));
        }
    }

    /// Arithmetic sequences, which collide under a known multiplier.
    #[test]
    fn short_numbers_are_spread() {
        for seed in 0..20_u64 {
            let seeds = [1, 2].map(|half| {
                let number = (2 * seed + half).wrapping_mul(0xBF58_476D_1CE4_E5B9);
                (number ^ number >> 31).wrapping_mul(0x94D0_49BB_1331_11EB)
            });
            for step in [0, 8, 40, 64, 72, 104] {
                let hashes = (0..1_u128 << 12).map(|number| hash_u128(number << step, seeds) >> 48);
                let different = hashes.collect::<HashSet<u64>>().len();
                assert!(different > 3_500, "{different} by steps of 2^{step}");
            }
        }
    }
}
