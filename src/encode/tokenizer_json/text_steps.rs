//! The steps of a decoder that needs the texts of tokens, one token after the other.
//!
//! Each step takes texts as they come, and returns of its own what no later text can change; the rest it holds. Every
//! character knows which token completes it.
//!
//! Steps that join bytes or texts make one text of all. What they return, and the steps after them take, are parts of it.

use std::mem::take;

use crate::huggingface::{DecoderStep, Metaspace, Scheme};
use crate::util::memory;
use crate::vocabulary::byte_alphabet;

/// The longest name of a byte.
const BYTE_NAME: usize = "<0x00>".len();

/// A character, or a byte, and the number of the token that completes it.
pub(in crate::encode) type Traced<T> = (T, usize);

/// The text of a token, or a part of the one text that all have become.
#[derive(Clone, Debug, Default)]
pub(in crate::encode) struct Text {
    characters: Vec<Traced<char>>,
    /// The number of its last token.
    number: usize,
}

impl Text {
    /// Returns the text of the token of a number.
    pub(in crate::encode) fn new(text: &str, number: usize) -> Self {
        let characters = text.chars().map(|character| (character, number));
        Self {
            characters: characters.collect(),
            number,
        }
    }

    fn string(&self) -> String {
        self.characters
            .iter()
            .map(|(character, _)| character)
            .collect()
    }
}

/// The steps of a decoder, in the middle of a text.
#[derive(Clone, Debug)]
pub(in crate::encode) struct TextSteps {
    stages: Vec<Stage>,
    /// Stands between two texts in the end.
    separator: &'static str,
    is_start: bool,
}

impl TextSteps {
    pub(super) fn new(steps: &[DecoderStep], separator: &'static str) -> Self {
        let mut is_one = false;
        let stage = |step: &DecoderStep| {
            let stage = if is_one {
                Stage::of_one(step)
            } else {
                Stage::of_many(step)
            };
            is_one |= matches!(step, DecoderStep::Fuse | DecoderStep::ByteLevel);
            stage
        };
        Self {
            stages: steps.iter().map(stage).collect(),
            separator,
            is_start: true,
        }
    }

    /// Returns the steps behind the first text, if they change each text by itself and hold nothing.
    pub(super) fn behind_first(&self) -> Option<Self> {
        let changes_each = |stage: &Stage| {
            matches!(
                stage,
                Stage::Fuse
                    | Stage::Replace { .. }
                    | Stage::Strip { .. }
                    | Stage::Metaspace { .. }
                    | Stage::WordPiece { .. }
            )
        };
        let mut steps = self.stages.iter().all(changes_each).then(|| self.clone())?;
        steps.push(vec![Text::default()], false, |_| {});
        Some(steps)
    }

    /// Returns what one text becomes.
    pub(super) fn decoded(&self, text: &str) -> String {
        let mut decoded = String::new();
        let texts = vec![Text::new(text, 0)];
        self.clone()
            .push(texts, true, |(character, _)| decoded.push(character));
        decoded
    }

    /// Takes more texts, the last of all if it is the end, and passes the characters that are certain on to `each`. Behind an
    /// end, texts are those behind another text, which they leave as it is.
    pub(in crate::encode) fn push(
        &mut self,
        texts: Vec<Text>,
        is_end: bool,
        mut each: impl FnMut(Traced<char>),
    ) {
        let texts = self
            .stages
            .iter_mut()
            .fold(texts, |texts, stage| stage.push(texts, is_end));
        for text in texts {
            if !take(&mut self.is_start) {
                let number = text
                    .characters
                    .first()
                    .map_or(text.number, |(_, number)| *number);
                self.separator
                    .chars()
                    .for_each(|space| each((space, number)));
            }
            text.characters.into_iter().for_each(&mut each);
        }
    }
}

