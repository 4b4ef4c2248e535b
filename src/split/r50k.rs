//! The r50k family (gpt2, `r50k_base`, `p50k_base`, `p50k_edit`):
//! `'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s`

use super::borders::Borders;
use super::cursor::Haystack;
use super::rules::{self, Contractions};
use crate::checkpoint::{Checkpoint, Interrupted};
use crate::unicode::classify::Class;

/// The parameters of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct R50k {
    /// Which contractions are pieces of their own.
    pub contractions: Contractions,
    /// The most characters of a number in one piece; all of them if there are no borders around numbers.
    pub longest_number: usize,
    /// The borders of texts.
    pub borders: Borders,
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
        let haystack = Haystack::new(text, offset, self.borders, checkpoint);
        let Some((first, length)) = haystack.class_at(offset) else {
            return Ok(text.len());
        };
        // A space is part of the letters, numbers or others after it.
        let (class, start) = match haystack.class_at(offset + length) {
            Some((second, _)) if first == Class::Space && !rules::is_whitespace(second) => {
                (second, offset + length)
            }
            _ => (first, offset),
        };
        if rules::is_letter(class) {
            haystack.run_end(start, rules::is_letter)
        } else if rules::is_number(class) {
            haystack.short_run_end(start, self.longest_number, rules::is_number)
        } else if rules::is_other(class) {
            haystack.run_end(start, rules::is_other)
        } else {
            let run = haystack.run_end(offset, rules::is_whitespace)?;
            Ok(rules::whitespace_end(haystack, offset, run))
        }
    }
}
