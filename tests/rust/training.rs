//! Training against its definition: every tie rule, on thousands of random corpora.

use bytemill::checkpoint::RunToEnd;
use bytemill::error::TrainError;
use bytemill::token::Pair;
use bytemill::train::count::PieceCounts;
use bytemill::train::merges;
use bytemill::train::{Initial, Options, TieBreak, naive};

use crate::support::{Random, on_all_cores};

type Words = Vec<(Vec<u8>, u64)>;

fn borrowed(words: &Words) -> Vec<(&[u8], u64)> {
    words
        .iter()
        .map(|(word, count)| (word.as_slice(), *count))
        .collect()
}

fn trained(words: &Words, merges: usize, options: &Options) -> Result<Vec<Pair>, TrainError> {
    let mut counts = PieceCounts::new();
    counts.add_pieces(borrowed(words).into_iter())?;
    merges::train(&mut counts, merges, options, &RunToEnd, &mut |_| Ok(()))
}

/// Pieces of few symbols, so that pairs are often equally frequent; now and then runs, huge weights, long pieces.
fn random_words(random: &mut Random) -> Words {
    let symbols = random.within(2..11);
    let mut alphabet: Vec<u8> = (0..symbols)
        .map(|_| random.number().to_le_bytes()[0])
        .collect();
    if random.below(3) == 0 {
        alphabet.extend([0, 0xFF]);
    }
    let longest = *random.pick(&[4, 12, 24, 600]);
    (0..random.within(1..40))
        .map(|_| {
            let length = random.below(longest);
            let weight = match random.below(10) {
                0 => 10_000_000_000_000 + random.number() % 3,
                1 => (1 << 32) - 1,
                2..5 => 1 + random.number() % 100,
                _ => 1,
            };
            (random.bytes(&alphabet, length), weight)
        })
        .collect()
}

fn random_options(random: &mut Random) -> Options {
    Options {
        tie_break: *random.pick(&TieBreak::ALL),
        min_frequency: *random.pick(&[0, 0, 1, 2, 5, 1 << 32]),
        max_token_length: *random.pick(&[None, None, Some(2), Some(3), Some(7)]),
        initial: Initial::default(),
        threads: 1,
    }
}

#[test]
fn random_corpora() {
    let wrong = on_all_cores(6000, |seed| {
        let mut random = Random::new(seed);
        let words = random_words(&mut random);
        let mut options = random_options(&mut random);
        let merges = random.within(1..60);
        if random.below(3) == 0 {
            random.shuffle(&mut options.initial.bytes);
            let start = Options {
                initial: options.initial.clone(),
                ..random_options(&mut random)
            };
            let before = random_words(&mut random);
            options.initial.merges =
                naive::train(&borrowed(&before), random.below(10), &start).unwrap_or_default();
        }
        let expected = naive::train(&borrowed(&words), merges, &options);
        let found = trained(&words, merges, &options);
        (found.as_ref().ok() != expected.as_ref())
            .then(|| format!("{words:?}\n{options:?}: {found:?}, expected {expected:?}"))
    });
    assert_eq!(wrong.first(), None);
}
