//! Merges where some tokens are taken apart again: those of the type "unused" of a SentencePiece model.
//!
//! Such a token gives way to the two symbols that would have made it when they became neighbours **last**, anywhere in
//! the text: with `ab`, `bc` and an unused `abc`, the end of a text decides how `abc` at its start is taken apart. So a
//! text is merged as a whole, by one heap.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::checkpoint;
use crate::error::EncodeError;
use crate::merge::queue::Token;
use crate::token::{NO_TOKEN, TokenId};
use crate::util::hash::SeededState;
use crate::util::memory::Growable;
use crate::vocabulary::listed::{self, ListedMerges};

/// A token inside of this number of others stays as it is.
const DEEPEST: usize = 100;

/// Merges between two passes of the checkpoint: a few milliseconds.
const CHECK_INTERVAL: usize = 1 << 14;

#[derive(Clone, Copy)]
struct Symbol {
    id: TokenId,
    previous: usize,
    next: usize,
}

/// Both halves of a token, and the number of symbols of the left one.
type Halves = HashMap<TokenId, (TokenId, TokenId, usize), SeededState>;

/// Returns the tokens of a text that begins as these symbols, each with the index of its first symbol.
///
/// # Errors
/// [`EncodeError::Interrupted`] from the checkpoint.
///
/// # Complexity
/// O(n log n) for n symbols.
pub(super) fn merge(
    merges: &ListedMerges,
    start: &[listed::Symbol],
) -> Result<Vec<Token>, EncodeError> {
    let mut symbols: Vec<Symbol> = Vec::new();
    symbols.with_room(start.len());
    for (index, symbol) in start.iter().enumerate() {
        symbols.push(Symbol {
            id: symbol.id,
            previous: index.wrapping_sub(1),
            next: index + 1,
        });
    }
    let mut halves = Halves::default();
    let mut heap = BinaryHeap::new();
    let mut add = |symbols: &[Symbol], heap: &mut BinaryHeap<_>, index: usize| {
        let Some(left) = symbols.get(index) else {
            return;
        };
        let Some(right) = symbols.get(left.next) else {
            return;
        };
        let entry = merges.pairs().get(left.id, right.id);
        if entry != NO_TOKEN {
            halves
                .with_room(1)
                .insert(merges.likely(entry), (left.id, right.id, left.next - index));
            let pair = (merges.rank(entry), index, entry, right.next);
            heap.with_room(1).push(Reverse(pair));
        }
    };
    for index in 0..symbols.len() {
        if index % CHECK_INTERVAL == 0 {
            checkpoint::pass()?;
        }
        add(&symbols, &mut heap, index);
    }
    let mut count = 0_usize;
    while let Some(Reverse((_, index, entry, end))) = heap.pop() {
        count += 1;
        if count.is_multiple_of(CHECK_INTERVAL) {
            checkpoint::pass()?;
        }
        let Symbol { id, next, .. } = symbols[index];
        let is_current = id != NO_TOKEN
            && next < symbols.len()
            && symbols[next].next == end
            && merges.pairs().get(id, symbols[next].id) == entry;
        if !is_current {
            continue;
        }
        symbols[next].id = NO_TOKEN;
        symbols[index].id = merges.likely(entry);
        symbols[index].next = end;
        if let Some(after) = symbols.get_mut(end) {
            after.previous = index;
        }
        let previous = symbols[index].previous;
        add(&symbols, &mut heap, previous);
        add(&symbols, &mut heap, index);
    }
    let mut tokens = Vec::new();
    let mut index = 0;
    while let Some(symbol) = symbols.get(index) {
        take_apart(merges, &halves, symbol.id, index, 0, &mut tokens);
        index = symbol.next;
    }
    Ok(tokens)
}

/// Appends a symbol, or what an unused one consists of.
fn take_apart(
    merges: &ListedMerges,
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
