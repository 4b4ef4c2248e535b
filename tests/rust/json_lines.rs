//! Fields of lines of JSON: the same strings with any number of threads, and the first invalid line.
//! `test_json_fields.py` compares with Python's `json`.

use bytemill::documents::json_lines::{fields, find_invalid_utf8, line_breaks, line_offsets};
use bytemill::error::JsonLinesError;

use crate::support::{Patience, TestResult};

fn found(block: &[u8], threads: usize) -> Result<Vec<String>, JsonLinesError> {
    let fields = fields(block, &["text"], threads)?;
    let mut data = vec![0; fields.size()];
    fields.gather(&mut data);
    let strings = fields
        .offsets()
        .windows(2)
        .map(|string| String::from_utf8_lossy(&data[string[0]..string[1]]).into_owned())
        .collect();
    Ok(strings)
}

fn error_of(block: &str) -> Option<(usize, String)> {
    match found(block.as_bytes(), 1) {
        Err(JsonLinesError::Line { number, reason }) => Some((number, reason)),
        _ => None,
    }
}

#[test]
fn strings_are_unescaped() -> TestResult {
    let lines = [
        (r#"{"text": ""}"#, ""),
        (
            r#"{"text": "a\n\t\r\b\f\"\\\/z"}"#,
            "a\n\t\r\u{8}\u{C}\"\\/z",
        ),
        (r#"{"text": "\u00e9\u4e2d\ud83d\ude00"}"#, "é中😀"),
        (
            r#"{"text": "\ud83d \ude00\ud83d\ud83d\ude00\ud83d\u0041"}"#,
            "\u{FFFD} \u{FFFD}\u{FFFD}😀\u{FFFD}A",
        ),
        (
            r#"{"text": "first", "other": [{"text": 1}], "text": "last"}"#,
            "last",
        ),
        ("\t{\"text\":\"blanks\"} \r", "blanks"),
    ];
    for (line, text) in lines {
        assert_eq!(found(line.as_bytes(), 1)?, [text], "{line}");
    }
    let whole: String = lines
        .map(|(line, _)| format!("{line}\n\n{{\"text\": null}}\n \r\n"))
        .concat();
    assert_eq!(found(whole.as_bytes(), 1)?, lines.map(|(_, text)| text));
    Ok(())
}

#[test]
fn threads_change_nothing() -> TestResult {
    let texts: Vec<String> = (0..20_000)
        .map(|i| format!("{i}, ").repeat(i % 40))
        .collect();
    let lines = texts
        .iter()
        .map(|text| format!("{{\"text\": \"{text}\"}}\n"));
    let lines = lines.collect::<Vec<_>>().concat();
    for threads in [1, 2, 5] {
        assert_eq!(found(lines.as_bytes(), threads)?, texts);
        let wrong = format!("{lines}\n{{}}\n{lines}[]\n");
        let error = found(wrong.as_bytes(), threads).err();
        let reason = "expected an object with the field \"text\"".to_owned();
        assert_eq!(
            error,
            Some(JsonLinesError::Line {
                number: 20_002,
                reason
            })
        );
    }
    Ok(())
}

#[test]
fn errors_name_the_line() {
    for (line, reason) in [
        (
            r#"{"text": "a"#,
            "expected a JSON object: EOF while parsing a string",
        ),
        (
            r#"{"text": "\ud83"}"#,
            "expected a JSON object: invalid escape",
        ),
        (r#"{"text": NaN}"#, "expected a JSON object: expected value"),
        (
            r#"{"text": 1}"#,
            "expected a string in \"text\", got a number",
        ),
        (
            "[]",
            "expected a JSON object: invalid type: sequence, expected an object",
        ),
    ] {
        let (number, message) =
            error_of(&format!("{{\"text\": \"\"}}\n\n{line}\n")).unwrap_or_default();
        assert_eq!(number, 3, "{line}");
        assert!(message.starts_with(reason), "{message}");
    }
    let error = found(b"{\"text\": \"\"}\n{\"text\": \"\xFF\"}", 1).err();
    assert!(matches!(
        error,
        Some(JsonLinesError::Line { number: 2, .. })
    ));
}

#[test]
fn reading_can_be_interrupted() {
    let lines = "{\"text\": \"some words\"}\n".repeat(100_000);
    for threads in [1, 2] {
        let read = || fields(lines.as_bytes(), &["text"], threads);
        let result = Patience::new(3).during(read);
        assert!(matches!(result, Err(JsonLinesError::Interrupted)));
    }
}

#[test]
fn lines_end_after_their_breaks() {
    for (block, offsets) in [
        ("", vec![0]),
        ("\n", vec![0, 1]),
        ("a\r\nb", vec![0, 3, 4]),
        ("a\n\nb\n", vec![0, 2, 3, 5]),
    ] {
        assert_eq!(line_offsets(block.as_bytes()), offsets, "{block:?}");
        let breaks = block.bytes().filter(|&byte| byte == b'\n').count();
        assert_eq!(line_breaks(block.as_bytes()), breaks, "{block:?}");
    }
    assert_eq!(find_invalid_utf8("aé".as_bytes()), None);
    assert_eq!(find_invalid_utf8(b"a\xC3"), Some(1));
}

#[test]
fn of_several_fields_the_first_counts() -> TestResult {
    let lines = [
        (r#"{"b": "second", "a": "first"}"#, "first"),
        (r#"{"a": "first", "b": 5}"#, "first"),
        (r#"{"a": "repeated", "b": "no", "a": "last"}"#, "last"),
        (r#"{"b": "alone"}"#, "alone"),
    ];
    for (line, text) in lines {
        let fields = fields(line.as_bytes(), &["a", "b"], 1)?;
        let mut data = vec![0; fields.size()];
        fields.gather(&mut data);
        assert_eq!(data, text.as_bytes(), "{line}");
    }
    let missing = fields(br#"{"c": ""}"#, &["a", "b"], 1);
    assert!(matches!(
        missing,
        Err(JsonLinesError::Line { reason, .. })
            if reason == r#"expected an object with one of the fields ["a", "b"]"#
    ));
    Ok(())
}
