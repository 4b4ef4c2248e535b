//! Unfinished text: the ids that further text cannot change, and how the rest may go on.
//!
//! The contract is that of tiktoken's `encode_with_unstable` and `_encode_bytes`, id by id.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::Encoder;
use super::hot_loop::{Mode, PieceEncoder, Workspace};
use super::parts::{Gap, Part};
use super::special::Allowed;
use crate::checkpoint;
use crate::error::EncodeError;
use crate::merge;
use crate::token::TokenId;
use crate::util::memory::Growable;
use crate::util::text::{valid_start, with_each_byte_replaced};

impl Encoder {
    /// Returns the stable ids of `text`, and every sequence of ids that may encode the bytes after them.
    ///
    /// The bytes of each completion begin with the unstable bytes. Completions are in no order.
    ///
    /// # Errors
    /// As [`Encoder::encode_ordinary`].
    ///
    /// # Complexity
    /// One encoding for each token that starts with a suffix of the unstable bytes: thousands.
    pub fn encode_with_unstable(
        &self,
        text: &str,
        allowed: &Allowed,
    ) -> Result<(Vec<TokenId>, HashSet<Vec<TokenId>>), EncodeError> {
        let mut stable = Vec::new();
        self.encode(text, allowed, &mut stable)?;
        let last_piece = self.last_piece(text, allowed)?;
        let unstable = self.take_unstable(&mut stable, last_piece)?;
        let mut completions = HashSet::new();
        if unstable.is_empty() {
            return Ok((stable, completions));
        }

        let sorted = self.vocabulary.sorted_by_bytes();
        // A token may start at any offset in the unstable bytes.
        for cut in 0..unstable.len() {
            checkpoint::pass()?;
            let (head, tail) = unstable.split_at(cut);
            let first = sorted.partition_point(|&id| self.spelling(id) < tail);
            for &id in sorted[first..]
                .iter()
                .take_while(|&&id| self.spelling(id).starts_with(tail))
            {
                if cut == 0 {
                    completions.insert(vec![id]);
                    continue;
                }
                let possible = [head, self.spelling(id)].concat();
                let mut ids = Vec::new();
                match std::str::from_utf8(&possible) {
                    Ok(possible) => self.encode_ordinary(possible, &mut ids)?,
                    Err(_) => merge::merge(&self.vocabulary, &possible, &mut ids)?,
                }
                let mut spelled = 0;
                let needed = ids.iter().take_while(|&&id| {
                    let before = spelled;
                    spelled += self.spelling(id).len();
                    before < unstable.len()
                });
                completions.insert(needed.copied().collect());
            }
        }

        // Whitespace at the end may yet be split before its last character.
        if let Some((cut, last)) = last_character(&unstable)
            && cut > 0
            && last.is_whitespace()
        {
            let mut ids = Vec::new();
            merge::merge(&self.vocabulary, &unstable[..cut], &mut ids)?;
            merge::merge(&self.vocabulary, &unstable[cut..], &mut ids)?;
            completions.insert(ids);
        }
        Ok((stable, completions))
    }

