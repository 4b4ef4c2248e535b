//! Texts that grow.

#![allow(
    unsafe_code,
    reason = "JavaScript passes what it has written as address and size"
)]

use std::cell::RefCell;

use bytemill::encode::session::{Session, Update};

use super::texts::policy_of;
use super::{Answer, STATE, answered, given, keep};
use crate::packed::word;
use crate::refusal::{Refusal, text_of};

thread_local! {
    static SESSIONS: RefCell<Vec<Option<Session>>> = const { RefCell::new(Vec::new()) };
}

/// Asks a session.
fn ask(number: usize, question: impl FnOnce(&mut Session) -> Result<Answer, Refusal>) -> i32 {
    answered(SESSIONS.with_borrow_mut(|sessions| {
        let session = sessions.get_mut(number).and_then(Option::as_mut);
        question(session.ok_or_else(|| Refusal::new("the session is closed"))?)
    }))
}

/// Starts a text that grows, under a rule as in [`encode_with`], and returns its number.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open_session(number: usize, rule: *const u8, size: usize) -> i32 {
    // SAFETY: as above.
    let rule = unsafe { given(rule, size) };
    let session = STATE.with_borrow(|state| {
        let opened = state.tokenizer(number)?;
        Ok(opened.session(policy_of(opened, rule)?))
    });
    answered(session.map(|session| {
        SESSIONS.with_borrow_mut(|sessions| Answer::Number(keep(sessions, session)))
    }))
}

/// Ends a session.
#[unsafe(no_mangle)]
pub extern "C" fn close_session(number: usize) {
    SESSIONS.with_borrow_mut(|sessions| {
        if let Some(session) = sessions.get_mut(number) {
            *session = None;
        }
    });
}

/// Answers with a change to the IDs of a session: two indices, between which the IDs became those that follow.
fn change(update: Update) -> Answer {
    let ends = [update.start, update.stop].map(word);
    Answer::Words(ends.into_iter().chain(update.ids).collect())
}

/// Appends to the text of a session.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn session_append(number: usize, text: *const u8, size: usize) -> i32 {
    // SAFETY: as above.
    let text = unsafe { given(text, size) };
    ask(number, |session| {
        Ok(change(session.append(text_of(text)?)?))
    })
}

/// Replaces the text of a session.
///
/// # Safety
/// As for `given`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn session_update(number: usize, text: *const u8, size: usize) -> i32 {
    // SAFETY: as above.
    let text = unsafe { given(text, size) };
    ask(number, |session| {
        Ok(change(session.update(text_of(text)?)?))
    })
}

/// Returns the number of IDs of a session.
#[unsafe(no_mangle)]
pub extern "C" fn session_count(number: usize) -> i32 {
    ask(number, |session| Ok(Answer::Number(session.count())))
}

/// Answers with the IDs of a session.
#[unsafe(no_mangle)]
pub extern "C" fn session_ids(number: usize) -> i32 {
    ask(number, |session| {
        let mut ids = Vec::new();
        session.push_ids(0..session.count(), &mut ids);
        Ok(Answer::Words(ids))
    })
}
