//! Checkpoints: long work asks them often enough, and stops at once when it should.

use std::error::Error;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytemill::builtin::Builtin;
use bytemill::checkpoint::{self, Interrupted};
use bytemill::encode::Encoder;
use bytemill::encode::special::{Allowed, SpecialTokens};
use bytemill::encode::truncate::Keep;
use bytemill::error::{DecodeError, EncodeError};
use bytemill::merge;
use bytemill::split::Splitter;
use bytemill::util::parallel;
use bytemill::util::tier::Tier;

use crate::support::{
    CL100K, MEGABYTE, MONOTONOUS, O200K, Patience, R50K, TestResult, byte_merges, pieces,
};

fn encoder() -> Result<Encoder, Box<dyn Error>> {
    let special = SpecialTokens::new(vec![("<|endoftext|>".to_owned(), 50_256)])?;
    let vocabulary = Builtin::R50k.vocabulary()?;
    Ok(Encoder::new(vocabulary, special, Splitter::new(R50K)?))
}

/// Asserts that `work` asks the checkpoint at least `least` times, and stops at the first answer that says
/// so.
fn assert_stops(
    what: &str,
    least: usize,
    work: impl Fn() -> Result<(), EncodeError>,
) -> TestResult {
    let endless = Patience::new(usize::MAX);
    endless.during(&work)?;
    let asked = endless.asked();
    assert!(
        asked >= least,
        "{what}: asked {asked} times, expected {least}"
    );
    let step = (asked / 10).max(1);
    for patience in (0..asked).step_by(step).chain([asked - 1]) {
        let checkpoint = Patience::new(patience);
        let outcome = checkpoint.during(&work);
        assert!(
            matches!(outcome, Err(EncodeError::Interrupted)),
            "{what}: {outcome:?}"
        );
        assert_eq!(checkpoint.asked(), patience + 1, "{what} went on");
    }
    Patience::new(asked).during(&work)?;
    Ok(())
}

#[test]
fn one_long_piece_stops() -> TestResult {
    let vocabulary = Builtin::R50k.vocabulary()?;
    for (kind, text) in MONOTONOUS {
        let piece = text(60_000);
        let work = || merge::encode_piece(&vocabulary, piece.as_bytes(), &mut Vec::new());
        assert_stops(kind, 60_000 >> 14, work)?;
        let piece = text(MEGABYTE);
        let work =
            || merge::queue::merge(byte_merges(&vocabulary), piece.as_bytes(), &mut Vec::new());
        assert_stops(kind, MEGABYTE >> 14, work)?;
    }
    Ok(())
}

/// The checkpoint is asked in proportion to the number of merges, which grows with the text and no faster.
#[test]
fn long_pieces_ask_in_proportion() -> TestResult {
    let vocabulary = Builtin::R50k.vocabulary()?;
    for (kind, text) in MONOTONOUS {
        let asked = |length| -> Result<usize, EncodeError> {
            let checkpoint = Patience::new(usize::MAX);
            checkpoint
                .during(|| merge::merge(&vocabulary, text(length).as_bytes(), &mut Vec::new()))?;
            Ok(checkpoint.asked())
        };
        let (small, large) = (asked(100_000)?, asked(400_000)?);
        assert!(
            (2 * small..=6 * small).contains(&large),
            "{kind}: {small}, then {large}"
        );
    }
    Ok(())
}

#[test]
fn texts_of_many_pieces_stop() -> TestResult {
    let encoder = encoder()?;
    let ordinary = |text: String, least: usize| {
        assert_stops("encode_ordinary", least, || {
            encoder.encode_ordinary(&text, &mut Vec::new())
        })?;
        assert_stops("encode", least, || {
            encoder.encode(&text, &Allowed::All, &mut Vec::new())
        })
    };
    ordinary("a".to_owned(), 1)?;
    ordinary("word ".repeat(100_000), 40)?;
    ordinary("word<|endoftext|> ".repeat(1000), 2)
}

/// A text of special tokens only is long work, too.
#[test]
fn texts_of_special_tokens_stop() -> TestResult {
    let encoder = encoder()?;
    let text = "<|endoftext|>".repeat(100_000);
    assert_stops("special tokens", 1, || {
        encoder.encode(&text, &Allowed::All, &mut Vec::new())
    })
}

/// To find the end of a piece of megabytes is long work by itself, for any run of characters.
#[test]
fn the_search_for_the_end_of_a_piece_stops() -> TestResult {
    const LENGTH: usize = (2 << 20) + 16;
    let numbers = CL100K.replace("{1,3}", "{1,9999999}");
    let mut long = 0;
    for pattern in [R50K, CL100K, O200K, &numbers] {
        let Splitter::Native(family, current) = Splitter::new(pattern)? else {
            return Err("expected a native family".into());
        };
        let alike = ["\u{3000}", "\r\n", "\n ", "Á"].map(|unit| unit.repeat(LENGTH / unit.len()));
        let tails =
            ["\n", "/\n", "/"].map(|unit| ".\n".to_owned() + &unit.repeat(LENGTH / unit.len()));
        let monotonous = MONOTONOUS.map(|(_, text)| text(LENGTH));
        for text in alike.iter().chain(&tails).chain(&monotonous) {
            for tier in [current, Tier::Reference] {
                let splitter = Splitter::Native(family, tier);
                let longest = pieces(&splitter, text)?.iter().map(Range::len).max();
                let megabytes = longest.unwrap_or_default() >> 20;
                if megabytes < 2 {
                    continue;
                }
                long += 1;
                let what = text.chars().take(3).collect::<String>();
                assert_stops(&format!("{what:?} in {pattern}"), megabytes - 1, || {
                    let mut all = splitter.pieces(text);
                    while all.next_chunk(&mut Vec::new())? {}
                    Ok(())
                })?;
            }
        }
    }
    assert!(long > 80, "{long} texts with a long piece");
    Ok(())
}

