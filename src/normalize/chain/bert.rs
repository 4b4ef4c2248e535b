//! Rules of BERT's normalizer for single characters, by Unicode 8 as `tokenizers` has it.

use unicode_categories::UnicodeCategories;

/// Returns what becomes of a character where text is cleaned: nothing of controls, format characters, private characters
/// and U+FFFD, a space of white space.
pub(super) fn cleaned(c: char) -> Option<char> {
    match c {
        ' '..='~' => Some(c),
        '\t' | '\n' | '\r' => Some(' '),
        '\0' | char::REPLACEMENT_CHARACTER => None,
        _ if c.is_other() => None,
        _ if c.is_whitespace() => Some(' '),
        _ => Some(c),
    }
}

/// Returns whether a character is one that Chinese is written with. The library's ranges leave out U+2B820 to U+2B91F, and
/// all above U+2FA1F.
pub(super) fn is_han(c: char) -> bool {
    matches!(
        u32::from(c),
        0x3400..=0x4DBF
            | 0x4E00..=0x9FFF
            | 0xF900..=0xFAFF
            | 0x2_0000..=0x2_A6DF
            | 0x2_A700..=0x2_B81F
            | 0x2_B920..=0x2_CEAF
            | 0x2_F800..=0x2_FA1F
    )
}

/// Returns whether a character is a nonspacing mark, which is taken away with the accents.
pub(super) fn is_nonspacing(c: char) -> bool {
    !c.is_ascii() && c.is_mark_nonspacing()
}
