//! Tokenizers of files.

#![allow(
    unsafe_code,
    reason = "JavaScript passes what it has written as address and size"
)]

use super::{STATE, given, kept};
use crate::engine::Opened;
use crate::files::special_of;
use crate::refusal::{Refusal, text_of};

/// Opens a `tokenizer.json`.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open_tokenizer_json(contents: *const u8, size: usize) -> i32 {
    // SAFETY: as above.
    kept(Opened::tokenizer_json(unsafe { given(contents, size) }))
}

/// Opens a `SentencePiece` model.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open_model(contents: *const u8, size: usize) -> i32 {
    // SAFETY: as above.
    kept(Opened::model(unsafe { given(contents, size) }.to_vec()))
}

/// Opens a native file.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open_native(contents: *const u8, size: usize) -> i32 {
    // SAFETY: as above.
    kept(Opened::native(unsafe { given(contents, size) }))
}

/// Opens a file of ranks, with a pattern.
///
/// # Safety
/// Each address and size: as for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open_ranks(
    contents: *const u8,
    size: usize,
    pattern: *const u8,
    pattern_size: usize,
) -> i32 {
    // SAFETY: as above.
    let (contents, pattern) = unsafe { (given(contents, size), given(pattern, pattern_size)) };
    kept(text_of(pattern).and_then(|pattern| Opened::ranks(contents, pattern)))
}

/// Opens a tokenizer again with further special tokens: a JSON object of texts and their IDs.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn with_special_tokens(number: usize, tokens: *const u8, size: usize) -> i32 {
    // SAFETY: as above.
    let tokens = unsafe { given(tokens, size) };
    let more = serde_json::from_slice(tokens).ok();
    let more = more.as_ref().and_then(special_of);
    kept(STATE.with_borrow(|state| {
        let more = more.ok_or_else(|| Refusal::new("expected an object of texts and IDs"))?;
        state.tokenizer(number)?.with_special_tokens(&more)
    }))
}
