//! Pieces → ids: the loop that nearly all encoding time is spent in.
//!
//! ```text
//! for some windows of the text:
//!     where their pieces end
//!     for each of these pieces:
//!         which line of the table of pieces it belongs to; ask for the memory of that
//! for those that belong to no line, as they are long: ask for the memory of their ids
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

use crate::cache::{Locate, Located, LookUp, PieceCache, Plain, Spots};
use crate::checkpoint::Checkpoint;
use crate::error::EncodeError;
use crate::merge;
use crate::split::native::{self, Sink};
use crate::split::pattern::Family;
use crate::token::TokenId;
use crate::util::block::{BLOCK_LEN, Block};
use crate::util::tier::Tier;
use crate::vocabulary::Vocabulary;

/// Windows whose pieces wait for their lines together: some hundred pieces, whose lines have time to come, and all fit into
/// the nearest cache.
const WINDOWS: usize = 16;

/// The most pieces whose records are asked for together.
const RECORDS: usize = 64;

/// What the loop works on besides the text; kept between calls, so that short texts need not prepare it.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) cache: PieceCache,
    waiting: Waiting,
}

impl Workspace {
    pub(super) fn new(cache: PieceCache) -> Self {
        let waiting = Waiting {
            spots: Spots::new(WINDOWS * BLOCK_LEN),
            hashed: [0; RECORDS],
        };
        Self { cache, waiting }
    }
}

/// Pieces whose ids are not looked up yet.
#[derive(Debug)]
struct Waiting {
    spots: Spots,
    /// The numbers of those with a hash.
    hashed: [usize; RECORDS],
}

/// What is done with the ids of cached pieces. Those of other pieces are appended in either case.
#[derive(Debug)]
pub(super) enum Mode {
    /// Appends them.
    Append,
    /// Only counts them: so many so far.
    Count(usize),
}

impl Mode {
    /// Counts from 0.
    pub(super) const COUNT: Self = Self::Count(0);
}

/// Encodes pieces, one after the other.
pub(super) struct PieceEncoder<'a> {
    pub(super) vocabulary: &'a Vocabulary,
    pub(super) workspace: &'a mut Workspace,
    pub(super) ids: &'a mut Vec<TokenId>,
    pub(super) checkpoint: &'a dyn Checkpoint,
    pub(super) mode: Mode,
}

impl PieceEncoder<'_> {
    /// Takes away all ids, and returns how many there were, with those that were only counted.
    pub(super) fn take_count(&mut self) -> usize {
        let mut count = self.ids.len();
        self.ids.clear();
        if let Mode::Count(cached) = &mut self.mode {
            count += std::mem::take(cached);
        }
        count
    }

    /// Appends the ids of the pieces of `text` from `place` on, or counts them, some KB at a time, and moves `place` past
    /// them.
    pub(super) fn encode_chunk(
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
        let mut sink = LookUps::new(self, text, Plain, Plain);
        native::split_into_scalar(family, tier, text, place, &mut sink)?;
        sink.look()
    }

    /// Appends the ids of a piece.
    #[inline(never)]
    pub(super) fn encode_piece(&mut self, piece: &[u8]) -> Result<(), EncodeError> {
        if self.workspace.cache.get(piece, self.ids) {
            return Ok(());
        }
        let before = self.ids.len();
        merge::encode_piece(self.vocabulary, piece, self.ids, self.checkpoint)?;
        self.workspace.cache.insert(piece, &self.ids[before..]);
        Ok(())
    }
}

/// The sink of [`PieceEncoder`].
pub(super) struct LookUps<'p, 'a, 't, C, L> {
    pieces: &'p mut PieceEncoder<'a>,
    text: &'t [u8],
    /// How pieces are located, and looked up.
    locate: C,
    look_up: L,
    /// How many windows and pieces wait, and how many of these have a hash and are listed.
    windows: usize,
    waiting: usize,
    hashed: usize,
}

impl<'p, 'a, 't, C: Locate, L: LookUp> LookUps<'p, 'a, 't, C, L> {
    pub(super) fn new(
        pieces: &'p mut PieceEncoder<'a>,
        text: &'t [u8],
        locate: C,
        look_up: L,
    ) -> Self {
        Self {
            pieces,
            text,
            locate,
            look_up,
            windows: 0,
            waiting: 0,
            hashed: 0,
        }
    }

