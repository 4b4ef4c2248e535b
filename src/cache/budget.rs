//! The budget of the process: how many bytes the tables of all caches take together, and may take.
//!
//! A cache asks where a table grows, never where it looks something up. What is refused is treated as the cache's own
//! limit is: the table stays as large as it is, or the piece is not learned.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::DEFAULT_LIMIT;
use crate::util::memory;

/// The budget that all caches of encoders share.
pub(crate) static PROCESS: Budget = Budget::with_limit(BY_PROCESSORS);

/// A limit that stands for that of [`default_limit`], which is found when something is taken.
const BY_PROCESSORS: usize = usize::MAX - 1;

/// The least default limit.
const LEAST_LIMIT: usize = 256 << 20;

/// As much as a full cache for each processor that the process may use, by its affinity and its control group: that many
/// calls run at once, and the caches of more threads than these would be larger than the processor's.
fn default_limit() -> usize {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    LEAST_LIMIT.max(DEFAULT_LIMIT.saturating_mul(processors))
}

/// Bytes that tables take together, and may take. After `fork`, the child has a copy of both, and of the tables.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: AtomicUsize,
    taken: AtomicUsize,
}

impl Budget {
    /// Creates one of which so many bytes may be taken.
    const fn with_limit(bytes: usize) -> Self {
        Self {
            limit: AtomicUsize::new(bytes),
            taken: AtomicUsize::new(0),
        }
    }

    /// Creates one of which everything may be taken.
    #[cfg(test)]
    pub(crate) const fn unlimited() -> Self {
        Self::with_limit(usize::MAX)
    }

    fn limit(&self) -> usize {
        match self.limit.load(Ordering::Relaxed) {
            BY_PROCESSORS => {
                let limit = default_limit();
                // Another thread may have set a limit meanwhile.
                let set = self.limit.compare_exchange(
                    BY_PROCESSORS,
                    limit,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                );
                set.map_or_else(|current| current, |_| limit)
            }
            limit => limit,
        }
    }

    /// Sets the limit in bytes. What was taken stays taken.
    pub(crate) fn set_limit(&self, bytes: usize) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// True if more is taken than may be, as the limit was lowered.
    pub(super) fn is_exceeded(&self) -> bool {
        self.taken.load(Ordering::Relaxed) > self.limit()
    }

    /// Takes bytes; returns false, and takes nothing, if there are fewer.
    fn take(&self, bytes: usize) -> bool {
        let limit = self.limit();
        let add = |taken: usize| taken.checked_add(bytes).filter(|&sum| sum <= limit);
        // Nothing else is published by these numbers, so that their order among other writes is of no account.
        self.taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add)
            .is_ok()
    }

    fn give_back(&self, bytes: usize) {
        let before = self.taken.fetch_sub(bytes, Ordering::Relaxed);
        debug_assert!(bytes <= before, "no more than was taken");
    }
}

/// The bytes that one table has taken; gives them back when it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    budget: &'static Budget,
    bytes: usize,
}

impl Share {
    /// Creates a share of nothing.
    pub(super) fn new(budget: &'static Budget) -> Self {
        Self { budget, bytes: 0 }
    }

    /// A share of nothing, of the same budget.
    pub(super) fn another(&self) -> Self {
        Self::new(self.budget)
    }

    /// Number of bytes that it has.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes bytes or gives some back, to have `bytes`; returns false, and changes nothing, if there are fewer.
    pub(super) fn resize(&mut self, bytes: usize) -> bool {
        if bytes <= self.bytes {
            self.budget.give_back(self.bytes - bytes);
        } else if !self.budget.take(bytes - self.bytes) {
            return false;
        }
        self.bytes = bytes;
        true
    }

