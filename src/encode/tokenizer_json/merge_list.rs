//! The ids and the merges that a file lists, by the texts of its tokens.

use std::collections::HashMap;

use crate::huggingface::{FileError, Model};
use crate::token::{Pair, TokenId};
use crate::util::hash::SeededState;
use crate::util::join::join;
use crate::util::memory::{self, Growable};

/// Token ids by their texts in the file.
pub(super) type Ids<'a> = HashMap<&'a str, TokenId, SeededState>;

/// The merges of a file, each with the token that it makes, in their order.
pub(super) type Merges = Vec<(TokenId, Pair)>;

/// Returns the ids of all tokens.
pub(super) fn ids<'a>(model: &'a Model<'_>) -> Result<Ids<'a>, FileError> {
    let mut ids = Ids::default();
    ids.with_room(model.vocabulary.len());
    for (text, id) in &model.vocabulary {
        if ids.insert(text, *id).is_some() {
            let reason = format!("the token {text:?} is there twice");
            return Err(FileError::new("model.vocab", reason));
        }
    }
    if ids.is_empty() {
        return Err(FileError::new("model.vocab", "expected at least one token"));
    }
    Ok(ids)
}

/// Returns the merges with the token that each makes.
pub(super) fn merges(model: &Model<'_>, ids: &Ids<'_>) -> Result<Merges, FileError> {
    let Model { merges, prefix, .. } = model;
    if !prefix.is_ascii() {
        return Err(FileError::new(
            "model.continuing_subword_prefix",
            format!("expected ASCII, got {prefix:?}"),
        ));
    }
    let half = merges.len() / 2;
    let ranked = |start: usize, end: usize| {
        let mut joined = String::new();
        let mut found = memory::vec_with_capacity(end - start);
        for (index, (left, right)) in merges[start..end].iter().enumerate() {
            let index = start + index;
            let refuse = |reason: String| FileError::new(format!("model.merges[{index}]"), reason);
            let id = |text: &str| {
                let id = ids.get(text).copied();
                id.ok_or_else(|| refuse(format!("{text:?} is no token in model.vocab")))
            };
            // A part that is nothing but the prefix would not make a token any longer.
            let Some(rest) = right.get(prefix.len()..).filter(|rest| !rest.is_empty()) else {
                return Err(refuse(format!("{right:?} is too short")));
            };
            if left.is_empty() {
                return Err(refuse("one of its parts is empty".to_owned()));
            }
            joined.clear();
            joined.push_str(left);
            joined.push_str(rest);
            found.push((id(&joined)?, Pair::new(id(left)?, id(right)?)));
        }
        Ok(found)
    };
    let (first, second) = join(|| ranked(0, half), || ranked(half, merges.len()));
    let mut all = first?;
    memory::extend(&mut all, second?);
    Ok(all)
}
