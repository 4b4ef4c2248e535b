//! Counting on one thread: from texts to a map.

use std::ops::Range;

use super::Counted;
use super::key;
use super::piece_map::{CountProbe, PieceMap};
use crate::checkpoint;
use crate::encode::special::{Allowed, SpecialTokens};
use crate::error::TrainError;
use crate::split::Splitter;
use crate::split::native::{self, Sink};
use crate::util::block::{BLOCK_LEN, Block, Spans};
use crate::util::memory::Growable;
use crate::util::parallel::WorkItem;

/// A text whose pieces are counted, or bytes that are one piece.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    /// A text to be split.
    Text(&'a str),
    /// A piece.
    Piece(&'a [u8]),
}

impl AsRef<str> for Item<'_> {
    /// The text; empty for a piece, which is never cut.
    fn as_ref(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Piece(_) => "",
        }
    }
}

impl<'a> Item<'a> {
    /// Appends arbitrary bytes to `items`: each maximal span of UTF-8 is a text of its own, the bytes between
    /// two of them are one piece.
    pub fn split_bytes(bytes: &'a [u8], items: &mut Vec<Self>) {
        if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
            items.with_room(1).push(Self::Text(text));
            return;
        }
        // The span of invalid bytes since the last text.
        let (mut start, mut end) = (0, 0);
        for chunk in bytes.utf8_chunks() {
            if !chunk.valid().is_empty() {
                items.with_room(1).push(Self::Piece(&bytes[start..end]));
                items.with_room(1).push(Self::Text(chunk.valid()));
                start = end + chunk.valid().len();
                end = start;
            }
            end += chunk.invalid().len();
        }
        items.with_room(1).push(Self::Piece(&bytes[start..end]));
    }

    /// Length in bytes.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Piece(piece) => piece.len(),
        }
    }
}

/// Most probes that are pending at once; more than a block has pieces. Two or four times as many were no
/// faster.
const MAX_PENDING: usize = 128;

/// Counts pieces on one thread.
///
/// ```text
/// for some blocks of the text:
///     find the ends of their pieces
///     for each of these pieces:
///         hash it; prefetch its slot
/// for each of these pieces:
///     if it is in its slot: increment the count
///     else: probe the following slots; insert it
/// ```
///
/// The pieces that go to one map come in the order of their positions, so a hit changes nothing but the count
/// of its slot. With a list of ranges in between, written and read twice, and first positions compared each
/// time, a MB of English took 28 million instructions, splitting included, instead of 20.
pub(in crate::train) struct PieceCounter<'a, 's> {
    map: &'a mut PieceMap,
    context: &'a CountContext<'s>,
    /// Position of the text that is being counted.
    base: u64,
    probes: Box<[CountProbe; MAX_PENDING]>,
    /// Number of probes that are pending.
    pending: usize,
}

/// The state that the threads of one call share.
pub(super) struct CountContext<'s> {
    /// Splits texts; without one, a text is a piece.
    pub(super) splitter: Option<&'s Splitter>,
    /// Cut texts and are not counted.
    pub(super) special: &'s SpecialTokens,
}

impl<'a, 's> PieceCounter<'a, 's> {
    /// A counter that counts into `map`.
    pub(super) fn new(map: &'a mut PieceMap, context: &'a CountContext<'s>) -> Self {
        Self {
            map,
            context,
            base: 0,
            probes: Box::new([CountProbe::default(); MAX_PENDING]),
            pending: 0,
        }
    }

    /// Begins a text whose first byte has a position, none before those that were already counted into the map.
    pub(super) fn begin_block(&mut self, position: u64) {
        self.base = position;
    }

    /// Counts a word of a text that begins at an offset from the beginning of the block. Words come in order, and have
    /// no byte 0xFF.
    #[expect(clippy::inline_always, reason = "as `count_piece`")]
    #[inline(always)]
    pub(in crate::train) fn count_word(
        &mut self,
        text: &[u8],
        word: Range<usize>,
        offset: usize,
    ) -> Result<(), TrainError> {
        debug_assert!(
            !text[word.clone()].contains(&0xFF),
            "it may have the key of another word"
        );
        let first = self.base + (offset + word.start) as u64;
        self.count_piece(text, word, first)
    }

