//! Tokens: bytes by id, ids by bytes.

use std::borrow::Cow;
use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::OnceLock;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::error::VocabularyError;
use crate::token::{NO_TOKEN, TokenId};
use crate::util::hash::SeededState;
use crate::util::lazy::get_or_init_nonblocking;
use crate::util::memory::{self, Growable};
use crate::vocabulary::sections::{Image, Sections};

/// All tokens. Each has an id, and an index: its position in the order of ids.
#[derive(Debug)]
pub(super) struct Tokens {
    /// All tokens, one after the other, in id order.
    arena: Cow<'static, [u8]>,
    /// Token `index` is `arena[starts[index]..starts[index + 1]]`.
    starts: Cow<'static, [u32]>,
    /// Number of ids from 0 on without a hole: their index is the id.
    dense: usize,
    /// The ids from there on, in increasing order.
    others: Vec<TokenId>,
    /// The indices of tokens that are not found by their bytes, in increasing order.
    unlisted: Vec<u32>,
    /// Index by bytes, built on first use.
    by_bytes: OnceLock<HashTable<u32>>,
}

impl Tokens {
    pub(super) fn with_capacity(tokens: usize, bytes: usize) -> Self {
        let mut starts = memory::vec_with_capacity(tokens + 1);
        starts.push(0);
        Self {
            arena: memory::vec_with_capacity(bytes).into(),
            starts: starts.into(),
            dense: 0,
            others: Vec::new(),
            unlisted: Vec::new(),
            by_bytes: OnceLock::new(),
        }
    }

    /// Returns tokens whose bytes are `arena` one after the other, with an id and a length for each.
    ///
    /// # Errors
    /// [`VocabularyError`] if the ids do not increase, or one is [`NO_TOKEN`]; if a token is empty, or the lengths are not
    /// those of all bytes.
    pub(super) fn of_parts(
        arena: Vec<u8>,
        ids: impl Iterator<Item = TokenId>,
        lengths: impl ExactSizeIterator<Item = u32>,
    ) -> Result<Self, VocabularyError> {
        let mut starts = memory::vec_with_capacity(lengths.len() + 1);
        starts.push(0);
        let mut others = Vec::new();
        let (mut end, mut last) = (0_u32, None);
        for ((id, length), index) in ids.zip(lengths).zip(0..) {
            let start = end;
            end = end.checked_add(length).ok_or(VocabularyError::TooLarge)?;
            if length == 0 {
                return Err(VocabularyError::EmptyToken(id));
            }
            if last >= Some(id) {
                let last = last.unwrap_or_default();
                return Err(VocabularyError::OutOfOrder { id, last });
            }
            if id == NO_TOKEN {
                let token = arena.get(start as usize..end as usize);
                return Err(VocabularyError::IdTooLarge(
                    token.unwrap_or_default().to_vec(),
                ));
            }
            last = Some(id);
            starts.push(end);
            // From the first hole on, no id is its index.
            if id != index {
                others.with_room(1).push(id);
            }
        }
        if end as usize != arena.len() {
            return Err(VocabularyError::BadTable("its tokens have other lengths"));
        }
        Ok(Self {
            arena: arena.into(),
            dense: starts.len() - 1 - others.len(),
            starts: starts.into(),
            others,
            unlisted: Vec::new(),
            by_bytes: OnceLock::new(),
        })
    }

    /// Reads the tokens of an image.
    pub(super) fn of_image(sections: &mut Sections<'static>) -> Option<Self> {
        let arena = sections.next()?;
        let starts = sections.next()?;
        let others = memory::copied(sections.next::<u32>()?);
        Some(Self {
            arena: Cow::Borrowed(arena),
            starts: Cow::Borrowed(starts),
            dense: starts.len().checked_sub(1 + others.len())?,
            others,
            unlisted: Vec::new(),
            by_bytes: OnceLock::new(),
        })
    }

