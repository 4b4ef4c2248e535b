//! One thread's counting: from texts to a table.

use std::ops::Range;

use super::key;
use super::spill::Spiller;
use super::table::{Counted, Spot, Table};
use crate::checkpoint::{self, Checkpoint};
use crate::encode::special::{Allowed, SpecialTokens};
use crate::error::TrainError;
use crate::split::Splitter;
use crate::split::native::{self, Sink};
use crate::util::block::{BLOCK_LEN, Block};
use crate::util::parallel::WorkItem;

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
        if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
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

    /// How many bytes it has.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Piece(piece) => piece.len(),
        }
    }
}

/// Short pieces that wait for their slots together, at most; more than a window has. Two or four times as many were no
/// faster.
const SPOTS: usize = 128;

/// One thread's counting.
///
/// ```text
/// for some windows of the text:
///     where their pieces end
///     for each of these pieces:
///         which slot it belongs to; ask for the memory of that
/// for each of these pieces:
///     if its slot has it: one more
///     else: look in the next ones; remember it
/// ```
///
/// Pieces of a table come in the order of their places, so that nothing but its count changes in a slot that has a piece.
/// With a list of ranges in between, written and read twice, and first places compared each time, a MB of English took 28
/// million instructions, splitting included, instead of 20.
pub(super) struct Counter<'a, 's> {
    table: &'a mut Table,
    how: &'a How<'s>,
    /// How many pieces it has counted.
    pub(super) pieces: u64,
    /// The place of the text whose pieces are being counted.
    base: u64,
    spots: Box<[Spot; SPOTS]>,
    /// How many of the spots wait.
    waiting: usize,
}

/// What all threads that count have in common.
pub(super) struct How<'s> {
    pub(super) splitter: Option<&'s Splitter>,
    pub(super) special: &'s SpecialTokens,
    pub(super) spiller: Option<Spiller<'s>>,
    pub(super) checkpoint: &'s dyn Checkpoint,
}

impl<'a, 's> Counter<'a, 's> {
    /// Counts into `table`.
    pub(super) fn new(table: &'a mut Table, how: &'a How<'s>) -> Self {
        Self {
            table,
            how,
            pieces: 0,
            base: 0,
            spots: Box::new([Spot::default(); SPOTS]),
            waiting: 0,
        }
    }

