//! Encoding and decoding of whole texts: special tokens, then pieces, then merges, into one flat list of ids.
//!
//! ```text
//! Encoder::encode
//!   with_workspace            acquires a workspace, whose cache outlives the call
//!   encode_spans              finds tokens that stand in the text, such as allowed special tokens; between them are gaps
//!     segments                takes gaps through the pipeline of a model or a file, if the encoder has one
//!     encode_text             a chunk at a time: asks the checkpoint, reserves memory for ids
//!       hot_loop              block by block: piece ends, hash, prefetch, probe; on a miss, merge
//! ```

pub mod batch;
pub mod canonical;
pub mod cuts;
mod decode;
pub mod decode_stream;
pub mod explain;
mod finder;
mod hot_loop;
mod model;
pub mod offsets;
pub mod padded;
mod parts;
pub mod pipeline;
mod pool;
pub mod prefix_cache;
mod seams;
mod segments;
pub mod sentencepiece;
pub mod session;
pub mod special;
pub mod stream;
pub mod tokenizer_json;
pub mod truncate;
mod unstable;

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use crate::checkpoint;
use crate::error::{EncodeError, VocabularyError};
use crate::merge;
use crate::split::Splitter;
use crate::split::native::Rule;
use crate::token::TokenId;
use crate::util::memory::{self, Growable};
use crate::util::tier::Tier;
use crate::vocabulary::Vocabulary;
use decode::{Decoder, Rows};
use hot_loop::{Mode, PieceEncoder, Source, Workspace};
use parts::{Gap, Part, Parts};
use pipeline::Prepared;
use pipeline::added::AddedTokens;
use pool::WorkspacePool;
pub use pool::set_process_cache_limit;
use special::{Allowed, SpecialTokens};
use tokenizer_json::decode::FileDecoder;

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
    /// The steps before splitting, if there are any.
    pipeline: Option<Arc<Prepared>>,
    /// The way from ids to text, if that is not joining the bytes of tokens.
    decoder: Option<Decoder>,
    pool: WorkspacePool,
    rows: Rows,
}

/// A text, or a part of one.
#[derive(Clone, Copy)]
struct Passage<'t> {
    text: &'t str,
    before: Before,
}

/// The place of a passage, by what stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// It is the start of the text.
    Nothing,
    /// A special or added token.
    Token,
    /// Text, at a [cut](Encoder::cuts).
    Text,
}

impl<'t> Passage<'t> {
    /// A part of a text, from the start or a cut on.
    fn part(text: &'t str, is_start: bool) -> Self {
        let before = if is_start {
            Before::Nothing
        } else {
            Before::Text
        };
        Self { text, before }
    }
}

