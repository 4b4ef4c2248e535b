//! Encoding and decoding of whole texts: special tokens, then pieces, then merges, into one flat list of ids.
//!
//! ```text
//! Encoder::encode
//!   with_workspace            acquires a workspace, whose cache outlives the call
//!   encode_spans              finds the allowed special tokens; the spans between them are ordinary text
//!     encode_ordinary_span    a chunk at a time: asks the checkpoint, reserves memory for ids
//!       hot_loop              block by block: piece ends, hash, prefetch, probe; on a miss, merge
//! ```

pub mod batch;
mod decode;
mod hot_loop;
mod model;
pub mod offsets;
mod pool;
pub mod sentencepiece;
pub mod special;
pub mod truncate;
mod unstable;

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use crate::checkpoint::{self, Checkpoint};
use crate::error::EncodeError;
use crate::merge;
use crate::split::Splitter;
use crate::token::TokenId;
use crate::util::memory;
use crate::vocabulary::Vocabulary;
use decode::Rows;
use hot_loop::{Mode, PieceEncoder, Workspace};
use pool::WorkspacePool;
use sentencepiece::SentencePiece;
use special::{Allowed, SpecialTokens};

/// Nearly all text has more bytes per token than this. The memory it reserves for the ids of a text is not
/// touched before it is needed.
const BYTES_PER_ID: usize = 2;

/// Ids to reserve for a short text: more than are stored at once.
const MIN_IDS: usize = 64;

/// A text of this many bytes may have more ids than [`BYTES_PER_ID`] says. Then memory is reserved for as
/// many as the first [`SAMPLE`]th of it suggests, and again whenever there is room for fewer than
/// [`MIN_SPARE_IDS`].
const LONG_TEXT: usize = 1 << 16;
const SAMPLE: usize = 16;
const MIN_SPARE_IDS: usize = 1 << 14;

/// A vocabulary with its splitter and special tokens: all that turns text into ids and back. Immutable.
#[derive(Debug)]
pub struct Encoder {
    vocabulary: Arc<Vocabulary>,
    special_tokens: SpecialTokens,
    splitter: Splitter,
    sentencepiece: Option<Arc<SentencePiece>>,
    pool: WorkspacePool,
    rows: Rows,
}

impl Encoder {
    /// Builds an encoder.
    pub fn new(
        vocabulary: Arc<Vocabulary>,
        special_tokens: SpecialTokens,
        splitter: Splitter,
    ) -> Self {
        Self {
            vocabulary,
            special_tokens,
            splitter,
            sentencepiece: None,
            pool: WorkspacePool::new(),
            rows: Rows::default(),
        }
    }

