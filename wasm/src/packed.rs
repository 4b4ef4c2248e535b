//! The binary form in which tokens come to the page; `python/bytemill/playground/wire.py` describes it and is its definition.

use bytemill::token::TokenId;

/// A length that stands for a longer one.
const LONG: usize = 255;

/// The tokens of a text.
#[derive(Debug)]
pub struct Tokens {
    /// Number of bytes of the text.
    pub size: usize,
    /// The IDs.
    pub ids: Vec<TokenId>,
    /// Bytes of the text that each takes.
    pub lengths: Vec<usize>,
    /// Indices of special tokens.
    pub special: Vec<usize>,
    /// Indices of tokens before which text is left out, and the number of its bytes.
    pub gaps: Vec<(usize, usize)>,
}

impl Tokens {
    /// Returns the binary form; the time is left to the caller.
    pub fn pack(&self, sequence: u32) -> Vec<u8> {
        let long: Vec<(usize, usize)> = self
            .lengths
            .iter()
            .copied()
            .enumerate()
            .filter(|&(_, length)| length >= LONG)
            .collect();
        let mut block = Vec::with_capacity(32 + 5 * self.ids.len());
        block.extend(b"BMT1");
        block.extend(sequence.to_le_bytes());
        let counts = [
            self.ids.len(),
            self.size,
            self.special.len(),
            long.len(),
            self.gaps.len(),
            0,
        ];
        push_words(&mut block, counts);
        block.extend(self.ids.iter().flat_map(|id| id.to_le_bytes()));
        push_words(&mut block, self.special.iter().copied());
        push_words(
            &mut block,
            long.iter().flat_map(|&(index, length)| [index, length]),
        );
        push_words(
            &mut block,
            self.gaps.iter().flat_map(|&(index, size)| [index, size]),
        );
        let short = self.lengths.iter().map(|&length| length.min(LONG));
        block.extend(short.map(|length| u8::try_from(length).unwrap_or(u8::MAX)));
        block.resize(block.len().next_multiple_of(4), 0);
        block
    }
}

/// Appends numbers as words of 32 bits.
fn push_words(block: &mut Vec<u8>, numbers: impl IntoIterator<Item = usize>) {
    for number in numbers {
        block.extend(word(number).to_le_bytes());
    }
}

/// Returns a number as a word. Sizes and counts of what is in the module's memory are below 2^32.
///
/// # Panics
/// It is larger.
pub fn word(number: usize) -> u32 {
    u32::try_from(number).expect("what a memory of 32 bits holds has a number below 2^32")
}

/// Returns lengths and gaps of spans: a token begins where the one before it ends, or after a gap.
pub fn spans(starts: &[usize], ends: &[usize], size: usize) -> (Vec<usize>, Vec<(usize, usize)>) {
    let (mut lengths, mut gaps) = (Vec::new(), Vec::new());
    let mut reach = 0;
    for (index, (&start, &end)) in starts.iter().zip(ends).enumerate() {
        let end = end.max(reach);
        let start = start.max(reach).min(end);
        if start > reach {
            gaps.push((index, start - reach));
        }
        lengths.push(end - start);
        reach = end;
    }
    if size > reach {
        gaps.push((starts.len(), size - reach));
    }
    (lengths, gaps)
}

#[cfg(test)]
mod tests {
    use super::{Tokens, spans};

    #[test]
    fn spans_have_gaps_and_do_not_overlap() {
        let (lengths, gaps) = spans(&[1, 3, 2, 9], &[3, 4, 4, 10], 12);
        assert_eq!(lengths, [2, 1, 0, 1]);
        assert_eq!(gaps, [(0, 1), (3, 5), (4, 2)]);
    }

    #[test]
    fn long_tokens_stand_apart() {
        let tokens = Tokens {
            size: 301,
            ids: vec![7, 8],
            lengths: vec![300, 1],
            special: vec![1],
            gaps: vec![],
        };
        let block = tokens.pack(5);
        let words: Vec<u32> = block[4..]
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        assert_eq!(words[..7], [5, 2, 301, 1, 1, 0, 0]);
        assert_eq!(words[7..12], [7, 8, 1, 0, 300]);
        assert_eq!(block[block.len() - 4..], [255, 1, 0, 0]);
    }
}
