//! Writes `src/unicode/classes.rs`, the table of character classes, `src/unicode/properties.rs`, that of the properties
//! that only some patterns ask for, and `src/unicode/scripts.rs`, that of scripts: `cargo run --example generate_unicode`.
//!
//! The data are those of regex-syntax, the tables behind the regular-expression engine of tiktoken, so that
//! the native splitter and a pattern run by that engine agree about every character. The version is pinned in
//! `Cargo.toml`; a test generates the tables again and compares them with the committed ones.
//!
//! Scripts are those of Unicode 9.0, by which SentencePiece decides which characters may be in one piece: newer data
//! cut down to the characters of that version, and mended where a later one gave a character another script.

use std::error::Error;
use std::ops::RangeInclusive;

use regex_syntax::hir::{Class, HirKind};

/// Code points per block. Of the powers of two, 128 yields the smallest table, with fewer than 256 distinct
/// blocks.
const BLOCK_SIZE: usize = 128;
const CODE_POINTS: usize = char::MAX as usize + 1;

/// For each class: its letter in the table, its name, the expression of its members. All other characters are
/// `OTHER`.
pub(crate) const CLASSES: [(char, &str, &str); 8] = [
    ('U', "Upper", r"[\p{Lu}\p{Lt}]"),
    ('L', "Lower", r"\p{Ll}"),
    ('C', "Caseless", r"[\p{Lm}\p{Lo}]"),
    ('M', "Mark", r"\p{M}"),
    ('N', "Number", r"\p{N}"),
    ('T', "OtherWhitespace", r"[\p{White_Space}--[\x20\r\n]]"),
    ('R', "Newline", r"[\r\n]"),
    ('S', "Space", r"\x20"),
];
const OTHER: char = 'O';

/// The names of all scripts of the data, those first that have a constant in `src/unicode/script.rs`.
const SCRIPTS: [&str; 170] = [
    "Common",
    "Inherited",
    "Han",
    "Hiragana",
    "Katakana",
    "Adlam",
    "Ahom",
    "Anatolian_Hieroglyphs",
    "Arabic",
    "Armenian",
    "Avestan",
    "Balinese",
    "Bamum",
    "Bassa_Vah",
    "Batak",
    "Bengali",
    "Bhaiksuki",
    "Bopomofo",
    "Brahmi",
    "Braille",
    "Buginese",
    "Buhid",
    "Canadian_Aboriginal",
    "Carian",
    "Caucasian_Albanian",
    "Chakma",
    "Cham",
    "Cherokee",
    "Chorasmian",
    "Coptic",
    "Cuneiform",
    "Cypriot",
    "Cypro_Minoan",
    "Cyrillic",
    "Deseret",
    "Devanagari",
    "Dives_Akuru",
    "Dogra",
    "Duployan",
    "Egyptian_Hieroglyphs",
    "Elbasan",
    "Elymaic",
    "Ethiopic",
    "Garay",
    "Georgian",
    "Glagolitic",
    "Gothic",
    "Grantha",
    "Greek",
    "Gujarati",
    "Gunjala_Gondi",
    "Gurmukhi",
    "Gurung_Khema",
    "Hangul",
    "Hanifi_Rohingya",
    "Hanunoo",
    "Hatran",
    "Hebrew",
    "Imperial_Aramaic",
    "Inscriptional_Pahlavi",
    "Inscriptional_Parthian",
    "Javanese",
    "Kaithi",
    "Kannada",
    "Kawi",
    "Kayah_Li",
    "Kharoshthi",
    "Khitan_Small_Script",
    "Khmer",
    "Khojki",
    "Khudawadi",
    "Kirat_Rai",
    "Lao",
    "Latin",
    "Lepcha",
    "Limbu",
    "Linear_A",
    "Linear_B",
    "Lisu",
    "Lycian",
    "Lydian",
    "Mahajani",
    "Makasar",
    "Malayalam",
    "Mandaic",
    "Manichaean",
    "Marchen",
    "Masaram_Gondi",
    "Medefaidrin",
    "Meetei_Mayek",
    "Mende_Kikakui",
    "Meroitic_Cursive",
    "Meroitic_Hieroglyphs",
    "Miao",
    "Modi",
    "Mongolian",
    "Mro",
    "Multani",
    "Myanmar",
    "Nabataean",
    "Nag_Mundari",
    "Nandinagari",
    "New_Tai_Lue",
    "Newa",
    "Nko",
    "Nushu",
    "Nyiakeng_Puachue_Hmong",
    "Ogham",
    "Ol_Chiki",
    "Ol_Onal",
    "Old_Hungarian",
    "Old_Italic",
    "Old_North_Arabian",
    "Old_Permic",
    "Old_Persian",
    "Old_Sogdian",
    "Old_South_Arabian",
    "Old_Turkic",
    "Old_Uyghur",
    "Oriya",
    "Osage",
    "Osmanya",
    "Pahawh_Hmong",
    "Palmyrene",
    "Pau_Cin_Hau",
    "Phags_Pa",
    "Phoenician",
    "Psalter_Pahlavi",
    "Rejang",
    "Runic",
    "Samaritan",
    "Saurashtra",
    "Sharada",
    "Shavian",
    "Siddham",
    "SignWriting",
    "Sinhala",
    "Sogdian",
    "Sora_Sompeng",
    "Soyombo",
    "Sundanese",
    "Sunuwar",
    "Syloti_Nagri",
    "Syriac",
    "Tagalog",
    "Tagbanwa",
    "Tai_Le",
    "Tai_Tham",
    "Tai_Viet",
    "Takri",
    "Tamil",
    "Tangsa",
    "Tangut",
    "Telugu",
    "Thaana",
    "Thai",
    "Tibetan",
    "Tifinagh",
    "Tirhuta",
    "Todhri",
    "Toto",
    "Tulu_Tigalari",
    "Ugaritic",
    "Vai",
    "Vithkuqi",
    "Wancho",
    "Warang_Citi",
    "Yezidi",
    "Yi",
    "Zanabazar_Square",
];

