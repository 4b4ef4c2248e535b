//! What a table knows from the start: the first tokens of its vocabulary.
//!
//! Loading a vocabulary waits for this, so that tokens are taken many at a time: first where each belongs, without a
//! branch for how long it is, which no processor foresees; then, when their lines are near, what is put there. As pieces that
//! are learned, 65,536 tokens took two to three times as long.

use std::ops::Range;

use super::key::{Key, LONGEST_SHORT, LONGEST_WHOLE, LONGEST_WIDE};
use super::{PieceCache, Spot};
use crate::token::TokenId;
use crate::vocabulary::Vocabulary;

/// So many tokens, those of the lowest ids, are known from the start: half of the places of 4 MiB. With 131,072, in 8 MiB, first
/// passes take up to a tenth less; but loading touches twice as much fresh memory, for which a system that is short of it took
/// 30 ms.
const SEEDED: usize = 78_000;

/// How many lines these tokens of a vocabulary shall have, near ones and whole ones, as powers of two: half of the places are
/// taken then, at most. When a few more are, lines are doubled.
pub(super) fn lines_log2(vocabulary: &Vocabulary) -> [u32; 2] {
    // How many of the tokens have at most so many bytes; without a branch for each.
    let places = vocabulary.places().take(SEEDED);
    let [short, near, all] = places.fold([0; 3], |counts, (place, _)| {
        let bounds = [LONGEST_SHORT, LONGEST_WIDE, LONGEST_WHOLE];
        std::array::from_fn(|n| counts[n] + usize::from(place.len() <= bounds[n]))
    });
    let lines = [(short / 4).max((near - short) / 2), all - near];
    lines.map(|lines| (2 * lines).next_power_of_two().ilog2())
}

/// Tokens that are looked up at once.
const SEEDS: usize = 64;

/// Where a token is, among the bytes of all, and its id.
type Seed = (Range<usize>, TokenId);

impl PieceCache {
    /// Adds the first tokens of `vocabulary`, as far as there is room.
    pub(super) fn seed(&mut self, vocabulary: &Vocabulary) {
        let bytes = vocabulary.all_bytes();
        let mut places = vocabulary.places().take(SEEDED);
        let mut seeds: Vec<Seed> = Vec::with_capacity(SEEDS);
        let mut spots: Vec<(Spot, TokenId)> = Vec::with_capacity(SEEDS);
        loop {
            seeds.extend(places.by_ref().take(SEEDS));
            let (Some((first, _)), Some((last, _))) = (seeds.first(), seeds.last()) else {
                break;
            };
            // NUL fills keys up, and the key of anything but UTF-8 might be that of another piece.
            let odd =
                |place: &Range<usize>| memchr::memchr2(0, 0xFF, &bytes[place.clone()]).is_some();
            let all = first.start..last.end;
            if all.len() > SEEDS * LONGEST_WHOLE || odd(&all) {
                seeds.retain(|(place, _)| place.len() <= LONGEST_WHOLE && !odd(place));
            }
            for (place, id) in seeds.drain(..) {
                match bytes.get(place.start..).and_then(<[u8]>::first_chunk) {
                    Some(first) if place.len() <= LONGEST_WIDE => {
                        spots.push((self.view().near_spot(first, place.len()), id));
                    }
                    _ => self.add(&bytes[place], id),
                }
            }
            for (spot, id) in spots.drain(..) {
                if let Some([answer, ..]) = self.packing.pack(&[id]) {
                    self.near.add_at(&spot, answer);
                }
            }
        }
    }

    /// Adds a token that belongs to a whole line, or is one of the last.
    fn add(&mut self, token: &[u8], id: TokenId) {
        if let Some(key) = Key::of(token)
            && let Some(answer) = self.packing.pack(&[id])
        {
            self.lines(key.width).add(&key, &answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PieceCache, SEEDED};
    use crate::builtin::Builtin;
    use crate::cache::{DEFAULT_LIMIT, LONGEST_WHOLE};

    /// Nearly all of the first tokens are known from the start, by their ids, but for those whose keys would not be their own;
    /// and no others.
    #[test]
    fn first_tokens_are_known() -> Result<(), Box<dyn std::error::Error>> {
        for builtin in Builtin::ALL {
            let vocabulary = builtin.vocabulary()?;
            for limit in [1 << 16, DEFAULT_LIMIT] {
                let table = PieceCache::new(&vocabulary, limit);
                let (mut known, mut expected) = (0, 0);
                for (number, (place, id)) in vocabulary.places().enumerate() {
                    let token = &vocabulary.all_bytes()[place];
                    let has_key = token.len() <= LONGEST_WHOLE
                        && !token.contains(&0)
                        && !token.contains(&0xFF);
                    let mut ids = Vec::new();
                    if table.get(token, &mut ids) {
                        assert!(has_key && number < SEEDED, "{token:?}");
                        assert_eq!(ids, [id]);
                        known += 1;
                    }
                    expected += usize::from(has_key && number < SEEDED);
                }
                // Where there is hardly room, lines are full.
                let least = match limit {
                    DEFAULT_LIMIT => expected / 100 * 99,
                    _ => 500,
                };
                assert!(known >= least, "{known} of {expected}");
                assert!(table.memory() <= limit + (1 << 14), "{}", table.memory());
            }
        }
        Ok(())
    }
}
