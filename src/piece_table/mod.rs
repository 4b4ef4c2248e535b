//! Pieces seen before → their ids: most pieces of a text are answered here, in one cache line.
//!
//! | bytes | a look-up reads | module |
//! |---|---|---|
//! | 1–8, 9–16 | one line of keys and answers | [`lines`] |
//! | any other, to [`LONGEST`] | one bucket, then the record it points to | [`long`] |
//!
//! A short key is the piece itself: a hit is certain and costs no look at the text beyond the key. The table starts with
//! the tokens of the vocabulary, grows while it learns, up to a limit, and then gives up entries in turn: a hostile text
//! can empty it of what is useful, but never make a look-up longer.
//!
//! Looking up is in two steps, so that memory can be asked for in between: where is the answer ([`View::find`]), and
//! what is it ([`View::get`]).
//!
//! The table belongs to one call at a time (see `Encoder`), so that nothing here is shared and nothing is locked.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
mod key;
mod lines;
mod long;

pub(crate) use key::LONGEST_WHOLE;
use lines::{ABSENT, Lines};
pub(crate) use lines::{Answer, Line, MOST_IDS, Spot, View, count};
use long::LongPieces;

use crate::token::TokenId;
use crate::vocabulary::Vocabulary;

/// Longer pieces are not kept: they hardly ever come again.
pub(crate) const LONGEST: usize = 256;

/// What a table takes at most if nobody says otherwise, in bytes.
pub(crate) const USUAL_LIMIT: usize = 64 << 20;

/// Tokens that are looked up at once.
const SEEDS: usize = 64;

/// The tables by length.
#[derive(Debug)]
pub(crate) struct PieceTable {
    lines: Lines,
    long: LongPieces,
    limit: usize,
}

impl PieceTable {
    /// A table that knows the tokens of `vocabulary` and takes at most about `limit` bytes.
    pub(crate) fn new(vocabulary: &Vocabulary, limit: usize) -> Self {
        let mut counts = [0_usize; 2];
        for (place, _) in vocabulary.places() {
            if place.len() <= LONGEST_WHOLE {
                counts[usize::from(place.len() > 8)] += 1;
            }
        }
        let most = most_lines_log2(limit);
        // Two thirds of the places are taken then, at most.
        let lines = (counts[0] / 4).max(counts[1] / 2) * 3 / 2;
        let lines_log2 = lines.next_power_of_two().ilog2().min(most);
        let mut table = Self {
            lines: Lines::new(lines_log2),
            long: LongPieces::default(),
            limit,
        };
        table.seed(vocabulary);
        table
    }

    /// Adds the tokens of `vocabulary`, lower ids first, as far as there is room.
    fn seed(&mut self, vocabulary: &Vocabulary) {
        let bytes = vocabulary.all_bytes();
        let mut places = vocabulary.places().filter(|(place, id)| {
            // The key of anything but UTF-8 might be that of another piece.
            place.len() <= LONGEST_WHOLE && *id < ABSENT && !bytes[place.clone()].contains(&0xFF)
        });
        let mut batch = Vec::with_capacity(SEEDS);
        loop {
            let view = self.view();
            batch.extend(places.by_ref().take(SEEDS).map(|(place, id)| {
                let spot = view.find(bytes, place.start, place.len());
                view.prefetch(&spot);
                (spot, id)
            }));
            if batch.is_empty() {
                break;
            }
            for (spot, id) in batch.drain(..) {
                self.lines.add(spot, &[id, ABSENT, ABSENT, ABSENT]);
            }
        }
    }

    /// How many bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        self.lines.memory() + self.long.memory()
    }

    /// Where short pieces are looked up.
    #[inline]
    pub(crate) fn view(&self) -> View<'_> {
        self.lines.view()
    }

    /// Where the ids of a piece are that has no place in the lines. Asks for that memory to be brought near.
    #[inline]
    pub(crate) fn find_long(&self, piece: &[u8]) -> u64 {
        let hash = key::hash(piece);
        self.long.prefetch_bucket(hash);
        hash
    }

    /// As [`find_long`](Self::find_long), for what that memory points to.
    #[inline]
    pub(crate) fn prefetch_long(&self, hash: u64) {
        self.long.prefetch_record(hash);
    }

    /// Adds to `ids` those of a piece that has no answer where `spot` is; false if nothing is known of it.
    pub(crate) fn elsewhere(&mut self, spot: Spot, piece: &[u8], ids: &mut Vec<TokenId>) -> bool {
        let lines = &mut self.lines;
        let spot = lines.view().renewed(spot);
        let mut answer = lines.near(spot);
        if answer.is_none() && piece.len() <= 8 {
            answer = lines.near(lines.view().beyond(spot));
        }
        if let Some(answer) = answer {
            ids.extend_from_slice(&answer[..count(&answer)]);
            return true;
        }
        if piece.len() > LONGEST {
            return false;
        }
        match self.long.get(key::hash(piece), piece) {
            Some(known) => {
                ids.extend_from_slice(known);
                true
            }
            None => false,
        }
    }

    /// Remembers the ids of the piece that belongs at `spot`.
    pub(crate) fn insert(&mut self, spot: Spot, piece: &[u8], ids: &[TokenId]) {
        let most = most_lines_log2(self.limit);
        let lines = &mut self.lines;
        let spot = lines.view().renewed(spot);
        let kept = lines.insert(spot, ids, most)
            || (piece.len() <= 8 && lines.insert(lines.view().beyond(spot), ids, most));
        if !kept && piece.len() <= LONGEST {
            let hash = key::hash(piece);
            self.long.insert(hash, piece, ids, self.limit / 4);
        }
    }
}

/// The lines of each width may take a quarter of the limit, and so may long pieces. The last quarter is for the moment
/// in which lines are doubled.
fn most_lines_log2(limit: usize) -> u32 {
    (limit / 4 / size_of::<Line>()).max(1).ilog2()
}