/// A step, and what it holds.
#[derive(Clone, Debug)]
enum Stage {
    /// Changes nothing but what texts are to the steps behind.
    Fuse,
    Replace {
        find: Vec<char>,
        content: String,
    },
    Strip {
        content: char,
        start: usize,
        stop: usize,
    },
    Metaspace {
        replacement: char,
        /// Stands in its place in the next text.
        space: &'static str,
    },
    /// The last text ends without a space; behind the end of all, it is but the end of a word that is left of it.
    WordEnd {
        find: Vec<char>,
        last: Option<Text>,
    },
    /// Each text but the first loses a prefix, or gets a space in front.
    WordPiece {
        prefix: Vec<char>,
        cleanup: bool,
        is_first: bool,
    },
    /// A run of bytes that was named.
    ByteFallback(Vec<Traced<u8>>),
    /// Bytes of a character that is not complete.
    ByteLevel(Vec<Traced<u8>>),
    /// As `Replace`, in one text: the end, with which a match may begin.
    ReplaceInOne {
        find: Vec<char>,
        content: String,
        held: Text,
    },
    /// As `Strip`, of one text: the end, which may be taken away.
    StripOne {
        content: char,
        start: usize,
        stop: usize,
        held: Text,
    },
    /// One text, which is the first: nothing but spaces are taken away, wherever they are.
    CleanupOfOne(Text),
    /// One text, which is the name of a byte or not.
    NameInOne(Option<Text>),
    /// One text, which consists of characters that stand for bytes or not.
    BytesOfOne(Text),
}

impl Stage {
    /// The step of the texts of tokens.
    fn of_many(step: &DecoderStep) -> Self {
        match step {
            DecoderStep::Fuse => Self::Fuse,
            DecoderStep::Replace { text, content } => Self::Replace {
                find: text.chars().collect(),
                content: content.clone(),
            },
            &DecoderStep::Strip {
                content,
                start,
                stop,
            } => Self::Strip {
                content,
                start,
                stop,
            },
            DecoderStep::Metaspace(Metaspace {
                replacement,
                scheme,
                ..
            }) => Self::Metaspace {
                replacement: *replacement,
                space: first_space(*scheme),
            },
            DecoderStep::WordEnd(suffix) => Self::WordEnd {
                find: suffix.chars().collect(),
                last: None,
            },
            DecoderStep::WordPiece { prefix, cleanup } => Self::WordPiece {
                prefix: prefix.chars().collect(),
                cleanup: *cleanup,
                is_first: true,
            },
            DecoderStep::ByteFallback => Self::ByteFallback(Vec::new()),
            DecoderStep::ByteLevel => Self::ByteLevel(Vec::new()),
        }
    }

    /// The step of one text, which is the first and the last.
    fn of_one(step: &DecoderStep) -> Self {
        let replace = |find: &str, content: &str| Self::ReplaceInOne {
            find: find.chars().collect(),
            content: content.to_owned(),
            held: Text::default(),
        };
        match step {
            DecoderStep::Fuse | DecoderStep::WordPiece { cleanup: false, .. } => Self::Fuse,
            DecoderStep::Replace { text, content } => replace(text, content),
            &DecoderStep::Strip {
                content,
                start,
                stop,
            } => Self::StripOne {
                content,
                start,
                stop,
                held: Text::default(),
            },
            DecoderStep::Metaspace(Metaspace {
                replacement,
                scheme,
                ..
            }) => replace(&replacement.to_string(), first_space(*scheme)),
            DecoderStep::WordEnd(suffix) if suffix.is_empty() => Self::Fuse,
            DecoderStep::WordEnd(suffix) => replace(suffix, ""),
            DecoderStep::WordPiece { cleanup: true, .. } => Self::CleanupOfOne(Text::default()),
            DecoderStep::ByteFallback => Self::NameInOne(Some(Text::default())),
            DecoderStep::ByteLevel => Self::BytesOfOne(Text::default()),
        }
    }

