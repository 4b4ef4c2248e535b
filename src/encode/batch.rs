//! Many texts → one flat list of ids with the offset of each text's ids, on several threads.
//!
//! ```text
//! partition   the texts into work items of similar size
//! encode      items in order, each on the next free thread, into a list of its own
//! ordered     the list of the next item, in order, is appended to the batch
//! ```
//!
//! With one thread there is one work item, whose list becomes that of the batch. A long text is divided at
//! cuts, so that several threads can encode it.
//!
//! The thread that finishes the next item, in order, appends its ids to those of the batch, out of the caches
//! that they were just written to; outputs that are finished earlier are kept until their turn. So memory for
//! all ids is touched once. To gather all lists at the end, on all threads, cost as many page faults again:
//! two threads encoded a tenth to a quarter less in the same time (762, 709 and 372 MB/s became 684, 543 and
//! 341).

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::hot_loop::Workspace;
use super::special::{Disallowed, Policy, SpecialTokens};
use super::{BYTES_PER_ID, Encoder, LONG_TEXT, Passage, SAMPLE, reserve_ids};
use crate::error::{EncodeError, OutOfMemory};
use crate::token::TokenId;
use crate::util::memory::Growable;
use crate::util::parallel::{WorkItem, partition};
use crate::util::text::Text;
use crate::util::{memory, parallel};

/// How to encode a batch: the same for all of its texts.
#[derive(Clone, Debug)]
pub struct Batch {
    /// How special tokens are treated.
    pub policy: Policy,
    /// Ids before those of each text.
    pub prepend: Vec<TokenId>,
    /// Ids after those of each text.
    pub append: Vec<TokenId>,
    /// The most ids of each text, the first; without a limit if there is none.
    pub most: Option<usize>,
    /// Maximum number of threads.
    pub threads: usize,
}

impl Batch {
    /// Adds no ids before or after the texts.
    pub fn new(policy: Policy, threads: usize) -> Self {
        Self {
            policy,
            prepend: Vec::new(),
            append: Vec::new(),
            most: None,
            threads,
        }
    }

    /// Adds ids before and after those of each text.
    #[must_use]
    pub fn between(self, prepend: Vec<TokenId>, append: Vec<TokenId>) -> Self {
        Self {
            prepend,
            append,
            ..self
        }
    }
}

/// State of one thread.
struct Worker {
    workspace: Box<Workspace>,
    /// The output of its work item so far.
    output: WorkOutput,
    /// Buffer for texts that are transcoded.
    transcoded: String,
}

impl Encoder {
    /// Encodes all `texts`. Those that are not UTF-8 are encoded as by [`encode_bytes`](Self::encode_bytes):
    /// without a pipeline, special tokens are found before the first invalid byte only.
    ///
    /// # Errors
    /// [`EncodeError`]: that of the first text that fails.
    ///
    /// # Complexity
    /// As [`encode`](Self::encode) for each text, divided by the threads.
    pub fn encode_batch<T: Integer>(
        &self,
        texts: &[impl Text + Sync],
        batch: &Batch,
    ) -> Result<Ragged<T>, EncodeError> {
        // Of a part of a text, nothing says how many ids stand before it.
        let is_divided = batch.most.is_none();
        self.map_work_items(texts, is_divided, batch.threads, |worker, item| {
            let bytes: usize = item.spans(texts).map(|(_, span)| span.len()).sum();
            if worker.output.ids.capacity() == 0 {
                worker.output.ids = memory::try_vec_with_capacity(bytes / BYTES_PER_ID)?;
            }
            let (mut done, mut will_sample) = (0, bytes >= LONG_TEXT);
            for (text, span) in item.spans(texts) {
                done += span.len();
                self.encode_text_span(worker, text, span, batch)?;
                if will_sample && done < bytes && done >= bytes / SAMPLE {
                    will_sample = false;
                    reserve_ids(&mut worker.output.ids, 0, done, bytes);
                }
            }
            worker.output.count = worker.output.ids.len();
            Ok(())
        })
    }

    /// Appends the ids of a span of a text to the output, and the ids around those of the text where it
    /// starts and ends.
    fn encode_text_span(
        &self,
        worker: &mut Worker,
        text: &impl Text,
        span: Range<usize>,
        batch: &Batch,
    ) -> Result<(), EncodeError> {
        let Worker {
            workspace,
            output,
            transcoded,
        } = worker;
        let ids = &mut output.ids;
        let Policy {
            allowed,
            disallowed,
        } = &batch.policy;
        let transcoded = text.transcode(transcoded)?;
        // Unlike the ids of a text, those around it may be many more than its bytes.
        memory::try_reserve(ids, batch.prepend.len() + batch.append.len())?;
        let (is_start, is_end) = (span.start == 0, span.end == text.len());
        if is_start {
            refuse(text, transcoded, &self.special_tokens, disallowed)?;
            ids.extend_from_slice(&batch.prepend);
        }
        let (first, most) = (ids.len(), batch.most.unwrap_or(usize::MAX));
        if let Some(text) = transcoded.or_else(|| text.utf8(span)) {
            let passage = Passage::part(text, is_start);
            self.append(workspace, passage, allowed, ids, most)?;
        } else {
            debug_assert!(is_start && is_end, "only UTF-8 is divided");
            self.encode_not_utf8(workspace, text.bytes(), allowed, ids)?;
        }
        ids.truncate(first.saturating_add(most));
        if is_end {
            ids.extend_from_slice(&batch.append);
            output.ends.with_room(1).push(ids.len());
        }
        Ok(())
    }

