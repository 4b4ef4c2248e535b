//! The r50k family (gpt2, `r50k_base`, `p50k_base`, `p50k_edit`):
//! `'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s`

use super::cursor::{class_at, run_end};
use super::rules::{self, Contractions};
use crate::checkpoint::{Checkpoint, Interrupted};
use crate::unicode::classify::Class;

/// The parameters of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct R50k {
    /// Which contractions are pieces of their own.
    pub contractions: Contractions,
}

impl R50k {
    /// Returns the end of the piece that starts at `offset`, which is inside `text`.
    ///
    /// # Errors
    /// [`Interrupted`] from the checkpoint, passed during long pieces.
    #[inline]
    pub(super) fn piece_end(
        self,
        text: &[u8],
        offset: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<usize, Interrupted> {
        if let Some(end) = rules::contraction_end(text, offset, self.contractions) {
            return Ok(end);
        }
        let Some((first, length)) = class_at(text, offset) else {
            return Ok(text.len());
        };
        // A space is part of the letters, numbers or others after it.
        let (class, start) = match class_at(text, offset + length) {
            Some((second, _)) if first == Class::Space && !rules::is_whitespace(second) => {
                (second, offset + length)
            }
            _ => (first, offset),
        };
        if rules::is_letter(class) {
            run_end(text, start, checkpoint, rules::is_letter)
        } else if rules::is_number(class) {
            run_end(text, start, checkpoint, rules::is_number)
        } else if rules::is_other(class) {
            run_end(text, start, checkpoint, rules::is_other)
        } else {
            let run = run_end(text, offset, checkpoint, rules::is_whitespace)?;
            Ok(rules::whitespace_end(text, offset, run))
        }
    }
}
