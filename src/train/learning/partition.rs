//! The part of the corpus that one thread merges in: pieces as tokens, in one array with a cell for every
//! byte.
//!
//! A token's id is in the cell of its first byte. If it has several bytes, its length is in the cell of its
//! last one, flagged with `END`; the cells in between have that flag, too. So the tokens before and after an
//! offset are found without links, a merge writes three cells, and it takes the same time in a piece of any
//! length. Before each piece is its count, flagged as a `HEAD`. An id has neither flag.
//!
//! ```text
//! head  a  b  c     head: a piece that occurs twice; after the merge of b and c:
//!  2H   97 98 99         2H  97 256 2E
//! ```
//!
//! The head of a piece is at the beginning of a block of cells; the rest of the block before is padded with
//! heads of count 0. So a block belongs to one piece and can store the head of that piece; and a short piece
//! is in one cache line.

use crate::checkpoint::{self, Interrupted};
use crate::error::TrainError;
use crate::token::{Pair, TokenId};
use crate::util::memory::{self, Growable, LargeVec};

/// Flags a head. The other bits are a count or, with [`INDIRECT`], the index of a large count.
const HEAD: u32 = 1 << 31;
const INDIRECT: u32 = 1 << 30;

/// Ids are below this.
pub(super) const MAX_TOKENS: u32 = END;

/// Flags the last cell of a token; alone, a cell between the first and the last.
const END: u32 = 1 << 30;

/// Pieces have fewer cells than this, so that a length fits beside a flag.
const MAX_PIECE_LEN: usize = 1 << 30;

/// Cells in a block: half a cache line. Before there were blocks, walking back to the head took a quarter of
/// the time in Chinese text, where pieces are long. With blocks of four cells, the first token at the
/// beginning of one, merging took 5 % longer.
const BLOCK: usize = 8;

/// Cells in a cache line.
const LINE: usize = 64 / size_of::<u32>();

/// Greater counts are not told apart in the histogram of counts.
pub(super) const MAX_HISTOGRAM_COUNT: usize = 1 << 12;

/// Cells visited between two checkpoints.
const CHECK_INTERVAL: usize = 1 << 20;

/// How many cells before a pair the prefetch expects the token before it.
const PREFETCH_BEFORE: usize = 2;

/// A part of the pieces. Where a pair begins, its **occurrence**, is the offset of a cell in the whole corpus.
#[derive(Debug)]
pub(in crate::train) struct CorpusPartition {
    /// Offset of the first cell in the corpus.
    pub(super) start: usize,
    cells: LargeVec<u32>,
    /// Index of the first block: at the beginning of a cache line.
    first_block: usize,
    /// Counts that do not fit a head.
    large_counts: Vec<u64>,
    /// For each block, the head of its piece.
    heads: LargeVec<u32>,
    /// Sum over all pieces of count times length.
    weight: u128,
    /// Number of pieces by count, up to [`MAX_HISTOGRAM_COUNT`]; the last entry is for all greater counts.
    histogram: Vec<usize>,
}

/// The context of a pair that was merged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    /// The token before the pair, and where it begins.
    pub(super) before: Option<(usize, TokenId)>,
    /// The token after the pair.
    pub(super) after: Option<TokenId>,
    /// Count of the piece.
    pub(super) count: u64,
}

impl CorpusPartition {
    /// Number of cells of a piece of a number of bytes at most: its head, perhaps a mark, and up to the next block.
    pub(super) fn cells_of(bytes: usize) -> usize {
        (2 + bytes).next_multiple_of(BLOCK)
    }

    /// An empty partition with room for some cells, those of all pieces.
    pub(super) fn with_capacity(cells: usize) -> Self {
        let capacity = cells + 1;
        let mut cells: LargeVec<u32> = memory::large_vec(LINE + capacity);
        let first_block = cells.as_ptr().align_offset(size_of::<[u32; LINE]>()) % LINE;
        cells.resize(first_block, HEAD);
        Self {
            start: 0,
            cells,
            first_block,
            large_counts: Vec::new(),
            heads: memory::large_vec(capacity.div_ceil(BLOCK)),
            weight: 0,
            histogram: memory::filled(0, MAX_HISTOGRAM_COUNT + 1),
        }
    }

