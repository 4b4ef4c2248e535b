//! All pieces as tokens, in one array with a place for every byte.
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
//! The first token of a piece is at the beginning of a block of places, what is left of the block before is filled with
//! heads of no occurrences. So a block is of one piece, and knows how often that occurs.

use crate::checkpoint::{self, Checkpoint, Interrupted};
use crate::error::TrainError;
use crate::memory;
use crate::token::{Pair, TokenId};

/// Marks a head; so is the number of a large count if [`INDIRECT`] is set, too, and a count otherwise.
const HEAD: u32 = 1 << 31;
const INDIRECT: u32 = 1 << 30;

/// Ids are below this.
pub(super) const MOST_TOKENS: u32 = END;

/// Marks an end, or alone, what is between start and end.
const END: u32 = 1 << 30;

/// The most bytes in a piece, and the least number that is no id.
const MOST: usize = 1 << 30;

/// So many tokens are walked back at most to find where a piece starts.
const FARTHEST: usize = 1 << 12;

/// Places in a block. To walk back to the head took a quarter of the time in Chinese text, where pieces are long; to walk
/// at most eight places, in blocks that pieces shared, 7 % of it.
const BLOCK: usize = 4;

/// Places looked through between two checkpoints.
const STRETCH: usize = 1 << 20;

/// Larger counts are never expected of the last merge.
const MOST_EXPECTED: usize = 1 << 12;

/// So far before a pair the token before it is expected.
const NEAR: usize = 2;

/// A place in the array.
pub(super) type Place = u32;

