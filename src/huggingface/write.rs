//! Tokens and merges as entries of a `tokenizer.json`, spelled as Python's `json` spells them.

use std::fmt::Write;

use crate::error::VocabularyError;
use crate::merge::derive::merges_of;
use crate::token::{Pair, TokenId};
use crate::util::memory::{self, Growable};
use crate::vocabulary::{Vocabulary, byte_alphabet};

/// Returns the entries `vocab` and `merges` of a model of a vocabulary that merges bytes.
///
/// `others` are further tokens of the file, as they are spelled there, with ids that the vocabulary does not have.
///
/// # Errors
/// As [`merges_of`].
///
/// # Complexity
/// O(total bytes) merges.
pub fn model_entries(
    vocabulary: &Vocabulary,
    others: &[(String, TokenId)],
) -> Result<String, VocabularyError> {
    let merges = merges_of(vocabulary)?;
    let mut tokens: Vec<(TokenId, Option<&str>)> =
        memory::collect(vocabulary.ids().map(|id| (id, None)));
    memory::extend(
        &mut tokens,
        others.iter().map(|(text, id)| (*id, Some(text.as_str()))),
    );
    tokens.sort_unstable();
    let spelled = |json: &mut String, id| {
        json.push('"');
        for &byte in vocabulary.bytes(id).unwrap_or_default() {
            if matches!(byte, b'"' | b'\\') {
                json.push('\\');
            }
            json.push(byte_alphabet::CHARACTERS[usize::from(byte)]);
        }
        json.push('"');
    };
    let mut json = String::from("\"vocab\": {");
    let (mut entry, mut separator) = (String::new(), "");
    for (id, text) in tokens {
        entry += separator;
        match text {
            Some(text) => entry += &serde_json::Value::from(text).to_string(),
            None => spelled(&mut entry, id),
        }
        write!(entry, ": {id}").expect("a string takes everything");
        move_to(&mut json, &mut entry);
        separator = ", ";
    }
    json += "}, \"merges\": [";
    separator = "";
    for (_, Pair { left, right }) in merges {
        entry += separator;
        entry.push('[');
        spelled(&mut entry, left);
        entry += ", ";
        spelled(&mut entry, right);
        entry.push(']');
        move_to(&mut json, &mut entry);
        separator = ", ";
    }
    json.push(']');
    Ok(json)
}

/// Appends an entry, which is then empty; unwinds with [`OutOfMemory`](crate::error::OutOfMemory).
fn move_to(json: &mut String, entry: &mut String) {
    json.with_room(entry.len()).push_str(entry);
    entry.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_in_the_order_of_ids() -> Result<(), VocabularyError> {
        let mut ranks: Vec<(Vec<u8>, TokenId)> =
            (0..=u8::MAX).map(|byte| vec![byte]).zip(10..).collect();
        ranks.push((b"\"\\".to_vec(), 300));
        ranks.push((b"\"\\ ".to_vec(), 302));
        let vocabulary = Vocabulary::from_ranks(ranks)?;
        let others = [("<\n\">", 301), ("<s>", 3)].map(|(text, id)| (text.to_owned(), id));
        let json = model_entries(&vocabulary, &others)?;
        assert!(
            json.starts_with(r#""vocab": {"<s>": 3, "Ā": 10, "ā": 11, "#),
            "{json}"
        );
        let end =
            r#""\"\\": 300, "<\n\">": 301, "\"\\Ġ": 302}, "merges": [["\"", "\\"], ["\"\\", "Ġ"]]"#;
        assert!(json.ends_with(end), "{json}");
        Ok(())
    }
}
