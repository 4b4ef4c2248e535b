//! The functions that JavaScript calls. They take addresses and sizes in the memory of the module, and leave an answer there;
//! `page/engine.js` is the other side.
//!
//! A call that fails returns -1, and its answer is JSON that says why. A panic is a trap, after which the instance must not be
//! used any more.

#![allow(
    unsafe_code,
    reason = "JavaScript passes what it has written as address and size"
)]

use std::cell::RefCell;

use bytemill::encode::truncate::Keep;
use bytemill::token::TokenId;

use crate::engine::{Opened, Refusal, Special, pieces_by, special_of, text_of};
use crate::packed::push_words;
use serde_json::{Value, json};

#[derive(Default)]
struct State {
    opened: Vec<Option<Opened>>,
    answer: Vec<u8>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Returns the bytes that JavaScript has written.
///
/// # Safety
/// `address` is from [`allocate`] with a size of `size` or more, and is not written meanwhile.
unsafe fn given<'a>(address: *const u8, size: usize) -> &'a [u8] {
    if size == 0 {
        return &[];
    }
    // SAFETY: as above. JavaScript waits for the call to return.
    unsafe { std::slice::from_raw_parts(address, size) }
}

/// Returns room for bytes, which `release` takes back.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(size: usize) -> *mut u8 {
    let mut room = Vec::<u8>::with_capacity(size);
    let address = room.as_mut_ptr();
    std::mem::forget(room);
    address
}

/// Takes back room.
///
/// # Safety
/// `address` and `size` must come from one call of [`allocate`], and be released once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn release(address: *mut u8, size: usize) {
    // SAFETY: as above: `allocate` has made it of a vector of this capacity.
    drop(unsafe { Vec::from_raw_parts(address, 0, size) });
}

/// Returns where the answer of the last call is.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    STATE.with_borrow(|state| state.answer.as_ptr())
}

/// Returns its size.
#[unsafe(no_mangle)]
pub extern "C" fn answer_size() -> usize {
    STATE.with_borrow(|state| state.answer.len())
}

/// Sets the seeds of hashing, before anything else.
#[unsafe(no_mangle)]
pub extern "C" fn set_seeds(first: u64, second: u64) -> i32 {
    i32::from(bytemill::util::hash::set_seeds([first, second]))
}

/// Keeps what a call has found, and returns 0, or -1 for a refusal.
fn answered(found: Result<Vec<u8>, Refusal>) -> i32 {
    let (status, answer) = match found {
        Ok(answer) => (0, answer),
        Err(refusal) => (-1, refusal.json().to_string().into_bytes()),
    };
    STATE.with_borrow_mut(|state| state.answer = answer);
    status
}

/// Keeps a tokenizer, and returns its number.
fn kept(opened: Result<Opened, Refusal>) -> i32 {
    match opened {
        Err(refusal) => answered(Err(refusal)),
        Ok(opened) => STATE.with_borrow_mut(|state| {
            state.opened.push(Some(opened));
            i32::try_from(state.opened.len() - 1).expect("there are few")
        }),
    }
}

/// Asks a tokenizer.
fn ask(number: usize, question: impl FnOnce(&Opened) -> Result<Vec<u8>, Refusal>) -> i32 {
    let found = STATE.with_borrow(|state| match state.opened.get(number) {
        Some(Some(opened)) => question(opened),
        _ => Err(Refusal::new("the tokenizer is closed")),
    });
    answered(found)
}

fn words(numbers: impl IntoIterator<Item = usize>) -> Vec<u8> {
    let mut block = Vec::new();
    push_words(&mut block, numbers);
    block
}

