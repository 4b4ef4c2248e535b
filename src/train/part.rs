//! Some of the pieces as tokens, in one array with a place for every byte: what one thread works on.
//!
//! A token's id stands where its bytes start and, if it has several, its length where they end, marked as an end; what
//! is between is marked too. So the token after a place and the token before it are found without links, a merge
//! changes three numbers, and takes the same time in a piece of any length. Before each piece stands how often it
//! occurs, marked as a head. An id is never marked.
//!
//! ```text
//! head  a  b  c     head: a piece that occurs twice; after the merge of b and c:
//!  2H   97 98 99         2H  97 256 2E
//! ```
//!
//! The head of a piece is at the beginning of a block of places, what is left of the block before is filled with heads of
//! no occurrences. So a block is of one piece, and knows how often that occurs; and a short piece is in one cache line.

use crate::checkpoint::{self, Checkpoint, Interrupted};
use crate::error::TrainError;
use crate::token::{Pair, TokenId};
use crate::util::memory::{self, LargeVec};

/// Marks a head; so is the number of a large count if [`INDIRECT`] is set, too, and a count otherwise.
const HEAD: u32 = 1 << 31;
const INDIRECT: u32 = 1 << 30;

/// Ids are below this.
pub(super) const MOST_TOKENS: u32 = END;

/// Marks an end, or alone, what is between start and end.
const END: u32 = 1 << 30;

/// The most bytes in a piece, and the least number that is no id.
const MOST: usize = 1 << 30;

/// Places in a block: half a cache line. To walk back to the head took a quarter of the time in Chinese text, where
/// pieces are long. In blocks of four places, with the first token at the beginning of one, merging took 5 % longer.
const BLOCK: usize = 8;

/// Numbers in a cache line.
const LINE: usize = 64 / size_of::<u32>();

/// Larger counts are not told apart among the frequencies.
pub(super) const MOST_FREQUENT: usize = 1 << 12;

/// Places looked through between two checkpoints.
const STRETCH: usize = 1 << 20;

/// So far before a pair the token before it is expected.
const NEAR: usize = 2;

/// A place among those of all parts.
pub(super) type Place = u32;

/// Some of the pieces.
#[derive(Debug)]
pub(super) struct Part {
    /// The place of the first number.
    start: usize,
    tokens: LargeVec<u32>,
    /// Where the first block begins: at the beginning of a cache line.
    first_block: usize,
    /// Counts that do not fit a head.
    large: Vec<u64>,
    /// The head of the piece in each block.
    heads: LargeVec<u32>,
    /// The pieces' occurrences, each times its bytes.
    weight: u128,
    /// How many pieces occur so many times, the last being for all that occur more often.
    frequencies: Vec<usize>,
}

/// What stood around two tokens that were merged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around {
    /// The token before them, and its place.
    pub(super) before: Option<(Place, TokenId)>,
    /// The token after them.
    pub(super) after: Option<TokenId>,
    /// How often their piece occurs.
    pub(super) count: u64,
}

impl Part {
    /// No pieces, but room for so many, of so many bytes.
    pub(super) fn with_capacity(pieces: usize, bytes: usize) -> Self {
        let places = BLOCK * pieces + bytes + 1;
        let mut tokens: LargeVec<u32> = memory::large_vec(LINE + places);
        let first_block = tokens.as_ptr().align_offset(size_of::<[u32; LINE]>()) % LINE;
        tokens.resize(first_block, HEAD);
        Self {
            start: 0,
            tokens,
            first_block,
            large: Vec::new(),
            heads: memory::large_vec(places.div_ceil(BLOCK)),
            weight: 0,
            frequencies: vec![0; MOST_FREQUENT + 1],
        }
    }

