//! Counting pieces: texts → how often each piece occurs.
//!
//! Each thread counts shares of the texts into a table of its own. Tables become one only when somebody looks, so that
//! many small batches of texts cost no more than a large one.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::table::{Counted, Table};
use crate::checkpoint::{self, Checkpoint};
use crate::encode::batch;
use crate::encode::ragged::{Share, plan};
use crate::encode::special::{Allowed, SpecialTokens};
use crate::error::TrainError;
use crate::split::Splitter;

/// A text to be counted, or bytes that are one piece.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    /// Is split.
    Text(&'a str),
    /// Is a piece.
    Piece(&'a [u8]),
}

impl AsRef<str> for Item<'_> {
    /// The text; of a piece, nothing.
    fn as_ref(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Piece(_) => "",
        }
    }
}

impl<'a> Item<'a> {
    /// Adds any bytes to `items`: stretches of UTF-8 are texts of their own, what is between two of them is a piece.
    pub fn split_bytes(bytes: &'a [u8], items: &mut Vec<Self>) {
        if let Ok(text) = std::str::from_utf8(bytes) {
            items.push(Self::Text(text));
            return;
        }
        // Where the bytes that are none start, and where they end.
        let (mut start, mut end) = (0, 0);
        for chunk in bytes.utf8_chunks() {
            if !chunk.valid().is_empty() {
                items.push(Self::Piece(&bytes[start..end]));
                items.push(Self::Text(chunk.valid()));
                start = end + chunk.valid().len();
                end = start;
            }
            end += chunk.invalid().len();
        }
        items.push(Self::Piece(&bytes[start..end]));
    }

    fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Piece(piece) => piece.len(),
        }
    }
}

/// Pieces and how often they occur.
#[derive(Clone, Debug, Default)]
pub struct PieceCounts {
    /// One for each thread that ever counted. What they hold together is meant.
    tables: Vec<Table>,
    /// All occurrences of pieces; checked, so that no count of a single piece overflows.
    total: u64,
    /// Bytes of text counted.
    text_bytes: u128,
    /// The place of the next text among all texts, in bytes.
    next_place: u64,
}

impl PieceCounts {
    /// Nothing counted.
    pub fn new() -> Self {
        Self::default()
    }

    /// Splits `items` and counts their pieces, on at most `threads` threads. Without a splitter a text is one piece.
    /// Special tokens cut texts and are not counted.
    ///
    /// # Errors
    /// [`TrainError`]: interrupted, the splitter failed, or there are too many pieces. Some of the texts may be counted
    /// then, and others not.
    ///
    /// # Complexity
    /// O(bytes), as far as the splitter is; memory O(bytes of unique pieces), for each thread.
    pub fn add(
        &mut self,
        items: &[Item<'_>],
        splitter: Option<&Splitter>,
        special: &SpecialTokens,
        threads: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), TrainError> {
        let mut bases = Vec::with_capacity(items.len());
        let mut place = self.next_place;
        for item in items {
            bases.push(place);
            place += item.len() as u64;
        }
        // No text has more pieces than bytes.
        let bytes = place - self.next_place;
        self.total
            .checked_add(bytes)
            .ok_or(TrainError::TooManyOccurrences)?;
        let shares = plan(items, threads, |text, near| {
            splitter?
                .cut(text, near)
                .filter(|&cut| !special.lies_across(text, cut))
        });
        let idle = Mutex::new(std::mem::take(&mut self.tables));
        let lock = || idle.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = batch::map_with(
            &shares,
            threads,
            checkpoint,
            || lock().pop().unwrap_or_default(),
            |table| lock().push(table),
            |table, share| {
                let mut counter = Counter {
                    table,
                    splitter,
                    special,
                    checkpoint,
                    pieces: 0,
                };
                counter.share(items, &bases, share)?;
                Ok::<u64, TrainError>(counter.pieces)
            },
        );
        self.tables = idle.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.next_place = place;
        self.total += counted?.iter().sum::<u64>();
        self.text_bytes += u128::from(bytes);
        Ok(())
    }

    /// Counts pieces that occur so many times each.
    ///
    /// # Errors
    /// [`TrainError::TooManyOccurrences`]; nothing is counted then.
    pub fn add_pieces<'a>(
        &mut self,
        pieces: impl Iterator<Item = (&'a [u8], u64)> + Clone,
    ) -> Result<(), TrainError> {
        let total = pieces
            .clone()
            .filter(|(piece, _)| !piece.is_empty())
            .try_fold(self.total, |total, (_, count)| total.checked_add(count))
            .ok_or(TrainError::TooManyOccurrences)?;
        let mut place = self.next_place;
        let mut text_bytes = 0;
        let table = self.one_table();
        for (piece, count) in pieces.filter(|(piece, _)| !piece.is_empty()) {
            let first = place;
            table.add(piece, Counted { count, first });
            place += 1;
            text_bytes += piece.len() as u128 * u128::from(count);
        }
        self.next_place = place;
        self.text_bytes += text_bytes;
        self.total = total;
        Ok(())
    }

    /// Adds all that `other` has counted, as if it had come after.
    ///
    /// # Errors
    /// [`TrainError::TooManyOccurrences`]; nothing is added then.
    pub fn merge(&mut self, other: &Self) -> Result<(), TrainError> {
        self.total = self
            .total
            .checked_add(other.total)
            .ok_or(TrainError::TooManyOccurrences)?;
        let later = self.next_place;
        let table = self.one_table();
        for part in &other.tables {
            table.merge(part, later);
        }
        self.next_place += other.next_place;
        self.text_bytes += other.text_bytes;
        Ok(())
    }

    /// How many different pieces there are.
    pub fn len(&mut self) -> usize {
        self.one_table().len()
    }

    /// How many bytes all different pieces hold.
    pub(super) fn bytes(&mut self) -> usize {
        let mut bytes = 0;
        self.for_each(|piece, _| bytes += piece.len());
        bytes
    }

    /// True if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// How many pieces there are.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many bytes of text were counted.
    pub fn text_bytes(&self) -> u128 {
        self.text_bytes
    }

    /// How many bytes it takes.
    pub fn memory(&self) -> usize {
        self.tables.iter().map(Table::memory).sum()
    }

    /// `visit(piece, count)` for every piece, in no particular order.
    pub(super) fn for_each(&mut self, mut visit: impl FnMut(&[u8], u64)) {
        let table = self.one_table();
        table.for_each(|piece, counted| visit(piece, counted.count));
    }

    /// All pieces in the order of their first occurrence.
    pub fn columns(&mut self) -> Columns {
        let table = self.one_table();
        let mut bytes = Vec::new();
        let mut rows = Vec::with_capacity(table.len());
        table.for_each(|piece, counted| {
            let start = bytes.len();
            bytes.extend_from_slice(piece);
            rows.push((counted, start, piece.len()));
        });
        rows.sort_unstable_by_key(|(counted, ..)| counted.first);
        let mut columns = Columns {
            bytes: Vec::with_capacity(bytes.len()),
            ends: Vec::with_capacity(rows.len()),
            counts: Vec::with_capacity(rows.len()),
        };
        for (counted, start, length) in rows {
            columns.push(&bytes[start..start + length], counted.count);
        }
        columns
    }

    /// The most frequent pieces, at most `most`; of equally frequent ones, those that occur first.
    pub fn most_common(&mut self, most: usize) -> Columns {
        let all = self.columns();
        let mut rows: Vec<(&[u8], u64)> = all.iter().collect();
        rows.sort_by_key(|&(_, count)| Reverse(count));
        let mut columns = Columns::default();
        for (piece, count) in rows.into_iter().take(most) {
            columns.push(piece, count);
        }
        columns
    }

    /// The one table of all that was counted.
    fn one_table(&mut self) -> &mut Table {
        self.tables.sort_by_key(Table::len);
        let mut whole = self.tables.pop().unwrap_or_default();
        for part in self.tables.drain(..) {
            whole.merge(&part, 0);
        }
        self.tables.push(whole);
        &mut self.tables[0]
    }
}

/// Pieces one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// The bytes of all pieces, end to end.
    pub bytes: Vec<u8>,
    /// Where each of them ends.
    pub ends: Vec<usize>,
    /// How often each of them occurs.
    pub counts: Vec<u64>,
}

