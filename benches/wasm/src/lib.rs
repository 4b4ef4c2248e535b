//! Another tokenizer behind the functions that bytemill's module has, so that the same JavaScript asks both: `allocate`, `release`,
//! `answer`, `open_ranks`, `close`, `encode`, `count`. A refusal is a trap here.

use std::cell::RefCell;

#[cfg(feature = "kitoken")]
mod rival {
    pub struct Rival(kitoken::Kitoken);

    impl Rival {
        pub fn of_ranks(contents: &[u8]) -> Self {
            Self(kitoken::Kitoken::from_tiktoken_slice(contents).expect("a file of ranks"))
        }

        pub fn encode(&self, text: &str) -> Vec<u32> {
            self.0.encode(text, false).expect("no limit is exceeded")
        }

        pub fn count(&self, text: &str) -> usize {
            self.encode(text).len()
        }
    }
}

#[cfg(feature = "tiktoken")]
mod rival {
    pub struct Rival(tiktoken::CoreBpe);

    impl Rival {
        // It has the vocabulary inside. Each value has a cache of its own.
        pub fn of_ranks(_contents: &[u8]) -> Self {
            Self(tiktoken::encoding::o200k_base())
        }

        pub fn encode(&self, text: &str) -> Vec<u32> {
            self.0.encode(text)
        }

        pub fn count(&self, text: &str) -> usize {
            self.0.count(text)
        }
    }
}

use rival::Rival;

#[derive(Default)]
struct State {
    opened: Vec<Option<Rival>>,
    answer: Vec<u32>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// # Safety
/// `address` is from [`allocate`] with a size of `size` or more, and is not written meanwhile.
unsafe fn given<'a>(address: *const u8, size: usize) -> &'a [u8] {
    if size == 0 {
        return &[];
    }
    // SAFETY: as above. JavaScript waits for the call to return.
    unsafe { std::slice::from_raw_parts(address, size) }
}

#[unsafe(no_mangle)]
pub extern "C" fn allocate(size: usize) -> *mut u8 {
    let mut room = Vec::<u8>::with_capacity(size);
    let address = room.as_mut_ptr();
    std::mem::forget(room);
    address
}

/// # Safety
/// `address` and `size` must come from one call of [`allocate`], and be released once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn release(address: *mut u8, size: usize) {
    // SAFETY: as above: `allocate` has made it of a vector of this capacity.
    drop(unsafe { Vec::from_raw_parts(address, 0, size) });
}

#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u32 {
    STATE.with_borrow(|state| state.answer.as_ptr())
}

#[unsafe(no_mangle)]
pub extern "C" fn set_seeds(_first: u64, _second: u64) -> i32 {
    0
}

/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open_ranks(contents: *const u8, size: usize) -> i32 {
    // SAFETY: as above.
    let rival = Rival::of_ranks(unsafe { given(contents, size) });
    STATE.with_borrow_mut(|state| {
        state.opened.push(Some(rival));
        state.opened.len() as i32 - 1
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn close(number: usize) {
    STATE.with_borrow_mut(|state| state.opened[number] = None);
}

/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn encode(number: usize, text: *const u8, size: usize) -> i32 {
    // SAFETY: as above.
    let text = str::from_utf8(unsafe { given(text, size) }).expect("JavaScript has encoded it");
    STATE.with_borrow_mut(|state| {
        state.answer = state.opened[number]
            .as_ref()
            .expect("it is open")
            .encode(text);
        4 * state.answer.len() as i32
    })
}

/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn count(number: usize, text: *const u8, size: usize) -> i32 {
    // SAFETY: as above.
    let text = str::from_utf8(unsafe { given(text, size) }).expect("JavaScript has encoded it");
    STATE.with_borrow(|state| {
        state.opened[number]
            .as_ref()
            .expect("it is open")
            .count(text) as i32
    })
}
