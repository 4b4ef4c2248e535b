//! Offsets of cells in the corpus, as the pair index keeps them: in 32 bits, or as wide as an address where the
//! corpus has more cells.
//!
//! There is one for each occurrence of each pair that may still be merged, so their width is most of the memory
//! beside the corpus, and of what is read and written. All that holds occurrences is compiled for both widths.

use std::fmt::Debug;
use std::ops::{AddAssign, SubAssign};
use std::sync::atomic::{AtomicU32, AtomicUsize};

use crate::util::memory::AtomicInteger;

/// An offset of a cell, an index in a pool of such offsets, or a number of them.
pub(in crate::train) trait Offset:
    Copy + Debug + Default + Ord + AddAssign + SubAssign + From<u8> + Send + Sync + 'static
{
    /// The same in memory that several threads write to.
    type Atomic: AtomicInteger<Integer = Self>;

    /// Greater than all offsets and indices; it stands for none.
    const NONE: Self;

    /// Returns whether offsets below `end` can be told apart from each other and from [`NONE`](Self::NONE).
    fn suffices(end: usize) -> bool;

    /// The offset `offset`, for which the type [suffices](Self::suffices).
    fn new(offset: usize) -> Self;

    /// The offset, to index with.
    fn get(self) -> usize;
}

macro_rules! offset {
    ($integer:ty, $atomic:ty) => {
        impl Offset for $integer {
            type Atomic = $atomic;

            const NONE: Self = Self::MAX;

            #[inline]
            fn suffices(end: usize) -> bool {
                Self::try_from(end).is_ok()
            }

            #[inline]
            #[allow(clippy::cast_possible_truncation, reason = "the type suffices")]
            fn new(offset: usize) -> Self {
                debug_assert!(
                    Self::suffices(offset),
                    "{offset} of {}",
                    stringify!($integer)
                );
                offset as Self
            }

            #[inline]
            fn get(self) -> usize {
                self as usize
            }
        }
    };
}

offset!(u32, AtomicU32);
offset!(usize, AtomicUsize);
#[cfg(test)]
offset!(u8, std::sync::atomic::AtomicU8);
#[cfg(test)]
offset!(u16, std::sync::atomic::AtomicU16);

#[cfg(test)]
mod tests {

    use super::Offset;
    use crate::error::TrainError;
    use crate::train::counting::{CountTable, PieceCounts};
    use crate::train::learning::tests::{Pieces, borrowed, learned_with, pieces};
    use crate::train::learning::{Goal, learn_by_offsets, learn_in, prepare};
    use crate::train::{Learned, Options, TieBreak, reference};

    fn counted(pieces: &Pieces) -> Result<PieceCounts, TrainError> {
        let mut counts = PieceCounts::new();
        counts.add_pieces(borrowed(pieces).into_iter())?;
        Ok(counts)
    }

    /// How long a type of offsets suffices.
    #[derive(Debug, Default)]
    struct Sufficed {
        to_the_end: usize,
        /// Until the index needed longer pools.
        for_a_while: usize,
        never: usize,
    }

    impl Sufficed {
        fn add<O: Offset>(
            &mut self,
            counts: &mut PieceCounts,
            merges: usize,
            options: &Options,
            partitions: usize,
        ) -> Result<(), TrainError> {
            let (corpus, policy) = prepare(counts, options, partitions)?;
            if !O::suffices(corpus.end()) {
                self.never += 1;
                return Ok(());
            }
            let mut learned = Learned::default();
            let min_count = options.min_frequency.max(1);
            let goal = Goal { merges, min_count };
            let rest = learn_by_offsets::<O>(&corpus, policy, goal, &mut learned, &mut |_| Ok(()))?;
            if rest.is_none() {
                self.to_the_end += 1;
            } else {
                assert!((1..merges).contains(&learned.len()), "{}", learned.len());
                self.for_a_while += 1;
            }
            Ok(())
        }
    }