    /// Returns offsets as [`encode_batch`](Self::encode_batch) does, without storing ids: how many ids each
    /// of the `texts` becomes.
    ///
    /// # Errors
    /// [`EncodeError`]: that of the first text that fails.
    ///
    /// # Complexity
    /// As [`count`](Self::count) for each text, divided by the threads.
    pub fn count_batch(
        &self,
        texts: &[impl Text + Sync],
        policy: &Policy,
        threads: usize,
    ) -> Result<Vec<usize>, EncodeError> {
        let Policy {
            allowed,
            disallowed,
        } = policy;
        let counted: Ragged<TokenId> =
            self.map_work_items(texts, true, threads, |worker, item| {
                let Worker {
                    workspace,
                    output,
                    transcoded,
                } = worker;
                for (text, span) in item.spans(texts) {
                    let (is_start, is_end) = (span.start == 0, span.end == text.len());
                    let transcoded = text.transcode(transcoded)?;
                    if is_start {
                        refuse(text, transcoded, &self.special_tokens, disallowed)?;
                    }
                    output.count += if let Some(text) = transcoded.or_else(|| text.utf8(span)) {
                        let passage = Passage::part(text, is_start);
                        self.count_while(workspace, passage, allowed, |_| true)?
                    } else {
                        let (bytes, mut ids) = (text.bytes(), Vec::new());
                        self.encode_not_utf8(workspace, bytes, allowed, &mut ids)?;
                        ids.len()
                    };
                    if is_end {
                        output.ends.with_room(1).push(output.count);
                    }
                }
                Ok(())
            })?;
        Ok(counted.offsets)
    }

    /// Partitions `texts` and runs `work` for each work item; returns their outputs in order. Long texts are divided if
    /// they may be.
    fn map_work_items<T: Integer>(
        &self,
        texts: &[impl Text + Sync],
        is_divided: bool,
        threads: usize,
        work: impl Fn(&mut Worker, &WorkItem) -> Result<(), EncodeError> + Sync,
    ) -> Result<Ragged<T>, EncodeError> {
        let cut = is_divided.then_some(|text: &str, from| self.cut(text, from));
        let items = partition(texts, threads, cut.as_ref());
        let items = memory::collect(items.into_iter().enumerate());
        let ordered = OrderedOutput::new(items.len(), texts.len());
        let acquire = || Worker {
            workspace: self.pool.acquire(&self.vocabulary),
            output: WorkOutput::default(),
            transcoded: String::new(),
        };
        let release = |worker: Worker| self.pool.release(worker.workspace);
        let work = |worker: &mut Worker, (index, item): &(usize, WorkItem)| {
            work(worker, item)?;
            Ok(ordered.put(*index, &mut worker.output)?)
        };
        parallel::map_with(&items, threads, acquire, release, work)
            .map(|_: Vec<()>| ordered.finish())
    }
}

/// Returns an error if a text contains a `disallowed` string. Where it is not UTF-8, each sequence of bytes
/// that is no character counts as one character.
fn refuse(
    text: &impl Text,
    transcoded: Option<&str>,
    special_tokens: &SpecialTokens,
    disallowed: &Disallowed,
) -> Result<(), EncodeError> {
    if matches!(disallowed, Disallowed::Nothing) {
        return Ok(());
    }
    if let Some(text) = transcoded.or_else(|| text.utf8(0..text.len())) {
        return special_tokens.refuse(text, disallowed);
    }
    let mut characters = 0;
    for chunk in text.bytes().utf8_chunks() {
        let refused = special_tokens.refuse(chunk.valid(), disallowed);
        refused.map_err(|error| error.behind(characters))?;
        characters += chunk.valid().chars().count() + 1;
    }
    Ok(())
}

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

integers!(u8 i8 u16 i16 u32 i32 u64 i64);

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
struct WorkOutput {
    /// The ids; empty where they are only counted.
    ids: Vec<TokenId>,
    /// Number of ids.
    count: usize,
    /// Number of ids up to the end of each text that ends in this item.
    ends: Vec<usize>,
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
struct OrderedOutput<T>(Mutex<State<T>>);

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
    fn new(items: usize, texts: usize) -> Self {
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
    fn put(&self, index: usize, output: &mut WorkOutput) -> Result<(), OutOfMemory> {
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
    fn finish(self) -> Ragged<T> {
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
