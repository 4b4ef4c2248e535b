//! How a piece becomes tokens without ranks, as the page shows it.

use std::fmt::Write;

use bytemill::encode::explain::Explained;
use bytemill::token::TokenId;
use serde_json::{Value, json};

/// Returns a piece with its steps, as `python/bytemill/explanation.py` has them.
pub fn explained_piece(explained: &Explained, has_scores: bool) -> Value {
    let piece = &explained.piece;
    let parts: Vec<&[u8]> = explained
        .tokens
        .iter()
        .map(|each| &piece[each.span.clone()])
        .collect();
    let text = String::from_utf8_lossy(piece);
    let mut rows: Vec<Vec<String>> = Vec::new();
    if explained.candidates.is_empty() {
        rows.push(vec![hex(piece)]);
        for (number, token) in explained.tokens.iter().enumerate().skip(1) {
            let whole = parts[..number].iter().map(|part| hex(part));
            rows.push(whole.chain([hex(&piece[token.span.start..])]).collect());
        }
    } else {
        rows.push(
            text.chars()
                .map(|each| hex(each.to_string().as_bytes()))
                .collect(),
        );
    }
    let last: Vec<String> = parts.iter().map(|part| hex(part)).collect();
    if !explained.candidates.is_empty() || rows.last() != Some(&last) {
        rows.push(last);
    }
    let candidates = explained.candidates.iter().filter(|_| has_scores);
    let candidates: Vec<Value> = candidates
        .map(|each| {
            let score: f64 = format!("{:.3}", each.score).parse().unwrap_or_default();
            let bytes = hex(&piece[each.span.clone()]);
            json!({ "start": each.span.start, "bytes": bytes, "id": each.id, "score": score })
        })
        .collect();
    let ids: Vec<TokenId> = explained.tokens.iter().map(|each| each.id).collect();
    json!({ "bytes": hex(piece), "rows": rows, "ids": ids, "candidates": candidates })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