    fn push(&mut self, texts: Vec<Text>, is_end: bool) -> Vec<Text> {
        match self {
            Self::Fuse => texts,
            Self::Replace { find, content } => {
                each(texts, |text| replaced(&text.characters, find, content))
            }
            Self::Strip {
                content,
                start,
                stop,
            } => each(texts, |text| {
                stripped(&text.characters, *content, *start, *stop)
            }),
            Self::Metaspace { replacement, space } => each(texts, |text| {
                replaced(
                    &text.characters,
                    &[*replacement],
                    std::mem::replace(space, " "),
                )
            }),
            Self::WordEnd { find, last } => with_word_ends(last, find, texts, is_end),
            Self::WordPiece {
                prefix,
                cleanup,
                is_first,
            } => each(texts, |text| {
                let characters = of_word(text, prefix, take(is_first));
                if *cleanup {
                    cleaned(characters)
                } else {
                    characters
                }
            }),
            Self::ByteFallback(run) => with_bytes(run, texts, is_end),
            Self::ByteLevel(held) => {
                for text in texts {
                    push_bytes(&text, held);
                }
                vec![lossy(held, is_end)]
            }
            Self::ReplaceInOne {
                find,
                content,
                held,
            } => {
                join(held, texts);
                let characters = take(&mut held.characters);
                let kept = if is_end { 0 } else { begun(&characters, find) };
                let (certain, rest) = characters.split_at(characters.len() - kept);
                held.characters = rest.to_vec();
                vec![Text {
                    characters: replaced(certain, find, content),
                    number: held.number,
                }]
            }
            Self::StripOne {
                content,
                start,
                stop,
                held,
            } => {
                join(held, texts);
                vec![strip_part(held, *content, (start, *stop), is_end)]
            }
            Self::NameInOne(held) => {
                let Some(text) = held else { return texts };
                join(text, texts);
                if !is_end && text.characters.len() <= BYTE_NAME {
                    return Vec::new();
                }
                let text = held.take().into_iter().collect();
                with_bytes(&mut Vec::new(), text, true)
            }
            Self::CleanupOfOne(held) => {
                let whole = |text: Text| cleaned(text.characters);
                at_end(held, texts, is_end, whole)
            }
            Self::BytesOfOne(held) => {
                let whole = |text: Text| {
                    let mut bytes = Vec::new();
                    push_bytes(&text, &mut bytes);
                    lossy(&mut bytes, true).characters
                };
                at_end(held, texts, is_end, whole)
            }
        }
    }
}

/// Replaces the ends of words by spaces, in the last of all texts by nothing; the last that has come is held.
fn with_word_ends(
    last: &mut Option<Text>,
    find: &[char],
    texts: Vec<Text>,
    is_end: bool,
) -> Vec<Text> {
    let mut certain = memory::vec_with_capacity(texts.len());
    for text in texts {
        certain.extend(last.replace(text));
    }
    let mut certain = each(certain, |text| replaced(&text.characters, find, " "));
    if is_end && let Some(text) = last.take() {
        let end = text.characters.len().checked_sub(find.len());
        let end = end.map(|end| &text.characters[end..]);
        let end = end.filter(|end| !end.is_empty() && starts_with(end, find));
        *last = end.map(|end| Text {
            characters: end.to_vec(),
            number: text.number,
        });
        let last = |text: &Text| replaced(&text.characters, find, "");
        certain.extend(each(vec![text], last));
    }
    certain
}

/// Strips up to `start` of a character from the start of a text that arrives in parts, and up to `stop` from its end, which
/// are held until another character or the end of the text follows.
fn strip_part(
    held: &mut Text,
    content: char,
    (start, stop): (&mut usize, usize),
    is_end: bool,
) -> Text {
    let characters = take(&mut held.characters);
    let leading = leading(characters.iter(), content, *start);
    *start = if leading == characters.len() && !is_end {
        *start - leading
    } else {
        0
    };
    let characters = &characters[leading..];
    let trailing = self::leading(characters.iter().rev(), content, stop);
    let (certain, rest) = characters.split_at(characters.len() - trailing);
    if !is_end {
        held.characters = rest.to_vec();
    }
    Text {
        characters: certain.to_vec(),
        number: held.number,
    }
}

/// Joins the parts of a text, and returns what `whole` makes of it at its end.
fn at_end(
    held: &mut Text,
    texts: Vec<Text>,
    is_end: bool,
    whole: impl FnOnce(Text) -> Vec<Traced<char>>,
) -> Vec<Text> {
    join(held, texts);
    if !is_end {
        return Vec::new();
    }
    let number = held.number;
    vec![Text {
        characters: whole(take(held)),
        number,
    }]
}

