//! Vocabularies whose merges by rank give the ids of a file as well, as [`agreement`] checks.
//!
//! Files of which that is all only cut text by a pattern, write bytes as characters, and join bytes in the end; their added
//! tokens are all special.

use std::collections::{HashMap, HashSet};

use crate::huggingface::{Added, DecoderStep, FileError, Kind, Merging, Model, TokenizerFile};
use crate::merge::agreement;
use crate::split::chain::{Behavior, GPT2, Pattern, Step, oniguruma};
use crate::split::{Splitter, coverage};
use crate::token::{NO_TOKEN, Pair, TokenId};
use crate::util::hash::SeededState;
use crate::util::join::join;
use crate::util::memory::{self, Growable};
use crate::vocabulary::{Vocabulary, byte_alphabet};

/// Returns the pattern whose matches are the pieces, and what splits by it, if nothing but merging by rank could be done to
/// them.
pub(super) fn splitter(file: &TokenizerFile<'_>, ids: &Ids<'_>) -> Option<(String, Splitter)> {
    let is_plain = file.normalizers.is_empty()
        && !file.pre_tokenizer.adds_space
        && file.pre_tokenizer.metaspace.is_none()
        && file.decoder.as_deref() == Some(&[DecoderStep::ByteLevel]);
    let pattern = is_plain.then(|| pattern(&file.pre_tokenizer.steps))??;
    let splitter = Splitter::new(&pattern).ok()?;
    has_special_tokens_only(&file.added, file, ids).then_some((pattern, splitter))
}

/// Returns the pattern whose matches are the pieces of some steps, if it means the same in the spelling of the file.
fn pattern(steps: &[Step]) -> Option<String> {
    match steps {
        [Step::Gpt2, Step::ByteLevel] => Some(GPT2.to_owned()),
        [
            Step::Split {
                pattern: Pattern::Regex(regex),
                behavior,
                invert,
            },
            Step::ByteLevel,
        ] => {
            let pattern = oniguruma::translate_verbatim(regex)?;
            match (behavior, invert) {
                // What the pattern did not match would be a piece too.
                (Behavior::Isolated, _) => coverage::is_total(&pattern).then_some(pattern),
                (Behavior::Removed, true) => Some(pattern),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns whether all added tokens are found in text before all else, as special tokens are, and have ids of their
/// own.
fn has_special_tokens_only(added: &[Added], file: &TokenizerFile<'_>, ids: &Ids<'_>) -> bool {
    let is_plain = |token: &Added| {
        let takes_more = token.lstrip || token.rstrip || token.single_word;
        let has_own_id = token.id == token.listed_id;
        token.special && !takes_more && has_own_id && !decodes_to_other_bytes(&token.content)
    };
    // The library looks for those first that are not normalized.
    let (normalized, others): (Vec<&Added>, Vec<&Added>) =
        added.iter().partition(|token| token.normalized);
    let is_apart = |token: &&Added| {
        let apart = |other: &&Added| !overlap(&token.content, &other.content);
        others.iter().all(apart)
    };
    let new: HashSet<TokenId, SeededState> = added
        .iter()
        .filter(|token| !ids.contains_key(&*token.content))
        .map(|token| token.id)
        .collect();
    added.iter().all(is_plain)
        && normalized.iter().all(is_apart)
        && !file.model.vocabulary.iter().any(|(_, id)| new.contains(id))
}

/// Returns whether the decoder takes the characters of a text for bytes that are not those of the text.
fn decodes_to_other_bytes(text: &str) -> bool {
    let mut bytes = Vec::new();
    byte_alphabet::push_bytes(text, &mut bytes) && bytes != text.as_bytes()
}

/// Returns whether occurrences of two texts can share characters.
fn overlap(first: &str, second: &str) -> bool {
    let starts_in = |first: &str, second: &str| {
        let mut starts = first.char_indices().map(|(start, _)| &first[start..]);
        starts.any(|rest| second.starts_with(rest) || rest.starts_with(second))
    };
    starts_in(first, second) || starts_in(second, first)
}

/// Returns the vocabulary whose merges by rank give the same ids of pieces as the merges of a file, if that is certain.
/// With `with_added`, it has all tokens of the model; otherwise those that are added tokens alone are left out.
pub(super) fn vocabulary(
    file: &TokenizerFile<'_>,
    merges: &Merges,
    with_added: bool,
) -> Option<Vocabulary> {
    let model = &file.model;
    let merging = model.merging()?;
    let has_affix = !merging.prefix.is_empty() || !merging.suffix.is_empty();
    if !file.pre_tokenizer.is_byte_level || has_affix {
        return None;
    }
    let added: HashSet<&str, SeededState> =
        memory::collect_table(file.added.iter().map(|token| &*token.content));
    // An added token that merges make too, or that is a byte, is also a mergeable token.
    let is_byte = |text: &str| {
        let mut characters = text.chars();
        characters.next().and_then(byte_alphabet::byte_of).is_some() && characters.next().is_none()
    };
    let made: HashSet<TokenId, SeededState> =
        memory::collect_table(merges.iter().map(|(made, _)| *made));
    let mut bytes = Vec::new();
    let mut spans = memory::vec_with_capacity(model.vocabulary.len());
    for (text, id) in &model.vocabulary {
        if !with_added && added.contains(&**text) && !is_byte(text) && !made.contains(id) {
            continue;
        }
        let start = bytes.len();
        if text.is_empty() || !byte_alphabet::push_bytes(text, &mut bytes) {
            return None;
        }
        spans.push((*id, start..bytes.len()));
    }
    // Where an id is there twice, there is no vocabulary.
    spans.sort_unstable_by_key(|(id, _)| *id);
    let is_mergeable = |id: TokenId| spans.binary_search_by_key(&id, |(id, _)| *id).is_ok();
    let is_known =
        |(_, pair): &(TokenId, Pair)| is_mergeable(pair.left) && is_mergeable(pair.right);
    let is_distinct = spans.windows(2).all(|pair| pair[0].0 < pair[1].0);
    // Only added tokens may be left out.
    let is_whole = spans.len() == model.vocabulary.len() || merges.iter().all(is_known);
    if !is_distinct || !is_whole || is_mergeable(NO_TOKEN) {
        return None;
    }
    let tokens = spans.iter().map(|(id, span)| (*id, &bytes[span.clone()]));
    agreement::by_rank(tokens, merges, merging.whole_pieces)
}

// The ids and the merges that a file lists, by the texts of its tokens.

/// Token ids by their texts in the file.
pub(super) type Ids<'a> = HashMap<&'a str, TokenId, SeededState>;

/// The merges of a file, each with the token that it makes, in their order.
pub(super) type Merges = Vec<(TokenId, Pair)>;

/// Returns the ids of all tokens.
pub(super) fn ids<'a>(model: &'a Model<'_>) -> Result<Ids<'a>, FileError> {
    let mut ids = Ids::default();
    ids.with_room(model.vocabulary.len());
    for (text, id) in &model.vocabulary {
        // Of scores, the last counts.
        if ids.insert(text, *id).is_some() && !matches!(model.kind, Kind::Unigram(_)) {
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
pub(super) fn merges(merging: &Merging<'_>, ids: &Ids<'_>) -> Result<Merges, FileError> {
    let Merging { merges, prefix, .. } = merging;
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
