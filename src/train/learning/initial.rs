//! The initial state of training: byte tokens, and the merges of an initial vocabulary.

use std::collections::HashSet;

use super::partition::CorpusPartition;
use super::policy::Restriction;
use super::tie_break::TieBreaker;
use super::token_bytes::TokenBytes;
use crate::checkpoint;
use crate::error::TrainError;
use crate::merge;
use crate::token::{Pair, TokenId};
use crate::train::{FIRST_MERGE, Options};
use crate::util::hash::SeededState;
use crate::util::memory;
use crate::vocabulary::Vocabulary;

/// Bytes of pieces added between two checkpoints.
const CHECK_INTERVAL: usize = 1 << 16;

/// An initial vocabulary, ready for training.
pub(super) struct InitialState {
    pub(super) ties: TieBreaker,
    /// Length of each token in bytes.
    pub(super) lengths: Vec<u32>,
    /// The merges that may not be made, if there are any.
    pub(super) restriction: Option<Box<dyn Restriction>>,
    byte_tokens: [TokenId; 256],
    vocabulary: Vocabulary,
}

impl InitialState {
    /// Builds the state from options.
    ///
    /// # Errors
    /// [`TrainError`] if the initial merges do not form a vocabulary, or if interrupted.
    pub(super) fn new(options: &Options) -> Result<Self, TrainError> {
        let initial = &options.initial;
        let mut ties = TieBreaker::new(options.tie_break, initial);
        let byte_tokens = initial.byte_tokens()?;
        let mut lengths = vec![1; byte_tokens.len()];
        let pairs = initial.merges.iter().copied();
        let merges: Vec<(TokenId, Pair)> = memory::collect((FIRST_MERGE..).zip(pairs));
        let vocabulary = Vocabulary::from_merges(&byte_tokens, merges.into_iter())
            .map_err(TrainError::Initial)?;
        for &pair in &initial.merges {
            let length = |token: TokenId| -> u32 { lengths[token as usize] };
            let length = length(pair.left).saturating_add(length(pair.right));
            lengths.push(length);
            ties.push(pair);
        }
        let reserved = unreachable_tokens(&vocabulary, initial.merges.len())?;
        let restriction = (!reserved.is_empty()).then(|| {
            let mut tokens = TokenBytes::new(initial.bytes.map(|byte| [byte]));
            for &pair in &initial.merges {
                tokens.push(pair);
            }
            Box::new(Reserved { reserved, tokens }) as Box<dyn Restriction>
        });
        Ok(Self {
            ties,
            lengths,
            restriction,
            byte_tokens,
            vocabulary,
        })
    }

    /// Returns a function that adds a piece and its count to a partition, as the tokens that the initial
    /// merges make of it.
    pub(super) fn new_push(
        &self,
    ) -> impl FnMut(&mut CorpusPartition, &[u8], u64) -> Result<(), TrainError> {
        let mut ids = Vec::new();
        let mut unchecked = 0;
        let only_bytes = self.lengths.len() == self.byte_tokens.len();
        move |partition, piece, count| {
            unchecked += piece.len();
            if unchecked > CHECK_INTERVAL {
                unchecked = 0;
                checkpoint::pass()?;
            }
            if only_bytes {
                let token = |byte| self.byte_tokens[usize::from(byte)];
                return partition.push_units(piece, token, count);
            }
            ids.clear();
            merge::merge(&self.vocabulary, piece, &mut ids)?;
            let tokens = ids
                .iter()
                .map(|&token| (token, self.lengths[token as usize]));
            partition.push(piece.len(), tokens, count)
        }
    }
}

/// The bytes of initial tokens that no merge may make again, because merging these bytes makes other tokens.
#[derive(Debug)]
struct Reserved {
    reserved: HashSet<Vec<u8>, SeededState>,
    tokens: TokenBytes,
}

impl Restriction for Reserved {
    fn allows(&self, pair: Pair) -> bool {
        let bytes = [pair.left, pair.right].map(|part| self.tokens.of(part));
        !self.reserved.contains(&bytes.concat())
    }

    fn push(&mut self, pair: Pair) {
        self.tokens.push(pair);
    }

    fn allows_predecessors(&self) -> bool {
        false
    }
}

/// Returns the bytes of those merged tokens that merging their own bytes does not make.
fn unreachable_tokens(
    vocabulary: &Vocabulary,
    merges: usize,
) -> Result<HashSet<Vec<u8>, SeededState>, TrainError> {
    let mut unreachable = HashSet::default();
    let mut ids = Vec::new();
    for token in (FIRST_MERGE..).take(merges) {
        let bytes = vocabulary.bytes(token);
        let bytes = bytes.expect("each initial merge makes a token");
        ids.clear();
        merge::merge(vocabulary, bytes, &mut ids)?;
        if ids != [token] {
            unreachable.insert(bytes.to_vec());
        }
    }
    Ok(unreachable)
}
