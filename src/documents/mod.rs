//! Documents within files, for training, counting and shards alike.

use memchr::memmem;

use crate::split::Splitter;

pub mod json_lines;

// Where a document may be cut so that it can be read in parts: the pieces of the parts are those of
// the document.
//
// Such are the starts of special tokens, whatever the pattern, and the
// [cuts](crate::split::Splitter::cuts) of the native families; both only where no special token lies
// across, nor another string that stays whole. Added tokens that look at what stands before them
// [do not cut](crate::encode::Encoder::dividing), but stay whole.

/// The last offset in `block` at which the document may be cut, if there is one in the last `window` bytes. The
/// document goes on after the block, neither need be UTF-8. Without a splitter only special tokens cut; `whole` are other
/// strings that no cut is inside of.
///
/// # Complexity
/// O(1) where there is text with spaces; at most O(`window`) times the number of strings.
pub fn last_cut(
    block: &[u8],
    special_tokens: &[&[u8]],
    whole: &[&[u8]],
    splitter: Option<&Splitter>,
    window: usize,
) -> Option<usize> {
    let strings = || special_tokens.iter().chain(whole);
    let longest = strings().map(|string| string.len()).max();
    let longest = longest.unwrap_or(0);
    // Of a string across any other offset, a part may be outside of the block.
    let (first, end) = (longest.max(1), block.len().saturating_sub(longest));
    let start = end.saturating_sub(window).max(first);
    if start >= end {
        return None;
    }
    let is_inside = |offset: usize| {
        strings().any(|string| {
            let from = (offset + 1).saturating_sub(string.len());
            let to = (offset + string.len()).saturating_sub(1).min(block.len());
            from < to && memmem::find(&block[from..to], string).is_some()
        })
    };
    let special = special_tokens
        .iter()
        .filter(|token| !token.is_empty())
        .filter_map(|token| Some(start + memmem::rfind(&block[start..end], token)?))
        .filter(|&offset| !is_inside(offset))
        .max();
    let after_special = special.map_or(start, |offset| offset + 1)..end;
    splitter
        .into_iter()
        .flat_map(|splitter| splitter.cuts_backwards(block, after_special.clone()))
        .find(|&offset| !is_inside(offset))
        .or(special)
}
