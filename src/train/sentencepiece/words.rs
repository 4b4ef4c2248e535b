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

/// Bytes whose separators are found together.
const BLOCK: usize = 64;

/// The texts between separators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Between {
    /// Number of texts that are not empty.
    pub(super) texts: u64,
    /// Number of words in them without a character.
    pub(super) empty: u64,
}

/// Calls `visit` with the range of each word that has a character and stands between the spaces of a text, or of
/// texts with line breaks between them.
pub(super) fn for_each_between<const LINES: bool, E>(
    text: &[u8],
    mut visit: impl FnMut(Range<usize>) -> Result<(), E>,
) -> Result<Between, E> {
    let (mut start, mut words, mut all_spaces, mut texts) = (0, 0, 0, 0);
    let mut after_break = 1;
    for (at, chunk) in (0..).step_by(BLOCK).zip(text.chunks(BLOCK)) {
        let mut block = [0; BLOCK];
        let block = chunk.first_chunk().unwrap_or_else(|| {
            block[..chunk.len()].copy_from_slice(chunk);
            &block
        });
        let spaces = bits_of(block, b' ');
        let breaks = if LINES { bits_of(block, b'\n') } else { 0 };
        all_spaces += u64::from(spaces.count_ones());
        texts += u64::from((breaks & !(breaks << 1 | after_break)).count_ones());
        after_break = breaks >> (BLOCK - 1);
        let mut ends = spaces | breaks;
        while ends != 0 {
            let end = at + ends.trailing_zeros() as usize;
            if end > start {
                words += 1;
                visit(start..end)?;
            }
            start = end + 1;
            ends &= ends - 1;
        }
    }
    if start < text.len() {
        words += 1;
        visit(start..text.len())?;
    }
    let is_open = |&last: &u8| !LINES || last != b'\n';
    texts += u64::from(text.last().is_some_and(is_open));
    // Each text has one word more than spaces.
    let empty = all_spaces + texts - words;
    Ok(Between { texts, empty })
}

/// Returns a bit for each byte of a block, whether it is `byte`: in plain arithmetic on eight bytes at a time, which
/// takes an eighth of the time of finding them one after the other.
#[inline]
fn bits_of(block: &[u8; BLOCK], byte: u8) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const LOW: u64 = u64::from_le_bytes([0x7F; 8]);
    /// Moves the lowest bit of byte n to bit n of the highest byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let wanted = ONES * u64::from(byte);
    let (words, _) = block.as_chunks::<8>();
    let bits = words.iter().map(|word| {
        let other = u64::from_le_bytes(*word) ^ wanted;
        // No carry leaves a byte.
        let is_zero = !(((other & LOW) + LOW) | other | LOW) >> 7;
        is_zero.wrapping_mul(GATHER) >> 56
    });
    (0..)
        .step_by(8)
        .zip(bits)
        .fold(0, |all, (at, bits)| all | bits << at)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::{Between, WordRules, bits_of, for_each_between};

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

    #[test]
    fn separators_have_bits() {
        let block: [u8; 64] =
            std::array::from_fn(|at| b" \n!\x1F\xA0\0\xFFa"[(3 * at + at / 8) % 8]);
        for byte in [b' ', b'\n', 0, 0xFF] {
            let bits = bits_of(&block, byte);
            for (at, &found) in block.iter().enumerate() {
                assert_eq!(bits >> at & 1 == 1, found == byte, "{at} {byte}");
            }
        }
    }

    /// Compared with splitting, for texts that end anywhere in a block.
    #[test]
    fn words_are_between_spaces_and_breaks() {
        let text = " a  bc\n\n\nde f g\n   \nh \n".repeat(9);
        for from in 0..text.len() {
            for to in from..text.len() {
                let text = &text[from..to];
                let mut words = Vec::new();
                let found = for_each_between::<true, _>(text.as_bytes(), |word| {
                    words.push(&text[word]);
                    Ok::<(), Infallible>(())
                });
                let lines = text.split('\n').filter(|line| !line.is_empty());
                let all: Vec<&str> = lines.clone().flat_map(|line| line.split(' ')).collect();
                let (empty, some): (Vec<&str>, _) = all.iter().partition(|word| word.is_empty());
                assert_eq!(words, some);
                let expected = Between {
                    texts: lines.count() as u64,
                    empty: empty.len() as u64,
                };
                assert_eq!(found, Ok(expected));
            }
        }
        let found = for_each_between::<false, Infallible>(b" a\n\n  b", |_| Ok(()));
        assert_eq!(found, Ok(Between { texts: 1, empty: 2 }));
    }
}
