//! The character classes, checked for all Unicode scalar values against the regular-expression engine that
//! defines them.

use std::error::Error;

use bytemill::unicode::classify::Class::{
    self, Caseless, Lower, Mark, Newline, Number, Other, OtherWhitespace, Space, Upper,
};
use bytemill::unicode::classify::{class_of, class_of_code_point};
use bytemill::unicode::property::{is_cjk, is_han, is_new_number, is_sign};
use fancy_regex::Regex;

#[path = "../../tools/generate_unicode.rs"]
#[expect(dead_code, reason = "its `main` belongs to the example")]
mod generate_unicode;

type TestResult = Result<(), Box<dyn Error>>;

const SCALAR_VALUES: usize = 1_112_064;

/// The expressions for one character that the patterns of the native families are made of, as unions of
/// classes.
const EXPRESSIONS: [(&str, &[Class]); 12] = [
    (r"\p{L}", &[Upper, Lower, Caseless]),
    (r"\p{M}", &[Mark]),
    (r"\p{N}", &[Number]),
    (r"\s", &[OtherWhitespace, Newline, Space]),
    (r"\S", &[Other, Upper, Lower, Caseless, Mark, Number]),
    (r"[\r\n]", &[Newline]),
    (r" ", &[Space]),
    (r"[^\s\p{L}\p{N}]", &[Other, Mark]),
    (r"[^\r\n\p{L}\p{N}]", &[Other, Mark, OtherWhitespace, Space]),
    (r"[\p{Lu}\p{Lt}]", &[Upper]),
    (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", &[Upper, Caseless, Mark]),
    (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", &[Lower, Caseless, Mark]),
];

fn scalar_values() -> impl Iterator<Item = char> {
    '\0'..=char::MAX
}

/// Returns, in ascending order, the characters for which the expression matches the whole of
/// `text_with(character)`.
fn matching(
    expression: &str,
    text_with: impl Fn(char) -> String,
) -> Result<String, Box<dyn Error>> {
    let whole = Regex::new(&format!(r"\A(?:{expression})\z"))?;
    let mut characters = String::new();
    for character in scalar_values() {
        if whole.is_match(&text_with(character))? {
            characters.push(character);
        }
    }
    Ok(characters)
}

#[test]
fn the_committed_table_is_the_generated_one() -> TestResult {
    // Not `assert_eq!`, which would print both tables.
    assert!(
        generate_unicode::generate()? == include_str!("../../src/unicode/classes.rs"),
        "src/unicode/classes.rs is stale: cargo run --example generate_unicode"
    );
    Ok(())
}

#[test]
fn the_committed_properties_are_the_generated_ones() -> TestResult {
    assert!(
        generate_unicode::generate_properties()? == include_str!("../../src/unicode/properties.rs"),
        "src/unicode/properties.rs is stale: cargo run --example generate_unicode"
    );
    Ok(())
}

#[test]
fn properties_have_the_members_of_their_expressions() -> TestResult {
    type Property = fn(u32) -> bool;
    let properties: [(&str, Property); 4] = [
        (r"[\p{P}\p{S}]", is_sign),
        (r"\p{Han}", is_han),
        ("[一-龥぀-ゟ゠-ヿ]", is_cjk),
        (r"[\x{11DE0}-\x{11DE9}\x{16FF4}-\x{16FF6}]", is_new_number),
    ];
    for (expression, property) in properties {
        let expected: String = scalar_values()
            .filter(|&character| property(u32::from(character)))
            .collect();
        assert!(
            matching(expression, String::from)? == expected,
            "{expression} has other members"
        );
    }
    Ok(())
}

#[test]
fn the_committed_scripts_are_the_generated_ones() -> TestResult {
    assert!(
        generate_unicode::generate_scripts()? == include_str!("../../src/unicode/scripts.rs"),
        "src/unicode/scripts.rs is stale: cargo run --example generate_unicode"
    );
    Ok(())
}

#[test]
fn each_class_has_the_members_of_its_definition() -> TestResult {
    let mut defined = vec![Other; char::MAX as usize + 1];
    let classes = [
        Upper,
        Lower,
        Caseless,
        Mark,
        Number,
        OtherWhitespace,
        Newline,
        Space,
    ];
    for (class, (_, name, expression)) in classes.into_iter().zip(generate_unicode::CLASSES) {
        assert_eq!(format!("{class:?}"), name);
        for character in generate_unicode::characters(expression)?
            .into_iter()
            .flatten()
        {
            defined[character as usize] = class;
        }
    }
    let wrong: Vec<char> = scalar_values()
        .filter(|&character| class_of(character) != defined[character as usize])
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert_eq!(scalar_values().count(), SCALAR_VALUES);
    Ok(())
}

#[test]
fn expressions_of_the_patterns_are_unions_of_classes() -> TestResult {
    for (expression, classes) in EXPRESSIONS {
        let expected: String = scalar_values()
            .filter(|&character| classes.contains(&class_of(character)))
            .collect();
        assert!(
            matching(expression, String::from)? == expected,
            "{expression} is not {classes:?}"
        );
    }
    Ok(())
}

#[test]
fn every_class_has_its_number_and_an_example() {
    let examples = ['!', 'ǅ', 'ß', 'ª', '\u{301}', '²', '\u{85}', '\r', ' '];
    let numbers: Vec<u8> = examples
        .into_iter()
        .map(|character| class_of(character) as u8)
        .collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    // Neither is whitespace to this engine, although both are elsewhere.
    assert_eq!([class_of('\u{1C}'), class_of('\u{200B}')], [Other, Other]);
}

#[test]
fn code_points_that_are_no_characters_are_other() {
    for code_point in (0xD800..=0xDFFF)
        .chain(0x11_0000..0x12_0000)
        .chain([u32::MAX - 1, u32::MAX])
    {
        assert_eq!(class_of_code_point(code_point), Other, "{code_point:#X}");
    }
}

/// The splitters contain these characters as constants: besides ASCII only the long s, U+017F, is among them.
#[test]
fn characters_that_the_patterns_name() -> TestResult {
    let suffixes = "(?i:[sdmt]|ll|ve|re)";
    assert_eq!(matching(suffixes, String::from)?, "DMSTdmst\u{17F}");
    assert_eq!(
        matching(suffixes, |character| format!("{character}l"))?,
        "Ll"
    );
    assert_eq!(
        matching(suffixes, |character| format!("l{character}"))?,
        "Ll"
    );
    assert_eq!(
        matching(suffixes, |character| format!("{character}e"))?,
        "RVrv"
    );
    assert_eq!(
        matching(suffixes, |character| format!("r{character}"))?,
        "Ee"
    );
    assert_eq!(
        matching(suffixes, |character| format!("v{character}"))?,
        "Ee"
    );

    let contractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
    assert_eq!(
        matching(contractions, |character| format!("'{character}"))?,
        "DMSTdmst\u{17F}"
    );
    assert_eq!(
        matching(contractions, |character| format!("{character}s"))?,
        "'"
    );
    assert_eq!(
        matching(contractions, |character| format!("'{character}l"))?,
        "Ll"
    );
    assert_eq!(
        matching(contractions, |character| format!("'l{character}"))?,
        "Ll"
    );
    assert_eq!(
        matching(contractions, |character| format!("'{character}e"))?,
        "RVrv"
    );
    assert_eq!(
        matching(contractions, |character| format!("'r{character}"))?,
        "Ee"
    );
    assert_eq!(
        matching(contractions, |character| format!("'v{character}"))?,
        "Ee"
    );

    assert_eq!(matching(r"[\r\n/]", String::from)?, "\n\r/");
    assert_eq!(matching("'", String::from)?, "'");
    Ok(())
}
