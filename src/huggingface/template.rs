//! The special tokens that the library adds around a text.

use super::json::{At, FileError};

/// Special tokens around a text, by their texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// Those before it.
    pub prefix: Vec<String>,
    /// Those after it.
    pub suffix: Vec<String>,
}

/// Reads a post-processor, whose type is told by its fields, as the library does it.
pub(super) fn read(processor: &At<'_>) -> Result<Template, FileError> {
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
        let name = |key: &str| match &processor.get(key)?.items()?[..] {
            [name, _] => name.text().map(str::to_owned),
            _ => Err(processor.refuse(format!("expected a token and its id as {key}"))),
        };
        template.prefix.insert(0, name("cls")?);
        template.suffix.push(name("sep")?);
        return Ok(());
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
        for name in names.get("tokens")?.items()? {
            tokens.push(name.text()?.to_owned());
        }
    }
    if !is_behind {
        return Err(processor
            .get("single")?
            .refuse("expected the text among its parts"));
    }
    template.prefix.splice(0..0, before);
    template.suffix.append(&mut after);
    Ok(())
}
