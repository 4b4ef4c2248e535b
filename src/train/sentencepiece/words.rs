//! Cutting sentences into words.

use std::ops::Range;

use memchr::memchr;

use super::INNER_MARK;

/// Where words end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordRules {
    /// Whether a sentence is cut at all.
    pub split_by_whitespace: bool,
    /// Whether a word ends with its mark instead of beginning with it.
    pub treat_whitespace_as_suffix: bool,
    /// Whether successive marks stay together.
    pub allow_whitespace_only_pieces: bool,
}

impl WordRules {
    /// Calls `visit` with the range of each word of a sentence, which is a range of `text`.
    pub(super) fn for_each<E>(
        self,
        text: &[u8],
        sentence: Range<usize>,
        mut visit: impl FnMut(Range<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Range { mut start, end } = sentence;
        let is_mark = |at: usize| at < end && text[at] == INNER_MARK;
        while start < end {
            let mut next = end;
            if self.split_by_whitespace {
                // The first character never ends a word before it.
                let mut from = start + usize::from(!self.treat_whitespace_as_suffix);
                if self.allow_whitespace_only_pieces && !self.treat_whitespace_as_suffix {
                    while is_mark(from) && is_mark(from - 1) {
                        from += 1;
                    }
                }
                if let Some(found) = memchr(INNER_MARK, &text[from.min(end)..end]) {
                    next = from + found;
                    if self.treat_whitespace_as_suffix {
                        next += 1;
                        while self.allow_whitespace_only_pieces && is_mark(next) {
                            next += 1;
                        }
                    }
                }
            }
            visit(start..next)?;
            start = next;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::WordRules;

    fn words(text: &str, suffix: bool, marks: bool) -> Vec<String> {
        let rules = WordRules {
            split_by_whitespace: true,
            treat_whitespace_as_suffix: suffix,
            allow_whitespace_only_pieces: marks,
        };
        let mut words = Vec::new();
        let text = text.replace('_', " ");
        let cut = rules.for_each(text.as_bytes(), 0..text.len(), |word| {
            words.push(text[word].replace(' ', "_"));
            Ok::<(), Infallible>(())
        });
        assert_eq!(cut, Ok(()));
        words
    }

    #[test]
    fn words_begin_or_end_with_marks() {
        assert_eq!(words("a__b_", false, false), ["a", "_", "_b", "_"]);
        assert_eq!(words("__a__b_", false, true), ["__a", "__b", "_"]);
        assert_eq!(words("a__b_", true, false), ["a_", "_", "b_"]);
        assert_eq!(words("a__b_c", true, true), ["a__", "b_", "c"]);
        assert_eq!(words("___", false, true), ["___"]);
        assert_eq!(words("", false, false), [""; 0]);
    }
}
