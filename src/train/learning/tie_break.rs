//! The order of candidates: by count, then by the tie-breaking rule.

use std::cmp::Ordering;

use super::token_bytes::TokenBytes;
use crate::token::{Pair, TokenId};
use crate::train::{FIRST_MERGE, Initial, TieBreak, huggingface_order};

/// A pair that may be merged next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// How often it occurs.
    pub(super) count: u64,
    /// Orders candidates of the same count, the smallest first.
    pub(super) tie_key: u64,
    pub(super) pair: Pair,
}

/// Orders candidates of the same count by a rule, with what the rule knows about tokens.
#[derive(Debug)]
pub(in crate::train) struct TieBreaker(Rule);

#[derive(Debug)]
enum Rule {
    SmallestPair,
    /// The index of each byte token in Hugging Face's alphabet.
    HuggingFace(Box<[u32; 256]>),
    GreatestBytes(TokenBytes),
    FirstSeen,
    ShortestText(TextKeys),
}

impl TieBreaker {
    /// A tie-breaker that knows the byte tokens.
    pub(super) fn new(rule: TieBreak, initial: &Initial) -> Self {
        Self(match rule {
            TieBreak::SmallestPair => Rule::SmallestPair,
            TieBreak::HuggingFace => {
                let order = huggingface_order();
                let order = initial
                    .bytes
                    .map(|byte| u32::from(order[usize::from(byte)]));
                Rule::HuggingFace(Box::new(order))
            }
            TieBreak::GreatestBytes => {
                Rule::GreatestBytes(TokenBytes::new(initial.bytes.map(|byte| [byte])))
            }
            TieBreak::FirstSeen => Rule::FirstSeen,
        })
    }

    /// A tie-breaker by which the pair of the fewest characters comes first, then that of the smallest text.
    /// Token k is the k-th of some characters, which ascend.
    pub(in crate::train) fn shortest_text(alphabet: &[char]) -> Self {
        Self(Rule::ShortestText(TextKeys::new(alphabet)))
    }

    /// Adds the next token.
    pub(super) fn push(&mut self, pair: Pair) {
        match &mut self.0 {
            Rule::GreatestBytes(bytes) => bytes.push(pair),
            Rule::ShortestText(texts) => texts.push(pair),
            Rule::SmallestPair | Rule::HuggingFace(_) | Rule::FirstSeen => {}
        }
    }

    /// Returns the [`Candidate::tie_key`] of a pair whose first occurrence is `first`.
    pub(super) fn tie_key(&self, pair: Pair, first: u64) -> u64 {
        match &self.0 {
            Rule::SmallestPair => pair.key(),
            Rule::HuggingFace(byte_order) => {
                let number = |token: TokenId| {
                    if token < FIRST_MERGE {
                        byte_order[token as usize]
                    } else {
                        token
                    }
                };
                Pair::new(number(pair.left), number(pair.right)).key()
            }
            // The first bytes of the left token, greatest first; `order` compares all bytes where these are
            // equal.
            Rule::GreatestBytes(bytes) => {
                let mut prefix = [0; 8];
                for (to, from) in prefix.iter_mut().zip(bytes.of(pair.left)) {
                    *to = *from;
                }
                !u64::from_be_bytes(prefix)
            }
            Rule::FirstSeen => first,
            Rule::ShortestText(texts) => texts.key(pair),
        }
    }

    /// Returns whether the key of a pair changes as the pair loses occurrences.
    pub(super) fn depends_on_occurrences(&self) -> bool {
        matches!(self.0, Rule::FirstSeen)
    }

    /// Returns whether different pairs of the same count have different keys.
    pub(super) fn keys_are_unique(&self) -> bool {
        !matches!(self.0, Rule::GreatestBytes(_) | Rule::ShortestText(_))
    }

    /// Returns whether a pair with a new token comes after each pair of the same count that its predecessor comes
    /// after, in the sense of [`batch`](super::batch).
    pub(super) fn orders_new_pairs_last(&self) -> bool {
        !matches!(self.0, Rule::GreatestBytes(_))
    }

    /// Compares two candidates; the one that is merged first is less.
    #[inline]
    pub(super) fn order(&self, first: &Candidate, second: &Candidate) -> Ordering {
        let order = second.count.cmp(&first.count);
        let order = order.then(first.tie_key.cmp(&second.tie_key));
        if order == Ordering::Equal && !self.keys_are_unique() {
            return self.order_by_bytes(first.pair, second.pair);
        }
        order
    }

    /// Returns whether `first` is merged before `second`.
    #[inline]
    pub(super) fn precedes(&self, first: &Candidate, second: &Candidate) -> bool {
        self.order(first, second) == Ordering::Less
    }

