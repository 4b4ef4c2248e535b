//! The pieces that are left when no pair occurs any more.
//!
//! A pair stays a candidate when it has lost all occurrences. So all pairs that were ever adjacent become pieces
//! when nothing better is left, also those that existed only while one merge was made: from left to right, so that
//! in `abab` the pair of `ab` and `a` is there once the first `ab` is merged.
//!
//! A merge changes nothing across the ends of a word, so each word is merged again by itself, and the pairs that
//! come up are collected.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use super::alphabet::Alphabet;
use super::rules::{PieceRules, TextRestriction};
use crate::checkpoint::Interrupted;
use crate::token::{Pair, TokenId};
use crate::train::learning::{Corpus, Restriction};
use crate::util::hash::SeededState;

type Set<T> = HashSet<T, SeededState>;

/// Returns the texts of all pairs that were ever adjacent while `merges` were made in a corpus, and that may be pieces:
/// the shortest first, then the smallest.
pub(super) fn pieces(
    corpus: &Corpus,
    alphabet: &Alphabet,
    merges: &[Pair],
    rules: &PieceRules,
) -> Result<Vec<String>, Interrupted> {
    let first = alphabet.len();
    let tokens = (first..).map(|token| TokenId::try_from(token).expect("it was learned"));
    let made: HashMap<Pair, TokenId, SeededState> = merges.iter().copied().zip(tokens).collect();
    let mut lengths = vec![1; first];
    for pair in merges {
        lengths.push(lengths[pair.left as usize] + lengths[pair.right as usize]);
    }
    let mut seen = Set::default();
    let mut units = Vec::new();
    let length = |token: TokenId| lengths[token as usize];
    corpus.for_each_piece(length, |tokens| {
        units.clear();
        for &token in tokens {
            append_units(token, first, merges, &mut units);
        }
        merge_again(&units, &made, &mut |pair| {
            seen.insert(pair);
        });
    })?;
    let mut restriction = TextRestriction::new(*rules, alphabet.characters());
    let mut texts: Vec<String> = alphabet.characters().iter().map(char::to_string).collect();
    for &pair in merges {
        restriction.push(pair);
        texts.push(text(&texts, pair));
    }
    let allowed = seen.into_iter().filter(|&pair| restriction.allows(pair));
    let found: Set<String> = allowed.map(|pair| text(&texts, pair)).collect();
    let mut found: Vec<(usize, String)> = found
        .into_iter()
        .map(|text| (text.chars().count(), text))
        .filter(|(length, _)| *length <= rules.max_length)
        .collect();
    found.sort_unstable();
    Ok(found.into_iter().map(|(_, text)| text).collect())
}

/// Appends the characters of a token.
fn append_units(token: TokenId, first: usize, merges: &[Pair], units: &mut Vec<TokenId>) {
    match (token as usize).checked_sub(first) {
        Some(merge) => {
            append_units(merges[merge].left, first, merges, units);
            append_units(merges[merge].right, first, merges, units);
        }
        None => units.push(token),
    }
}

fn text(texts: &[String], pair: Pair) -> String {
    [pair.left, pair.right]
        .map(|part| &*texts[part as usize])
        .concat()
}

/// Merges a run of tokens, the earliest merges first and each from left to right, and calls `visit` for every pair
/// that is adjacent at any time.
fn merge_again(
    run: &[TokenId],
    made: &HashMap<Pair, TokenId, SeededState>,
    visit: &mut impl FnMut(Pair),
) {
    // The tokens, with the index of the next one and of the one before. The index `run.len()` is that of none.
    let none = run.len();
    let mut tokens: Vec<Option<TokenId>> = run.iter().copied().map(Some).collect();
    let mut next: Vec<usize> = (1..=none).collect();
    let mut before: Vec<usize> = (0..none)
        .map(|at| at.checked_sub(1).unwrap_or(none))
        .collect();
    let mut candidates = BinaryHeap::new();
    let mut consider =
        |tokens: &[Option<TokenId>], candidates: &mut BinaryHeap<_>, left: usize, right: usize| {
            if left == none || right == none {
                return;
            }
            if let (Some(first), Some(second)) = (tokens[left], tokens[right]) {
                let pair = Pair::new(first, second);
                visit(pair);
                if let Some(&token) = made.get(&pair) {
                    candidates.push(Reverse((token, left, pair)));
                }
            }
        };
    for (left, &right) in next.iter().enumerate() {
        consider(&tokens, &mut candidates, left, right);
    }
    while let Some(Reverse((token, left, pair))) = candidates.pop() {
        let right = next[left];
        if right == none || tokens[left] != Some(pair.left) || tokens[right] != Some(pair.right) {
            continue;
        }
        tokens[left] = Some(token);
        tokens[right] = None;
        next[left] = next[right];
        if next[left] != none {
            before[next[left]] = left;
        }
        consider(&tokens, &mut candidates, before[left], left);
        consider(&tokens, &mut candidates, left, next[left]);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashMap};

    use super::merge_again;
    use crate::token::Pair;

    #[test]
    fn pairs_that_exist_while_a_merge_is_made_are_seen() {
        let made = HashMap::from_iter([(Pair::new(0, 1), 2), (Pair::new(2, 2), 3)]);
        let mut seen = BTreeSet::new();
        merge_again(&[0, 1, 0, 1, 0], &made, &mut |pair| {
            seen.insert((pair.left, pair.right));
        });
        let expected = [(0, 1), (1, 0), (2, 0), (2, 2), (3, 0)];
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), expected);
    }
}
