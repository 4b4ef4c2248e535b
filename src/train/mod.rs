//! Training: which merges does a corpus teach?
//!
//! ```text
//! texts ── split ──► pieces, each with how often it occurs      (count, table, long; spill: what memory has no room for)
//! pieces ─────────► an array of tokens for each thread           (start, corpus, part)
//! pairs ──────────► how often and where                          (survey, shard, pair_index, queue, ties)
//! merges: the best pairs become tokens wherever they occur, until there are enough (merges, round, work, replace, helpers)
//! ```
//!
//! **The definition** is [`reference`]: take the pair with the highest count over all pieces, each as often as it occurs,
//! overlapping windows counted; of equal counts the one that a [`TieBreak`] names; merge it everywhere, left to right.
//!
//! **No two tokens have the same bytes**: a pair that would make the bytes of a token is not merged. It hardly ever comes
//! up. Look at any stretch of a piece that begins and ends between tokens after k merges: no merge so far crossed its
//! ends, so what happened inside is what would have happened to these bytes as a piece of their own. So equal bytes
//! between such ends are the same tokens everywhere; two different pairs that make the same bytes never exist at the
//! same time, and once one of them is merged the other is never seen. Only initial merges that were not learned from
//! pieces can have tokens that their own bytes do not become, and these are all that has to be looked for.
//!
//! For the same reason the merges that were learned make each token of its own bytes: where the two parts of a token are
//! merged for the first time, they stand between such ends.
//!
//! Results depend on nothing but the pieces and how often they occur: not on threads, order, or how texts were handed
//! in. [`TieBreak::FirstSeen`] depends on the order of first occurrence, too.

mod columns;
mod corpus;
pub mod count;
mod counter;
mod helpers;
mod key;
mod long;
pub mod merges;
mod neighbours;
mod ordered;
mod pair_index;
mod part;
mod queue;
pub mod reference;
mod replace;
mod round;
mod rules;
mod run;
mod shard;
mod sorted;
mod spill;
mod start;
mod survey;
mod table;
mod tally;
mod ties;
mod work;

use crate::error::{TrainError, VocabularyError};
use crate::token::{Pair, TokenId};
use crate::vocabulary::Vocabulary;

/// Which of the pairs with the highest count is merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TieBreak {
    /// The smallest pair of ids: rustbpe, bpeasy.
    #[default]
    SmallestPair,
    /// The smallest pair of ids, bytes being numbered as Hugging Face's byte-level alphabet is: printable ones first.
    HuggingFace,
    /// The pair whose left token has the greatest bytes, then whose right token has.
    GreatestBytes,
    /// The pair that occurs first in the pieces as they are merged so far: minbpe, tiktoken's educational trainer.
    FirstSeen,
}

impl TieBreak {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::SmallestPair,
        Self::HuggingFace,
        Self::GreatestBytes,
        Self::FirstSeen,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::SmallestPair => "smallest_pair",
            Self::HuggingFace => "huggingface",
            Self::GreatestBytes => "greatest_bytes",
            Self::FirstSeen => "first_seen",
        }
    }

    /// The one of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }
}

/// What training starts from: byte tokens, and merges that come before all learned ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initial {
    /// The byte of each of the tokens 0 to 255.
    pub bytes: [u8; 256],
    /// Merge k makes token 256 + k.
    pub merges: Vec<Pair>,
}

impl Default for Initial {
    /// Byte `b` is token `b`, and nothing is merged.
    fn default() -> Self {
        let mut bytes = [0; 256];
        for (byte, place) in (0..=u8::MAX).zip(&mut bytes) {
            *place = byte;
        }
        Self {
            bytes,
            merges: Vec::new(),
        }
    }
}

impl Initial {
    /// The id of each byte.
    ///
    /// # Errors
    /// [`TrainError::MissingByte`].
    pub(crate) fn byte_tokens(&self) -> Result<[TokenId; 256], TrainError> {
        let mut ids = [None; 256];
        for (id, &byte) in (0..).zip(&self.bytes) {
            ids[usize::from(byte)] = Some(id);
        }
        let mut found = [0; 256];
        for (byte, (place, id)) in (0..=u8::MAX).zip(found.iter_mut().zip(ids)) {
            *place = id.ok_or(TrainError::MissingByte(byte))?;
        }
        Ok(found)
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
    /// What to start from.
    pub initial: Initial,
    /// The most threads that may work. They change nothing but the time it takes.
    pub threads: usize,
}

/// The vocabulary of the 256 bytes, each being its own token, and of all merges that were learned starting from these, in
/// order.
///
/// # Errors
/// [`VocabularyError`] if `learned` are no such merges: a part is not made before it is used. Nothing else is checked.
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

/// The places of bytes in Hugging Face's byte-level alphabet. Printable characters of Latin-1 stand for themselves, the
/// other bytes, in order, for the characters from U+0100 on; the alphabet is sorted by character.
fn huggingface_order() -> [u8; 256] {
    let printable = |byte: &u8| matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
    let others = (0..=u8::MAX).filter(|byte| !printable(byte));
    let alphabet = (0..=u8::MAX).filter(printable).chain(others);
    let mut order = [0; 256];
    for (place, byte) in (0..=u8::MAX).zip(alphabet) {
        order[usize::from(byte)] = place;
    }
    order
}