/// All pieces.
#[derive(Debug)]
pub(super) struct Corpus {
    tokens: Vec<u32>,
    /// Counts that do not fit a head.
    large: Vec<u64>,
    /// The head of the piece in each block.
    heads: Vec<u32>,
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

impl Corpus {
    /// No pieces, but room for so many bytes.
    pub(super) fn with_capacity(pieces: usize, bytes: usize) -> Self {
        let places = BLOCK * pieces + bytes + 1;
        Self {
            tokens: memory::vec_with_capacity(places),
            large: Vec::new(),
            heads: memory::vec_with_capacity(places.div_ceil(BLOCK)),
            weight: 0,
            frequencies: vec![0; MOST_EXPECTED + 1],
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
        let start = (self.tokens.len() + 1).next_multiple_of(BLOCK);
        self.tokens.resize(start - 1, HEAD);
        self.tokens.push(head);
        self.weight += u128::from(count) * length as u128;
        let frequency = usize::try_from(count).unwrap_or(usize::MAX);
        self.frequencies[frequency.min(MOST_EXPECTED)] += 1;
        Ok(head)
    }

    /// Ends a piece.
    fn end(&mut self, head: u32) {
        self.heads.resize(self.tokens.len().div_ceil(BLOCK), head);
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

    /// Ends the array.
    ///
    /// # Errors
    /// [`TrainError::TooManyOccurrences`] if the count of a pair might not fit.
    pub(super) fn finish(&mut self) -> Result<(), TrainError> {
        self.tokens.push(HEAD);
        if self.weight > u128::from(u64::MAX) {
            return Err(TrainError::TooManyOccurrences);
        }
        Ok(())
    }

    /// How often the last of so many merges is expected to occur, or less: as often as the piece that is the last of as
    /// many frequent ones. If each merge made one of these a token, it would be that; some make parts of tokens.
    pub(super) fn expected_least(&self, merges: usize) -> u64 {
        let mut pieces = 0;
        let mut frequencies = self.frequencies.iter().enumerate().rev();
        let last = frequencies.find(|&(_, &number)| {
            pieces += number;
            pieces >= merges
        });
        last.map_or(0, |(frequency, _)| frequency as u64)
    }

    /// `visit(place, pair, count)` for each pair of adjacent tokens, in order. `length` is that of each token.
    pub(super) fn for_each_pair(
        &self,
        length: impl Fn(TokenId) -> u32,
        checkpoint: &dyn Checkpoint,
        mut visit: impl FnMut(Place, Pair, u64),
    ) -> Result<(), Interrupted> {
        let mut place = 0;
        let mut count = 0;
        let mut before: Option<(usize, TokenId)> = None;
        while place < self.tokens.len() {
            checkpoint::pass(checkpoint)?;
            let end = self.tokens.len().min(place + STRETCH);
            while let Some(&token) = self.tokens[..end].get(place) {
                if token & HEAD != 0 {
                    count = self.count(token);
                    before = None;
                    place += 1;
                    continue;
                }
                if let Some((start, left)) = before {
                    visit(as_place(start), Pair::new(left, token), count);
                }
                before = Some((place, token));
                place += length(token) as usize;
            }
        }
        Ok(())
    }

    /// Whether `pair` starts at `place`, its left token having `left_length` bytes.
    pub(super) fn holds(&self, place: Place, pair: Pair, left_length: u32) -> bool {
        holds(&self.tokens, place as usize, pair, left_length)
    }

    /// At most `number` parts that make up the whole, with the `places` in each: about as many in one as in another.
    /// They come in order, and so must the places.
    pub(super) fn parts<'p>(
        &mut self,
        places: &'p [Place],
        number: usize,
    ) -> Vec<(Part<'_>, &'p [Place])> {
        let mut parts = Vec::with_capacity(number);
        let mut rest = Part {
            tokens: &mut self.tokens,
            start: 0,
            heads: &self.heads,
            large: &self.large,
        };
        let mut rest_places = places;
        for left in (2..=number).rev() {
            let near = rest_places.get(rest_places.len() / left);
            let Some(head) = near.and_then(|&near| rest.head_before(near)) else {
                break;
            };
            let cut = rest_places.partition_point(|&place| (place as usize) < head);
            let (first, after) = rest.split(head);
            parts.push((first, &rest_places[..cut]));
            (rest, rest_places) = (after, &rest_places[cut..]);
        }
        parts.push((rest, rest_places));
        parts
    }

    fn count(&self, head: u32) -> u64 {
        count(head, &self.large)
    }
}

/// Some pieces of the corpus, which one thread may work on.
#[derive(Debug)]
pub(super) struct Part<'a> {
    /// From a head on.
    tokens: &'a mut [u32],
    /// The place of the first of them.
    start: usize,
    /// Of the whole corpus.
    heads: &'a [u32],
    large: &'a [u64],
}

impl<'a> Part<'a> {
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
        if let Some(head) = self.heads.get(place as usize / BLOCK) {
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
        if !holds(self.tokens, at, pair, lengths[0]) {
            return None;
        }
        let middle = at + lengths[0] as usize;
        let end = middle + lengths[1] as usize;
        let around = Around {
            before: self.before(at),
            after: self.tokens.get(end).copied().filter(|&token| token < END),
            count: self.count_at(at),
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
        Some((as_place(self.start + at), self.tokens[at]))
    }

    /// How often the piece occurs that has a token at an index.
    #[inline]
    fn count_at(&self, at: usize) -> u64 {
        count(self.heads[(self.start + at) / BLOCK], self.large)
    }

    /// Where the piece has its head that `place` is in, if that is not far. What stands at the place, and before it in
    /// the same token, need not be up to date.
    fn head_before(&self, place: Place) -> Option<usize> {
        let mut at = place as usize - self.start;
        for _ in 0..FARTHEST {
            let last = *self.tokens.get(at.checked_sub(1)?)?;
            if last & HEAD != 0 {
                return Some(self.start + at - 1);
            }
            at -= length_at_end(last);
        }
        None
    }

    /// What is before a head, and what is from it on.
    fn split(self, head: usize) -> (Self, Self) {
        let Part { heads, large, .. } = self;
        let (tokens, start) = (self.tokens, self.start);
        let (before, after) = tokens.split_at_mut(head - start);
        let part = |tokens: &'a mut [u32], start: usize| Part {
            tokens,
            start,
            heads,
            large,
        };
        (part(before, start), part(after, head))
    }
}

/// Whether `pair` starts at an index, its left token having `left_length` bytes.
#[inline]
fn holds(tokens: &[u32], at: usize, pair: Pair, left_length: u32) -> bool {
    let token = |at: usize| tokens.get(at).copied();
    token(at) == Some(pair.left) && token(at + left_length as usize) == Some(pair.right)
}

/// The bytes of the token of which this is the last number, and no head. Inside of a token, any step back.
#[inline]
fn length_at_end(last: u32) -> usize {
    if last <= END {
        1
    } else {
        (last & !END) as usize
    }
}

/// The count of a head.
#[inline]
fn count(head: u32, large: &[u64]) -> u64 {
    if head & INDIRECT == 0 {
        u64::from(head & !HEAD)
    } else {
        large[(head & !HEAD & !INDIRECT) as usize]
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "checked when pieces are added"
)]
fn as_place(index: usize) -> Place {
    index as Place
}
