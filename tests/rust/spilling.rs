//! Counting within a memory limit: the same as without one, however many runs are written. Random documents
//! with limits are in `counting.rs`.

use std::env;
use std::path::Path;

use bytemill::checkpoint::{Checkpoint, RunToEnd};
use bytemill::encode::special::SpecialTokens;
use bytemill::error::TrainError;
use bytemill::split::Splitter;
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

fn add(
    counts: &mut PieceCounts,
    words: &[Vec<u8>],
    threads: usize,
    checkpoint: &dyn Checkpoint,
) -> Result<(), TrainError> {
    let items: Vec<Item<'_>> = words.iter().map(|word| Item::Piece(word)).collect();
    let special = SpecialTokens::default();
    counts.add(&items, None, &special, threads, checkpoint)
}

fn limited(limit: usize) -> PieceCounts {
    PieceCounts::with_memory_limit(limit, env::temp_dir())
}

#[test]
fn counts_are_the_same_for_every_limit() -> TestResult {
    let mut random = Random::new(1);
    let words = words(&mut random, 20_000);
    let mut unlimited = PieceCounts::new();
    add(&mut unlimited, &words, 1, &RunToEnd)?;
    let expected = unlimited.columns(&RunToEnd)?;
    for limit in [150_000, 1_000_000, 1 << 30] {
        for threads in [1, 2, 7] {
            let mut counts = limited(limit);
            for batch in words.chunks(3_000) {
                add(&mut counts, batch, threads, &RunToEnd)?;
            }
            assert_eq!(counts.len(&RunToEnd)?, expected.counts.len());
            assert_eq!(counts.columns(&RunToEnd)?, expected);
            let most = counts.most_common(100, &RunToEnd)?;
            assert_eq!(most, unlimited.most_common(100, &RunToEnd)?);
            assert_eq!(counts.total(), unlimited.total());
        }
    }
    Ok(())
}

/// A limit of 0 makes a run of every piece: so many that merged runs are merged again.
#[test]
fn thousands_of_runs_are_merged() -> TestResult {
    let mut random = Random::new(2);
    let words = words(&mut random, 2_500);
    let mut unlimited = PieceCounts::new();
    add(&mut unlimited, &words, 1, &RunToEnd)?;
    let mut counts = limited(0);
    add(&mut counts, &words, 2, &RunToEnd)?;
    let expected = unlimited.columns(&RunToEnd)?;
    assert_eq!(counts.columns(&RunToEnd)?, expected);
    // Pieces can be added after reading.
    add(&mut counts, &words, 1, &RunToEnd)?;
    let twice = counts.columns(&RunToEnd)?;
    assert_eq!(twice.bytes, expected.bytes);
    let doubled: Vec<u64> = expected.counts.iter().map(|count| 2 * count).collect();
    assert_eq!(twice.counts, doubled);
    Ok(())
}

