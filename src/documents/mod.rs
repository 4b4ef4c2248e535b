//! Documents within files, for training, counting and shards alike.

use memchr::memmem;

use crate::split::Splitter;

pub mod json_lines;

// Where a document may be cut so that it can be read in parts: the pieces of the parts are those of
// the document.
//
// Such are the starts of special tokens, whatever the pattern, and the
// [cuts](crate::split::Splitter::cuts) of the native families; both only where no special token lies
// across.

/// The last offset in `block` at which the document may be cut, if there is one in the last `window` bytes. The
/// document goes on after the block, neither need be UTF-8. Without a splitter only special tokens cut.
///
/// # Complexity
/// O(1) where there is text with spaces; at most O(`window`) times the number of special tokens.
pub fn last_cut(
    block: &[u8],
    special_tokens: &[&[u8]],
    splitter: Option<&Splitter>,
    window: usize,
) -> Option<usize> {
    let longest = special_tokens.iter().map(|token| token.len()).max();
    let longest = longest.unwrap_or(0);
    // Of a special token across any other offset, a part may be outside of the block.
    let (first, end) = (longest.max(1), block.len().saturating_sub(longest));
    let start = end.saturating_sub(window).max(first);
    if start >= end {
        return None;
    }
    let is_inside_special = |offset: usize| {
        special_tokens.iter().any(|token| {
            let from = (offset + 1).saturating_sub(token.len());
            let to = (offset + token.len()).saturating_sub(1).min(block.len());
            from < to && memmem::find(&block[from..to], token).is_some()
        })
    };
    let special = special_tokens
        .iter()
        .filter(|token| !token.is_empty())
        .filter_map(|token| Some(start + memmem::rfind(&block[start..end], token)?))
        .filter(|&offset| !is_inside_special(offset))
        .max();
    let after_special = special.map_or(start, |offset| offset + 1)..end;
    splitter
        .into_iter()
        .flat_map(|splitter| splitter.cuts_backwards(block, after_special.clone()))
        .find(|&offset| !is_inside_special(offset))
        .or(special)
}
