//! The ids of pieces that have more of them than the words of their key hold: their buckets refer to them.

use super::budget::Share;
use crate::token::TokenId;

/// Records of ids, one after the other.
#[derive(Debug)]
pub(super) struct Records {
    /// Of each record, the number of ids, and these.
    words: Vec<u32>,
    /// Their part of the budget.
    share: Share,
}

impl Records {
    /// Creates no records, which will take memory of `share`.
    pub(super) fn new(share: Share) -> Self {
        let words = Vec::new();
        Self { words, share }
    }

    /// Number of bytes they take.
    pub(super) fn memory(&self) -> usize {
        size_of::<u32>() * self.words.capacity()
    }

    /// Number of bytes that they have taken of the budget.
    pub(super) fn taken(&self) -> usize {
        self.share.bytes()
    }

    /// The ids of a record.
    #[inline]
    pub(super) fn get(&self, record: usize) -> &[TokenId] {
        let (&count, rest) = self.words[record..]
            .split_first()
            .expect("a bucket refers to a record");
        &rest[..count as usize]
    }

    /// Adds a record and returns where it is; `None` if all would take more than `max_memory` bytes, or memory or the
    /// budget is short.
    pub(super) fn add(&mut self, ids: &[TokenId], max_memory: usize) -> Option<usize> {
        let record = self.words.len();
        // Vectors double, so that twice their size is an upper bound.
        if 2 * size_of::<u32>() * (record + 1 + ids.len()) > max_memory {
            return None;
        }
        let count = u32::try_from(ids.len()).ok()?;
        if !self.share.reserve(&mut self.words, 1 + ids.len()) {
            return None;
        }
        self.words.push(count);
        self.words.extend_from_slice(ids);
        Some(record)
    }

    /// Drops all records.
    pub(super) fn clear(&mut self) {
        self.words.clear();
    }
}

#[cfg(test)]
mod tests {
    use crate::builtin::Builtin;
    use crate::cache::PieceCache;
    use crate::token::TokenId;

    /// When there is no room for another record, all are dropped with the entries that refer to them, and no others.
    #[test]
    fn entries_go_with_their_records() -> Result<(), Box<dyn std::error::Error>> {
        const LIMIT: usize = 1 << 20;
        for builtin in [Builtin::R50k, Builtin::O200k] {
            let mut cache = PieceCache::new(&*builtin.vocabulary()?, LIMIT);
            let long = |number: TokenId| (format!("{number:_>24}"), vec![number; 20]);
            let short = |number: TokenId| (format!("{number:->12}"), vec![number, 7]);
            let count = 2000;
            for number in 0..100 {
                let (piece, ids) = short(number);
                cache.insert(piece.as_bytes(), &ids);
            }
            let known = |cache: &PieceCache, (piece, ids): (String, Vec<TokenId>)| {
                let mut found = Vec::new();
                let is_known = cache.get(piece.as_bytes(), &mut found);
                assert!(!is_known || found == ids, "{piece}");
                is_known
            };
            let (mut drops, mut before) = (0, 0);
            for number in 0..count {
                let (piece, ids) = long(number);
                cache.insert(piece.as_bytes(), &ids);
                assert!(known(&cache, long(number)), "{number}");
                let after = (0..=number).filter(|&it| known(&cache, long(it))).count();
                drops += u32::from(after < before / 2);
                before = after;
                assert!(cache.records.memory() <= LIMIT / 8);
            }
            assert!(drops > 1, "{drops}");
            // Two of these may share a bucket, where one evicts the other.
            let kept = (0..100).filter(|&it| known(&cache, short(it))).count();
            assert!(kept > 90, "{kept}");
        }
        Ok(())
    }
}
