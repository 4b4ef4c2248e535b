//! Fields of lines of JSON, against `serde_json`'s values: which lines are wrong, and which strings the others hold.

use bytemill::documents::json_lines::{self, find_invalid_utf8, line_offsets};
use bytemill::error::JsonLinesError;
use serde_json::Value;

use crate::input::Input;

/// Content of a line according to `serde_json`.
enum Line {
    Nothing,
    Text(String),
    Wrong,
    /// `serde_json` fails, the library need not: half a surrogate pair, a number beyond a float, deep nesting.
    Unknown,
}

pub(crate) fn run(mut input: Input) {
    let field = input.pick(&["text", "t", "é", ""]);
    let repeat = input.pick(&[1, 1, 1, 1, 1, 1, 1, 60]);
    let block = input.rest();
    if repeat == 1 {
        check(block, field);
    } else if !block.is_empty() {
        // Long enough that threads share it.
        check(&block.repeat(300_000 / block.len().max(1_000)), field);
    }
}

fn check(block: &[u8], field: &str) {
    let utf8 = std::str::from_utf8(block);
    assert_eq!(
        find_invalid_utf8(block),
        utf8.err().map(|error| error.valid_up_to())
    );
    let offsets = line_offsets(block);
    let lines: Vec<&[u8]> = block.split_inclusive(|&byte| byte == b'\n').collect();
    assert_eq!(offsets.len(), lines.len() + 1);

    let [one, two] = [1, 2].map(|threads| found(block, field, threads));
    assert_eq!(one, two, "two threads change it");
    let mut texts = one.as_ref().ok().map(|texts| texts.iter());
    for (number, bytes) in (1..).zip(lines) {
        let wrong = match &one {
            Err(JsonLinesError::Line { number: wrong, .. }) => *wrong == number,
            _ => false,
        };
        let shown = String::from_utf8_lossy(bytes);
        let expected = line(bytes, field);
        match &expected {
            Line::Wrong => assert!(wrong, "line {number} is wrong: {shown:?}, {one:?}"),
            Line::Nothing | Line::Text(_) => {
                assert!(!wrong, "line {number} is right: {shown:?}, {one:?}");
            }
            Line::Unknown => (),
        }
        if wrong {
            return;
        }
        let Some(texts) = &mut texts else { continue };
        match expected {
            Line::Text(text) => assert_eq!(texts.next(), Some(&text), "line {number}: {shown:?}"),
            // From here on it is not known whose the texts are.
            Line::Unknown => return,
            Line::Nothing | Line::Wrong => (),
        }
    }
    assert!(one.is_ok(), "no line is wrong: {one:?}");
    assert_eq!(
        texts.and_then(|mut texts| texts.next()),
        None,
        "a text of no line"
    );
}

fn found(block: &[u8], field: &str, threads: usize) -> Result<Vec<String>, JsonLinesError> {
    let fields = json_lines::fields(block, &[field], threads)?;
    let mut data = vec![0; fields.size()];
    fields.gather(&mut data);
    let strings = fields
        .offsets()
        .windows(2)
        .map(|range| data[range[0]..range[1]].to_vec())
        .collect::<Vec<_>>();
    Ok(strings
        .into_iter()
        .map(|string| String::from_utf8(string).expect("UTF-8"))
        .collect())
}

fn line(bytes: &[u8], field: &str) -> Line {
    if bytes
        .iter()
        .all(|byte| matches!(byte, b' ' | b'\t'..=b'\r'))
    {
        return Line::Nothing;
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Line::Wrong;
    };
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(object)) => match object.get(field) {
            Some(Value::String(text)) => Line::Text(text.clone()),
            Some(Value::Null) => Line::Nothing,
            _ => Line::Wrong,
        },
        Ok(_) => Line::Wrong,
        Err(error) => {
            let reason = error.to_string();
            let may_be_right = ["surrogate", "hex escape", "out of range", "recursion"];
            if may_be_right.iter().any(|part| reason.contains(part)) {
                Line::Unknown
            } else {
                Line::Wrong
            }
        }
    }
}
