//! Counting pieces: with any threads, and batches, the same as counting them one by one.

use std::collections::HashMap;

use bytemill::encode::special::{Allowed, SpecialTokens};
use bytemill::error::{EncodeError, TrainError};
use bytemill::split::Splitter;
use bytemill::train::counting::{Item, PieceCounts};

use crate::support::{PUBLISHED, Patience, Random, TestResult, on_all_cores, pieces};

type Counted = Vec<(Vec<u8>, u64)>;

fn special_tokens() -> Result<SpecialTokens, EncodeError> {
    let texts = ["<|end|>", "<|end|>x", "||", "中文"];
    let tokens = texts.into_iter().map(str::to_owned).zip(0..).collect();
    SpecialTokens::new(tokens).map_err(|error| EncodeError::Splitter(error.into()))
}

/// Counts one piece after the other, in the order of first occurrence.
fn one_by_one(
    documents: &[Vec<u8>],
    splitter: Option<&Splitter>,
    special: &SpecialTokens,
) -> Result<Counted, EncodeError> {
    let mut counted: Counted = Vec::new();
    let mut indices: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut count = |piece: &[u8]| {
        if !piece.is_empty() {
            let index = *indices.entry(piece.to_vec()).or_insert(counted.len());
            counted.resize(counted.len().max(index + 1), (piece.to_vec(), 0));
            counted[index].1 += 1;
        }
    };
    for document in documents {
        let mut items = Vec::new();
        Item::split_bytes(document, &mut items);
        for item in items {
            let text = match item {
                Item::Text(text) => text,
                Item::Piece(piece) => {
                    count(piece);
                    continue;
                }
            };
            let mut rest = text;
            while !rest.is_empty() {
                let found = special.find(rest, 0, &Allowed::All);
                let (end, next) = found.map_or((rest.len(), rest.len()), |found| {
                    (found.start, found.start + found.text.len())
                });
                let ordinary = &rest[..end];
                match splitter {
                    Some(splitter) => {
                        for piece in pieces(splitter, ordinary)? {
                            count(&ordinary.as_bytes()[piece]);
                        }
                    }
                    None => count(ordinary.as_bytes()),
                }
                rest = &rest[next..];
            }
        }
    }
    Ok(counted)
}

fn rows(counts: &mut PieceCounts) -> Result<Counted, TrainError> {
    let columns = counts.columns()?;
    let rows = columns.iter().map(|(piece, count)| (piece.to_vec(), count));
    Ok(rows.collect())
}

/// Documents of characters that are hard to split, special tokens, and invalid UTF-8.
fn random_documents(random: &mut Random, parts: usize) -> Vec<Vec<u8>> {
    (0..random.below(12))
        .map(|_| {
            let mut document = Vec::new();
            for _ in 0..random.below(6) {
                let length = random.below(parts);
                document.extend_from_slice(random.text(length).as_bytes());
                match random.below(8) {
                    0 => document.extend_from_slice(b"<|end|>"),
                    1 => document.extend_from_slice("<|end|>x 中文||".as_bytes()),
                    2 => document.extend_from_slice(&[0xFF, 0xC3, 0xE4, 0xB8]),
                    3 => document.extend_from_slice(&[0; 9]),
                    _ => {}
                }
            }
            document
        })
        .collect()
}

