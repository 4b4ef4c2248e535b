//! Reference encoding: pieces by the regular expression, each piece by [`reference`].

use bytemill::merge;
use bytemill::reference;
use bytemill::token::TokenId;
use bytemill::vocabulary::Vocabulary;
use fancy_regex::Regex;

use crate::support::byte_merges;

/// Longer pieces take the reference too long.
const LONGEST: usize = 120;

/// The pieces of a text.
pub(crate) fn pieces<'t>(regex: &Regex, text: &'t str) -> Option<Vec<&'t str>> {
    let found = regex
        .find_iter(text)
        .map(|found| Some(found.ok()?.as_str()));
    found.collect()
}

/// Returns the ids of a piece; for a long one by the engine without windows and tables.
pub(crate) fn piece(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<TokenId> {
    if piece.len() <= LONGEST {
        return reference::encode_piece(vocabulary, piece);
    }
    if let Some(id) = vocabulary.token(piece) {
        return vec![id];
    }
    let mut ids = Vec::new();
    merge::queue::merge(byte_merges(vocabulary), piece, &mut ids).expect("nothing stops it");
    ids
}

/// The ids of a text.
pub(crate) fn text(vocabulary: &Vocabulary, regex: &Regex, text: &str) -> Option<Vec<TokenId>> {
    let pieces = pieces(regex, text)?.into_iter();
    Some(
        pieces
            .flat_map(|found| piece(vocabulary, found.as_bytes()))
            .collect(),
    )
}

/// Returns the ids of bytes: those of the valid text at the start without its last piece, and without whitespace before
/// that if it is whitespace; the rest is one piece.
pub(crate) fn bytes(vocabulary: &Vocabulary, regex: &Regex, bytes: &[u8]) -> Option<Vec<TokenId>> {
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => return self::text(vocabulary, regex, text),
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()?,
    };
    let mut ids = text(vocabulary, regex, valid)?;
    let last = pieces(regex, valid)?
        .last()
        .map_or(0, |last| piece(vocabulary, last.as_bytes()).len());
    let spelled = |id: &TokenId| vocabulary.bytes(*id).unwrap_or_default();
    let blank = |id: &TokenId| spelled(id).iter().all(|byte| b" \n\t".contains(byte));
    let mut start = ids.len() - last;
    if last > 0 && blank(&ids[start]) {
        while start > 0 && blank(&ids[start - 1]) {
            start -= 1;
        }
    }
    let unstable = ids.split_off(start);
    let mut rest: Vec<u8> = unstable.iter().flat_map(spelled).copied().collect();
    rest.extend_from_slice(&bytes[valid.len()..]);
    ids.extend(piece(vocabulary, &rest));
    Some(ids)
}