    /// Corpora with fewer cells than a type has offsets, with more, and such as need longer pools than they have
    /// cells.
    #[test]
    fn merges_are_the_same_whatever_offsets_suffice_for() -> Result<(), TrainError> {
        let mut bytes = Sufficed::default();
        for seed in 1..=90 {
            let pieces = pieces(2 + seed as usize % 14, 2 + seed % 4, 1 + seed % 3, seed);
            for tie_break in TieBreak::ALL {
                let options = Options {
                    tie_break,
                    min_frequency: u64::from(seed % 3),
                    max_token_length: (seed % 5 == 0).then_some(5),
                    ..Options::default()
                };
                let defined = reference::train(&borrowed(&pieces), 100, &options);
                for partitions in 1..=2 {
                    let counts = &mut counted(&pieces)?;
                    let name = tie_break.name();
                    let learned = [
                        learned_with::<u8>(counts, 100, &options, partitions)?,
                        learned_with::<u16>(counts, 100, &options, partitions)?,
                        learned_with::<u32>(counts, 100, &options, partitions)?,
                        learned_with::<usize>(counts, 100, &options, partitions)?,
                    ];
                    for learned in learned {
                        assert_eq!(Some(learned), defined, "{seed} {name} {partitions}");
                    }
                    bytes.add::<u8>(counts, 100, &options, partitions)?;
                }
            }
        }
        let Sufficed {
            to_the_end,
            for_a_while,
            never,
        } = bytes;
        assert!(to_the_end.min(for_a_while).min(never) >= 20, "{bytes:?}");
        Ok(())
    }

    /// With work for all threads, and from counts in files.
    #[test]
    fn offsets_of_large_corpora_are_wider() -> Result<(), TrainError> {
        let mut of_16_bits = Sufficed::default();
        // The longer pieces are, the fewer cells there are for each occurrence.
        for (number, joined) in [(4_400, 10), (20_000, 1)] {
            let parts = pieces(number, 3, 9, 1);
            let pieces = parts.chunks(joined).map(|parts| {
                let bytes: Vec<&[u8]> = parts.iter().map(|(piece, _)| &piece[..]).collect();
                (bytes.concat(), parts[0].1)
            });
            let mut pieces: Pieces = pieces.collect();
            // The order in which pieces of sorted counts occur.
            pieces.sort_unstable();
            for tie_break in TieBreak::ALL {
                let options = Options {
                    tie_break,
                    ..Options::default()
                };
                let counts = &mut counted(&pieces)?;
                let expected = learned_with::<u32>(counts, 600, &options, 1)?;
                assert_eq!(expected.len(), 600);
                let mut in_a_file = PieceCounts::new();
                let mut table = CountTable::default();
                counts.for_each_sorted(|piece, count| {
                    table.push(piece, count);
                    Ok(())
                })?;
                let mut table = Some(table);
                in_a_file.add_sorted(vec![Box::new(|| Ok(table.take()))])?;
                for partitions in [1, 3] {
                    for counts in [&mut *counts, &mut in_a_file] {
                        let learned = [
                            learned_with::<u16>(counts, 600, &options, partitions)?,
                            learned_with::<usize>(counts, 600, &options, partitions)?,
                        ];
                        for learned in learned {
                            let name = tie_break.name();
                            assert_eq!(learned, expected, "{number} {name} {partitions}");
                        }
                        of_16_bits.add::<u16>(counts, 600, &options, partitions)?;
                    }
                }
            }
        }
        assert!(
            of_16_bits.for_a_while > 0 && of_16_bits.never > 0,
            "{of_16_bits:?}"
        );
        Ok(())
    }

    /// A corpus that begins shortly before the offset 2^32 has all its other cells beyond it.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn offsets_beyond_32_bits_are_told_apart() -> Result<(), TrainError> {
        let pieces = pieces(30_000, 5, 9, 1);
        for tie_break in TieBreak::ALL {
            let options = Options {
                tie_break,
                ..Options::default()
            };
            let counts = &mut counted(&pieces)?;
            for partitions in [1, 3] {
                let expected = learned_with::<u32>(counts, 300, &options, partitions)?;
                let (mut corpus, policy) = prepare(counts, &options, partitions)?;
                corpus.shift((1 << 32) - corpus.end() / 2);
                assert!(!u32::suffices(corpus.end()));
                let learned = learn_in::<u32>(&corpus, policy, 300, 1, &mut |_| Ok(()))?;
                assert_eq!(learned, expected, "{} {partitions}", tie_break.name());
                assert_eq!(learned.len(), 300);
            }
        }
        Ok(())
    }
}