    /// Appends the ids of bytes that may not be UTF-8: those before the first invalid byte are text, except
    /// its last piece, which is one piece with all bytes from the invalid one on. Through a pipeline,
    /// they are a text in which U+FFFD stands for each byte that is part of no character.
    ///
    /// # Errors
    /// As [`Encoder::encode_ordinary`].
    pub fn encode_bytes(&self, bytes: &[u8], ids: &mut Vec<TokenId>) -> Result<(), EncodeError> {
        if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
            return self.encode_ordinary(text, ids);
        }
        self.with_workspace(|workspace| {
            self.encode_not_utf8(workspace, bytes, &Allowed::Nothing, ids)
        })
    }

    /// As [`encode_bytes`](Self::encode_bytes), for bytes that are not UTF-8; `allowed` special tokens become their ids,
    /// without a pipeline, or by the map of a SentencePiece model, only those before the first invalid byte.
    pub(super) fn encode_not_utf8(
        &self,
        workspace: &mut Workspace,
        bytes: &[u8],
        allowed: &Allowed,
        ids: &mut Vec<TokenId>,
    ) -> Result<(), EncodeError> {
        let pipeline = self.pipeline.as_ref();
        if pipeline.is_some_and(|pipeline| !pipeline.reads_bytes()) {
            let text = with_each_byte_replaced(bytes);
            return self.append(workspace, text.as_str(), allowed, ids, usize::MAX);
        }
        let valid = valid_start(bytes);
        if let Some(pipeline) = pipeline {
            // The gap that runs into the invalid bytes goes on with them.
            let last_gap = match self.split_at_tokens(valid, allowed).last() {
                Some(Part::Text(gap)) => gap.start,
                Some(Part::Token(..)) | None => valid.len(),
            };
            self.append(workspace, &valid[..last_gap], allowed, ids, usize::MAX)?;
            let mut pieces = self.piece_encoder(workspace, ids, Mode::Append);
            let rest = Gap::of_bytes(&bytes[last_gap..]);
            let to_end = |_: &mut PieceEncoder<'_>| ControlFlow::Continue(());
            let flow = self.encode_gap(pipeline, &mut pieces, rest, allowed, to_end)?;
            debug_assert!(flow.is_continue(), "nothing stops it");
            return Ok(());
        }
        let mut tokens = Vec::new();
        self.append(workspace, valid, allowed, &mut tokens, usize::MAX)?;
        let last_piece = self.last_piece(valid, allowed)?;
        let mut rest = self.take_unstable(&mut tokens, last_piece)?;
        let invalid = &bytes[valid.len()..];
        rest.with_room(invalid.len()).extend_from_slice(invalid);
        merge::encode_piece(&self.vocabulary, &rest, &mut tokens)?;
        ids.with_room(tokens.len()).append(&mut tokens);
        Ok(())
    }

    /// Returns the last piece of a text, or none if the text ends in an allowed special token.
    fn last_piece<'t>(
        &self,
        text: &'t str,
        allowed: &Allowed,
    ) -> Result<Option<&'t [u8]>, EncodeError> {
        let ordinary = match self.split_at_tokens(text, allowed).last() {
            Some(Part::Text(gap)) => &text[gap],
            Some(Part::Token(..)) | None => return Ok(None),
        };
        let mut pieces = self.splitter.pieces(ordinary);
        let mut chunk = Vec::new();
        let mut last = None;
        while pieces.next_chunk(&mut chunk)? {
            checkpoint::pass()?;
            last = chunk.last().cloned();
        }
        // As bytes, because an external splitter may cut within characters.
        Ok(last.map(|piece| &ordinary.as_bytes()[piece]))
    }

    /// Removes the ids of the last piece from `ids` and returns their bytes. Where the piece starts with
    /// whitespace, the ids of whitespace before it are removed too: with more text, the pieces there may be
    /// cut differently.
    fn take_unstable(
        &self,
        ids: &mut Vec<TokenId>,
        last_piece: Option<&[u8]>,
    ) -> Result<Vec<u8>, EncodeError> {
        let mut last_ids = Vec::new();
        if let Some(piece) = last_piece {
            self.encode_piece(piece, &mut last_ids)?;
        }
        let is_whitespace = |id: &TokenId| {
            self.vocabulary.bytes(*id).is_some_and(|token| {
                token
                    .iter()
                    .all(|byte| matches!(byte, b' ' | b'\n' | b'\t'))
            })
        };
        // An external splitter may have returned other pieces the first time.
        let mut start = ids.len().saturating_sub(last_ids.len());
        if ids.get(start).is_some_and(is_whitespace) {
            start -= ids[..start]
                .iter()
                .rev()
                .take_while(|id| is_whitespace(id))
                .count();
        }
        let mut bytes = Vec::new();
        for id in ids.drain(start..) {
            let spelling = self.spelling(id);
            bytes.with_room(spelling.len()).extend_from_slice(spelling);
        }
        Ok(bytes)
    }

    /// The bytes of an ordinary token; none for a special token, which an external splitter may bring here.
    fn spelling(&self, id: TokenId) -> &[u8] {
        self.vocabulary.bytes(id).unwrap_or_default()
    }
}

/// The last character of `bytes` and its offset, if they end in a complete one.
fn last_character(bytes: &[u8]) -> Option<(usize, char)> {
    let start = bytes.iter().rposition(|byte| byte & 0xC0 != 0x80)?;
    let last = std::str::from_utf8(&bytes[start..]).ok()?.chars().next()?;
    Some((start, last))
}
