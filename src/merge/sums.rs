//! Texts through a Unigram model by *chunks*: the parts between places that no token crosses.
//!
//! Each path goes through such a place, so that what is before it reaches what is behind it by the sum of scores alone, and
//! by that only as it rounds. A chunk is *safe* if it has the same tokens whatever that sum is. These are found once, from a
//! sum of zero, and cached. The tokens of other chunks, some in a thousand, are found from their own sum: the scores of the
//! tokens before it, added up.

use super::unigram::{self, SHORT};
use crate::error::EncodeError;
use crate::token::TokenId;
use crate::unicode::character::length_of;
use crate::vocabulary::Vocabulary;
use crate::vocabulary::unigram::{Chunks, Unigram};

// Chunks that may be safe have their sums on the stack.
const _: () = assert!(SHORT == Chunks::LONGEST as usize);

/// The sum of scores before a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums {
    /// The sum of scores at the last place where it was needed.
    sum: f64,
    /// The number of ids before that place.
    ids: usize,
    /// A number of ids, at most as many, and the offset in the text where those end.
    placed: usize,
    offset: usize,
}

impl Sums {
    /// At the start of a text, before which there are `ids`.
    pub(crate) fn at_start(ids: usize) -> Self {
        Self {
            sum: 0.0,
            ids,
            placed: ids,
            offset: 0,
        }
    }

    /// At the start of the rest of a text, of whose first chunk the last ids are.
    pub(crate) fn behind_first(
        self,
        (unigram, chunks): (&Unigram, &Chunks),
        ids: &[TokenId],
    ) -> Self {
        let sum = sum_after(unigram, chunks, self.sum, &ids[self.ids..]);
        Self {
            sum: sum.expect("a chunk that is cached is short"),
            ..Self::at_start(ids.len())
        }
    }

    /// Appends the ids of a chunk of a text to those of the chunks before it. Returns whether it is safe.
    ///
    /// # Errors
    /// As [`encode_piece`](super::encode_piece).
    ///
    /// # Complexity
    /// O(length), and that of what is between the last chunk that was not safe and this one, if this one is not.
    pub(crate) fn encode(
        &mut self,
        vocabulary: &Vocabulary,
        (unigram, chunks): (&Unigram, &Chunks),
        (text, chunk): (&[u8], &[u8]),
        ids: &mut Vec<TokenId>,
    ) -> Result<bool, EncodeError> {
        if is_safe(unigram, chunks, chunk) {
            unigram::encode(unigram, chunk, ids)?;
            return Ok(true);
        }
        self.sum = if let Some(sum) = sum_after(unigram, chunks, self.sum, &ids[self.ids..]) {
            sum
        } else {
            // Sums may have started again inside of a chunk, at a place that is on another path.
            let known = self.place(vocabulary, unigram, text, &ids[..self.ids]);
            let here = self.place(vocabulary, unigram, text, ids);
            assert!(
                text[here..].starts_with(chunk),
                "ids stand for all of a text"
            );
            unigram::sum_behind(unigram, self.sum, &text[known..here])?
        };
        self.sum = unigram::encode_after(unigram, self.sum, chunk, ids)?;
        self.ids = ids.len();
        Ok(false)
    }

    /// Returns the offset of the text where these ids end.
    fn place(
        &mut self,
        vocabulary: &Vocabulary,
        unigram: &Unigram,
        text: &[u8],
        ids: &[TokenId],
    ) -> usize {
        let mut rest = ids[self.placed..].iter();
        while let Some(&id) = rest.next() {
            let text = &text[self.offset..];
            let character = &text[..length_of(text[0]).min(text.len())];
            let spelling = unigram.spelling().filter(|spelling| spelling.has(id));
            self.offset +=
                if let Some(tokens) = spelling.and_then(|spelling| spelling.of(character)) {
                    rest = rest.as_slice()[tokens.count() - 1..].iter();
                    character.len()
                } else if unigram.is_unknown(id) {
                    character.len()
                } else {
                    vocabulary.bytes(id).expect("it is a token").len()
                };
        }
        self.placed = ids.len();
        self.offset
    }
}

/// Returns a sum of scores with those of `ids` added; `None` if sums may start again inside of a chunk there.
fn sum_after(unigram: &Unigram, chunks: &Chunks, sum: f64, ids: &[TokenId]) -> Option<f64> {
    if ids.is_empty() {
        return Some(sum);
    }
    let scores = ids.iter().map(|&id| chunks.steps[id as usize]);
    let reach = chunks.largest * f64::from(Chunks::LONGEST);
    unigram::add(unigram.origin(), sum, scores, reach)
}

/// Bounds of the sum at the end of a token, less the one at the start of its chunk.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// The greatest sum if nothing is rounded, and where its last token starts.
    best: f64,
    start: usize,
    /// The least that the sum of that token may be, and the most that those of others may be.
    floor: f64,
    rival: f64,
    /// The least and the most that the greatest sum may be.
    low: f64,
    high: f64,
    /// The most that the sum of the best token may be.
    top: f64,
}

impl Bounds {
    const NONE: Self = Self {
        best: f64::NEG_INFINITY,
        start: 0,
        floor: f64::NEG_INFINITY,
        rival: f64::NEG_INFINITY,
        low: f64::NEG_INFINITY,
        high: f64::NEG_INFINITY,
        top: f64::NEG_INFINITY,
    };

