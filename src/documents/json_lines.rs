//! Documents in the lines of a block: a string field of each line of JSON, or the lines themselves.
//!
//! ```text
//! partition  the lines into ranges of similar size, each for one thread at a time
//! find       the first of the fields that a line has, the last one if repeated; all else is only validated
//! unescape   the string, from one backslash to the next, to the end of the range's text
//! gather     these texts into one
//! ```
//!
//! Lines are valid, and hold a text, as Python's `json` has it; but `NaN`, `Infinity`, a byte order mark and
//! a name with a lone surrogate, which it accepts, are errors here.

use std::ops::Range;

use memchr::{memchr, memchr_iter};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::JsonLinesError;
use crate::util::memory::{self, Growable};
use crate::util::parallel;

/// Approximate size of a range of lines.
const RANGE_BYTES: usize = 1 << 17;

/// The strings of one field.
#[derive(Debug)]
pub struct Fields(Vec<FieldBlock>);

/// The strings of a range of lines.
#[derive(Debug, Default)]
struct FieldBlock {
    text: String,
    /// Offset in the text where each string ends.
    ends: Vec<usize>,
}

/// Finds, in each JSON object in the lines of `block`, the string in the first field of `names` that it has.
/// Skips lines of whitespace, and those with `null` in that field. A lone surrogate in an escape becomes
/// U+FFFD.
///
/// # Errors
/// [`JsonLinesError`] for the first line that is not UTF-8, no object with one of the fields, or has another
/// value in it.
///
/// # Complexity
/// Linear in the block, divided by the threads; memory for the strings, once more while they are gathered.
pub fn fields(block: &[u8], names: &[&str], threads: usize) -> Result<Fields, JsonLinesError> {
    let blocks = parallel::map(&partition(block), threads, |range| {
        strings(&block[range.clone()], names).map_err(|(line, reason)| JsonLinesError::Line {
            number: line_breaks(&block[..range.start]) + line,
            reason,
        })
    });
    blocks.map(Fields)
}

impl Fields {
    /// Number of bytes of all strings.
    pub fn size(&self) -> usize {
        self.0.iter().map(|block| block.text.len()).sum()
    }

    /// Returns a 0 and the offsets where each string ends, among the strings one after the other.
    pub fn offsets(&self) -> Vec<usize> {
        let strings: usize = self.0.iter().map(|block| block.ends.len()).sum();
        let mut offsets = memory::vec_with_capacity(strings + 1);
        offsets.push(0);
        let mut before = 0;
        for block in &self.0 {
            offsets.extend(block.ends.iter().map(|end| before + end));
            before += block.text.len();
        }
        offsets
    }

    /// Stores the strings, one after the other, at the start of `dest`.
    ///
    /// # Panics
    /// If `dest` is shorter than [`size`](Self::size).
    pub fn gather(&self, dest: &mut [u8]) {
        let mut rest = dest;
        for block in &self.0 {
            let (dest, after) = rest.split_at_mut(block.text.len());
            dest.copy_from_slice(block.text.as_bytes());
            rest = after;
        }
    }
}

/// Returns a 0 and the offsets where each line of `block` ends, its line break included, which the last line
/// need not have.
pub fn line_offsets(block: &[u8]) -> Vec<usize> {
    let ends = memchr_iter(b'\n', block).map(|offset| offset + 1);
    let mut offsets = memory::collect(std::iter::once(0).chain(ends));
    if offsets.last() != Some(&block.len()) {
        offsets.with_room(1).push(block.len());
    }
    offsets
}

/// Counts line breaks.
pub fn line_breaks(data: &[u8]) -> usize {
    memchr_iter(b'\n', data).count()
}

/// Returns the offset of the first bytes that are not UTF-8.
pub fn find_invalid_utf8(data: &[u8]) -> Option<usize> {
    simdutf8::compat::from_utf8(data)
        .err()
        .map(|error| error.valid_up_to())
}

/// Divides a block after line breaks.
fn partition(block: &[u8]) -> Vec<Range<usize>> {
    let mut ranges = memory::vec_with_capacity(block.len() / RANGE_BYTES + 1);
    let mut start = 0;
    while start < block.len() {
        let from = block.len().min(start + RANGE_BYTES);
        let end = memchr(b'\n', &block[from..]).map_or(block.len(), |offset| from + offset + 1);
        ranges.push(start..end);
        start = end;
    }
    ranges
}