    /// Adds a piece, each byte as the token that is told. One of a single byte is left out: it has no pair.
    ///
    /// # Errors
    /// [`TrainError::TooLarge`].
    pub(super) fn push_bytes(
        &mut self,
        piece: &[u8],
        byte_tokens: &[TokenId; 256],
        count: u64,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), TrainError> {
        if piece.len() < 2 {
            return Ok(());
        }
        let head = self.begin(piece.len(), count)?;
        for stretch in piece.chunks(STRETCH) {
            if piece.len() > STRETCH {
                checkpoint::pass(checkpoint)?;
            }
            let tokens = stretch.iter().map(|&byte| byte_tokens[usize::from(byte)]);
            self.tokens.extend(tokens);
        }
        self.end(head);
        Ok(())
    }

    /// As [`push_bytes`](Self::push_bytes), for a piece of `length` bytes, as tokens with their lengths.
    ///
    /// # Errors
    /// [`TrainError::TooLarge`].
    pub(super) fn push(
        &mut self,
        length: usize,
        tokens: impl ExactSizeIterator<Item = (TokenId, u32)>,
        count: u64,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), TrainError> {
        if tokens.len() < 2 {
            return Ok(());
        }
        let head = self.begin(length, count)?;
        for (number, (token, length)) in tokens.enumerate() {
            if number % STRETCH == STRETCH - 1 {
                checkpoint::pass(checkpoint)?;
            }
            self.tokens.push(token);
            if length > 1 {
                let end = self.tokens.len() + length as usize - 1;
                self.tokens.resize(end - 1, END);
                self.tokens.push(END | length);
            }
        }
        self.end(head);
        Ok(())
    }

    /// Begins a piece of `length` bytes: its head.
    fn begin(&mut self, length: usize, count: u64) -> Result<u32, TrainError> {
        let room = self.tokens.len().saturating_add(length);
        let room = room.saturating_add(BLOCK + 1);
        if length >= MOST || u32::try_from(room).is_err() {
            return Err(TrainError::TooLarge);
        }
        let head = HEAD | self.count_or_number(count)?;
        let begun = self.tokens.len() - self.first_block;
        let block = self.first_block + begun.next_multiple_of(BLOCK);
        self.tokens.resize(block, HEAD);
        self.tokens.push(head);
        self.weight += u128::from(count) * length as u128;
        let frequency = usize::try_from(count).unwrap_or(usize::MAX);
        self.frequencies[frequency.min(MOST_FREQUENT)] += 1;
        Ok(head)
    }

    /// Ends a piece.
    fn end(&mut self, head: u32) {
        let begun = self.tokens.len() - self.first_block;
        self.heads.resize(begun.div_ceil(BLOCK), head);
    }

    /// The lower bits of a head.
    fn count_or_number(&mut self, count: u64) -> Result<u32, TrainError> {
        let small = u32::try_from(count).ok().filter(|&count| count < INDIRECT);
        if let Some(count) = small {
            return Ok(count);
        }
        let number = u32::try_from(self.large.len()).ok();
        let number = number.filter(|&number| number < INDIRECT);
        self.large.push(count);
        number
            .map(|number| INDIRECT | number)
            .ok_or(TrainError::TooLarge)
    }

    /// Ends the array, whose places are those from `start` on: where the next part starts.
    ///
    /// # Errors
    /// [`TrainError::TooLarge`].
    pub(super) fn finish(&mut self, start: usize) -> Result<usize, TrainError> {
        self.tokens.push(HEAD);
        self.start = start;
        let end = start + self.tokens.len();
        u32::try_from(end).map_err(|_| TrainError::TooLarge)?;
        Ok(end)
    }

    /// The pieces' occurrences, each times its bytes.
    pub(super) fn weight(&self) -> u128 {
        self.weight
    }

    /// How many pieces occur so many times, the last being for all that occur more often.
    pub(super) fn frequencies(&self) -> &[usize] {
        &self.frequencies
    }

