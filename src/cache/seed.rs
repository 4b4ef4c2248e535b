//! Seeding: what a cache knows from the start, the first tokens of its vocabulary that are pieces of their own bytes.
//!
//! Loading a vocabulary includes this, so that tokens are taken many at a time: first their buckets, without
//! a branch on their length, which no processor predicts; then, when these have been fetched, the entries.
//! Inserted as learned pieces are, 65,536 tokens took two to three times as long. They are looked up by index: an
//! iterator over those that are found by their bytes took 40 to 70 instructions a token, a quarter of all.

use std::ops::Range;

use super::key::{Key, MAX_KEY_LEN, MAX_ONE_WORD_LEN, MAX_SHORT_LEN};
use super::{PieceCache, Probe};
use crate::token::TokenId;
use crate::vocabulary::Vocabulary;

/// Number of tokens to seed, those of the lowest ids: half of the slots of 4 MiB. With 131,072, in 8 MiB,
/// first passes take up to a tenth less; but loading touches twice as much fresh memory, for which a system
/// that is short of it took 30 ms.
const SEEDED_TOKENS: usize = 78_000;

/// The numbers of buckets for these tokens, of short keys and of long ones, as powers of two: at most half of
/// the slots are taken then. When a few more are, buckets are doubled.
pub(super) fn buckets_log2(vocabulary: &Vocabulary) -> [u32; 2] {
    // Counts the tokens of at most each length without a branch.
    let lengths = vocabulary.lengths().take(SEEDED_TOKENS);
    let [one_word, short, all] = lengths.fold([0; 3], |counts, length| {
        let bounds = [MAX_ONE_WORD_LEN, MAX_SHORT_LEN, MAX_KEY_LEN];
        std::array::from_fn(|n| counts[n] + usize::from(length <= bounds[n]))
    });
    let buckets = [(one_word / 4).max((short - one_word) / 2), all - short];
    buckets.map(|buckets| (2 * buckets).next_power_of_two().ilog2())
}

/// Tokens that are seeded at a time.
const BATCH: usize = 64;

impl PieceCache {
    /// Adds the first tokens of `vocabulary`, as far as there is room.
    pub(super) fn seed(&mut self, vocabulary: &Vocabulary) {
        if !vocabulary.has_own_tokens() {
            return;
        }
        let mut left = SEEDED_TOKENS;
        for run in vocabulary.runs() {
            let run = run.start..run.end.min(run.start + left);
            left -= run.len();
            for start in run.clone().step_by(BATCH) {
                self.seed_batch(vocabulary, start..run.end.min(start + BATCH));
            }
        }
    }

    /// Adds the tokens of these indices, at most [`BATCH`].
    fn seed_batch(&mut self, vocabulary: &Vocabulary, indices: Range<usize>) {
        let bytes = vocabulary.all_bytes();
        // Keys are padded with NULs.
        let has_nul = |span: Range<usize>| memchr::memchr(0, &bytes[span]).is_some();
        let all = vocabulary.span(indices.start).start..vocabulary.span(indices.end - 1).end;
        let may_have_nul = all.len() > BATCH * MAX_KEY_LEN || has_nul(all);
        let (mut probes, mut count) = ([(Probe::NONE, 0); BATCH], 0);
        for index in indices {
            let Some((span, id)) = vocabulary.own_token(index) else {
                continue;
            };
            if may_have_nul && has_nul(span.clone()) {
                continue;
            }
            match bytes[span.start..].first_chunk() {
                Some(first) if span.len() <= MAX_SHORT_LEN => {
                    let probe = self.short_keys.view().probe_short(first, span.len());
                    probes[count] = (probe, id);
                    count += 1;
                }
                _ => self.seed_one(&bytes[span], id),
            }
        }
        self.seed_short(&probes[..count]);
    }

    /// Adds tokens with short keys.
    fn seed_short(&mut self, tokens: &[(Probe, TokenId)]) {
        for (probe, id) in tokens {
            if let Some([packed, ..]) = self.packing.pack(&[*id]) {
                self.short_keys
                    .add_short(probe.bucket as usize, probe.words, packed);
            }
        }
    }

    /// Adds a token with a long key, or one of the last, which have too few bytes after them for the usual
    /// way.
    fn seed_one(&mut self, token: &[u8], id: TokenId) {
        if let Some(key) = Key::of(token)
            && let Some(packed) = self.packing.pack(&[id])
        {
            self.buckets(key.width).add(&key, &packed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PieceCache, SEEDED_TOKENS};
    use crate::builtin::Builtin;
    use crate::cache::{DEFAULT_LIMIT, MAX_KEY_LEN};

    /// A new cache knows nearly all of the first tokens, except those without a key of their own, and no
    /// others.
    #[test]
    fn first_tokens_are_seeded() -> Result<(), Box<dyn std::error::Error>> {
        for builtin in Builtin::ALL {
            let vocabulary = builtin.vocabulary()?;
            for limit in [1 << 16, DEFAULT_LIMIT] {
                let cache = PieceCache::new(&vocabulary, limit);
                let (mut known, mut expected) = (0, 0);
                for (index, (span, id)) in vocabulary.spans().enumerate() {
                    let token = &vocabulary.all_bytes()[span];
                    let has_key = token.len() <= MAX_KEY_LEN && !token.contains(&0);
                    let mut ids = Vec::new();
                    if cache.get(token, &mut ids) {
                        assert!(has_key && index < SEEDED_TOKENS, "{token:?}");
                        assert_eq!(ids, [id]);
                        known += 1;
                    }
                    expected += usize::from(has_key && index < SEEDED_TOKENS);
                }
                // With a small limit, buckets are full.
                let least = match limit {
                    DEFAULT_LIMIT => expected / 100 * 99,
                    _ => 500,
                };
                assert!(known >= least, "{known} of {expected}");
                assert!(cache.memory() <= limit + (1 << 14), "{}", cache.memory());
            }
        }
        Ok(())
    }
}