    /// Writes the tokens into an image.
    pub(super) fn put_into(&self, image: &mut Image) {
        image.add(&self.arena);
        image.add(&self.starts);
        image.add(&self.others);
    }

    /// Adds a token. `id` is larger than all before.
    pub(super) fn push(&mut self, id: TokenId, token: &[u8]) -> Result<(), VocabularyError> {
        let arena = self.arena.to_mut().with_room(token.len());
        arena.extend_from_slice(token);
        self.finish(id)
    }

    /// As [`push`](Self::push), for a token that is not found by its bytes; it may be empty.
    pub(super) fn push_unlisted(
        &mut self,
        id: TokenId,
        token: &[u8],
    ) -> Result<(), VocabularyError> {
        let index = u32::try_from(self.len()).map_err(|_| VocabularyError::TooLarge)?;
        self.unlisted.with_room(1).push(index);
        self.push(id, token)
    }

    /// As [`push`](Self::push), for the concatenation of two spans of the arena.
    pub(super) fn push_joined(
        &mut self,
        id: TokenId,
        left: Range<usize>,
        right: Range<usize>,
    ) -> Result<(), VocabularyError> {
        let arena = self.arena.to_mut().with_room(left.len() + right.len());
        arena.extend_from_within(left);
        arena.extend_from_within(right);
        self.finish(id)
    }

    /// Adds the bytes at the end of the arena as a token.
    fn finish(&mut self, id: TokenId) -> Result<(), VocabularyError> {
        let too_large = |_| VocabularyError::TooLarge;
        let index = u32::try_from(self.len()).map_err(too_large)?;
        let end = u32::try_from(self.arena.len()).map_err(too_large)?;
        self.starts.to_mut().with_room(1).push(end);
        if id == index {
            self.dense += 1;
        } else {
            self.others.with_room(1).push(id);
        }
        Ok(())
    }

    /// Refuses two tokens with the same bytes.
    pub(super) fn check_distinct(&self) -> Result<(), VocabularyError> {
        let (table, twice) = self.index();
        // Already set only if a look-up came first, which built the same table.
        let _ = self.by_bytes.set(table);
        match twice {
            None => Ok(()),
            Some((first, second)) => Err(VocabularyError::DuplicateToken {
                token: self.at(first).to_vec(),
                ids: (self.id(first), self.id(second)),
            }),
        }
    }