    #[cold]
    fn order_by_bytes(&self, first: Pair, second: Pair) -> Ordering {
        match &self.0 {
            Rule::GreatestBytes(bytes) => {
                let of = |pair: Pair| (bytes.of(pair.left), bytes.of(pair.right));
                of(second).cmp(&of(first))
            }
            Rule::ShortestText(texts) => texts.order(first, second),
            Rule::SmallestPair | Rule::HuggingFace(_) | Rule::FirstSeen => Ordering::Equal,
        }
    }
}

/// The texts of all tokens, and a number for each that orders most of them: its length in characters, then its
/// first characters, each by its index in the alphabet.
#[derive(Debug)]
struct TextKeys {
    /// Bits of a character in a key.
    bits: u32,
    keys: Vec<u64>,
    texts: TokenBytes,
}

/// A key has the length above this many bits. Lengths below 2^10 fit; longer ones count as 2^10 - 1.
const LENGTH_SHIFT: u32 = 54;
const MAX_KEY_LENGTH: u64 = u64::MAX >> LENGTH_SHIFT;

impl TextKeys {
    fn new(alphabet: &[char]) -> Self {
        let last = alphabet.len().saturating_sub(1) as u64;
        let bits = (u64::BITS - last.leading_zeros()).max(1);
        let keys = (0..alphabet.len() as u64).map(|index| {
            let text = index << (LENGTH_SHIFT - bits);
            1 << LENGTH_SHIFT | text
        });
        let texts = alphabet
            .iter()
            .map(|character| character.encode_utf8(&mut [0; 4]).as_bytes().to_vec());
        Self {
            bits,
            keys: keys.collect(),
            texts: TokenBytes::new(texts),
        }
    }

    fn push(&mut self, pair: Pair) {
        self.keys.push(self.key(pair));
        self.texts.push(pair);
    }

    /// The key of the text of both tokens.
    fn key(&self, pair: Pair) -> u64 {
        let [left, right] = [pair.left, pair.right].map(|token| self.keys[token as usize]);
        let text = |key: u64| key & ((1 << LENGTH_SHIFT) - 1);
        let length = |key: u64| key >> LENGTH_SHIFT;
        // The right text follows after all characters of the left one, as far as there is room; a part of a
        // character would do no harm, but is not comparable with a whole one.
        let used = length(left) * u64::from(self.bits);
        let whole = u64::from(LENGTH_SHIFT / self.bits * self.bits);
        let mut key = text(left);
        if used < whole {
            let unused = LENGTH_SHIFT - LENGTH_SHIFT / self.bits * self.bits;
            key |= text(right) >> used >> unused << unused;
        }
        let length = (length(left) + length(right)).min(MAX_KEY_LENGTH);
        length << LENGTH_SHIFT | key
    }

    /// Compares the texts of two pairs.
    fn order(&self, first: Pair, second: Pair) -> Ordering {
        let bytes = |pair: Pair| {
            let [left, right] = [pair.left, pair.right].map(|token| self.texts.of(token));
            left.iter().chain(right)
        };
        let length = |pair: Pair| bytes(pair).filter(|&&byte| byte & 0xC0 != 0x80).count();
        let order = length(first).cmp(&length(second));
        order.then_with(|| bytes(first).cmp(bytes(second)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Candidate, TieBreaker};
    use crate::token::Pair;

    /// Also where the key of a pair holds only some of its characters.
    #[test]
    fn pairs_are_ordered_by_characters_then_by_text() {
        let large: Vec<char> = ('\u{20}'..'\u{9000}').collect();
        for alphabet in [&['a', 'b', 'é', '中'][..], &large] {
            let mut ties = TieBreaker::shortest_text(alphabet);
            let mut texts: Vec<String> = alphabet.iter().map(char::to_string).collect();
            let mut random = 1_u32;
            let mut number = |below: usize| {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                u32::try_from((random >> 8) as usize % below).unwrap_or(0)
            };
            for _ in 0..300 {
                let pair = Pair::new(number(texts.len()), number(texts.len()));
                let text = [pair.left, pair.right].map(|part| texts[part as usize].clone());
                if text.concat().chars().count() < 40 {
                    ties.push(pair);
                    texts.push(text.concat());
                }
            }
            for _ in 0..3000 {
                let [first, second] = [(); 2].map(|()| {
                    let pair = Pair::new(number(texts.len()), number(texts.len()));
                    let candidate = Candidate {
                        count: 1,
                        tie_key: ties.tie_key(pair, 0),
                        pair,
                    };
                    let text = [pair.left, pair.right].map(|part| texts[part as usize].clone());
                    (candidate, text.concat())
                });
                let key = |text: &String| (text.chars().count(), text.clone());
                assert_eq!(
                    ties.order(&first.0, &second.0),
                    key(&first.1).cmp(&key(&second.1)),
                    "{first:?} {second:?}"
                );
            }
        }
    }
}
