//! Pieces → ids: the loop that nearly all encoding time is spent in.
//!
//! ```text
//! for each window of the text:
//!     where its pieces end
//!     for each of these pieces:
//!         if its line in the table of pieces knows it: store its ids
//!         else: look elsewhere; the whole piece as a token, or its merges; store these and remember them
//! ```
//!
//! Lines of both usual widths are looked up in one way and answers stored whole, so that neither the length of a piece nor
//! the number of its ids is a branch. Finding the lines of all pieces of a window first and asking for their memory, to
//! look into them afterwards, took a fifth more instructions and was slower where the lines are in the caches, and no
//! faster where they are not.

use std::ops::Range;

use crate::checkpoint::Checkpoint;
use crate::error::EncodeError;
use crate::merge;
use crate::piece_table::{LONGEST_WHOLE, PieceTable, ROOM, Room, View};
use crate::split::masks::{WINDOW, Window};
use crate::split::native::{self, Sink};
use crate::split::pattern::Family;
use crate::tier::Tier;
use crate::token::TokenId;
use crate::vocabulary::Vocabulary;

/// Ids that are found before they are appended to those of the text. The processor waits for what was just stored when
/// that is copied: so they are not appended after each window.
const FOUND: usize = 1024;

/// So many may wait when a window comes. It adds at most one id a byte.
const MOST_FOUND: usize = FOUND - WINDOW;

/// What the loop works on besides the text; kept between calls, so that short texts need not prepare it.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) table: PieceTable,
    /// Ids that were found and are to be appended. The last answer is stored whole.
    found: Box<[TokenId; FOUND + ROOM]>,
}

impl Workspace {
    pub(super) fn new(table: PieceTable) -> Self {
        Self {
            table,
            found: Box::new([0; FOUND + ROOM]),
        }
    }
}

/// Encodes pieces, one after the other.
pub(super) struct Pieces<'a> {
    pub(super) vocabulary: &'a Vocabulary,
    pub(super) workspace: &'a mut Workspace,
    pub(super) ids: &'a mut Vec<TokenId>,
    pub(super) checkpoint: &'a dyn Checkpoint,
}

impl Pieces<'_> {
    /// Appends the ids of the pieces of `text` from `place` on, some KB at a time, and moves `place` past them.
    pub(super) fn encode(
        &mut self,
        family: Family,
        tier: Tier,
        text: &[u8],
        place: &mut usize,
    ) -> Result<(), EncodeError> {
        #[cfg(target_arch = "x86_64")]
        if tier == Tier::Avx2
            && let Some(result) = super::avx2::encode(self, family, text, place)
        {
            return result;
        }
        let mut sink = LookUps::new(self, |view, bytes, length, room| {
            view.get(bytes, length, room)
        });
        native::plainly(family, tier, text, place, &mut sink)?;
        sink.append();
        Ok(())
    }

    /// Appends the ids of a piece.
    #[inline(never)]
    pub(super) fn piece(&mut self, piece: &[u8]) -> Result<(), EncodeError> {
        if self.workspace.table.get(piece, self.ids) {
            return Ok(());
        }
        self.new_piece(piece)
    }

    /// Appends the ids of a piece that the table does not know, and remembers them.
    fn new_piece(&mut self, piece: &[u8]) -> Result<(), EncodeError> {
        let before = self.ids.len();
        merge::encode_piece(self.vocabulary, piece, self.ids, self.checkpoint)?;
        self.workspace.table.insert(piece, &self.ids[before..]);
        Ok(())
    }
}

/// The sink of [`Pieces`]. `get` is how the tier looks up: see [`View::get`].
pub(super) struct LookUps<'p, 'a, G> {
    pieces: &'p mut Pieces<'a>,
    get: G,
    /// How many ids were found and are not appended yet.
    found: usize,
}

impl<'p, 'a, G> LookUps<'p, 'a, G>
where
    G: Fn(&View<'_>, &[u8; LONGEST_WHOLE], usize, &mut Room) -> Option<usize>,
{
    pub(super) fn new(pieces: &'p mut Pieces<'a>, get: G) -> Self {
        let found = 0;
        Self { pieces, get, found }
    }

    /// Appends the ids that were found.
    pub(super) fn append(&mut self) {
        let found = &self.pieces.workspace.found[..self.found];
        self.pieces.ids.extend_from_slice(found);
        self.found = 0;
    }

    /// Finds the ids of a piece of a window that its line does not know.
    #[inline(never)]
    fn unknown(
        &mut self,
        window: &Window,
        piece: Range<usize>,
        keys: bool,
    ) -> Result<(), EncodeError> {
        let Workspace { table, found } = &mut *self.pieces.workspace;
        let bytes = window[piece.start & (WINDOW - 1)..].first_chunk();
        let room = found[self.found & (FOUND - 1)..].first_chunk_mut();
        if let (Some(bytes), Some(room), true) = (bytes, room, keys)
            && let Some(ids) = table.view().get_beyond(bytes, piece.len(), room)
        {
            self.found += ids;
            return Ok(());
        }
        let piece = &window[piece];
        self.append();
        if !keys {
            return self.pieces.piece(piece);
        }
        let Pieces { workspace, ids, .. } = &mut *self.pieces;
        if workspace.table.get_long(piece, ids) {
            return Ok(());
        }
        self.pieces.new_piece(piece)
    }
}

impl<G> Sink for LookUps<'_, '_, G>
where
    G: Fn(&View<'_>, &[u8; LONGEST_WHOLE], usize, &mut Room) -> Option<usize>,
{
    type Error = EncodeError;

    #[expect(clippy::inline_always, reason = "compiled anew for each tier")]
    #[inline(always)]
    fn window(&mut self, window: &Window, _: usize, mut ends: u64) -> Result<(), EncodeError> {
        // NUL fills keys up. No piece goes on behind the window.
        let bytes = window[..WINDOW].iter();
        let least = bytes.fold(u8::MAX, |least, &byte| least.min(byte));
        let keys = least != 0;
        if self.found > MOST_FOUND {
            self.append();
        }
        let mut start = 0;
        while ends != 0 {
            let Workspace { table, found } = &mut *self.pieces.workspace;
            let found = &mut **found;
            let view = table.view();
            let mut count = self.found;
            let mut unknown = 0..0;
            while ends != 0 {
                let end = ends.trailing_zeros() as usize;
                ends &= ends - 1;
                let piece = start..end;
                let length = end.wrapping_sub(start);
                start = end;
                // Neither place needs the remainder; it tells the compiler so.
                let bytes = window[piece.start & (WINDOW - 1)..].first_chunk();
                let room = found[count & (FOUND - 1)..].first_chunk_mut();
                if let (Some(bytes), Some(room), true) = (bytes, room, keys)
                    && let Some(ids) = (self.get)(&view, bytes, length, room)
                {
                    count += ids;
                } else {
                    unknown = piece;
                    break;
                }
            }
            self.found = count;
            if !unknown.is_empty() {
                self.unknown(window, unknown, keys)?;
            }
        }
        Ok(())
    }

    fn piece(&mut self, text: &[u8], piece: Range<usize>) -> Result<(), EncodeError> {
        self.append();
        self.pieces.piece(&text[piece])
    }

    #[expect(clippy::inline_always, reason = "compiled anew for each tier")]
    #[inline(always)]
    fn is_full(&self) -> bool {
        false
    }
}