    /// Counts the pieces of a share; `bases` are the places of the items, none before those that were counted into the
    /// table so far.
    pub(super) fn share(
        &mut self,
        items: &[Item<'_>],
        bases: &[u64],
        share: &WorkItem,
    ) -> Result<(), TrainError> {
        let mut chunk = Vec::new();
        for (number, (item, stretch)) in share.numbered_spans(items) {
            let text = match item {
                Item::Text(text) => text,
                Item::Piece(piece) => {
                    self.any(piece, bases[number])?;
                    continue;
                }
            };
            let mut place = stretch.start;
            let text = &text[..stretch.end];
            while place < text.len() {
                let found = self.how.special.find(text, place, &Allowed::All);
                let (end, next) = found.map_or((text.len(), text.len()), |found| {
                    (found.start, found.start + found.text.len())
                });
                self.base = bases[number] + place as u64;
                self.ordinary(&text[place..end], &mut chunk)?;
                place = next;
            }
        }
        self.count()
    }

    /// Counts a piece of any bytes, unless it is empty.
    fn any(&mut self, piece: &[u8], first: u64) -> Result<(), TrainError> {
        if !piece.is_empty() {
            // What waits was before it, and may be the same.
            self.count()?;
            self.make_room(1, piece.len())?;
            self.table.add(piece, Counted { count: 1, first });
            self.pieces += 1;
        }
        Ok(())
    }

    /// Counts a piece that has no key.
    fn long(&mut self, piece: &[u8], first: u64) -> Result<(), TrainError> {
        self.make_room(1, piece.len())?;
        self.table.add_long(piece, Counted { count: 1, first });
        self.pieces += 1;
        Ok(())
    }

    /// Counts those pieces of a window that have no key, as [`Sink::window`] is given all.
    #[cold]
    #[inline(never)]
    fn long_ones(&mut self, window: &Block, place: usize, mut ends: u64) -> Result<(), TrainError> {
        let mut start = 0;
        while ends != 0 {
            let end = ends.trailing_zeros() as usize;
            if end - start > key::LONGEST_WHOLE {
                self.long(&window[start..end], self.base + (place + start) as u64)?;
            }
            start = end;
            ends &= ends - 1;
        }
        Ok(())
    }

    /// Sees to it that the table keeps its limit while so many pieces are added.
    fn make_room(&mut self, pieces: usize, bytes: usize) -> Result<(), TrainError> {
        match &self.how.spiller {
            Some(spiller) => spiller.make_room(self.table, pieces, bytes),
            None => Ok(()),
        }
    }

    /// Counts the pieces of a text without special tokens; the last ones may still wait.
    fn ordinary(&mut self, text: &str, chunk: &mut Vec<Range<usize>>) -> Result<(), TrainError> {
        let Some(splitter) = self.how.splitter else {
            return self.any(text.as_bytes(), self.base);
        };
        if let Splitter::Native(family, tier) = splitter {
            let mut place = 0;
            while place < text.len() {
                checkpoint::pass(self.how.checkpoint)?;
                native::split_into(*family, *tier, text.as_bytes(), &mut place, self)?;
            }
            return Ok(());
        }
        let mut pieces = splitter.pieces(text, self.how.checkpoint);
        while pieces.next_chunk(chunk)? {
            checkpoint::pass(self.how.checkpoint)?;
            for piece in chunk.drain(..) {
                self.piece(text.as_bytes(), piece)?;
            }
        }
        Ok(())
    }

    /// Counts the pieces that wait.
    #[inline(never)]
    fn count(&mut self) -> Result<(), TrainError> {
        self.make_room(self.waiting, 0)?;
        self.table.count(&self.spots[..self.waiting]);
        self.pieces += self.waiting as u64;
        self.waiting = 0;
        Ok(())
    }
}

impl Sink for Counter<'_, '_> {
    type Error = TrainError;

    #[expect(clippy::inline_always, reason = "compiled anew for each tier")]
    #[inline(always)]
    fn block(&mut self, window: &Block, place: usize, ends: u64) -> Result<(), TrainError> {
        if self.waiting > SPOTS - BLOCK_LEN {
            self.count()?;
        }
        let view = self.table.view();
        let mut spots = self.spots[self.waiting..].iter_mut();
        let base = self.base + place as u64;
        let (mut start, mut rest, mut short) = (0, ends, 0);
        while rest != 0 {
            let end = rest.trailing_zeros() as usize;
            let bytes = window.get(start..).and_then(<[u8]>::first_chunk);
            if let Some(key) = bytes.and_then(|bytes| key::of_first(bytes, end - start))
                && let Some(spot) = spots.next()
            {
                *spot = view.spot(key, base + start as u64);
                short += 1;
            }
            start = end;
            rest &= rest - 1;
        }
        self.waiting += short;
        if short < ends.count_ones() as usize {
            self.long_ones(window, place, ends)?;
        }
        Ok(())
    }

    fn piece(&mut self, text: &[u8], piece: Range<usize>) -> Result<(), TrainError> {
        let first = self.base + piece.start as u64;
        let Some(key) = key::of_piece(text, &piece) else {
            return self.long(&text[piece], first);
        };
        if self.waiting == SPOTS {
            self.count()?;
        }
        self.spots[self.waiting] = self.table.view().spot(key, first);
        self.waiting += 1;
        Ok(())
    }

    fn checkpoint(&self) -> &dyn Checkpoint {
        self.how.checkpoint
    }
}