    /// Adds a piece of units, each of which is a token of one cell. A piece of one unit is left out: it has no
    /// pair.
    ///
    /// # Errors
    /// [`TrainError::PieceTooLong`], [`TrainError::TooLarge`].
    pub(in crate::train) fn push_units<U: Copy>(
        &mut self,
        units: &[U],
        token: impl Fn(U) -> TokenId,
        count: u64,
    ) -> Result<(), TrainError> {
        if units.len() < 2 {
            return Ok(());
        }
        let head = self.begin_piece(units.len(), count)?;
        for chunk in units.chunks(CHECK_INTERVAL) {
            if units.len() > CHECK_INTERVAL {
                checkpoint::pass()?;
            }
            self.cells.extend(chunk.iter().map(|&unit| token(unit)));
        }
        self.end_piece(head);
        Ok(())
    }

    /// Adds a piece of `length` bytes as tokens with their lengths. A piece of one token is left out.
    ///
    /// # Errors
    /// [`TrainError::PieceTooLong`], [`TrainError::TooLarge`].
    pub(super) fn push(
        &mut self,
        length: usize,
        tokens: impl ExactSizeIterator<Item = (TokenId, u32)>,
        count: u64,
    ) -> Result<(), TrainError> {
        if tokens.len() < 2 {
            return Ok(());
        }
        let head = self.begin_piece(length, count)?;
        for (index, (token, length)) in tokens.enumerate() {
            if index % CHECK_INTERVAL == CHECK_INTERVAL - 1 {
                checkpoint::pass()?;
            }
            self.cells.push(token);
            if length > 1 {
                let end = self.cells.len() + length as usize - 1;
                self.cells.resize(end - 1, END);
                self.cells.push(END | length);
            }
        }
        self.end_piece(head);
        Ok(())
    }

    /// Pads to the next block and writes the head of a piece, which it returns.
    fn begin_piece(&mut self, length: usize, count: u64) -> Result<u32, TrainError> {
        if length >= MAX_PIECE_LEN {
            return Err(TrainError::PieceTooLong(length));
        }
        let head = HEAD | self.encode_count(count)?;
        let used = self.cells.len() - self.first_block;
        let block = self.first_block + used.next_multiple_of(BLOCK);
        self.cells.resize(block, HEAD);
        self.cells.push(head);
        self.weight += u128::from(count) * length as u128;
        let bin = usize::try_from(count).unwrap_or(usize::MAX);
        self.histogram[bin.min(MAX_HISTOGRAM_COUNT)] += 1;
        Ok(head)
    }

    /// Stores the head for the blocks of the piece.
    fn end_piece(&mut self, head: u32) {
        let used = self.cells.len() - self.first_block;
        self.heads.resize(used.div_ceil(BLOCK), head);
    }

    /// Returns the lower bits of a head.
    fn encode_count(&mut self, count: u64) -> Result<u32, TrainError> {
        let small = u32::try_from(count).ok().filter(|&count| count < INDIRECT);
        if let Some(count) = small {
            return Ok(count);
        }
        let index = u32::try_from(self.large_counts.len()).ok();
        let index = index.filter(|&index| index < INDIRECT);
        self.large_counts.with_room(1).push(count);
        index
            .map(|index| INDIRECT | index)
            .ok_or(TrainError::TooLarge)
    }

    /// Completes the array, whose first cell has the offset `start`, and returns the offset after its last
    /// cell.
    pub(super) fn finish(&mut self, start: usize) -> usize {
        self.cells.push(HEAD);
        self.start = start;
        start + self.cells.len()
    }

    /// Sum over all pieces of count times length.
    pub(super) fn weight(&self) -> u128 {
        self.weight
    }

    /// Number of pieces by count, up to [`MAX_HISTOGRAM_COUNT`]; the last entry is for all greater counts.
    pub(super) fn histogram(&self) -> &[usize] {
        &self.histogram
    }

    /// Calls `visit(occurrence, pair, count)` for each pair of adjacent tokens, in order. `length` returns
    /// the length of a token.
    pub(super) fn for_each_pair(
        &self,
        length: impl Fn(TokenId) -> u32,
        mut visit: impl FnMut(usize, Pair, u64),
    ) -> Result<(), Interrupted> {
        let mut index = 0;
        let mut count = 0;
        let mut before: Option<(usize, TokenId)> = None;
        while index < self.cells.len() {
            checkpoint::pass()?;
            let end = self.cells.len().min(index + CHECK_INTERVAL);
            while let Some(&token) = self.cells[..end].get(index) {
                if token & HEAD != 0 {
                    count = self.decode_count(token);
                    before = None;
                    index += 1;
                    continue;
                }
                if let Some((start, left)) = before {
                    visit(self.start + start, Pair::new(left, token), count);
                }
                before = Some((index, token));
                index += length(token) as usize;
            }
        }
        Ok(())
    }

