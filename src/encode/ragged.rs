//! Many texts → one flat list of ids and where each text ends in it, on several threads.
//!
//! ```text
//! plan      the texts, end to end, cut into shares of about one size, each for one thread at a time
//! encode    share after share, in order, by whichever thread is free, each into a list of its own
//! gather    these lists into one, again by all threads: so they share the page faults and the copying, too
//! ```
//!
//! With one thread there is one share, and nothing to gather. A long text is cut where a piece starts whatever stands
//! around it, so that several threads can work on it.

use std::ops::{Range, RangeInclusive};
use std::sync::Mutex;

use super::pieces::Workspace;
use super::special::{Allowed, Policy};
use super::{Encoder, batch};
use crate::checkpoint::Checkpoint;
use crate::error::EncodeError;
use crate::token::TokenId;

/// A share has about so many bytes: enough that handing it out costs nothing, few enough that no thread waits long
/// for the last one.
const SHARE_BYTES: RangeInclusive<usize> = (1 << 16)..=(1 << 17);

/// Shares a thread, if that makes them neither too small nor too large.
const SHARES: usize = 8;

/// How a batch is encoded: the same for all of its texts.
#[derive(Clone, Debug)]
pub struct Batch {
    /// What becomes of special tokens.
    pub policy: Policy,
    /// Ids before those of each text.
    pub prepend: Vec<TokenId>,
    /// Ids after those of each text.
    pub append: Vec<TokenId>,
    /// The most threads that may work.
    pub threads: usize,
}

impl Batch {
    /// Nothing before or after the texts.
    pub fn new(policy: Policy, threads: usize) -> Self {
        Self {
            policy,
            prepend: Vec::new(),
            append: Vec::new(),
            threads,
        }
    }
}

/// An integer type that ids are stored in.
pub trait Integer: Copy + Send {
    /// `id` in this type; the caller sees to it that every id of the vocabulary fits.
    fn from_id(id: TokenId) -> Self;
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl Integer for $integer {
            #[allow(
                clippy::allow_attributes,
                clippy::cast_possible_truncation,
                clippy::cast_possible_wrap,
                clippy::cast_lossless,
                trivial_numeric_casts,
                reason = "ids fit, as the trait demands"
            )]
            fn from_id(id: TokenId) -> Self {
                id as Self
            }
        }
    )*};
}

integers!(u8 u16 i16 u32 i32 u64 i64);

/// The ids of a batch, share by share.
#[derive(Debug)]
pub struct Shares {
    parts: Vec<Part>,
    threads: usize,
}

/// What one share of the texts became.
#[derive(Debug, Default)]
struct Part {
    /// The ids; empty where they are only counted.
    ids: Vec<TokenId>,
    /// How many ids there are.
    count: usize,
    /// How many ids there are up to the end of each text that ends in this share.
    ends: Vec<usize>,
}

/// Texts `first..=last`, but of the first only what follows byte `from`, and of the last only what comes before byte `to`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    first: usize,
    from: usize,
    last: usize,
    to: usize,
}

