//! What training starts from: byte tokens, and the merges of an initial vocabulary.

use std::collections::HashSet;

use super::part::Part;
use super::ties::Ties;
use super::{FIRST_MERGE, Options};
use crate::checkpoint::{self, Checkpoint};
use crate::error::TrainError;
use crate::merge;
use crate::token::{Pair, TokenId};
use crate::vocabulary::Vocabulary;

/// Bytes of pieces that are added between two checkpoints.
const STRETCH: usize = 1 << 16;

/// An initial vocabulary, made ready.
pub(super) struct Start {
    pub(super) ties: Ties,
    /// The bytes of each token.
    pub(super) lengths: Vec<u32>,
    /// Tokens that no merge may make again, because their own bytes do not become them.
    pub(super) taken: HashSet<Vec<u8>>,
    byte_tokens: [TokenId; 256],
    vocabulary: Vocabulary,
}

impl Start {
    /// What `options` say.
    ///
    /// # Errors
    /// [`TrainError`]: it is no vocabulary, or interrupted.
    pub(super) fn new(options: &Options, checkpoint: &dyn Checkpoint) -> Result<Self, TrainError> {
        let initial = &options.initial;
        let mut ties = Ties::new(options.tie_break, initial);
        let byte_tokens = initial.byte_tokens()?;
        let mut lengths = vec![1; byte_tokens.len()];
        let pairs = initial.merges.iter().copied();
        let made: Vec<(TokenId, Pair)> = (FIRST_MERGE..).zip(pairs).collect();
        let vocabulary =
            Vocabulary::from_merges(&byte_tokens, made.into_iter()).map_err(TrainError::Initial)?;
        for &pair in &initial.merges {
            let length = |token: TokenId| -> u32 { lengths[token as usize] };
            let length = length(pair.left).saturating_add(length(pair.right));
            lengths.push(length);
            ties.push(pair);
        }
        let taken = unreached(&vocabulary, initial.merges.len(), checkpoint)?;
        if taken.is_empty() {
            ties.forget_bytes();
        }
        Ok(Self {
            ties,
            lengths,
            taken,
            byte_tokens,
            vocabulary,
        })
    }

    /// What adds pieces to a part, as this vocabulary has them.
    pub(super) fn pushing(
        &self,
        checkpoint: &dyn Checkpoint,
    ) -> impl FnMut(&mut Part, &[u8], u64) -> Result<(), TrainError> {
        let mut ids = Vec::new();
        let mut unchecked = 0;
        let only_bytes = self.lengths.len() == self.byte_tokens.len();
        move |part, piece, count| {
            unchecked += piece.len();
            if unchecked > STRETCH {
                unchecked = 0;
                checkpoint::pass(checkpoint)?;
            }
            if only_bytes {
                return part.push_bytes(piece, &self.byte_tokens, count, checkpoint);
            }
            ids.clear();
            merge::merge(&self.vocabulary, piece, &mut ids, checkpoint)?;
            let tokens = ids
                .iter()
                .map(|&token| (token, self.lengths[token as usize]));
            part.push(piece.len(), tokens, count, checkpoint)
        }
    }
}

/// The bytes of the merged tokens of a vocabulary that its merges make something else of.
fn unreached(
    vocabulary: &Vocabulary,
    merges: usize,
    checkpoint: &dyn Checkpoint,
) -> Result<HashSet<Vec<u8>>, TrainError> {
    let mut unreached = HashSet::new();
    let mut ids = Vec::new();
    for token in (FIRST_MERGE..).take(merges) {
        let bytes = vocabulary.bytes(token).unwrap_or_default();
        ids.clear();
        merge::merge(vocabulary, bytes, &mut ids, checkpoint)?;
        if ids != [token] {
            unreached.insert(bytes.to_vec());
        }
    }
    Ok(unreached)
}
