//! Counting pieces: from texts to how often each piece occurs.
//!
//! ```text
//! texts ── split ──────────────► pieces                  (counter)
//! short pieces ────────────────► a map for each thread   (piece_map, key)
//! other pieces ────────────────► a map over an arena     (long_pieces)
//! tables of other processes ───► sorted files            (sorted)
//! all maps, all sorted files ──► one map or one file     (reading)
//! that ────────────────────────► columns, or learning
//! ```
//!
//! Each thread counts into a map of its own. The maps are merged only when counts are read, so many small
//! batches of texts cost no more than a large one.

mod counter;
mod key;
mod long_pieces;
mod piece_map;
mod reading;
mod sorted;

use std::sync::{Mutex, PoisonError};

use self::counter::CountContext;
pub use self::counter::Item;
pub(super) use self::counter::PieceCounter;
pub(super) use self::piece_map::PieceMap;
pub use self::reading::CountTable;
pub use self::sorted::NextTable;
use self::sorted::RunStore;
use crate::checkpoint::Interrupted;
use crate::encode::special::{Allowed, SpecialTokens};
use crate::error::TrainError;
use crate::split::Splitter;
use crate::util::memory;
use crate::util::parallel;
use crate::util::parallel::{WorkItem, partition};

/// Pieces and how often they occur.
#[derive(Clone, Debug, Default)]
pub struct PieceCounts {
    /// A map for each thread that ever counted; the count of a piece is the sum over all of them and the
    /// runs.
    maps: Vec<PieceMap>,
    /// Sorted counts of other processes.
    runs: RunStore,
    /// Bytes of text counted.
    text_bytes: u128,
    /// Position of the next text among all texts, in bytes.
    next_position: u64,
}

