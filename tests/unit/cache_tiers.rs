//! Agreement of tiers: all of them write the same probes, and find the same ids by them.

use std::collections::HashMap;

#[cfg(target_arch = "x86_64")]
use super::avx512::Avx512;
use super::probe::{BlockProbes, HashBlock, Hashed, ProbeBatch, ProbeCache};
use super::scalar::Scalar;
use super::{DEFAULT_LIMIT, PieceCache};
use crate::token::TokenId;
use crate::util::block::{BLOCK_LEN, Block, OVERHANG, Spans};
use crate::util::vector::Simd128;
#[cfg(target_arch = "x86_64")]
use crate::util::vector::avx2::Avx2;
use crate::vocabulary::Vocabulary;

/// A pseudo-random number.
fn random(state: &mut u64) -> usize {
    *state = state
        .wrapping_mul(0x5851_F42D_4C95_7F2D)
        .wrapping_add(0x1405_7B7E_F767_814F);
    (*state >> 33) as usize
}

/// The pieces of a block, of either kind.
#[derive(Clone, Copy)]
enum Row {
    Adjacent(Spans<false>),
    Apart(Spans<true>),
}

impl Row {
    /// Where the last piece ends.
    fn end(self) -> usize {
        let ends = match self {
            Self::Adjacent(spans) => spans.ends(),
            Self::Apart(spans) => spans.ends(),
        };
        BLOCK_LEN - 1 - ends.leading_zeros() as usize
    }
}

/// [`HashBlock`] as an object.
trait HashRow {
    fn hash_row(
        &self,
        cache: &PieceCache,
        block: &Block,
        offset: usize,
        row: Row,
        probes: BlockProbes<'_>,
    ) -> Hashed;
}

impl<H: HashBlock> HashRow for H {
    fn hash_row(
        &self,
        cache: &PieceCache,
        block: &Block,
        offset: usize,
        row: Row,
        probes: BlockProbes<'_>,
    ) -> Hashed {
        match row {
            Row::Adjacent(spans) => self.hash_block(cache, block, offset, spans, probes),
            Row::Apart(spans) => self.hash_block(cache, block, offset, spans, probes),
        }
    }
}

type Hashing = Vec<Box<dyn HashRow>>;
type Probing = Vec<Box<dyn ProbeCache>>;

/// The tiers that the machine has, except the scalar one: those that hash, and those that probe.
fn tiers() -> (Hashing, Probing) {
    let (mut hashing, mut probing) = (Hashing::new(), Probing::new());
    if let Some(simd128) = Simd128::detect() {
        hashing.push(Box::new(simd128));
        probing.push(Box::new(simd128));
    }
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(avx2) = Avx2::detect() {
            hashing.push(Box::new(avx2));
            probing.push(Box::new(avx2));
        }
        if let Some(avx512) = Avx512::detect() {
            hashing.push(Box::new(avx512));
        }
    }
    (hashing, probing)
}

/// Pieces of all lengths up to those without a key, or short ones, of which a block has many; of few distinct
/// bytes, so that some differ in a single one, or in their lengths alone.
fn random_pieces(state: &mut u64) -> Vec<Vec<u8>> {
    let alphabet = [b"ab".as_slice(), b"a\x01", b"abcdefgh\xF4"][random(state) % 3];
    let longest = [34, 34, 10, 1][random(state) % 4];
    let piece = |index| {
        let length = 1 + index % longest;
        let byte = |_| alphabet[random(state) % alphabet.len()];
        (0..length).map(byte).collect()
    };
    (0..3000).map(piece).collect()
}

/// Appends some pieces, the first at the start of a block, if there are no `gaps` before and between them. Returns those
/// that end inside of the block, and where; the last one does not.
fn random_row<'p>(
    state: &mut u64,
    pieces: &'p [Vec<u8>],
    gaps: bool,
    text: &mut Vec<u8>,
) -> (Row, Vec<&'p Vec<u8>>) {
    let (offset, mut starts, mut ends, mut row) = (text.len(), 0, 0, Vec::new());
    loop {
        let piece = &pieces[pieces.len() - 1 - random(state) % pieces.len()];
        if gaps {
            text.resize(text.len() + random(state) % 4, b'.');
        }
        let start = text.len() - offset;
        text.extend_from_slice(piece);
        let end = text.len() - offset;
        if end >= BLOCK_LEN {
            let spans = if gaps {
                Row::Apart(Spans::apart(starts, ends))
            } else {
                Row::Adjacent(Spans::adjacent(ends))
            };
            return (spans, row);
        }
        starts |= 1_u64 << start;
        ends |= 1_u64 << end;
        row.push(piece);
    }
}

