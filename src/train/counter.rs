//! One thread's counting: from texts to a table.

use std::ops::Range;

use super::spill::Spiller;
use super::table::{Counted, Table};
use crate::checkpoint::{self, Checkpoint};
use crate::encode::ragged::Share;
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

/// One thread's counting.
pub(super) struct Counter<'a, 's> {
    pub(super) table: &'a mut Table,
    pub(super) splitter: Option<&'a Splitter>,
    pub(super) special: &'a SpecialTokens,
    pub(super) spiller: Option<&'a Spiller<'s>>,
    pub(super) checkpoint: &'a dyn Checkpoint,
    /// How many pieces it has counted.
    pub(super) pieces: u64,
}

impl Counter<'_, '_> {
    /// Counts the pieces of a share; `bases` are the places of the items.
    pub(super) fn share(
        &mut self,
        items: &[Item<'_>],
        bases: &[u64],
        share: &Share,
    ) -> Result<(), TrainError> {
        let mut chunk = Vec::new();
        for (number, (item, stretch)) in share.numbered_stretches(items) {
            let text = match item {
                Item::Text(text) => text,
                Item::Piece(piece) => {
                    self.piece(piece, bases[number])?;
                    continue;
                }
            };
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
    fn piece(&mut self, piece: &[u8], first: u64) -> Result<(), TrainError> {
        if !piece.is_empty() {
            self.make_room(1, piece.len())?;
            self.table.add(piece, Counted { count: 1, first });
            self.pieces += 1;
        }
        Ok(())
    }

    /// Sees to it that the table keeps its limit while so many pieces are added.
    fn make_room(&mut self, pieces: usize, bytes: usize) -> Result<(), TrainError> {
        match self.spiller {
            Some(spiller) => spiller.make_room(self.table, pieces, bytes),
            None => Ok(()),
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
            return self.piece(text.as_bytes(), base);
        };
        let mut pieces = splitter.pieces(text, self.checkpoint);
        while pieces.next_chunk(chunk)? {
            checkpoint::pass(self.checkpoint)?;
            let bytes = match (chunk.first(), chunk.last()) {
                (Some(first), Some(last)) => last.end - first.start,
                _ => 0,
            };
            self.make_room(chunk.len(), bytes)?;
            self.table.add_pieces(text.as_bytes(), chunk, base);
            self.pieces += chunk.len() as u64;
        }
        Ok(())
    }
}
