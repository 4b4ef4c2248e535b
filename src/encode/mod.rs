//! Encoding and decoding whole texts: special tokens, then pieces, then merges, into one flat list of ids.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod decode;
pub mod fit;
mod idle;
mod pieces;
pub mod places;
pub mod ragged;
pub mod special;
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
use idle::Idle;
use pieces::{Pieces, Workspace};
use special::{Allowed, SpecialTokens};

/// Nearly all text has more bytes a token than this. For the ids of a text so much memory is asked for, which is not touched
/// before it is needed.
const BYTES_PER_ID: usize = 2;

/// Room for the ids of a short text, and more than are stored at once.
const FEW_IDS: usize = 64;

/// A text of so many bytes may have more ids than that. The ids of a sixteenth of it tell; and all so far, when there is room
/// for hardly any more.
const LONG: usize = 1 << 16;
const TELLING: usize = 16;
const HARDLY_ANY: usize = 1 << 14;

/// A vocabulary with its splitter and special tokens: all that turns text into ids and back. Immutable.
#[derive(Debug)]
pub struct Encoder {
    vocabulary: Arc<Vocabulary>,
    special_tokens: SpecialTokens,
    splitter: Splitter,
    idle: Idle,
    rows: Rows,
}

impl Encoder {
    /// Puts the parts together.
    pub fn new(
        vocabulary: Arc<Vocabulary>,
        special_tokens: SpecialTokens,
        splitter: Splitter,
    ) -> Self {
        let idle = Idle::new();
        Self {
            vocabulary,
            special_tokens,
            splitter,
            idle,
            rows: Rows::default(),
        }
    }

    /// The same with other special tokens.
    #[must_use]
    pub fn with_special_tokens(&self, special_tokens: SpecialTokens) -> Self {
        Self::new(
            Arc::clone(&self.vocabulary),
            special_tokens,
            self.splitter.clone(),
        )
    }

    /// Its vocabulary.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Its special tokens.
    pub fn special_tokens(&self) -> &SpecialTokens {
        &self.special_tokens
    }

    /// Its splitter.
    pub fn splitter(&self) -> &Splitter {
        &self.splitter
    }

    /// How many bytes the vocabulary takes, with its rows for decoding, and what was learned from texts so far. A table
    /// of learned pieces has a [limit](Self::set_cache_limit); there are as many as calls ever ran at once.
    pub fn memory(&self) -> usize {
        self.vocabulary.memory() + self.rows.memory() + self.idle.memory()
    }

    /// Forgets what was learned from texts and frees its memory.
    pub fn clear_cache(&self) {
        self.idle.clear();
    }

    /// Sets how many bytes each table of learned pieces may take, 64 MiB if never set. What was learned so far is
    /// forgotten. A table takes some kilobytes in any case, and one that calls are using keeps its limit.
    pub fn set_cache_limit(&self, bytes: usize) {
        self.idle.set_limit(bytes);
        self.idle.clear();
    }

    /// Appends the ids of `text`, taking special tokens for ordinary text.
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

