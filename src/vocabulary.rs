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
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::thread;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;

use crate::adjacency::Adjacencies;
use crate::error::VocabularyError;
use crate::memory;
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
    /// Known: the merges make each token of its own bytes.
    tokens_merge: bool,
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
    pub(crate) fn from_published(
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
        let (pairs, rest) = thread::scope(|scope| {
            let pairs = thread::Builder::new().spawn_scoped(scope, || PairTable::of(merges));
            let rest = Self::tokens_of(byte_tokens, merges, check);
            let pairs = match pairs {
                Ok(pairs) => pairs.join().unwrap_or_else(|panic| resume_unwind(panic)),
                Err(_) => PairTable::of(merges),
            };
            (pairs, rest)
        });
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
        for &(id, pair) in merges {
            let part = |part| {
                tokens
                    .range(part)
                    .ok_or(VocabularyError::UnknownPart { id, part })
            };
            let (left, right) = (part(pair.left)?, part(pair.right)?);
            let [left_bytes, right_bytes] = [&left, &right].map(|part| &tokens.arena[part.clone()]);
            let made = || [left_bytes, right_bytes].concat();
            if id == NO_TOKEN {
                return Err(VocabularyError::IdTooLarge(made()));
            }
            if let Some(last) = tokens.last_id().filter(|&last| last >= id) {
                return Err(match tokens.bytes(id) {
                    Some(first) => VocabularyError::DuplicateId {
                        id,
                        first: first.to_vec(),
                        second: made(),
                    },
                    None => VocabularyError::OutOfOrder { id, last },
                });
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
        let by_bytes = by_bytes.get().map_or(0, HashTable::allocation_size);
        let tokens = arena.capacity() + 4 * (starts.capacity() + ids.capacity()) + by_bytes;
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

    /// All tokens end to end, in the order of ids.
    pub(crate) fn all_bytes(&self) -> &[u8] {
        &self.tokens.arena
    }

    /// Where in [`all_bytes`](Self::all_bytes) each token is, with its id.
    pub(crate) fn places(&self) -> impl Iterator<Item = (Range<usize>, TokenId)> {
        let ends = self.tokens.starts.iter().skip(1);
        let places = self.tokens.starts.iter().zip(ends);
        let places = places.map(|(&start, &end)| start as usize..end as usize);
        places.zip(self.tokens.ids.iter().copied())
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
    /// Index by bytes, once somebody asks.
    by_bytes: OnceLock<HashTable<u32>>,
}

impl Tokens {
    fn with_capacity(tokens: usize, bytes: usize) -> Self {
        let mut starts = memory::vec_with_capacity(tokens + 1);
        starts.push(0);
        Self {
            arena: memory::vec_with_capacity(bytes),
            starts,
            ids: memory::vec_with_capacity(tokens),
            by_bytes: OnceLock::new(),
        }
    }

    /// Adds a token; `id` must be larger than all before.
    fn push(&mut self, id: TokenId, token: &[u8]) -> Result<(), VocabularyError> {
        self.arena.extend_from_slice(token);
        self.finish(id)
    }

    /// As [`push`](Self::push), for a token made of two places of the arena.
    fn push_joined(
        &mut self,
        id: TokenId,
        left: Range<usize>,
        right: Range<usize>,
    ) -> Result<(), VocabularyError> {
        self.arena.extend_from_within(left);
        self.arena.extend_from_within(right);
        self.finish(id)
    }

    /// Makes a token of what was added to the arena.
    fn finish(&mut self, id: TokenId) -> Result<(), VocabularyError> {
        let too_large = |_| VocabularyError::TooLarge;
        u32::try_from(self.ids.len()).map_err(too_large)?;
        self.starts
            .push(u32::try_from(self.arena.len()).map_err(too_large)?);
        self.ids.push(id);
        Ok(())
    }

    /// Refuses two tokens of the same bytes.
    fn check_distinct(&self) -> Result<(), VocabularyError> {
        let (table, twice) = self.index();
        // Nobody has asked before.
        let _ = self.by_bytes.set(table);
        match twice {
            None => Ok(()),
            Some((first, second)) => Err(VocabularyError::DuplicateToken {
                token: self.at(first).to_vec(),
                ids: (self.ids[first], self.ids[second]),
            }),
        }
    }

    /// The index by bytes, and the first two tokens of the same bytes.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "there are fewer tokens than that"
    )]
    fn index(&self) -> (HashTable<u32>, Option<(usize, usize)>) {
        let mut table = HashTable::with_capacity(self.ids.len());
        let mut twice = None;
        for index in 0..self.ids.len() {
            let token = self.at(index);
            let entry = table.entry(
                FxBuildHasher.hash_one(token),
                |&other: &u32| self.at(other as usize) == token,
                |&other| FxBuildHasher.hash_one(self.at(other as usize)),
            );
            match entry {
                Entry::Occupied(same) => {
                    twice = twice.or(Some((*same.get() as usize, index)));
                }
                Entry::Vacant(place) => {
                    place.insert(index as u32);
                }
            }
        }
        (table, twice)
    }

    #[inline]
    fn last_id(&self) -> Option<TokenId> {
        self.ids.last().copied()
    }

    #[inline]
    fn at(&self, index: usize) -> &[u8] {
        &self.arena[self.place(index)]
    }

    #[inline]
    fn place(&self, index: usize) -> Range<usize> {
        self.starts[index] as usize..self.starts[index + 1] as usize
    }

    /// Where in the arena token `id` is.
    #[inline]
    fn range(&self, id: TokenId) -> Option<Range<usize>> {
        let direct = id as usize;
        // Without holes below, a token's index is its id.
        let index = if self.ids.get(direct) == Some(&id) {
            direct
        } else {
            self.ids.binary_search(&id).ok()?
        };
        Some(self.place(index))
    }

    #[inline]
    fn bytes(&self, id: TokenId) -> Option<&[u8]> {
        self.arena.get(self.range(id)?)
    }

    #[inline]
    fn find(&self, token: &[u8]) -> Option<TokenId> {
        let by_bytes = self.by_bytes.get_or_init(|| self.index().0);
        let index = *by_bytes.find(FxBuildHasher.hash_one(token), |&index| {
            self.at(index as usize) == token
        })?;
        Some(self.ids[index as usize])
    }

    fn byte_tokens(&self) -> Result<[TokenId; 256], VocabularyError> {
        let mut byte_tokens = [NO_TOKEN; 256];
        for (index, &id) in self.ids.iter().enumerate() {
            if let &[byte] = self.at(index) {
                byte_tokens[usize::from(byte)] = id;
            }
        }
        for (byte, id) in (0..=255_u8).zip(byte_tokens) {
            if id == NO_TOKEN {
                return Err(VocabularyError::MissingByte(byte));
            }
        }
        Ok(byte_tokens)
    }
}