    /// Takes a token from a start to this end.
    fn offer(&mut self, start: usize, from: &Self, score: f64, unit: f64) {
        let (best, low, top) = (
            from.best + score,
            from.low + score - unit,
            from.high + score + unit,
        );
        if best > self.best {
            self.rival = self.rival.max(self.top);
            (self.best, self.start, self.floor, self.top) = (best, start, low, top);
        } else {
            self.rival = self.rival.max(top);
        }
        self.low = self.low.max(low);
        self.high = self.high.max(top);
    }
}

/// Returns whether a chunk has the same tokens whatever the sum before it is.
fn is_safe(unigram: &Unigram, chunks: &Chunks, chunk: &[u8]) -> bool {
    let Some(unit) = chunks.unit.filter(|_| chunk.len() < SHORT) else {
        return false;
    };
    let mut ends = [Bounds::NONE; SHORT];
    let (mut start, mut furthest) = (0, 0);
    while start < chunk.len() {
        let mut from = ends[start];
        if furthest <= start {
            // All paths go through here: there is one sum, whatever it is.
            (from.best, from.low, from.high) = (0.0, 0.0, 0.0);
        }
        start += unigram.candidates(&chunk[start..], |length, _, score| {
            furthest = furthest.max(start + length);
            ends[start + length].offer(start, &from, score, unit);
        });
    }
    let mut end = chunk.len();
    while end > 0 {
        if ends[end].rival >= ends[end].floor {
            return false;
        }
        end = ends[end].start;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::unigram::encode_after;
    use crate::util::random::numbers;
    use crate::vocabulary::unigram::{Origin, ScoreList};

    /// A model of most texts of up to three letters, with scores that often have equal sums.
    fn model(number: &mut impl FnMut(usize) -> usize) -> Unigram {
        let letters = ["a", "b", "é"];
        let mut texts: Vec<String> = letters.map(str::to_owned).to_vec();
        for length in 1..3 {
            let shorter = texts.clone().into_iter();
            let shorter = shorter.filter(|text| text.chars().count() == length);
            texts.extend(shorter.flat_map(|text| letters.map(|letter| text.clone() + letter)));
        }
        texts.retain(|_| number(4) > 0);
        let digits = [1.0, 10.0, 1000.0][number(3)];
        let score = |_: &String| {
            #[expect(clippy::cast_precision_loss, reason = "it is small")]
            let score = -(number(30) as f32) / digits;
            f64::from(score)
        };
        let scores: Vec<f64> = texts.iter().map(score).collect();
        let ids: Vec<TokenId> = (0..).take(texts.len()).collect();
        Unigram::new(ScoreList {
            texts: texts.iter().map(String::as_bytes).zip(ids).collect(),
            scores: scores.iter().copied().chain([0.0]).collect(),
            unknown: TokenId::try_from(texts.len()).ok(),
            unknown_score: -40.0,
            spelling: None,
            origin: Origin::SentencePiece,
        })
        .expect("it is small")
    }

    /// No sum before a safe chunk changes its tokens, and that of most others is changed by some.
    #[test]
    fn safe_chunks_have_the_same_tokens_behind_any_sum() {
        let mut number = numbers(11);
        let (mut safe, mut changing, mut others) = (0, 0, 0);
        for _ in 0..300 {
            let unigram = model(&mut number);
            let chunks = unigram.chunks().expect("sums run through");
            for _ in 0..20 {
                let letters = 1 + number(14);
                let chunk: String = (0..letters)
                    .map(|_| ["a", "b", "é", "x"][number(4)])
                    .collect();
                let tokens = |sum: f64| {
                    let mut ids = Vec::new();
                    encode_after(&unigram, sum, chunk.as_bytes(), &mut ids).map(|_| ids)
                };
                let expected = tokens(0.0).expect("there is an unknown token");
                let is_changed = (0..150).any(|_| {
                    // Of all magnitudes.
                    #[expect(clippy::cast_precision_loss, reason = "it is rounded")]
                    let sum = -(number(1 << 30) as f32) / (1_u64 << number(31)) as f32;
                    let sum = f64::from(sum.max(-100_000.0));
                    tokens(sum).expect("there is an unknown token") != expected
                });
                if is_safe(&unigram, chunks, chunk.as_bytes()) {
                    assert!(!is_changed, "{chunk:?} by {unigram:?}");
                    safe += 1;
                } else {
                    others += 1;
                    changing += usize::from(is_changed);
                }
            }
        }
        assert!(safe > 2000, "{safe} of {others} others");
        assert!(4 * changing > others, "{changing} of {others}");
    }

    /// Scores that may be too large for the bound make no chunk safe.
    #[test]
    fn large_scores_make_nothing_safe() {
        for (score, is_known) in [(-460.0, true), (-480.0, false), (1e9, false)] {
            let unigram = Unigram::new(ScoreList {
                texts: vec![(b"a", 0)],
                scores: vec![score, 0.0],
                unknown: Some(1),
                unknown_score: score - 10.0,
                spelling: None,
                origin: Origin::SentencePiece,
            })
            .expect("it is small");
            let chunks = unigram.chunks().expect("sums run through");
            assert_eq!(is_safe(&unigram, chunks, b"a"), is_known, "{score}");
        }
    }
}
