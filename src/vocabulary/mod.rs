//! The immutable vocabulary: what are the bytes of this id, the id of these bytes, the merge of this pair?
//!
//! Invariants, checked once when a vocabulary is built and relied on everywhere else:
//! every single byte is a token, ids and byte strings are unique, no token is empty, no id is [`NO_TOKEN`].
//!
//! Two ways to build one, which differ in the pairs that merge:
//! * [`Vocabulary::from_ranks`], from a rank file: **every** split of a token into two tokens merges into it. Ranking
//!   pairs this way equals ranking the concatenated bytes of adjacent parts, which is what tiktoken does, for every
//!   vocabulary: parts are always tokens, and tokens have unique bytes.
//! * [`Vocabulary::from_merges`], from a merge list: one pair for each token. Where every token re-encodes under
//!   lower ranks to exactly these two parts (published encodings: checked when their tables are derived), both
//!   give the same ids: when the lowest rank left in a text is that of token T, the text under any two parts that
//!   spell T has already been merged as T's own bytes would be, into its two canonical parts.

pub(crate) mod byte_pairs;
mod image;
pub mod pair_table;
pub(crate) mod sections;
mod tokens;

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::thread;

use crate::error::VocabularyError;
use crate::token::{NO_TOKEN, Pair, TokenId};
use crate::util::lazy::get_or_init_nonblocking;
use byte_pairs::Adjacencies;
use pair_table::PairTable;
use tokens::Tokens;

/// An immutable table of tokens and merges. See the module for its invariants.
#[derive(Debug)]
pub struct Vocabulary {
    tokens: Tokens,
    byte_tokens: [TokenId; 256],
    pairs: PairTable,
    adjacencies: Adjacencies,
    /// Known: the merges make each token of its own bytes.
    tokens_merge: bool,
    sorted: OnceLock<Vec<TokenId>>,
    longest: OnceLock<usize>,
}

/// So many merges before the bytes of its parts are copied, their memory is asked for; where these are, twice as many. Loading
/// took a fifth longer without, on a machine that others use, too.
const AHEAD: usize = 16;

impl Vocabulary {
    /// A vocabulary of `ranks`: token bytes with their ids, which are also their ranks. Any order.
    ///
    /// # Errors
    /// [`VocabularyError`] if an invariant of the module does not hold.
    ///
    /// # Complexity
    /// O(total bytes) table look-ups.
    pub fn from_ranks(mut ranks: Vec<(Vec<u8>, TokenId)>) -> Result<Self, VocabularyError> {
        ranks.sort_unstable_by_key(|(_, id)| *id);
        for neighbours in ranks.windows(2) {
            if let [(first, id), (second, same)] = neighbours
                && id == same
            {
                return Err(VocabularyError::DuplicateId {
                    id: *id,
                    first: first.clone(),
                    second: second.clone(),
                });
            }
        }
        let bytes = ranks.iter().map(|(token, _)| token.len()).sum();
        let mut tokens = Tokens::with_capacity(ranks.len(), bytes);
        for (token, id) in &ranks {
            if token.is_empty() {
                return Err(VocabularyError::EmptyToken(*id));
            }
            if *id == NO_TOKEN {
                return Err(VocabularyError::IdTooLarge(token.clone()));
            }
            tokens.push(*id, token)?;
        }
        tokens.check_distinct()?;
        let (pairs, adjacencies) = every_split(&tokens);
        Self::new(tokens, pairs, adjacencies)
    }

    /// A vocabulary of byte tokens, byte `b` being `byte_tokens[b]`, and of `merges`: each made token with its pair,
    /// ids increasing, above the byte tokens' ids.
    ///
    /// # Errors
    /// [`VocabularyError`] if an invariant of the module does not hold or a part is not made before it is used.
    ///
    /// # Complexity
    /// O(total bytes).
    pub fn from_merges(
        byte_tokens: &[TokenId; 256],
        merges: impl ExactSizeIterator<Item = (TokenId, Pair)>,
    ) -> Result<Self, VocabularyError> {
        let merges: Vec<_> = merges.collect();
        Self::build(byte_tokens, &merges, true)
    }

    /// As [`from_merges`](Self::from_merges), for merges known to make no token twice and to make each token of its own
    /// bytes: neither is checked, which takes more than half of the time.
    ///
    /// # Errors
    /// As [`from_merges`](Self::from_merges), but for tokens made twice.
    pub(crate) fn from_proven(
        byte_tokens: &[TokenId; 256],
        merges: &[(TokenId, Pair)],
    ) -> Result<Self, VocabularyError> {
        let mut vocabulary = Self::build(byte_tokens, merges, false)?;
        vocabulary.tokens_merge = true;
        Ok(vocabulary)
    }

