//! The cl100k family (`cl100k_base`, Llama 3, Qwen 2, Qwen 3.5, GPT-4-like patterns):
//! ```text
//! '(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+
//! |\s++$|\s*[\r\n]|\s+(?!\S)|\s
//! ```

use super::borders::Borders;
use super::cursor::Haystack;
use super::rules::{self, Contractions, Tail};
use crate::checkpoint::{Checkpoint, Interrupted};
use crate::unicode::classify::Class;

/// The parameters of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cl100k {
    /// Which contractions are pieces of their own.
    pub contractions: Contractions,
    /// The most characters of a number in one piece.
    pub longest_number: usize,
    /// Whether marks count as letters. Some of these patterns let a mark lead a word all the same, which makes no
    /// difference.
    pub marks_are_letters: bool,
    /// Whether newlines after a run of other characters belong to it.
    pub newlines_after_others: bool,
    /// Whether whitespace at the end of the text is one piece even if it contains newlines.
    pub trailing_whitespace_first: bool,
    /// The borders of texts.
    pub borders: Borders,
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
        let haystack = Haystack::new(text, offset, self.borders, checkpoint);
        let Some((first, length)) = haystack.class_at(offset) else {
            return Ok(text.len());
        };
        let is_letter =
            |class| rules::is_letter(class) || (self.marks_are_letters && class == Class::Mark);
        if is_letter(first) {
            return haystack.run_end(offset + length, is_letter);
        }
        if rules::is_number(first) {
            return haystack.short_run_end(offset, self.longest_number, rules::is_number);
        }
        let second = haystack.class_at(offset + length).map(|(class, _)| class);
        if first != Class::Newline && second.is_some_and(is_letter) {
            return haystack.run_end(offset + length, is_letter);
        }
        let is_other = |class| rules::is_other(class) && !is_letter(class);
        if is_other(first) || (first == Class::Space && second.is_some_and(is_other)) {
            let others = haystack.run_end(offset + length, is_other)?;
            return Tail::of(self.newlines_after_others).end(haystack, others);
        }
        rules::whitespace_or_newlines_end(haystack, offset, self.trailing_whitespace_first)
    }
}