    /// Calls `visit` with the tokens of each piece, in order. `length` returns the length of a token.
    pub(super) fn for_each_piece(
        &self,
        length: impl Fn(TokenId) -> u32,
        mut visit: impl FnMut(&[TokenId]),
    ) -> Result<(), Interrupted> {
        let mut tokens = Vec::new();
        let (mut index, mut next_check) = (0, 0);
        while let Some(&token) = self.cells.get(index) {
            if index >= next_check {
                checkpoint::pass()?;
                next_check = index + CHECK_INTERVAL;
            }
            if token & HEAD == 0 {
                tokens.push(token);
                index += length(token) as usize;
                continue;
            }
            if !tokens.is_empty() {
                visit(&tokens);
                tokens.clear();
            }
            index += 1;
        }
        Ok(())
    }

    /// Returns whether `pair`, whose left token has `left_length` bytes, begins at `occurrence`.
    #[inline]
    pub(super) fn holds(&self, occurrence: usize, pair: Pair, left_length: u32) -> bool {
        self.holds_at(self.index(occurrence), pair, left_length)
    }

    #[inline]
    fn holds_at(&self, index: usize, pair: Pair, left_length: u32) -> bool {
        // After a token is at least the head that ends the array.
        self.cells[index] == pair.left && self.cells[index + left_length as usize] == pair.right
    }

    /// Prefetches the cells of a pair of `length` bytes and of the tokens beside it: half of all pairs are
    /// not in one cache line with these.
    #[inline]
    pub(super) fn prefetch(&self, occurrence: usize, length: u32) {
        let index = self.index(occurrence);
        for near in [
            index.saturating_sub(PREFETCH_BEFORE),
            index + length as usize,
        ] {
            if let Some(cell) = self.cells.get(near) {
                memory::prefetch(cell);
            }
        }
        if let Some(head) = self.heads.get(self.block(index)) {
            memory::prefetch(head);
        }
    }

    /// Replaces the two tokens at `occurrence` by `token` if they are still `pair`, whose tokens have
    /// `lengths`.
    #[expect(
        clippy::inline_always,
        reason = "once for each width of offsets; as a call, training took 9 % more instructions"
    )]
    #[inline(always)]
    pub(super) fn replace(
        &mut self,
        occurrence: usize,
        pair: Pair,
        lengths: [u32; 2],
        token: TokenId,
    ) -> Option<Context> {
        let start = self.index(occurrence);
        if !self.holds_at(start, pair, lengths[0]) {
            return None;
        }
        let middle = start + lengths[0] as usize;
        let end = middle + lengths[1] as usize;
        let after = self.cells[end];
        let context = Context {
            before: self.before(start),
            after: (after < END).then_some(after),
            count: self.decode_count(self.heads[self.block(start)]),
        };
        self.cells[start] = token;
        self.cells[middle] = END;
        self.cells[end - 1] = END | (lengths[0] + lengths[1]);
        Some(context)
    }

    /// The token before the one that begins at an index, and where it begins.
    #[inline]
    fn before(&self, index: usize) -> Option<(usize, TokenId)> {
        let last = self.cells[index - 1];
        if last & HEAD != 0 {
            return None;
        }
        let start = index - length_at_end(last);
        Some((self.start + start, self.cells[start]))
    }

    /// Index of the block that a cell is in.
    #[inline]
    fn block(&self, index: usize) -> usize {
        (index - self.first_block) / BLOCK
    }

    /// Returns the count of a head.
    #[inline]
    fn decode_count(&self, head: u32) -> u64 {
        if head & INDIRECT == 0 {
            u64::from(head & !HEAD)
        } else {
            self.large_counts[(head & !HEAD & !INDIRECT) as usize]
        }
    }

    /// Index of the cell at an offset in the corpus.
    #[inline]
    fn index(&self, occurrence: usize) -> usize {
        occurrence - self.start
    }
}

/// Returns the length of a token, given its last cell.
#[inline]
fn length_at_end(last: u32) -> usize {
    if last <= END {
        1
    } else {
        (last & !END) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{CorpusPartition, MAX_PIECE_LEN};
    use crate::error::TrainError;

    #[test]
    fn a_length_fits_beside_a_flag() {
        let mut partition = CorpusPartition::with_capacity(0);
        // Units of no size take no memory.
        let added = partition.push_units(&[(); MAX_PIECE_LEN], |()| 0, 1);
        assert!(matches!(
            added,
            Err(TrainError::PieceTooLong(MAX_PIECE_LEN))
        ));
    }
}
