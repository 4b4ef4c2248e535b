//! The cache of what texts begin with: ids are those without it, whatever is in it, and it stays within its limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use bytemill::builtin::Builtin;
use bytemill::checkpoint::{self, Checkpoint};
use bytemill::encode::Encoder;
use bytemill::encode::prefix_cache::{PrefixCache, PrefixCacheStats};
use bytemill::encode::special::{Allowed, SpecialTokens};
use bytemill::split::Splitter;
use bytemill::token::TokenId;

use crate::pipeline_cuts;
use crate::support::{O200K, R50K, Random, TestResult, assert_for_seeds};

fn encoder() -> Result<Arc<Encoder>, Box<dyn std::error::Error>> {
    let special = SpecialTokens::new(vec![("<|end|>".to_owned(), 300_000)])?;
    let vocabulary = Builtin::O200k.vocabulary()?;
    Ok(Arc::new(Encoder::new(
        vocabulary,
        special,
        Splitter::new(O200K)?,
    )))
}

/// Texts that grow, branch, and begin alike.
fn texts(random: &mut Random, count: usize, part: impl Fn(&mut Random) -> String) -> Vec<String> {
    let mut texts = vec![String::new()];
    for _ in 0..count {
        let mut text = random.pick(&texts).clone();
        let mut end = random.below(text.len() + 1);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        if random.below(3) > 0 {
            end = text.len();
        }
        text.truncate(end);
        text.push_str(&part(random));
        texts.push(text);
    }
    texts
}

fn long_part(random: &mut Random) -> String {
    match random.below(6) {
        0 => "<|end|>".to_owned(),
        1 => "a".repeat(random.below(9_000)),
        _ => random.text(3_000),
    }
}

fn assert_same(
    cache: &PrefixCache,
    encoder: &Arc<Encoder>,
    text: &str,
    allowed: &Allowed,
) -> TestResult {
    let (mut expected, mut ids) = (Vec::new(), vec![7]);
    encoder.encode(text, allowed, &mut expected)?;
    cache.encode(encoder, text, allowed, &mut ids)?;
    assert!(ids[0] == 7 && ids[1..] == expected, "{text:?}");
    Ok(())
}

#[test]
fn ids_are_those_without_a_cache() -> TestResult {
    let encoder = encoder()?;
    assert_for_seeds(8, |seed| {
        let mut random = Random::new(seed);
        // All segments in one branch, limits of a few of them, and no limit.
        let caches = [
            PrefixCache::new(1 << 30, 0),
            PrefixCache::new(1 << 30, 0).with_equal_hashes(),
            PrefixCache::new(60_000, 0),
            PrefixCache::new(0, 0),
            PrefixCache::new(1 << 30, 10_000),
        ];
        for text in texts(&mut random, 60, long_part) {
            for cache in &caches {
                for allowed in [Allowed::Nothing, Allowed::All] {
                    assert_same(cache, &encoder, &text, &allowed)?;
                }
            }
        }
        let stats = caches
            .each_ref()
            .map(|cache| cache.stats().expect("it is free"));
        assert!(stats[0].hits > 10 && stats[0].reused_bytes > 100_000);
        assert_eq!(stats[0], stats[1]);
        assert!(stats[2].bytes <= 60_000 && stats[2].entries > 1);
        assert_eq!((stats[3].hits, stats[3].bytes, stats[3].entries), (0, 0, 0));
        let [all, long] = [0, 4].map(|index| stats[index].hits + stats[index].misses);
        assert!(long < all);
        assert!(caches[0].clear());
        assert_eq!(caches[0].stats(), Some(PrefixCacheStats::default()));
        Ok(())
    });
    Ok(())
}

#[test]
fn ids_of_pipelines_are_those_without_a_cache() {
    assert_for_seeds(60, |seed| {
        let mut random = Random::new(seed);
        let Ok(encoder) = pipeline_cuts::encoder(&mut random, seed) else {
            return Ok(());
        };
        let encoder = Arc::new(encoder);
        let size = *random.pick(&[1, 16, 200]);
        let cache = PrefixCache::new(1 << 30, 0).with_segments_of(size);
        let part = |random: &mut Random| pipeline_cuts::text(random, 400);
        for text in texts(&mut random, 12, part) {
            assert_same(&cache, &encoder, &text, &Allowed::Nothing)?;
            assert_same(&cache, &encoder, &text, &Allowed::All)?;
        }
        Ok(())
    });
}