impl Encoder {
    /// The ids of all `texts`.
    ///
    /// # Errors
    /// [`EncodeError`]: that of the first text that fails.
    ///
    /// # Complexity
    /// As [`encode`](Self::encode) for each text, divided by the threads; memory 4 bytes an id, twice as much while
    /// the shares are gathered.
    pub fn encode_batch(
        &self,
        texts: &[impl AsRef<str> + Sync],
        batch: &Batch,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Shares, EncodeError> {
        let allowed = &batch.policy.allowed;
        self.in_shares(
            texts,
            allowed,
            batch.threads,
            checkpoint,
            |workspace, share| {
                let mut part = Part::default();
                let ids = &mut part.ids;
                for (text, stretch) in share.stretches(texts) {
                    if stretch.start == 0 {
                        self.special_tokens.refuse(text, &batch.policy.disallowed)?;
                        ids.extend_from_slice(&batch.prepend);
                    }
                    let whole = stretch.end == text.len();
                    self.encode_with(workspace, &text[stretch], allowed, ids, checkpoint)?;
                    if whole {
                        ids.extend_from_slice(&batch.append);
                        part.ends.push(ids.len());
                    }
                }
                part.count = ids.len();
                Ok(part)
            },
        )
    }

    /// How many ids each of the `texts` becomes, special tokens being ordinary text, as `offsets` of ids not kept.
    ///
    /// # Errors
    /// [`EncodeError`]: that of the first text that fails.
    ///
    /// # Complexity
    /// As [`count`](Self::count) for each text, divided by the threads.
    pub fn count_batch(
        &self,
        texts: &[impl AsRef<str> + Sync],
        threads: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Shares, EncodeError> {
        self.in_shares(
            texts,
            &Allowed::Nothing,
            threads,
            checkpoint,
            |workspace, share| {
                let mut part = Part::default();
                for (text, stretch) in share.stretches(texts) {
                    let whole = stretch.end == text.len();
                    part.count += self.count_with(workspace, &text[stretch], checkpoint)?;
                    if whole {
                        part.ends.push(part.count);
                    }
                }
                Ok(part)
            },
        )
    }

    fn in_shares(
        &self,
        texts: &[impl AsRef<str> + Sync],
        allowed: &Allowed,
        threads: usize,
        checkpoint: &dyn Checkpoint,
        work: impl Fn(&mut Workspace, &Share) -> Result<Part, EncodeError> + Sync,
    ) -> Result<Shares, EncodeError> {
        let shares = plan(texts, threads, |text, near| {
            // A special token that is to be found may lie across a cut.
            let ordinary = *allowed == Allowed::Nothing;
            ordinary.then(|| self.splitter.cut(text, near)).flatten()
        });
        let take = || self.idle.take(&self.vocabulary);
        let give_back = |workspace| self.idle.give_back(workspace);
        let work = |workspace: &mut Box<Workspace>, share: &Share| work(workspace, share);
        let parts = batch::map_with(&shares, threads, checkpoint, take, give_back, work)?;
        Ok(Shares { parts, threads })
    }
}

impl Share {
    /// Each text of the share: the whole of it, and which bytes of it are in the share.
    fn stretches<'t>(
        &self,
        texts: &'t [impl AsRef<str>],
    ) -> impl Iterator<Item = (&'t str, Range<usize>)> {
        self.numbered_stretches(texts).map(|(_, stretch)| stretch)
    }

    /// As [`stretches`](Self::stretches), after the number of the text.
    pub(crate) fn numbered_stretches<'t>(
        &self,
        texts: &'t [impl AsRef<str>],
    ) -> impl Iterator<Item = (usize, (&'t str, Range<usize>))> {
        let share = *self;
        (share.first..=share.last).map(move |number| {
            let text = texts[number].as_ref();
            let start = if number == share.first { share.from } else { 0 };
            let end = if number == share.last {
                share.to
            } else {
                text.len()
            };
            (number, (text, start..end))
        })
    }
}

/// Cuts `texts` into shares for so many threads. A text is cut only where `cut` says: it takes a text and the place
/// after which it is to be cut, and answers a place that changes no ids, if it finds one near.
pub(crate) fn plan(
    texts: &[impl AsRef<str>],
    threads: usize,
    cut: impl Fn(&str, usize) -> Option<usize>,
) -> Vec<Share> {
    // A text costs something even if it is empty.
    const TEXT: usize = 32;
    let size: usize = texts.iter().map(|text| text.as_ref().len() + TEXT).sum();
    let wanted = (size / threads.max(1).saturating_mul(SHARES))
        .clamp(*SHARE_BYTES.start(), *SHARE_BYTES.end());
    let wanted = if threads <= 1 { usize::MAX } else { wanted };

    let mut shares = Vec::new();
    let (mut first, mut from, mut room) = (0, 0, wanted);
    for (number, text) in texts.iter().enumerate() {
        let text = text.as_ref();
        let mut start = 0;
        let mut near = room;
        while near < text.len() {
            if let Some(to) = cut(text, near).filter(|&cut| cut < text.len()) {
                let last = number;
                shares.push(Share {
                    first,
                    from,
                    last,
                    to,
                });
                (first, from, room, start) = (number, to, wanted, to);
            }
            near = start.max(near).saturating_add(wanted);
        }
        room = room.saturating_sub(text.len() - start + TEXT);
        if room == 0 || number + 1 == texts.len() {
            let (last, to) = (number, text.len());
            shares.push(Share {
                first,
                from,
                last,
                to,
            });
            (first, from, room) = (number + 1, 0, wanted);
        }
    }
    shares
}

impl Shares {
    /// How many ids there are.
    pub fn count(&self) -> usize {
        self.parts.iter().map(|part| part.count).sum()
    }