fn difference(seed: usize, parts: usize) -> Result<Option<String>, TrainError> {
    let mut random = Random::new(seed);
    let documents = random_documents(&mut random, parts);
    let splitter = match random.below(5) {
        0 => None,
        1 => Splitter::new(r"\w+|[^\w]").ok(),
        _ => Splitter::new(PUBLISHED[random.below(3)]).ok(),
    };
    let special = if random.below(2) == 0 {
        SpecialTokens::default()
    } else {
        special_tokens()?
    };
    let expected = one_by_one(&documents, splitter.as_ref(), &special)?;
    let mut last = PieceCounts::new();
    for threads in [1, 2, 7] {
        let mut counts = PieceCounts::new();
        let mut halves = [PieceCounts::new(), PieceCounts::new()];
        let half = random.below(documents.len() + 1);
        for batch in documents.chunks(random.within(1..13)) {
            let mut items = Vec::new();
            for document in batch {
                Item::split_bytes(document, &mut items);
            }
            counts.add(&items, splitter.as_ref(), &special, threads)?;
        }
        for (number, document) in documents.iter().enumerate() {
            let mut items = Vec::new();
            Item::split_bytes(document, &mut items);
            let part = &mut halves[usize::from(number >= half)];
            part.add(&items, splitter.as_ref(), &special, threads)?;
        }
        let [mut first, second] = halves;
        first.merge(&second)?;
        let total: u64 = expected.iter().map(|(_, count)| count).sum();
        let found = rows(&mut counts)?;
        if found != expected || rows(&mut first)? != expected || counts.total() != total {
            return Ok(Some(format!(
                "{documents:?} by {splitter:?} on {threads} threads: {found:?}, expected {expected:?}"
            )));
        }
        last = counts;
    }
    let mut again = PieceCounts::new();
    let borrowed = expected
        .iter()
        .map(|(piece, count)| (piece.as_slice(), *count));
    again.add_pieces(borrowed)?;
    let same = rows(&mut again)? == rows(&mut last)? && again.len()? == expected.len();
    Ok((!same).then(|| format!("{expected:?} counted as pieces")))
}

#[test]
fn random_documents_are_counted_as_one_by_one() {
    let wrong = on_all_cores(200, |seed| {
        difference(seed, 30).unwrap_or_else(|error| Some(error.to_string()))
    });
    assert_eq!(wrong.first(), None);
}

/// Long enough that texts are cut and maps grow.
#[test]
fn long_documents_are_counted_as_one_by_one() {
    let wrong = on_all_cores(2, |seed| {
        difference(seed, 60_000).unwrap_or_else(|error| Some(error.to_string()))
    });
    assert_eq!(wrong.first(), None);
}

#[test]
fn invalid_utf8_is_counted_as_pieces() -> TestResult {
    let mut items = Vec::new();
    Item::split_bytes(b"ab\xFF\xFE\xC3c d\xE4\xB8", &mut items);
    let mut counts = PieceCounts::new();
    let splitter = Splitter::new(PUBLISHED[1])?;
    let special = SpecialTokens::default();
    counts.add(&items, Some(&splitter), &special, 1)?;
    let expected: [(&[u8], u64); 5] = [
        (b"ab", 1),
        (b"\xFF\xFE\xC3", 1),
        (b"c", 1),
        (b" d", 1),
        (b"\xE4\xB8", 1),
    ];
    let expected = expected.map(|(piece, count)| (piece.to_vec(), count));
    assert_eq!(rows(&mut counts)?, expected);
    assert_eq!((counts.total(), counts.text_bytes()), (5, 10));
    Ok(())
}

/// An [`Item::Piece`] comes after the pieces of the texts before it, also if it is equal to one of them.
#[test]
fn texts_and_pieces_keep_their_order() -> TestResult {
    let splitter = Splitter::new(PUBLISHED[1])?;
    let special = SpecialTokens::new(Vec::new())?;
    let items = [Item::Text("a b"), Item::Piece(b"a"), Item::Text(" b a")];
    let mut counts = PieceCounts::new();
    counts.add(&items, Some(&splitter), &special, 1)?;
    let expected = [(b"a".to_vec(), 2), (b" b".to_vec(), 2), (b" a".to_vec(), 1)];
    assert_eq!(rows(&mut counts)?, expected);
    Ok(())
}

#[test]
fn most_common_pieces_come_first() -> TestResult {
    let mut counts = PieceCounts::new();
    let pieces: [(&[u8], u64); 4] = [(b"x", 2), (b"once", 1), (b"y", 2), (b"z", 9)];
    counts.add_pieces(pieces.into_iter())?;
    let mut most = |number: usize| -> Result<Vec<Vec<u8>>, TrainError> {
        let columns = counts.most_common(number)?;
        Ok(columns.iter().map(|(piece, _)| piece.to_vec()).collect())
    };
    assert_eq!(most(3)?, [b"z", b"x", b"y"]);
    assert_eq!(most(0)?.len(), 0);
    assert_eq!(most(9)?.len(), 4);
    Ok(())
}

