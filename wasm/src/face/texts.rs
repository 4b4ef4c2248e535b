//! What is asked of a tokenizer besides counts and IDs.

#![allow(
    unsafe_code,
    reason = "JavaScript passes what it has written as address and size"
)]

use bytemill::encode::special::Policy;
use bytemill::encode::truncate::Keep;
use bytemill::token::TokenId;
use serde_json::{Value, json};

use super::{Answer, answered, ask, given, words};
use crate::engine::{Opened, Special, pieces_by};
use crate::refusal::{Refusal, refused, text_of};

fn ids_of(bytes: &[u8]) -> Vec<TokenId> {
    let words = bytes.chunks_exact(4);
    words
        .map(|word| TokenId::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

/// Answers with the IDs of a text, 4 bytes each.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn encode(number: usize, text: *const u8, size: usize, special: u32) -> i32 {
    // SAFETY: as above.
    let text = unsafe { given(text, size) };
    ask(number, |opened| {
        let ids = opened.encode(text_of(text)?, &Special::of(special).policy())?;
        Ok(Answer::Words(ids))
    })
}

/// Answers with the tokens of a text in the form of the page.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn packed(
    number: usize,
    text: *const u8,
    size: usize,
    special: u32,
    sequence: u32,
) -> i32 {
    // SAFETY: as above.
    let text = unsafe { given(text, size) };
    ask(number, |opened| {
        let block = opened.packed(text_of(text)?, Special::of(special), sequence)?;
        Ok(Answer::Bytes(block))
    })
}

/// Answers with the bytes of IDs.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn decode(number: usize, ids: *const u8, size: usize) -> i32 {
    // SAFETY: as above.
    let ids = ids_of(unsafe { given(ids, size) });
    ask(number, |opened| Ok(Answer::Bytes(opened.decode(&ids)?)))
}

/// Answers with those of some IDs that no token has.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unknown(number: usize, ids: *const u8, size: usize) -> i32 {
    // SAFETY: as above.
    let ids = ids_of(unsafe { given(ids, size) });
    ask(number, |opened| Ok(Answer::Words(opened.unknown(&ids))))
}

/// Answers with the sizes of the pieces of a text.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pieces(number: usize, text: *const u8, size: usize) -> i32 {
    // SAFETY: as above.
    let text = unsafe { given(text, size) };
    ask(number, |opened| Ok(words(opened.pieces(text_of(text)?)?)))
}

/// Answers with the sizes of the pieces that a pattern cuts a text into.
///
/// # Safety
/// Each address and size: as for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pieces_by_pattern(
    pattern: *const u8,
    pattern_size: usize,
    text: *const u8,
    size: usize,
) -> i32 {
    // SAFETY: as above.
    let (pattern, text) = unsafe { (given(pattern, pattern_size), given(text, size)) };
    let found = text_of(pattern).and_then(|pattern| pieces_by(pattern, text_of(text)?));
    answered(found.map(words))
}

/// Answers with the sizes of parts of at most `limit` tokens.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn parts(number: usize, text: *const u8, size: usize, limit: usize) -> i32 {
    // SAFETY: as above.
    let text = unsafe { given(text, size) };
    ask(number, |opened| {
        Ok(words(opened.parts(text_of(text)?, limit)?))
    })
}

/// Answers with how the pieces of a text become tokens without ranks, as JSON; null for models that merge.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn explained(number: usize, text: *const u8, size: usize) -> i32 {
    // SAFETY: as above.
    let text = unsafe { given(text, size) };
    ask(number, |opened| {
        let explained = opened.explained(text_of(text)?)?;
        Ok(Answer::Bytes(json!(explained).to_string().into_bytes()))
    })
}

/// Answers with the IDs of a text, under a rule: JSON with `allowed` and `disallowed`, each a list of texts or null for all.
///
/// # Safety
/// Each address and size: as for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn encode_with(
    number: usize,
    text: *const u8,
    size: usize,
    rule: *const u8,
    rule_size: usize,
) -> i32 {
    // SAFETY: as above.
    let (text, rule) = unsafe { (given(text, size), given(rule, rule_size)) };
    ask(number, |opened| {
        let ids = opened.encode(text_of(text)?, &policy_of(opened, rule)?)?;
        Ok(Answer::Words(ids))
    })
}

/// Returns the policy of a rule: JSON with `allowed` and `disallowed`, each a list of texts or null for all.
pub(super) fn policy_of(opened: &Opened, rule: &[u8]) -> Result<Policy, Refusal> {
    let rule: Value = serde_json::from_slice(rule).map_err(refused)?;
    let texts = |name: &str| {
        let texts = rule[name].as_array()?.iter();
        Some(
            texts
                .filter_map(|text| text.as_str().map(str::to_owned))
                .collect::<Vec<_>>(),
        )
    };
    opened.policy(texts("allowed").as_deref(), texts("disallowed"))
}

/// Returns the byte at which a text is cut to have at most `limit` tokens; its end is kept if `keep_end` is not 0.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cut(
    number: usize,
    text: *const u8,
    size: usize,
    limit: usize,
    keep_end: u32,
) -> i32 {
    // SAFETY: as above.
    let text = unsafe { given(text, size) };
    let keep = if keep_end == 0 {
        Keep::Start
    } else {
        Keep::End
    };
    ask(number, |opened| {
        Ok(Answer::Number(opened.cut(text_of(text)?, limit, keep)?))
    })
}

/// Answers with starts and ends of parts of at most `limit` tokens, in turn.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ranges(
    number: usize,
    text: *const u8,
    size: usize,
    limit: usize,
    overlap: usize,
) -> i32 {
    // SAFETY: as above.
    let text = unsafe { given(text, size) };
    ask(number, |opened| {
        let ranges = opened.ranges(text_of(text)?, limit, overlap)?;
        Ok(words(ranges.iter().flat_map(|part| [part.start, part.end])))
    })
}

/// Answers with the IDs of a text, all their starts, and all their ends, in UTF-16 units.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn with_offsets(number: usize, text: *const u8, size: usize) -> i32 {
    // SAFETY: as above.
    let text = unsafe { given(text, size) };
    ask(number, |opened| {
        Ok(words(opened.with_offsets(text_of(text)?)?.concat()))
    })
}

/// Answers with the rank of a mergeable token, or with nothing.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rank(number: usize, token: *const u8, size: usize) -> i32 {
    // SAFETY: as above.
    let token = unsafe { given(token, size) };
    ask(number, |opened| {
        Ok(Answer::Words(opened.rank(token).into_iter().collect()))
    })
}

/// Answers with all tokens.
#[unsafe(no_mangle)]
pub extern "C" fn tokens(number: usize) -> i32 {
    ask(number, |opened| Ok(Answer::Bytes(opened.tokens())))
}

/// Answers with what a tokenizer is, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn described(number: usize) -> i32 {
    ask(number, |opened| {
        let described = opened.described().to_string();
        Ok(Answer::Bytes(described.into_bytes()))
    })
}