/// Pieces just too short to ask the checkpoint themselves do not add up to seconds without a question.
#[test]
fn texts_of_long_pieces_ask_at_least_once_a_megabyte() -> TestResult {
    let encoder = encoder()?;
    let (_, letters) = MONOTONOUS[MONOTONOUS.len() - 1];
    let text = (letters(15_000) + " ").repeat(150);
    let checkpoint = Patience::new(usize::MAX);
    checkpoint.during(|| encoder.encode_ordinary(&text, &mut Vec::new()))?;
    let megabytes = text.len() / MEGABYTE;
    assert!(
        checkpoint.asked() >= megabytes,
        "{} times in {megabytes} MB",
        checkpoint.asked()
    );
    Ok(())
}

#[test]
fn unfinished_text_and_bytes_stop() -> TestResult {
    let encoder = encoder()?;
    let text = "word ".repeat(10_000) + "unfi";
    assert_stops("encode_with_unstable", 5, || {
        encoder.encode_with_unstable(&text, &Allowed::All).map(drop)
    })?;
    let bytes = [text.as_bytes(), &vec![0xFF; 100_000]].concat();
    assert_stops("encode_bytes", 5, || {
        encoder.encode_bytes(&bytes, &mut Vec::new())
    })
}

#[test]
fn truncation_and_offsets_stop() -> TestResult {
    let encoder = encoder()?;
    let text = "word ".repeat(10_000);
    assert_stops("parts", 100, || {
        encoder
            .parts(&text, &Allowed::Nothing, 100, 10, &[])
            .map(drop)
    })?;
    assert_stops("truncate", 2, || {
        encoder
            .truncate(&text, &Allowed::Nothing, 5_000, Keep::End)
            .map(drop)
    })?;
    assert_stops("encode_with_offsets", 5, || {
        encoder.encode_with_offsets(&text, &Allowed::All).map(drop)
    })
}

#[test]
fn decoding_stops() -> TestResult {
    let encoder = encoder()?;
    let ids = vec![50; MEGABYTE];
    let endless = Patience::new(usize::MAX);
    endless.during(|| encoder.decode(&ids))?;
    assert!(endless.asked() >= 10);
    for patience in 0..endless.asked() {
        let checkpoint = Patience::new(patience);
        assert_eq!(
            checkpoint.during(|| encoder.decode(&ids)),
            Err(DecodeError::Interrupted)
        );
        assert_eq!(checkpoint.asked(), patience + 1);
    }
    Ok(())
}

/// Items that never ask the checkpoint are interrupted between items, on one thread or several.
#[test]
fn batches_stop() {
    let items: Vec<usize> = (0..1000).collect();
    for threads in [0, 1, 2, 8] {
        for patience in [0, 1, 5, 500] {
            let worked = AtomicUsize::new(0);
            let outcome = Patience::new(patience).during(|| {
                parallel::map(&items, threads, |&item| {
                    worked.fetch_add(1, Ordering::Relaxed);
                    Ok::<usize, EncodeError>(item)
                })
            });
            assert!(
                matches!(outcome, Err(EncodeError::Interrupted)),
                "{threads} threads went on after {patience} questions"
            );
            assert!(worked.into_inner() <= patience + 1);
        }
    }
}

/// The calling thread asks the checkpoint even while only other threads work.
#[test]
fn batches_of_long_items_stop() -> TestResult {
    let encoder = encoder()?;
    let texts = vec!["word ".repeat(20_000); 8];
    let work = || {
        parallel::map(&texts, 2, |text| {
            let mut ids = Vec::new();
            encoder.encode_ordinary(text, &mut ids)?;
            Ok::<_, EncodeError>(ids)
        })
    };
    let endless = Patience::new(usize::MAX);
    let mut expected = Vec::new();
    encoder.encode_ordinary(&texts[0], &mut expected)?;
    assert!(endless.during(work)?.iter().all(|ids| *ids == expected));
    for patience in [0, 1, 10, endless.asked() / 2] {
        let outcome = Patience::new(patience).during(work);
        assert!(matches!(outcome, Err(EncodeError::Interrupted)));
    }
    Ok(())
}

#[test]
fn an_interruption_is_an_error_of_either_kind() {
    assert!(matches!(
        EncodeError::from(Interrupted),
        EncodeError::Interrupted
    ));
    assert_eq!(DecodeError::from(Interrupted), DecodeError::Interrupted);
    assert!(!checkpoint::should_stop());
}

/// A checkpoint holds while its work runs, also in the threads that take part in it, and no longer.
#[test]
fn checkpoints_hold_while_work_runs() {
    let (outer, inner) = (Patience::new(0), Patience::new(usize::MAX));
    outer.during(|| {
        assert!(checkpoint::should_stop());
        inner.during(|| assert!(!checkpoint::should_stop()));
        let unwinds = || inner.during(|| panic!("as a test"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(unwinds)).is_err());
        assert!(checkpoint::should_stop());
        checkpoint::inherit(|inherited| {
            std::thread::scope(|scope| {
                let alone = scope.spawn(checkpoint::should_stop);
                let taking_part = scope.spawn(|| inherited.with(checkpoint::should_stop));
                assert!(!alone.join().expect("it does not panic"));
                assert!(taking_part.join().expect("it does not panic"));
            });
        });
    });
    assert!(!checkpoint::should_stop());
}