impl PieceCounts {
    /// Empty counts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Splits `items` and counts their pieces, on at most `threads` threads. Without a splitter each text is
    /// one piece. Special tokens cut texts and are not counted.
    ///
    /// # Errors
    /// [`TrainError`] if interrupted, if the splitter fails, or if there are too many pieces. Some of the texts
    /// may be counted then, and others not.
    ///
    /// # Complexity
    /// O(bytes), if splitting is; memory O(bytes of unique pieces) for each thread.
    pub fn add(
        &mut self,
        items: &[Item<'_>],
        splitter: Option<&Splitter>,
        special: &SpecialTokens,
        threads: usize,
    ) -> Result<(), TrainError> {
        let mut bases = memory::vec_with_capacity(items.len());
        let mut position = self.next_position;
        for item in items {
            bases.push(position);
            position += item.len() as u64;
        }
        // No text has more pieces than bytes.
        let bytes = position - self.next_position;
        self.total()
            .checked_add(bytes)
            .ok_or(TrainError::TooManyOccurrences)?;
        let cut = splitter.map(|splitter| {
            |text: &str, near| {
                let cut = splitter.cut(text, near);
                cut.filter(|&cut| !special.lies_across(text, cut, &Allowed::All))
            }
        });
        let work_items = partition(items, threads, cut.as_ref());
        let source = CountSource {
            splitter,
            special,
            bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
        };
        let work = |counter: &mut PieceCounter<'_, '_>, work_item: &WorkItem| {
            counter.count_work_item(items, &bases, work_item)
        };
        self.next_position = position;
        self.count_with(&work_items, &source, threads, work)?;
        self.text_bytes += u128::from(bytes);
        Ok(())
    }

    /// Counts what `work` finds in each of some `blocks` of about `bytes` bytes of text in total, on at most
    /// `threads` threads.
    ///
    /// # Errors
    /// [`TrainError`], as [`add`](Self::add), and those of `work`.
    pub(super) fn add_blocks<B: Sync, R: Send + Sync, E>(
        &mut self,
        blocks: &[B],
        bytes: usize,
        threads: usize,
        work: impl Fn(&mut PieceCounter<'_, '_>, &B) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, E>
    where
        E: Send + Sync + From<TrainError> + From<Interrupted>,
    {
        let special = SpecialTokens::default();
        let source = CountSource {
            splitter: None,
            special: &special,
            bytes,
        };
        let start = self.next_position;
        let positions = (0..).map(|index| start + (index << BLOCK_POSITIONS_LOG2));
        let blocks: Vec<(u64, &B)> = memory::collect(positions.zip(blocks));
        self.next_position += (blocks.len() as u64) << BLOCK_POSITIONS_LOG2;
        let work = |counter: &mut PieceCounter<'_, '_>, (position, block): &(u64, &B)| {
            counter.begin_block(*position);
            let result = work(counter, block)?;
            counter.flush()?;
            Ok::<R, E>(result)
        };
        let results = self.count_with(&blocks, &source, threads, work)?;
        // Each map has looked at its own total only.
        checked_sum(self.totals())?;
        self.text_bytes += bytes as u128;
        Ok(results)
    }

    /// Returns `work(counter, item)` for each of some `items`, on at most `threads` threads, each of which has a
    /// map of its own.
    fn count_with<T: Sync, R: Send + Sync, E>(
        &mut self,
        items: &[T],
        source: &CountSource<'_>,
        threads: usize,
        work: impl Fn(&mut PieceCounter<'_, '_>, &T) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, E>
    where
        E: Send + Sync + From<TrainError> + From<Interrupted>,
    {
        let workers = threads.min(parallel::cores()).min(items.len());
        let workers = workers.max(self.maps.len()).max(1);
        let context = CountContext {
            splitter: source.splitter,
            special: source.special,
        };
        // Before other threads run: while one of them faults in its first pages, the system gives no memory
        // to another.
        self.maps
            .resize_with(workers, || PieceMap::for_text(source.bytes / workers));
        let pool = Mutex::new(&mut self.maps);
        parallel::map_with(
            items,
            threads,
            || BorrowedMap::new(&pool),
            drop,
            |map, item| work(&mut PieceCounter::new(map.map(), &context), item),
        )
    }

    /// Adds pieces with their counts.
    ///
    /// # Errors
    /// [`TrainError::TooManyOccurrences`]; nothing is counted then.
    pub fn add_pieces<'a>(
        &mut self,
        pieces: impl Iterator<Item = (&'a [u8], u64)> + Clone,
    ) -> Result<(), TrainError> {
        let pieces = pieces.filter(|(piece, count)| !piece.is_empty() && *count > 0);
        self.total()
            .checked_add(checked_sum(pieces.clone().map(|(_, count)| count))?)
            .ok_or(TrainError::TooManyOccurrences)?;
        if self.maps.is_empty() {
            self.maps.push(PieceMap::default());
        }
        let map = &mut self.maps[0];
        for (piece, count) in pieces {
            let first = self.next_position;
            map.add(piece, Counted { count, first });
            self.next_position += 1;
            self.text_bytes += piece.len() as u128 * u128::from(count);
        }
        Ok(())
    }

    /// Adds all that `other` has counted, as if it had come after.
    ///
    /// # Errors
    /// [`TrainError::TooManyOccurrences`]; nothing is added then. [`TrainError`] of temporary files, or if
    /// interrupted; some of the pieces may be added then, and others not.
    pub fn merge(&mut self, other: &Self) -> Result<(), TrainError> {
        self.total()
            .checked_add(other.total())
            .ok_or(TrainError::TooManyOccurrences)?;
        let shift = self.next_position;
        self.next_position += other.next_position;
        if self.maps.is_empty() {
            self.maps.push(PieceMap::default());
        }
        self.runs.add_runs(&other.runs, shift)?;
        for theirs in &other.maps {
            self.maps[0].merge(theirs, shift)?;
        }
        self.text_bytes += other.text_bytes;
        Ok(())
    }

    /// Adds sorted counts of other processes as a file, which is merged with others when counts are read. No table of
    /// all pieces is ever in memory.
    ///
    /// # Errors
    /// [`TrainError::NotSorted`], [`TrainError::NotCounted`] if a source is not what it must be;
    /// [`TrainError::TooManyOccurrences`]; [`TrainError`] of sources and of temporary files, or if interrupted. Nothing
    /// is counted then.
    pub fn add_sorted(&mut self, sources: Vec<NextTable<'_>>) -> Result<(), TrainError> {
        let (start, counted) = (self.next_position, self.total());
        let sum = self.runs.add_sorted(sources, start, |total| {
            counted
                .checked_add(total)
                .map(|_| ())
                .ok_or(TrainError::TooManyOccurrences)
        })?;
        self.next_position += sum.pieces;
        self.text_bytes += sum.text_bytes;
        Ok(())
    }

    /// True if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    /// Number of pieces counted, equal ones included. What adds to it checks it, so the count of a single piece cannot
    /// overflow.
    pub fn total(&self) -> u64 {
        self.totals().sum()
    }

    /// The totals of all maps and runs. Each has its own, which is that of its pieces also where work was interrupted.
    fn totals(&self) -> impl Iterator<Item = u64> {
        let maps = self.maps.iter().map(PieceMap::total);
        maps.chain(self.runs.totals())
    }

    /// Bytes of text counted.
    pub fn text_bytes(&self) -> u128 {
        self.text_bytes
    }

    /// Memory in use, in bytes.
    pub fn memory(&self) -> usize {
        self.maps.iter().map(PieceMap::memory).sum()
    }
}

/// The positions of a block, as a power of two: no block of normalized text has as many bytes.
const BLOCK_POSITIONS_LOG2: u32 = 36;

/// The texts that are counted.
struct CountSource<'s> {
    /// Splits texts; without one, a text is a piece.
    splitter: Option<&'s Splitter>,
    /// Cut texts and are not counted.
    special: &'s SpecialTokens,
    /// About how many bytes all texts have.
    bytes: usize,
}

/// A map that a thread counts into, back among the others when it is dropped, also where the thread unwinds.
struct BorrowedMap<'a, 'm> {
    pool: &'a Mutex<&'m mut Vec<PieceMap>>,
    map: Option<PieceMap>,
}

impl<'a, 'm> BorrowedMap<'a, 'm> {
    fn new(pool: &'a Mutex<&'m mut Vec<PieceMap>>) -> Self {
        let map = pool.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Self { pool, map }
    }

    fn map(&mut self) -> &mut PieceMap {
        self.map.as_mut().expect("there is a map for each thread")
    }
}

impl Drop for BorrowedMap<'_, '_> {
    fn drop(&mut self) {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        // Allocates nothing: the map was there before.
        pool.extend(self.map.take());
    }
}

fn checked_sum(mut counts: impl Iterator<Item = u64>) -> Result<u64, TrainError> {
    counts
        .try_fold(0, u64::checked_add)
        .ok_or(TrainError::TooManyOccurrences)
}

/// How often a piece occurs, and where first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Number of occurrences.
    pub(crate) count: u64,
    /// Position of the first occurrence among all pieces that were ever counted.
    pub(crate) first: u64,
}

impl Counted {
    /// No occurrence: the state of a cursor before its first piece.
    pub(super) const NONE: Self = Self { count: 0, first: 0 };

    /// The same count, `by` positions later.
    pub(super) fn shifted(self, by: u64) -> Self {
        Self {
            first: self.first + by,
            ..self
        }
    }

    /// Adds the occurrences of the same piece that were counted elsewhere. Totals are checked: where they do not fit,
    /// there is an error, and these are looked at no more.
    #[inline]
    pub(super) fn absorb(&mut self, other: Self) {
        self.count = self.count.wrapping_add(other.count);
        self.first = self.first.min(other.first);
    }
}
