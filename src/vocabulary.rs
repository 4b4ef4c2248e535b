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

use std::hash::BuildHasher;
use std::sync::OnceLock;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;

use crate::adjacency::Adjacencies;
use crate::error::VocabularyError;
use crate::merge;
use crate::pair_table::PairTable;
use crate::token::{NO_TOKEN, Pair, TokenId};

/// An immutable table of tokens and merges. See the module for its invariants.
#[derive(Debug)]
pub struct Vocabulary {
    tokens: Tokens,
    byte_tokens: [TokenId; 256],
    pairs: PairTable,
    adjacencies: Adjacencies,
    sorted: OnceLock<Vec<TokenId>>,
}

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
        let mut tokens = Tokens::with_capacity(256 + merges.len(), 8 * merges.len());
        let mut bytes_by_id: Vec<u8> = (0..=255).collect();
        bytes_by_id.sort_unstable_by_key(|byte| byte_tokens[usize::from(*byte)]);
        for byte in bytes_by_id {
            let id = byte_tokens[usize::from(byte)];
            if tokens.last_id() == Some(id) {
                let first = tokens.bytes(id).unwrap_or_default().to_vec();
                return Err(VocabularyError::DuplicateId {
                    id,
                    first,
                    second: vec![byte],
                });
            }
            if id == NO_TOKEN {
                return Err(VocabularyError::IdTooLarge(vec![byte]));
            }
            tokens.push(id, &[byte])?;
        }
        let mut pairs = PairTable::with_capacity(merges.len());
        let mut adjacencies = Adjacencies::new();
        let mut made = Vec::new();
        for (id, pair) in merges {
            let bytes = |part| {
                tokens
                    .bytes(part)
                    .ok_or(VocabularyError::UnknownPart { id, part })
            };
            let (left, right) = (bytes(pair.left)?, bytes(pair.right)?);
            made.clear();
            made.extend_from_slice(left);
            made.extend_from_slice(right);
            adjacencies.insert((left, pair.left), (right, pair.right), id);
            if id == NO_TOKEN {
                return Err(VocabularyError::IdTooLarge(made));
            }
            if let Some(first) = tokens.bytes(id) {
                return Err(VocabularyError::DuplicateId {
                    id,
                    first: first.to_vec(),
                    second: made,
                });
            }
            if let Some(last) = tokens.last_id().filter(|&last| last > id) {
                return Err(VocabularyError::OutOfOrder { id, last });
            }
            tokens.push(id, &made)?;
            pairs.insert(pair, id);
        }
        Self::new(tokens, pairs, adjacencies)
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
            sorted: OnceLock::new(),
        })
    }

    /// What may happen between two bytes, where that may be relied on.
    #[inline]
    pub(crate) fn adjacencies(&self) -> Option<&Adjacencies> {
        Some(&self.adjacencies).filter(|adjacencies| adjacencies.usable())
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.tokens.ids.len()
    }

    /// How many bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        let Tokens {
            arena,
            starts,
            ids,
            by_bytes,
        } = &self.tokens;
        let tokens = arena.capacity()
            + 4 * (starts.capacity() + ids.capacity())
            + by_bytes.allocation_size();
        let sorted = self.sorted.get().map_or(0, |sorted| 4 * sorted.capacity());
        tokens + self.pairs.memory() + self.adjacencies.memory() + sorted
    }

    /// Never true: every byte is a token.
    pub fn is_empty(&self) -> bool {
        self.tokens.ids.is_empty()
    }

    /// The ids in increasing order.
    pub fn ids(&self) -> &[TokenId] {
        &self.tokens.ids
    }

    /// All tokens with their ids, in the order of these.
    pub fn tokens(&self) -> impl Iterator<Item = (&[u8], TokenId)> {
        let ids = self.tokens.ids.iter().enumerate();
        ids.map(|(index, &id)| (self.tokens.at(index), id))
    }

    /// The bytes of token `id`. O(1) for ids without holes before them, else O(log n).
    #[inline]
    pub fn bytes(&self, id: TokenId) -> Option<&[u8]> {
        self.tokens.bytes(id)
    }

    /// The token that is exactly `bytes`. O(length).
    #[inline]
    pub fn token(&self, bytes: &[u8]) -> Option<TokenId> {
        self.tokens.find(bytes)
    }

    /// The token of a single byte.
    #[inline]
    pub fn byte_token(&self, byte: u8) -> TokenId {
        self.byte_tokens[usize::from(byte)]
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
        self.sorted.get_or_init(|| {
            let mut indices: Vec<usize> = (0..self.len()).collect();
            indices.sort_unstable_by_key(|&index| self.tokens.at(index));
            indices
                .into_iter()
                .map(|index| self.tokens.ids[index])
                .collect()
        })
    }

    /// The two parts that merges of lower rank leave of each multi-byte token, in id order.
    ///
    /// # Errors
    /// [`VocabularyError::NotTwoParts`] for a token that does not come apart in exactly two.
    pub fn merges(&self) -> Result<Vec<(TokenId, Pair)>, VocabularyError> {
        let mut merges = Vec::with_capacity(self.len().saturating_sub(256));
        for (index, &id) in self.tokens.ids.iter().enumerate() {
            let token = self.tokens.at(index);
            if token.len() == 1 {
                continue;
            }
            let parts =
                merge::merge_below(self, token, id).map_err(|_| VocabularyError::TooLarge)?;
            let [left, right] = parts[..] else {
                return Err(VocabularyError::NotTwoParts {
                    token: token.to_vec(),
                    parts: parts.len(),
                });
            };
            merges.push((id, Pair::new(left, right)));
        }
        Ok(merges)
    }
}

