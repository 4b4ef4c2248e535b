//! The cl100k family (`cl100k_base`, Llama 3, Qwen 2, GPT-4-like patterns):
//! ```text
//! '(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+
//! |\s++$|\s*[\r\n]|\s+(?!\S)|\s
//! ```

use super::cursor::{class_at, run_end, short_run_end};
use super::rules::{self, Contractions};
use crate::checkpoint::{Checkpoint, Interrupted};
use crate::unicode::classify::Class;

/// The parameters of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cl100k {
    /// Which contractions are pieces of their own.
    pub contractions: Contractions,
    /// The most characters of a number in one piece.
    pub longest_number: usize,
    /// Whether whitespace at the end of the text is one piece even if it contains newlines.
    pub trailing_whitespace_first: bool,
}

impl Cl100k {
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
        if rules::is_letter(first) {
            return run_end(text, offset + length, checkpoint, rules::is_letter);
        }
        if rules::is_number(first) {
            return short_run_end(
                text,
                offset,
                self.longest_number,
                checkpoint,
                rules::is_number,
            );
        }
        let second = class_at(text, offset + length).map(|(class, _)| class);
        if first != Class::Newline && second.is_some_and(rules::is_letter) {
            return run_end(text, offset + length, checkpoint, rules::is_letter);
        }
        if rules::is_other(first) || (first == Class::Space && second.is_some_and(rules::is_other))
        {
            let others = run_end(text, offset + length, checkpoint, rules::is_other)?;
            return run_end(text, others, checkpoint, |class| class == Class::Newline);
        }
        rules::whitespace_or_newlines_end(text, offset, self.trailing_whitespace_first, checkpoint)
    }
}
