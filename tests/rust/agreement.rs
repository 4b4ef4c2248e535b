//! All engines against each other and the definition, on vocabularies and pieces drawn at random.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::error::Error;

use bytemill::builtin::Builtin;
use bytemill::merge;
use bytemill::merge::agreement::merges_of;
use bytemill::reference;
use bytemill::token::{NO_TOKEN, Pair, TokenId};
use bytemill::train::{self, Options};
use bytemill::vocabulary::Vocabulary;

use crate::support::{
    Random, TestResult, byte_merges, bytes_by_value, on_all_cores, ranks_with_bytes,
};

pub(crate) type Ranks = Vec<(Vec<u8>, TokenId)>;

pub(crate) const ALPHABETS: [&[u8]; 7] = [
    b"a",
    b"ab",
    b"abc",
    b"abcdefgh",
    "éè中".as_bytes(),
    "一丁並亀a".as_bytes(),
    &[0, 1, 0x80, 0xFF],
];

fn merged_short(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<TokenId> {
    let mut ids = Vec::new();
    let done = merge::short::merge(byte_merges(vocabulary), piece, &mut ids);
    let fits = vocabulary.highest_id() <= merge::short::HIGHEST_RANK;
    assert_eq!(done, fits && piece.len() <= merge::short::LONGEST);
    if done { ids } else { queued(vocabulary, piece) }
}

fn queued(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<TokenId> {
    let mut ids = Vec::new();
    match merge::queue::merge(byte_merges(vocabulary), piece, &mut ids) {
        Ok(()) => ids,
        Err(error) => panic!("{error}"),
    }
}

fn encoded(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<TokenId> {
    let mut ids = Vec::new();
    match merge::encode_piece(vocabulary, piece, &mut ids) {
        Ok(()) => ids,
        Err(error) => panic!("{error}"),
    }
}

/// Asserts that all engines give the ids of the definition.
fn assert_agreement(vocabulary: &Vocabulary, piece: &[u8]) {
    let expected = reference::encode_piece(vocabulary, piece);
    assert_eq!(encoded(vocabulary, piece), expected, "{piece:?}");
    let merged_short = merged_short(vocabulary, piece);
    assert_eq!(queued(vocabulary, piece), merged_short, "{piece:?}");
    if vocabulary.token(piece).is_none() {
        assert_eq!(merged_short, expected, "{piece:?}");
    }
}

/// Returns the bytes of each token of `merges`, the i-th of which yields token 256 + i.
pub(crate) fn ranks_of(merges: &[Pair]) -> Ranks {
    let mut ranks = ranks_with_bytes();
    for (id, pair) in (256..).zip(merges) {
        let parts = [pair.left, pair.right].map(|part| ranks[part as usize].0.clone());
        ranks.push((parts.concat(), id));
    }
    ranks
}

/// Returns merges trained on random words.
pub(crate) fn trained(random: &mut Random) -> Vec<Pair> {
    let alphabet = *random.pick(&ALPHABETS);
    let words: Vec<(Vec<u8>, u64)> = (0..random.within(1..30))
        .map(|_| {
            let length = random.below(24);
            let weight = 1 << random.below(20);
            (random.bytes(alphabet, length), weight)
        })
        .collect();
    let words: Vec<(&[u8], u64)> = words
        .iter()
        .map(|(word, count)| (word.as_slice(), *count))
        .collect();
    train::reference::train(&words, random.below(60), &Options::default())
        .unwrap_or_default()
        .pairs
}

/// Returns byte tokens in random order, as published vocabularies have them.
fn shuffled_bytes(random: &mut Random) -> [TokenId; 256] {
    let mut ids = bytes_by_value();
    random.shuffle(&mut ids);
    ids
}

/// Any legal rank table: tokens that nothing merges into, ranks in no relation to lengths, holes, byte tokens
/// that rank last, a token's parts that rank above it.
pub(crate) fn arbitrary(random: &mut Random, alphabet: &[u8]) -> Ranks {
    let mut tokens: BTreeSet<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    for _ in 0..random.below(40) {
        let length = random.within(2..9);
        tokens.insert(random.bytes(alphabet, length));
    }
    let mut ids = BTreeSet::new();
    if random.below(4) == 0 {
        ids.insert(NO_TOKEN - 1);
    }
    while ids.len() < tokens.len() {
        let id = random.below(2 * tokens.len());
        ids.insert(TokenId::try_from(id).unwrap_or(0));
    }
    let mut ids: Vec<TokenId> = ids.into_iter().collect();
    random.shuffle(&mut ids);
    tokens.into_iter().zip(ids).collect()
}

/// Runs `test` with many seeds on all cores.
pub(crate) fn for_seeds(count: usize, test: impl Fn(Random) -> TestResult + Sync) {
    let failures = on_all_cores(count, |seed| {
        let outcome = test(Random::new(seed));
        outcome.err().map(|error| format!("seed {seed}: {error}"))
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn trained_vocabularies() {
    for_seeds(150, |mut random| {
        let merges = trained(&mut random);
        let from_ranks = Vocabulary::from_ranks(ranks_of(&merges))?;
        let bytes = bytes_by_value();
        let made: Vec<(TokenId, Pair)> = (256..).zip(merges).collect();
        let from_merges = Vocabulary::from_merges(&bytes, made.clone().into_iter())?;
        assert_eq!(merges_of(&from_ranks)?, made);
        assert_eq!(merges_of(&from_merges)?, made);
        for alphabet in ALPHABETS {
            for _ in 0..10 {
                let length = random.below(100);
                let piece = random.bytes(alphabet, length);
                assert_agreement(&from_ranks, &piece);
                assert_agreement(&from_merges, &piece);
                assert_eq!(encoded(&from_merges, &piece), encoded(&from_ranks, &piece));
            }
        }
        Ok(())
    });
}

#[test]
fn byte_tokens_in_any_order() {
    for_seeds(100, |mut random| {
        let merges = trained(&mut random);
        let bytes = shuffled_bytes(&mut random);
        let renamed = |part: TokenId| bytes.get(part as usize).copied().unwrap_or(part);
        let made: Vec<(TokenId, Pair)> = (256..)
            .zip(&merges)
            .map(|(id, pair)| (id, Pair::new(renamed(pair.left), renamed(pair.right))))
            .collect();
        let from_merges = Vocabulary::from_merges(&bytes, made.clone().into_iter())?;
        let mut ranks = ranks_of(&merges);
        for (_, id) in &mut ranks[..256] {
            *id = renamed(*id);
        }
        let from_ranks = Vocabulary::from_ranks(ranks)?;
        assert_eq!(merges_of(&from_ranks)?, made);
        for alphabet in ALPHABETS {
            let piece = random.bytes(alphabet, 80);
            assert_agreement(&from_merges, &piece);
            assert_eq!(encoded(&from_merges, &piece), encoded(&from_ranks, &piece));
        }
        Ok(())
    });
}

#[test]
fn arbitrary_rank_tables() {
    for_seeds(1500, |mut random| {
        let alphabet = *random.pick(&ALPHABETS);
        let ranks = arbitrary(&mut random, alphabet);
        let vocabulary = Vocabulary::from_ranks(ranks.clone())?;
        for _ in 0..20 {
            let length = random.below(70);
            assert_agreement(&vocabulary, &random.bytes(alphabet, length));
        }
        for (token, id) in &ranks {
            assert_eq!(encoded(&vocabulary, token), [*id]);
            assert_eq!(vocabulary.bytes(*id), Some(token.as_slice()));
            assert_eq!(vocabulary.token(token), Some(*id));
        }
        Ok(())
    });
}

/// Without its whole-piece rule, a token results from the merges if the others leave exactly two parts of it.
#[test]
fn merges_of_tokens_without_the_whole_piece_rule() {
    for_seeds(100, |mut random| {
        let ranks = arbitrary(&mut random, b"ab");
        let vocabulary = Vocabulary::from_ranks(ranks.clone())?;
        for (token, id) in ranks.iter().filter(|(token, _)| token.len() > 1) {
            let mut others = ranks.clone();
            others.retain(|(_, other)| other != id);
            let parts = reference::encode_piece(&Vocabulary::from_ranks(others)?, token);
            let expected = if parts.len() == 2 { vec![*id] } else { parts };
            assert_eq!(merged_short(&vocabulary, token), expected);
            assert_eq!(queued(&vocabulary, token), expected);
        }
        Ok(())
    });
}

/// Returns the canonical parts of a token by the definition: encoded with byte tokens and the tokens of lower
/// rank.
#[test]
fn merges_are_what_lower_ranks_leave() {
    for_seeds(200, |mut random| {
        let ranks = if random.below(3) == 0 {
            ranks_of(&trained(&mut random))
        } else {
            arbitrary(&mut random, b"ab")
        };
        let mut expected = Vec::new();
        let mut sorted = ranks.clone();
        sorted.sort_unstable_by_key(|(_, id)| *id);
        for (token, id) in sorted.iter().filter(|(token, _)| token.len() > 1) {
            let lower = ranks
                .iter()
                .filter(|(other, rank)| rank < id || other.len() == 1);
            let lower = Vocabulary::from_ranks(lower.cloned().collect())?;
            expected.push((*id, reference::encode_piece(&lower, token)));
        }
        let expected: Option<Vec<(TokenId, Pair)>> = expected
            .into_iter()
            .map(|(id, parts)| match parts[..] {
                [left, right] => Some((id, Pair::new(left, right))),
                _ => None,
            })
            .collect();
        assert_eq!(merges_of(&Vocabulary::from_ranks(ranks)?).ok(), expected);
        Ok(())
    });
}

/// Merge lists that no training would yield: both engines still agree.
#[test]
fn arbitrary_merge_lists() {
    for_seeds(400, |mut random| {
        let alphabet = *random.pick(&ALPHABETS);
        let mut ranks = ranks_with_bytes();
        let mut made = Vec::new();
        let mut known: HashSet<Vec<u8>> = HashSet::new();
        for _ in 0..random.below(80) {
            let mut part = || match random.below(ranks.len() - 240) {
                old if old < 16 => usize::from(*random.pick(alphabet)),
                new => new + 240,
            };
            let (left, right) = (part(), part());
            let token = [ranks[left].0.clone(), ranks[right].0.clone()].concat();
            if token.len() > 60 || !known.insert(token.clone()) {
                continue;
            }
            let id = TokenId::try_from(ranks.len())?;
            ranks.push((token, id));
            let part = |index: usize| ranks[index].1;
            made.push((id, Pair::new(part(left), part(right))));
        }
        let bytes = bytes_by_value();
        let vocabulary = Vocabulary::from_merges(&bytes, made.into_iter())?;
        for _ in 0..20 {
            let length = random.below(120);
            let piece = random.bytes(alphabet, length);
            let ids = merged_short(&vocabulary, &piece);
            assert_eq!(queued(&vocabulary, &piece), ids, "{piece:?}");
            assert_eq!(spelled(&vocabulary, &ids)?, piece);
        }
        Ok(())
    });
}

/// Characters of three bytes that share theirs, and bytes of them alone.
const CHARACTERS: [&[u8]; 4] = [
    &[0xE4, 0xB8, 0x80, 0x81],
    &[0xE4, 0xE5, 0xB8, 0xB9],
    &[0xE4, 0xB8, b'a'],
    &[0xE4, 0xE4, 0xE5, 0x80, 0xB8, 0xBA, b'a'],
];

/// Mostly whole characters of the bytes in an alphabet of [`CHARACTERS`], sometimes any of these.
fn characters(random: &mut Random, alphabet: &[u8], length: usize) -> Vec<u8> {
    let (leads, others): (Vec<u8>, Vec<u8>) = alphabet.iter().partition(|&&byte| byte >= 0xE0);
    let mut bytes = Vec::new();
    while bytes.len() < length {
        if random.below(4) == 0 {
            bytes.push(*random.pick(alphabet));
        } else {
            bytes.push(*random.pick(&leads));
            bytes.extend([*random.pick(&others), *random.pick(&others)]);
        }
    }
    bytes.truncate(length);
    bytes
}

/// Tokens made of earlier tokens, so that forced merges of pairs and characters are made first: many of two
/// and three bytes, ranks with holes, sometimes all ways to make a token, sometimes one.
fn made_in_order(random: &mut Random, alphabet: &[u8]) -> (Ranks, Vec<(TokenId, Pair)>) {
    let mut ranks = ranks_with_bytes();
    let mut made = Vec::new();
    let mut known: HashSet<Vec<u8>> = HashSet::new();
    let mut id = 256;
    let longest = random.within(3..9);
    for _ in 0..random.within(2..40) {
        let part = |random: &mut Random| match random.below(ranks.len() - 240) {
            old if old < 16 => usize::from(*random.pick(alphabet)),
            new => new + 240,
        };
        let (left, right) = (part(random), part(random));
        let token = [ranks[left].0.clone(), ranks[right].0.clone()].concat();
        if token.len() <= longest && known.insert(token.clone()) {
            made.push((id, Pair::new(ranks[left].1, ranks[right].1)));
            ranks.push((token, id));
            id += TokenId::try_from(random.within(1..3)).unwrap_or(1);
        }
    }
    (ranks, made)
}

/// Any tokens, also some that nothing merges into, in any order in which the parts of a token rank below it.
fn parts_first(random: &mut Random, alphabet: &[u8]) -> Ranks {
    let mut tokens: BTreeSet<(usize, Vec<u8>)> = BTreeSet::new();
    for _ in 0..random.below(50) {
        let length = *random.pick(&[2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 6, 7]);
        let mut token = characters(random, alphabet, length + 2);
        token.drain(..random.below(3));
        token.truncate(length);
        tokens.insert((token.len(), token));
    }
    let mut turns: HashMap<Vec<u8>, usize> = (0..=255).map(|byte| (vec![byte], 0)).collect();
    for (length, token) in &tokens {
        let parts = (1..*length).filter_map(|cut| {
            let (left, right) = token.split_at(cut);
            Some(turns.get(left)?.max(turns.get(right)?) + 1)
        });
        let turn = parts.max().unwrap_or(0).max(random.below(100));
        turns.insert(token.clone(), turn);
    }
    let mut tokens: Vec<Vec<u8>> = tokens.into_iter().map(|(_, token)| token).collect();
    random.shuffle(&mut tokens);
    tokens.sort_by_key(|token| turns[token]);
    let mut ranks = ranks_with_bytes();
    ranks.extend(tokens.into_iter().zip(256..));
    ranks
}

#[test]
fn characters_of_three_bytes() {
    for_seeds(1500, |mut random| {
        let alphabet = *random.pick(&CHARACTERS);
        let (mut ranks, made) = made_in_order(&mut random, alphabet);
        let from_merges = Vocabulary::from_merges(&bytes_by_value(), made.into_iter())?;
        if random.below(4) == 0 {
            // In another order: parts may rank above the tokens made of them.
            let split = random.within(256..ranks.len() + 1);
            let mut ids: Vec<TokenId> = ranks[split..].iter().map(|(_, id)| *id).collect();
            random.shuffle(&mut ids);
            for ((_, id), other) in ranks[split..].iter_mut().zip(ids) {
                *id = other;
            }
        }
        let from_ranks = Vocabulary::from_ranks(ranks)?;
        let of_any = Vocabulary::from_ranks(parts_first(&mut random, alphabet))?;
        for _ in 0..20 {
            let length = random.below(24);
            let piece = characters(&mut random, alphabet, length);
            assert_agreement(&from_ranks, &piece);
            assert_agreement(&of_any, &piece);
            let merged = merged_short(&from_merges, &piece);
            assert_eq!(queued(&from_merges, &piece), merged, "{piece:?}");
        }
        Ok(())
    });
}

fn spelled(vocabulary: &Vocabulary, ids: &[TokenId]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut bytes = Vec::new();
    for &id in ids {
        bytes.extend_from_slice(vocabulary.bytes(id).ok_or("an id that is no token")?);
    }
    Ok(bytes)
}

#[test]
fn long_pieces() {
    for_seeds(150, |mut random| {
        let alphabet = *random.pick(&ALPHABETS);
        let ranks = match random.below(2) {
            0 => ranks_of(&trained(&mut random)),
            _ => arbitrary(&mut random, alphabet),
        };
        let vocabulary = Vocabulary::from_ranks(ranks)?;
        let length = random.within(1..5000);
        let piece = random.bytes(alphabet, length);
        let ids = queued(&vocabulary, &piece);
        assert_eq!(merged_short(&vocabulary, &piece), ids);
        assert_eq!(spelled(&vocabulary, &ids)?, piece);
        if length < 600 {
            assert_agreement(&vocabulary, &piece);
        }
        Ok(())
    });
}

/// Ids are appended: earlier contents of the output stay.
#[test]
fn engines_append() -> TestResult {
    let vocabulary =
        Vocabulary::from_ranks([ranks_with_bytes(), vec![(b"ab".to_vec(), 256)]].concat())?;
    for length in [0, 1, 2, 3, 63, 64, 65, 200] {
        let piece = b"ab".repeat(length);
        let expected = [vec![7, 256], vec![256; length]].concat();
        let mut ids = vec![7, 256];
        let done = merge::short::merge(byte_merges(&vocabulary), &piece, &mut ids);
        assert_eq!(ids, if done { expected.clone() } else { vec![7, 256] });
        ids.truncate(2);
        merge::queue::merge(byte_merges(&vocabulary), &piece, &mut ids)?;
        assert_eq!(ids, expected);
        ids.truncate(2);
        merge::encode_piece(&vocabulary, &piece, &mut ids)?;
        assert_eq!(ids, expected);
    }
    Ok(())
}

/// Returns a span of difficult text, cut anywhere, even inside characters; sometimes random bytes.
pub(crate) fn hard_bytes(random: &mut Random, length: usize) -> Vec<u8> {
    if random.below(8) == 0 {
        let every: Vec<u8> = (0..=255).collect();
        return random.bytes(&every, length);
    }
    let mut bytes = random.text(length / 2 + 8).into_bytes();
    let start = random.below(bytes.len().saturating_sub(length).max(1));
    bytes.drain(..start);
    bytes.truncate(length);
    bytes
}

#[test]
fn builtin_vocabularies_on_hard_text() -> TestResult {
    for builtin in Builtin::ALL {
        let vocabulary = builtin.vocabulary()?;
        for_seeds(24, |mut random| {
            for _ in 0..60 {
                let length = random.below(120);
                assert_agreement(&vocabulary, &hard_bytes(&mut random, length));
            }
            let length = random.below(600);
            assert_agreement(&vocabulary, &hard_bytes(&mut random, length));
            Ok(())
        });
    }
    Ok(())
}

/// The merges that the tables hold, the merges that the ranks imply, and all splits of all tokens: the same
/// ids.
#[test]
fn builtin_vocabularies_built_in_three_ways() -> TestResult {
    for builtin in Builtin::ALL {
        let vocabulary = builtin.vocabulary()?;
        let bytes =
            std::array::from_fn(|byte| byte_merges(&vocabulary).byte_token(byte.to_le_bytes()[0]));
        let merges = merges_of(&vocabulary)?;
        assert_eq!(merges.len(), vocabulary.len() - 256);
        for (id, pair) in &merges {
            assert_eq!(byte_merges(&vocabulary).merged(pair.left, pair.right), *id);
        }
        let again = Vocabulary::from_merges(&bytes, merges.into_iter())?;
        let ranks: Ranks = vocabulary
            .ids()
            .filter_map(|id| Some((vocabulary.bytes(id)?.to_vec(), id)))
            .collect();
        assert_eq!(ranks.len(), vocabulary.len());
        let from_ranks = Vocabulary::from_ranks(ranks.clone())?;
        for (token, id) in &ranks {
            assert_eq!(again.bytes(*id), Some(token.as_slice()));
            // Each token is reached by its own merges.
            assert_eq!(merged_short(&vocabulary, token), [*id]);
            assert_eq!(merged_short(&from_ranks, token), [*id]);
        }
        for_seeds(40, |mut random| {
            for _ in 0..30 {
                let length = random.below(300);
                let piece = hard_bytes(&mut random, length);
                let expected = encoded(&from_ranks, &piece);
                assert_eq!(encoded(&vocabulary, &piece), expected);
                assert_eq!(encoded(&again, &piece), expected);
            }
            // Pairs of adjacent tokens cover every border between tokens.
            for _ in 0..200 {
                let mut token = || ranks[random.below(ranks.len())].0.clone();
                let piece = [token(), token(), token()].concat();
                let expected = encoded(&from_ranks, &piece);
                assert_eq!(encoded(&vocabulary, &piece), expected);
            }
            Ok(())
        });
    }
    Ok(())
}