/// Every way to write a token as two tokens, as a merge of that pair.
fn every_split(tokens: &Tokens) -> (PairTable, Adjacencies) {
    let mut pairs = PairTable::with_capacity(2 * tokens.ids.len());
    let mut adjacencies = Adjacencies::new();
    let longest = (0..tokens.ids.len())
        .map(|index| tokens.at(index).len())
        .max()
        .unwrap_or(0);
    // Only cuts whose two lengths occur are looked up, so one huge token stays cheap.
    let mut occurs = vec![false; longest + 1];
    for index in 0..tokens.ids.len() {
        occurs[tokens.at(index).len()] = true;
    }
    for (index, &id) in tokens.ids.iter().enumerate() {
        let token = tokens.at(index);
        for cut in (1..token.len()).filter(|&cut| occurs[cut] && occurs[token.len() - cut]) {
            let (left, right) = token.split_at(cut);
            if let Some(left_id) = tokens.find(left)
                && let Some(right_id) = tokens.find(right)
            {
                pairs.insert(Pair::new(left_id, right_id), id);
                adjacencies.insert((left, left_id), (right, right_id), id);
            }
        }
    }
    (pairs, adjacencies)
}

/// Token bytes by id and ids by bytes. Tokens are numbered twice: by id, and by index, their place in id order.
#[derive(Debug)]
struct Tokens {
    /// All tokens, one after the other, in id order.
    arena: Vec<u8>,
    /// Token `index` is `arena[starts[index]..starts[index + 1]]`.
    starts: Vec<u32>,
    /// Increasing.
    ids: Vec<TokenId>,
    /// Index by bytes.
    by_bytes: HashTable<u32>,
}

impl Tokens {
    fn with_capacity(tokens: usize, bytes: usize) -> Self {
        let mut starts = Vec::with_capacity(tokens + 1);
        starts.push(0);
        Self {
            arena: Vec::with_capacity(bytes),
            starts,
            ids: Vec::with_capacity(tokens),
            by_bytes: HashTable::with_capacity(tokens),
        }
    }

    /// Adds a token; `id` must be larger than all before.
    fn push(&mut self, id: TokenId, token: &[u8]) -> Result<(), VocabularyError> {
        let index = u32::try_from(self.ids.len()).map_err(|_| VocabularyError::TooLarge)?;
        let end =
            u32::try_from(self.arena.len() + token.len()).map_err(|_| VocabularyError::TooLarge)?;
        let Self {
            arena,
            starts,
            ids,
            by_bytes,
        } = self;
        let bytes = |index: u32| slice_of(arena, starts, index as usize);
        let entry = by_bytes.entry(
            FxBuildHasher.hash_one(token),
            |&other| bytes(other) == token,
            |&other| FxBuildHasher.hash_one(bytes(other)),
        );
        match entry {
            Entry::Occupied(same) => {
                let ids = (ids[*same.get() as usize], id);
                return Err(VocabularyError::DuplicateToken {
                    token: token.to_vec(),
                    ids,
                });
            }
            Entry::Vacant(place) => place.insert(index),
        };
        arena.extend_from_slice(token);
        starts.push(end);
        ids.push(id);
        Ok(())
    }

    fn last_id(&self) -> Option<TokenId> {
        self.ids.last().copied()
    }

    fn at(&self, index: usize) -> &[u8] {
        slice_of(&self.arena, &self.starts, index)
    }

    #[inline]
    fn bytes(&self, id: TokenId) -> Option<&[u8]> {
        let direct = id as usize;
        // Without holes below, a token's index is its id.
        let index = if self.ids.get(direct) == Some(&id) {
            direct
        } else {
            self.ids.binary_search(&id).ok()?
        };
        Some(self.at(index))
    }

    #[inline]
    fn find(&self, token: &[u8]) -> Option<TokenId> {
        let index = *self
            .by_bytes
            .find(FxBuildHasher.hash_one(token), |&index| {
                self.at(index as usize) == token
            })?;
        Some(self.ids[index as usize])
    }

    fn byte_tokens(&self) -> Result<[TokenId; 256], VocabularyError> {
        let mut byte_tokens = [NO_TOKEN; 256];
        for (byte, slot) in (0..=255_u8).zip(&mut byte_tokens) {
            *slot = self
                .find(&[byte])
                .ok_or(VocabularyError::MissingByte(byte))?;
        }
        Ok(byte_tokens)
    }
}

fn slice_of<'a>(arena: &'a [u8], starts: &[u32], index: usize) -> &'a [u8] {
    &arena[starts[index] as usize..starts[index + 1] as usize]
}
