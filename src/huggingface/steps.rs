//! Normalizers, and how text is cut.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;

use super::json::{At, FileError};
use crate::normalize::chain::{self as normalize, Find, Precompiled};
use crate::split::chain::{self as split, Behavior, Pattern, oniguruma};
use crate::token::{NO_TOKEN, TokenId};
use crate::util::regex::{self, Regex};

/// How text is cut, and what else the pre-tokenizer does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreTokenizer {
    /// How text is cut.
    pub steps: Vec<split::Step>,
    /// Whether a space is put before a text that does not begin with one.
    pub adds_space: bool,
    /// Whether the model sees bytes as characters.
    pub is_byte_level: bool,
    /// How spaces are written, before text is cut.
    pub metaspace: Option<Metaspace>,
}

/// Writes spaces as another character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metaspace {
    /// The character.
    pub replacement: char,
    /// Where it is put in front.
    pub scheme: Scheme,
    /// Whether text is cut before each.
    pub splits: bool,
    /// Whether it does so with each of the words between white space, which is dropped.
    pub is_of_words: bool,
}

/// Where a character is put in front of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Before each text between added tokens.
    Always,
    /// At the start of the whole text.
    First,
    /// Nowhere.
    Never,
}

// Limits of what a file of some bytes may ask for in memory and time. Files of models have a few steps.

/// Steps of a pre-tokenizer, each of which may have tables of its own.
const MOST_STEPS: usize = 32;

/// Regular expressions of a normalizer, and bytes of all patterns of a component.
const MOST_EXPRESSIONS: usize = 128;
const MOST_PATTERN_BYTES: usize = 1 << 15;

/// The maximum number of output bytes of a normalizer or decoder for each input byte.
const MOST_GROWTH: usize = 1 << 10;

/// Special tokens around a text.
const MOST_AROUND: usize = 1 << 10;

/// Checks the number of regular expressions and the length of all patterns of some steps. Returns that number.
fn check_patterns(component: &At<'_>, steps: &[At<'_>]) -> Result<usize, FileError> {
    let (mut expressions, mut bytes) = (0, 0);
    for step in steps {
        for kind in ["Regex", "String"] {
            let field = step.get("pattern").and_then(|pattern| pattern.get(kind));
            if let Some(text) = field.ok().and_then(|field| field.text().ok()) {
                expressions += usize::from(kind == "Regex");
                bytes += text.len();
            }
        }
    }
    if expressions > MOST_EXPRESSIONS {
        return Err(component.refuse(format!(
            "expected at most {MOST_EXPRESSIONS} regular expressions, got {expressions}"
        )));
    }
    if bytes > MOST_PATTERN_BYTES {
        return Err(component.refuse(format!(
            "expected patterns of at most {MOST_PATTERN_BYTES} bytes together, got {bytes}"
        )));
    }
    Ok(expressions)
}

/// Checks how many times as long the steps of a component can make a text.
fn check_growth(component: &At<'_>, growth: usize) -> Result<(), FileError> {
    if growth > MOST_GROWTH {
        return Err(component.refuse(format!(
            "its steps can make a text {growth} times as long: expected at most {MOST_GROWTH} times"
        )));
    }
    Ok(())
}

/// Reads a normalizer as its steps.
pub(super) fn normalizers(normalizer: &At<'_>) -> Result<Vec<normalize::Step>, FileError> {
    let steps = normalizer.steps("normalizers")?;
    let expressions = check_patterns(normalizer, &steps)?;
    let mut read = Vec::new();
    for step in steps {
        add_normalizer(&step, expressions, &mut read)?;
    }
    let none = normalize::Growth::NONE;
    let growth = read.iter().fold(none, |growth, step| step.most(growth));
    check_growth(normalizer, growth.of_a_byte())?;
    Ok(read)
}

/// Returns the steps that BERT's normalizer takes.
fn bert_steps(step: &At<'_>) -> Result<Vec<normalize::Step>, FileError> {
    use normalize::Step;
    let lowers = step.get("lowercase")?.flag()?;
    let strips = step.get("strip_accents")?.flag_or(lowers)?;
    let steps = [
        (step.get("clean_text")?.flag()?, Step::CleanText),
        (step.get("handle_chinese_chars")?.flag()?, Step::IsolateHan),
        (strips, Step::Nfd),
        (strips, Step::StripNonspacing),
        (lowers, Step::Lowercase),
    ];
    let taken = steps.map(|(is_taken, step)| is_taken.then_some(step));
    Ok(taken.into_iter().flatten().collect())
}

