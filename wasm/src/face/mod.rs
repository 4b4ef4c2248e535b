//! The functions that JavaScript calls. They take addresses and sizes in the memory of the module, and leave an answer there;
//! `page/engine.js` is the other side.
//!
//! A call returns a number of 0 or more: that of an opened tokenizer, a count, or the number of bytes of its answer. A call that
//! fails returns the number of bytes of its answer as a negative number, and the answer is JSON that says why. A panic is a trap,
//! after which the instance must not be used any more.

#![allow(
    unsafe_code,
    reason = "JavaScript passes what it has written as address and size"
)]

#[cfg(feature = "full")]
pub mod files;
#[cfg(feature = "full")]
pub mod sessions;
#[cfg(feature = "full")]
pub mod texts;

use std::cell::RefCell;

use crate::engine::{Opened, Special};
use crate::packed::word;
use crate::refusal::{Refusal, text_of};

/// The answer that a call leaves in memory. JavaScript copies words as a `Uint32Array`, so they are aligned.
enum Answer {
    Bytes(Vec<u8>),
    Words(Vec<u32>),
    /// The return value of the call is the answer.
    Number(usize),
}

struct State {
    opened: Vec<Option<Opened>>,
    answer: Answer,
}

impl State {
    fn tokenizer(&self, number: usize) -> Result<&Opened, Refusal> {
        let opened = self.opened.get(number).and_then(Option::as_ref);
        opened.ok_or_else(|| Refusal::new("the tokenizer is closed"))
    }
}

thread_local! {
    static STATE: RefCell<State> = const {
        RefCell::new(State {
            opened: Vec::new(),
            answer: Answer::Number(0),
        })
    };
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
    STATE.with_borrow(|state| match &state.answer {
        Answer::Bytes(bytes) => bytes.as_ptr(),
        Answer::Words(words) => words.as_ptr().cast(),
        Answer::Number(_) => std::ptr::null(),
    })
}

/// Sets the seeds of hashing, before anything else.
#[unsafe(no_mangle)]
pub extern "C" fn set_seeds(first: u64, second: u64) -> i32 {
    i32::from(bytemill::util::hash::set_seeds([first, second]))
}

/// Keeps what a call has found, and returns what the call returns.
fn answered(found: Result<Answer, Refusal>) -> i32 {
    let (sign, answer) = match found {
        Ok(answer) => (1, answer),
        Err(refusal) => (-1, Answer::Bytes(refusal.json().to_string().into_bytes())),
    };
    let number = match &answer {
        Answer::Bytes(bytes) => bytes.len(),
        Answer::Words(words) => 4 * words.len(),
        Answer::Number(number) => *number,
    };
    STATE.with_borrow_mut(|state| state.answer = answer);
    sign * i32::try_from(number).expect("an answer is smaller than half of the memory")
}

/// Keeps a value in the first room that is free, and returns its number.
fn keep<T>(rooms: &mut Vec<Option<T>>, value: T) -> usize {
    let free = rooms.iter().position(Option::is_none);
    let number = free.unwrap_or(rooms.len());
    if number == rooms.len() {
        rooms.push(None);
    }
    rooms[number] = Some(value);
    number
}

/// Keeps a tokenizer, and returns its number.
fn kept(opened: Result<Opened, Refusal>) -> i32 {
    answered(opened.map(|opened| {
        STATE.with_borrow_mut(|state| Answer::Number(keep(&mut state.opened, opened)))
    }))
}

/// Asks a tokenizer.
fn ask(number: usize, question: impl FnOnce(&Opened) -> Result<Answer, Refusal>) -> i32 {
    answered(STATE.with_borrow(|state| question(state.tokenizer(number)?)))
}

fn words(numbers: impl IntoIterator<Item = usize>) -> Answer {
    Answer::Words(numbers.into_iter().map(word).collect())
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

/// Closes a tokenizer.
#[unsafe(no_mangle)]
pub extern "C" fn close(number: usize) {
    STATE.with_borrow_mut(|state| {
        if let Some(opened) = state.opened.get_mut(number) {
            *opened = None;
        }
    });
}

/// Returns the number of IDs of a text.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn count(number: usize, text: *const u8, size: usize, special: u32) -> i32 {
    // SAFETY: as above.
    let text = unsafe { given(text, size) };
    ask(number, |opened| {
        let count = opened.count(text_of(text)?, &Special::of(special).policy())?;
        Ok(Answer::Number(count))
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
