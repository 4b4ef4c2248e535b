//! Merging long pieces in windows, so that the working memory stays in L1, with exactly the same result.
//!
//! ```text
//! start = 0
//! until the piece ends:
//!     merge a window of bytes from start on, alone; if it equals the window before, its tokens are known
//!     if the window before had another token at start: go back, with a window twice as long
//!     keep its tokens except for the last few; start = the offset of the first of these
//! ```
//!
//! **Why this is exact**, for any vocabulary. Let `E` be the result of merging the bytes before an offset p
//! and some bytes after it, alone, `E = … T …` with the token T starting at p. Let `F` be the result of
//! merging all bytes from p on, and let F start with the same T. Claim: the result of merging all bytes is E
//! up to p, followed by F.
//!
//! Two adjacent spans of text do not influence each other as long as no merge crosses the border between
//! them: of the pairs of both, the one of lower rank is merged next, the left one among equals. So the order
//! of their merges is fixed by the two spans alone, independent of other text. Suppose that some merge of all
//! bytes crosses p, and consider the first that does: it merges x, which ends at p, with y, which starts at
//! p. Until then, the bytes before p have been merged as in E, and those after p as in F: so no merge has
//! crossed either end of T, which is in F. In E no merge ever does. Hence the bytes before p and those of T
//! are two such spans, merged in the same order in both cases, and E has passed through the present state: x
//! and y adjacent at p, with a rank before that of all other pairs of the two spans. In E, none of these
//! pairs could have been merged before x and y. But in E no merge crosses p, and E contains no pair that
//! still merges: a contradiction. So no merge crosses p, and both sides are merged independently.
//!
//! F itself is found window by window in the same way: apply the claim from the last window, which reaches
//! the end of the piece, back to the first.

use super::queue::{LongMerges, Queue, Start, Token};
use crate::checkpoint;
use crate::error::EncodeError;
use crate::token::{NO_TOKEN, TokenId};
use crate::util::memory::{self, Growable};

/// The usual length of a window in bytes: the engine's memory for it just fits into L1. With half of it, too
/// much of a run of spaces, whose tokens have up to 128 bytes, is merged twice.
pub const WINDOW_LEN: usize = 1 << 11;

/// Tokens at the end of a window that are not kept, because the bytes after it may change them. In random
/// letters, one window in a thousand is too short with three, one in a hundred with two.
const DROPPED: usize = 3;

/// A window, and the state to return to it.
#[derive(Clone, Copy)]
struct Window {
    start: usize,
    length: usize,
    /// The token that the window before had at `start`.
    expected: Option<TokenId>,
    /// Number of ids before it.
    ids: usize,
}

/// Merges `piece` and appends its ids to `ids`, in windows of at least `length` bytes: [`WINDOW_LEN`], except
/// in tests.
///
/// # Errors
/// [`EncodeError::Interrupted`] from the checkpoint; [`EncodeError::PieceTooLong`] if a window would need 4
/// GiB.
///
/// # Complexity
/// O(n) for n bytes where bytes change few tokens before them, as in published vocabularies; otherwise at
/// most O(n log² n). The working memory is that of the queue for the longest window: usually 100 KB.
pub fn merge(
    merges: &impl LongMerges,
    piece: &[u8],
    mut length: usize,
    ids: &mut Vec<TokenId>,
) -> Result<(), EncodeError> {
    let mut queue = Queue::new();
    let mut tokens: Vec<Token> = Vec::new();
    length = length.max(1);
    let begin = Window {
        start: 0,
        length,
        expected: None,
        ids: ids.len(),
    };
    let mut window = begin;
    let mut before = None;
    let mut last: &[u8] = &[];
    loop {
        let rest = &piece[window.start..];
        let bytes = &rest[..merges.boundary(rest, window.length.min(rest.len()))];
        if bytes == last {
            // In a run, windows are equal, and so are their tokens.
            checkpoint::pass()?;
        } else if put_inert(merges, bytes, &mut tokens) {
            checkpoint::pass()?;
        } else {
            queue.merge(merges, bytes)?;
            tokens.clear();
            memory::extend(&mut tokens, queue.tokens());
        }
        last = bytes;

        let first = tokens.first().map(|token| token.id);
        if window.expected.is_some() && window.expected != first {
            // Back to the window before; if its own first token then differs, back to the start of the piece.
            window = before.take().unwrap_or_else(|| {
                length *= 2;
                begin
            });
            window.length = length.max(2 * window.length);
            ids.truncate(window.ids);
            continue;
        }
        if bytes.len() == rest.len() {
            memory::extend(ids, tokens.iter().map(|token| token.id));
            return Ok(());
        }
        let kept = tokens.len().saturating_sub(DROPPED);
        match tokens.split_at(kept) {
            // At least half of a window is kept, which bounds the number of windows.
            (kept, [next, ..]) if next.start >= window.length.div_ceil(2) => {
                memory::extend(ids, kept.iter().map(|token| token.id));
                before = Some(window);
                window = Window {
                    start: window.start + next.start,
                    length,
                    expected: Some(next.id),
                    ids: ids.len(),
                };
            }
            _ => window.length *= 2,
        }
    }
}

/// Replaces `tokens` by the symbols of `bytes`, if no two of them merge.
fn put_inert(merges: &impl LongMerges, bytes: &[u8], tokens: &mut Vec<Token>) -> bool {
    tokens.clear();
    let mut offset = 0;
    while offset < bytes.len() {
        let Start { id, length, rank } = merges.start(&bytes[offset..]);
        if rank != NO_TOKEN {
            return false;
        }
        tokens.with_room(1).push(Token { start: offset, id });
        offset += length;
    }
    true
}