    /// `visit(place, pair, count)` for each pair of adjacent tokens, in order. `length` is that of each token.
    pub(super) fn for_each_pair(
        &self,
        length: impl Fn(TokenId) -> u32,
        checkpoint: &dyn Checkpoint,
        mut visit: impl FnMut(Place, Pair, u64),
    ) -> Result<(), Interrupted> {
        let mut at = 0;
        let mut count = 0;
        let mut before: Option<(usize, TokenId)> = None;
        while at < self.tokens.len() {
            checkpoint::pass(checkpoint)?;
            let end = self.tokens.len().min(at + STRETCH);
            while let Some(&token) = self.tokens[..end].get(at) {
                if token & HEAD != 0 {
                    count = self.count(token);
                    before = None;
                    at += 1;
                    continue;
                }
                if let Some((start, left)) = before {
                    visit(self.place(start), Pair::new(left, token), count);
                }
                before = Some((at, token));
                at += length(token) as usize;
            }
        }
        Ok(())
    }

    /// Whether `pair` starts at `place`, its left token having `left_length` bytes.
    #[inline]
    pub(super) fn holds(&self, place: Place, pair: Pair, left_length: u32) -> bool {
        self.holds_at(place as usize - self.start, pair, left_length)
    }

    #[inline]
    fn holds_at(&self, at: usize, pair: Pair, left_length: u32) -> bool {
        let token = |at: usize| self.tokens.get(at).copied();
        token(at) == Some(pair.left) && token(at + left_length as usize) == Some(pair.right)
    }

    /// Asks for the memory of a pair of `length` bytes at a place to be brought near, and that of the tokens beside it:
    /// half of all pairs are not in one cache line with these.
    #[inline]
    pub(super) fn prefetch(&self, place: Place, length: u32) {
        let at = place as usize - self.start;
        for near in [at.saturating_sub(NEAR), at + length as usize] {
            if let Some(token) = self.tokens.get(near) {
                memory::prefetch(token);
            }
        }
        if let Some(head) = self.heads.get(self.block(at)) {
            memory::prefetch(head);
        }
    }

    /// Replaces the two tokens at `place` by `token` if they are `pair`; `lengths` are those of its tokens.
    #[inline]
    pub(super) fn replace(
        &mut self,
        place: Place,
        pair: Pair,
        lengths: [u32; 2],
        token: TokenId,
    ) -> Option<Around> {
        let at = place as usize - self.start;
        if !self.holds_at(at, pair, lengths[0]) {
            return None;
        }
        let middle = at + lengths[0] as usize;
        let end = middle + lengths[1] as usize;
        let around = Around {
            before: self.before(at),
            after: self.tokens.get(end).copied().filter(|&token| token < END),
            count: self.count(self.heads[self.block(at)]),
        };
        self.tokens[at] = token;
        self.tokens[middle] = END;
        self.tokens[end - 1] = END | (lengths[0] + lengths[1]);
        Some(around)
    }

    /// The token before the one that starts at an index, and its place.
    #[inline]
    fn before(&self, at: usize) -> Option<(Place, TokenId)> {
        let last = self.tokens[at - 1];
        if last & HEAD != 0 {
            return None;
        }
        let at = at - length_at_end(last);
        Some((self.place(at), self.tokens[at]))
    }

    /// The number of the block that an index is in.
    #[inline]
    fn block(&self, at: usize) -> usize {
        (at - self.first_block) / BLOCK
    }

    /// The count of a head.
    #[inline]
    fn count(&self, head: u32) -> u64 {
        if head & INDIRECT == 0 {
            u64::from(head & !HEAD)
        } else {
            self.large[(head & !HEAD & !INDIRECT) as usize]
        }
    }

    /// The place of an index.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "checked at the end")]
    fn place(&self, at: usize) -> Place {
        (self.start + at) as Place
    }
}

/// The bytes of the token of which this is the last number, and no head.
#[inline]
fn length_at_end(last: u32) -> usize {
    if last <= END {
        1
    } else {
        (last & !END) as usize
    }
}
