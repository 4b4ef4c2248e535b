//! Pieces → ids: the loop that nearly all encoding time is spent in.
//!
//! ```text
//! for some windows of the text:
//!     where their pieces end
//!     for each of these pieces:
//!         which line of the table of pieces it belongs to; ask for the memory of that
//! for each of these pieces:
//!     if its line knows it: store its ids
//!     else: look elsewhere; the whole piece as a token, or its merges; store these and remember them
//! ```
//!
//! Lines of both usual widths are looked up in one way and answers stored whole, so that neither the length of a piece nor
//! the number of its ids is a branch. To look into each line at once was a third slower on 10 MB of text, whose lines
//! are in no near cache, and as fast on some KB; to ask for the lines of one window only made no difference, as the
//! processor looks that far ahead by itself.

use std::ops::Range;

use crate::checkpoint::Checkpoint;
use crate::error::EncodeError;
use crate::merge;
use crate::piece_table::{LookUp, PieceTable, Plain, Spot};
use crate::split::masks::{WINDOW, Window};
use crate::split::native::{self, Sink};
use crate::split::pattern::Family;
use crate::tier::Tier;
use crate::token::TokenId;
use crate::vocabulary::Vocabulary;

/// Windows whose pieces wait for their lines together: some hundred pieces, whose lines have time to come, and all fit into
/// the nearest cache.
const WINDOWS: usize = 16;

/// What the loop works on besides the text; kept between calls, so that short texts need not prepare it.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) table: PieceTable,
    waiting: Waiting,
}

impl Workspace {
    pub(super) fn new(table: PieceTable) -> Self {
        let waiting = Waiting {
            spots: vec![Spot::default(); WINDOWS * WINDOW],
            windows: [Pending::default(); WINDOWS],
        };
        Self { table, waiting }
    }
}

/// Pieces whose ids are not looked up yet.
#[derive(Debug)]
struct Waiting {
    spots: Vec<Spot>,
    /// The windows that they are of.
    windows: [Pending; WINDOWS],
}

/// A window whose pieces wait.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    place: usize,
    ends: u64,
    /// The number of its first piece.
    first: usize,
}

impl Waiting {
    /// Where in the text a piece is, by its number.
    fn piece(&self, number: usize, windows: usize) -> Range<usize> {
        let windows = &self.windows[..windows.min(WINDOWS)];
        let later = windows.partition_point(|window| window.first <= number);
        let window = windows.get(later.wrapping_sub(1)).copied();
        let Pending { place, ends, first } = window.unwrap_or_default();
        let (mut start, mut ends) = (0, ends);
        for _ in first..number {
            start = ends.trailing_zeros() as usize;
            ends &= ends.wrapping_sub(1);
        }
        place + start..place + ends.trailing_zeros() as usize
    }
}

/// Encodes pieces, one after the other.
pub(super) struct Pieces<'a> {
    pub(super) vocabulary: &'a Vocabulary,
    pub(super) workspace: &'a mut Workspace,
    pub(super) ids: &'a mut Vec<TokenId>,
    pub(super) checkpoint: &'a dyn Checkpoint,
    /// How many ids there are besides, which lines know; none if all are wanted.
    pub(super) counted: Option<usize>,
}

impl Pieces<'_> {
    /// Appends the ids of the pieces of `text` from `place` on, or counts them, some KB at a time, and moves `place` past
    /// them.
    pub(super) fn encode(
        &mut self,
        family: Family,
        tier: Tier,
        text: &[u8],
        place: &mut usize,
    ) -> Result<(), EncodeError> {
        #[cfg(target_arch = "x86_64")]
        if let Some(result) = super::avx2::encode(self, family, tier, text, place) {
            return result;
        }
        let mut sink = LookUps::new(self, text, Plain);
        native::plainly(family, tier, text, place, &mut sink)?;
        sink.look()
    }

    /// Appends the ids of a piece.
    #[inline(never)]
    pub(super) fn piece(&mut self, piece: &[u8]) -> Result<(), EncodeError> {
        if self.workspace.table.get(piece, self.ids) {
            return Ok(());
        }
        self.new_piece(piece).map(|_| ())
    }

    /// Appends the ids of a piece that the table does not know, and remembers them. Answers whether lines were added.
    fn new_piece(&mut self, piece: &[u8]) -> Result<bool, EncodeError> {
        let before = self.ids.len();
        merge::encode_piece(self.vocabulary, piece, self.ids, self.checkpoint)?;
        Ok(self.workspace.table.insert(piece, &self.ids[before..]))
    }
}

/// The sink of [`Pieces`].
pub(super) struct LookUps<'p, 'a, 't, L> {
    pieces: &'p mut Pieces<'a>,
    text: &'t [u8],
    tier: L,
    /// How many windows and pieces wait.
    windows: usize,
    waiting: usize,
}

impl<'p, 'a, 't, L: LookUp> LookUps<'p, 'a, 't, L> {
    pub(super) fn new(pieces: &'p mut Pieces<'a>, text: &'t [u8], tier: L) -> Self {
        Self {
            pieces,
            text,
            tier,
            windows: 0,
            waiting: 0,
        }
    }

    /// Appends the ids of the pieces that wait.
    #[inline(never)]
    pub(super) fn look(&mut self) -> Result<(), EncodeError> {
        let mut number = 0;
        while number < self.waiting {
            let Workspace { table, waiting } = &mut *self.pieces.workspace;
            let spots = &waiting.spots[number..self.waiting];
            let view = table.view();
            number += match &mut self.pieces.counted {
                None => self.tier.look(&view, self.text, spots, self.pieces.ids),
                Some(counted) => {
                    let (known, ids) = self.tier.count(&view, self.text, spots);
                    *counted += ids;
                    known
                }
            };
            if number < self.waiting {
                self.unknown(number)?;
                number += 1;
            }
        }
        (self.windows, self.waiting) = (0, 0);
        Ok(())
    }

    /// Appends the ids of a piece that no line knows.
    #[inline(never)]
    fn unknown(&mut self, number: usize) -> Result<(), EncodeError> {
        let Workspace { table, waiting } = &mut *self.pieces.workspace;
        let piece = &self.text[waiting.piece(number, self.windows)];
        if !table.get_long(piece, self.pieces.ids) && self.pieces.new_piece(piece)? {
            let Workspace { table, waiting } = &mut *self.pieces.workspace;
            let spots = &mut waiting.spots[number..self.waiting];
            table.view().locate_again(self.text, spots);
        }
        Ok(())
    }
}

impl<L: LookUp> Sink for LookUps<'_, '_, '_, L> {
    type Error = EncodeError;

    #[expect(clippy::inline_always, reason = "compiled anew for each tier")]
    #[inline(always)]
    fn window(&mut self, window: &Window, place: usize, ends: u64) -> Result<(), EncodeError> {
        let Workspace { table, waiting } = &mut *self.pieces.workspace;
        let first = self.waiting;
        // The remainder is not needed; it tells the compiler so.
        waiting.windows[self.windows % WINDOWS] = Pending { place, ends, first };
        if let Some(spots) = waiting.spots[first..].first_chunk_mut() {
            self.waiting += self.tier.locate(&table.view(), window, place, ends, spots);
        }
        self.windows += 1;
        if self.windows == WINDOWS {
            self.look()?;
        }
        Ok(())
    }

    fn piece(&mut self, text: &[u8], piece: Range<usize>) -> Result<(), EncodeError> {
        self.look()?;
        self.pieces.piece(&text[piece])
    }

    fn checkpoint(&self) -> &dyn Checkpoint {
        self.pieces.checkpoint
    }
}
