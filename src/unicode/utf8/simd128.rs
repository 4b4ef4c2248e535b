//! Characters to UTF-8 with SSE4.1 or NEON. The safe twin is the rest of [`super::store`].
//!
//! ```text
//! eight characters at a time: one byte each if all are ASCII; else, four at a time:
//!     the bytes of each, the last one highest in a word
//!     shuffle the bytes that are present together, by the numbers of bytes of the four
//! ```
//!
//! So the time does not depend on which characters are adjacent. Text of many languages took a third of the time, and
//! Chinese and Japanese two thirds.
#![allow(unsafe_code)]

use super::{Bytes, Character, GROUP, TOO_LARGE, dest, is_ascii, low_byte, store_each};
use crate::util::vector::{Simd128, words::Words};

/// Characters stored together.
const HALF: usize = GROUP / 2;

/// A row of [`ROWS`].
#[derive(Clone, Copy)]
struct Row {
    /// The bytes of four words that are present, in order, and then 128.
    present: [u8; 4 * HALF],
    /// Their number.
    length: u8,
}

/// By the numbers of bytes of four characters, each less one, the first one lowest, in two bits each.
const ROWS: [Row; 1 << (2 * HALF)] = {
    let empty = Row {
        present: [128; 4 * HALF],
        length: 0,
    };
    let mut rows = [empty; 1 << (2 * HALF)];
    let mut number = 0;
    while number < rows.len() {
        let row = &mut rows[number];
        let mut byte = 0;
        while byte < 16 {
            let place = byte as usize;
            if 3 - place % 4 <= number >> (place / 4 * 2) & 3 {
                row.present[row.length as usize] = byte;
                row.length += 1;
            }
            byte += 1;
        }
        number += 1;
    }
    rows
};

/// As [`super::store`]; `None`, and no effect, on a machine with neither.
pub(super) fn store<C: Character>(chunk: &[C], bytes: &mut Bytes) -> Option<usize> {
    Simd128::detect().map(|simd128| {
        // SAFETY: a value of `Simd128` proves that the machine has what the function is compiled for.
        unsafe { store_groups(simd128, chunk, bytes) }
    })
}

#[cfg_attr(target_arch = "x86_64", target_feature(enable = "ssse3,sse4.1,popcnt"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon"))]
fn store_groups<C: Character>(simd128: Simd128, chunk: &[C], bytes: &mut Bytes) -> usize {
    let mut length = 0;
    let (groups, rest) = chunk.as_chunks::<GROUP>();
    for group in groups {
        if is_ascii(group) {
            *dest(bytes, length) = group.map(low_byte);
            length += GROUP;
            continue;
        }
        let (halves, _) = group.as_chunks::<HALF>();
        for half in halves {
            let (words, row) = words(simd128, half.map(Character::number));
            *dest(bytes, length) = words.bytes_at(&row.present);
            length += usize::from(row.length);
        }
    }
    store_each(rest, bytes, length)
}

/// Returns the bytes of four characters, and which of them are present.
#[expect(
    clippy::inline_always,
    reason = "compiled into the caller, which has the target features"
)]
#[inline(always)]
fn words(simd128: Simd128, numbers: [u32; HALF]) -> (Words, &'static Row) {
    let all = |number| Words::splat(simd128, number);
    // Numbers beyond those of characters give invalid UTF-8.
    let numbers = Words::load(simd128, numbers).min(all(TOO_LARGE));
    // Six bits in each byte, and a seventh in the last.
    let first = numbers.shift_right::<18>();
    let second = numbers.shift_right::<4>().and(all(0x3F00));
    let third = numbers.shift_left::<10>().and(all(0x003F_0000));
    let last = numbers.shift_left::<24>().and(all(0x7F00_0000));
    let bits = first.or(second).or(third.or(last));
    let [two, three, four] = [0x80, 0x800, 0x1_0000].map(|least| numbers.at_least(all(least)));
    // The marks of bytes, each without those of fewer bytes.
    let of_two = two.and(all(0x80C0_0000));
    let of_three = three.and(all(0x8080_E000 ^ 0x80C0_0000));
    let of_four = four.and(all(0x8080_80F0 ^ 0x8080_E000));
    let marks = of_two.xor(of_three).xor(of_four);
    // Where there are several, the seventh bit belongs to the byte before.
    let seventh = bits.and(two).and(all(0x4000_0000));
    let words = bits.xor(seventh).or(marks);
    let each = Words::load(simd128, [1, 4, 16, 64]);
    let more = two.and(each).add(three.and(each)).add(four.and(each));
    (words, &ROWS[more.sum() as usize % ROWS.len()])
}
