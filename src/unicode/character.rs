//! Reading one character of UTF-8.

/// Returns the code point that `bytes` start with and its length, if they start with a whole UTF-8 character
/// of two bytes or more. Refuses what UTF-8 refuses: overlong forms, surrogates, code points beyond U+10FFFF.
#[inline]
pub(crate) fn decode(bytes: &[u8]) -> Option<(u32, usize)> {
    let &lead = bytes.first()?;
    let (length, lead_bits, least) = match lead {
        0xC2..=0xDF => (2, lead & 0x1F, 0x80),
        0xE0..=0xEF => (3, lead & 0x0F, 0x800),
        0xF0..=0xF4 => (4, lead & 0x07, 0x1_0000),
        _ => return None,
    };
    let mut code_point = u32::from(lead_bits);
    for &byte in bytes.get(1..length)? {
        if byte & 0xC0 != 0x80 {
            return None;
        }
        code_point = (code_point << 6) | u32::from(byte & 0x3F);
    }
    let valid = code_point >= least && char::from_u32(code_point).is_some();
    valid.then_some((code_point, length))
}

/// Returns the number of bytes of a character that begins with this byte, 1 if none does.
#[inline]
pub(crate) fn length_of(first: u8) -> usize {
    match first {
        ..0xC0 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    }
}

/// Returns the code point of the first character of `bytes`, if they start with a whole one.
#[inline]
pub(crate) fn first(bytes: &[u8]) -> Option<u32> {
    match bytes.first() {
        Some(&byte) if byte.is_ascii() => Some(byte.into()),
        _ => decode(bytes).map(|(code_point, _)| code_point),
    }
}

/// Returns the code point of the last character of `bytes`, if they end with a whole one.
#[inline]
pub(crate) fn last(bytes: &[u8]) -> Option<u32> {
    match bytes.last() {
        Some(&byte) if byte.is_ascii() => Some(byte.into()),
        _ => (2..=bytes.len().min(4)).find_map(|length| {
            let (code_point, its_length) = decode(&bytes[bytes.len() - length..])?;
            (its_length == length).then_some(code_point)
        }),
    }
}
