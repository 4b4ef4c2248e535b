//! The definition of training, executable and slow. The fast engine is tested against it; nothing else uses
//! it.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::{FIRST_MERGE, Learned, Options, TieBreak, huggingface_order};
use crate::token::{Pair, TokenId};

/// Learns the first `merges` merges of counted `pieces`, fewer if no pair is left that may be merged. The
/// pieces are in the order of their first occurrence. Returns `None` if the initial vocabulary is invalid.
///
/// Until there are enough merges: the pair with the highest count becomes the next token and is merged
/// everywhere, left to right. Each piece is weighted by its count. Pairs are counted in overlapping windows:
/// `aaa` holds the pair `aa` twice, though only one merge fits. A pair that would make the bytes of a token
/// is never merged.
///
/// # Complexity
/// O(merges × total bytes).
pub fn train(pieces: &[(&[u8], u64)], merges: usize, options: &Options) -> Option<Learned> {
    let byte_tokens = options.initial.byte_tokens().ok()?;
    let mut tokens: Vec<Vec<u8>> = options
        .initial
        .bytes
        .iter()
        .map(|&byte| vec![byte])
        .collect();
    let mut words: Vec<(Vec<TokenId>, u64)> = pieces
        .iter()
        .map(|(piece, count)| {
            let ids = piece.iter().map(|&byte| byte_tokens[usize::from(byte)]);
            (ids.collect(), *count)
        })
        .collect();

    let mut ids = FIRST_MERGE..;
    let mut merge = |pair: Pair, words: &mut [(Vec<TokenId>, u64)], tokens: &mut Vec<Vec<u8>>| {
        let token = ids.next()?;
        tokens.push([bytes(tokens, pair.left)?, bytes(tokens, pair.right)?].concat());
        for (word, _) in words {
            *word = merge_pair(word, pair, token);
        }
        Some(())
    };
    for &pair in &options.initial.merges {
        merge(pair, &mut words, &mut tokens)?;
    }
    let mut learned = Learned::default();
    while learned.len() < merges
        && let Some((pair, count)) = best(&words, &tokens, options)
    {
        merge(pair, &mut words, &mut tokens)?;
        learned.push(pair, count);
    }
    Some(learned)
}

/// Returns the pair to merge next, and its count.
fn best(
    words: &[(Vec<TokenId>, u64)],
    tokens: &[Vec<u8>],
    options: &Options,
) -> Option<(Pair, u64)> {
    // The count of each pair, and the number of windows before its first one.
    let mut counts: HashMap<Pair, (u64, usize)> = HashMap::new();
    let windows = words
        .iter()
        .flat_map(|(word, count)| word.windows(2).map(move |pair| (pair, count)));
    for (seen, (pair, count)) in windows.enumerate() {
        let pair = Pair::new(pair[0], pair[1]);
        counts.entry(pair).or_insert((0, seen)).0 += count;
    }
    let token = |id: TokenId| tokens[id as usize].as_slice();
    let allowed = counts.into_iter().filter(|(pair, (count, _))| {
        let bytes = [token(pair.left), token(pair.right)].concat();
        *count >= options.min_frequency.max(1)
            && !tokens.contains(&bytes)
            && options
                .max_token_length
                .is_none_or(|most| bytes.len() <= most)
    });
    let order = huggingface_order();
    let number = |id: TokenId| match token(id) {
        [byte] => TokenId::from(order[usize::from(*byte)]),
        _ => id,
    };
    let best = match options.tie_break {
        TieBreak::SmallestPair => allowed.max_by_key(|&(pair, (count, _))| (count, Reverse(pair))),
        TieBreak::HuggingFace => allowed.max_by_key(|&(pair, (count, _))| {
            let numbers = (number(pair.left), number(pair.right));
            (count, Reverse(numbers))
        }),
        TieBreak::GreatestBytes => {
            allowed.max_by_key(|&(pair, (count, _))| (count, token(pair.left), token(pair.right)))
        }
        TieBreak::FirstSeen => allowed.max_by_key(|&(_, (count, seen))| (count, Reverse(seen))),
    };
    best.map(|(pair, (count, _))| (pair, count))
}

/// Returns the bytes of a token, if it exists.
fn bytes(tokens: &[Vec<u8>], id: TokenId) -> Option<&[u8]> {
    tokens.get(id as usize).map(Vec::as_slice)
}

/// Returns `word` with each occurrence of `pair` replaced by `token`, from left to right, without overlap.
fn merge_pair(word: &[TokenId], pair: Pair, token: TokenId) -> Vec<TokenId> {
    let mut merged = Vec::with_capacity(word.len());
    let mut rest = word;
    while let [first, tail @ ..] = rest {
        if *first == pair.left && tail.first() == Some(&pair.right) {
            merged.push(token);
            rest = &tail[1..];
        } else {
            merged.push(*first);
            rest = tail;
        }
    }
    merged
}