    fn build(
        byte_tokens: &[TokenId; 256],
        merges: &[(TokenId, Pair)],
        check: bool,
    ) -> Result<Self, VocabularyError> {
        // Half of the time goes into the table of pairs, which needs nothing of the rest.
        let (rest, pairs) = both(
            || Self::tokens_of(byte_tokens, merges, check),
            || PairTable::of(merges),
        );
        let (tokens, adjacencies) = rest?;
        Self::new(tokens, pairs, adjacencies)
    }

    fn tokens_of(
        byte_tokens: &[TokenId; 256],
        merges: &[(TokenId, Pair)],
        check: bool,
    ) -> Result<(Tokens, Adjacencies), VocabularyError> {
        let mut tokens = Tokens::with_capacity(256 + merges.len(), 8 * merges.len());
        let mut bytes_by_id: Vec<u8> = (0..=255).collect();
        bytes_by_id.sort_unstable_by_key(|byte| byte_tokens[usize::from(*byte)]);
        for byte in bytes_by_id {
            let id = byte_tokens[usize::from(byte)];
            if let Some(last) = tokens.last_id().filter(|&last| last == id) {
                return Err(VocabularyError::DuplicateId {
                    id,
                    first: tokens.bytes(last).unwrap_or_default().to_vec(),
                    second: vec![byte],
                });
            }
            if id == NO_TOKEN {
                return Err(VocabularyError::IdTooLarge(vec![byte]));
            }
            tokens.push(id, &[byte])?;
        }
        let mut adjacencies = Adjacencies::new();
        for (number, &(id, pair)) in merges.iter().enumerate() {
            if let Some((_, later)) = merges.get(number + 2 * AHEAD) {
                tokens.prefetch_place(later.left);
                tokens.prefetch_place(later.right);
            }
            if let Some((_, later)) = merges.get(number + AHEAD) {
                tokens.prefetch_bytes(later.left);
                tokens.prefetch_bytes(later.right);
            }
            let (Some(left), Some(right)) = (tokens.range(pair.left), tokens.range(pair.right))
            else {
                let unknown = |part: &TokenId| tokens.range(*part).is_none();
                let part = [pair.left, pair.right].into_iter().find(unknown);
                let part = part.unwrap_or_default();
                return Err(VocabularyError::UnknownPart { id, part });
            };
            let [left_bytes, right_bytes] =
                [&left, &right].map(|part| &tokens.arena()[part.clone()]);
            if id == NO_TOKEN || tokens.last_id() >= Some(id) {
                let made = [left_bytes, right_bytes].concat();
                return Err(refusal(&tokens, id, made));
            }
            adjacencies.insert((left_bytes, pair.left), (right_bytes, pair.right), id);
            tokens.push_joined(id, left, right)?;
        }
        if check {
            tokens.check_distinct()?;
        }
        Ok((tokens, adjacencies))
    }

    fn new(
        tokens: Tokens,
        pairs: PairTable,
        adjacencies: Adjacencies,
    ) -> Result<Self, VocabularyError> {
        let byte_tokens = tokens.byte_tokens()?;
        Ok(Self {
            tokens,
            byte_tokens,
            pairs,
            adjacencies,
            tokens_merge: false,
            sorted: OnceLock::new(),
            longest: OnceLock::new(),
        })
    }

    /// The token that two bytes merge into, or [`NO_TOKEN`].
    #[inline]
    pub(crate) fn merged_bytes(&self, first: u8, second: u8) -> TokenId {
        match self.adjacencies() {
            Some(adjacencies) => adjacencies.of(first, second).token(),
            None => self.merged(self.byte_token(first), self.byte_token(second)),
        }
    }

    /// What may happen between two bytes, where that may be relied on.
    #[inline]
    pub(crate) fn adjacencies(&self) -> Option<&Adjacencies> {
        Some(&self.adjacencies).filter(|adjacencies| adjacencies.usable())
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// How many bytes it takes, besides what the library holds of a published one.
    pub(crate) fn memory(&self) -> usize {
        let sorted = self.sorted.get().map_or(0, |sorted| 4 * sorted.capacity());
        self.tokens.memory() + self.pairs.memory() + self.adjacencies.memory() + sorted
    }

    /// Never true: every byte is a token.
    pub fn is_empty(&self) -> bool {
        self.tokens.len() == 0
    }

    /// The ids in increasing order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = TokenId> {
        self.tokens.ids()
    }

    /// All tokens end to end, in the order of ids.
    pub(crate) fn all_bytes(&self) -> &[u8] {
        self.tokens.arena()
    }

    /// Where in [`all_bytes`](Self::all_bytes) each token is, with its id.
    pub(crate) fn places(&self) -> impl ExactSizeIterator<Item = (Range<usize>, TokenId)> {
        self.tokens.places()
    }