/// Characters whose script was another one in Unicode 9.0: the first and last of them, and the name of that script.
const CHANGED: [(char, char, &str); 3] = [
    ('\u{589}', '\u{589}', "Common"),
    ('\u{61C}', '\u{61C}', "Common"),
    ('\u{953}', '\u{954}', "Devanagari"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/unicode"));
    std::fs::write(folder.join("classes.rs"), generate()?)?;
    std::fs::write(folder.join("properties.rs"), generate_properties()?)?;
    Ok(std::fs::write(
        folder.join("scripts.rs"),
        generate_scripts()?,
    )?)
}

/// Returns the source text of `src/unicode/classes.rs`.
pub(crate) fn generate() -> Result<String, Box<dyn Error>> {
    let letters = class_letters()?;
    let mut blocks: Vec<&[char]> = Vec::new();
    let mut first_uses = Vec::new();
    let mut block_of = Vec::new();
    for (position, block) in letters.chunks(BLOCK_SIZE).enumerate() {
        let number = blocks
            .iter()
            .position(|known| *known == block)
            .unwrap_or(blocks.len());
        if number == blocks.len() {
            blocks.push(block);
            first_uses.push(position * BLOCK_SIZE);
        }
        block_of.push(u8::try_from(number)?);
    }

    let (major, minor) = unicode_version().ok_or("the data have no version")?;
    let names: Vec<String> = CLASSES
        .iter()
        .map(|(letter, name, _)| format!("{name} as {letter}"))
        .collect();
    let numbers: Vec<String> = block_of.chunks(32).map(join).collect();
    let rows: Vec<String> = blocks
        .iter()
        .zip(first_uses)
        .map(|(block, first_use)| format!("[{}], // U+{first_use:04X}", join(block)))
        .collect();
    Ok(format!(
        "\
//! The class of every code point, in two stages.
//!
//! Generated by `cargo run --example generate_unicode`: do not edit. Derived from the Unicode Character
//! Database, copyright Unicode, Inc., under the Unicode licence.

#[rustfmt::skip]
use super::class::Class::{{self, Other as {OTHER}, {}}};

/// The version of the Unicode data.
pub(super) const UNICODE_VERSION: (u8, u8, u8) = ({major}, {minor}, 0);

/// Code points per block.
pub(super) const BLOCK_SIZE: u32 = {BLOCK_SIZE};

/// Stage one: which of `BLOCKS` holds the classes of each {BLOCK_SIZE} successive code points.
#[rustfmt::skip]
pub(super) static BLOCK_OF: [u8; {}] = [
    {},
];

/// Stage two: the distinct blocks, each with the first code point that uses it.
#[rustfmt::skip]
pub(super) static BLOCKS: [[Class; {BLOCK_SIZE}]; {}] = [
    {}
];
",
        names.join(", "),
        block_of.len(),
        numbers.join(",\n    "),
        blocks.len(),
        rows.join("\n    "),
    ))
}

/// Returns the source text of `src/unicode/properties.rs`.
pub(crate) fn generate_properties() -> Result<String, Box<dyn Error>> {
    let mut sets = vec![0_u64; CODE_POINTS / 64];
    for character in characters(r"[\p{P}\p{S}]")?.into_iter().flatten() {
        sets[character as usize / 64] |= 1 << (character as usize % 64);
    }
    let used = sets.iter().rposition(|&set| set != 0).unwrap_or(0) + 1;
    let mut distinct: Vec<u64> = Vec::new();
    let mut set_of = Vec::new();
    for &set in &sets[..used] {
        let known = distinct.iter().position(|&known| known == set);
        let number = known.unwrap_or(distinct.len());
        if known.is_none() {
            distinct.push(set);
        }
        set_of.push(u8::try_from(number)?);
    }
    let numbers: Vec<String> = set_of.chunks(32).map(join).collect();
    let rows: Vec<String> = distinct
        .chunks(6)
        .map(|sets| {
            let sets = sets.iter().map(|set| {
                let parts = [48, 32, 16, 0].map(|shift| format!("{:04X}", set >> shift & 0xFFFF));
                format!("0x{}", parts.join("_"))
            });
            sets.collect::<Vec<_>>().join(", ")
        })
        .collect();
    let han: Vec<String> = characters(r"\p{Han}")?
        .iter()
        .map(|range| {
            format!(
                "(0x{:X}, 0x{:X})",
                *range.start() as u32,
                *range.end() as u32
            )
        })
        .collect();
    Ok(format!(
        "\
//! Properties of characters that only some patterns ask for.
//!
//! Generated by `cargo run --example generate_unicode`: do not edit. Derived from the Unicode Character
//! Database, copyright Unicode, Inc., under the Unicode licence.

/// Which of `SIGNS` holds each 64 successive code points; there are no signs after them.
#[rustfmt::skip]
pub(super) static SIGNS_OF: [u8; {}] = [
    {},
];

/// Punctuation and symbols, `[\\p{{P}}\\p{{S}}]`: a bit for each of 64 code points, the first one lowest.
#[rustfmt::skip]
pub(super) static SIGNS: [u64; {}] = [
    {},
];

/// The first and the last of successive characters of `\\p{{Han}}`.
#[rustfmt::skip]
pub(super) static HAN: [(u32, u32); {}] = [
    {},
];
",
        set_of.len(),
        numbers.join(",\n    "),
        distinct.len(),
        rows.join(",\n    "),
        han.len(),
        han.chunks(5)
            .map(|ranges| ranges.join(", "))
            .collect::<Vec<_>>()
            .join(",\n    "),
    ))
}

/// Returns the source text of `src/unicode/scripts.rs`.
pub(crate) fn generate_scripts() -> Result<String, Box<dyn Error>> {
    let mut script_of = vec![0_u8; CODE_POINTS];
    let mut number = 0_u8;
    let mut names = Vec::new();
    for name in SCRIPTS {
        let members = characters(&format!(r"[\p{{Script={name}}}&&\p{{Age=9.0}}]"));
        let members = members.unwrap_or_default();
        if members.is_empty() {
            continue;
        }
        for character in members.into_iter().flatten() {
            script_of[character as usize] = number;
        }
        names.push(name);
        number += 1;
    }
    for (first, last, name) in CHANGED {
        let number = names.iter().position(|known| *known == name);
        let number = u8::try_from(number.ok_or("no such script")?)?;
        for character in first..=last {
            script_of[character as usize] = number;
        }
    }
    let mut rows: Vec<(usize, usize, u8)> = Vec::new();
    for (code_point, &script) in script_of.iter().enumerate() {
        match rows.last_mut() {
            Some((_, last, before)) if *before == script && *last + 1 == code_point => {
                *last = code_point;
            }
            _ if script != 0 => rows.push((code_point, code_point, script)),
            _ => {}
        }
    }
    let lines: Vec<String> = rows
        .chunks(5)
        .map(|rows| {
            let row = |(first, last, script): &(usize, usize, u8)| {
                format!("(0x{first:X}, 0x{last:X}, {script})")
            };
            rows.iter().map(row).collect::<Vec<_>>().join(", ")
        })
        .collect();
    Ok(format!(
        "\
//! The script of every character of Unicode 9.0.
//!
//! Generated by `cargo run --example generate_unicode`: do not edit. Derived from the Unicode Character
//! Database, copyright Unicode, Inc., under the Unicode licence.

/// The first and the last of successive characters of one script, and its number. All others are `COMMON`.
#[rustfmt::skip]
pub(super) static RANGES: [(u32, u32, u8); {}] = [
    {},
];
",
        rows.len(),
        lines.join(",\n    "),
    ))
}

/// Returns the letter of the class of every code point, surrogates included: they are `OTHER`.
fn class_letters() -> Result<Vec<char>, Box<dyn Error>> {
    let mut letters = vec![OTHER; CODE_POINTS];
    for (letter, name, expression) in CLASSES {
        for character in characters(expression)?.into_iter().flatten() {
            let entry = &mut letters[character as usize];
            if *entry != OTHER {
                return Err(
                    format!("{character:?} of class {name} is also in class {entry}").into(),
                );
            }
            *entry = letter;
        }
    }
    Ok(letters)
}

/// Returns the characters that an expression for one character matches, as ranges in ascending order.
pub(crate) fn characters(expression: &str) -> Result<Vec<RangeInclusive<char>>, Box<dyn Error>> {
    match regex_syntax::parse(expression)?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Ok(class
            .iter()
            .map(|range| range.start()..=range.end())
            .collect()),
        HirKind::Literal(one) => Ok(std::str::from_utf8(&one.0)?
            .chars()
            .map(|only| only..=only)
            .collect()),
        other => {
            Err(format!("{expression} is not an expression for one character: {other:?}").into())
        }
    }
}

/// Returns the newest version of Unicode that has an `Age` in the data, as (major, minor).
fn unicode_version() -> Option<(u8, u8)> {
    (0..=99)
        .flat_map(|major| (0..=9).map(move |minor| (major, minor)))
        .filter(|(major, minor)| {
            regex_syntax::parse(&format!(r"\p{{Age={major}.{minor}}}")).is_ok()
        })
        .max()
}

fn join(items: &[impl ToString]) -> String {
    items
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(",")
}
