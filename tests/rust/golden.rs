//! The golden cases of `tests/data/cases.json`, which all engines must pass, for the engines of this library.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::error::Error;

use bytemill::builtin::Builtin;
use bytemill::encode::Encoder;
use bytemill::encode::special::SpecialTokens;
use bytemill::merge;
use bytemill::merge::agreement::merges_of;
use bytemill::reference;
use bytemill::split::Splitter;
use bytemill::token::TokenId;
use bytemill::train::counting::PieceCounts;
use bytemill::train::{self, Options, TieBreak, learning};
use bytemill::vocabulary::Vocabulary;
use serde_json::Value;

use crate::support::{CL100K, O200K, R50K, TestResult, byte_merges, pieces, ranks_with_bytes};

const CASES: &str = include_str!("../data/cases.json");

/// The pattern with a name of the cases.
fn pattern(name: &str) -> Result<String, Box<dyn Error>> {
    let gpt2 = r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
    let llama3 = concat!(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    );
    let gpt4 = concat!(
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}",
        r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
    );
    Ok(match name {
        "r50k" => R50K.to_owned(),
        "cl100k" => CL100K.to_owned(),
        "o200k" => O200K.to_owned(),
        "gpt2" => format!("'s|'t|'re|'ve|'m|'ll|'d|{gpt2}"),
        "minbpe_gpt2" => format!("'(?:[sdmt]|ll|ve|re)|{gpt2}"),
        "llama3" => llama3.to_owned(),
        "qwen2" => llama3.replace("{1,3}", ""),
        "minbpe_gpt4" => gpt4.to_owned(),
        "nanochat" => gpt4.replace("{1,3}", "{1,2}"),
        _ => return Err(format!("no pattern is called {name}").into()),
    })
}

/// The vocabulary and the pattern of a published encoding.
fn encoding(name: &str) -> Result<(Builtin, &'static str), Box<dyn Error>> {
    Ok(match name {
        "gpt2" | "r50k_base" => (Builtin::R50k, R50K),
        "p50k_base" | "p50k_edit" => (Builtin::P50k, R50K),
        "cl100k_base" => (Builtin::Cl100k, CL100K),
        "o200k_base" | "o200k_harmony" => (Builtin::O200k, O200K),
        _ => return Err(format!("no encoding is called {name}").into()),
    })
}

/// The cases of one kind; fails if there are none.
fn cases(kind: &str) -> Result<Vec<Value>, Box<dyn Error>> {
    let all: Value = serde_json::from_str(CASES)?;
    let cases = list(&all, kind)?.clone();
    assert!(!cases.is_empty(), "no cases for {kind}");
    Ok(cases)
}

fn list<'a>(case: &'a Value, key: &str) -> Result<&'a Vec<Value>, Box<dyn Error>> {
    let list = case[key].as_array();
    list.ok_or_else(|| format!("{key} is not a list in {case}").into())
}

fn text<'a>(case: &'a Value, key: &str) -> Result<&'a str, Box<dyn Error>> {
    let text = case[key].as_str();
    text.ok_or_else(|| format!("{key} is not a text in {case}").into())
}

fn number(value: &Value) -> Result<u64, Box<dyn Error>> {
    let number = value.as_u64();
    number.ok_or_else(|| format!("{value} is not a number").into())
}

fn ids(case: &Value) -> Result<Vec<TokenId>, Box<dyn Error>> {
    list(case, "ids")?
        .iter()
        .map(|id| Ok(TokenId::try_from(number(id)?)?))
        .collect()
}

fn bytes(hexadecimal: &Value) -> Result<Vec<u8>, Box<dyn Error>> {
    let digits = hexadecimal.as_str().ok_or("not hexadecimal digits")?;
    (0..digits.len())
        .step_by(2)
        .map(|index| Ok(u8::from_str_radix(&digits[index..index + 2], 16)?))
        .collect()
}

#[test]
fn names_are_unique_and_every_case_says_why() -> TestResult {
    let mut names = HashSet::new();
    for kind in ["merging", "splitting", "encoding", "training"] {
        for case in cases(kind)? {
            let name = text(&case, "name")?;
            assert!(names.insert(name.to_owned()), "{name} is there twice");
            assert!(!text(&case, "why")?.is_empty(), "{name}");
        }
    }
    Ok(())
}