impl Columns {
    fn push(&mut self, piece: &[u8], count: u64) {
        self.bytes.extend_from_slice(piece);
        self.ends.push(self.bytes.len());
        self.counts.push(count);
    }

    /// The pieces with their counts.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], u64)> {
        let mut start = 0;
        self.ends
            .iter()
            .zip(&self.counts)
            .map(move |(&end, &count)| {
                let piece = &self.bytes[start..end];
                start = end;
                (piece, count)
            })
    }
}

/// One thread's counting.
struct Counter<'a> {
    table: &'a mut Table,
    splitter: Option<&'a Splitter>,
    special: &'a SpecialTokens,
    checkpoint: &'a dyn Checkpoint,
    /// How many pieces it has counted.
    pieces: u64,
}

impl Counter<'_> {
    fn share(
        &mut self,
        items: &[Item<'_>],
        bases: &[u64],
        share: &Share,
    ) -> Result<(), TrainError> {
        let mut chunk = Vec::new();
        for (number, (text, stretch)) in share.numbered_stretches(items) {
            if let Item::Piece(piece) = items[number] {
                self.piece(piece, bases[number]);
                continue;
            }
            let mut place = stretch.start;
            let text = &text[..stretch.end];
            while place < text.len() {
                let found = self.special.find(text, place, &Allowed::All);
                let (end, next) = found.map_or((text.len(), text.len()), |found| {
                    (found.start, found.start + found.text.len())
                });
                let base = bases[number] + place as u64;
                self.ordinary(&text[place..end], base, &mut chunk)?;
                place = next;
            }
        }
        Ok(())
    }

    /// Counts a piece, unless it is empty.
    fn piece(&mut self, piece: &[u8], first: u64) {
        if !piece.is_empty() {
            self.table.add(piece, Counted { count: 1, first });
            self.pieces += 1;
        }
    }

    /// Counts the pieces of a text without special tokens.
    fn ordinary(
        &mut self,
        text: &str,
        base: u64,
        chunk: &mut Vec<Range<usize>>,
    ) -> Result<(), TrainError> {
        let Some(splitter) = self.splitter else {
            self.piece(text.as_bytes(), base);
            return Ok(());
        };
        let mut pieces = splitter.pieces(text);
        while pieces.next_chunk(chunk)? {
            checkpoint::pass(self.checkpoint)?;
            self.table.add_pieces(text.as_bytes(), chunk, base);
            self.pieces += chunk.len() as u64;
        }
        Ok(())
    }
}
