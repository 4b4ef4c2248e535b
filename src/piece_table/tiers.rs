//! Every tier finds pieces in the same spots, and the same ids there.

use std::collections::HashMap;

use super::avx2::Avx2;
use super::spot::{LookUp, Plain, Spot};
use super::{PieceTable, USUAL_LIMIT};
use crate::split::masks::{OVERHANG, WINDOW};
use crate::token::TokenId;
use crate::vocabulary::Vocabulary;

/// Numbers that look random.
fn random(state: &mut u64) -> usize {
    *state = state
        .wrapping_mul(0x5851_F42D_4C95_7F2D)
        .wrapping_add(0x1405_7B7E_F767_814F);
    (*state >> 33) as usize
}

/// Both tiers find pieces in the same spots and know the same of them, whatever follows; and the table tells no
/// others.
#[test]
fn tiers_agree() -> Result<(), Box<dyn std::error::Error>> {
    let bytes = (0..=255_u8).map(|byte| (vec![byte], TokenId::from(byte)));
    let vocabulary = Vocabulary::from_ranks(bytes.collect())?;
    let avx2 = Avx2::detect();
    let (mut found, mut stopped) = (0, 0);
    for seed in 0..24 {
        let state = &mut (seed << 32);
        // From tables that are hardly filled to some that give up entries.
        let limit = [0, 1 << 14, 1 << 18, USUAL_LIMIT][random(state) % 4];
        let mut table = PieceTable::new(&vocabulary, limit);
        // Few bytes, so that pieces differ in a single one, or in their lengths alone.
        let alphabet = [b"ab".as_slice(), b"a\x01", b"abcdefgh\xF4"][random(state) % 3];
        let mut known: HashMap<Vec<u8>, Vec<TokenId>> = HashMap::new();
        let mut pieces: Vec<Vec<u8>> = (0..3000)
            .map(|number| {
                let length = 1 + number % 34;
                let byte = |_| alphabet[random(state) % alphabet.len()];
                (0..length).map(byte).collect()
            })
            .collect();
        for piece in &pieces {
            let ids = known.entry(piece.clone()).or_insert_with(|| {
                let count = 1 + random(state) % piece.len().min(14);
                let high = [20, 20, 20, 22][random(state) % 4];
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
            // Some pieces in a row, where a window begins.
            let mut text = vec![b'a'; random(state) % 40];
            let place = text.len();
            let (mut ends, mut row) = (0_u64, Vec::new());
            loop {
                let piece = &pieces[pieces.len() - 1 - random(state) % pieces.len()];
                let end = text.len() - place + piece.len();
                text.extend_from_slice(piece);
                if end >= WINDOW {
                    break;
                }
                ends |= 1 << end;
                row.push(piece);
            }
            if row.is_empty() {
                continue;
            }
            if random(state).is_multiple_of(2) {
                text.truncate(place + WINDOW - 1 - ends.leading_zeros() as usize);
            }
            let mut window = [b' '; WINDOW + OVERHANG];
            for (to, from) in window.iter_mut().zip(&text[place..]) {
                *to = *from;
            }
            let mut spots = [Spot::default(); WINDOW];
            let count = Plain.locate(&view, &window, place, ends, &mut spots);
            assert_eq!(count, row.len());
            for (&spot, piece) in spots.iter().zip(&row) {
                assert_eq!(spot.piece(&text, &mut [0; _]), piece.as_slice());
                let short = piece.len() <= view.longest_without_hash();
                assert_eq!(spot.hash().is_none(), short && !window.contains(&0));
            }
            let mut ids = vec![7];
            let looked = Plain.look(&view, &text, &spots[..count], &mut ids);
            let expected: Option<Vec<&Vec<_>>> = row[..looked]
                .iter()
                .map(|&piece| known.get(piece))
                .collect();
            let expected = expected.ok_or("a piece that the table was never told")?;
            let expected: Vec<_> = expected.into_iter().flatten().copied().collect();
            assert_eq!(ids[1..], expected, "{row:?}");
            let counted = Plain.count(&view, &text, &spots[..count]);
            assert_eq!(counted, (looked, ids.len() - 1), "{row:?}");
            found += looked;
            stopped += usize::from(looked < count);

            let Some(avx2) = avx2 else { continue };
            let mut same = [Spot::default(); WINDOW];
            assert_eq!(avx2.locate(&view, &window, place, ends, &mut same), count);
            assert_eq!(same, spots, "{window:?}");
            let mut ids_here = vec![7];
            let here = avx2.look(&view, &text, &spots[..count], &mut ids_here);
            assert_eq!((here, &ids_here), (looked, &ids), "{row:?}");
            let counted = avx2.count(&view, &text, &spots[..count]);
            assert_eq!(counted, (looked, ids.len() - 1), "{row:?}");
        }
    }
    assert!(found > 5_000, "{found}");
    assert!(stopped > 1000, "{stopped}");
    Ok(())
}
