//! Pieces seen before → their ids: most pieces of a text are answered here, in one cache line.
//!
//! | bytes | a look-up reads | module |
//! |---|---|---|
//! | 1–16, 17–32 | one line of keys and answers | [`bucket`] |
//! | any other, to [`LONGEST`] | one bucket, then the record it points to, each asked for before | [`long`] |
//!
//! A key is the piece itself where that has at most 32 bytes: a hit is certain and costs no look at the text beyond the
//! key. The table starts with the first tokens of the vocabulary, grows while it learns, up to a limit, and then gives up
//! entries in turn: a hostile text can empty it of what is useful, but never make a look-up longer.
//!
//! [`Locate`] tells the lines that pieces belong to, [`LookUp`] answers from these, or the next; what is elsewhere,
//! [`PieceCache::get`] finds.
//!
//! The table belongs to one call at a time (see `Encoder`), so that nothing here is shared and nothing is locked.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
mod bucket;
#[cfg(test)]
mod hostile;
mod key;
mod long;
mod packed_ids;
mod probe;
mod seed;
#[cfg(all(test, target_arch = "x86_64"))]
mod tiers;

use bucket::Lines;
pub(crate) use bucket::{Line, View};
use key::{Key, LONGEST_WHOLE, Width};
use long::LongPieces;
use packed_ids::Packing;
pub(crate) use probe::{Locate, Located, LookUp, Plain, Spot, Spots};
use seed::lines_log2;

use crate::token::TokenId;
use crate::vocabulary::Vocabulary;

/// Longer pieces are not kept: they hardly ever come again.
pub(crate) const LONGEST: usize = 1024;

/// What a table takes at most if nobody says otherwise, in bytes.
pub(crate) const DEFAULT_LIMIT: usize = 64 << 20;

/// The tables by length.
#[derive(Debug)]
pub(crate) struct PieceCache {
    /// Short and wide lines.
    near: Lines,
    whole: Lines,
    long: LongPieces,
    packing: Packing,
    limit: usize,
}

impl PieceCache {
    /// A table that knows the first tokens of `vocabulary` and takes at most about `limit` bytes.
    pub(crate) fn new(vocabulary: &Vocabulary, limit: usize) -> Self {
        let [near, whole] = lines_log2(vocabulary);
        let mut table = Self {
            near: Lines::new(2, near, most_lines_log2(limit)),
            whole: Lines::new(1, whole, most_lines_log2(limit)),
            long: LongPieces::default(),
            packing: Packing::of(vocabulary),
            limit,
        };
        table.seed(vocabulary);
        table
    }

    /// How many bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        self.near.memory() + self.whole.memory() + self.long.memory()
    }

    /// Where pieces of at most [`LONGEST_WHOLE`] bytes are looked up.
    #[inline]
    pub(crate) fn view(&self) -> View<'_> {
        View {
            near: self.near.view(),
            whole: self.whole.view(),
            long: &self.long,
            packing: self.packing,
        }
    }

    fn lines(&mut self, width: Width) -> &mut Lines {
        match width {
            Width::Short | Width::Wide => &mut self.near,
            Width::Whole => &mut self.whole,
        }
    }

    /// Adds to `ids` those of a piece; false if nothing is known of it.
    pub(crate) fn get(&self, piece: &[u8], ids: &mut Vec<TokenId>) -> bool {
        if piece.len() > LONGEST {
            return false;
        }
        let key = Key::of(piece);
        let beyond = key.and_then(|key| key.beyond());
        let hash = long::hash(piece);
        let view = self.view();
        // All at once: most pieces that are not where they belong are nowhere.
        if let Some(beyond) = &beyond {
            view.of(beyond.width).prefetch(beyond);
        }
        self.long.prefetch(hash);
        for key in key.iter().chain(&beyond) {
            if let Some(answer) = view.of(key.width).get(key) {
                self.packing.append(&answer, ids);
                return true;
            }
        }
        self.get_long_by(hash, piece, ids)
    }

    /// Whether a piece belongs to no line for its length, but may be known.
    pub(crate) fn holds_elsewhere(piece: &[u8]) -> bool {
        (LONGEST_WHOLE + 1..=LONGEST).contains(&piece.len())
    }

    /// As [`get`](Self::get), for a piece at a spot where lines do not know it.
    pub(crate) fn get_long(&self, spot: &Spot, piece: &[u8], ids: &mut Vec<TokenId>) -> bool {
        if spot.line == Spot::ELSEWHERE && piece.len() <= LONGEST_WHOLE {
            // There was a NUL beside it.
            return self.get(piece, ids);
        }
        if piece.len() <= LONGEST_WHOLE && !self.long.has_shorter() {
            return false;
        }
        let hash = spot.hash().unwrap_or_else(|| long::hash(piece));
        self.get_long_by(hash, piece, ids)
    }

    #[inline]
    fn get_long_by(&self, hash: u64, piece: &[u8], ids: &mut Vec<TokenId>) -> bool {
        match self.long.get(hash, piece) {
            Some(known) => {
                ids.extend_from_slice(known);
                true
            }
            None => false,
        }
    }

    /// Remembers the ids of a piece. Answers whether lines were added, so that pieces have other spots.
    pub(crate) fn insert(&mut self, piece: &[u8], ids: &[TokenId]) -> bool {
        self.insert_by(Key::of(piece), piece, ids)
    }

    /// As [`insert`](Self::insert), for the piece of a spot.
    pub(crate) fn insert_at(&mut self, spot: &Spot, piece: &[u8], ids: &[TokenId]) -> bool {
        let key = spot.near_key().or_else(|| Key::of(piece));
        self.insert_by(key, piece, ids)
    }

    #[inline]
    fn insert_by(&mut self, key: Option<Key>, piece: &[u8], ids: &[TokenId]) -> bool {
        let before = self.near.memory() + self.whole.memory();
        if let Some(answer) = self.packing.pack(ids) {
            let beyond = key.and_then(|key| key.beyond());
            for key in key.iter().chain(&beyond) {
                let fits = ids.len() <= self.packing.most(key.width.numbers());
                if fits && self.lines(key.width).insert(key, &answer) {
                    return before != self.near.memory() + self.whole.memory();
                }
            }
        }
        if piece.len() <= LONGEST {
            self.long.insert(piece, ids, self.limit / 2);
        }
        before != self.near.memory() + self.whole.memory()
    }
}

/// The lines of each width may take an eighth of the limit, long pieces one half.
fn most_lines_log2(limit: usize) -> u32 {
    (limit / 8 / size_of::<Line>()).max(1).ilog2()
}