#[test]
fn merging() -> TestResult {
    for case in cases("merging")? {
        let mut ranks = ranks_with_bytes();
        for rank in list(&case, "ranks")? {
            ranks.push((bytes(&rank[0])?, TokenId::try_from(number(&rank[1])?)?));
        }
        let vocabulary = Vocabulary::from_ranks(ranks)?;
        let (piece, expected) = (bytes(&case["input"])?, ids(&case)?);
        let name = text(&case, "name")?;

        assert_eq!(
            reference::encode_piece(&vocabulary, &piece),
            expected,
            "{name}"
        );
        let mut found = Vec::new();
        merge::encode_piece(&vocabulary, &piece, &mut found)?;
        assert_eq!(found, expected, "{name}");

        let (mut scanned, mut queued) = (Vec::new(), Vec::new());
        let done = merge::short::merge(byte_merges(&vocabulary), &piece, &mut scanned);
        merge::queue::merge(byte_merges(&vocabulary), &piece, &mut queued)?;
        if !done {
            // Too long for `merge::short`.
            assert!(scanned.is_empty(), "{name}");
            scanned.clone_from(&queued);
        }
        assert_eq!(scanned, queued, "{name}");
        // If the whole piece is a token, the merges need not yield it.
        if vocabulary.token(&piece).is_none() {
            assert_eq!(scanned, expected, "{name}");
        }

        // If every token splits into two, the merges alone define the same vocabulary.
        let merges = merges_of(&vocabulary);
        assert_eq!(Some(merges.is_ok()), case["canonical"].as_bool(), "{name}");
        if let Ok(merges) = merges {
            let bytes = std::array::from_fn(|byte| {
                byte_merges(&vocabulary).byte_token(byte.to_le_bytes()[0])
            });
            let rebuilt = Vocabulary::from_merges(&bytes, merges.into_iter())?;
            let mut found = Vec::new();
            merge::encode_piece(&rebuilt, &piece, &mut found)?;
            assert_eq!(found, expected, "{name}");
        }
    }
    Ok(())
}

#[test]
fn splitting() -> TestResult {
    for case in cases("splitting")? {
        let text_to_split = text(&case, "text")?;
        let expected: Vec<&str> = list(&case, "pieces")?
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let splitter = Splitter::new(&pattern(text(&case, "pattern")?)?)?;
        assert!(matches!(splitter, Splitter::Native(..)));
        let found: Vec<&str> = pieces(&splitter, text_to_split)?
            .into_iter()
            .map(|piece| &text_to_split[piece])
            .collect();
        assert_eq!(found, expected, "{}", text(&case, "name")?);
    }
    Ok(())
}

#[test]
fn encoding_and_decoding() -> TestResult {
    let mut encoders = HashMap::new();
    for case in cases("encoding")? {
        let name = text(&case, "encoding")?.to_owned();
        let encoder = match encoders.entry(name) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let (builtin, pattern) = encoding(entry.key())?;
                let (vocabulary, splitter) = (builtin.vocabulary()?, Splitter::new(pattern)?);
                entry.insert(Encoder::new(vocabulary, SpecialTokens::default(), splitter))
            }
        };
        let (plain, expected) = (text(&case, "text")?, ids(&case)?);
        let mut found = Vec::new();
        encoder.encode_ordinary(plain, &mut found)?;
        assert_eq!(found, expected, "{}", text(&case, "name")?);
        assert_eq!(encoder.decode(&expected)?, plain.as_bytes());
    }
    Ok(())
}

#[test]
fn training() -> TestResult {
    let mut tried = 0;
    for case in cases("training")? {
        let tie_break = TieBreak::from_name(text(&case, "tie_break")?).ok_or("no tie rule")?;
        let options = Options {
            tie_break,
            ..Options::default()
        };
        tried += 1;
        let mut counted: Vec<(Vec<u8>, u64)> = Vec::new();
        if case["pieces"].is_array() {
            for piece in list(&case, "pieces")? {
                counted.push((bytes(&piece[0])?, number(&piece[1])?));
            }
        } else if case["pattern"].is_null() {
            counted.push((text(&case, "text")?.as_bytes().to_vec(), 1));
        } else {
            let whole = text(&case, "text")?;
            let splitter = Splitter::new(&pattern(text(&case, "pattern")?)?)?;
            for piece in pieces(&splitter, whole)? {
                counted.push((whole.as_bytes()[piece].to_vec(), 1));
            }
        }
        let counted: Vec<(&[u8], u64)> = counted
            .iter()
            .map(|(piece, count)| (piece.as_slice(), *count))
            .collect();
        let wanted = usize::try_from(number(&case["vocab_size"])?)? - 256;
        let merges =
            train::reference::train(&counted, wanted, &options).ok_or("no initial vocabulary")?;
        let mut counts = PieceCounts::new();
        counts.add_pieces(counted.into_iter())?;
        let learned = learning::learn_merges(&mut counts, wanted, &options, &mut |_| Ok(()))?;
        assert_eq!(learned, merges, "{}", text(&case, "name")?);
        let found: Vec<[u64; 2]> = merges
            .pairs
            .into_iter()
            .map(|pair| [u64::from(pair.left), u64::from(pair.right)])
            .collect();
        let expected = list(&case, "merges")?
            .iter()
            .map(|pair| Ok([number(&pair[0])?, number(&pair[1])?]))
            .collect::<Result<Vec<_>, Box<dyn Error>>>()?;
        assert_eq!(found, expected, "{}", text(&case, "name")?);
    }
    assert!(tried > 0);
    Ok(())
}
