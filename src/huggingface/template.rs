//! The special tokens that the library adds around a text.

use super::json::{At, FileError};
use super::pre_tokenizer::byte_level;
use crate::token::TokenId;

/// Special tokens around a text. Files of models have a few.
const MOST_AROUND: usize = 1 << 10;

/// Special tokens around a text, each with the text that the post-processor has for it and the id that the library gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// Those before it.
    pub prefix: Vec<(String, TokenId)>,
    /// Those after it.
    pub suffix: Vec<(String, TokenId)>,
}

/// A text, or a token that a post-processor puts around it.
#[derive(Clone, Debug)]
enum Item {
    Text,
    Token(String, TokenId),
}

/// A text for the next post-processor: each part of a template is one.
type Part = Vec<Item>;

/// Reads a post-processor. Its fields tell its type, same as in the library.
pub(super) fn read_template(processor: &At<'_>) -> Result<Template, FileError> {
    let mut parts = vec![vec![Item::Text]];
    if !processor.is_null() {
        parts = process(processor, parts)?;
    }
    let mut template = Template::default();
    let mut texts = 0;
    for item in parts.into_iter().flatten() {
        match item {
            Item::Text => texts += 1,
            Item::Token(text, id) if texts == 0 => template.prefix.push((text, id)),
            Item::Token(text, id) => template.suffix.push((text, id)),
        }
    }
    if texts != 1 {
        return Err(processor.refuse(format!(
            "expected to keep the text once, got it {texts} times"
        )));
    }
    Ok(template)
}

/// Returns what a processor makes of the parts that the one before has made.
fn process(processor: &At<'_>, parts: Vec<Part>) -> Result<Vec<Part>, FileError> {
    let has = |key: &str| processor.get(key).is_ok_and(|value| !value.is_null());
    let parts = if has("sep") && has("cls") {
        let is_roberta = has("trim_offsets") && has("add_prefix_space");
        put_around(processor, parts, is_roberta)?
    } else if has("single") && has("special_tokens") {
        fill_template(processor, &parts)?
    } else {
        let (kind, name) = processor.kind()?;
        match name {
            "ByteLevel" => {
                byte_level(processor)?;
                parts
            }
            "Sequence" => {
                let steps = processor.get("processors")?.items()?;
                return steps
                    .iter()
                    .try_fold(parts, |parts, step| process(step, parts));
            }
            _ => {
                return Err(kind.refuse(format!(
                    "expected ByteLevel, TemplateProcessing, RobertaProcessing, BertProcessing or Sequence, got {name}"
                )));
            }
        }
    };
    check_around(processor, parts.iter().map(Vec::len).sum())?;
    Ok(parts)
}

/// Puts tokens around parts as `RobertaProcessing` or `BertProcessing`.
fn put_around(
    processor: &At<'_>,
    mut parts: Vec<Part>,
    is_roberta: bool,
) -> Result<Vec<Part>, FileError> {
    let token = |key: &str| match &processor.get(key)?.items()?[..] {
        [text, id] => Ok(Item::Token(text.text()?.to_owned(), id.number()?)),
        _ => Err(processor.refuse(format!("expected a token and its id as {key}"))),
    };
    let (first, last) = (token("cls")?, token("sep")?);
    for (number, part) in parts.iter_mut().enumerate() {
        if number == 0 {
            part.insert(0, first.clone());
        } else if is_roberta {
            part.insert(0, last.clone());
        }
        part.push(last.clone());
    }
    Ok(parts)
}

/// Returns the parts of a template around one text, or two.
fn fill_template(processor: &At<'_>, parts: &[Part]) -> Result<Vec<Part>, FileError> {
    let key = match parts.len() {
        1 => "single",
        2 => "pair",
        count => {
            return Err(processor.refuse(format!(
                "expected one text or two, got the {count} parts of another template"
            )));
        }
    };
    let mut made: Vec<Part> = Vec::new();
    let mut count = 0;
    for part in processor.get(key)?.items()? {
        let special = part.get("SpecialToken")?;
        let filled = if special.is_null() {
            let sequence = part.get("Sequence")?.get("id")?;
            let text = match sequence.text()? {
                "A" => parts.first(),
                "B" => parts.get(1),
                _ => None,
            };
            text.cloned()
                .ok_or_else(|| sequence.refuse("expected a sequence that there is"))?
        } else {
            tokens_of(processor, &special)?
        };
        count += filled.len();
        check_around(processor, count)?;
        made.push(filled);
    }
    Ok(made)
}

/// Returns the tokens that an entry of a template stands for.
fn tokens_of(processor: &At<'_>, special: &At<'_>) -> Result<Part, FileError> {
    let id = special.get("id")?.text()?;
    let names = processor.get("special_tokens")?.get(id)?;
    if names.is_null() {
        return Err(special.refuse(format!("expected a key of special_tokens, got {id:?}")));
    }
    let (texts, ids) = (names.get("tokens")?.items()?, names.get("ids")?.items()?);
    if texts.len() != ids.len() {
        return Err(names.refuse("expected as many ids as tokens"));
    }
    let tokens = texts.iter().zip(&ids);
    let tokens = tokens.map(|(text, id)| Ok(Item::Token(text.text()?.to_owned(), id.number()?)));
    tokens.collect()
}

/// Checks the number of special tokens around a text: a file can name one that stands for many, many times.
fn check_around(processor: &At<'_>, count: usize) -> Result<(), FileError> {
    if count > MOST_AROUND + 1 {
        return Err(processor.refuse(format!(
            "expected at most {MOST_AROUND} special tokens around a text, got {} or more",
            count - 1
        )));
    }
    Ok(())
}
