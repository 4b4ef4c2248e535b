//! Training: which merges does a corpus teach?
//!
//! ```text
//! texts ── split ──► pieces, each with its count    counting
//! counted pieces ──► merges                         learning
//! ```
//!
//! **The definition** is [`reference`](mod@reference): take the pair with the highest count over all pieces,
//! each weighted by its own count, overlapping windows counted; break ties by a [`TieBreak`]; merge it
//! everywhere, left to right; repeat.
//!
//! **No two tokens have the same bytes**: a pair is not merged if that would make the bytes of a token. This
//! hardly ever comes up. Consider any span of a piece that begins and ends between tokens after k merges. No
//! merge so far crossed its ends, so the merges inside are those that its bytes would get as a piece of their
//! own. So equal bytes between such ends are the same tokens everywhere; two different pairs that make the
//! same bytes never exist at the same time, and once one of them is merged the other never appears. Only
//! initial merges that were not learned from pieces can have tokens that their own bytes do not merge to, and
//! only these have to be looked for.
//!
//! For the same reason, learned merges make each token of its own bytes: where the two parts of a token are
//! merged for the first time, they are between such ends.
//!
//! Results depend only on the pieces and their counts: not on threads, order, or how texts were batched.
//! [`TieBreak::FirstSeen`] also depends on the order of first occurrence.

pub mod counting;
pub mod learning;
pub mod reference;
pub mod sentencepiece;

use crate::error::{TrainError, VocabularyError};
use crate::token::{Pair, TokenId};
use crate::util::memory::Growable;
use crate::vocabulary::Vocabulary;

/// Which of the pairs with the highest count is merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TieBreak {
    /// The smallest pair of ids: rustbpe, bpeasy.
    #[default]
    SmallestPair,
    /// The smallest pair of ids, with bytes numbered as in Hugging Face's byte-level alphabet: printable ones
    /// first.
    HuggingFace,
    /// The pair whose left token has the greatest bytes, then whose right token has.
    GreatestBytes,
    /// The pair that occurs first in the pieces as merged so far: minbpe, tiktoken's educational trainer.
    FirstSeen,
}

impl TieBreak {
    /// All rules.
    pub const ALL: [Self; 4] = [
        Self::SmallestPair,
        Self::HuggingFace,
        Self::GreatestBytes,
        Self::FirstSeen,
    ];

    /// Returns the name of the rule.
    pub fn name(self) -> &'static str {
        match self {
            Self::SmallestPair => "smallest_pair",
            Self::HuggingFace => "huggingface",
            Self::GreatestBytes => "greatest_bytes",
            Self::FirstSeen => "first_seen",
        }
    }

    /// Returns the rule with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }
}

/// The initial vocabulary: byte tokens, and merges that come before all learned ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initial {
    /// The byte of each of the tokens 0 to 255.
    pub bytes: [u8; 256],
    /// Merge k makes token 256 + k.
    pub merges: Vec<Pair>,
}

impl Default for Initial {
    /// Byte `b` is token `b`, and there are no merges.
    fn default() -> Self {
        let mut bytes = [0; 256];
        for (byte, slot) in (0..=u8::MAX).zip(&mut bytes) {
            *slot = byte;
        }
        Self {
            bytes,
            merges: Vec::new(),
        }
    }
}

impl Initial {
    /// Returns the id of each byte.
    ///
    /// # Errors
    /// [`TrainError::MissingByte`].
    pub(crate) fn byte_tokens(&self) -> Result<[TokenId; 256], TrainError> {
        let mut found = [None; 256];
        for (id, &byte) in (0..).zip(&self.bytes) {
            found[usize::from(byte)] = Some(id);
        }
        let mut ids = [0; 256];
        for (byte, (id, found)) in (0..=u8::MAX).zip(ids.iter_mut().zip(found)) {
            *id = found.ok_or(TrainError::MissingByte(byte))?;
        }
        Ok(ids)
    }
}

/// How to train.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Which of equally frequent pairs comes first.
    pub tie_break: TieBreak,
    /// A pair that occurs less often is not merged; 0 and 1 are the same.
    pub min_frequency: u64,
    /// A pair that would make a token of more bytes is not merged.
    pub max_token_length: Option<usize>,
    /// The vocabulary to start from.
    pub initial: Initial,
    /// The most threads to use. The result does not depend on it.
    pub threads: usize,
}

/// Merges in the order in which they were learned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// The pair of each merge.
    pub pairs: Vec<Pair>,
    /// How often each pair occurred when it was merged, overlapping windows counted.
    pub counts: Vec<u64>,
}

impl Learned {
    /// Returns the number of merges.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Returns whether no merge was learned.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Adds the next merge.
    pub(crate) fn push(&mut self, pair: Pair, count: u64) {
        self.pairs.with_room(1).push(pair);
        self.counts.with_room(1).push(count);
    }
}

/// Returns the vocabulary of the 256 bytes, each being its own token, and of all `learned` merges, which
/// start from these, in order.
///
/// # Errors
/// [`VocabularyError`] if a merge uses a token that is not made before it. Nothing else is checked.
///
/// # Complexity
/// O(total bytes).
pub fn vocabulary(learned: &[Pair]) -> Result<Vocabulary, VocabularyError> {
    let byte_tokens = Initial::default().bytes.map(TokenId::from);
    let merges: Vec<_> = (FIRST_MERGE..).zip(learned.iter().copied()).collect();
    Vocabulary::from_proven(&byte_tokens, &merges)
}

/// The first id of a merge.
const FIRST_MERGE: TokenId = 256;

/// Returns the index of each byte in Hugging Face's byte-level alphabet. Printable characters of Latin-1
/// stand for themselves, the other bytes, in order, for the characters from U+0100 on; the alphabet is sorted
/// by character.
fn huggingface_order() -> [u8; 256] {
    let printable = |byte: &u8| matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
    let others = (0..=u8::MAX).filter(|byte| !printable(byte));
    let alphabet = (0..=u8::MAX).filter(printable).chain(others);
    let mut order = [0; 256];
    for (index, byte) in (0..=u8::MAX).zip(alphabet) {
        order[usize::from(byte)] = index;
    }
    order
}