    /// Counts a piece of a text that has a position.
    #[expect(
        clippy::inline_always,
        reason = "a third of its instructions are those of a call"
    )]
    #[inline(always)]
    fn count_piece(
        &mut self,
        text: &[u8],
        piece: Range<usize>,
        first: u64,
    ) -> Result<(), TrainError> {
        let Some(key) = key::of_piece(text, &piece) else {
            return self.count_long(&text[piece], first);
        };
        if self.pending == MAX_PENDING {
            self.flush()?;
        }
        self.probes[self.pending] = self.map.view().probe(key, first);
        self.pending += 1;
        Ok(())
    }

    /// Adds `count` occurrences of a word at the beginning of the block.
    pub(in crate::train) fn count_repeated(
        &mut self,
        word: &[u8],
        count: u64,
    ) -> Result<(), TrainError> {
        // The pending pieces may be equal to it.
        self.flush()?;
        self.check_total(count)?;
        let first = self.base;
        self.map.add(word, Counted { count, first });
        Ok(())
    }

    /// Counts the pieces of a work item. `bases` are the positions of `items`, none of them before a position
    /// that was already counted into the map.
    pub(super) fn count_work_item(
        &mut self,
        items: &[Item<'_>],
        bases: &[u64],
        work_item: &WorkItem,
    ) -> Result<(), TrainError> {
        let mut chunk = Vec::new();
        for (index, (item, span)) in work_item.numbered_spans(items) {
            let text = match item {
                Item::Text(text) => text,
                Item::Piece(piece) => {
                    self.count_bytes(piece, bases[index])?;
                    continue;
                }
            };
            let mut offset = span.start;
            let text = &text[..span.end];
            while offset < text.len() {
                let found = self.context.special.find(text, offset, &Allowed::All);
                let (end, next) = found.map_or((text.len(), text.len()), |found| {
                    (found.start, found.start + found.text.len())
                });
                self.base = bases[index] + offset as u64;
                self.count_ordinary(&text[offset..end], &mut chunk)?;
                offset = next;
            }
        }
        self.flush()
    }

    /// Counts a piece of any bytes, unless it is empty.
    fn count_bytes(&mut self, piece: &[u8], first: u64) -> Result<(), TrainError> {
        if !piece.is_empty() {
            // The pending pieces come before it and may be equal to it.
            self.flush()?;
            self.check_total(1)?;
            self.map.add(piece, Counted { count: 1, first });
        }
        Ok(())
    }

    /// Counts a piece that is too long for a key.
    #[cold]
    #[inline(never)]
    fn count_long(&mut self, piece: &[u8], first: u64) -> Result<(), TrainError> {
        self.check_total(1)?;
        self.map.add_long(piece, Counted { count: 1, first });
        Ok(())
    }

    /// Counts the pieces of a block that are too long for a key; the arguments are those of [`Sink::block`].
    #[cold]
    #[inline(never)]
    fn count_long_ones<const GAPS: bool>(
        &mut self,
        block: &Block,
        offset: usize,
        spans: Spans<GAPS>,
    ) -> Result<(), TrainError> {
        for (start, end) in spans {
            if end - start > key::MAX_KEY_LEN {
                self.count_long(&block[start..end], self.base + (offset + start) as u64)?;
            }
        }
        Ok(())
    }

    /// Counts the pieces of a text without special tokens; the last of them may still be pending.
    fn count_ordinary(
        &mut self,
        text: &str,
        chunk: &mut Vec<Range<usize>>,
    ) -> Result<(), TrainError> {
        let Some(splitter) = self.context.splitter else {
            return self.count_bytes(text.as_bytes(), self.base);
        };
        if let Some((rule, tier)) = splitter.rule() {
            let mut offset = 0;
            while offset < text.len() {
                checkpoint::pass()?;
                native::split_into(rule, tier, text.as_bytes(), &mut offset, self)?;
            }
            return Ok(());
        }
        let mut pieces = splitter.pieces(text);
        while pieces.next_chunk(chunk)? {
            checkpoint::pass()?;
            for piece in chunk.drain(..) {
                self.piece(text.as_bytes(), piece)?;
            }
        }
        Ok(())
    }

    /// Counts the pending pieces.
    #[inline(never)]
    pub(super) fn flush(&mut self) -> Result<(), TrainError> {
        self.check_total(self.pending as u64)?;
        let pending = std::mem::take(&mut self.pending);
        self.map.count(&self.probes[..pending]);
        Ok(())
    }

    /// Returns an error if the total of the map would overflow with `more` occurrences.
    fn check_total(&self, more: u64) -> Result<(), TrainError> {
        let sum = self.map.total().checked_add(more);
        sum.map(|_| ()).ok_or(TrainError::TooManyOccurrences)
    }
}

impl Sink for PieceCounter<'_, '_> {
    type Error = TrainError;

    #[expect(clippy::inline_always, reason = "compiled anew for each tier")]
    #[inline(always)]
    fn block<const GAPS: bool>(
        &mut self,
        block: &Block,
        offset: usize,
        spans: Spans<GAPS>,
    ) -> Result<(), TrainError> {
        if self.pending > MAX_PENDING - BLOCK_LEN {
            self.flush()?;
        }
        let view = self.map.view();
        let mut probes = self.probes[self.pending..].iter_mut();
        let base = self.base + offset as u64;
        let mut short = 0;
        for (start, end) in spans {
            let bytes = block[start..]
                .first_chunk()
                .expect("a block goes on behind its last piece");
            if let Some(key) = key::of_first(bytes, end - start) {
                let probe = probes.next().expect("a block has at most 64 pieces");
                *probe = view.probe(key, base + start as u64);
                short += 1;
            }
        }
        self.pending += short;
        if short < spans.count() {
            self.count_long_ones(block, offset, spans)?;
        }
        Ok(())
    }

    fn piece(&mut self, text: &[u8], piece: Range<usize>) -> Result<(), TrainError> {
        let first = self.base + piece.start as u64;
        self.count_piece(text, piece, first)
    }
}