impl<'t> From<&'t str> for Passage<'t> {
    fn from(text: &'t str) -> Self {
        Self::part(text, true)
    }
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
            pipeline: None,
            decoder: None,
            pool: WorkspacePool::new(),
            rows: Rows::default(),
        }
    }

    /// Returns the same encoder with other special tokens, and an empty cache.
    ///
    /// # Errors
    /// [`VocabularyError`] as from [`with_pipeline`](Self::with_pipeline), if it has been built by that.
    pub fn with_special_tokens(
        &self,
        special_tokens: SpecialTokens,
    ) -> Result<Self, VocabularyError> {
        let pipeline = self.pipeline.as_ref();
        let pipeline = pipeline.map(|pipeline| pipeline.with_special(&special_tokens));
        let (vocabulary, splitter) = (Arc::clone(&self.vocabulary), self.splitter.clone());
        Ok(Self {
            pipeline: pipeline.transpose()?.map(Arc::new),
            decoder: self.decoder.clone(),
            ..Self::new(vocabulary, special_tokens, splitter)
        })
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

    /// The splitter, if a text may be divided wherever that says: its parts have the ids of the whole. A pipeline may look
    /// at what stands on both sides.
    pub fn divider(&self) -> Option<&Splitter> {
        let is_plain = self.pipeline.is_none() && self.vocabulary.chunks().is_none();
        is_plain.then_some(&self.splitter)
    }

    /// Number of bytes that the vocabulary takes, with its table for decoding and the caches of pieces. A
    /// cache has a [limit](Self::set_cache_limit), and [all](set_process_cache_limit) may have one; there are as many
    /// as calls ever ran at once.
    pub fn memory(&self) -> usize {
        self.vocabulary.memory() + self.rows.memory() + self.pool.memory()
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
    pub fn encode_ordinary(&self, text: &str, ids: &mut Vec<TokenId>) -> Result<(), EncodeError> {
        self.encode(text, &Allowed::Nothing, ids)
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
    ) -> Result<(), EncodeError> {
        self.with_workspace(|workspace| self.append(workspace, text, allowed, ids, usize::MAX))
    }

    /// Appends the ids of what follows a [cut](Self::cuts) of a text, as [`encode`](Self::encode) does.
    ///
    /// # Errors
    /// As [`encode_ordinary`](Self::encode_ordinary).
    pub fn encode_after_cut(
        &self,
        text: &str,
        allowed: &Allowed,
        ids: &mut Vec<TokenId>,
    ) -> Result<(), EncodeError> {
        let passage = Passage::part(text, false);
        self.with_workspace(|workspace| self.append(workspace, passage, allowed, ids, usize::MAX))
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

    /// Appends the ids of a text as [`encode`](Self::encode) does, in a workspace of the caller's. Once there are `most`
    /// ids, it stops after the step it is in: there may be more than `most`, but always the first ones.
    fn append<'t>(
        &self,
        workspace: &mut Workspace,
        passage: impl Into<Passage<'t>>,
        allowed: &Allowed,
        ids: &mut Vec<TokenId>,
        most: usize,
    ) -> Result<(), EncodeError> {
        let Passage { text, before } = passage.into();
        if ids.capacity() == 0 {
            let expected = (text.len() / BYTES_PER_ID + MIN_IDS).min(most.max(MIN_IDS));
            *ids = memory::try_vec_with_capacity(expected)?;
        }
        let first = ids.len();
        let mut pieces = self.piece_encoder(workspace, ids, Mode::Append);
        pieces.before = before;
        // A text that has no ids at all raises an error, wherever the reason stands.
        let stop_at = if self.vocabulary.may_lack_ids() {
            usize::MAX
        } else {
            first.saturating_add(most)
        };
        self.encode_spans(&mut pieces, text, allowed, |pieces, _| {
            if pieces.ids.len() >= stop_at {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })
    }

    /// The parts of a text: tokens that are found in it as it stands, and gaps between them.
    fn split_at_tokens<'a>(&'a self, text: &'a str, allowed: &'a Allowed) -> Parts<'a> {
        match &self.pipeline {
            Some(pipeline) => pipeline.parts(&self.special_tokens, text, allowed),
            None => Parts::special(&self.special_tokens, text.as_bytes(), allowed),
        }
    }

    /// Encodes a text, some KB, a piece or a token at a time.
    ///
    /// After each step, `on_span` gets the span that was encoded, the next part of the text, or the gap that the step
    /// belongs to if the encoder has a pipeline. It may take ids away, or stop the encoding.
    fn encode_spans<'a>(
        &self,
        pieces: &mut PieceEncoder<'a>,
        text: &str,
        allowed: &Allowed,
        mut on_span: impl FnMut(&mut PieceEncoder<'a>, Range<usize>) -> ControlFlow<()>,
    ) -> Result<(), EncodeError> {
        for part in self.split_at_tokens(text, allowed) {
            checkpoint::pass()?;
            let flow = match (part, &self.pipeline) {
                (Part::Token(id, span), _) => {
                    pieces.ids.with_room(1).push(id);
                    on_span(pieces, span)
                }
                (Part::Text(span), Some(pipeline)) => {
                    let on_step = |pieces: &mut PieceEncoder<'a>| on_span(pieces, span.clone());
                    let gap = Gap {
                        is_start: pieces.before != Before::Text || span.start > 0,
                        is_first: pieces.before == Before::Nothing && span.start == 0,
                        ..Gap::within(text, span.clone())
                    };
                    self.encode_gap(pipeline, pieces, gap, allowed, on_step)?
                }
                (Part::Text(gap), None) => {
                    let start = gap.start;
                    self.encode_text(pieces, &text.as_bytes()[gap], |pieces, span| {
                        on_span(pieces, start + span.start..start + span.end)
                    })?
                }
            };
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn piece_encoder<'a>(
        &'a self,
        workspace: &'a mut Workspace,
        ids: &'a mut Vec<TokenId>,
        mode: Mode,
    ) -> PieceEncoder<'a> {
        PieceEncoder {
            vocabulary: &self.vocabulary,
            workspace,
            ids,
            mode,
            before: Before::Nothing,
            sums: None,
            stops_at_gaps: false,
        }
    }

    /// Splits text, and encodes its pieces, some KB or a piece at a time, which `on_span` gets after each step. It is
    /// UTF-8 unless the splitter has a rule.
    fn encode_text<'a>(
        &self,
        pieces: &mut PieceEncoder<'a>,
        text: &[u8],
        mut on_span: impl FnMut(&mut PieceEncoder<'a>, Range<usize>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, EncodeError> {
        let may_run_on = |rule: Rule<'_>| rule.is_whole() || !pieces.stops_at_gaps;
        if self
            .splitter
            .rule()
            .is_some_and(|(rule, _)| may_run_on(rule))
        {
            return self.encode_pieces(pieces, text, on_span);
        }
        let text = simdutf8::basic::from_utf8(text).expect("the caller says so");
        let mut chunks = self.splitter.pieces(text);
        let mut chunk = Vec::new();
        while chunks.next_chunk(&mut chunk)? {
            checkpoint::pass()?;
            let stops_at_gaps = pieces.stops_at_gaps;
            let belong = |before: &Range<usize>, after: &Range<usize>| {
                !stops_at_gaps || before.end == after.start
            };
            for run in chunk.chunk_by(belong) {
                let span = run[0].start..run[run.len() - 1].end;
                pieces.encode_chunk(Source::Pieces(run), Tier::current(), text.as_bytes())?;
                if on_span(pieces, span).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// As [`encode_text`](Self::encode_text), for a splitter with a rule.
    fn encode_pieces<'a>(
        &self,
        pieces: &mut PieceEncoder<'a>,
        text: &[u8],
        mut on_span: impl FnMut(&mut PieceEncoder<'a>, Range<usize>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, EncodeError> {
        let rule = self.splitter.rule();
        let (rule, tier) = rule.expect("the splitter of this text has a rule");
        let mut offset = 0;
        let first_id = pieces.ids.len();
        let is_estimated = text.len() >= LONG_TEXT && matches!(pieces.mode, Mode::Append);
        let mut has_sampled = false;
        while offset < text.len() {
            // The caller has passed it: to read the clock took a twentieth of the time of batches of sentences.
            if offset > 0 {
                checkpoint::pass()?;
            }
            let start = offset;
            pieces.encode_chunk(Source::Rule(rule, &mut offset), tier, text)?;
            let is_scarce = pieces.ids.capacity() - pieces.ids.len() < MIN_SPARE_IDS;
            if is_estimated && (is_scarce || !has_sampled && offset >= text.len() / SAMPLE) {
                has_sampled = true;
                reserve_ids(pieces.ids, first_id, offset, text.len());
            }
            if on_span(pieces, start..offset).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Returns how many ids [`encode`](Self::encode) gives. They are not stored.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    ///
    /// # Complexity
    /// As [`encode`](Self::encode); memory O(longest piece).
    pub fn count(&self, text: &str, allowed: &Allowed) -> Result<usize, EncodeError> {
        self.with_workspace(|workspace| self.count_while(workspace, text, allowed, |_| true))
    }

    /// Counts ids to the end of `text`, or until `go_on` returns false for the count so far.
    fn count_while<'t>(
        &self,
        workspace: &mut Workspace,
        passage: impl Into<Passage<'t>>,
        allowed: &Allowed,
        go_on: impl Fn(usize) -> bool,
    ) -> Result<usize, EncodeError> {
        let Passage { text, before } = passage.into();
        let mut count = 0;
        let mut ids = Vec::new();
        let needs_ids = self.fused().is_some() || self.vocabulary.chunks().is_some();
        let mode = if needs_ids { Mode::Append } else { Mode::COUNT };
        let mut pieces = self.piece_encoder(workspace, &mut ids, mode);
        pieces.before = before;
        self.encode_spans(&mut pieces, text, allowed, |pieces, _| {
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
    pub fn encode_piece(&self, piece: &[u8], ids: &mut Vec<TokenId>) -> Result<(), EncodeError> {
        merge::encode_piece(&self.vocabulary, piece, ids)
    }

    /// The bytes of a token, special or not. An id that is both is the ordinary token.
    pub fn token_bytes(&self, id: TokenId) -> Option<&[u8]> {
        let ordinary = self.vocabulary.bytes(id);
        // Control tokens of a model, whose names are special tokens, are empty.
        ordinary
            .filter(|bytes| !bytes.is_empty())
            .or_else(|| self.file_decoder()?.added(id))
            .or_else(|| self.special_tokens.text(id).map(str::as_bytes))
            .or_else(|| Some(self.added()?.text(id)?.as_bytes()))
            // Tokens of no bytes: one in Whisper's tokenizer.json, or the unknown token of a SentencePiece model.
            .or_else(|| {
                let unknown = self.sentencepiece().and_then(|model| model.unknown);
                ordinary.filter(|_| self.file_decoder().is_some() || unknown == Some(id))
            })
    }

    /// The ids of all tokens, in increasing order: those with [`token_bytes`](Self::token_bytes).
    pub fn token_ids(&self) -> Vec<TokenId> {
        let special = self.special_tokens.iter().map(|(_, id)| id);
        let added = self.added().into_iter().flat_map(AddedTokens::ids);
        let of_file = self.file_decoder().into_iter();
        let of_file = of_file.flat_map(FileDecoder::added_ids);
        let all = self.vocabulary.ids().chain(special);
        let mut ids = memory::collect(all.chain(added).chain(of_file));
        ids.sort_unstable();
        ids.dedup();
        ids.retain(|&id| self.token_bytes(id).is_some());
        ids
    }

    /// The id of a token, merged or not. Of a `tokenizer.json`, added tokens come first.
    pub fn token(&self, bytes: &[u8]) -> Option<TokenId> {
        let added = || self.added_id(std::str::from_utf8(bytes).ok()?);
        let merged = || self.vocabulary.token(bytes);
        if self.file_decoder().is_some() {
            added().or_else(merged)
        } else {
            merged().or_else(added)
        }
    }

    /// The id of a token that is not merged, special or not.
    pub fn added_id(&self, text: &str) -> Option<TokenId> {
        let added = || self.added()?.id(text);
        self.special_tokens.id(text).or_else(added)
    }

    /// The largest id, 0 if there are none.
    pub fn largest_id(&self) -> TokenId {
        let added = self.added().map_or(0, AddedTokens::largest_id);
        let special = self.special_tokens.largest_id();
        self.vocabulary.highest_id().max(special).max(added)
    }

    /// The added tokens of a pipeline.
    fn added(&self) -> Option<&AddedTokens> {
        self.pipeline.as_deref().map(Prepared::added)
    }

    /// The unknown token, if one of it stands for several in a row in a segment that is split.
    fn fused(&self) -> Option<TokenId> {
        self.pipeline.as_ref()?.fused()
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
