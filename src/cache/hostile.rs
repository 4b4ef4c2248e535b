//! Pieces that were made to collide, in all tables: they cost no more than others by a constant, and get their ids.

use std::collections::HashSet;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::key::{Key, ROTATION};
use super::{LONGEST, PieceCache, long};
use crate::builtin::Builtin;
use crate::checkpoint::RunToEnd;
use crate::encode::Encoder;
use crate::encode::special::SpecialTokens;
use crate::reference;
use crate::split::Splitter;

const PIECES: usize = 3_000;

/// Visible ASCII, by a small generator.
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

/// Pieces of 16 bytes that belong to one line: the second half is what makes up for the first.
fn colliding_wide(visible: &mut Visible) -> Vec<Vec<u8>> {
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

/// The same of 32 bytes.
fn colliding_whole(visible: &mut Visible) -> Vec<Vec<u8>> {
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

/// Pieces of 48 bytes of one hash: of the beginning, only what is mixed with the first half of the end matters, and if
/// that is the same number, nothing of the rest does. The number is found by trying.
fn colliding_long(visible: &mut Visible) -> Vec<Vec<u8>> {
    const SEED: u64 = 0x243f_6a88_85a3_08d3;
    const BESIDE: u64 = 0xa409_3822_299f_31d0;
    let (beginning, cancelled) = loop {
        let [first, second] = [(); 2].map(|()| visible.number());
        let product = u128::from(SEED ^ first) * u128::from(BESIDE ^ second);
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

/// All families, which collide as they are meant to.
fn families() -> [Vec<Vec<u8>>; 3] {
    let mut visible = Visible(0x9E37_79B9_7F4A_7C15);
    let families = [
        colliding_wide(&mut visible),
        colliding_whole(&mut visible),
        colliding_long(&mut visible),
    ];
    for pieces in &families {
        let mut lines: HashSet<Option<u64>> = HashSet::new();
        let mut hashes = HashSet::new();
        for piece in pieces {
            lines.insert(Key::of(piece).map(|key| key.mixed()));
            hashes.insert(long::hash(piece));
        }
        assert_eq!(lines.len(), 1);
        assert_eq!(hashes.len() == 1, pieces[0].len() > 32);
        assert_eq!(pieces.iter().collect::<HashSet<_>>().len(), PIECES);
    }
    families
}

/// As many others of the same length.
fn others(pieces: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut visible = Visible(0xD1B5_4A32_D192_ED03);
    pieces
        .iter()
        .map(|piece| visible.piece(piece.len()))
        .collect()
}

#[test]
fn colliding_pieces_are_found_or_not_known() -> Result<(), Box<dyn Error>> {
    let vocabulary = Builtin::R50k.vocabulary()?;
    for limit in [1 << 14, 1 << 20, 64 << 20] {
        for pieces in families() {
            assert!(pieces[0].len() <= LONGEST);
            let mut table = PieceCache::new(&vocabulary, limit);
            for turn in 0..3 {
                for (piece, id) in pieces.iter().zip(0..) {
                    let mut ids = Vec::new();
                    if table.get(piece, &mut ids) {
                        assert_eq!(ids, [id, id + 1], "turn {turn}");
                    } else {
                        table.insert(piece, &[id, id + 1]);
                    }
                }
                assert!(table.memory() <= limit + (1 << 14), "{}", table.memory());
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
            encoder.encode_ordinary(&text, &mut ids, &RunToEnd)?;
            best = best.min(start.elapsed());
            assert_eq!(ids, expected);
        }
        Ok(best)
    };
    for pieces in families() {
        let (colliding, other) = (time(&pieces)?, time(&others(&pieces))?);
        // Others are looked up from the second turn on, while long ones that collide are merged each time.
        let most = 40 * other + Duration::from_millis(5);
        assert!(colliding < most, "{colliding:?} beside {other:?}");
    }
    Ok(())
}
