//! Many texts → one flat list of ids and where each text ends in it, on several threads.
//!
//! ```text
//! plan      the texts, end to end, cut into shares of about one size, each for one thread at a time
//! encode    share after share, in order, by whichever thread is free, each into a list of its own
//! in order  the list whose turn it is goes to the end of the batch
//! ```
//!
//! With one thread there is one share, whose list is that of the batch. A long text is cut where a piece starts whatever stands
//! around it, so that several threads can work on it.

mod in_order;

use std::ops::Range;

use super::pieces::Workspace;
use super::special::{Allowed, Policy, SpecialTokens};
use super::{BYTES_PER_ID, Encoder, LONG, TELLING, make_room};
use crate::checkpoint::{self, Checkpoint};
use crate::error::EncodeError;
use crate::token::TokenId;
use crate::util::memory;
use crate::util::parallel::{self, Share, plan};
use crate::util::text::Text;
use in_order::{InOrder, Part};
pub use in_order::{Integer, Ragged};

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

    /// With ids before and after those of each text.
    #[must_use]
    pub fn between(self, prepend: Vec<TokenId>, append: Vec<TokenId>) -> Self {
        Self {
            prepend,
            append,
            ..self
        }
    }
}

/// What a thread works with.
struct Tool {
    workspace: Box<Workspace>,
    /// What its share has become so far.
    part: Part,
    /// Where texts are made.
    room: String,
}