    /// Returns the same encoder with other special tokens, and an empty cache.
    #[must_use]
    pub fn with_special_tokens(&self, special_tokens: SpecialTokens) -> Self {
        Self {
            sentencepiece: self.sentencepiece.clone(),
            ..Self::new(
                Arc::clone(&self.vocabulary),
                special_tokens,
                self.splitter.clone(),
            )
        }
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The special tokens.
    pub fn special_tokens(&self) -> &SpecialTokens {
        &self.special_tokens
    }

    /// The splitter.
    pub fn splitter(&self) -> &Splitter {
        &self.splitter
    }

    /// Number of bytes that the vocabulary takes, with its table for decoding and the caches of pieces. A
    /// cache has a
    /// [limit](Self::set_cache_limit); there are as many as calls ever ran at once.
    pub fn memory(&self) -> usize {
        self.vocabulary.memory() + self.splitter.memory() + self.rows.memory() + self.pool.memory()
    }

    /// Empties the caches of pieces and frees their memory.
    pub fn clear_cache(&self) {
        self.pool.clear();
    }

    /// Sets the limit of each cache of pieces in bytes, 64 MiB by default, and empties the caches. A cache
    /// takes some kilobytes in any case, and one that a call is using keeps its limit.
    pub fn set_cache_limit(&self, bytes: usize) {
        self.pool.set_limit(bytes);
        self.pool.clear();
    }

    /// Appends the ids of `text`; special tokens in it are ordinary text.
    ///
    /// # Errors
    /// [`EncodeError`]; with a native pattern only [`EncodeError::Interrupted`].
    ///
    /// # Complexity
    /// O(n log n) for n bytes with a native pattern.
    pub fn encode_ordinary(
        &self,
        text: &str,
        ids: &mut Vec<TokenId>,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), EncodeError> {
        self.encode(text, &Allowed::Nothing, ids, checkpoint)
    }

    /// Appends the ids of `text`, in which the `allowed` special tokens become their ids. Text between two
    /// special tokens is split by itself, as if it were a whole text.
    ///
    /// # Errors
    /// As [`encode_ordinary`](Self::encode_ordinary).
    pub fn encode(
        &self,
        text: &str,
        allowed: &Allowed,
        ids: &mut Vec<TokenId>,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), EncodeError> {
        self.with_workspace(|workspace| {
            self.encode_spans(workspace, text, allowed, ids, checkpoint, |_, _| ())
        })
    }

    /// Runs `work` with a workspace of the pool.
    fn with_workspace<R>(
        &self,
        work: impl FnOnce(&mut Workspace) -> Result<R, EncodeError>,
    ) -> Result<R, EncodeError> {
        let mut workspace = self.pool.acquire(&self.vocabulary);
        let result = work(&mut workspace);
        self.pool.release(workspace);
        result
    }

    /// As [`encode`](Self::encode), in a workspace of the caller's.
    ///
    /// `on_span` is called for one span of the text after another, which together are all of it, as soon as
    /// the ids of the span have been appended, with all ids so far and the span.
    fn encode_spans(
        &self,
        workspace: &mut Workspace,
        text: &str,
        allowed: &Allowed,
        ids: &mut Vec<TokenId>,
        checkpoint: &dyn Checkpoint,
        mut on_span: impl FnMut(&[TokenId], Range<usize>),
    ) -> Result<(), EncodeError> {
        if ids.capacity() == 0 {
            *ids = memory::try_vec_with_capacity(text.len() / BYTES_PER_ID + MIN_IDS)?;
        }
        let mut offset = 0;
        loop {
            checkpoint::pass(checkpoint)?;
            let special = self.special_tokens.find(text, offset, allowed);
            let end = special.map_or(text.len(), |found| found.start);
            let ordinary = &text[offset..end];
            let mut pieces = self.piece_encoder(workspace, ids, checkpoint, Mode::Append);
            self.encode_ordinary_span(&mut pieces, ordinary, |pieces, span| {
                on_span(pieces.ids, offset + span.start..offset + span.end);
                ControlFlow::Continue(())
            })?;
            match special {
                Some(found) => {
                    ids.push(found.id);
                    offset = end + found.text.len();
                    on_span(ids, end..offset);
                }
                None => return Ok(()),
            }
        }
    }

    fn piece_encoder<'a>(
        &'a self,
        workspace: &'a mut Workspace,
        ids: &'a mut Vec<TokenId>,
        checkpoint: &'a dyn Checkpoint,
        mode: Mode,
    ) -> PieceEncoder<'a> {
        PieceEncoder {
            vocabulary: &self.vocabulary,
            workspace,
            ids,
            checkpoint,
            mode,
        }
    }

    /// Encodes text without special tokens, some KB or a piece at a time.
    ///
    /// After each step, `on_span` gets the span that was encoded, the next part of the text; it may take ids
    /// away, or stop the encoding.
    fn encode_ordinary_span<'a>(
        &self,
        pieces: &mut PieceEncoder<'a>,
        text: &str,
        mut on_span: impl FnMut(&mut PieceEncoder<'a>, Range<usize>) -> ControlFlow<()>,
    ) -> Result<(), EncodeError> {
        if let Some(rules) = &self.sentencepiece {
            return self.encode_normalized_span(rules, pieces, text, on_span);
        }
        if self.splitter.rule().is_some() {
            return self.encode_pieces(pieces, text.as_bytes(), on_span);
        }
        let checkpoint = pieces.checkpoint;
        let mut chunks = self.splitter.pieces(text, checkpoint);
        let mut chunk = Vec::new();
        while chunks.next_chunk(&mut chunk)? {
            checkpoint::pass(checkpoint)?;
            for piece in chunk.drain(..) {
                pieces.encode_piece(&text.as_bytes()[piece.clone()])?;
                if on_span(pieces, piece).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// As [`encode_ordinary_span`](Self::encode_ordinary_span), for a splitter with a rule.
    fn encode_pieces<'a>(
        &self,
        pieces: &mut PieceEncoder<'a>,
        text: &[u8],
        mut on_span: impl FnMut(&mut PieceEncoder<'a>, Range<usize>) -> ControlFlow<()>,
    ) -> Result<(), EncodeError> {
        let checkpoint = pieces.checkpoint;
        let rule = self.splitter.rule();
        let (rule, tier) = rule.expect("the splitter of this text has a rule");
        let mut offset = 0;
        let first_id = pieces.ids.len();
        let is_estimated = text.len() >= LONG_TEXT && matches!(pieces.mode, Mode::Append);
        let mut has_sampled = false;
        while offset < text.len() {
            checkpoint::pass(checkpoint)?;
            let start = offset;
            pieces.encode_chunk(rule, tier, text, &mut offset)?;
            let is_scarce = pieces.ids.capacity() - pieces.ids.len() < MIN_SPARE_IDS;
            if is_estimated && (is_scarce || !has_sampled && offset >= text.len() / SAMPLE) {
                has_sampled = true;
                reserve_ids(pieces.ids, first_id, offset, text.len());
            }
            if on_span(pieces, start..offset).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Returns how many ids `text` becomes; special tokens in it are ordinary text. The ids are not stored.
    ///
    /// # Errors
    /// As [`encode_ordinary`](Self::encode_ordinary).
    ///
    /// # Complexity
    /// As [`encode_ordinary`](Self::encode_ordinary); memory O(longest piece).
    pub fn count(&self, text: &str, checkpoint: &dyn Checkpoint) -> Result<usize, EncodeError> {
        self.with_workspace(|workspace| self.count_while(workspace, text, checkpoint, |_| true))
    }

    /// Counts ids to the end of `text`, or until `go_on` returns false for the count so far.
    fn count_while(
        &self,
        workspace: &mut Workspace,
        text: &str,
        checkpoint: &dyn Checkpoint,
        go_on: impl Fn(usize) -> bool,
    ) -> Result<usize, EncodeError> {
        let mut count = 0;
        let mut ids = Vec::new();
        let mut pieces = self.piece_encoder(workspace, &mut ids, checkpoint, Mode::COUNT);
        if let Some(rules) = &self.sentencepiece
            && !self.counts_by_pieces()
        {
            return self.count_fused(rules, &mut pieces, text);
        }
        self.encode_ordinary_span(&mut pieces, text, |pieces, _| {
            count += pieces.take_count();
            if go_on(count) {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        Ok(count)
    }

    /// Appends the ids of one piece.
    ///
    /// # Errors
    /// As [`merge::encode_piece`].
    pub fn encode_piece(
        &self,
        piece: &[u8],
        ids: &mut Vec<TokenId>,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), EncodeError> {
        merge::encode_piece(&self.vocabulary, piece, ids, checkpoint)
    }

    /// The bytes of a token, special or not. An id that is both is the ordinary token.
    pub fn token_bytes(&self, id: TokenId) -> Option<&[u8]> {
        let ordinary = self.vocabulary.bytes(id);
        // Control tokens of a model, whose names are special tokens, are empty.
        ordinary
            .filter(|bytes| !bytes.is_empty())
            .or_else(|| self.special_tokens.text(id).map(str::as_bytes))
    }
}

/// Reserves memory for the ids of a text of `length` bytes, of which those from index `first` on are the ids
/// of its first `offset` bytes. Growing on demand cost a page fault for every 4 KB: up to a quarter of the
/// time of encoding code with r50k.
fn reserve_ids(ids: &mut Vec<TokenId>, first: usize, offset: usize, length: usize) {
    let rest = length - offset;
    let so_far = ids.len().saturating_sub(first);
    let expected = so_far.saturating_mul(rest) / offset;
    memory::reserve_amortized(ids, expected + expected / 8 + MIN_SPARE_IDS);
}
