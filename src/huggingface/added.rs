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

/// Reads the added tokens, no content twice. `vocabulary` has the ids of the model's tokens.
///
/// A token of the model keeps its id. Others are numbered on, in the order of the file: from the number of the model's
/// tokens on, or from behind the highest id of an added token so far if that is higher. Of a content that is listed
/// twice, the last flags count, but it stays special; an empty one counts for nothing.
pub(super) fn read(
    list: &At<'_>,
    vocabulary: &HashMap<&str, TokenId>,
) -> Result<Vec<Added>, FileError> {
    if list.is_null() {
        return Ok(Vec::new());
    }
    let mut tokens: Vec<Added> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut highest: Option<TokenId> = None;
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
            *first = token;
            continue;
        }
        token.id = vocabulary.get(content).copied().unwrap_or_else(|| {
            let count = TokenId::try_from(vocabulary.len()).unwrap_or(NO_TOKEN);
            highest.map_or(count, |highest| count.max(highest.saturating_add(1)))
        });
        if token.id == NO_TOKEN {
            return Err(item.refuse("there are too many tokens: expected ids below 4294967295"));
        }
        highest = highest.max(Some(token.id));
        places.insert(content, tokens.len());
        tokens.push(token);
    }
    Ok(tokens)
}