/// A text is found by one that goes on, up to where they differ, and by no other encoder and policy.
#[test]
fn what_is_found() -> TestResult {
    let (encoder, other) = (encoder()?, self::encoder()?);
    let cache = PrefixCache::new(1 << 30, 0);
    let text = "some words and more of them. ".repeat(2_000);
    let reused =
        |encoder, text: &str, allowed: Allowed| -> Result<u64, Box<dyn std::error::Error>> {
            let before = cache.stats().expect("it is free").reused_bytes;
            assert_same(&cache, encoder, text, &allowed)?;
            Ok(cache.stats().expect("it is free").reused_bytes - before)
        };
    let longest = text.len() as u64;
    assert_eq!(reused(&encoder, &text, Allowed::Nothing)?, 0);
    assert_eq!(reused(&other, &text, Allowed::Nothing)?, 0);
    assert_eq!(reused(&encoder, &text, Allowed::All)?, 0);
    assert!(reused(&encoder, &text, Allowed::Nothing)? > longest - 16_384);
    assert!(reused(&encoder, &(text.clone() + "end"), Allowed::Nothing)? > longest - 16_384);
    let half = &text[..text.len() / 2];
    let found = reused(&encoder, &(half.to_owned() + "other"), Allowed::Nothing)?;
    assert!(found > longest / 2 - 16_384 && found <= longest / 2);
    assert_eq!(
        reused(&encoder, &("x".to_owned() + &text), Allowed::Nothing)?,
        0
    );
    Ok(())
}

#[test]
fn threads_share_a_cache() -> TestResult {
    let encoder = encoder()?;
    let cache = PrefixCache::new(300_000, 0);
    thread::scope(|scope| {
        let threads = (0..4).map(|seed| {
            let (cache, encoder) = (&cache, &encoder);
            scope.spawn(move || {
                let mut random = Random::new(seed % 2);
                for text in texts(&mut random, 150, long_part) {
                    assert_same(cache, encoder, &text, &Allowed::All).expect("it encodes");
                }
            })
        });
        for thread in threads.collect::<Vec<_>>() {
            thread.join().expect("no assertion failed");
        }
    });
    let stats = cache.stats().expect("it is free");
    assert!(stats.hits > 100 && stats.bytes <= 300_000);
    Ok(())
}

#[test]
fn many_encoders() -> TestResult {
    let cache = PrefixCache::new(1 << 30, 0);
    let text = "some words ".repeat(1_000);
    for number in 0..70 {
        let encoder = encoder()?;
        assert_same(&cache, &encoder, &text, &Allowed::Nothing)?;
        let ids: TokenId = number;
        assert!(cache.stats().expect("it is free").misses > u64::from(ids));
    }
    // Those of 64 encoders are dropped for those of others.
    assert!(cache.stats().expect("it is free").entries <= 64 * 3);
    Ok(())
}

/// Does something in the middle of other work, once.
struct Meanwhile<F: Fn() + Sync> {
    act: F,
    is_done: AtomicBool,
}

impl<F: Fn() + Sync> Checkpoint for Meanwhile<F> {
    fn should_stop(&self) -> bool {
        if !self.is_done.swap(true, Ordering::Relaxed) {
            (self.act)();
        }
        false
    }
}

/// Entries that a call has found before the cache was cleared take no part in what others add behind that.
#[test]
fn a_cache_is_cleared_while_a_text_is_encoded() -> TestResult {
    let encoder = encoder()?;
    let other = Arc::new(Encoder::new(
        Builtin::R50k.vocabulary()?,
        SpecialTokens::default(),
        Splitter::new(R50K)?,
    ));
    let text = "some words and more of them. ".repeat(2_000);
    let cache = PrefixCache::new(1 << 30, 0);
    let meanwhile = Meanwhile {
        act: || {
            assert!(cache.clear());
            let short = &text[..10_000];
            assert_same(&cache, &other, short, &Allowed::Nothing).expect("it encodes");
        },
        is_done: AtomicBool::new(false),
    };
    checkpoint::with(&meanwhile, || {
        cache.encode(&encoder, &text, &Allowed::Nothing, &mut Vec::new())
    })?;
    assert!(meanwhile.is_done.into_inner());
    for encoder in [&encoder, &other] {
        assert_same(&cache, encoder, &text, &Allowed::Nothing)?;
    }
    Ok(())
}