/// All tiers agree on probes and ids, whatever follows a piece, and the cache returns only ids that were
/// stored.
#[test]
fn tiers_agree() -> Result<(), Box<dyn std::error::Error>> {
    let bytes = (0..=255_u8).map(|byte| (vec![byte], TokenId::from(byte)));
    // Ids are packed by four, and, if the highest is too large for that, by three.
    let small = Vocabulary::from_ranks(bytes.clone().collect())?;
    let high = std::iter::once((b"\0\0".to_vec(), 1 << 16));
    let large = Vocabulary::from_ranks(bytes.chain(high).collect())?;
    let (hashing, probing) = tiers();
    #[cfg(target_arch = "aarch64")]
    assert_eq!(probing.len(), 1, "NEON is part of the architecture");
    let (mut found, mut stopped) = (0, 0);
    for seed in 0..48 {
        let state = &mut (seed << 32);
        let (vocabulary, bits) = [(&small, 16), (&large, 20)][random(state) % 2];
        // From caches that are hardly filled to some that evict entries.
        let limit = [0, 1 << 14, 1 << 18, DEFAULT_LIMIT][random(state) % 4];
        let mut cache = PieceCache::new(vocabulary, limit);
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
            if !cache.get(piece, &mut before) {
                cache.insert(piece, ids);
                cache.get(piece, &mut before);
            }
            assert!(before.is_empty() || before == *ids, "{piece:?}");
        }
        pieces.push(vec![0]);
        pieces.push(vec![b'a', 0]);
        pieces.push(vec![b'b'; 7]);

        let view = cache.view();
        for _ in 0..600 {
            let mut text = vec![b'a'; random(state) % 40];
            let offset = text.len();
            let gaps = random(state).is_multiple_of(2);
            let (spans, row) = random_row(state, &pieces, gaps, &mut text);
            if row.is_empty() {
                continue;
            }
            if random(state).is_multiple_of(2) {
                text.truncate(offset + spans.end());
            }
            let mut block = [b' '; BLOCK_LEN + OVERHANG];
            for (to, from) in block.iter_mut().zip(&text[offset..]) {
                *to = *from;
            }
            let mut probes = ProbeBatch::new(BLOCK_LEN);
            let hashed = Scalar.hash_row(&cache, &block, offset, spans, probes.block_mut(0));
            let count = hashed.count;
            assert_eq!(count, row.len());
            let mut has_hash = false;
            for (index, piece) in row.iter().enumerate() {
                let probe = probes.get(index);
                assert_eq!(probe.piece(&text, &mut [0; _]), piece.as_slice());
                let short = piece.len() <= 32;
                assert_eq!(
                    probe.hash().is_none(),
                    short && !block[..BLOCK_LEN].contains(&0)
                );
                has_hash |= probe.hash().is_some();
            }
            assert_eq!(hashed.has_hash, has_hash);
            let all = probes.slice(0..count);
            let mut ids = vec![7];
            let known_pieces = Scalar.probe_batch(&view, &text, all, &mut ids);
            let expected: Option<Vec<&Vec<_>>> = row[..known_pieces]
                .iter()
                .map(|&piece| known.get(piece))
                .collect();
            let expected = expected.ok_or("a piece that was never stored")?;
            let expected: Vec<_> = expected.into_iter().flatten().copied().collect();
            assert_eq!(ids[1..], expected, "{row:?}");
            let counted = (known_pieces, ids.len() - 1);
            assert_eq!(Scalar.count_batch(&view, &text, all), counted, "{row:?}");
            found += known_pieces;
            stopped += usize::from(known_pieces < count);

            for tier in &hashing {
                let mut here = ProbeBatch::new(BLOCK_LEN);
                let same = tier.hash_row(&cache, &block, offset, spans, here.block_mut(0));
                assert_eq!(same, hashed, "{block:?}");
                for index in 0..count {
                    assert_eq!(here.get(index), probes.get(index), "{block:?}");
                }
            }
            for tier in &probing {
                let mut same = vec![7];
                let known = tier.probe_batch(&view, &text, all, &mut same);
                assert_eq!((known, &same), (known_pieces, &ids), "{row:?}");
                assert_eq!(tier.count_batch(&view, &text, all), counted, "{row:?}");
            }
        }
    }
    assert!(found > 5_000, "{found}");
    assert!(stopped > 1000, "{stopped}");
    Ok(())
}