/// Returns the text of a part of a word without its prefix, or of a word with a space in front.
fn of_word(text: &Text, prefix: &[char], is_first: bool) -> Vec<Traced<char>> {
    let characters = &text.characters[..];
    if is_first {
        return characters.to_vec();
    }
    if starts_with(characters, prefix) {
        return characters[prefix.len()..].to_vec();
    }
    let space = (' ', characters.first().map_or(text.number, |first| first.1));
    [&[space], characters].concat()
}

/// Marks of punctuation and contractions of English with a space, and what they become.
const TIDIED: [(&[char], &str); 11] = [
    (&[' ', '.'], "."),
    (&[' ', '?'], "?"),
    (&[' ', '!'], "!"),
    (&[' ', ','], ","),
    (&[' ', '\'', ' '], "'"),
    (&[' ', 'n', '\'', 't'], "n't"),
    (&[' ', '\'', 'm'], "'m"),
    (&[' ', 'd', 'o', ' ', 'n', 'o', 't'], " don't"),
    (&[' ', '\'', 's'], "'s"),
    (&[' ', '\'', 'v', 'e'], "'ve"),
    (&[' ', '\'', 'r', 'e'], "'re"),
];

/// Replaces what [`TIDIED`] lists, one after the other.
fn cleaned(mut characters: Vec<Traced<char>>) -> Vec<Traced<char>> {
    for (find, content) in TIDIED {
        // Most words have no space that is not their first character.
        if !characters.iter().any(|&(c, _)| c == ' ') {
            break;
        }
        characters = replaced(&characters, find, content);
    }
    characters
}

/// Returns the text that stands in place of a mark in the first text.
fn first_space(scheme: Scheme) -> &'static str {
    if scheme == Scheme::Never { " " } else { "" }
}

/// Changes the characters of each text.
fn each(texts: Vec<Text>, mut change: impl FnMut(&Text) -> Vec<Traced<char>>) -> Vec<Text> {
    let texts = texts.into_iter();
    texts
        .map(|text| Text {
            characters: change(&text),
            number: text.number,
        })
        .collect()
}

/// Appends parts of one text.
fn join(held: &mut Text, parts: Vec<Text>) {
    for part in parts {
        held.characters.extend(part.characters);
        held.number = part.number;
    }
}

/// Replaces each occurrence of `find`; the empty one is at every place.
fn replaced(characters: &[Traced<char>], find: &[char], content: &str) -> Vec<Traced<char>> {
    let mut made = memory::vec_with_capacity(characters.len());
    let mut rest = characters;
    let put = |made: &mut Vec<_>, number| made.extend(content.chars().map(|put| (put, number)));
    while let Some((&first, others)) = rest.split_first() {
        let is_match = starts_with(rest, find);
        if is_match {
            let last = find.len().saturating_sub(1);
            put(&mut made, rest[last].1);
        }
        if is_match && !find.is_empty() {
            rest = &rest[find.len()..];
        } else {
            made.push(first);
            rest = others;
        }
    }
    if find.is_empty() {
        put(
            &mut made,
            characters.last().map_or(0, |(_, number)| *number),
        );
    }
    made
}

fn starts_with(characters: &[Traced<char>], find: &[char]) -> bool {
    characters.len() >= find.len()
        && characters
            .iter()
            .zip(find)
            .all(|((c, _), found)| c == found)
}

/// Returns how many characters at the end, behind the last match, may begin another.
fn begun(characters: &[Traced<char>], find: &[char]) -> usize {
    let mut at = 0;
    while at < characters.len() {
        let rest = &characters[at..];
        if starts_with(rest, find) {
            at += find.len();
        } else if rest.iter().zip(find).all(|((c, _), found)| c == found) {
            return rest.len();
        } else {
            at += 1;
        }
    }
    0
}

/// Counts how often a character comes first, up to a limit.
fn leading<'a>(
    characters: impl Iterator<Item = &'a Traced<char>>,
    content: char,
    most: usize,
) -> usize {
    characters
        .take(most)
        .take_while(|(c, _)| *c == content)
        .count()
}

/// Takes a character away at both ends, as often as it is there, up to a limit for each end.
fn stripped(
    characters: &[Traced<char>],
    content: char,
    start: usize,
    stop: usize,
) -> Vec<Traced<char>> {
    let start = leading(characters.iter(), content, start);
    let end = characters.len() - leading(characters.iter().rev(), content, stop);
    characters.get(start..end).unwrap_or_default().to_vec()
}

