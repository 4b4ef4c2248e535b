//! The cost of splitting, merging, encoding, growing text and training. Every result is checked before it is timed.
//!
//! `cargo bench --bench engine -- merge` runs one of the groups `split`, `merge`, `encode`, `grow`, `count`, `train`.
//! Texts are generated.

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use bytemill::builtin::Builtin;
use bytemill::encode::Encoder;
use bytemill::encode::special::SpecialTokens;
use bytemill::merge;
use bytemill::reference;
use bytemill::split::Splitter;
use bytemill::token::TokenId;
use bytemill::util::tier::Tier;
use bytemill::vocabulary::Vocabulary;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput};

mod growing;
#[path = "../../tests/rust/support.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod support;
mod texts;
mod training;

use support::{CL100K, Judge, MONOTONOUS, O200K, R50K};
use texts::KINDS;

type Outcome = Result<(), Box<dyn Error>>;

const TEXT_LENGTH: usize = 1 << 20;

/// The properties of a result that are checked before it is timed.
const CHECKED_LENGTH: usize = 1 << 14;

const ENCODINGS: [(&str, Builtin, &str); 3] = [
    ("r50k", Builtin::R50k, R50K),
    ("cl100k", Builtin::Cl100k, CL100K),
    ("o200k", Builtin::O200k, O200K),
];

const PIECE_LENGTHS: [usize; 12] = [8, 16, 32, 48, 64, 80, 96, 112, 128, 256, 1024, 4096];

fn start(text: &str) -> &str {
    let end = (0..=CHECKED_LENGTH).rfind(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// A group whose benchmarks take the time given, and a third of it to warm up.
fn group<'a>(
    criterion: &'a mut Criterion,
    name: &str,
    time: Duration,
) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10);
    group.warm_up_time(time / 3);
    group.measurement_time(time);
    group
}

/// A native splitter for each tier that the machine has.
fn tiers(splitter: &Splitter) -> Vec<(Tier, Splitter)> {
    let Splitter::Native(family, _) = *splitter else {
        return Vec::new();
    };
    let available = Tier::ALL.into_iter().filter(|tier| tier.available());
    available
        .map(|tier| (tier, Splitter::Native(family, tier)))
        .collect()
}

fn split(criterion: &mut Criterion) -> Outcome {
    let mut group = group(criterion, "split", Duration::from_millis(900));
    for (name, _, pattern) in ENCODINGS {
        let judge = Judge::new(pattern)?;
        for (kind, text) in KINDS {
            let text = text(TEXT_LENGTH);
            if let Some(difference) = judge.difference(start(&text)) {
                return Err(difference.into());
            }
            group.throughput(Throughput::Bytes(text.len() as u64));
            for (tier, splitter) in tiers(judge.splitter()) {
                let id = BenchmarkId::new(format!("{name} {}", tier.name()), kind);
                group.bench_function(id, |bencher| {
                    let mut chunk = Vec::new();
                    bencher.iter(|| {
                        let mut pieces = splitter.pieces(&text);
                        while let Ok(true) = pieces.next_chunk(&mut chunk) {
                            black_box(&chunk);
                        }
                    });
                });
            }
        }
    }
    group.finish();
    Ok(())
}

