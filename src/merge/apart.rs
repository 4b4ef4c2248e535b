//! Merges of characters where some tokens are taken apart again: those of the type "unused".
//!
//! Such a token gives way to the two symbols that would have made it when they became neighbours **last**, anywhere in
//! the text: so a text is merged as a whole, by one heap.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::queue::{LongMerges, Start};
use crate::checkpoint::{self, Checkpoint};
use crate::error::EncodeError;
use crate::merge::queue::Token;
use crate::token::{NO_TOKEN, TokenId};
use crate::util::hash::SeededState;
use crate::util::memory::Growable;
use crate::vocabulary::characters::CharacterMerges;

/// A token inside of this number of others stays as it is.
const DEEPEST: usize = 100;

/// Merges between two passes of the checkpoint: a few milliseconds.
const CHECK_INTERVAL: usize = 1 << 14;

#[derive(Clone, Copy)]
struct Symbol {
    id: TokenId,
    start: usize,
    previous: usize,
    next: usize,
}

/// Both halves of a symbol, and the length of the left one in bytes.
type Halves = HashMap<TokenId, (TokenId, TokenId, usize), SeededState>;

/// Appends the symbols of `text` to `tokens`.
///
/// # Errors
/// [`EncodeError::Interrupted`] from the checkpoint.
///
/// # Complexity
/// O(n log n) for n bytes.
pub(super) fn merge(
    merges: &CharacterMerges,
    text: &[u8],
    tokens: &mut Vec<Token>,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    let mut symbols: Vec<Symbol> = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let (id, length) = merges.first(&text[start..]);
        let index = symbols.len();
        let (previous, next) = (index.wrapping_sub(1), index + 1);
        let symbol = Symbol {
            id,
            start,
            previous,
            next,
        };
        symbols.with_room(1).push(symbol);
        start += length;
    }
    let end_of = |symbols: &[Symbol], index: usize| {
        let next = symbols.get(symbols[index].next);
        next.map_or(text.len(), |next| next.start)
    };
    let mut halves = Halves::default();
    let mut heap = BinaryHeap::new();
    let mut add = |symbols: &[Symbol], heap: &mut BinaryHeap<_>, index: usize| {
        let Some(left) = symbols.get(index) else {
            return;
        };
        let Some(right) = symbols.get(left.next) else {
            return;
        };
        let made = merges.pairs().get(left.id, right.id);
        if made != NO_TOKEN {
            halves
                .with_room(1)
                .insert(made, (left.id, right.id, right.start - left.start));
            heap.with_room(1).push(Reverse((
                merges.rank(made),
                index,
                made,
                end_of(symbols, left.next),
            )));
        }
    };
    for index in 0..symbols.len() {
        if index % CHECK_INTERVAL == 0 {
            checkpoint::pass(checkpoint)?;
        }
        add(&symbols, &mut heap, index);
    }
    let mut count = 0_usize;
    while let Some(Reverse((_, index, made, end))) = heap.pop() {
        count += 1;
        if count.is_multiple_of(CHECK_INTERVAL) {
            checkpoint::pass(checkpoint)?;
        }
        let Symbol { id, next, .. } = symbols[index];
        let is_current = id != NO_TOKEN
            && next < symbols.len()
            && end_of(&symbols, next) == end
            && merges.pairs().get(id, symbols[next].id) == made;
        if !is_current {
            continue;
        }
        let after = symbols[next].next;
        symbols[next].id = NO_TOKEN;
        symbols[index].id = made;
        symbols[index].next = after;
        if let Some(after) = symbols.get_mut(after) {
            after.previous = index;
        }
        let previous = symbols[index].previous;
        add(&symbols, &mut heap, previous);
        add(&symbols, &mut heap, index);
    }
    let mut index = 0;
    while let Some(symbol) = symbols.get(index) {
        take_apart(merges, &halves, symbol.id, symbol.start, 0, tokens);
        index = symbol.next;
    }
    Ok(())
}

/// Appends a symbol, or what an unused one consists of.
fn take_apart(
    merges: &CharacterMerges,
    halves: &Halves,
    id: TokenId,
    start: usize,
    depth: usize,
    tokens: &mut Vec<Token>,
) {
    match halves.get(&id) {
        Some(&(left, right, length)) if merges.is_unused(id) && depth <= DEEPEST => {
            take_apart(merges, halves, left, start, depth + 1, tokens);
            take_apart(merges, halves, right, start + length, depth + 1, tokens);
        }
        _ => tokens.with_room(1).push(Token { start, id }),
    }
}

// Merges of characters for the [queue](super::queue) engine.

impl LongMerges for CharacterMerges {
    #[inline]
    fn start(&self, rest: &[u8]) -> Start {
        let (id, length) = self.first(rest);
        let rank = match &rest[length..] {
            [] => NO_TOKEN,
            after => LongMerges::rank(self, id, self.first(after).0),
        };
        Start { id, length, rank }
    }

    #[inline]
    fn rank(&self, left: TokenId, right: TokenId) -> TokenId {
        self.rank(self.pairs().get(left, right))
    }

    #[inline]
    fn made(&self, rank: TokenId, left: TokenId, right: TokenId) -> TokenId {
        self.made(rank, || self.pairs().get(left, right))
    }

    #[inline]
    fn prefetch(&self, left: TokenId, right: TokenId) {
        self.pairs().prefetch(left, right);
    }

    fn boundary(&self, bytes: &[u8], end: usize) -> usize {
        character_boundary(bytes, end)
    }
}

/// Returns the last offset in `bytes` at which a character ends, no later than `end`.
pub(super) fn character_boundary(bytes: &[u8], end: usize) -> usize {
    let is_inside = |offset: &usize| bytes.get(*offset).is_some_and(|byte| byte & 0xC0 == 0x80);
    // A character of four bytes has three of these; where there are more, they are no character.
    (end.saturating_sub(3).max(1)..=end)
        .rev()
        .find(|offset| !is_inside(offset))
        .unwrap_or(end)
}