/// Appends the bytes that the characters of a text stand for, or its own if one stands for none.
fn push_bytes(text: &Text, bytes: &mut Vec<Traced<u8>>) {
    let all = text.characters.iter();
    let all = all.map(|&(character, number)| Some((byte_alphabet::byte_of(character)?, number)));
    if let Some(all) = all.collect::<Option<Vec<_>>>() {
        bytes.extend(all);
        return;
    }
    for (character, number) in &text.characters {
        let mut utf8 = [0; 4];
        let utf8 = character.encode_utf8(&mut utf8).bytes();
        bytes.extend(utf8.map(|byte| (byte, *number)));
    }
}

/// The meaning of U+FFFD.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::encode) enum Invalid {
    /// Bytes that begin a character and do not end it, or one that is part of none.
    Sequences,
    /// Each byte that is part of no character.
    Bytes,
}

/// Takes the characters of bytes, with U+FFFD for what is not UTF-8, and leaves an incomplete one unless it is the end.
pub(in crate::encode) fn characters_of(
    held: &mut Vec<Traced<u8>>,
    invalid: Invalid,
    is_end: bool,
) -> Vec<Traced<char>> {
    let bytes = memory::collect(held.iter().map(|(byte, _)| *byte));
    let mut characters = memory::vec_with_capacity(bytes.len());
    let mut at = 0;
    let mut chunks = bytes.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        for character in chunk.valid().chars() {
            at += character.len_utf8();
            characters.push((character, held[at - 1].1));
        }
        let rest = chunk.invalid();
        let may_go_on = chunks.peek().is_none()
            && std::str::from_utf8(rest).is_err_and(|error| error.error_len().is_none());
        if rest.is_empty() || may_go_on && !is_end {
            break;
        }
        let replaced = &held[at..at + rest.len()];
        let replaced = match invalid {
            Invalid::Sequences => &replaced[rest.len() - 1..],
            Invalid::Bytes => replaced,
        };
        let numbers = replaced.iter().map(|(_, number)| *number);
        characters.extend(numbers.map(|number| (char::REPLACEMENT_CHARACTER, number)));
        at += rest.len();
    }
    held.drain(..at);
    characters
}

/// Takes the text of bytes, as [`characters_of`] does.
fn lossy(held: &mut Vec<Traced<u8>>, is_end: bool) -> Text {
    let number = held.last().map_or(0, |(_, number)| *number);
    Text {
        characters: characters_of(held, Invalid::Sequences, is_end),
        number,
    }
}

/// Replaces each run of names of bytes by the characters of these bytes, or by U+FFFD for each.
fn with_bytes(run: &mut Vec<Traced<u8>>, texts: Vec<Text>, is_end: bool) -> Vec<Text> {
    let mut changed = memory::vec_with_capacity(texts.len());
    for text in texts {
        let is_name = text.characters.len() == BYTE_NAME;
        if let Some(byte) = is_name.then(|| byte_named(&text.string())).flatten() {
            run.push((byte, text.number));
        } else {
            end_run(run, &mut changed);
            changed.push(text);
        }
    }
    if is_end {
        end_run(run, &mut changed);
    }
    changed
}

/// Appends the texts of a run of bytes: one, or if it is not UTF-8 one for each.
fn end_run(run: &mut Vec<Traced<u8>>, texts: &mut Vec<Text>) {
    let bytes: Vec<u8> = run.iter().map(|(byte, _)| *byte).collect();
    if bytes.is_empty() {
        return;
    }
    if std::str::from_utf8(&bytes).is_ok() {
        texts.push(lossy(run, true));
        return;
    }
    for (_, number) in run.drain(..) {
        texts.push(Text::new("\u{FFFD}", number));
    }
}

/// Returns the byte that a text names, as the library reads such names.
pub(super) fn byte_named(text: &str) -> Option<u8> {
    let digits = text.strip_prefix("<0x")?.strip_suffix('>')?;
    if digits.len() != 2 {
        return None;
    }
    u8::from_str_radix(digits, 16).ok()
}
