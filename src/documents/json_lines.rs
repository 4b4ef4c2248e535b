//! Documents in the lines of a block: a string field of each line of JSON, or the lines themselves.
//!
//! ```text
//! share     the lines cut into shares of about one size, each for one thread at a time
//! find      in each line the field of that name, the last one if there are several; all else is only checked
//! unescape  the string, from one backslash to the next, to the end of the share's text
//! gather    these texts into one
//! ```
//!
//! What is a line of JSON, and which text it holds, is as Python's `json` has it; but `NaN`, `Infinity`, a byte order
//! mark and a name with a lone surrogate, which it takes, are errors here.

use std::ops::Range;

use memchr::{memchr, memchr_iter};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::checkpoint::Checkpoint;
use crate::error::JsonLinesError;
use crate::util::parallel;

/// A share has about so many bytes.
const SHARE_BYTES: usize = 1 << 17;

/// The strings of one field, share by share.
#[derive(Debug)]
pub struct Fields(Vec<Part>);

#[derive(Debug, Default)]
struct Part {
    text: String,
    /// Where each string ends in the text.
    ends: Vec<usize>,
}

/// Finds the strings in the field called `field` of the JSON objects in the lines of `block`. Lines of nothing but white
/// space hold none, nor do those with `null` in that field. A lone surrogate in an escape becomes U+FFFD.
///
/// # Errors
/// [`JsonLinesError`]: that of the first line that is not UTF-8, no such object, or holds something else in the field.
///
/// # Complexity
/// Linear in the block, divided by the threads; memory for the strings, once more while they are gathered.
pub fn fields(
    block: &[u8],
    field: &str,
    threads: usize,
    checkpoint: &dyn Checkpoint,
) -> Result<Fields, JsonLinesError> {
    let parts = parallel::map(&shares(block), threads, checkpoint, |share| {
        part(&block[share.clone()], field).map_err(|(line, reason)| JsonLinesError::Line {
            number: line_breaks(&block[..share.start]) + line,
            reason,
        })
    });
    parts.map(Fields)
}

impl Fields {
    /// How many bytes all strings have.
    pub fn size(&self) -> usize {
        self.0.iter().map(|part| part.text.len()).sum()
    }

    /// Where each string ends among the strings one after the other, after a 0.
    pub fn offsets(&self) -> Vec<usize> {
        let strings: usize = self.0.iter().map(|part| part.ends.len()).sum();
        let mut offsets = Vec::with_capacity(strings + 1);
        offsets.push(0);
        let mut before = 0;
        for part in &self.0 {
            offsets.extend(part.ends.iter().map(|end| before + end));
            before += part.text.len();
        }
        offsets
    }

    /// Stores the strings, one after the other, at the start of `place`.
    ///
    /// # Panics
    /// If `place` has less room than [`size`](Self::size).
    pub fn gather(&self, place: &mut [u8]) {
        let mut rest = place;
        for part in &self.0 {
            let (room, after) = rest.split_at_mut(part.text.len());
            room.copy_from_slice(part.text.as_bytes());
            rest = after;
        }
    }
}

/// Where each line of `block` ends, its line break included, after a 0; the last line need not have one.
pub fn line_offsets(block: &[u8]) -> Vec<usize> {
    let ends = memchr_iter(b'\n', block).map(|place| place + 1);
    let mut offsets: Vec<usize> = std::iter::once(0).chain(ends).collect();
    if offsets.last() != Some(&block.len()) {
        offsets.push(block.len());
    }
    offsets
}

/// How many line breaks there are.
pub fn line_breaks(data: &[u8]) -> usize {
    memchr_iter(b'\n', data).count()
}

/// Where the first bytes are that are not UTF-8.
pub fn find_invalid_utf8(data: &[u8]) -> Option<usize> {
    simdutf8::compat::from_utf8(data)
        .err()
        .map(|error| error.valid_up_to())
}

/// Cuts a block after line breaks.
fn shares(block: &[u8]) -> Vec<Range<usize>> {
    let mut shares = Vec::with_capacity(block.len() / SHARE_BYTES + 1);
    let mut start = 0;
    while start < block.len() {
        let rest = block.get(start + SHARE_BYTES..).unwrap_or_default();
        let end = memchr(b'\n', rest).map_or(block.len(), |place| start + SHARE_BYTES + place + 1);
        shares.push(start..end);
        start = end;
    }
    shares
}

