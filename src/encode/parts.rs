//! The parts of a text: tokens that are found in it as they are spelled, and the gaps between them; and the segments that
//! a pipeline makes of a gap.

use std::ops::Range;

use super::pipeline::added::{Match, Search};
use super::special::{Allowed, SpecialTokens};
use crate::token::TokenId;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Text between tokens, never empty.
    Text(Range<usize>),
    /// A token, which may take more of the text than its string.
    Token(TokenId, Range<usize>),
}

/// Tokens to search for, and the text.
enum Searched<'a> {
    Special(&'a SpecialTokens, &'a [u8]),
    Added(&'a Search, &'a [u8]),
}

/// The parts of a text, in order.
pub(super) struct Parts<'a> {
    searched: Searched<'a>,
    allowed: &'a Allowed,
    /// Where the search goes on.
    from: usize,
    /// Where the last token ends.
    taken: usize,
    /// The token after the text that came last.
    token: Option<Match>,
}

impl<'a> Parts<'a> {
    /// Searches text for special tokens.
    pub(super) fn special(tokens: &'a SpecialTokens, text: &'a [u8], allowed: &'a Allowed) -> Self {
        Self::new(Searched::Special(tokens, text), allowed)
    }

    /// Searches text for added tokens, of which the special ones need to be allowed.
    pub(super) fn added(search: &'a Search, text: &'a [u8], allowed: &'a Allowed) -> Self {
        Self::new(Searched::Added(search, text), allowed)
    }

    fn new(searched: Searched<'a>, allowed: &'a Allowed) -> Self {
        Self {
            searched,
            allowed,
            from: 0,
            taken: 0,
            token: None,
        }
    }

    fn length(&self) -> usize {
        let (Searched::Special(_, text) | Searched::Added(_, text)) = self.searched;
        text.len()
    }

    fn next_token(&self) -> Option<Match> {
        match self.searched {
            Searched::Special(tokens, text) => {
                let found = tokens.find(text, self.from, self.allowed)?;
                let end = found.start + found.text.len();
                Some(Match {
                    id: found.id,
                    span: found.start..end,
                    next: end,
                })
            }
            Searched::Added(search, text) => search.find(text, self.from, self.taken, self.allowed),
        }
    }
}

impl Iterator for Parts<'_> {
    type Item = Part;

    fn next(&mut self) -> Option<Part> {
        loop {
            let token = self.token.take().or_else(|| self.next_token());
            let start = token
                .as_ref()
                .map_or(self.length(), |token| token.span.start);
            let before = self.taken..start;
            if !before.is_empty() {
                self.taken = start;
                if token.is_none() {
                    self.from = start;
                }
                self.token = token;
                return Some(Part::Text(before));
            }
            let token = token?;
            // Among blanks that the token before took, a token may be found: its end may be before theirs.
            (self.from, self.taken) = (token.next, token.span.end);
            // What is taken altogether vanishes.
            if !token.span.is_empty() {
                return Some(Part::Token(token.id, token.span));
            }
        }
    }
}

// The parts of what stands between tokens, in a pipeline.

/// Stands for a space in normalized text, whatever does in the file.
pub(super) const SPACE: &[u8] = b" ";

/// A gap of a text between tokens, or what follows a cut of one.
#[derive(Clone, Copy)]
pub(super) struct Gap<'t> {
    pub(super) bytes: &'t [u8],
    /// The bytes as text, if it is known that they are.
    pub(super) text: Option<&'t str>,
    /// Where it stands in the text.
    pub(super) offset: usize,
    /// Whether nothing of the gap stands before it: otherwise it follows a [cut](super::Encoder::cuts).
    pub(super) is_start: bool,
    /// Whether nothing of the text does.
    pub(super) is_first: bool,
}

impl<'t> Gap<'t> {
    /// A whole text as a gap.
    pub(super) fn of(text: &'t str) -> Self {
        Self {
            text: Some(text),
            ..Self::of_bytes(text.as_bytes())
        }
    }

    /// Bytes that may be no text as a gap.
    pub(super) fn of_bytes(bytes: &'t [u8]) -> Self {
        Self {
            bytes,
            text: None,
            offset: 0,
            is_start: true,
            is_first: true,
        }
    }

    /// A part of a text as a gap.
    pub(super) fn within(text: &'t str, span: Range<usize>) -> Self {
        let offset = span.start;
        Self {
            offset,
            is_first: offset == 0,
            ..Self::of(&text[span])
        }
    }
}

/// A part of a gap that is treated.
pub(super) enum Segment<'t> {
    /// A token that was found, with its span in the gap if that was asked for.
    Token(TokenId, Option<Range<usize>>),
    /// Text to split and merge, never empty.
    Text {
        /// Its bytes.
        text: &'t [u8],
        /// Whether a space goes before it.
        behind_space: bool,
        /// Where it comes from.
        origin: Origin<'t>,
    },
}

impl Segment<'_> {
    /// Number of bytes to split and merge.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Token(..) => 0,
            Self::Text { text, .. } => text.len(),
        }
    }
}

/// Where the bytes of a text come from in the gap.
#[derive(Clone, Copy)]
pub(super) enum Origin<'t> {
    /// They are bytes of the gap, from this offset on.
    Gap(usize),
    /// Each stands for the span of a character.
    Spans(&'t [Range<usize>]),
    /// Not asked for.
    Unknown,
}

impl Origin<'_> {
    /// The origin of a part of the text.
    pub(super) fn part(self, part: Range<usize>) -> Self {
        match self {
            Self::Gap(offset) => Self::Gap(offset + part.start),
            Self::Spans(spans) => Self::Spans(&spans[part]),
            Self::Unknown => Self::Unknown,
        }
    }

    /// The span of the gap that some bytes of the text, at least one, come from.
    pub(super) fn span(self, bytes: Range<usize>) -> Option<Range<usize>> {
        match self {
            Self::Gap(offset) => Some(offset + bytes.start..offset + bytes.end),
            Self::Spans(spans) => Some(spans[bytes.start].start..spans[bytes.end - 1].end),
            Self::Unknown => None,
        }
    }

    /// Returns whether the text comes from the start of the gap.
    pub(super) fn is_start(self) -> bool {
        self.span(0..1).is_some_and(|span| span.start == 0)
    }
}