/// Returns the counts as sorted tables of a few rows each.
fn sorted_tables(counts: &mut PieceCounts, rows: usize) -> Result<Vec<CountTable>, TrainError> {
    let mut tables = vec![CountTable::default()];
    counts.for_each_sorted(&RunToEnd, |piece, count| {
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
    add(&mut whole, &words, 1, &RunToEnd)?;
    let expected = sorted_tables(&mut whole, usize::MAX)?;
    let pieces: Vec<&[u8]> = expected[0].iter().map(|(piece, _)| piece).collect();
    assert!(pieces.is_sorted());
    for (number, limit) in [(1, None), (3, None), (3, Some(100_000)), (40, Some(0))] {
        let mut sources = Vec::new();
        for part in words.chunks(words.len() / number + 1) {
            let mut counts = limit.map_or_else(PieceCounts::new, limited);
            add(&mut counts, part, 2, &RunToEnd)?;
            sources.push(source(sorted_tables(&mut counts, 1 + number)?));
            assert_eq!(
                counts.total(),
                part.len() as u64,
                "sorting leaves the counts as they are"
            );
        }
        let mut merged = limited(0);
        merged.add_sorted(sources, &RunToEnd)?;
        assert_eq!(sorted_tables(&mut merged, usize::MAX)?, expected);
        assert_eq!(
            (merged.total(), merged.text_bytes()),
            (whole.total(), whole.text_bytes())
        );
        // More may be counted, and merged, afterwards.
        add(&mut merged, &words, 1, &RunToEnd)?;
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
        let mut counts = limited(0);
        let refused = counts.add_sorted(vec![source(tables)], &RunToEnd);
        assert!(matches!(
            refused,
            Err(TrainError::NotSorted(_) | TrainError::NotCounted(_))
        ));
        assert!(counts.is_empty());
    }
}

#[test]
fn maps_keep_the_limit() -> TestResult {
    let mut random = Random::new(3);
    let splitter = Splitter::new(r"\w+|[^\w]")?;
    let special = SpecialTokens::default();
    let limit = 4 << 20;
    let mut counts = limited(limit);
    let mut most = 0;
    for threads in [1, 7, 2] {
        let text: Vec<String> = (0..60_000)
            .map(|_| format!("x{:x} ", random.number() >> 16))
            .collect();
        let text = text.concat();
        counts.add(
            &[Item::Text(&text)],
            Some(&splitter),
            &special,
            threads,
            &RunToEnd,
        )?;
        most = most.max(counts.memory());
        assert!(counts.memory() <= limit, "{}", counts.memory());
    }
    assert!(most > limit / 8, "{most}");
    assert!(counts.len(&RunToEnd)? > limit / 32);
    Ok(())
}

#[test]
fn every_tie_rule_learns_the_same_with_a_limit() -> TestResult {
    let mut random = Random::new(4);
    let words = words(&mut random, 3_000);
    for tie_break in TieBreak::ALL {
        let options = Options {
            tie_break,
            threads: 2,
            ..Options::default()
        };
        let learned = |mut counts: PieceCounts| {
            add(&mut counts, &words, 2, &RunToEnd)?;
            learning::train(&mut counts, 300, &options, &RunToEnd, &mut |_| Ok(()))
        };
        let expected = learned(PieceCounts::new())?;
        assert_eq!(expected.len(), 300);
        for limit in [0, 100_000] {
            assert_eq!(learned(limited(limit))?, expected, "{tie_break:?}");
        }
    }
    Ok(())
}

/// Counts with and without a limit, in either order.
#[test]
fn limited_counts_add_up() -> TestResult {
    let mut random = Random::new(5);
    let words = words(&mut random, 4_000);
    let (first, second) = words.split_at(1_500);
    let counted = |mut counts: PieceCounts, words: &[Vec<u8>]| {
        add(&mut counts, words, 2, &RunToEnd)?;
        Ok::<PieceCounts, TrainError>(counts)
    };
    let expected = counted(PieceCounts::new(), &words)?.columns(&RunToEnd)?;
    for limits in [[Some(0), None], [None, Some(0)], [Some(50_000), Some(0)]] {
        let [left, right] = limits.map(|limit| limit.map_or_else(PieceCounts::new, limited));
        let mut left = counted(left, first)?;
        let right = counted(right, second)?;
        left.merge(&right, &RunToEnd)?;
        assert_eq!(left.columns(&RunToEnd)?, expected, "{limits:?}");
    }
    Ok(())
}

#[test]
fn a_missing_directory_is_an_error_that_loses_nothing() -> TestResult {
    let directory = Path::new("no such directory").to_owned();
    let mut counts = PieceCounts::with_memory_limit(200_000, directory);
    let mut random = Random::new(6);
    let words = words(&mut random, 20_000);
    add(&mut counts, &words[..1_000], 1, &RunToEnd)?;
    let before = counts.columns(&RunToEnd)?;
    let result = add(&mut counts, &words, 1, &RunToEnd);
    let Err(TrainError::TemporaryFile(error)) = result else {
        return Err(format!("expected an error of a file, got {result:?}").into());
    };
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    // All pieces before the one that did not fit are counted.
    let after = counts.columns(&RunToEnd)?;
    assert!(after.bytes.starts_with(&before.bytes));
    assert!(after.counts.len() > before.counts.len());
    Ok(())
}

/// Wherever writing and merging is interrupted, all counts remain.
#[test]
fn interruption_loses_nothing() -> TestResult {
    let text: Vec<String> = (0..20_000).map(|number| format!("x{number:x} ")).collect();
    let text = text.concat();
    let splitter = Splitter::new(r"\w+|[^\w]")?;
    let special = SpecialTokens::default();
    let mut counts = limited(0);
    counts.add(
        &[Item::Text(&text)],
        Some(&splitter),
        &special,
        2,
        &RunToEnd,
    )?;
    let expected = counts.clone().columns(&RunToEnd)?;
    let endless = Patience::new(usize::MAX);
    counts.clone().columns(&endless)?;
    assert!(endless.asked() > 5, "{}", endless.asked());
    for patience in (0..endless.asked()).step_by(endless.asked().div_ceil(12)) {
        let mut attempt = counts.clone();
        let result = attempt.columns(&Patience::new(patience));
        assert!(matches!(result, Err(TrainError::Interrupted)), "{patience}");
        assert_eq!(attempt.columns(&RunToEnd)?, expected, "{patience}");
    }
    Ok(())
}
