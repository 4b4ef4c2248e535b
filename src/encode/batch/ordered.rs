//! Outputs of work items, put in order while other items are still encoded.
//!
//! The thread that finishes the next item, in order, appends its ids to those of the batch, out of the caches
//! that they were just written to; outputs that are finished earlier are kept until their turn. So memory for
//! all ids is touched once. To gather all lists at the end, on all threads, cost as many page faults again:
//! two threads encoded a tenth to a quarter less in the same time (762, 709 and 372 MB/s became 684, 543 and
//! 341).

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::error::OutOfMemory;
use crate::token::TokenId;
use crate::util::memory;

/// An integer type for ids.
pub trait Integer: Copy + Send + Sync {
    /// Converts an id. The caller ensures that every id of the vocabulary fits.
    fn from_id(id: TokenId) -> Self;

    /// Converts all ids, without copying where the type is the same.
    fn from_ids(ids: Vec<TokenId>) -> Vec<Self> {
        let ids = ids.into_iter().map(Self::from_id);
        if size_of::<Self>() > size_of::<TokenId>() {
            return memory::collect(ids);
        }
        // In the memory of the ids, as the standard library does it.
        ids.collect()
    }
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

/// The ids of many texts, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ragged<T> {
    /// All ids.
    pub ids: Vec<T>,
    /// Index where the ids of each text end, after a 0: those of text i are `ids[offsets[i]..offsets[i +
    /// 1]]`.
    pub offsets: Vec<usize>,
}

/// The output of one work item.
#[derive(Debug, Default)]
pub(super) struct WorkOutput {
    /// The ids; empty where they are only counted.
    pub(super) ids: Vec<TokenId>,
    /// Number of ids.
    pub(super) count: usize,
    /// Number of ids up to the end of each text that ends in this item.
    pub(super) ends: Vec<usize>,
}

impl WorkOutput {
    fn clear(&mut self) {
        self.ids.clear();
        self.count = 0;
        self.ends.clear();
    }
}

/// Takes outputs in any order and appends them in that of their items.
#[derive(Debug)]
pub(super) struct OrderedOutput<T>(Mutex<State<T>>);

#[derive(Debug)]
struct State<T> {
    /// Number of work items.
    items: usize,
    /// Index of the item to append next.
    next: usize,
    /// Number of ids of the items before.
    count: usize,
    ragged: Ragged<T>,
    /// Outputs of later items that are finished.
    pending: BTreeMap<usize, WorkOutput>,
    /// Empty outputs, whose memory is used again.
    spare: Vec<WorkOutput>,
}

impl<T: Integer> OrderedOutput<T> {
    /// Creates the output of `items` work items that consist of `texts` texts.
    pub(super) fn new(items: usize, texts: usize) -> Self {
        let mut offsets = memory::vec_with_capacity(texts + 1);
        offsets.push(0);
        Self(Mutex::new(State {
            items,
            next: 0,
            count: 0,
            ragged: Ragged {
                ids: Vec::new(),
                offsets,
            },
            pending: BTreeMap::new(),
            spare: Vec::new(),
        }))
    }

    /// Takes the output of the item `index`, and leaves an empty one.
    pub(super) fn put(&self, index: usize, output: &mut WorkOutput) -> Result<(), OutOfMemory> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if index != state.next {
            let empty = state.spare.pop().unwrap_or_default();
            let before = state
                .pending
                .insert(index, std::mem::replace(output, empty));
            assert!(before.is_none(), "an item is put once");
            return Ok(());
        }
        state.append(output)?;
        let mut next = index + 1;
        while let Some(mut output) = state.pending.remove(&next) {
            state.append(&mut output)?;
            state.spare.push(output);
            next += 1;
        }
        state.next = next;
        Ok(())
    }

    /// Returns all ids, once every item has been put.
    pub(super) fn finish(self) -> Ragged<T> {
        let state = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(state.next, state.items, "every item has been put");
        let mut ragged = state.ragged;
        memory::trim_excess(&mut ragged.ids);
        ragged
    }
}

impl<T: Integer> State<T> {
    fn append(&mut self, output: &mut WorkOutput) -> Result<(), OutOfMemory> {
        let Ragged { ids, offsets } = &mut self.ragged;
        offsets.extend(output.ends.iter().map(|end| self.count + end));
        self.count += output.count;
        if self.items == 1 {
            *ids = T::from_ids(std::mem::take(&mut output.ids));
        } else {
            if ids.capacity() == 0 {
                // Items have similar sizes, so that this is mostly all the memory that is needed.
                let expected = output.ids.len().saturating_mul(self.items);
                *ids = memory::try_vec_with_capacity(expected.saturating_add(expected / 8))?;
            }
            memory::try_reserve(ids, output.ids.len())?;
            ids.extend(output.ids.iter().map(|&id| T::from_id(id)));
        }
        output.clear();
        Ok(())
    }
}
