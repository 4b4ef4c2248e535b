//! Training alone: counting the pieces of a text, and learning merges from many distinct pieces.

use std::time::Duration;

use bytemill::encode::special::SpecialTokens;
use bytemill::error::TrainError;
use bytemill::split::Splitter;
use bytemill::train::counting::{Item, PieceCounts};
use bytemill::train::{Learned, Options, TieBreak, learning, reference};
use criterion::{BenchmarkId, Criterion, Throughput};

use crate::support::{self, CL100K, Random};
use crate::texts::KINDS;
use crate::{Outcome, TEXT_LENGTH, group, start};

const MERGES: usize = 10_000;

fn counted(text: &str, splitter: &Splitter) -> Result<PieceCounts, TrainError> {
    let mut counts = PieceCounts::new();
    let special = SpecialTokens::default();
    counts.add(&[Item::Text(text)], Some(splitter), &special, 1)?;
    Ok(counts)
}

fn learned(
    counts: &mut PieceCounts,
    merges: usize,
    options: &Options,
) -> Result<Learned, TrainError> {
    learning::learn_merges(counts, merges, options, &mut |_| Ok(()))
}

/// Counts pieces: bytes of text per second.
pub(crate) fn count(criterion: &mut Criterion) -> Outcome {
    let mut group = group(criterion, "count", Duration::from_millis(900));
    let splitter = Splitter::new(CL100K)?;
    for (kind, text) in KINDS {
        let text = text(TEXT_LENGTH);
        let pieces = support::pieces(&splitter, &text)?.len();
        if counted(&text, &splitter)?.total() != pieces as u64 {
            return Err(format!("wrong count of {kind}").into());
        }
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(BenchmarkId::new("cl100k", kind), |bencher| {
            bencher.iter(|| counted(&text, &splitter));
        });
    }
    group.finish();
    Ok(())
}

/// Learns merges, per second: from text, and from words of random letters, hardly two of them equal.
pub(crate) fn train(criterion: &mut Criterion) -> Outcome {
    let mut group = group(criterion, "train", Duration::from_millis(900));
    let splitter = Splitter::new(CL100K)?;
    let mut random = Random::new(1);
    let words: Vec<Vec<u8>> = (0..200_000)
        .map(|_| random.bytes(b"etaoinshrdlu", 8))
        .collect();
    let words = words
        .iter()
        .map(|word| String::from_utf8_lossy(word) + " ")
        .collect();
    let english = KINDS[0].1(TEXT_LENGTH);
    for (kind, text) in [("english", english), ("random words", words)] {
        for tie_break in TieBreak::ALL {
            let options = Options {
                tie_break,
                ..Options::default()
            };
            let mut few = counted(start(&text), &splitter)?;
            let columns = few.columns()?;
            let pieces: Vec<(&[u8], u64)> = columns.iter().collect();
            if Some(learned(&mut few, 300, &options)?) != reference::train(&pieces, 300, &options) {
                return Err(format!("wrong merges of {kind} by {}", tie_break.name()).into());
            }
            let mut counts = counted(&text, &splitter)?;
            let number = learned(&mut counts, MERGES, &options)?.len();
            group.throughput(Throughput::Elements(number as u64));
            group.bench_function(BenchmarkId::new(tie_break.name(), kind), |bencher| {
                bencher.iter(|| learned(&mut counts, MERGES, &options));
            });
        }
    }
    group.finish();
    Ok(())
}
