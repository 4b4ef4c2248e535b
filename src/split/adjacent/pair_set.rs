//! A set of pairs of characters: one array, at most half of it filled.
//!
//! A hash that resists chosen keys took half of the time of encoding text of many scripts. So the usual multiplier is
//! used, as for pairs of tokens, and a secret one if the pairs of a vocabulary crowd together.

use crate::util::hash::FibonacciHash;

/// Bits of a code point.
const BITS: u32 = 21;

/// A set of pairs of code points.
#[derive(Debug)]
pub(super) struct PairSet {
    /// Pairs as numbers, each in the first free slot from its own on; 0 in a free slot.
    slots: Vec<u64>,
    filled: usize,
    spread: FibonacciHash,
    shift: u32,
}

impl PairSet {
    /// Returns an empty set.
    pub(super) fn new() -> Self {
        Self::with_slots(1 << 4, FibonacciHash::default())
    }

    fn with_slots(slots: usize, spread: FibonacciHash) -> Self {
        Self {
            slots: vec![0; slots],
            filled: 0,
            spread,
            shift: u64::BITS - slots.ilog2(),
        }
    }

    /// Returns a pair as a number that is not 0.
    #[inline]
    fn number(before: u32, after: u32) -> u64 {
        1 << (2 * BITS) | u64::from(before) << BITS | u64::from(after)
    }

    /// Adds a pair of code points.
    pub(super) fn insert(&mut self, before: u32, after: u32) {
        let walked = self.put(Self::number(before, after));
        if 2 * self.filled > self.slots.len() {
            self.rebuild(2 * self.slots.len(), self.spread);
        } else if let Some(spread) = self.spread.after_walk(walked) {
            self.rebuild(self.slots.len(), spread);
        }
    }

    /// Stores a number, and returns how far from its own slot.
    fn put(&mut self, number: u64) -> usize {
        let mask = self.slots.len() - 1;
        let own = self.spread.slot(number, self.shift);
        let mut walked = 0;
        loop {
            let slot = &mut self.slots[(own + walked) & mask];
            if *slot == number {
                return walked;
            }
            if *slot == 0 {
                *slot = number;
                self.filled += 1;
                return walked;
            }
            walked += 1;
        }
    }

    fn rebuild(&mut self, slots: usize, spread: FibonacciHash) {
        let mut rebuilt = Self::with_slots(slots, spread);
        for &number in self.slots.iter().filter(|&&number| number != 0) {
            rebuilt.put(number);
        }
        *self = rebuilt;
    }

    /// Whether a pair of code points is in the set.
    #[inline]
    pub(super) fn contains(&self, before: u32, after: u32) -> bool {
        let number = Self::number(before, after);
        let mask = self.slots.len() - 1;
        let mut index = self.spread.slot(number, self.shift);
        loop {
            match self.slots[index & mask] {
                0 => return false,
                found if found == number => return true,
                _ => index += 1,
            }
        }
    }

    /// Number of bytes that it occupies.
    pub(super) fn memory(&self) -> usize {
        size_of::<u64>() * self.slots.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::PairSet;

    #[test]
    fn holds_what_was_inserted() {
        let mut set = PairSet::new();
        let pairs =
            || (0..3000_u32).map(|number| (number * 367 % 0x11_0000, number * number % 0x11_0000));
        for (before, after) in pairs() {
            set.insert(before, after);
            set.insert(before, after);
        }
        let known: std::collections::HashSet<_> = pairs().collect();
        assert_eq!(set.filled, known.len());
        for (before, after) in pairs() {
            assert!(set.contains(before, after));
            assert_eq!(
                set.contains(after, before),
                known.contains(&(after, before))
            );
        }
    }
}
