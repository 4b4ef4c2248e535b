//! The special tokens that the library adds around a text.

use super::json::{At, FileError};
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

/// Reads a post-processor. Its fields tell its type, same as in the library.
pub(super) fn read_template(processor: &At<'_>) -> Result<Template, FileError> {
    let mut template = Template::default();
    if !processor.is_null() {
        add(processor, &mut template)?;
    }
    Ok(template)
}

/// Adds the tokens of a processor outside those of the processors before.
fn add(processor: &At<'_>, template: &mut Template) -> Result<(), FileError> {
    let has = |key: &str| processor.get(key).is_ok_and(|value| !value.is_null());
    if has("sep") && has("cls") {
        // RobertaProcessing and BertProcessing.
        let token = |key: &str| match &processor.get(key)?.items()?[..] {
            [text, id] => Ok((text.text()?.to_owned(), id.number()?)),
            _ => Err(processor.refuse(format!("expected a token and its id as {key}"))),
        };
        template.prefix.insert(0, token("cls")?);
        template.suffix.push(token("sep")?);
        return check_around(processor, template.prefix.len() + template.suffix.len());
    }
    if has("single") && has("special_tokens") {
        return add_single(processor, template);
    }
    let (kind, name) = processor.kind()?;
    match name {
        "ByteLevel" => Ok(()),
        "Sequence" => {
            for step in processor.get("processors")?.items()? {
                add(&step, template)?;
            }
            Ok(())
        }
        _ => Err(kind.refuse(format!(
            "expected ByteLevel, TemplateProcessing, RobertaProcessing, BertProcessing or Sequence, got {name}"
        ))),
    }
}

/// Adds the tokens around a single text.
fn add_single(processor: &At<'_>, template: &mut Template) -> Result<(), FileError> {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut is_behind = false;
    for part in processor.get("single")?.items()? {
        let special = part.get("SpecialToken")?;
        if special.is_null() {
            if is_behind {
                return Err(part.refuse("the text occurs twice, which is not supported"));
            }
            is_behind = true;
            continue;
        }
        let id = special.get("id")?.text()?;
        let names = processor.get("special_tokens")?.get(id)?;
        if names.is_null() {
            return Err(special.refuse(format!("expected a key of special_tokens, got {id:?}")));
        }
        let tokens = if is_behind { &mut after } else { &mut before };
        let (texts, ids) = (names.get("tokens")?.items()?, names.get("ids")?.items()?);
        if texts.len() != ids.len() {
            return Err(names.refuse("expected as many ids as tokens"));
        }
        check_around(processor, tokens.len() + texts.len())?;
        for (text, id) in texts.iter().zip(&ids) {
            tokens.push((text.text()?.to_owned(), id.number()?));
        }
    }
    if !is_behind {
        return Err(processor
            .get("single")?
            .refuse("expected the text among its parts"));
    }
    template.prefix.splice(0..0, before);
    template.suffix.append(&mut after);
    check_around(processor, template.prefix.len() + template.suffix.len())
}

/// Checks the number of special tokens around a text: a file can name one that stands for many, many times.
fn check_around(processor: &At<'_>, count: usize) -> Result<(), FileError> {
    if count > MOST_AROUND {
        return Err(processor.refuse(format!(
            "expected at most {MOST_AROUND} special tokens around a text, got {count} or more"
        )));
    }
    Ok(())
}
