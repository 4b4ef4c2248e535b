//! The class of a character, as the native families distinguish them.

/// The class of a character in splitting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Class {
    /// Everything in no other class: punctuation, symbols, controls, unassigned code points.
    Other = 0,
    /// Upper-case and title-case letters, `\p{Lu}` and `\p{Lt}`.
    Upper = 1,
    /// Lower-case letters, `\p{Ll}`.
    Lower = 2,
    /// Letters without case and modifier letters, `\p{Lo}` and `\p{Lm}`.
    Caseless = 3,
    /// Combining marks, `\p{M}`.
    Mark = 4,
    /// Numbers of any kind, `\p{N}`.
    Number = 5,
    /// Whitespace other than U+0020, CR and LF: tab, no-break space, line separator and others.
    OtherWhitespace = 6,
    /// CR and LF.
    Newline = 7,
    /// U+0020 alone.
    Space = 8,
}

impl Class {
    /// Number of classes.
    pub(crate) const COUNT: usize = 9;

    /// The classes with characters beyond ASCII, except [`Other`](Self::Other).
    pub(crate) const NON_ASCII: [Self; 6] = [
        Self::Upper,
        Self::Lower,
        Self::Caseless,
        Self::Mark,
        Self::Number,
        Self::OtherWhitespace,
    ];
}