fn add_normalizer(
    step: &At<'_>,
    expressions: usize,
    read: &mut Vec<normalize::Step>,
) -> Result<(), FileError> {
    use normalize::Step;
    let (kind, name) = step.kind()?;
    read.push(match name {
        "BertNormalizer" => {
            read.extend(bert_steps(step)?);
            return Ok(());
        }
        "NFC" => Step::Nfc,
        "NFD" => Step::Nfd,
        "NFKC" => Step::Nfkc,
        "NFKD" => Step::Nfkd,
        "Lowercase" => Step::Lowercase,
        "StripAccents" => Step::StripAccents,
        "Strip" => Step::Strip {
            left: step.get("strip_left")?.flag()?,
            right: step.get("strip_right")?.flag()?,
        },
        "Nmt" => Step::Nmt,
        "Precompiled" => {
            let map = step.get("precompiled_charsmap")?;
            let refuse = |error: &dyn fmt::Display| map.refuse(error.to_string());
            let blob = BASE64.decode(map.text()?).map_err(|error| refuse(&error))?;
            let map = Precompiled::parse(&blob).map_err(|error| refuse(&error))?;
            Step::Precompiled(Arc::new(map))
        }
        "Prepend" => Step::Prepend(step.get("prepend")?.text()?.to_owned()),
        "Replace" => {
            let content = step.get("content")?.text()?.to_owned();
            match pattern(&step.get("pattern")?)? {
                Pattern::Regex(regex) if is_start(&regex) => Step::Insert(content),
                Pattern::Regex(regex) if regex != " " => Step::Replace {
                    find: Find::Regex(Box::new(self::regex(step, &regex, expressions)?)),
                    content,
                },
                Pattern::Text(text) | Pattern::Regex(text) => Step::Replace {
                    find: Find::Text(text),
                    content,
                },
            }
        }
        _ => return Err(kind.refuse(format!("the normalizer {name} is not supported"))),
    });
    Ok(())
}

/// Returns whether a regular expression matches the start of a text and nothing else: that of a line, but behind no newline.
fn is_start(regex: &str) -> bool {
    [r"(?<!\n)^", "(?<!\n)^"].contains(&regex)
}

/// Compiles one of the regular expressions of the file, of which there are `expressions`.
fn regex(step: &At<'_>, regex: &str, expressions: usize) -> Result<Regex, FileError> {
    let refuse = |reason: String| match step.get("pattern").and_then(|at| at.get("Regex")) {
        Ok(at) => at.refuse(reason),
        Err(error) => error,
    };
    let translated = oniguruma::translate(regex).map_err(|error| refuse(error.to_string()))?;
    regex::compiled(&translated, expressions).map_err(|error| refuse(error.to_string()))
}

/// Reads what a step looks for.
pub(super) fn pattern(pattern: &At<'_>) -> Result<Pattern, FileError> {
    let (text, regex) = (pattern.get("String")?, pattern.get("Regex")?);
    match (text.is_null(), regex.is_null()) {
        (false, true) => Ok(Pattern::Text(text.text()?.to_owned())),
        (true, false) => Ok(Pattern::Regex(regex.text()?.to_owned())),
        _ => Err(pattern.refuse("expected a String or a Regex")),
    }
}

/// Reads a pre-tokenizer.
pub(super) fn pre_tokenizer(pre_tokenizer: &At<'_>) -> Result<PreTokenizer, FileError> {
    let mut read = PreTokenizer::default();
    let steps = pre_tokenizer.steps("pretokenizers")?;
    if steps.len() > MOST_STEPS {
        return Err(pre_tokenizer.refuse(format!(
            "expected at most {MOST_STEPS} steps, got {}",
            steps.len()
        )));
    }
    check_patterns(pre_tokenizer, &steps)?;
    for step in steps {
        add_step(&step, &mut read)?;
    }
    Ok(read)
}