    /// The bytes of token `id`. O(1) for ids without holes before them, else O(log n).
    #[inline]
    pub fn bytes(&self, id: TokenId) -> Option<&[u8]> {
        self.tokens.bytes(id)
    }

    /// How many bytes the longest token has. O(tokens) for the first caller.
    pub fn longest(&self) -> usize {
        let longest = || self.places().map(|(place, _)| place.len()).max();
        *get_or_init_nonblocking(&self.longest, || longest().unwrap_or(0))
    }

    /// The token that is exactly `bytes`. O(length).
    #[inline]
    pub fn token(&self, bytes: &[u8]) -> Option<TokenId> {
        self.tokens.find(bytes)
    }

    /// The token that `piece` is, where its merges may give something else.
    #[inline]
    pub(crate) fn token_beside_merges(&self, piece: &[u8]) -> Option<TokenId> {
        if self.tokens_merge {
            None
        } else {
            self.token(piece)
        }
    }

    /// The highest id; 0 if there is none.
    #[inline]
    pub fn highest_id(&self) -> TokenId {
        self.tokens.last_id().unwrap_or(0)
    }

    /// The token of a single byte.
    #[inline]
    pub fn byte_token(&self, byte: u8) -> TokenId {
        self.byte_tokens[usize::from(byte)]
    }

    /// What pairs merge into.
    pub(crate) fn pairs(&self) -> &PairTable {
        &self.pairs
    }

    /// The token that a pair merges into, or [`NO_TOKEN`].
    #[inline]
    pub fn merged(&self, left: TokenId, right: TokenId) -> TokenId {
        self.pairs.get(left, right)
    }

    /// The ids, ordered by their tokens' bytes.
    ///
    /// # Complexity
    /// O(n log n) for the first caller; kept from then on, 4 bytes a token.
    pub fn sorted_by_bytes(&self) -> &[TokenId] {
        get_or_init_nonblocking::<Vec<TokenId>>(&self.sorted, || {
            let mut indices: Vec<usize> = (0..self.len()).collect();
            indices.sort_unstable_by_key(|&index| self.tokens.at(index));
            indices
                .into_iter()
                .map(|index| self.tokens.id(index))
                .collect()
        })
    }
}

/// Why a merged token cannot be added: its id is too large, or not larger than the last.
#[cold]
fn refusal(tokens: &Tokens, id: TokenId, made: Vec<u8>) -> VocabularyError {
    match (tokens.bytes(id), tokens.last_id()) {
        (Some(first), _) => VocabularyError::DuplicateId {
            id,
            first: first.to_vec(),
            second: made,
        },
        (None, Some(last)) if id != NO_TOKEN => VocabularyError::OutOfOrder { id, last },
        _ => VocabularyError::IdTooLarge(made),
    }
}

/// Every way to write a token as two tokens, as a merge of that pair.
fn every_split(tokens: &Tokens) -> (PairTable, Adjacencies) {
    let number = tokens.len();
    let longest = (0..number)
        .map(|index| tokens.at(index).len())
        .max()
        .unwrap_or(0);
    // Only cuts whose two lengths occur are looked up, so one huge token stays cheap.
    let mut occurs = vec![false; longest + 1];
    for index in 0..number {
        occurs[tokens.at(index).len()] = true;
    }
    let splits = |indices: Range<usize>| {
        let mut splits = Vec::with_capacity(2 * indices.len());
        for index in indices {
            let token = tokens.at(index);
            for cut in (1..token.len()).filter(|&cut| occurs[cut] && occurs[token.len() - cut]) {
                let (left, right) = token.split_at(cut);
                if let Some(left_id) = tokens.find(left)
                    && let Some(right_id) = tokens.find(right)
                {
                    splits.push((tokens.id(index), Pair::new(left_id, right_id)));
                }
            }
        }
        splits
    };
    let (mut all, others) = both(|| splits(0..number / 2), || splits(number / 2..number));
    all.extend(others);
    both(
        || PairTable::of(&all),
        || {
            let mut adjacencies = Adjacencies::new();
            let part = |id| (tokens.bytes(id).unwrap_or_default(), id);
            for &(id, pair) in &all {
                adjacencies.insert(part(pair.left), part(pair.right), id);
            }
            adjacencies
        },
    )
}

/// What both give, the second in a thread of its own if the system allows one more.
fn both<A, B: Send>(first: impl FnOnce() -> A, second: impl Fn() -> B + Sync) -> (A, B) {
    thread::scope(|scope| {
        let beside = thread::Builder::new().spawn_scoped(scope, &second);
        let first = first();
        let second = match beside {
            Ok(beside) => beside.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => second(),
        };
        (first, second)
    })
}