impl Encoder {
    /// The ids of all `texts`. Those that are not UTF-8 are encoded as [`encode_bytes`](Self::encode_bytes) does it: special
    /// tokens are found before the first offending byte only.
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
        checkpoint: &dyn Checkpoint,
    ) -> Result<Ragged<T>, EncodeError> {
        let allowed = &batch.policy.allowed;
        self.in_shares(texts, allowed, batch.threads, checkpoint, |tool, share| {
            let bytes: usize = share.stretches(texts).map(|(_, part)| part.len()).sum();
            if tool.part.ids.capacity() == 0 {
                tool.part.ids = memory::try_vec_with_capacity(bytes / BYTES_PER_ID)?;
            }
            let (mut done, mut foresees) = (0, bytes >= LONG);
            for (text, stretch) in share.stretches(texts) {
                done += stretch.len();
                self.encode_part(tool, text, stretch, batch, checkpoint)?;
                if foresees && done < bytes && done >= bytes / TELLING {
                    foresees = false;
                    make_room(&mut tool.part.ids, 0, done, bytes);
                }
            }
            tool.part.count = tool.part.ids.len();
            Ok(())
        })
    }

    /// Appends the ids of a stretch of a text to a part, and what comes before and after those of the text.
    fn encode_part(
        &self,
        tool: &mut Tool,
        text: &impl Text,
        stretch: Range<usize>,
        batch: &Batch,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), EncodeError> {
        let Tool {
            workspace,
            part,
            room,
        } = tool;
        let ids = &mut part.ids;
        let Policy {
            allowed,
            disallowed,
        } = &batch.policy;
        let made = text.make(room, checkpoint)?;
        // Unlike the ids of a text, those around it may be many more than its bytes.
        memory::try_reserve(ids, batch.prepend.len() + batch.append.len())?;
        let (starts, ends) = (stretch.start == 0, stretch.end == text.len());
        if starts {
            match made {
                Some(made) => self.special_tokens.refuse(made, disallowed)?,
                None => refuse(text, &self.special_tokens, disallowed)?,
            }
            ids.extend_from_slice(&batch.prepend);
        }
        if let Some(text) = made.or_else(|| text.utf8(stretch)) {
            self.encode_with(workspace, text, allowed, ids, checkpoint)?;
        } else {
            debug_assert!(starts && ends, "only text is cut");
            let bytes = text.bytes();
            self.encode_not_utf8(workspace, bytes, allowed, ids, checkpoint)?;
        }
        if ends {
            ids.extend_from_slice(&batch.append);
            part.ends.push(ids.len());
        }
        Ok(())
    }

    /// How many ids each of the `texts` becomes, special tokens being ordinary text, as the offsets of ids that are not kept.
    ///
    /// # Errors
    /// [`EncodeError`]: that of the first text that fails.
    ///
    /// # Complexity
    /// As [`count`](Self::count) for each text, divided by the threads.
    pub fn count_batch(
        &self,
        texts: &[impl Text + Sync],
        threads: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Vec<usize>, EncodeError> {
        let counted: Ragged<TokenId> = self.in_shares(
            texts,
            &Allowed::Nothing,
            threads,
            checkpoint,
            |tool, share| {
                let Tool {
                    workspace,
                    part,
                    room,
                } = tool;
                for (text, stretch) in share.stretches(texts) {
                    let ends = stretch.end == text.len();
                    let made = text.make(room, checkpoint)?;
                    part.count += if let Some(text) = made.or_else(|| text.utf8(stretch)) {
                        self.count_with(workspace, text, checkpoint)?
                    } else {
                        let (bytes, mut ids) = (text.bytes(), Vec::new());
                        let allowed = &Allowed::Nothing;
                        self.encode_not_utf8(workspace, bytes, allowed, &mut ids, checkpoint)?;
                        ids.len()
                    };
                    if ends {
                        part.ends.push(part.count);
                    }
                }
                Ok(())
            },
        )?;
        Ok(counted.offsets)
    }

    fn in_shares<T: Integer>(
        &self,
        texts: &[impl Text + Sync],
        allowed: &Allowed,
        threads: usize,
        checkpoint: &dyn Checkpoint,
        work: impl Fn(&mut Tool, &Share) -> Result<(), EncodeError> + Sync,
    ) -> Result<Ragged<T>, EncodeError> {
        // A special token that is to be found may lie across a cut.
        let ordinary = *allowed == Allowed::Nothing;
        let cut = ordinary.then_some(|text: &str, near| self.splitter.cut(text, near));
        let shares = plan(texts, threads, cut.as_ref());
        let shares: Vec<(usize, Share)> = shares.into_iter().enumerate().collect();
        let in_order = InOrder::new(shares.len(), texts.len());
        let take = || Tool {
            workspace: self.idle.take(&self.vocabulary),
            part: Part::default(),
            room: String::new(),
        };
        let give_back = |tool: Tool| self.idle.give_back(tool.workspace);
        let work = |tool: &mut Tool, (number, share): &(usize, Share)| {
            work(tool, share)?;
            Ok(in_order.put(*number, &mut tool.part)?)
        };
        parallel::map_with(&shares, threads, checkpoint, take, give_back, work)
            .map(|_: Vec<()>| in_order.finish())
    }
}

/// Refuses the first of `texts` that holds one of the `strings`.
///
/// # Errors
/// [`EncodeError::Disallowed`], and [`EncodeError::Interrupted`] if `checkpoint` says so.
pub fn refuse_all(
    texts: &[impl Text],
    strings: &SpecialTokens,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    texts.iter().try_for_each(|text| {
        checkpoint::pass(checkpoint)?;
        refuse(text, strings, &Allowed::All)
    })
}

/// Refuses a text that holds one of the `disallowed` special tokens. Where it is not UTF-8, each sequence of bytes that
/// is no character counts as one.
fn refuse(
    text: &impl Text,
    special_tokens: &SpecialTokens,
    disallowed: &Allowed,
) -> Result<(), EncodeError> {
    if *disallowed == Allowed::Nothing {
        return Ok(());
    }
    if let Some(text) = text.utf8(0..text.len()) {
        return special_tokens.refuse(text, disallowed);
    }
    let mut before = 0;
    for chunk in text.bytes().utf8_chunks() {
        let refused = special_tokens.refuse(chunk.valid(), disallowed);
        refused.map_err(|error| match error {
            EncodeError::Disallowed { token, start } => {
                let start = before + start;
                EncodeError::Disallowed { token, start }
            }
            other => other,
        })?;
        before += chunk.valid().chars().count() + 1;
    }
    Ok(())
}
