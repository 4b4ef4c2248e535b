//! Training against the reference: each tie-breaker, weights, limits, initial merges, and counts in files.

use std::collections::HashMap;

use bytemill::token::Pair;
use bytemill::train::counting::{CountTable, NextTable, PieceCounts};
use bytemill::train::{Options, TieBreak, learning, reference};

use crate::input::Input;

/// More pieces and bytes only slow the reference down.
const MOST_PIECES: usize = 40;
const LONGEST: usize = 120;

pub(crate) fn run(mut input: Input) {
    let mut options = Options {
        tie_break: input.pick(&TieBreak::ALL),
        min_frequency: input.pick(&[0, 1, 2, 3, 5, 100, 1 << 32, u64::MAX]),
        max_token_length: input.pick(&[None, None, Some(0), Some(1), Some(2), Some(3), Some(7)]),
        threads: 1 + input.below(2),
        ..Options::default()
    };
    let kind = input.byte();
    if kind & 1 == 0 {
        input.random().shuffle(&mut options.initial.bytes);
    }
    if kind & 2 == 0 {
        initial_merges(&mut input, &mut options);
    }
    let count = input.below(60);
    let sorted = input.pick(&[false, false, false, true]);
    let huge = kind & 4 == 0;
    let alphabet = 1 + input.below(12);
    let words: Vec<(Vec<u8>, u64)> = input
        .parts()
        .take(MOST_PIECES)
        .map(|part| {
            let (weight, piece) = part.split_first().unwrap_or((&1, &[]));
            let weight = match weight {
                255 | 254 if huge => 10_000_000_000_000,
                250 => (1 << 32) - 1,
                0 => 0,
                weight => 1 + u64::from(weight / 16),
            };
            let letters = piece
                .iter()
                .take(LONGEST)
                .map(|&byte| match kind & 0b1_1000 {
                    0 => byte,
                    _ => b'a' + byte % u8::try_from(alphabet).unwrap_or(1),
                });
            (letters.collect(), weight)
        })
        .collect();
    let words: Vec<(&[u8], u64)> = words
        .iter()
        .map(|(piece, count)| (piece.as_slice(), *count))
        .collect();

    let mut counts = PieceCounts::new();
    // In two steps: a piece may come again.
    let (first, second) = words.split_at(words.len() / 2);
    counts.add_pieces(first.iter().copied()).expect("counts");
    let mut others = PieceCounts::new();
    others.add_pieces(second.iter().copied()).expect("counts");
    let mut distinct = in_order(&words);
    if sorted {
        distinct.sort_unstable();
        counts = sum_of([counts, others]);
    } else {
        counts.merge(&others).expect("counts");
    }
    let columns = counts.columns().expect("columns");
    assert_eq!(columns.iter().collect::<Vec<_>>(), distinct);
    let expected = reference::train(&distinct, count, &options).expect("merges");
    let learned = learning::learn_merges(&mut counts, count, &options, &mut |_| Ok(()));
    assert_eq!(learned.expect("merges"), expected, "{words:?}, {options:?}");
}

/// Returns the sum of counts that other processes have sorted.
fn sum_of(parts: [PieceCounts; 2]) -> PieceCounts {
    let sources = parts.map(|mut counts| {
        let mut table = CountTable::default();
        let visited = counts.for_each_sorted(|piece, count| {
            table.push(piece, count);
            Ok(())
        });
        visited.expect("counts");
        let mut tables = Some(table);
        Box::new(move || Ok(tables.take())) as NextTable<'_>
    });
    let mut sum = PieceCounts::new();
    sum.add_sorted(sources.into()).expect("counts");
    sum
}

/// Returns the distinct pieces in the order of their first occurrence.
fn in_order<'a>(words: &[(&'a [u8], u64)]) -> Vec<(&'a [u8], u64)> {
    let mut indices: HashMap<&[u8], usize> = HashMap::new();
    let mut distinct: Vec<(&[u8], u64)> = Vec::new();
    for &(piece, count) in words
        .iter()
        .filter(|(piece, count)| !piece.is_empty() && *count > 0)
    {
        let index = *indices.entry(piece).or_insert(distinct.len());
        if index == distinct.len() {
            distinct.push((piece, 0));
        }
        distinct[index].1 += count;
    }
    distinct
}

/// Arbitrary merges: any pairs of earlier tokens that do not make an existing token.
fn initial_merges(input: &mut Input, options: &mut Options) {
    let mut tokens: Vec<Vec<u8>> = options.initial.bytes.map(|byte| vec![byte]).to_vec();
    let mut usable: Vec<usize> = (0..256)
        .filter(|&id| (b'a'..b'd').contains(&tokens[id][0]))
        .collect();
    for _ in 0..input.below(12) {
        let [left, right] = [(); 2].map(|()| usable[input.below(usable.len())]);
        let token = [tokens[left].as_slice(), &tokens[right]].concat();
        if !tokens.contains(&token) {
            let [left, right] = [left, right].map(|id| u32::try_from(id).expect("an id"));
            options.initial.merges.push(Pair::new(left, right));
            usable.push(tokens.len());
            tokens.push(token);
        }
    }
}
