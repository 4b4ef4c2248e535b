//! The o200k family (`o200k_base`, `o200k_harmony` and relatives):
//! ```text
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! |[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//! ```

use super::borders::Borders;
use super::cursor::Haystack;
use super::rules::{self, Contractions, Tail};
use crate::checkpoint::Interrupted;
use crate::unicode::character::first;
use crate::unicode::classify::Class;
use crate::unicode::property::is_han;

/// The parameters of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct O200k {
    /// Which contractions are part of the word before them.
    pub contractions: Contractions,
    /// The most characters of a number in one piece.
    pub longest_number: usize,
    /// The characters after a run of others that belong to it.
    pub tail: Tail,
    /// Whether whitespace at the end of the text is one piece even if it contains newlines.
    pub trailing_whitespace_first: bool,
    /// Whether `[\p{Han}]+` comes first and words have no characters of that script.
    pub han_apart: bool,
}

impl O200k {
    /// Returns the end of the piece that starts at `offset`, which is inside `text`.
    ///
    /// # Errors
    /// [`Interrupted`] from the checkpoint, passed during long pieces.
    #[inline]
    pub(super) fn piece_end(self, text: &[u8], offset: usize) -> Result<usize, Interrupted> {
        let haystack = Haystack::new(text, offset, Borders::NONE);
        let Some((class, length)) = haystack.class_at(offset) else {
            return Ok(text.len());
        };
        if self.is_apart(text, offset) {
            return haystack.run_end_by(offset, |_, at| self.is_apart(text, at.start));
        }
        if rules::is_number(class) {
            return haystack.short_run_end(offset, self.longest_number, rules::is_number);
        }
        if class != Class::Newline
            && let Some(end) = self.word_end(haystack, offset, class, length)?
        {
            return Ok(end);
        }
        let second = haystack.class_at(offset + length).map(|(class, _)| class);
        if rules::is_other(class) || (class == Class::Space && second.is_some_and(rules::is_other))
        {
            let others = haystack.run_end(offset + length, rules::is_other)?;
            return self.tail.end(haystack, others);
        }
        rules::whitespace_or_newlines_end(haystack, offset, self.trailing_whitespace_first)
    }

    /// Returns whether the character at `offset` belongs to no word because of its script.
    fn is_apart(self, text: &[u8], offset: usize) -> bool {
        self.han_apart && first(&text[offset..]).is_some_and(is_han)
    }

    /// Returns the end of the word at `offset`, whose first character has class `first` and `length` bytes:
    /// upper case, then lower case, where caseless letters and marks count as both; one leading character
    /// that is neither letter nor number may precede.
    ///
    /// The regular expression tries the first alternative (some lower case at the end) before the second, and
    /// matches as much upper case as it can before it backtracks. So, `upper` being the end of the upper-case
    /// run:
    /// * if lower case follows, the word continues to the end of the lower-case run;
    /// * otherwise, if the run contains a caseless character, the word ends after the last one: the
    ///   characters that backtracking released are upper case;
    /// * otherwise, if the first character is a mark (leading character or word), the mark alone is the word:
    ///   the first alternative matches it before the second is tried;
    /// * otherwise the second alternative matches the run, if there is one.
    #[inline]
    fn word_end(
        self,
        haystack: Haystack<'_>,
        offset: usize,
        first: Class,
        length: usize,
    ) -> Result<Option<usize>, Interrupted> {
        let start = if rules::is_letter(first) {
            offset
        } else {
            offset + length
        };
        let mut last_caseless = None;
        let mut lower_follows = false;
        let is_apart = |at: usize| self.is_apart(haystack.text, at);
        let upper = haystack.run_end_by(start, |class, at| {
            match class {
                _ if is_apart(at.start) => return false,
                Class::Upper => {}
                Class::Caseless | Class::Mark => last_caseless = Some(at.end),
                Class::Lower => {
                    lower_follows = true;
                    return false;
                }
                _ => return false,
            }
            true
        })?;
        let end = if lower_follows {
            haystack.run_end_by(upper, |class, at| {
                matches!(class, Class::Lower | Class::Caseless | Class::Mark) && !is_apart(at.start)
            })?
        } else if let Some(end) = last_caseless {
            end
        } else if first == Class::Mark {
            start
        } else if upper > start {
            upper
        } else {
            return Ok(None);
        };
        let contraction = rules::contraction_end(haystack.text, end, self.contractions);
        Ok(Some(contraction.unwrap_or(end)))
    }
}

// The cl100k family (`cl100k_base`, Llama 3, Qwen 2, Qwen 3.5, GPT-4-like patterns):
// ```text
// '(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+
// |\s++$|\s*[\r\n]|\s+(?!\S)|\s
// ```

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
    pub(super) fn piece_end(self, text: &[u8], offset: usize) -> Result<usize, Interrupted> {
        if let Some(end) = rules::contraction_end(text, offset, self.contractions) {
            return Ok(end);
        }
        let haystack = Haystack::new(text, offset, self.borders);
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

// The r50k family (gpt2, `r50k_base`, `p50k_base`, `p50k_edit`):
// `'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s`

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
    pub(super) fn piece_end(self, text: &[u8], offset: usize) -> Result<usize, Interrupted> {
        if let Some(end) = rules::contraction_end(text, offset, self.contractions) {
            return Ok(end);
        }
        let haystack = Haystack::new(text, offset, self.borders);
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
