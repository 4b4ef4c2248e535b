//! Applying one merge: the pair becomes a token at all of its occurrences in a partition.

use std::ops::Deref;

use super::batch::Merge;
use super::deltas::PairDeltas;
use super::offset::Offset;
use super::partition::CorpusPartition;
use crate::checkpoint::{self, Interrupted};

/// Occurrences visited between two checkpoints.
const CHECK_INTERVAL: usize = 1 << 16;

/// How many occurrences ahead cells are prefetched.
const PREFETCH_AHEAD: usize = 16;

/// Prefetches the first occurrences of a merge in each of some partitions.
pub(super) fn prefetch_first(
    merge: Merge,
    partitions: &[impl Deref<Target = CorpusPartition>],
    occurrences: &[&[impl Offset]],
) {
    let [left, right] = merge.lengths;
    for (partition, occurrences) in partitions.iter().zip(occurrences) {
        for &occurrence in occurrences.iter().take(PREFETCH_AHEAD) {
            partition.prefetch(occurrence.get(), left + right);
        }
    }
}

/// Replaces the pair at those `occurrences` of a partition where it still is, and adds its neighbors to
/// `deltas`.
pub(super) fn apply_merge<O: Offset>(
    merge: Merge,
    partition: &mut CorpusPartition,
    occurrences: &[O],
    deltas: &mut PairDeltas<O>,
) -> Result<(), Interrupted> {
    let Merge {
        pair,
        lengths,
        token,
    } = merge;
    let length = lengths[0] + lengths[1];
    for chunk in occurrences.chunks(CHECK_INTERVAL) {
        if occurrences.len() > CHECK_INTERVAL {
            checkpoint::pass()?;
        }
        for (next, &occurrence) in chunk.iter().enumerate() {
            if let Some(&later) = chunk.get(next + PREFETCH_AHEAD) {
                partition.prefetch(later.get(), length);
            }
            let Some(context) = partition.replace(occurrence.get(), pair, lengths, token) else {
                continue;
            };
            if let Some((start, before)) = context.before {
                let start = O::new(start);
                deltas.left.add(before, token, start, context.count);
                // This occurrence begins with what was the right neighbor of the occurrence before.
                if before == token {
                    deltas.right.mark_merged(pair.left, token, context.count);
                }
            }
            if let Some(after) = context.after {
                deltas.right.add(after, token, occurrence, context.count);
            }
        }
    }
    Ok(())
}
