//! Sorted counts of other processes: their sum is that of one process, in memory or in files.

use bytemill::encode::special::SpecialTokens;
use bytemill::error::TrainError;
use bytemill::train::counting::{CountTable, Item, NextTable, PieceCounts};
use bytemill::train::{Options, TieBreak, learning};

use crate::support::{Patience, Random, TestResult};

/// Words of all lengths, few of which occur twice; some differ only at the end, or in bytes 0 and 0xFF.
fn words(random: &mut Random, number: usize) -> Vec<Vec<u8>> {
    (0..number)
        .map(|_| {
            let length = *random.pick(&[1, 2, 3, 7, 15, 16, 17, 18, 40, 300]);
            let mut word = random.bytes(b"ab\0\xFF", length);
            if length > 10 {
                word[..10].copy_from_slice(b"beginnings");
            }
            word
        })
        .collect()
}

fn add(counts: &mut PieceCounts, words: &[Vec<u8>], threads: usize) -> Result<(), TrainError> {
    let items: Vec<Item<'_>> = words.iter().map(|word| Item::Piece(word)).collect();
    let special = SpecialTokens::default();
    counts.add(&items, None, &special, threads)
}

/// Returns the counts as sorted tables of a few rows each.
fn sorted_tables(counts: &mut PieceCounts, rows: usize) -> Result<Vec<CountTable>, TrainError> {
    let mut tables = vec![CountTable::default()];
    counts.for_each_sorted(|piece, count| {
        if tables.last().is_none_or(|table| table.counts.len() == rows) {
            tables.push(CountTable::default());
        }
        tables.last_mut().expect("there is one").push(piece, count);
        Ok(())
    })?;
    Ok(tables)
}

fn source(tables: Vec<CountTable>) -> NextTable<'static> {
    let mut tables = tables.into_iter();
    Box::new(move || Ok(tables.next()))
}

/// Counts of several processes, sorted and merged, are those of one.
#[test]
fn sorted_counts_of_others_add_up() -> TestResult {
    let mut random = Random::new(5);
    let words = words(&mut random, 6_000);
    let mut whole = PieceCounts::new();
    add(&mut whole, &words, 1)?;
    let expected = sorted_tables(&mut whole, usize::MAX)?;
    let pieces: Vec<&[u8]> = expected[0].iter().map(|(piece, _)| piece).collect();
    assert!(pieces.is_sorted());
    for number in [1, 3, 40] {
        let mut sources = Vec::new();
        for part in words.chunks(words.len() / number + 1) {
            let mut counts = PieceCounts::new();
            add(&mut counts, part, 2)?;
            sources.push(source(sorted_tables(&mut counts, 1 + number)?));
            assert_eq!(
                counts.total(),
                part.len() as u64,
                "sorting leaves the counts as they are"
            );
        }
        let mut merged = PieceCounts::new();
        merged.add_sorted(sources)?;
        assert_eq!(sorted_tables(&mut merged, usize::MAX)?, expected);
        assert_eq!(
            (merged.total(), merged.text_bytes()),
            (whole.total(), whole.text_bytes())
        );
        // More may be counted, and merged, afterwards.
        add(&mut merged, &words, 1)?;
        assert_eq!(merged.total(), 2 * whole.total());
    }
    Ok(())
}

#[test]
fn sources_that_are_not_sorted_are_refused() {
    let table = |rows: &[(&str, u64)]| {
        let mut table = CountTable::default();
        for (piece, count) in rows {
            table.push(piece.as_bytes(), *count);
        }
        table
    };
    for tables in [
        vec![table(&[("b", 1), ("a", 1)])],
        vec![table(&[("a", 1)]), table(&[("a", 1)])],
        vec![table(&[("a", 1), ("b", 0)])],
        vec![table(&[("", 1)])],
    ] {
        let mut counts = PieceCounts::new();
        let refused = counts.add_sorted(vec![source(tables)]);
        assert!(matches!(
            refused,
            Err(TrainError::NotSorted(_) | TrainError::NotCounted(_))
        ));
        assert!(counts.is_empty());
    }
}

/// Returns the counts of words, one sorted source for each of some parts, each added by itself.
fn in_files(words: &[Vec<u8>], parts: usize) -> Result<PieceCounts, TrainError> {
    let mut sum = PieceCounts::new();
    for part in words.chunks(words.len().div_ceil(parts)) {
        let mut counts = PieceCounts::new();
        add(&mut counts, part, 1)?;
        let tables = sorted_tables(&mut counts, 7)?;
        sum.add_sorted(vec![source(tables)])?;
    }
    Ok(sum)
}

