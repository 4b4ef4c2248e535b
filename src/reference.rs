//! The executable definition of encoding, for tests of the fast engines; nothing else uses it. The definition
//! of training is [`crate::train::reference`].

use crate::token::TokenId;
use crate::vocabulary::Vocabulary;

/// Returns the ids of one piece: the whole piece if it is a token. Otherwise starts from single bytes and
/// merges the adjacent symbols whose bytes together are the token of lowest rank, leftmost first, until no
/// two adjacent symbols are a token.
///
/// # Complexity
/// O(n²) look-ups for n bytes.
pub fn encode_piece(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<TokenId> {
    if let Some(id) = vocabulary.token(piece) {
        return vec![id];
    }
    // The offsets between symbols, with both ends.
    let mut cuts: Vec<usize> = (0..=piece.len()).collect();
    loop {
        let best = (2..cuts.len())
            .filter_map(|right| {
                vocabulary
                    .token(&piece[cuts[right - 2]..cuts[right]])
                    .map(|rank| (rank, right - 1))
            })
            .min();
        match best {
            Some((_, cut)) => cuts.remove(cut),
            None => break,
        };
    }
    cuts.windows(2)
        .map(|symbol| {
            vocabulary
                .token(&piece[symbol[0]..symbol[1]])
                .expect("every symbol is a token")
        })
        .collect()
}

/// Returns the ids of a word of `WordPiece`: the longest texts that it consists of from left to right, with `prefix` in
/// front of each but the first; `None` if it has more than `longest` characters, or is not made of texts.
///
/// # Complexity
/// O(n²) look-ups for n characters.
pub fn encode_word(
    texts: &[(&str, TokenId)],
    prefix: &str,
    longest: usize,
    word: &str,
) -> Option<Vec<TokenId>> {
    if word.chars().count() > longest {
        return None;
    }
    let (mut ids, mut rest) = (Vec::new(), word);
    while !rest.is_empty() {
        let prefix = if ids.is_empty() { "" } else { prefix };
        let found = (1..=rest.len()).rev().find_map(|end| {
            let text = format!("{prefix}{}", rest.get(..end)?);
            let id = texts.iter().find(|(known, _)| *known == text)?.1;
            Some((id, end))
        });
        let (id, end) = found?;
        ids.push(id);
        rest = &rest[end..];
    }
    Some(ids)
}

/// Returns the ids of a word of Unigram: the tokens and unknown characters whose scores have the greatest sum, of equal sums
/// the one whose last token is longest. Unknown text is `unknown`, or `joined` the token that several characters of it are
/// together; sums are rounded by `round`.
///
/// # Complexity
/// O(n² · tokens) for n characters.
pub fn encode_scores(
    tokens: &[(&str, TokenId, f64)],
    (unknown, unknown_score): (TokenId, f64),
    is_joined: bool,
    round: fn(f64) -> f64,
    word: &str,
) -> Vec<TokenId> {
    let known = |text: &str| tokens.iter().find(|(token, ..)| *token == text);
    let starts: Vec<usize> = word.char_indices().map(|(at, _)| at).collect();
    // For each end: the sum, and where its last token starts.
    let mut best = std::collections::BTreeMap::from([(0, (0.0, 0))]);
    for end in starts.iter().skip(1).copied().chain([word.len()]) {
        for &start in starts.iter().filter(|start| **start < end) {
            let text = &word[start..end];
            let score = match known(text) {
                Some((_, _, score)) => *score,
                None if text.chars().count() == 1 => unknown_score,
                None => continue,
            };
            let sum = round(best[&start].0 + score);
            if best.get(&end).is_none_or(|(most, _)| sum > *most) {
                best.insert(end, (sum, start));
            }
        }
    }
    let (mut parts, mut end) = (Vec::new(), word.len());
    while end > 0 {
        let start = best[&end].1;
        parts.push(&word[start..end]);
        end = start;
    }
    let (mut ids, mut run) = (Vec::new(), String::new());
    for part in parts.into_iter().rev().chain([""]) {
        let id = known(part).map(|(_, id, _)| *id);
        if !part.is_empty() && id.is_none_or(|id| id == unknown) {
            run.push_str(part);
            if is_joined {
                continue;
            }
        }
        if !run.is_empty() {
            ids.push(known(&run).map_or(unknown, |(_, id, _)| *id));
            run.clear();
        }
        ids.extend(id.filter(|&id| id != unknown));
    }
    ids
}
