//! Every tier finds pieces in the same spots, and the same ids there.

use std::collections::HashMap;

use super::avx2::Avx2;
use super::avx512::Avx512;
use super::probe::{Locate, LookUp, Plain, Spots};
use super::{DEFAULT_LIMIT, PieceCache};
use crate::token::TokenId;
use crate::util::block::{BLOCK_LEN, OVERHANG};
use crate::vocabulary::Vocabulary;

/// Numbers that look random.
fn random(state: &mut u64) -> usize {
    *state = state
        .wrapping_mul(0x5851_F42D_4C95_7F2D)
        .wrapping_add(0x1405_7B7E_F767_814F);
    (*state >> 33) as usize
}

/// The tiers that the machine has, but the plain one, which locate.
fn locating() -> Vec<Box<dyn Locate>> {
    let avx2 = Avx2::detect().map(|tier| Box::new(tier) as Box<dyn Locate>);
    let avx512 = Avx512::detect().map(|tier| Box::new(tier) as Box<dyn Locate>);
    avx2.into_iter().chain(avx512).collect()
}

/// Pieces of all lengths up to those that no line holds, or short ones, of which many are in a window; of few bytes, so
/// that they differ in a single one, or in their lengths alone.
fn random_pieces(state: &mut u64) -> Vec<Vec<u8>> {
    let alphabet = [b"ab".as_slice(), b"a\x01", b"abcdefgh\xF4"][random(state) % 3];
    let longest = [34, 34, 10, 1][random(state) % 4];
    let piece = |number| {
        let length = 1 + number % longest;
        let byte = |_| alphabet[random(state) % alphabet.len()];
        (0..length).map(byte).collect()
    };
    (0..3000).map(piece).collect()
}

/// Appends some pieces in a row, where a window begins. Answers which, and where they end, which is inside of it; of
/// the last this is not so.
fn random_row<'p>(
    state: &mut u64,
    pieces: &'p [Vec<u8>],
    text: &mut Vec<u8>,
) -> (u64, Vec<&'p Vec<u8>>) {
    let (place, mut ends, mut row) = (text.len(), 0, Vec::new());
    loop {
        let piece = &pieces[pieces.len() - 1 - random(state) % pieces.len()];
        text.extend_from_slice(piece);
        let end = text.len() - place;
        if end >= BLOCK_LEN {
            return (ends, row);
        }
        ends |= 1 << end;
        row.push(piece);
    }
}

/// All tiers find pieces in the same spots and know the same of them, whatever follows; and the table tells no
/// others.
#[test]
fn tiers_agree() -> Result<(), Box<dyn std::error::Error>> {
    let bytes = (0..=255_u8).map(|byte| (vec![byte], TokenId::from(byte)));
    // Ids are packed by four, and, if the highest is too large for that, by three.
    let small = Vocabulary::from_ranks(bytes.clone().collect())?;
    let high = std::iter::once((b"\0\0".to_vec(), 1 << 16));
    let large = Vocabulary::from_ranks(bytes.chain(high).collect())?;
    let (locating, avx2) = (locating(), Avx2::detect());
    let (mut found, mut stopped) = (0, 0);
    for seed in 0..48 {
        let state = &mut (seed << 32);
        let (vocabulary, bits) = [(&small, 16), (&large, 20)][random(state) % 2];
        // From tables that are hardly filled to some that give up entries.
        let limit = [0, 1 << 14, 1 << 18, DEFAULT_LIMIT][random(state) % 4];
        let mut table = PieceCache::new(vocabulary, limit);
        let mut known: HashMap<Vec<u8>, Vec<TokenId>> = HashMap::new();
        let mut pieces = random_pieces(state);
        for piece in &pieces {
            let ids = known.entry(piece.clone()).or_insert_with(|| {
                let count = 1 + random(state) % piece.len().min(18);
                let high = [bits, bits, bits, 22][random(state) % 4];
                let id = |_| TokenId::try_from(random(state) % (1 << high));
                match piece.as_slice() {
                    &[byte] => vec![TokenId::from(byte)],
                    _ => (0..count).flat_map(id).collect(),
                }
            });
            let mut before = Vec::new();
            if !table.get(piece, &mut before) {
                table.insert(piece, ids);
                table.get(piece, &mut before);
            }
            assert!(before.is_empty() || before == *ids, "{piece:?}");
        }
        pieces.push(vec![0]);
        pieces.push(vec![b'a', 0]);
        pieces.push(vec![b'b'; 7]);

        let view = table.view();
        for _ in 0..600 {
            let mut text = vec![b'a'; random(state) % 40];
            let place = text.len();
            let (ends, row) = random_row(state, &pieces, &mut text);
            if row.is_empty() {
                continue;
            }
            if random(state).is_multiple_of(2) {
                text.truncate(place + BLOCK_LEN - 1 - ends.leading_zeros() as usize);
            }
            let mut window = [b' '; BLOCK_LEN + OVERHANG];
            for (to, from) in window.iter_mut().zip(&text[place..]) {
                *to = *from;
            }
            let mut spots = Spots::new(BLOCK_LEN);
            let of_window = spots.of_window(0).ok_or("no room")?;
            let located = Plain.locate(&view, &window, place, ends, of_window);
            let count = located.count;
            assert_eq!(count, row.len());
            let longest = if view.long.has_shorter() { 16 } else { 32 };
            let mut hashed = false;
            for (number, piece) in row.iter().enumerate() {
                let spot = spots.get(number);
                assert_eq!(spot.piece(&text, &mut [0; _]), piece.as_slice());
                let short = piece.len() <= longest;
                assert_eq!(
                    spot.hash().is_none(),
                    short && !window[..BLOCK_LEN].contains(&0)
                );
                hashed |= spot.hash().is_some();
            }
            assert_eq!(located.hashed, hashed);
            let all = spots.some(0..count);
            let mut ids = vec![7];
            let looked = Plain.look(&view, &text, all, &mut ids);
            let expected: Option<Vec<&Vec<_>>> = row[..looked]
                .iter()
                .map(|&piece| known.get(piece))
                .collect();
            let expected = expected.ok_or("a piece that the table was never told")?;
            let expected: Vec<_> = expected.into_iter().flatten().copied().collect();
            assert_eq!(ids[1..], expected, "{row:?}");
            let counted = (looked, ids.len() - 1);
            assert_eq!(Plain.count(&view, &text, all), counted, "{row:?}");
            found += looked;
            stopped += usize::from(looked < count);

            for tier in &locating {
                let mut here = Spots::new(BLOCK_LEN);
                let of_window = here.of_window(0).ok_or("no room")?;
                let same = tier.locate(&view, &window, place, ends, of_window);
                assert_eq!(same, located, "{window:?}");
                for number in 0..count {
                    assert_eq!(here.get(number), spots.get(number), "{window:?}");
                }
            }
            if let Some(avx2) = avx2 {
                let mut same = vec![7];
                let known = avx2.look(&view, &text, all, &mut same);
                assert_eq!((known, &same), (looked, &ids), "{row:?}");
                assert_eq!(avx2.count(&view, &text, all), counted, "{row:?}");
            }
        }
    }
    assert!(found > 5_000, "{found}");
    assert!(stopped > 1000, "{stopped}");
    Ok(())
}