fn add_step(step: &At<'_>, read: &mut PreTokenizer) -> Result<(), FileError> {
    use split::Step;
    let (kind, name) = step.kind()?;
    let is_first = read.steps.is_empty() && !read.is_byte_level && read.metaspace.is_none();
    let steps = &mut read.steps;
    match name {
        "Split" => steps.push(Step::Split {
            pattern: pattern(&step.get("pattern")?)?,
            behavior: behavior(&step.get("behavior")?)?,
            invert: step.get("invert")?.flag()?,
        }),
        "CharDelimiterSplit" => steps.push(Step::Split {
            pattern: Pattern::Text(step.get("delimiter")?.text()?.to_owned()),
            behavior: Behavior::Removed,
            invert: false,
        }),
        "Digits" => steps.push(Step::Digits {
            individual: step.get("individual_digits")?.flag()?,
        }),
        "Punctuation" => {
            let field = step.get("behavior")?;
            let behavior = if field.is_null() {
                Behavior::Isolated
            } else {
                behavior(&field)?
            };
            steps.push(Step::Punctuation(behavior));
        }
        "Whitespace" => steps.push(Step::Whitespace),
        "WhitespaceSplit" => steps.push(Step::WhitespaceSplit),
        "BertPreTokenizer" => {
            steps.extend([Step::WhitespaceSplit, Step::Punctuation(Behavior::Isolated)]);
        }
        "ByteLevel" => {
            if read.is_byte_level {
                return Err(kind.refuse("ByteLevel is there twice, which is not supported"));
            }
            if step.get("add_prefix_space")?.flag()? {
                if !is_first {
                    return Err(step.get("add_prefix_space")?.refuse(
                        "expected false behind another step: a space before each of its pieces is not supported",
                    ));
                }
                read.adds_space = true;
            }
            if step.get("use_regex")?.flag_or(true)? {
                steps.push(Step::Gpt2);
            }
            steps.push(Step::ByteLevel);
            read.is_byte_level = true;
        }
        "Metaspace" => {
            let is_of_words = *steps == [Step::WhitespaceSplit];
            if !is_first && !is_of_words {
                let reason = "Metaspace behind another step than WhitespaceSplit is not supported";
                return Err(kind.refuse(reason));
            }
            steps.clear();
            read.metaspace = Some(Metaspace {
                is_of_words,
                ..metaspace(step)?
            });
        }
        _ => return Err(kind.refuse(format!("the pre-tokenizer {name} is not supported"))),
    }
    Ok(())
}

fn behavior(behavior: &At<'_>) -> Result<Behavior, FileError> {
    Ok(match behavior.text()? {
        "Isolated" => Behavior::Isolated,
        "Removed" => Behavior::Removed,
        "Contiguous" => Behavior::Contiguous,
        "MergedWithPrevious" => Behavior::MergedWithPrevious,
        "MergedWithNext" => Behavior::MergedWithNext,
        other => {
            return Err(behavior.refuse(format!(
                "expected Isolated, Removed, Contiguous, MergedWithPrevious or MergedWithNext, got {other:?}"
            )));
        }
    })
}

/// Reads the options of `Metaspace`, in either spelling.
pub(super) fn metaspace(step: &At<'_>) -> Result<Metaspace, FileError> {
    let replacement = step.get("replacement")?;
    let mut characters = replacement.text()?.chars();
    let (Some(character), None) = (characters.next(), characters.next()) else {
        return Err(replacement.refuse("expected one character"));
    };
    let scheme = step.get("prepend_scheme")?;
    let older = step.get("add_prefix_space")?;
    let read = match (scheme.is_null(), older.is_null()) {
        (false, _) => match scheme.text()? {
            "always" => Scheme::Always,
            "first" => Scheme::First,
            "never" => Scheme::Never,
            other => {
                return Err(
                    scheme.refuse(format!("expected always, first or never, got {other:?}"))
                );
            }
        },
        (true, false) if !older.flag()? => Scheme::Never,
        (true, _) => Scheme::Always,
    };
    // The library refuses to load what contradicts itself.
    if !scheme.is_null() && !older.is_null() && !older.flag()? && read != Scheme::Never {
        return Err(older.refuse("expected true, as prepend_scheme is not never"));
    }
    Ok(Metaspace {
        replacement: character,
        scheme: read,
        splits: step.get("split")?.flag_or(true)?,
        is_of_words: false,
    })
}

