//! Writes `src/normalize/rules/*.charsmap`, the rules of normalization with names: `cargo run --release --example
//! generate_charsmaps`. A test derives them again and compares them with the committed ones.
//!
//! They are derived from Unicode 17, as those of SentencePiece 0.2.3 are; the crates that hold the data are pinned in
//! `Cargo.toml`.
//!
//! ```text
//! nfkc:  every character to its normalization form KC, if that is another;
//!        every sequence of characters that decompose as one character does, to the form KC of that;
//!        less those that shorter rules imply
//! nmt_:  other spaces become a space, and control characters nothing
//! _cf:   values folded, and every other character to its folding
//! ```

use std::error::Error;
use std::ops::RangeInclusive;

use bytemill::normalize::rules::Rules;
use icu_casemap::CaseMapper;
use rustc_hash::{FxHashMap, FxHashSet};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::decompose_compatible;

/// Keys and values, in no order.
type Map = FxHashMap<String, String>;

/// The rules with names, but `identity`, which has none.
pub(crate) const NAMES: [&str; 4] = ["nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"];

fn main() -> Result<(), Box<dyn Error>> {
    for name in NAMES {
        let path = format!(
            "{}/src/normalize/rules/{name}.charsmap",
            env!("CARGO_MANIFEST_DIR")
        );
        std::fs::write(path, derive(name)?.to_charsmap()?)?;
    }
    Ok(())
}

/// Characters that become a space.
const SPACES: [char; 15] = [
    '\t', '\n', '\u{C}', '\r', '\u{61C}', '\u{1680}', '\u{200B}', '\u{200C}', '\u{200E}',
    '\u{200F}', '\u{2028}', '\u{2029}', '\u{2581}', '\u{FEFF}', '\u{FFFD}',
];

/// Characters that are removed.
const REMOVED: [RangeInclusive<char>; 6] = [
    '\u{1}'..='\u{8}',
    '\u{B}'..='\u{B}',
    '\u{E}'..='\u{1F}',
    '\u{7F}'..='\u{7F}',
    '\u{8F}'..='\u{8F}',
    '\u{9F}'..='\u{9F}',
];

/// Returns the rules with a name.
pub(crate) fn derive(name: &str) -> Result<Rules, Box<dyn Error>> {
    let mut map = nfkc();
    remove_implied(&mut map);
    if name.starts_with("nmt_") {
        add_nmt(&mut map);
    }
    if name.ends_with("_cf") {
        add_case_folding(&mut map);
    }
    remove_implied(&mut map);
    Ok(Rules::from_pairs(map)?)
}

/// Characters of Unicode, but NUL and noncharacters.
fn characters() -> impl Iterator<Item = char> {
    let is_character = |&c: &char| {
        let number = u32::from(c);
        number & 0xFFFE != 0xFFFE && !(0xFDD0..0xFDF0).contains(&number)
    };
    ('\u{1}'..=char::MAX).filter(is_character)
}

fn nfkc() -> Map {
    let mut map = Map::default();
    let mut decompositions: FxHashSet<String> = FxHashSet::default();
    // Which characters decompose to one.
    let mut originals: FxHashMap<char, Vec<char>> = FxHashMap::default();
    for character in characters() {
        let mut is_simple = true;
        decompose_compatible(character, |part| is_simple &= part == character);
        if is_simple {
            continue;
        }
        let composed: String = [character].into_iter().nfkc().collect();
        if composed.chars().ne([character]) {
            map.insert(character.to_string(), composed);
        }
        let decomposed: String = [character].into_iter().nfkd().collect();
        let mut parts = decomposed.chars();
        match (parts.next(), parts.next()) {
            (Some(only), None) => originals.entry(only).or_default().push(character),
            _ => _ = decompositions.insert(decomposed),
        }
    }
    for decomposed in &decompositions {
        let composed: String = decomposed.nfkc().collect();
        if composed != *decomposed {
            add_spellings(&mut map, &originals, decomposed, &composed);
        }
    }
    map
}

/// Adds a rule for each sequence that decomposes to `decomposed`, one character to each.
fn add_spellings(
    map: &mut Map,
    originals: &FxHashMap<char, Vec<char>>,
    decomposed: &str,
    composed: &str,
) {
    let mut spellings = vec![String::new()];
    for part in decomposed.chars() {
        let others = originals.get(&part).map_or(&[][..], Vec::as_slice);
        let extend = |spelling: &String| {
            let parts = [part].into_iter().chain(others.iter().copied());
            let spelling = spelling.clone();
            parts
                .map(move |part| format!("{spelling}{part}"))
                .collect::<Vec<_>>()
        };
        spellings = spellings.iter().flat_map(extend).collect();
    }
    for spelling in spellings {
        if spelling != composed {
            map.insert(spelling, composed.to_owned());
        }
    }
}

fn add_nmt(map: &mut Map) {
    for space in SPACES {
        map.insert(space.to_string(), " ".to_owned());
    }
    for removed in REMOVED.into_iter().flatten() {
        map.insert(removed.to_string(), String::new());
    }
    // A full-width tilde stays.
    map.remove("\u{FF5E}");
}

fn add_case_folding(map: &mut Map) {
    let mapper = CaseMapper::new();
    for value in map.values_mut() {
        *value = value.chars().map(|c| mapper.simple_fold(c)).collect();
    }
    for character in characters() {
        let folded = mapper.simple_fold(character);
        if folded != character {
            let rule = map.entry(character.to_string());
            rule.or_insert_with(|| folded.to_string());
        }
    }
}

/// Removes rules that say what shorter rules, applied to their keys, do already.
fn remove_implied(map: &mut Map) {
    let mut by_length: Vec<Vec<(&str, &str)>> = Vec::new();
    for (key, value) in &*map {
        let length = key.chars().count();
        if by_length.len() <= length {
            by_length.resize(length + 1, Vec::new());
        }
        by_length[length].push((key, value));
    }
    let mut kept: FxHashMap<&str, &str> = FxHashMap::default();
    for (length, rules) in by_length.into_iter().enumerate() {
        let needed = rules
            .into_iter()
            .filter(|(key, value)| length == 1 || rewritten(key, &kept, length - 1) != *value);
        let needed: Vec<(&str, &str)> = needed.collect();
        kept.extend(needed);
    }
    *map = kept
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
}

/// Applies rules, the longest first, whose keys have at most `longest` characters.
fn rewritten(text: &str, rules: &FxHashMap<&str, &str>, longest: usize) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let ends: Vec<usize> = rest
            .char_indices()
            .take(longest)
            .map(|(at, character)| at + character.len_utf8())
            .collect();
        let found = ends
            .iter()
            .rev()
            .find_map(|&end| Some((*rules.get(&rest[..end])?, end)));
        let (value, end) = found.unwrap_or((&rest[..first.len_utf8()], first.len_utf8()));
        out.push_str(value);
        rest = &rest[end..];
    }
    out
}
