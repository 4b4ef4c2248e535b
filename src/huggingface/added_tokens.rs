//! Added tokens, with the ids that the library gives them.

use std::collections::HashMap;

use super::json::{At, FileError};
use crate::token::{NO_TOKEN, TokenId};

/// An added token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are flags in the file")]
pub struct Added {
    /// Its text.
    pub content: String,
    /// The id that the library gives it, whatever the file says.
    pub id: TokenId,
    /// The id that the file says.
    pub listed_id: TokenId,
    /// Whether it is special.
    pub special: bool,
    /// Whether it takes the blanks before it.
    pub lstrip: bool,
    /// Whether it takes the blanks after it.
    pub rstrip: bool,
    /// Whether it is found between characters that are not of a word only.
    pub single_word: bool,
    /// Whether it is found in normalized text.
    pub normalized: bool,
}

/// Which ids added tokens have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddedIds {
    /// Those that the library gives them when it reads a file.
    Numbered,
    /// Those that the file says: a tokenizer in use may have others than it would have after it was saved.
    Listed,
}

/// Reads the added tokens, no content twice. `vocabulary` has the ids of the model's tokens, which are `count`: of a list, a
/// token that is there twice counts twice.
///
/// Where ids are numbered, this is how the library does it:
/// A token of the model keeps its id. Others are numbered in the order of the file from the number of the model's tokens
/// on, even where that is the id of another token: of added tokens with the same id, only the last is one. If a content
/// is listed twice, the last flags count, but it stays special; an empty content counts for nothing.
pub(super) fn read_added(
    list: &At<'_>,
    (vocabulary, count): (&HashMap<&str, TokenId>, usize),
    ids: AddedIds,
) -> Result<Vec<Added>, FileError> {
    if list.is_null() {
        return Ok(Vec::new());
    }
    let mut tokens: Vec<Added> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut place_of_id: HashMap<TokenId, usize> = HashMap::new();
    let mut next_id = TokenId::try_from(count).unwrap_or(NO_TOKEN);
    for item in list.items()? {
        let content = item.get("content")?.text()?;
        let mut token = Added {
            content: content.to_owned(),
            id: NO_TOKEN,
            listed_id: item.get("id")?.number()?,
            special: item.get("special")?.flag()?,
            lstrip: item.get("lstrip")?.flag()?,
            rstrip: item.get("rstrip")?.flag()?,
            single_word: item.get("single_word")?.flag()?,
            normalized: item.get("normalized")?.flag()?,
        };
        if content.is_empty() {
            continue;
        }
        if let Some(&place) = places.get(content) {
            let first = &mut tokens[place];
            token.id = first.id;
            token.special |= first.special;
            place_of_id.insert(token.id, place);
            *first = token;
            continue;
        }
        if ids == AddedIds::Listed {
            token.id = token.listed_id;
        } else if let Some(&id) = vocabulary.get(content) {
            token.id = id;
        } else {
            token.id = next_id;
            next_id = next_id.saturating_add(1);
        }
        if token.id == NO_TOKEN {
            return Err(item.refuse("there are too many tokens: expected ids below 4294967295"));
        }
        places.insert(content, tokens.len());
        place_of_id.insert(token.id, tokens.len());
        tokens.push(token);
    }
    if place_of_id.len() < tokens.len() {
        let mut place = 0..;
        tokens.retain(|token| place.next() == place_of_id.get(&token.id).copied());
    }
    Ok(tokens)
}
