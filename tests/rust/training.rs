//! Training compared with its definition: every tie rule, on thousands of random corpora.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytemill::error::TrainError;
use bytemill::token::{Pair, TokenId};
use bytemill::train::counting::PieceCounts;
use bytemill::train::{Initial, Learned, Options, TieBreak, learning, reference};
use bytemill::vocabulary::Vocabulary;

use crate::support::{MEGABYTE, MONOTONOUS, Patience, Random, TestResult, on_all_cores};

type Words = Vec<(Vec<u8>, u64)>;

fn borrowed(words: &Words) -> Vec<(&[u8], u64)> {
    words
        .iter()
        .map(|(word, count)| (word.as_slice(), *count))
        .collect()
}

fn trained(words: &Words, merges: usize, options: &Options) -> Result<Learned, TrainError> {
    let mut counts = PieceCounts::new();
    counts.add_pieces(borrowed(words).into_iter())?;
    learning::learn_merges(&mut counts, merges, options, &mut |_| Ok(()))
}

/// Pieces of few symbols, so that pairs are often equally frequent; some with repeats, huge counts or many
/// bytes.
fn random_words(random: &mut Random) -> Words {
    let symbols = random.within(2..11);
    let mut alphabet: Vec<u8> = (0..symbols)
        .map(|_| random.number().to_le_bytes()[0])
        .collect();
    if random.below(3) == 0 {
        alphabet.extend([0, 0xFF]);
    }
    let longest = *random.pick(&[4, 12, 24, 200]);
    (0..random.within(1..40))
        .map(|_| {
            let length = random.below(longest);
            let count = match random.below(10) {
                0 => 10_000_000_000_000 + random.number() % 3,
                1 => (1 << 32) - 1,
                2..5 => 1 + random.number() % 100,
                _ => 1,
            };
            (random.bytes(&alphabet, length), count)
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

/// Applies all merges in turn. Returns the bytes of all tokens, and the pieces as tokens.
fn apply(words: &Words, initial: &Initial, learned: &[Pair]) -> (Vec<Vec<u8>>, Vec<Vec<TokenId>>) {
    let mut tokens: Vec<Vec<u8>> = initial.bytes.iter().map(|&byte| vec![byte]).collect();
    let ids: Vec<TokenId> = (0..256).collect();
    let id = |byte: &u8| {
        let index = initial.bytes.iter().position(|other| other == byte);
        ids[index.expect("each byte has a token")]
    };
    let mut pieces: Vec<Vec<TokenId>> = words
        .iter()
        .map(|(word, _)| word.iter().map(id).collect())
        .collect();
    for (token, pair) in (256..).zip(initial.merges.iter().chain(learned)) {
        let part = |id: TokenId| tokens[id as usize].as_slice();
        tokens.push([part(pair.left), part(pair.right)].concat());
        for piece in &mut pieces {
            let mut index = 0;
            while index + 1 < piece.len() {
                if piece[index..index + 2] == [pair.left, pair.right] {
                    piece.splice(index..index + 2, [token]);
                }
                index += 1;
            }
        }
    }
    (tokens, pieces)
}

/// Returns what is wrong with a trained vocabulary, if anything: two tokens of the same bytes, or a piece
/// whose encoding differs from what its merges in training made of it.
fn fault(words: &Words, initial: &Initial, learned: &[Pair]) -> Option<String> {
    let (tokens, pieces) = apply(words, initial, learned);
    if HashSet::<&Vec<u8>>::from_iter(&tokens).len() < tokens.len() {
        return Some("two tokens have the same bytes".to_owned());
    }
    let vocabulary = Vocabulary::from_ranks(tokens.into_iter().zip(0..).collect());
    let vocabulary = match vocabulary {
        Ok(vocabulary) => vocabulary,
        Err(error) => return Some(error.to_string()),
    };
    words.iter().zip(pieces).find_map(|((word, _), piece)| {
        let encoded = bytemill::reference::encode_piece(&vocabulary, word);
        (encoded != piece).then(|| format!("{word:?}: {encoded:?}, not {piece:?}"))
    })
}

/// Arbitrary merges, which were not learned: pairs of earlier tokens that make new bytes.
fn any_merges(random: &mut Random, bytes: [u8; 256], alphabet: &[u8]) -> Vec<Pair> {
    let mut tokens: Vec<Vec<u8>> = bytes.map(|byte| vec![byte]).to_vec();
    let mut usable: Vec<usize> = (0..256)
        .filter(|&id| alphabet.contains(&bytes[id]))
        .collect();
    let mut merges = Vec::new();
    for _ in 0..random.below(12) {
        let [left, right] = [(); 2].map(|()| *random.pick(&usable));
        let token = [tokens[left].as_slice(), &tokens[right]].concat();
        if !tokens.contains(&token) {
            let id = |id: usize| TokenId::try_from(id).unwrap_or(TokenId::MAX);
            merges.push(Pair::new(id(left), id(right)));
            usable.push(tokens.len());
            tokens.push(token);
        }
    }
    merges
}

/// Tokens that their own bytes do not merge to are not made again.
#[test]
fn random_initial_merges_equal_the_definition() {
    let skipped = AtomicUsize::new(0);
    let wrong = on_all_cores(2000, |seed| {
        let mut random = Random::new(seed);
        let words: Words = (0..random.within(1..20))
            .map(|_| (random.bytes(b"abc", 12), 1 + random.number() % 3))
            .collect();
        let mut options = random_options(&mut random);
        options.min_frequency = 0;
        random.shuffle(&mut options.initial.bytes);
        options.initial.merges = any_merges(&mut random, options.initial.bytes, b"abc");
        let expected = reference::train(&borrowed(&words), 40, &options);
        let found = trained(&words, 40, &options);
        if found.as_ref().ok() != expected.as_ref() {
            return Some(format!(
                "{words:?}\n{options:?}: {found:?}, expected {expected:?}"
            ));
        }
        let (tokens, pieces) = apply(&words, &options.initial, &found.unwrap_or_default().pairs);
        let distinct: HashSet<&Vec<u8>> = tokens.iter().collect();
        let made_again = |pair: &[TokenId]| {
            let token = pair.iter().flat_map(|&id| &tokens[id as usize]);
            distinct.contains(&token.copied().collect::<Vec<u8>>())
        };
        let again = pieces.iter().any(|piece| piece.windows(2).any(made_again));
        skipped.fetch_add(usize::from(again), Ordering::Relaxed);
        (distinct.len() < tokens.len()).then(|| format!("{words:?}: two of {tokens:?} are equal"))
    });
    assert_eq!(wrong.first(), None);
    assert!(skipped.into_inner() > 20);
}

#[test]
fn random_corpora_equal_the_definition() {
    let wrong = on_all_cores(4000, |seed| {
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
            options.initial.merges = reference::train(&borrowed(&before), random.below(10), &start)
                .unwrap_or_default()
                .pairs;
        }
        let expected = reference::train(&borrowed(&words), merges, &options);
        let found = trained(&words, merges, &options);
        if found.as_ref().ok() != expected.as_ref() {
            return Some(format!(
                "{words:?}\n{options:?}: {found:?}, expected {expected:?}"
            ));
        }
        let fault = fault(&words, &options.initial, &found.unwrap_or_default().pairs)?;
        Some(format!("{words:?}\n{options:?}: {fault}"))
    });
    assert_eq!(wrong.first(), None);
}

/// With frequent pairs, so that several threads share their occurrences.
#[test]
fn threads_change_nothing() -> TestResult {
    let mut random = Random::new(3);
    let mut words: Words = (0..30_000)
        .map(|number| {
            let length = random.within(1..60);
            (random.bytes(b"abc", length), 1 + number % 5)
        })
        .collect();
    // A long piece, so that the corpus cannot be divided near the middle.
    words.insert(15_000, (random.bytes(b"abc", MEGABYTE), 7));
    let mut counts = PieceCounts::new();
    counts.add_pieces(borrowed(&words).into_iter())?;
    for tie_break in TieBreak::ALL {
        let [one, two, seven] = [1, 2, 7].map(|threads| {
            let options = Options {
                tie_break,
                threads,
                ..Options::default()
            };
            learning::learn_merges(&mut counts, 500, &options, &mut |_| Ok(()))
        });
        let one = one?;
        assert_eq!(one.len(), 500);
        assert_eq!(two?, one, "{} on two threads", tie_break.name());
        assert_eq!(seven?, one, "{} on seven threads", tie_break.name());
    }
    Ok(())
}

/// A repeated byte: `aaaa` holds `aa` three times, and becomes two tokens.
#[test]
fn repeats_are_merged_in_halves() -> TestResult {
    for tie_break in TieBreak::ALL {
        let options = Options {
            tie_break,
            ..Options::default()
        };
        let words = vec![(vec![b'a'; 1 << 20], 3)];
        let learned = trained(&words, 100, &options)?;
        let first = Pair::new(97, 97);
        let halves = (256..275).map(|token| Pair::new(token, token));
        let expected: Vec<Pair> = std::iter::once(first).chain(halves).collect();
        assert_eq!(learned.pairs, expected, "{}", tie_break.name());
        let counts: Vec<u64> = (0..20).map(|merge| 3 * ((1 << (20 - merge)) - 1)).collect();
        assert_eq!(learned.counts, counts, "{}", tie_break.name());
    }
    Ok(())
}

/// The number of checkpoints follows the number of occurrences visited, which is linear in the length of a
/// piece.
#[test]
fn work_on_long_pieces_is_linear() -> TestResult {
    for (kind, text) in MONOTONOUS {
        let asked = |length: usize| -> Result<usize, TrainError> {
            let mut counts = PieceCounts::new();
            counts.add_pieces([(text(length).as_bytes(), 1)].into_iter())?;
            let patience = Patience::new(usize::MAX);
            let options = Options::default();
            patience
                .during(|| learning::learn_merges(&mut counts, 200, &options, &mut |_| Ok(())))?;
            Ok(patience.asked())
        };
        let (small, large) = (asked(MEGABYTE)?, asked(4 * MEGABYTE)?);
        assert!(
            large <= 6 * small.max(2),
            "{kind}: {small} checkpoints, then {large}"
        );
    }
    Ok(())
}

#[test]
fn training_can_be_interrupted() -> TestResult {
    let mut random = Random::new(1);
    let words: Words = (0..20_000)
        .map(|_| (random.bytes(b"abcdefghijklmnopqrstuvwxyz", 12), 1))
        .collect();
    let mut counts = PieceCounts::new();
    counts.add_pieces(borrowed(&words).into_iter())?;
    let mut train = |patience: usize| {
        let patience = Patience::new(patience);
        let options = Options::default();
        let train = || learning::learn_merges(&mut counts, 9000, &options, &mut |_| Ok(()));
        let result = patience.during(train);
        (result, patience.asked())
    };
    let (result, asked) = train(usize::MAX);
    assert_eq!(result?.len(), 9000);
    assert!(asked >= 10, "{asked} checkpoints");
    for patience in 0..asked {
        let (result, asked) = train(patience);
        assert!(matches!(result, Err(TrainError::Interrupted)));
        assert_eq!(asked, patience + 1);
    }
    // Also by the progress callback.
    let options = Options::default();
    let mut reported = Vec::new();
    let result = learning::learn_merges(&mut counts, 9000, &options, &mut |done| {
        reported.push(done);
        if done > 4000 {
            Err(bytemill::checkpoint::Interrupted)
        } else {
            Ok(())
        }
    });
    assert!(matches!(result, Err(TrainError::Interrupted)));
    assert!(reported.is_sorted() && reported.len() > 2, "{reported:?}");
    Ok(())
}

#[test]
fn there_may_be_little_or_nothing_to_learn() -> TestResult {
    let options = Options::default();
    let nothing: [Words; 4] = [
        vec![],
        vec![(vec![], 7)],
        vec![(b"a".to_vec(), u64::MAX)],
        vec![(b"ab".to_vec(), 0)],
    ];
    for words in nothing {
        assert_eq!(trained(&words, 10, &options)?.pairs, [], "{words:?}");
    }
    let one = vec![(vec![0, 0xFF], 1)];
    assert_eq!(trained(&one, 10, &options)?.pairs, [Pair::new(0, 255)]);
    assert_eq!(trained(&one, 0, &options)?.pairs, []);
    let rare = Options {
        min_frequency: 2,
        ..options
    };
    assert_eq!(trained(&one, 10, &rare)?.pairs, []);
    Ok(())
}

/// Counts beyond 32 bits, up to the greatest that is exact, and one more.
#[test]
fn large_counts_are_exact_or_refused() -> TestResult {
    let options = Options::default();
    let words = vec![(b"ab".to_vec(), (1 << 32) + 1), (b"cd".to_vec(), 1 << 32)];
    assert_eq!(trained(&words, 1, &options)?.pairs, [Pair::new(97, 98)]);
    let words = vec![(b"ab".to_vec(), u64::MAX / 2 - 1), (b"ca".to_vec(), 1)];
    assert_eq!(trained(&words, 1, &options)?.pairs, [Pair::new(97, 98)]);
    let too_many = trained(&vec![(b"abc".to_vec(), u64::MAX / 2)], 1, &options);
    assert!(matches!(too_many, Err(TrainError::TooManyOccurrences)));

    let mut counts = PieceCounts::new();
    counts.add_pieces([(b"a".as_slice(), u64::MAX)].into_iter())?;
    let before = counts.columns()?;
    let more = counts.add_pieces([(b"b".as_slice(), 1)].into_iter());
    assert!(matches!(more, Err(TrainError::TooManyOccurrences)));
    let more = counts.merge(&counts.clone());
    assert!(matches!(more, Err(TrainError::TooManyOccurrences)));
    assert_eq!(counts.columns()?, before);
    assert_eq!(counts.total(), u64::MAX);
    Ok(())
}

#[test]
fn initial_vocabularies_are_checked() {
    let words = vec![(b"ab".to_vec(), 1)];
    let with = |initial: Initial| {
        let options = Options {
            initial,
            ..Options::default()
        };
        trained(&words, 1, &options)
    };
    let mut initial = Initial::default();
    initial.bytes[97] = 98;
    assert!(matches!(with(initial), Err(TrainError::MissingByte(97))));
    for merges in [
        vec![Pair::new(97, 256)],
        vec![Pair::new(97, 98), Pair::new(97, 98)],
    ] {
        let initial = Initial {
            merges,
            ..Initial::default()
        };
        assert!(matches!(with(initial), Err(TrainError::Initial(_))));
    }
}

#[test]
fn tie_rules_have_names() {
    for rule in TieBreak::ALL {
        assert_eq!(TieBreak::from_name(rule.name()), Some(rule));
    }
    assert_eq!(TieBreak::from_name("random"), None);
}
