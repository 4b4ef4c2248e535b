//! Long pieces: the queue and the windows against the definition and a textbook heap, at every window edge.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashSet};

use bytemill::builtin::Builtin;
use bytemill::merge::{long, queue};
use bytemill::reference;
use bytemill::token::{NO_TOKEN, TokenId};
use bytemill::vocabulary::Vocabulary;

use crate::agreement::{ALPHABETS, arbitrary, for_seeds, hard_bytes, ranks_of, trained};
use crate::support::{MEGABYTE, MONOTONOUS, TestResult, byte_merges, ranks_with_bytes};

fn queued(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<TokenId> {
    let mut ids = Vec::new();
    match queue::merge(byte_merges(vocabulary), piece, &mut ids) {
        Ok(()) => ids,
        Err(error) => panic!("{error}"),
    }
}

fn windowed(vocabulary: &Vocabulary, piece: &[u8], length: usize) -> Vec<TokenId> {
    // Ids are appended: earlier contents stay, even when a window is merged again.
    let mut ids = vec![7, 8, 9];
    match long::merge(byte_merges(vocabulary), piece, length, &mut ids) {
        Ok(()) => {
            assert_eq!(ids.drain(..3).as_slice(), [7, 8, 9]);
            ids
        }
        Err(error) => panic!("{error}"),
    }
}

/// Merges by one heap and one list of symbols.
fn by_heap(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<TokenId> {
    let mut symbols: Vec<Option<TokenId>> = piece
        .iter()
        .map(|&byte| Some(byte_merges(vocabulary).byte_token(byte)))
        .collect();
    let mut next: Vec<usize> = (1..=symbols.len()).collect();
    let mut previous: Vec<usize> = (0..symbols.len())
        .map(|index| index.wrapping_sub(1))
        .collect();
    let pair = |symbols: &[Option<TokenId>], next: &[usize], index: usize| {
        let left = symbols.get(index).copied().flatten()?;
        let right = symbols.get(next[index]).copied().flatten()?;
        Some(byte_merges(vocabulary).merged(left, right)).filter(|&rank| rank != NO_TOKEN)
    };
    let mut heap: BinaryHeap<_> = (0..symbols.len())
        .filter_map(|index| Some(Reverse((pair(&symbols, &next, index)?, index))))
        .collect();
    while let Some(Reverse((rank, index))) = heap.pop() {
        if pair(&symbols, &next, index) != Some(rank) {
            continue;
        }
        let gone = next[index];
        symbols[index] = Some(rank);
        symbols[gone] = None;
        next[index] = next[gone];
        if let Some(before) = previous.get_mut(next[gone]) {
            *before = index;
        }
        for index in [previous[index], index] {
            heap.extend(pair(&symbols, &next, index).map(|rank| Reverse((rank, index))));
        }
    }
    symbols.into_iter().flatten().collect()
}

/// Merges without the whole-piece rule, as the engines here do; the definition encodes a piece that is a
/// token as that.
fn assert_exact(vocabulary: &Vocabulary, piece: &[u8], lengths: impl IntoIterator<Item = usize>) {
    let expected = by_heap(vocabulary, piece);
    if piece.len() < 700 && vocabulary.token(piece).is_none() {
        assert_eq!(
            reference::encode_piece(vocabulary, piece),
            expected,
            "{piece:?}"
        );
    }
    assert_eq!(queued(vocabulary, piece), expected, "{piece:?}");
    for length in lengths {
        let found = windowed(vocabulary, piece, length);
        assert!(
            found == expected,
            "windows of {length}: {found:?} of {piece:?}"
        );
    }
}

#[test]
fn windows_of_every_length_with_any_vocabulary() {
    for_seeds(600, |mut random| {
        let alphabet = *random.pick(&ALPHABETS);
        let ranks = match random.below(3) {
            0 => ranks_of(&trained(&mut random)),
            _ => arbitrary(&mut random, alphabet),
        };
        let vocabulary = Vocabulary::from_ranks(ranks)?;
        for _ in 0..8 {
            let length = random.below(200);
            let piece = random.bytes(alphabet, length);
            assert_exact(&vocabulary, &piece, (0..24).chain([64, 100]));
        }
        let length = random.within(600..5000);
        let piece = random.bytes(alphabet, length);
        assert_exact(&vocabulary, &piece, [1, 7, 32, 60, 256, long::WINDOW_LEN]);
        Ok(())
    });
}

/// Tokens as long as windows and longer, and tokens that depend on the end of the text: most windows are too
/// short.
#[test]
fn windows_that_seldom_agree() -> TestResult {
    for length in [10, 100, 1000, 10_000] {
        let mut ranks = ranks_with_bytes();
        let runs = (1..14).map(|power| vec![b'a'; 1 << power]);
        ranks.extend(runs.zip(256..));
        // The longer run merges first where it can.
        ranks.extend((2..14).rev().map(|power| vec![b'b'; power]).zip(300..));
        let vocabulary = Vocabulary::from_ranks(ranks)?;
        for piece in [
            vec![b'a'; length],
            vec![b'b'; length],
            [vec![b'b'; length], vec![b'a'; length], vec![b'b'; length]].concat(),
        ] {
            assert_exact(&vocabulary, &piece, [1, 2, 16, 100]);
        }
    }
    Ok(())
}

#[test]
fn edges_of_windows_with_the_published_vocabularies() -> TestResult {
    for builtin in Builtin::ALL {
        let vocabulary = builtin.vocabulary()?;
        let ids: Vec<TokenId> = vocabulary.ids().collect();
        for (_, text) in MONOTONOUS {
            for windows in [1, 2, 3] {
                let edge = windows * long::WINDOW_LEN;
                for length in [edge - 1, edge, edge + 1, edge + 129] {
                    let text = text(length);
                    assert_exact(&vocabulary, text.as_bytes(), [64, long::WINDOW_LEN]);
                }
            }
        }
        for_seeds(24, |mut random| {
            let length = random.within(1..20_000);
            let piece = hard_bytes(&mut random, length);
            assert_exact(&vocabulary, &piece, [1, 50, 256, long::WINDOW_LEN]);
            let mut piece = Vec::new();
            while piece.len() < length {
                let id = *random.pick(&ids);
                piece.extend_from_slice(vocabulary.bytes(id).unwrap_or_default());
            }
            assert_exact(&vocabulary, &piece, [1, 50, 256, long::WINDOW_LEN]);
            Ok(())
        });
    }
    Ok(())
}

#[test]
fn half_a_megabyte_with_published_vocabularies() -> TestResult {
    for builtin in [Builtin::R50k, Builtin::O200k] {
        let vocabulary = builtin.vocabulary()?;
        for (kind, text) in MONOTONOUS {
            let text = text(MEGABYTE / 2);
            let expected = by_heap(&vocabulary, text.as_bytes());
            let found = windowed(&vocabulary, text.as_bytes(), long::WINDOW_LEN);
            assert!(found == expected, "{kind}");
            // Only the queue has buckets here that are too large to sort.
            let found = queued(&vocabulary, text.as_bytes());
            assert!(found == expected, "{kind}");
        }
    }
    Ok(())
}

/// Ranks that rise, fall and jump through all magnitudes, so that entries are early, late and in every
/// bucket.
#[test]
fn ranks_of_all_sizes() {
    for_seeds(300, |mut random| {
        let mut ranks = ranks_with_bytes();
        for (index, (_, id)) in ranks.iter_mut().enumerate() {
            *id = NO_TOKEN - 1 - TokenId::try_from(index)?;
        }
        let mut used = BTreeSet::new();
        let mut known = HashSet::new();
        for _ in 0..random.within(1..60) {
            let length = random.within(2..7);
            let token = random.bytes(b"abc", length);
            let id = TokenId::try_from(random.number() >> random.within(33..64))?;
            if id < NO_TOKEN - 256 && used.insert(id) && known.insert(token.clone()) {
                ranks.push((token, id));
            }
        }
        let vocabulary = Vocabulary::from_ranks(ranks)?;
        let length = random.within(1..3000);
        let piece = random.bytes(b"abc", length);
        assert_exact(&vocabulary, &piece, [1, 20, 500]);
        Ok(())
    });
}
