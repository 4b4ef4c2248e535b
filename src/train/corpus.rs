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

/// Places in a block, one cache line. Each block knows the head of the piece that its first place is in, so that nobody
/// has to walk back farther to see how often a piece occurs. In Chinese text, where pieces are long, walking all the
/// way took a quarter of the time.
const BLOCK: usize = 8;

/// Places looked through between two checkpoints.
const STRETCH: usize = 1 << 20;

/// Larger counts are never expected of the last merge.
const MOST_EXPECTED: usize = 1 << 12;

/// A place in the array.
pub(super) type Place = u32;

/// All pieces.
#[derive(Debug)]
pub(super) struct Corpus {
    tokens: Vec<u32>,
    /// Counts that do not fit a head.
    large: Vec<u64>,
    /// The head that counts at the first place of each block.
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
        Self {
            tokens: memory::vec_with_capacity(pieces + bytes + 1),
            large: Vec::new(),
            heads: memory::vec_with_capacity((pieces + bytes + 1).div_ceil(BLOCK)),
            weight: 0,
            frequencies: vec![0; MOST_EXPECTED + 1],
        }
    }

    /// Adds a piece of `length` bytes, as tokens with their lengths. One of a single token is left out: it has no pair.
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
        let room = self.tokens.len().saturating_add(length).saturating_add(2);
        if length >= MOST || u32::try_from(room).is_err() {
            return Err(TrainError::TooLarge);
        }
        if tokens.len() < 2 {
            return Ok(());
        }
        let head = HEAD | self.count_or_number(count)?;
        self.tokens.push(head);
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
        self.heads.resize(self.tokens.len().div_ceil(BLOCK), head);
        self.weight += u128::from(count) * length as u128;
        let frequency = usize::try_from(count).unwrap_or(usize::MAX);
        self.frequencies[frequency.min(MOST_EXPECTED)] += 1;
        Ok(())
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
    #[inline]
    pub(super) fn holds(&self, place: Place, pair: Pair, left_length: u32) -> bool {
        let at = |place: usize| self.tokens.get(place).copied();
        at(place as usize) == Some(pair.left)
            && at(place as usize + left_length as usize) == Some(pair.right)
    }

    /// Asks for the memory of a place to be brought near.
    #[inline]
    pub(super) fn prefetch(&self, place: Place) {
        if let Some(token) = self.tokens.get(place as usize) {
            memory::prefetch(token);
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
        if !self.holds(place, pair, lengths[0]) {
            return None;
        }
        let place = place as usize;
        let middle = place + lengths[0] as usize;
        let end = middle + lengths[1] as usize;
        let around = Around {
            before: self.before(place),
            after: self.tokens.get(end).copied().filter(|&token| token < END),
            count: self.count_at(place),
        };
        self.tokens[place] = token;
        self.tokens[middle] = END;
        self.tokens[end - 1] = END | (lengths[0] + lengths[1]);
        Some(around)
    }

    /// The token before the one at `place`.
    #[inline]
    fn before(&self, place: usize) -> Option<(Place, TokenId)> {
        let last = self.tokens[place - 1];
        if last < END {
            return Some((as_place(place - 1), last));
        }
        if last & HEAD != 0 {
            return None;
        }
        let start = place - (last & !END) as usize;
        Some((as_place(start), self.tokens[start]))
    }

    /// How often the piece occurs that `place` is in.
    #[inline]
    fn count_at(&self, place: usize) -> u64 {
        let block = place / BLOCK;
        let mut start = place;
        while start > block * BLOCK {
            let last = self.tokens[start - 1];
            if last & HEAD != 0 {
                return self.count(last);
            }
            start -= if last < END {
                1
            } else {
                (last & !END) as usize
            };
        }
        self.count(self.heads[block])
    }

    #[inline]
    fn count(&self, head: u32) -> u64 {
        if head & INDIRECT == 0 {
            u64::from(head & !HEAD)
        } else {
            self.large[(head & !HEAD & !INDIRECT) as usize]
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "checked when pieces are added"
)]
fn as_place(index: usize) -> Place {
    index as Place
}