/// The strings of a share; or which line of it is wrong, the first being 1, and why.
fn part(share: &[u8], field: &str) -> Result<Part, (usize, String)> {
    let mut part = Part {
        // Unescaping makes nothing longer.
        text: String::with_capacity(share.len()),
        ends: Vec::new(),
    };
    let offsets = line_offsets(share);
    for (number, line) in (1..).zip(offsets.windows(2)) {
        let found = string(&share[line[0]..line[1]], field, &mut part.text);
        if found.map_err(|reason| (number, reason))? {
            part.ends.push(part.text.len());
        }
    }
    Ok(part)
}

/// Appends the string in a line to `text`, if the line holds one.
fn string(line: &[u8], field: &str, text: &mut String) -> Result<bool, String> {
    // What Python's `bytes.isspace` calls so.
    if line.iter().all(|byte| matches!(byte, b' ' | b'\t'..=b'\r')) {
        return Ok(false);
    }
    let expected = |what: &str| format!("expected a JSON object: {what}");
    let line = simdutf8::compat::from_utf8(line).map_err(|error| expected(&error.to_string()))?;
    let value = value(line.strip_suffix('\n').unwrap_or(line), field).map_err(|error| {
        // There is one line only, as the parser sees it.
        expected(
            &error
                .to_string()
                .replace(" at line 1 column ", " at column "),
        )
    })?;
    match value.map(RawValue::get) {
        None => Err(format!("expected an object with the field {field:?}")),
        Some("null") => Ok(false),
        Some(value) => {
            let inside = value
                .strip_prefix('"')
                .and_then(|rest| rest.strip_suffix('"'));
            match inside {
                Some(escaped) => unescape(escaped, text).map(|()| true),
                None => Err(format!(
                    "expected a string in {field:?}, got {}",
                    kind(value)
                )),
            }
        }
    }
}

/// The JSON in a field of the object in a line, if it has that field.
fn value<'a>(line: &'a str, field: &str) -> serde_json::Result<Option<&'a RawValue>> {
    let mut json = serde_json::Deserializer::from_str(line);
    let value = json.deserialize_map(Field(field))?;
    json.end()?;
    Ok(value)
}

/// What a JSON value that is no string is.
fn kind(value: &str) -> &'static str {
    match value.as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "true or false",
        _ => "a number",
    }
}

/// Appends a string to `text`. It has been checked already: between its quotes stand no others and no wrong escapes.
fn unescape(escaped: &str, text: &mut String) -> Result<(), String> {
    let mut rest = escaped;
    while let Some(place) = memchr(b'\\', rest.as_bytes()) {
        text.push_str(&rest[..place]);
        rest = &rest[place..];
        // Where there is one escape, there are often more.
        while let Some(after) = rest.strip_prefix('\\') {
            let (character, after) =
                escape(after).ok_or("expected an escape after the backslash")?;
            text.push(character);
            rest = after;
        }
    }
    text.push_str(rest);
    Ok(())
}

/// The character of an escape that begins after its backslash, and what follows it.
fn escape(text: &str) -> Option<(char, &str)> {
    let (letter, rest) = text.split_at_checked(1)?;
    let character = match letter {
        "n" => '\n',
        "t" => '\t',
        "r" => '\r',
        "b" => '\u{8}',
        "f" => '\u{C}',
        "u" => return unicode_escape(rest),
        other => other.chars().next()?,
    };
    Some((character, rest))
}

/// The character of four hexadecimal digits, or of the eight of a surrogate pair; U+FFFD for half a pair.
fn unicode_escape(text: &str) -> Option<(char, &str)> {
    let (unit, rest) = unit(text)?;
    if let (0xD800..0xDC00, Some((low @ 0xDC00..0xE000, after))) =
        (unit, rest.strip_prefix("\\u").and_then(self::unit))
    {
        return Some((
            char::from_u32(0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00))?,
            after,
        ));
    }
    Some((
        char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER),
        rest,
    ))
}

/// The number that four hexadecimal digits stand for.
fn unit(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(4)?;
    Some((u32::from_str_radix(digits, 16).ok()?, rest))
}

/// Finds a field of an object: its JSON, the last one if the name occurs several times.
struct Field<'a>(&'a str);

impl<'de> Visitor<'de> for Field<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(wanted) = object.next_key_seed(Name(self.0))? {
            if wanted {
                found = Some(object.next_value()?);
            } else {
                object.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// Whether a name is the one wanted.
struct Name<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, name: D) -> Result<bool, D::Error> {
        name.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(name == self.0)
    }
}