    /// Builds the index by bytes. Also returns the indices of the first two tokens with the same bytes.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "there are fewer tokens than that"
    )]
    fn index(&self) -> (HashTable<u32>, Option<(usize, usize)>) {
        let mut table = memory::hash_table(self.len());
        let mut twice = None;
        for index in self.runs().flatten() {
            let token = self.at(index);
            let entry = table.entry(
                SeededState.hash_one(token),
                |&other: &u32| self.at(other as usize) == token,
                |&other| SeededState.hash_one(self.at(other as usize)),
            );
            match entry {
                Entry::Occupied(same) => {
                    twice = twice.or(Some((*same.get() as usize, index)));
                }
                Entry::Vacant(slot) => {
                    slot.insert(index as u32);
                }
            }
        }
        (table, twice)
    }

    /// Number of tokens.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of bytes that they occupy, without those that lie in the library.
    pub(super) fn memory(&self) -> usize {
        let arena = match &self.arena {
            Cow::Owned(arena) => arena.capacity(),
            Cow::Borrowed(_) => 0,
        };
        let starts = match &self.starts {
            Cow::Owned(starts) => 4 * starts.capacity(),
            Cow::Borrowed(_) => 0,
        };
        let by_bytes = self.by_bytes.get().map_or(0, HashTable::allocation_size);
        arena + starts + 4 * (self.others.capacity() + self.unlisted.capacity()) + by_bytes
    }

    /// All tokens, one after the other, in id order.
    pub(super) fn arena(&self) -> &[u8] {
        &self.arena
    }

    /// The span of each token in the arena, with its id, in id order.
    pub(super) fn spans(&self) -> impl ExactSizeIterator<Item = (Range<usize>, TokenId)> {
        let ends = self.starts.iter().skip(1);
        let spans = self.starts.iter().zip(ends);
        let spans = spans.map(|(&start, &end)| start as usize..end as usize);
        spans.zip(self.ids())
    }

    /// The length of each token, in id order.
    pub(super) fn lengths(&self) -> impl Iterator<Item = usize> {
        self.starts
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as usize)
    }

    /// The runs of indices of the tokens that are found by their bytes.
    pub(super) fn runs(&self) -> impl Iterator<Item = Range<usize>> {
        let others = || self.unlisted.iter().map(|&index| index as usize);
        let starts = std::iter::once(0).chain(others().map(|index| index + 1));
        let ends = others().chain(std::iter::once(self.len()));
        starts.zip(ends).map(|(start, end)| start..end)
    }

    /// The ids in increasing order.
    pub(super) fn ids(&self) -> impl ExactSizeIterator<Item = TokenId> {
        (0..self.len()).map(|index| self.id(index))
    }

    /// The id of the token with this index.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "there are fewer tokens than that"
    )]
    pub(super) fn id(&self, index: usize) -> TokenId {
        match index.checked_sub(self.dense) {
            None => index as TokenId,
            Some(other) => self.others[other],
        }
    }

    #[inline]
    pub(super) fn last_id(&self) -> Option<TokenId> {
        self.len().checked_sub(1).map(|last| self.id(last))
    }

    #[inline]
    pub(super) fn at(&self, index: usize) -> &[u8] {
        &self.arena[self.span(index)]
    }

    #[inline]
    pub(super) fn span(&self, index: usize) -> Range<usize> {
        self.starts[index] as usize..self.starts[index + 1] as usize
    }

    /// The span of token `id` in the arena.
    #[inline]
    pub(super) fn span_of(&self, id: TokenId) -> Option<Range<usize>> {
        let index = if (id as usize) < self.dense {
            id as usize
        } else {
            self.dense + self.others.binary_search(&id).ok()?
        };
        Some(self.span(index))
    }

    /// Prefetches the span of token `id`; of another token if there are holes before it.
    #[inline]
    pub(super) fn prefetch_span(&self, id: TokenId) {
        if let Some(start) = self.starts.get(id as usize) {
            memory::prefetch(start);
        }
    }

    /// Prefetches the bytes of token `id`; of another token if there are holes before it.
    #[inline]
    pub(super) fn prefetch_bytes(&self, id: TokenId) {
        let start = self.starts.get(id as usize);
        if let Some(first) = start.and_then(|&start| self.arena.get(start as usize)) {
            memory::prefetch(first);
        }
    }

    #[inline]
    pub(super) fn bytes(&self, id: TokenId) -> Option<&[u8]> {
        Some(&self.arena[self.span_of(id)?])
    }

    #[inline]
    pub(super) fn find(&self, token: &[u8]) -> Option<TokenId> {
        // A piece longer than all tokens together need not be hashed.
        if token.len() > self.arena.len() {
            return None;
        }
        let by_bytes = get_or_init_nonblocking(&self.by_bytes, || self.index().0);
        let index = *by_bytes.find(SeededState.hash_one(token), |&index| {
            self.at(index as usize) == token
        })?;
        Some(self.id(index as usize))
    }

    pub(super) fn byte_tokens(&self) -> Result<[TokenId; 256], VocabularyError> {
        let mut byte_tokens = [NO_TOKEN; 256];
        let single = |(span, id): (Range<usize>, _)| match self.arena[span] {
            [byte] => Some((byte, id)),
            _ => None,
        };
        // Tokens are distinct.
        for (byte, id) in self.spans().filter_map(single).take(256) {
            byte_tokens[usize::from(byte)] = id;
        }
        for (byte, id) in (0..=255_u8).zip(byte_tokens) {
            if id == NO_TOKEN {
                return Err(VocabularyError::MissingByte(byte));
            }
        }
        Ok(byte_tokens)
    }
}