/// Asserts that the total is that of all counts, and returns it.
fn checked_total(counts: &mut PieceCounts) -> Result<u64, TrainError> {
    let total = counts.total();
    assert_eq!(total, counts.columns()?.counts.iter().sum::<u64>());
    assert_eq!(counts.total(), total, "reading changes it");
    assert_eq!(counts.is_empty(), total == 0);
    Ok(total)
}

#[test]
fn counting_can_be_interrupted() -> TestResult {
    let text = "some words ".repeat(200_000);
    let splitter = Splitter::new(PUBLISHED[1])?;
    let special = SpecialTokens::default();
    for threads in [1, 2] {
        for patience in [0, 1, 20] {
            let mut counts = PieceCounts::new();
            let checkpoint = Patience::new(patience);
            let items = [Item::Text(&text)];
            let result =
                checkpoint.during(|| counts.add(&items, Some(&splitter), &special, threads));
            assert!(matches!(result, Err(TrainError::Interrupted)));
            let total = checked_total(&mut counts)?;
            assert_eq!(total > 0, patience == 20);
            // What was counted stays.
            counts.add(&items, Some(&splitter), &special, threads)?;
            assert_eq!(checked_total(&mut counts)?, total + 400_001);
        }
    }
    Ok(())
}

#[test]
fn merging_can_be_interrupted() -> TestResult {
    let pieces: Vec<Vec<u8>> = (0..300_000_u32)
        .map(|number| {
            number
                .to_be_bytes()
                .repeat(if number % 8 == 0 { 5 } else { 1 })
        })
        .collect();
    let rows = |count| pieces.iter().map(move |piece| (piece.as_slice(), count));
    let (mut first, mut second) = (PieceCounts::new(), PieceCounts::new());
    first.add_pieces(rows(1).step_by(3))?;
    second.add_pieces(rows(2))?;
    let endless = Patience::new(usize::MAX);
    endless.during(|| first.clone().merge(&second))?;
    assert!(endless.asked() > 5, "{}", endless.asked());
    for patience in 0..endless.asked() {
        let mut merged = first.clone();
        let result = Patience::new(patience).during(|| merged.merge(&second));
        assert!(matches!(result, Err(TrainError::Interrupted)));
        let total = checked_total(&mut merged)?;
        assert!((100_000..700_000).contains(&total), "{total}");
    }
    first.merge(&second)?;
    assert_eq!(checked_total(&mut first)?, 700_000);
    Ok(())
}

/// A method that reads counts.
type Read = fn(&mut PieceCounts) -> Result<(), TrainError>;

/// Reading many pieces stops at the first checkpoint that says so, whichever it is, and changes nothing.
#[test]
fn reading_can_be_interrupted() -> TestResult {
    let mut counts = PieceCounts::new();
    let pieces: Vec<(Vec<u8>, u64)> = (0..400_000_u64)
        .map(|number| {
            let piece = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
            // Every eighth is long.
            let length = if number % 8 == 0 { 3 } else { 1 };
            (piece.repeat(length), 1 + number % 7)
        })
        .collect();
    let borrowed = pieces
        .iter()
        .map(|(piece, count)| (piece.as_slice(), *count));
    counts.add_pieces(borrowed)?;
    let reads: [(&str, Read); 2] = [
        ("columns", |counts| counts.columns().map(drop)),
        ("most_common", |counts| counts.most_common(10).map(drop)),
    ];
    for (what, read) in reads {
        let endless = Patience::new(usize::MAX);
        endless.during(|| read(&mut counts))?;
        assert!(endless.asked() >= 20, "{what}: {}", endless.asked());
        let step = endless.asked() / 8;
        for patience in (0..endless.asked()).step_by(step) {
            let checkpoint = Patience::new(patience);
            let result = checkpoint.during(|| read(&mut counts));
            assert!(matches!(result, Err(TrainError::Interrupted)), "{what}");
            assert_eq!(checkpoint.asked(), patience + 1, "{what} continued");
        }
    }
    assert_eq!(rows(&mut counts)?, pieces);
    let most = counts.most_common(60_000)?;
    let mut expected = pieces;
    expected.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    expected.truncate(60_000);
    let found: Vec<(Vec<u8>, u64)> = most
        .iter()
        .map(|(piece, count)| (piece.to_vec(), count))
        .collect();
    assert_eq!(found, expected);
    Ok(())
}