// Added tokens, with the ids that the library gives them.

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

// The special tokens that the library adds around a text.

/// Special tokens around a text, each with the text that the post-processor has for it and the id that the library gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// Those before it.
    pub prefix: Vec<(String, TokenId)>,
    /// Those after it.
    pub suffix: Vec<(String, TokenId)>,
}

/// Reads a post-processor, whose type is told by its fields, as the library does it.
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

// The way from ids to text.

/// A step from the texts of tokens to a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecoderStep {
    /// Characters stand for bytes; what is not UTF-8 in the end is replaced.
    ByteLevel,
    /// Names of bytes become bytes.
    ByteFallback,
    /// All texts become one.
    Fuse,
    /// Each occurrence of a text becomes `content`.
    Replace {
        /// The text.
        text: String,
        /// The text that stands there then.
        content: String,
    },
    /// A character is taken away at both ends.
    Strip {
        /// The character.
        content: char,
        /// The most at the start.
        start: usize,
        /// The most at the end.
        stop: usize,
    },
    /// A character becomes a space; the first of all is taken away unless none was put there.
    Metaspace(Metaspace),
    /// The end of a word becomes a space, except the last.
    WordEnd(String),
    /// Words have spaces between them, and their parts have not.
    WordPiece {
        /// Stands before each part of a word but the first, and is taken away.
        prefix: String,
        /// Whether spaces before marks of punctuation and in English contractions are taken away.
        cleanup: bool,
    },
}

impl DecoderStep {
    /// Returns the maximum number of output bytes for an input byte.
    fn growth(&self) -> usize {
        match self {
            Self::Replace { text, content } => content.len().div_ceil(text.len()).max(1),
            _ => 1,
        }
    }
}

/// Reads a decoder; `None` if there is none.
pub(super) fn read_decoder(decoder: &At<'_>) -> Result<Option<Vec<DecoderStep>>, FileError> {
    if decoder.is_null() {
        return Ok(None);
    }
    let steps = decoder.steps("decoders")?;
    let steps = steps.iter().map(step).collect::<Result<Vec<_>, _>>()?;
    let growths = steps.iter().map(DecoderStep::growth);
    check_growth(decoder, growths.fold(1, usize::saturating_mul))?;
    Ok(Some(steps))
}

fn step(step: &At<'_>) -> Result<DecoderStep, FileError> {
    let (kind, name) = step.kind()?;
    Ok(match name {
        "ByteLevel" => DecoderStep::ByteLevel,
        "ByteFallback" => DecoderStep::ByteFallback,
        "Fuse" => DecoderStep::Fuse,
        "Replace" => {
            let content = step.get("content")?.text()?.to_owned();
            match pattern(&step.get("pattern")?)? {
                Pattern::Text(text) if text.is_empty() => {
                    return Err(step
                        .get("pattern")?
                        .refuse("expected a text that is not empty"));
                }
                Pattern::Text(text) => DecoderStep::Replace { text, content },
                // One space at the start of a text.
                Pattern::Regex(regex)
                    if content.is_empty() && regex.strip_suffix(' ').is_some_and(is_start) =>
                {
                    DecoderStep::Strip {
                        content: ' ',
                        start: 1,
                        stop: 0,
                    }
                }
                Pattern::Regex(_) => {
                    return Err(step
                        .get("pattern")?
                        .refuse("expected a String: a Regex is not supported"));
                }
            }
        }
        "Strip" => {
            let content = step.get("content")?;
            let mut characters = content.text()?.chars();
            let (Some(character), None) = (characters.next(), characters.next()) else {
                return Err(content.refuse("expected one character"));
            };
            DecoderStep::Strip {
                content: character,
                start: step.get("start")?.number()? as usize,
                stop: step.get("stop")?.number()? as usize,
            }
        }
        "Metaspace" => DecoderStep::Metaspace(metaspace(step)?),
        "WordPiece" => DecoderStep::WordPiece {
            prefix: step.get("prefix")?.text()?.to_owned(),
            cleanup: step.get("cleanup")?.flag()?,
        },
        "BPEDecoder" => DecoderStep::WordEnd(step.get("suffix")?.text()?.to_owned()),
        _ => return Err(kind.refuse(format!("the decoder {name} is not supported"))),
    })
}
