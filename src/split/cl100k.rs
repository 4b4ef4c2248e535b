//! The cl100k family (`cl100k_base`, Llama 3, Qwen 2, GPT-4-like patterns):
//! `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`

use super::cursor::{class_at, run_end, short_run_end};
use super::rules::{self, Contractions};
use crate::checkpoint::{Checkpoint, Interrupted};
use crate::unicode::classify::Class;

/// What the spellings of this family leave open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cl100k {
    /// Which contractions are pieces of their own.
    pub contractions: Contractions,
    /// The most characters of a number that one piece holds.
    pub longest_number: usize,
    /// Whether blanks at the end of the text are one piece even if they hold newlines.
    pub trailing_blanks_first: bool,
}

impl Cl100k {
    /// Where the piece that starts at `place` ends. `place` must be inside `text`.
    ///
    /// # Errors
    /// [`Interrupted`] from the checkpoint, asked during long pieces.
    #[inline]
    pub(super) fn piece_end(
        self,
        text: &[u8],
        place: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<usize, Interrupted> {
        if let Some(end) = rules::contraction_end(text, place, self.contractions) {
            return Ok(end);
        }
        let Some((first, length)) = class_at(text, place) else {
            return Ok(text.len());
        };
        if rules::is_letter(first) {
            return run_end(text, place + length, checkpoint, rules::is_letter);
        }
        if rules::is_number(first) {
            return short_run_end(
                text,
                place,
                self.longest_number,
                checkpoint,
                rules::is_number,
            );
        }
        let second = class_at(text, place + length).map(|(class, _)| class);
        if first != Class::Newline && second.is_some_and(rules::is_letter) {
            return run_end(text, place + length, checkpoint, rules::is_letter);
        }
        if rules::is_other(first) || (first == Class::Space && second.is_some_and(rules::is_other))
        {
            let others = run_end(text, place + length, checkpoint, rules::is_other)?;
            return run_end(text, others, checkpoint, |class| class == Class::Newline);
        }
        rules::blanks_or_newlines_end(text, place, self.trailing_blanks_first, checkpoint)
    }
}