    /// Appends the ids of `text`, in which the `allowed` special tokens become their ids. Text between two special
    /// tokens is split by itself, as if it were a whole text.
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
        self.with_workspace(|workspace| self.encode_with(workspace, text, allowed, ids, checkpoint))
    }

    /// How many ids `text` becomes, special tokens being ordinary text. No list of them is made.
    ///
    /// # Errors
    /// As [`encode_ordinary`](Self::encode_ordinary).
    ///
    /// # Complexity
    /// As [`encode_ordinary`](Self::encode_ordinary); memory O(longest piece).
    pub fn count(&self, text: &str, checkpoint: &dyn Checkpoint) -> Result<usize, EncodeError> {
        self.with_workspace(|workspace| self.count_with(workspace, text, checkpoint))
    }

    /// As [`count`](Self::count), with a workspace of the caller's.
    fn count_with(
        &self,
        workspace: &mut Workspace,
        text: &str,
        checkpoint: &dyn Checkpoint,
    ) -> Result<usize, EncodeError> {
        self.count_while(workspace, text, checkpoint, |_| true)
    }

    /// Counts ids until there are none left or `go_on` is false of those so far.
    fn count_while(
        &self,
        workspace: &mut Workspace,
        text: &str,
        checkpoint: &dyn Checkpoint,
        go_on: impl Fn(usize) -> bool,
    ) -> Result<usize, EncodeError> {
        let mut count = 0;
        let mut ids = Vec::new();
        let mut pieces = self.pieces(workspace, &mut ids, checkpoint);
        pieces.counted = Some(0);
        self.encode_stretch(&mut pieces, text, |pieces, _| {
            count += pieces.ids.len() + pieces.counted.replace(0).unwrap_or_default();
            pieces.ids.clear();
            if go_on(count) {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        Ok(count)
    }

    /// Lends an idle workspace to `work`.
    fn with_workspace<R>(
        &self,
        work: impl FnOnce(&mut Workspace) -> Result<R, EncodeError>,
    ) -> Result<R, EncodeError> {
        let mut workspace = self.idle.take(&self.vocabulary);
        let result = work(&mut workspace);
        self.idle.give_back(workspace);
        result
    }

    /// As [`encode`](Self::encode), with a workspace of the caller's.
    fn encode_with(
        &self,
        workspace: &mut Workspace,
        text: &str,
        allowed: &Allowed,
        ids: &mut Vec<TokenId>,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), EncodeError> {
        self.encode_seen(workspace, text, allowed, ids, checkpoint, |_, _| ())
    }

    /// As [`encode_with`](Self::encode_with); `seen` is shown the ids so far and the stretch of the text that the last of
    /// them stand for, all of it, stretch by stretch.
    fn encode_seen(
        &self,
        workspace: &mut Workspace,
        text: &str,
        allowed: &Allowed,
        ids: &mut Vec<TokenId>,
        checkpoint: &dyn Checkpoint,
        mut seen: impl FnMut(&[TokenId], Range<usize>),
    ) -> Result<(), EncodeError> {
        if ids.capacity() == 0 {
            *ids = memory::try_vec_with_capacity(text.len() / BYTES_PER_ID + FEW_IDS)?;
        }
        let mut place = 0;
        loop {
            checkpoint::pass(checkpoint)?;
            let special = self.special_tokens.find(text, place, allowed);
            let end = special.map_or(text.len(), |found| found.start);
            let rest = &text[place..end];
            let mut pieces = self.pieces(workspace, ids, checkpoint);
            self.encode_stretch(&mut pieces, rest, |pieces, stretch| {
                seen(pieces.ids, place + stretch.start..place + stretch.end);
                ControlFlow::Continue(())
            })?;
            match special {
                Some(found) => {
                    ids.push(found.id);
                    place = end + found.text.len();
                    seen(ids, end..place);
                }
                None => return Ok(()),
            }
        }
    }

    /// What appends ids.
    fn pieces<'a>(
        &'a self,
        workspace: &'a mut Workspace,
        ids: &'a mut Vec<TokenId>,
        checkpoint: &'a dyn Checkpoint,
    ) -> Pieces<'a> {
        Pieces {
            vocabulary: &self.vocabulary,
            workspace,
            ids,
            checkpoint,
            counted: None,
        }
    }

    /// Encodes a text without special tokens, some KB or a piece at a time. In between, `pause` is told of which stretch of
    /// the text, all of it, the last ids are, and may take them away, or stop.
    fn encode_stretch<'a>(
        &self,
        pieces: &mut Pieces<'a>,
        text: &str,
        mut pause: impl FnMut(&mut Pieces<'a>, Range<usize>) -> ControlFlow<()>,
    ) -> Result<(), EncodeError> {
        let checkpoint = pieces.checkpoint;
        if let Splitter::Native(family, tier) = self.splitter {
            let mut place = 0;
            let before = pieces.ids.len();
            let foresees = text.len() >= LONG && pieces.counted.is_none();
            let mut has_looked = false;
            while place < text.len() {
                checkpoint::pass(checkpoint)?;
                let start = place;
                pieces.encode(family, tier, text.as_bytes(), &mut place)?;
                let is_scarce = pieces.ids.capacity() - pieces.ids.len() < HARDLY_ANY;
                if foresees && (is_scarce || !has_looked && place >= text.len() / TELLING) {
                    has_looked = true;
                    make_room(pieces.ids, before, place, text.len());
                }
                if pause(pieces, start..place).is_break() {
                    break;
                }
            }
            return Ok(());
        }
        let mut chunks = self.splitter.pieces(text, checkpoint);
        let mut chunk = Vec::new();
        while chunks.next_chunk(&mut chunk)? {
            checkpoint::pass(checkpoint)?;
            for piece in chunk.drain(..) {
                pieces.piece(&text.as_bytes()[piece.clone()])?;
                if pause(pieces, piece).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
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
        self.vocabulary
            .bytes(id)
            .or_else(|| self.special_tokens.text(id).map(str::as_bytes))
    }
}

/// Makes room for the ids of a text of `length` bytes; those from `before` on are of its bytes up to `place`.
/// To grow when there was none cost a page fault for every 4 KB: up to a quarter of the time of encoding code with r50k.
fn make_room(ids: &mut Vec<TokenId>, before: usize, place: usize, length: usize) {
    let rest = length - place;
    let so_far = ids.len().saturating_sub(before);
    let expected = so_far.saturating_mul(rest) / place;
    memory::make_room(ids, expected + expected / 8 + HARDLY_ANY);
}
