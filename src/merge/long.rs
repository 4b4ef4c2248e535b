//! Merging long pieces window by window, so that all work stays in the nearest cache, with exactly the same result.
//!
//! ```text
//! start = 0
//! until the piece ends:
//!     merge a window of bytes from start on, by itself; if it is like the window before, its tokens are known
//!     its first token is not the one that the window before saw there? that one was too short: again, twice as long
//!     keep its tokens but for the last few; start = where these begin
//! ```
//!
//! **Why this is exact**, for any vocabulary. Let `E` be what the merges make of the bytes before a place p and some
//! bytes after it, `E = … T …` with the token T starting at p; let `F` be what they make of all bytes from p on, and
//! let F start with the same T. Claim: what they make of all bytes is E up to p, then F.
//!
//! Two stretches of text that no merge crosses between do not disturb each other: of both, the lower rank is next, the
//! left one's among equals. So the order of their merges is fixed by the two stretches alone, whatever else is around.
//! Suppose that merging all bytes does cross p, and look at the first time it does, by merging x, which ends at p,
//! with y, which starts there. Until then, the bytes before p have gone the way they go in E, and those after p the
//! way of F: so no merge has crossed either end of T, which is in F. In E none ever does. Hence the bytes before p and
//! those of T are two such stretches, with merges in the same order both times, and E once was in the state that is
//! seen now: x and y side by side at p, their rank before that of all other pairs of the two stretches. These pairs
//! would have had to wait in E until x and y are merged. But no merge crosses p in E, and E holds no pair that still
//! merges: a contradiction. So nothing crosses p, and both sides go their own ways.
//!
//! F itself is found window by window in the same way; read the claim from the last window, which reaches the end of
//! the piece, back to the first.

use super::queue::{Queue, Token};
use crate::checkpoint::{self, Checkpoint};
use crate::error::EncodeError;
use crate::token::{NO_TOKEN, TokenId};
use crate::vocabulary::Vocabulary;

/// The bytes of a window, as a rule: what the engine needs for them just fits the nearest cache. Half as many leave
/// over too much of a run of spaces, whose tokens have up to 128 bytes.
pub const WINDOW_LEN: usize = 1 << 11;

/// So many tokens at the end of a window are left over, since what follows may change them. In random letters, one
/// window in a thousand is too short with three, one in a hundred with two.
const LEFT_OVER: usize = 3;

/// Where a window begins, and what it takes to return there.
#[derive(Clone, Copy)]
struct Window {
    start: usize,
    length: usize,
    /// The token that the window before saw at `start`.
    seen: Option<TokenId>,
    /// How many ids there were by then.
    ids: usize,
}

/// Appends what the merges make of `piece` to `ids`, by windows of at least `length` bytes, which is [`WINDOW_LEN`] but in
/// tests.
///
/// # Errors
/// [`EncodeError::Interrupted`] from the checkpoint; [`EncodeError::PieceTooLong`] where a window would have to hold
/// 4 GiB.
///
/// # Complexity
/// O(n) for n bytes where what follows changes few tokens before it, as in published vocabularies; else at most
/// O(n log² n). Working memory is that of the queue for the longest window: as a rule 100 KB.
pub fn merge(
    vocabulary: &Vocabulary,
    piece: &[u8],
    mut length: usize,
    ids: &mut Vec<TokenId>,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    let mut queue = Queue::new();
    let mut tokens: Vec<Token> = Vec::new();
    length = length.max(1);
    let begin = Window {
        start: 0,
        length,
        seen: None,
        ids: ids.len(),
    };
    let mut window = begin;
    let mut before = None;
    let mut merged: &[u8] = &[];
    loop {
        let rest = &piece[window.start..];
        let bytes = &rest[..window.length.min(rest.len())];
        if bytes == merged {
            // In a run, one window is like the other, and so are the tokens.
            checkpoint::pass(checkpoint)?;
        } else if is_inert(vocabulary, bytes) {
            checkpoint::pass(checkpoint)?;
            tokens.clear();
            tokens.extend(bytes.iter().enumerate().map(|(start, &byte)| Token {
                start,
                id: vocabulary.byte_token(byte),
            }));
        } else {
            queue.merge(vocabulary, bytes, checkpoint)?;
            tokens.clear();
            tokens.extend(queue.tokens());
        }
        merged = bytes;

        let first = tokens.first().map(|token| token.id);
        if window.seen.is_some() && window.seen != first {
            // Back to the window before; if its own beginning turns out wrong there, to the start of the piece.
            window = before.take().unwrap_or_else(|| {
                length *= 2;
                begin
            });
            window.length = length.max(2 * window.length);
            ids.truncate(window.ids);
            continue;
        }
        if bytes.len() == rest.len() {
            ids.extend(tokens.iter().map(|token| token.id));
            return Ok(());
        }
        let kept = tokens.len().saturating_sub(LEFT_OVER);
        match tokens.split_at(kept) {
            // Half of a window is kept at least: that bounds the number of windows.
            (kept, [next, ..]) if next.start >= window.length.div_ceil(2) => {
                ids.extend(kept.iter().map(|token| token.id));
                before = Some(window);
                window = Window {
                    start: window.start + next.start,
                    length,
                    seen: Some(next.id),
                    ids: ids.len(),
                };
            }
            _ => window.length *= 2,
        }
    }
}

/// Whether no two bytes of `bytes` merge.
fn is_inert(vocabulary: &Vocabulary, bytes: &[u8]) -> bool {
    bytes
        .iter()
        .zip(bytes.iter().skip(1))
        .all(|(&first, &second)| vocabulary.merged_bytes(first, second) == NO_TOKEN)
}
