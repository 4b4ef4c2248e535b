//! Keeping some of the sentences.

use crate::util::memory::{self, Growable};

/// Which sentences are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// The first ones.
    First(usize),
    /// A number of them, each with the same probability, by a seed.
    Random {
        /// The number.
        size: usize,
        /// The seed.
        seed: u64,
    },
}

/// Sentences that were kept so far (reservoir sampling).
#[derive(Debug)]
pub(super) struct Sample {
    sampling: Sampling,
    state: u64,
    seen: u64,
    pub(super) sentences: Vec<(Vec<u8>, u64)>,
}

impl Sample {
    pub(super) fn new(sampling: Sampling) -> Self {
        let state = match sampling {
            Sampling::First(_) => 0,
            Sampling::Random { seed, .. } => seed,
        };
        Self {
            sampling,
            state,
            seen: 0,
            sentences: Vec::new(),
        }
    }

    /// Adds a sentence that occurs `count` times, and drops another one if there are enough.
    pub(super) fn add(&mut self, text: &[u8], count: u64) {
        self.seen += 1;
        let slot = match self.sampling {
            Sampling::First(size) | Sampling::Random { size, .. }
                if self.sentences.len() < size =>
            {
                let sentence = (memory::copied(text), count);
                self.sentences.with_room(1).push(sentence);
                return;
            }
            Sampling::First(_) => return,
            Sampling::Random { .. } => self.below(self.seen),
        };
        let slot = usize::try_from(slot).ok();
        if let Some(kept) = slot.and_then(|slot| self.sentences.get_mut(slot)) {
            *kept = (memory::copied(text), count);
        }
    }

    /// Returns whether no more sentences are wanted.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self.sampling, Sampling::First(size) if self.sentences.len() >= size)
    }

    /// Returns a random number below a limit (`SplitMix64`).
    fn below(&mut self, limit: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        let scaled = (u128::from(mixed) * u128::from(limit)) >> u64::BITS;
        u64::try_from(scaled).expect("below the limit")
    }
}

#[cfg(test)]
mod tests {
    use super::{Sample, Sampling};

    fn kept(sampling: Sampling, of: u32) -> Vec<u32> {
        let mut sample = Sample::new(sampling);
        for number in 0..of {
            sample.add(&number.to_le_bytes(), 1);
        }
        let numbers = sample.sentences.into_iter().map(|(text, _)| {
            let bytes = text.try_into().unwrap_or([0; 4]);
            u32::from_le_bytes(bytes)
        });
        numbers.collect()
    }

    #[test]
    fn every_sentence_is_as_likely_and_a_seed_decides() {
        assert_eq!(kept(Sampling::First(3), 9), [0, 1, 2]);
        let mut times = [0; 20];
        for seed in 0..2_000 {
            let kept = kept(Sampling::Random { size: 5, seed }, 20);
            assert_eq!(kept.len(), 5);
            for number in kept {
                times[number as usize] += 1;
            }
        }
        assert!(
            times.iter().all(|times| (400..600).contains(times)),
            "{times:?}"
        );
        let again = |seed| kept(Sampling::Random { size: 5, seed }, 1000);
        assert_eq!(again(7), again(7));
        assert_ne!(again(7), again(8));
    }
}
