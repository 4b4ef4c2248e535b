//! Sets of characters that are ranges of bytes, and classes of ASCII, in 64 bytes at a time, by vector operations.

#![expect(
    clippy::inline_always,
    reason = "compiled into the caller, which has the target features"
)]

use crate::util::block::{BLOCK_LEN, Block};
use crate::util::vector::Vector;

/// Returns the bytes of characters in `[一-龥぀-ゟ゠-ヿ]`.
#[inline(always)]
pub(super) fn cjk<V: Vector>(v: V, block: &Block) -> u64 {
    let first = load_from::<V, 0>(v, block);
    let second = load_from::<V, 1>(v, block);
    // From U+3040 on, up to U+30FF.
    let kana = v.both(is(v, first, 0xE3), v.in_range::<0x81, 3>(second));
    // From U+4E00 on, then up to U+8FFF, then up to U+9F7F.
    let from = v.both(is(v, first, 0xE4), v.in_range::<0xB8, 8>(second));
    let most = v.in_range::<0xE5, 4>(first);
    let last_lead = is(v, first, 0xE9);
    let nearly_last = v.both(last_lead, v.in_range::<0x80, 0x3E>(second));
    // Up to U+9FA5.
    let third = load_from::<V, 2>(v, block);
    let last = v.both(is(v, second, 0xBE), v.in_range::<0x80, 0x26>(third));
    let last = v.both(last_lead, last);
    let any = v.either(
        v.either(kana, from),
        v.either(most, v.either(nearly_last, last)),
    );
    let firsts = v.bits(any);
    firsts | firsts << 1 | firsts << 2
}

/// Returns the bits of the codes that a table has for the bytes of ASCII, those of `used` alone: a mask for each; and the
/// bytes beyond ASCII and continuation bytes.
#[inline(always)]
pub(super) fn codes<V: Vector>(
    v: V,
    block: &Block,
    table: &[[u8; 64]; 2],
    used: u8,
) -> ([u64; 8], u64, u64) {
    let bytes = load_from::<V, 0>(v, block);
    let low = v.keep(v.in_range::<0, 64>(bytes), v.look_up_64(&table[0], bytes));
    let high = v.keep(v.in_range::<64, 64>(bytes), v.look_up_64(&table[1], bytes));
    let codes = v.or(low, high);
    let mut planes = [0; 8];
    for (bit, plane) in planes.iter_mut().enumerate() {
        if used >> bit & 1 != 0 {
            *plane = v.bits(is(v, v.and(codes, v.splat(1 << bit)), 1 << bit));
        }
    }
    let continuation = v.bits(v.in_range::<0x80, 64>(bytes));
    (planes, v.highest_bits(bytes), continuation)
}

/// Returns the characters of ASCII that are neither controls nor spaces.
#[inline(always)]
pub(super) fn graphic<V: Vector>(v: V, block: &Block) -> u64 {
    v.bits(v.in_range::<b'!', 94>(load_from::<V, 0>(v, block)))
}

/// Returns the first bytes of characters of three bytes in the two great blocks of `\p{Han}`, which are letters; and
/// those of other characters that may be of that script.
#[inline(always)]
pub(super) fn han<V: Vector>(v: V, block: &Block) -> (u64, u64) {
    let first = load_from::<V, 0>(v, block);
    let second = load_from::<V, 1>(v, block);
    let after = |lead, seconds| v.both(is(v, first, lead), seconds);
    // U+3400 to U+4DBF and U+4E00 to U+9FFF; the hexagrams, with 0xE4 and 0xB7, are between the two.
    let from = after(0xE3, v.in_range::<0x90, 0x30>(second));
    let hexagrams = v.bits(after(0xE4, is(v, second, 0xB7)));
    let great = v.bits(v.either(from, v.in_range::<0xE4, 6>(first))) & !hexagrams;
    let radicals = after(0xE2, v.in_range::<0xBA, 6>(second));
    let signs = after(0xE3, is(v, second, 0x80));
    let compatible = after(0xEF, v.in_range::<0xA4, 8>(second));
    let beyond = v.either(is(v, second, 0x96), v.in_range::<0xA0, 0x20>(second));
    let beyond = after(0xF0, beyond);
    let other = v.either(v.either(radicals, signs), v.either(compatible, beyond));
    (great, v.bits(other))
}

/// The 64 bytes from byte `FROM` of a block on, one of the first few.
#[inline(always)]
pub(super) fn load_from<V: Vector, const FROM: usize>(v: V, block: &Block) -> V::Bytes {
    let bytes: &[u8; BLOCK_LEN] = block[FROM..].first_chunk().expect("a block overhangs");
    v.load(bytes)
}

/// Where a byte equals `byte`.
#[inline(always)]
pub(super) fn is<V: Vector>(v: V, bytes: V::Bytes, byte: u8) -> V::Mask {
    v.equal(bytes, v.splat(byte))
}