/// So many that merged files are merged again.
#[test]
fn thousands_of_files_are_merged() -> TestResult {
    let mut random = Random::new(2);
    let words = words(&mut random, 2_500);
    let mut whole = PieceCounts::new();
    add(&mut whole, &words, 1)?;
    let expected = sorted_tables(&mut whole, usize::MAX)?;
    let mut counts = in_files(&words, 2_500)?;
    assert_eq!(counts.len()?, whole.len()?);
    assert_eq!(sorted_tables(&mut counts, usize::MAX)?, expected);
    // Pieces can be added after reading.
    add(&mut counts, &words, 1)?;
    let twice = sorted_tables(&mut counts, usize::MAX)?;
    assert_eq!(twice[0].bytes, expected[0].bytes);
    let doubled: Vec<u64> = expected[0].counts.iter().map(|count| 2 * count).collect();
    assert_eq!(twice[0].counts, doubled);
    let most = counts.most_common(100)?;
    let most_of_all = whole.most_common(100)?;
    assert!(
        most.counts.iter().eq(most_of_all
            .counts
            .iter()
            .map(|count| 2 * count)
            .collect::<Vec<_>>()
            .iter())
    );
    Ok(())
}

/// The pieces of sorted counts occur in the order of their bytes.
#[test]
fn every_tie_rule_learns_the_same_from_files() -> TestResult {
    let mut random = Random::new(4);
    let mut words = words(&mut random, 3_000);
    words.sort_unstable();
    for tie_break in TieBreak::ALL {
        let options = Options {
            tie_break,
            threads: 2,
            ..Options::default()
        };
        let learned = |mut counts: PieceCounts| {
            learning::learn_merges(&mut counts, 300, &options, &mut |_| Ok(()))
        };
        let mut whole = PieceCounts::new();
        add(&mut whole, &words, 2)?;
        let expected = learned(whole)?;
        assert_eq!(expected.len(), 300);
        for parts in [1, 50] {
            assert_eq!(
                learned(in_files(&words, parts)?)?,
                expected,
                "{tie_break:?}"
            );
        }
    }
    Ok(())
}

/// Counts in files and in memory, in either order: those of the second come after those of the first.
#[test]
fn counts_in_files_and_in_memory_add_up() -> TestResult {
    let mut random = Random::new(5);
    let mut words = words(&mut random, 4_000);
    let (first, second) = words.split_at_mut(1_500);
    first.sort_unstable();
    second.sort_unstable();
    let mut whole = PieceCounts::new();
    add(&mut whole, first, 2)?;
    add(&mut whole, second, 2)?;
    let expected = whole.columns()?;
    for is_in_files in [[true, false], [false, true], [true, true]] {
        let counted = |words: &[Vec<u8>], is_in_files| {
            if is_in_files {
                return in_files(words, 1);
            }
            let mut counts = PieceCounts::new();
            add(&mut counts, words, 2)?;
            Ok::<PieceCounts, TrainError>(counts)
        };
        let mut left = counted(first, is_in_files[0])?;
        let right = counted(second, is_in_files[1])?;
        left.merge(&right)?;
        assert_eq!(left.columns()?, expected, "{is_in_files:?}");
    }
    Ok(())
}

/// Wherever writing and merging is interrupted, all counts remain.
#[test]
fn interruption_loses_nothing() -> TestResult {
    let words: Vec<Vec<u8>> = (0..120_000)
        .map(|number: u64| {
            let number = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            format!("x{number:x} ").into_bytes()
        })
        .collect();
    // Of 32, files are merged before there is another.
    for parts in [5, 31, 32] {
        let mut counts = in_files(&words[..60_000], parts)?;
        add(&mut counts, &words[40_000..], 2)?;
        let expected = counts.clone().columns()?;
        let endless = Patience::new(usize::MAX);
        endless.during(|| counts.clone().columns())?;
        assert!(endless.asked() > 5, "{}", endless.asked());
        for patience in (0..endless.asked()).step_by(endless.asked().div_ceil(12)) {
            let mut attempt = counts.clone();
            let result = Patience::new(patience).during(|| attempt.columns());
            assert!(matches!(result, Err(TrainError::Interrupted)), "{patience}");
            assert_eq!(attempt.columns()?, expected, "{parts}, {patience}");
            assert_eq!(attempt.total(), counts.total());
        }
    }
    Ok(())
}

/// Where adding a file is interrupted, nothing of it counts, neither its pieces nor in the total.
#[test]
fn interruption_adds_nothing_of_a_file() -> TestResult {
    let mut random = Random::new(6);
    let words = words(&mut random, 60_000);
    let mut last = PieceCounts::new();
    add(&mut last, &words, 1)?;
    let tables = sorted_tables(&mut last, 7_000)?;
    for parts in [31, 32] {
        let counts = in_files(&words, parts)?;
        let expected = counts.clone().columns()?;
        let added = |counts: &mut PieceCounts| counts.add_sorted(vec![source(tables.clone())]);
        let endless = Patience::new(usize::MAX);
        endless.during(|| added(&mut counts.clone()))?;
        assert!(endless.asked() > 1, "{}", endless.asked());
        for patience in 0..endless.asked() {
            let mut attempt = counts.clone();
            let result = Patience::new(patience).during(|| added(&mut attempt));
            assert!(matches!(result, Err(TrainError::Interrupted)), "{patience}");
            assert_eq!(attempt.total(), counts.total());
            assert_eq!(attempt.columns()?, expected, "{parts}, {patience}");
        }
    }
    Ok(())
}