/// Pieces of one length, of the three kinds that decide which engine is faster.
fn pieces(length: usize) -> [(&'static str, Vec<Vec<u8>>); 3] {
    // 64 KiB in all, so that branch prediction does not learn single pieces.
    let count = (1 << 16) / length;
    let (_, one_letter) = MONOTONOUS[0];
    let (_, random_letters) = MONOTONOUS[MONOTONOUS.len() - 1];
    let (_, english) = KINDS[0];
    [
        (
            "text",
            texts::pieces_of_length(&english(1 << 17), length, count),
        ),
        (
            "random letters",
            texts::pieces_of_length(&random_letters(1 << 16), length, count),
        ),
        (
            "one letter",
            texts::pieces_of_length(&one_letter(length), length, count),
        ),
    ]
}

fn merge_by(pieces: &[Vec<u8>], ids: &mut Vec<TokenId>, engine: impl Fn(&[u8], &mut Vec<TokenId>)) {
    ids.clear();
    for piece in pieces {
        engine(piece, ids);
    }
}

fn merge(criterion: &mut Criterion) -> Outcome {
    let mut group = group(criterion, "merge", Duration::from_millis(200));
    for (name, builtin, _) in &ENCODINGS[1..] {
        let vocabulary = builtin.vocabulary()?;
        let vocabulary: &Vocabulary = &vocabulary;
        let short = |piece: &[u8], ids: &mut Vec<TokenId>| {
            let _ = merge::short::merge(
                vocabulary.byte_merges().expect("bytes are merged"),
                piece,
                ids,
            );
        };
        let queue = |piece: &[u8], ids: &mut Vec<TokenId>| {
            // Never interrupted, and no piece is too long.
            let _ = merge::queue::merge(
                vocabulary.byte_merges().expect("bytes are merged"),
                piece,
                ids,
            );
        };
        for length in PIECE_LENGTHS {
            for (kind, pieces) in pieces(length) {
                let (mut scanned, mut queued) = (Vec::new(), Vec::new());
                merge_by(&pieces, &mut scanned, short);
                merge_by(&pieces, &mut queued, queue);
                // Longer pieces are left to the queue.
                let is_short = length <= merge::short::LONGEST;
                if is_short && scanned != queued {
                    return Err(format!("the engines differ on {kind} of {length} bytes").into());
                }
                group.throughput(Throughput::Bytes((pieces.len() * length) as u64));
                let id = |engine| BenchmarkId::new(format!("{name}, {kind}, {engine}"), length);
                if is_short {
                    group.bench_function(id("short"), |bencher| {
                        bencher.iter(|| merge_by(black_box(&pieces), &mut scanned, short));
                    });
                }
                group.bench_function(id("queue"), |bencher| {
                    bencher.iter(|| merge_by(black_box(&pieces), &mut queued, queue));
                });
            }
        }
        // Twice the length must take about twice the time.
        for (kind, text) in MONOTONOUS {
            for length in [TEXT_LENGTH, 2 * TEXT_LENGTH] {
                let (piece, mut ids, mut queued) = (text(length), Vec::new(), Vec::new());
                merge::merge(vocabulary, piece.as_bytes(), &mut ids)?;
                queue(piece.as_bytes(), &mut queued);
                if ids != queued {
                    return Err(format!("the engines differ on {kind} of {length} bytes").into());
                }
                group.throughput(Throughput::Bytes(piece.len() as u64));
                let id = BenchmarkId::new(format!("{name}, {kind}, windows"), length);
                group.bench_function(id, |bencher| {
                    bencher.iter(|| {
                        ids.clear();
                        merge::merge(vocabulary, black_box(piece.as_bytes()), &mut ids)
                    });
                });
            }
        }
    }
    group.finish();
    Ok(())
}

fn encode(criterion: &mut Criterion) -> Outcome {
    let mut group = group(criterion, "encode", Duration::from_millis(900));
    for (name, builtin, pattern) in ENCODINGS {
        for (tier, splitter) in tiers(&Splitter::new(pattern)?) {
            let special_tokens = SpecialTokens::default();
            let encoder = Encoder::new(builtin.vocabulary()?, special_tokens, splitter);
            for (kind, text) in KINDS {
                let text = text(TEXT_LENGTH);
                let mut ids = Vec::new();
                let checked = start(&text);
                encoder.encode_ordinary(checked, &mut ids)?;
                let expected: Vec<TokenId> = support::pieces(encoder.splitter(), checked)?
                    .into_iter()
                    .flat_map(|piece| {
                        reference::encode_piece(encoder.vocabulary(), &checked.as_bytes()[piece])
                    })
                    .collect();
                if ids != expected {
                    return Err(format!("wrong ids for {kind} with {name}").into());
                }
                group.throughput(Throughput::Bytes(text.len() as u64));
                let id = BenchmarkId::new(format!("{name} {}", tier.name()), kind);
                group.bench_function(id, |bencher| {
                    bencher.iter(|| {
                        ids.clear();
                        encoder.encode_ordinary(black_box(&text), &mut ids)
                    });
                });
            }
        }
    }
    group.finish();
    Ok(())
}

fn main() -> Outcome {
    let mut criterion = Criterion::default().configure_from_args();
    split(&mut criterion)?;
    merge(&mut criterion)?;
    encode(&mut criterion)?;
    growing::grow(&mut criterion)?;
    training::count(&mut criterion)?;
    training::train(&mut criterion)?;
    criterion.final_summary();
    Ok(())
}
