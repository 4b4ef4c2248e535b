//! The parts of a text: tokens that are found in it as they are spelled, and what stands between them.

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
    Added(&'a Search, &'a str),
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
    /// Searches text in UTF-8 for special tokens.
    pub(super) fn special(tokens: &'a SpecialTokens, text: &'a [u8], allowed: &'a Allowed) -> Self {
        Self::new(Searched::Special(tokens, text), allowed)
    }

    /// Searches text for added tokens, of which the special ones need to be allowed.
    pub(super) fn added(search: &'a Search, text: &'a str, allowed: &'a Allowed) -> Self {
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
        match self.searched {
            Searched::Special(_, text) => text.len(),
            Searched::Added(_, text) => text.len(),
        }
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
