//! Which tokens are the two halves of others.
//!
//! Every way to cut every token is tried, so the hashes of halves are those of a polynomial, which all come from the hashes
//! of prefixes: a look-up takes a multiplication, however long a half is. Hashing each half anew took half of the time in
//! which a SentencePiece model is loaded.

use std::hash::BuildHasher;

use hashbrown::HashTable;

use crate::util::hash::SeededState;
use crate::util::memory::{self, Growable};

/// Texts by polynomial hashes. See the module.
pub(super) struct Halves<T> {
    texts: Vec<T>,
    /// The number of each text, by its hash.
    numbers: HashTable<u32>,
    /// Powers of the base of the polynomial.
    powers: Vec<u64>,
}

impl<T: AsRef<[u8]>> Halves<T> {
    /// Builds the table of different texts.
    ///
    /// # Complexity
    /// O(total bytes).
    #[expect(
        clippy::cast_possible_truncation,
        reason = "there are fewer tokens than that"
    )]
    pub(super) fn new(texts: Vec<T>) -> Self {
        let longest = texts.iter().map(|text| text.as_ref().len()).max();
        // Odd, so that no byte loses its weight, and secret, so that nobody can choose texts that collide.
        let base = SeededState.hash_one(0_u8) | 1;
        let power = |power: &u64| Some(power.wrapping_mul(base));
        let powers = std::iter::successors(Some(1), power).take(longest.unwrap_or(0) + 1);
        let powers = memory::collect(powers);
        let mut numbers = memory::hash_table(texts.len());
        for (number, text) in texts.iter().enumerate() {
            let hash = |text: &T| {
                text.as_ref()
                    .iter()
                    .fold(0, |hash, &byte| next(hash, base, byte))
            };
            numbers.insert_unique(mixed(hash(text)), number as u32, |&other| {
                mixed(hash(&texts[other as usize]))
            });
        }
        Self {
            texts,
            numbers,
            powers,
        }
    }

    /// Calls `found` with the numbers of both halves, for each cut of the text of a number whose halves are texts as well.
    ///
    /// # Complexity
    /// O(bytes).
    pub(super) fn of(&self, number: usize, hashes: &mut Vec<u64>, mut found: impl FnMut(u32, u32)) {
        let text = self.texts[number].as_ref();
        let base = self.powers.get(1).copied().unwrap_or(1);
        hashes.clear();
        let mut hash = 0;
        for &byte in text {
            hash = next(hash, base, byte);
            hashes.with_room(1).push(hash);
        }
        for cut in 1..text.len() {
            let left = hashes[cut - 1];
            let Some(left_number) = self.find(left, &text[..cut]) else {
                continue;
            };
            let right = hash.wrapping_sub(left.wrapping_mul(self.powers[text.len() - cut]));
            if let Some(right_number) = self.find(right, &text[cut..]) {
                found(left_number, right_number);
            }
        }
    }

    fn find(&self, hash: u64, text: &[u8]) -> Option<u32> {
        let is_text = |&number: &u32| self.texts[number as usize].as_ref() == text;
        self.numbers.find(mixed(hash), is_text).copied()
    }
}

/// Returns the hash of a text and a byte behind it. No byte counts as 0, so that texts of different lengths differ.
fn next(hash: u64, base: u64, byte: u8) -> u64 {
    hash.wrapping_mul(base).wrapping_add(u64::from(byte) + 1)
}

/// Spreads a hash, whose low bits depend on few bits of the text.
fn mixed(hash: u64) -> u64 {
    let folded = (hash ^ hash >> 32).wrapping_mul(crate::util::hash::GOLDEN_RATIO);
    folded ^ folded >> 32
}

#[cfg(test)]
mod tests {
    use super::Halves;

    #[test]
    fn halves_are_those_of_all_cuts() {
        let texts = [
            "a",
            "b",
            "ab",
            "aba",
            "ba",
            "",
            "abaab",
            "aab",
            "\u{20ac}",
            "\u{20ac}a",
        ];
        let halves = Halves::new(texts.to_vec());
        let mut hashes = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            let mut found = Vec::new();
            halves.of(number, &mut hashes, |left, right| found.push((left, right)));
            let known = |half: &[u8]| (0..).zip(texts).find(|(_, text)| text.as_bytes() == half);
            let expected: Vec<(u32, u32)> = (1..text.len())
                .filter_map(|cut| {
                    let (left, right) = text.as_bytes().split_at(cut);
                    Some((known(left)?.0, known(right)?.0))
                })
                .collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
