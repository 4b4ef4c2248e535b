//! Hostile pieces, constructed to collide in each part of the cache: they get their ids, and cost at most a
//! constant factor more than others.

use std::collections::HashSet;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::key::{Key, ROTATION};
use super::{MAX_PIECE_LEN, PieceCache, long};
use crate::builtin::Builtin;
use crate::encode::Encoder;
use crate::encode::special::SpecialTokens;
use crate::reference;
use crate::split::Splitter;
use crate::util::hash::GOLDEN_RATIO;

const PIECES: usize = 3_000;

/// Pseudo-random visible ASCII.
struct Visible(u64);

impl Visible {
    fn byte(&mut self) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let [.., byte, _, _] = self.0.to_le_bytes();
        b'!' + byte % 94
    }

    fn number(&mut self) -> u64 {
        u64::from_le_bytes([(); 8].map(|()| self.byte()))
    }

    fn piece(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.byte()).collect()
    }
}

fn is_visible(number: u64) -> bool {
    number
        .to_le_bytes()
        .iter()
        .all(|byte| (b'!'..=b'~').contains(byte))
}

fn joined(numbers: &[u64]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

/// Pieces of 16 bytes with the same hash: the second half cancels the difference of the first.
fn colliding_of_two_words(visible: &mut Visible) -> Vec<Vec<u8>> {
    let wanted = visible.number() ^ visible.number().rotate_left(ROTATION.cast_unsigned());
    let pieces = std::iter::repeat_with(|| {
        let first = visible.number();
        (
            first,
            (first ^ wanted).rotate_right(ROTATION.cast_unsigned()),
        )
    });
    let pieces = pieces.filter(|&(_, second)| is_visible(second));
    pieces
        .map(|(first, second)| joined(&[first, second]))
        .take(PIECES)
        .collect()
}

/// Pieces of 32 bytes with the same hash.
fn colliding_of_four_words(visible: &mut Visible) -> Vec<Vec<u8>> {
    let [second, fourth] = [(); 2].map(|()| visible.number());
    let wanted = visible.number() ^ visible.number().rotate_left(13);
    let pieces = std::iter::repeat_with(|| {
        let first = visible.number();
        (first, (first ^ wanted).rotate_right(13))
    });
    let pieces = pieces.filter(|&(_, third)| is_visible(third));
    pieces
        .map(|(first, third)| joined(&[first, second, third, fourth]))
        .take(PIECES)
        .collect()
}

#[expect(clippy::cast_possible_truncation, reason = "one half")]
fn folded(number: u128) -> u64 {
    number as u64 ^ (number >> 64) as u64
}

/// Pieces of 48 bytes with the same hash: the state after the beginning is combined with a word of the end by
/// XOR, and multiplied. Where both are equal, the product is 0, whatever the other factor. A beginning with
/// such a state is found by trying.
fn colliding_long(visible: &mut Visible) -> Vec<Vec<u8>> {
    const SEED: u64 = 0x243f_6a88_85a3_08d3;
    const MIXED_IN: u64 = 0xa409_3822_299f_31d0;
    let (beginning, cancelled) = loop {
        let [first, second] = [(); 2].map(|()| visible.number());
        let product = u128::from(SEED ^ first) * u128::from(MIXED_IN ^ second);
        let mixed = folded(product);
        if is_visible(mixed) {
            break ([first, second], mixed);
        }
    };
    let mut piece = || {
        let [first, second, last] = [(); 3].map(|()| visible.number());
        joined(&[beginning[0], beginning[1], first, second, cancelled, last])
    };
    (0..PIECES).map(|_| piece()).collect()
}

/// All families of pieces; asserts that they collide.
fn families() -> Vec<Vec<Vec<u8>>> {
    let mut visible = Visible(GOLDEN_RATIO);
    let mut families = vec![
        colliding_of_two_words(&mut visible),
        colliding_of_four_words(&mut visible),
    ];
    // Long pieces are hashed otherwise with 32 bits.
    if cfg!(target_pointer_width = "64") {
        families.push(colliding_long(&mut visible));
    }
    for pieces in &families {
        let mut keys: HashSet<Option<u64>> = HashSet::new();
        let mut hashes = HashSet::new();
        for piece in pieces {
            keys.insert(Key::of(piece).map(|key| key.hash()));
            hashes.insert(long::hash(piece));
        }
        assert_eq!(keys.len(), 1);
        assert_eq!(hashes.len() == 1, pieces[0].len() > 32);
        assert_eq!(pieces.iter().collect::<HashSet<_>>().len(), PIECES);
    }
    families
}

/// As many pseudo-random pieces of the same length.
fn others(pieces: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut visible = Visible(0xD1B5_4A32_D192_ED03);
    pieces
        .iter()
        .map(|piece| visible.piece(piece.len()))
        .collect()
}

#[test]
fn colliding_pieces_are_found_or_missed() -> Result<(), Box<dyn Error>> {
    let vocabulary = Builtin::R50k.vocabulary()?;
    for limit in [1 << 14, 1 << 20, 64 << 20] {
        for pieces in families() {
            assert!(pieces[0].len() <= MAX_PIECE_LEN);
            let mut cache = PieceCache::new(&vocabulary, limit);
            for turn in 0..3 {
                for (piece, id) in pieces.iter().zip(0..) {
                    let mut ids = Vec::new();
                    if cache.get(piece, &mut ids) {
                        assert_eq!(ids, [id, id + 1], "turn {turn}");
                    } else {
                        cache.insert(piece, &[id, id + 1]);
                    }
                }
                assert!(cache.memory() <= limit + (1 << 14), "{}", cache.memory());
            }
        }
    }
    Ok(())
}

#[test]
fn colliding_pieces_cost_a_constant_more() -> Result<(), Box<dyn Error>> {
    let vocabulary = Builtin::R50k.vocabulary()?;
    let splitter = Splitter::new(r"[^\n]+|\n")?;
    let encoder = Encoder::new(Arc::clone(&vocabulary), SpecialTokens::default(), splitter);
    let time = |pieces: &[Vec<u8>]| -> Result<Duration, Box<dyn Error>> {
        let text = String::from_utf8(pieces.join(&b'\n'))?;
        let line_end = reference::encode_piece(&vocabulary, b"\n");
        let ids = pieces
            .iter()
            .map(|piece| reference::encode_piece(&vocabulary, piece));
        let expected = ids.collect::<Vec<_>>().join(line_end.as_slice());
        let mut best = Duration::MAX;
        for _ in 0..4 {
            let mut ids = Vec::new();
            let start = Instant::now();
            encoder.encode_ordinary(&text, &mut ids)?;
            best = best.min(start.elapsed());
            assert_eq!(ids, expected);
        }
        Ok(best)
    };
    for pieces in families() {
        let (colliding, other) = (time(&pieces)?, time(&others(&pieces))?);
        // Others are in the cache from the second round on, while long ones that collide are merged each
        // time.
        let most = 40 * other + Duration::from_millis(5);
        assert!(colliding < most, "{colliding:?} beside {other:?}");
    }
    Ok(())
}
