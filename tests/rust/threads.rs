//! One encoder in many threads, with caches that are always full, and are emptied and limited meanwhile.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use bytemill::builtin::Builtin;
use bytemill::encode::Encoder;
use bytemill::encode::batch::{Batch, Ragged};
use bytemill::encode::special::{Allowed, Policy, SpecialTokens};
use bytemill::reference;
use bytemill::split::Splitter;
use bytemill::token::TokenId;

use crate::support::{CL100K, Random, TestResult, pieces};

const THREADS: usize = 8;
const ROUNDS: usize = 12;

/// Words of all lengths that occur with no other seed, between some that occur with all.
fn all_new(seed: usize) -> String {
    let mut random = Random::new(seed);
    let mut text = String::new();
    for number in 0..400 {
        let length = 1 + random.below(60);
        let word = random.bytes(b"abcdefghijklmnopqrstuvwxyz", length);
        text.push_str(&String::from_utf8_lossy(&word));
        text.push_str([" the words ", " ", "\n", "中文", " 1234 ", "\0"][number % 6]);
    }
    text
}

fn defined(encoder: &Encoder, text: &str) -> Result<Vec<TokenId>, Box<dyn Error>> {
    let mut ids = Vec::new();
    for piece in pieces(encoder.splitter(), text)? {
        ids.extend(reference::encode_piece(
            encoder.vocabulary(),
            text[piece].as_bytes(),
        ));
    }
    Ok(ids)
}

#[test]
fn caches_that_are_emptied_meanwhile() -> TestResult {
    let encoder = Encoder::new(
        Builtin::Cl100k.vocabulary()?,
        SpecialTokens::default(),
        Splitter::new(CL100K)?,
    );
    let expected: Vec<(String, Vec<TokenId>)> = (0..THREADS * ROUNDS)
        .map(|seed| {
            let text = all_new(seed);
            let ids = defined(&encoder, &text)?;
            Ok((text, ids))
        })
        .collect::<Result<_, Box<dyn Error>>>()?;
    encoder.set_cache_limit(1 << 14);
    let encoder = Arc::new(encoder);
    let alone = encoder.memory();
    let (done, largest) = (AtomicBool::new(false), AtomicUsize::new(0));
    let wrong = thread::scope(|scope| {
        scope.spawn(|| {
            // Caches are dropped and created with every limit while the others work.
            for turn in 0_usize.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                match turn % 3 {
                    0 => encoder.clear_cache(),
                    1 => encoder.set_cache_limit([1 << 12, 1 << 14, 1 << 16][turn % 9 / 3]),
                    _ => {
                        let learned = encoder.memory().saturating_sub(alone);
                        largest.fetch_max(learned, Ordering::Relaxed);
                    }
                }
                thread::yield_now();
            }
        });
        let works: Vec<_> = (0..THREADS)
            .map(|number| {
                let (encoder, expected) = (&encoder, &expected);
                scope.spawn(move || encode_rounds(encoder, expected, number))
            })
            .collect();
        let wrong: Vec<Option<String>> = works
            .into_iter()
            .map(|work| work.join().unwrap_or(Some("a thread panicked".to_owned())))
            .collect();
        done.store(true, Ordering::Relaxed);
        wrong
    });
    assert_eq!(wrong, vec![None; THREADS]);
    // As many caches as calls ran at once, and those of batches.
    let most = 3 * THREADS * ((1 << 16) + (1 << 14)) + (1 << 20);
    let largest = largest.into_inner();
    assert!(largest <= most, "{largest} bytes were learned");
    Ok(())
}

/// The work of one thread; returns the first mismatch.
fn encode_rounds(
    encoder: &Encoder,
    expected: &[(String, Vec<TokenId>)],
    number: usize,
) -> Option<String> {
    for round in 0..ROUNDS {
        // Its own texts, which no thread has encoded yet, then those of another thread.
        let own = number * ROUNDS + round;
        let other = (own + ROUNDS) % expected.len();
        for at in [own, other, own] {
            let (text, ids) = &expected[at];
            let mut found = Vec::new();
            let outcome = encoder.encode_ordinary(text, &mut found);
            if outcome.is_err() || found != *ids {
                return Some(format!("ids of text {at}"));
            }
            if encoder.count(text, &Allowed::Nothing).ok() != Some(ids.len()) {
                return Some(format!("the count of text {at}"));
            }
            if encoder.decode(ids).ok().as_deref() != Some(text.as_bytes()) {
                return Some(format!("the text of ids {at}"));
            }
        }
        let policy = Policy {
            allowed: Allowed::Nothing,
            disallowed: Allowed::Nothing.into(),
        };
        let texts = [&expected[own].0, &expected[other].0];
        let ragged: Option<Ragged<TokenId>> =
            encoder.encode_batch(&texts, &Batch::new(policy, 2)).ok();
        let both = [expected[own].1.as_slice(), &expected[other].1].concat();
        if ragged.map(|ragged| ragged.ids) != Some(both) {
            return Some(format!("ids of texts {own} and {other} in a batch"));
        }
    }
    None
}