    /// Reserves capacity for `additional` words, amortised, for a vector that is the only one of this share; returns
    /// false, and changes nothing, if the budget or the memory is short.
    pub(super) fn reserve(&mut self, words: &mut Vec<u32>, additional: usize) -> bool {
        const SIZE: usize = size_of::<u32>();
        let needed = words.len() + additional;
        if needed <= words.capacity() {
            return true;
        }
        let capacity = needed.max(2 * words.capacity());
        if !self.resize(SIZE * capacity) {
            return false;
        }
        let is_reserved = memory::try_reserve(words, capacity - words.len()).is_ok();
        // The vector may be a little larger where it is the first; what that takes more is not worth a refusal.
        self.resize(SIZE * words.capacity().min(capacity));
        is_reserved
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;
    use std::thread;

    use super::{Budget, Share};
    use crate::builtin::Builtin;
    use crate::cache::{DEFAULT_LIMIT, PieceCache};
    use crate::token::TokenId;

    /// Threads that take and give back at once never have more than the limit together, and nothing in the end.
    #[test]
    fn threads_share_a_budget() {
        const LIMIT: usize = 600;
        static BUDGET: Budget = Budget::unlimited();
        BUDGET.set_limit(LIMIT);
        let refusals: usize = thread::scope(|scope| {
            let works: Vec<_> = (0..4)
                .map(|number| {
                    scope.spawn(move || {
                        let (mut share, mut refusals) = (Share::new(&BUDGET), 0);
                        for round in 0..20_000 {
                            let bytes = round * (number + 7) % 700;
                            let before = share.bytes;
                            let is_resized = share.resize(bytes);
                            assert_eq!(share.bytes, if is_resized { bytes } else { before });
                            assert!(BUDGET.taken.load(Ordering::Relaxed) <= LIMIT);
                            refusals += usize::from(!is_resized);
                        }
                        refusals
                    })
                })
                .collect();
            works.into_iter().map(|work| work.join().unwrap_or(0)).sum()
        });
        assert!(refusals > 0);
        assert_eq!(BUDGET.taken.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_vector_takes_what_it_has_room_for() {
        static BUDGET: Budget = Budget::unlimited();
        BUDGET.set_limit(100 * size_of::<u32>());
        let (mut words, mut share) = (Vec::new(), Share::new(&BUDGET));
        let mut count = 0;
        while share.reserve(&mut words, 5) {
            words.extend([7; 5]);
            count += 5;
            assert_eq!(share.bytes, size_of::<u32>() * words.capacity());
        }
        assert_eq!(words, vec![7; count]);
        assert!((50..=100).contains(&count), "{count}");
        assert!(!BUDGET.is_exceeded());
        BUDGET.set_limit(100);
        assert!(BUDGET.is_exceeded());
        drop(share);
        assert!(!BUDGET.is_exceeded());
    }

    /// Caches of a budget take what their tables take, no more than the limit and the least tables; what they know is
    /// right, and what they took is given back.
    #[test]
    fn caches_share_a_budget() -> Result<(), Box<dyn std::error::Error>> {
        static BUDGET: Budget = Budget::unlimited();
        const LEAST: usize = 1 << 13;
        let vocabulary = Builtin::O200k.vocabulary()?;
        for limit in [0, 1 << 12, 1 << 16, 3 << 20, 20 << 20, usize::MAX] {
            BUDGET.set_limit(limit);
            let mut caches =
                [(); 3].map(|()| PieceCache::within(&BUDGET, &vocabulary, DEFAULT_LIMIT));
            let entry = |id: TokenId| {
                let number = id as usize;
                let lengths = [6, 14, 30, 60];
                let length = lengths[number % lengths.len()];
                let count = [1, 2, 20][number % 3];
                (format!("{number:*>length$}"), vec![id; count])
            };
            let mut known = 0;
            for number in 0..60_000 {
                let cache = &mut caches[number as usize % 7 % 3];
                let (piece, ids) = entry(number);
                cache.insert(piece.as_bytes(), &ids);
                let mut found = Vec::new();
                if cache.get(piece.as_bytes(), &mut found) {
                    assert_eq!(found, ids, "{piece}");
                    known += 1;
                }
            }
            let taken = BUDGET.taken.load(Ordering::Relaxed);
            let memory: usize = caches.iter().map(PieceCache::memory).sum();
            assert!(taken <= limit, "{taken} of {limit}");
            assert!(memory - taken <= 3 * LEAST, "{memory} {taken}");
            // Buckets hold what they have room for, whatever else is refused.
            assert!(known > 20_000, "{known} with {limit}");
            if limit == usize::MAX {
                assert_eq!(known, 60_000);
                // Lower than what is taken: nothing grows any more.
                BUDGET.set_limit(1 << 20);
                assert!(caches.iter().all(PieceCache::is_excessive));
                let empty = PieceCache::within(&BUDGET, &vocabulary, DEFAULT_LIMIT);
                assert!(!empty.is_excessive());
                for number in 60_000..120_000 {
                    let (piece, ids) = entry(number);
                    caches[0].insert(piece.as_bytes(), &ids);
                }
                assert!(BUDGET.taken.load(Ordering::Relaxed) <= taken);
            }
            drop(caches);
            assert_eq!(BUDGET.taken.load(Ordering::Relaxed), 0);
        }
        Ok(())
    }
}
