//! The o200k family (`o200k_base`, `o200k_harmony` and relatives):
//! ```text
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! |[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//! ```

use super::cursor::{class_at, run_end, run_end_by, short_run_end};
use super::rules::{self, Contractions};
use crate::checkpoint::{Checkpoint, Interrupted};
use crate::unicode::classify::Class;

/// What the spellings of this family leave open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct O200k {
    /// Which contractions go with the word before them.
    pub contractions: Contractions,
    /// The most characters of a number that one piece holds.
    pub longest_number: usize,
    /// Whether blanks at the end of the text are one piece even if they hold newlines.
    pub trailing_blanks_first: bool,
}

impl O200k {
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
        let Some((first, length)) = class_at(text, place) else {
            return Ok(text.len());
        };
        if rules::is_number(first) {
            return short_run_end(
                text,
                place,
                self.longest_number,
                checkpoint,
                rules::is_number,
            );
        }
        if first != Class::Newline
            && let Some(end) = self.word_end(text, place, first, length, checkpoint)?
        {
            return Ok(end);
        }
        let second = class_at(text, place + length).map(|(class, _)| class);
        if rules::is_other(first) || (first == Class::Space && second.is_some_and(rules::is_other))
        {
            let others = run_end(text, place + length, checkpoint, rules::is_other)?;
            return run_end_by(text, others, checkpoint, |class, end| {
                class == Class::Newline || text[end - 1] == b'/'
            });
        }
        rules::blanks_or_newlines_end(text, place, self.trailing_blanks_first, checkpoint)
    }

    /// The end of the word at `place`, whose first character has class `first`: upper case, then lower case, where
    /// caseless letters and marks are both; one leading character that is neither letter nor number may stand before.
    ///
    /// The engine tries the first alternative (some lower case at the end) before the second, and takes as much upper
    /// case as it can before it gives characters back. So, `upper` being the end of the upper-case run:
    /// * lower case follows: the word goes on to the end of the lower-case run;
    /// * else, the run holds a caseless character: the word ends after the last one (what was given back is upper case);
    /// * else, a mark stands first (it may be leading character or word): the mark alone, since the first alternative
    ///   takes it before the second is tried;
    /// * else the second alternative takes the run, if there is one.
    #[inline]
    fn word_end(
        self,
        text: &[u8],
        place: usize,
        first: Class,
        length: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Option<usize>, Interrupted> {
        let start = if rules::is_letter(first) {
            place
        } else {
            place + length
        };
        let mut last_both = None;
        let mut lower_follows = false;
        let upper = run_end_by(text, start, checkpoint, |class, end| {
            match class {
                Class::Upper => {}
                Class::Caseless | Class::Mark => last_both = Some(end),
                Class::Lower => {
                    lower_follows = true;
                    return false;
                }
                _ => return false,
            }
            true
        })?;
        let end = if lower_follows {
            run_end(text, upper, checkpoint, |class| {
                matches!(class, Class::Lower | Class::Caseless | Class::Mark)
            })?
        } else if let Some(end) = last_both {
            end
        } else if first == Class::Mark {
            start
        } else if upper > start {
            upper
        } else {
            return Ok(None);
        };
        let contraction = rules::contraction_end(text, end, self.contractions);
        Ok(Some(contraction.unwrap_or(end)))
    }
}