fn ids_of(bytes: &[u8]) -> Vec<TokenId> {
    let words = bytes.chunks_exact(4);
    words
        .map(|word| TokenId::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

/// Opens a published encoding by its name; the second table may be empty.
///
/// # Safety
/// Each address and size: as for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open_published(
    name: *const u8,
    name_size: usize,
    first: *const u8,
    first_size: usize,
    second: *const u8,
    second_size: usize,
) -> i32 {
    // SAFETY: as above.
    let (name, first, second) = unsafe {
        (
            given(name, name_size),
            given(first, first_size),
            given(second, second_size),
        )
    };
    let tables = if second.is_empty() {
        vec![first]
    } else {
        vec![first, second]
    };
    kept(text_of(name).and_then(|name| Opened::published(name, &tables)))
}

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
    let opened = STATE.with_borrow(|state| match (state.opened.get(number), more) {
        (Some(Some(opened)), Some(more)) => opened.with_special_tokens(&more),
        _ => Err(Refusal::new("expected an object of texts and IDs")),
    });
    kept(opened)
}

/// Closes a tokenizer.
#[unsafe(no_mangle)]
pub extern "C" fn close(number: usize) {
    STATE.with_borrow_mut(|state| {
        if let Some(opened) = state.opened.get_mut(number) {
            *opened = None;
        }
    });
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
        let ids = opened.encode(text_of(text)?, Special::of(special))?;
        Ok(ids.iter().flat_map(|id| id.to_le_bytes()).collect())
    })
}

/// Answers with the number of IDs of a text.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn count(number: usize, text: *const u8, size: usize, special: u32) -> i32 {
    // SAFETY: as above.
    let text = unsafe { given(text, size) };
    ask(number, |opened| {
        Ok(words([opened.count(text_of(text)?, Special::of(special))?]))
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
        opened.packed(text_of(text)?, Special::of(special), sequence)
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
    ask(number, |opened| opened.decode(&ids))
}

/// Answers with those of some IDs that no token has.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unknown(number: usize, ids: *const u8, size: usize) -> i32 {
    // SAFETY: as above.
    let ids = ids_of(unsafe { given(ids, size) });
    ask(number, |opened| {
        let unknown = opened.unknown(&ids);
        Ok(unknown.iter().flat_map(|id| id.to_le_bytes()).collect())
    })
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
        Ok(json!(explained).to_string().into_bytes())
    })
}

/// Answers with the IDs of a text. `rule` is JSON with `allowed` and `disallowed`, each a list of texts or null for all.
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
    let rule: Value = serde_json::from_slice(rule).unwrap_or_default();
    let texts = |name: &str| {
        let texts = rule[name].as_array()?.iter();
        Some(
            texts
                .filter_map(|text| text.as_str().map(str::to_owned))
                .collect::<Vec<_>>(),
        )
    };
    ask(number, |opened| {
        let ids = opened.encode_with(
            text_of(text)?,
            texts("allowed").as_deref(),
            texts("disallowed"),
        )?;
        Ok(ids.iter().flat_map(|id| id.to_le_bytes()).collect())
    })
}

/// Answers with the number of IDs of a text, or with nothing if there are more than `limit`.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn count_up_to(
    number: usize,
    text: *const u8,
    size: usize,
    limit: usize,
) -> i32 {
    // SAFETY: as above.
    let text = unsafe { given(text, size) };
    ask(number, |opened| {
        Ok(words(opened.count_up_to(text_of(text)?, limit)?))
    })
}

/// Answers with the byte at which a text is cut to have at most `limit` tokens; its end is kept if `keep_end` is not 0.
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
        Ok(words([opened.cut(text_of(text)?, limit, keep)?]))
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

/// Returns the rank of a mergeable token, or -1.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rank(number: usize, token: *const u8, size: usize) -> i64 {
    // SAFETY: as above.
    let token = unsafe { given(token, size) };
    STATE.with_borrow(|state| match state.opened.get(number) {
        Some(Some(opened)) => opened.rank(token).map_or(-1, i64::from),
        _ => -1,
    })
}

/// Answers with all tokens.
#[unsafe(no_mangle)]
pub extern "C" fn tokens(number: usize) -> i32 {
    ask(number, |opened| Ok(opened.tokens()))
}

/// Answers with what a tokenizer is, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn described(number: usize) -> i32 {
    ask(number, |opened| {
        Ok(opened.described().to_string().into_bytes())
    })
}