    /// Where the ids of each text end, after a 0: those of text i are `offsets[i]..offsets[i + 1]`.
    pub fn offsets(&self) -> Vec<usize> {
        let texts: usize = self.parts.iter().map(|part| part.ends.len()).sum();
        let mut offsets = Vec::with_capacity(texts + 1);
        offsets.push(0);
        let mut before = 0;
        for part in &self.parts {
            offsets.extend(part.ends.iter().map(|end| before + end));
            before += part.count;
        }
        offsets
    }

    /// The ids as they are, if they are in one list already.
    ///
    /// # Errors
    /// The shares, if there are several to be [gathered](Self::gather).
    pub fn into_single(mut self) -> Result<Vec<TokenId>, Self> {
        match self.parts.pop() {
            Some(part) if self.parts.is_empty() => Ok(part.ids),
            None => Ok(Vec::new()),
            Some(part) => {
                self.parts.push(part);
                Err(self)
            }
        }
    }

    /// The ids in one list.
    ///
    /// # Errors
    /// [`EncodeError::Interrupted`] if `checkpoint` says so.
    pub fn into_ids(self, checkpoint: &dyn Checkpoint) -> Result<Vec<TokenId>, EncodeError> {
        self.into_single().or_else(|shares| {
            let mut ids = vec![0; shares.count()];
            shares.gather(&mut ids, checkpoint)?;
            Ok(ids)
        })
    }

    /// Stores the ids at the start of `place`.
    ///
    /// # Errors
    /// [`EncodeError::Interrupted`] if `checkpoint` says so.
    ///
    /// # Panics
    /// If `place` has less room than [`count`](Self::count).
    pub fn gather<T: Integer>(
        self,
        place: &mut [T],
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), EncodeError> {
        let mut rest = place;
        let mut moves = Vec::with_capacity(self.parts.len());
        for part in self.parts {
            let (room, after) = rest.split_at_mut(part.ids.len());
            moves.push(Mutex::new((part.ids, room)));
            rest = after;
        }
        batch::map(&moves, self.threads, checkpoint, |job| {
            // Each is moved once, by one thread, which also frees the list.
            if let Ok(mut job) = job.lock() {
                let (ids, room) = &mut *job;
                for (place, id) in room.iter_mut().zip(std::mem::take(ids)) {
                    *place = T::from_id(id);
                }
            }
            Ok(())
        })
        .map(|_: Vec<()>| ())
    }
}

#[cfg(test)]
mod tests {
    use super::{SHARE_BYTES, plan};

    /// Shares are all of the texts in order, whether or not texts may be cut, and of about the size wanted if they may.
    #[test]
    fn shares_are_all_of_the_texts() {
        let long = "some words ".repeat(100_000);
        let batches: [&[&str]; 6] = [
            &[],
            &[""],
            &["", "a", "", "b", ""],
            &[&long],
            &["x", &long, "", &long, &long, "y"],
            &[&long[..70_000]; 50],
        ];
        let cut_after = |what: &str, text: &str, near: usize| match what {
            "nothing" => None,
            "the text" => Some(text.len()),
            // Now and then there is no place.
            _ if near.is_multiple_of(7) => None,
            _ => Some(near + text.get(near..)?.find(what)?),
        };
        for (texts, threads) in batches
            .iter()
            .flat_map(|texts| [1, 2, 3, 100].map(|n| (*texts, n)))
        {
            for what in ["nothing", "the text", " "] {
                let shares = plan(texts, threads, |text, near| cut_after(what, text, near));
                let stretches = || shares.iter().flat_map(|share| share.stretches(texts));
                let joined: String = stretches().map(|(text, part)| &text[part]).collect();
                assert_eq!(joined, texts.concat());
                let starts = stretches().filter(|(_, part)| part.start == 0).count();
                let ends = stretches().filter(|(text, part)| part.end == text.len());
                assert_eq!((starts, ends.count()), (texts.len(), texts.len()));
                assert!(threads > 1 || shares.len() <= 1);
                if what == " " {
                    let most = 4 * SHARE_BYTES.end();
                    let size = |share: &super::Share| {
                        share
                            .stretches(texts)
                            .map(|(_, part)| part.len())
                            .sum::<usize>()
                    };
                    assert!(threads == 1 || shares.iter().all(|share| size(share) <= most));
                }
            }
        }
    }
}