/// Returns the strings of some lines; or the number of the first invalid one, from 1, and the reason.
fn strings(lines: &[u8], names: &[&str]) -> Result<FieldBlock, (usize, String)> {
    let mut block = FieldBlock::default();
    // Unescaping lengthens nothing.
    block.text.with_room(lines.len());
    let offsets = line_offsets(lines);
    for (number, line) in (1..).zip(offsets.windows(2)) {
        let found = string(&lines[line[0]..line[1]], names, &mut block.text);
        if found.map_err(|reason| (number, reason))? {
            block.ends.with_room(1).push(block.text.len());
        }
    }
    Ok(block)
}

/// Appends the string in a line to `text`; returns false if the line has none.
fn string(line: &[u8], names: &[&str], text: &mut String) -> Result<bool, String> {
    // Whitespace as in Python's `bytes.isspace`.
    if line.iter().all(|byte| matches!(byte, b' ' | b'\t'..=b'\r')) {
        return Ok(false);
    }
    let expected = |reason: &str| format!("expected a JSON object: {reason}");
    let line = simdutf8::compat::from_utf8(line).map_err(|error| expected(&error.to_string()))?;
    let found = value(line.strip_suffix('\n').unwrap_or(line), names).map_err(|error| {
        // The parser gets one line at a time.
        expected(
            &error
                .to_string()
                .replace(" at line 1 column ", " at column "),
        )
    })?;
    let Some((rank, value)) = found else {
        return Err(match names {
            [name] => format!("expected an object with the field {name:?}"),
            _ => format!("expected an object with one of the fields {names:?}"),
        });
    };
    if value.get() == "null" {
        return Ok(false);
    }
    let inside = value
        .get()
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    match inside {
        Some(escaped) => unescape(escaped, text).map(|()| true),
        None => Err(format!(
            "expected a string in {:?}, got {}",
            names[rank],
            kind(value.get())
        )),
    }
}

/// Returns the number of the first name that is a field of the object in a line, and the JSON in that field.
fn value<'a>(line: &'a str, names: &[&str]) -> serde_json::Result<Option<(usize, &'a RawValue)>> {
    let mut json = serde_json::Deserializer::from_str(line);
    let value = json.deserialize_map(Field(names))?;
    json.end()?;
    Ok(value)
}

/// Names the type of a JSON value that is no string.
fn kind(value: &str) -> &'static str {
    match value.as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "true or false",
        _ => "a number",
    }
}

/// Appends a string to `text`. The parser has validated what is between its quotes.
fn unescape(escaped: &str, text: &mut String) -> Result<(), String> {
    let mut rest = escaped;
    while let Some(offset) = memchr(b'\\', rest.as_bytes()) {
        text.push_str(&rest[..offset]);
        rest = &rest[offset..];
        // Escapes often follow each other.
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

/// Reads an escape after its backslash; returns its character and the rest.
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

/// Reads four hexadecimal digits, or the two times four of a surrogate pair; U+FFFD for half a pair.
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

/// Reads a number of four hexadecimal digits.
fn unit(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(4)?;
    Some((u32::from_str_radix(digits, 16).ok()?, rest))
}

/// A visitor that returns the first of several names that is a field of an object, and the JSON in that
/// field, the last one if the name occurs several times.
struct Field<'a>(&'a [&'a str]);

impl<'de> Visitor<'de> for Field<'_> {
    type Value = Option<(usize, &'de RawValue)>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut found: Self::Value = None;
        while let Some(rank) = object.next_key_seed(Name(self.0))? {
            match rank {
                Some(rank) if found.is_none_or(|(best, _)| rank <= best) => {
                    found = Some((rank, object.next_value()?));
                }
                _ => {
                    object.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(found)
    }
}

/// A visitor that returns the number of a name among several.
struct Name<'a>(&'a [&'a str]);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, name: D) -> Result<Self::Value, D::Error> {
        name.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|each| *each == name))
    }
}