    /// Appends the ids of the pieces that wait.
    #[inline(never)]
    pub(super) fn look(&mut self) -> Result<(), EncodeError> {
        let Workspace {
            cache: table,
            waiting,
        } = &*self.pieces.workspace;
        for &number in &waiting.hashed[..self.hashed] {
            table.view().prefetch_long(&waiting.spots.get(number));
        }
        let mut number = 0;
        while number < self.waiting {
            let Workspace {
                cache: table,
                waiting,
            } = &mut *self.pieces.workspace;
            let spots = waiting.spots.some(number..self.waiting);
            let view = table.view();
            number += match &mut self.pieces.mode {
                Mode::Append => self.look_up.look(&view, self.text, spots, self.pieces.ids),
                Mode::Count(counted) => {
                    let (known, ids) = self.look_up.count(&view, self.text, spots);
                    *counted += ids;
                    known
                }
            };
            if number < self.waiting {
                self.unknown(number)?;
                number += 1;
            }
        }
        (self.windows, self.waiting, self.hashed) = (0, 0, 0);
        Ok(())
    }

    /// Lists those pieces with a hash that wait from a number on, if they are not too many.
    #[cold]
    #[inline(never)]
    fn list_hashed(&mut self, from: usize) {
        let Waiting { spots, hashed } = &mut self.pieces.workspace.waiting;
        let mut places = hashed[self.hashed..].iter_mut();
        for number in from..self.waiting {
            if spots.get(number).hash().is_some()
                && let Some(place) = places.next()
            {
                *place = number;
                self.hashed += 1;
            }
        }
    }

    /// One window more waits.
    #[inline]
    fn wait(&mut self) -> Result<(), EncodeError> {
        self.windows += 1;
        if self.windows == WINDOWS {
            self.look()?;
        }
        Ok(())
    }

    /// Appends the ids of a piece that no line knows.
    #[inline(never)]
    fn unknown(&mut self, number: usize) -> Result<(), EncodeError> {
        let Workspace {
            cache: table,
            waiting,
        } = &mut *self.pieces.workspace;
        let (spot, mut room) = (waiting.spots.get(number), Default::default());
        let piece = spot.piece(self.text, &mut room);
        let ids = &mut *self.pieces.ids;
        if table.get_long(&spot, piece, ids) {
            return Ok(());
        }
        let before = ids.len();
        merge::encode_piece(self.pieces.vocabulary, piece, ids, self.pieces.checkpoint)?;
        if table.insert_at(&spot, piece, &ids[before..]) {
            let rest = number..self.waiting;
            table
                .view()
                .locate_again(self.text, &mut waiting.spots, rest);
        }
        Ok(())
    }
}

impl<C: Locate, L: LookUp> Sink for LookUps<'_, '_, '_, C, L> {
    type Error = EncodeError;

    #[expect(clippy::inline_always, reason = "compiled anew for each tier")]
    #[inline(always)]
    fn block(&mut self, window: &Block, place: usize, ends: u64) -> Result<(), EncodeError> {
        let Workspace {
            cache: table,
            waiting,
        } = &mut *self.pieces.workspace;
        let first = self.waiting;
        if let Some(spots) = waiting.spots.of_window(first) {
            let view = table.view();
            let Located { count, hashed } = self.locate.locate(&view, window, place, ends, spots);
            self.waiting += count;
            if hashed {
                self.list_hashed(first);
            }
        }
        self.wait()
    }

    fn piece(&mut self, text: &[u8], piece: Range<usize>) -> Result<(), EncodeError> {
        let Workspace {
            cache: table,
            waiting,
        } = &mut *self.pieces.workspace;
        let (first, place) = (self.waiting, piece.start);
        let piece = &text[piece];
        if !PieceCache::holds_elsewhere(piece) {
            self.look()?;
            return self.pieces.encode_piece(piece);
        }
        // As if it were a window of its own.
        let spot = table.view().elsewhere(piece, place);
        waiting.spots.set(first, spot);
        self.waiting += 1;
        self.list_hashed(first);
        self.wait()
    }

    fn checkpoint(&self) -> &dyn Checkpoint {
        self.pieces.checkpoint
    }
}
