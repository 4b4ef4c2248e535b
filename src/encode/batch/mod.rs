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

mod ordered;

use std::ops::Range;

use super::hot_loop::Workspace;
use super::special::{Allowed, Disallowed, Policy, SpecialTokens};
use super::{BYTES_PER_ID, Encoder, LONG_TEXT, Passage, SAMPLE, reserve_ids};
use crate::error::EncodeError;
use crate::token::TokenId;
use crate::util::memory::{self, Growable};
use crate::util::parallel::{self, WorkItem, partition};
use crate::util::text::Text;
pub use ordered::{Integer, Ragged};
use ordered::{OrderedOutput, WorkOutput};

/// How to encode a batch: the same for all of its texts.
#[derive(Clone, Debug)]
pub struct Batch {
    /// How special tokens are treated.
    pub policy: Policy,
    /// Ids before those of each text.
    pub prepend: Vec<TokenId>,
    /// Ids after those of each text.
    pub append: Vec<TokenId>,
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
        let allowed = &batch.policy.allowed;
        self.map_work_items(texts, allowed, batch.threads, |worker, item| {
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
        if let Some(text) = transcoded.or_else(|| text.utf8(span)) {
            let passage = Passage { text, is_start };
            self.append(workspace, passage, allowed, ids)?;
        } else {
            debug_assert!(is_start && is_end, "only UTF-8 is divided");
            let bytes = text.bytes();
            self.encode_not_utf8(workspace, bytes, allowed, ids)?;
        }
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
            self.map_work_items(texts, allowed, threads, |worker, item| {
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
                        let passage = Passage { text, is_start };
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

    /// Partitions `texts` and runs `work` for each work item; returns their outputs in order.
    fn map_work_items<T: Integer>(
        &self,
        texts: &[impl Text + Sync],
        allowed: &Allowed,
        threads: usize,
        work: impl Fn(&mut Worker, &WorkItem) -> Result<(), EncodeError> + Sync,
    ) -> Result<Ragged<T>, EncodeError> {
        // An allowed special token may lie across a cut.
        let is_ordinary = *allowed == Allowed::Nothing;
        let cut = is_ordinary.then_some(|text: &str, from| self.cut(text, from));
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
        refused.map_err(|error| match error {
            EncodeError::Disallowed { token, start } => {
                let start = characters + start;
                EncodeError::Disallowed { token, start }
            }
            other => other,
        })?;
        characters += chunk.valid().chars().count() + 1;
    }
    Ok(())
}
