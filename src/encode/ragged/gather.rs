//! The ids of a batch, and how the lists of several threads become one.

use std::sync::Mutex;

use crate::checkpoint::Checkpoint;
use crate::encode::batch;
use crate::error::EncodeError;
use crate::token::TokenId;

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
    pub(super) parts: Vec<Part>,
    pub(super) threads: usize,
}

/// What one share of the texts became.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// The ids; empty where they are only counted.
    pub(super) ids: Vec<TokenId>,
    /// How many ids there are.
    pub(super) count: usize,
    /// How many ids there are up to the end of each text that ends in this share.
    pub(super) ends: Vec<usize>,
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
