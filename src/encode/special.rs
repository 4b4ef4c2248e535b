//! Special tokens: where does the text hold one, and which may be found?

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, Anchored, Input, MatchKind, StartKind};
use memchr::memchr;

use crate::error::{EncodeError, VocabularyError};
use crate::token::TokenId;

/// The special tokens of an encoding: texts with ids of their own.
#[derive(Debug, Default)]
pub struct SpecialTokens {
    texts: Vec<String>,
    ids: Vec<TokenId>,
    by_text: HashMap<String, usize>,
    by_id: HashMap<TokenId, usize>,
    /// Finds the longest special token at the first place that holds one.
    finder: Option<AhoCorasick>,
    /// For each special token, those that are a proper start of it, longest first.
    starts: Vec<Vec<usize>>,
    /// The byte that all of them start with, if they do. A text without it needs no other search.
    first_byte: Option<u8>,
}

/// Which special tokens a search may find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// Every special token.
    All,
    /// Those with `true` at their place in [`SpecialTokens`].
    Some(Vec<bool>),
    /// No special token.
    Nothing,
}

/// What becomes of the special tokens in a text. Those neither allowed nor disallowed are ordinary text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// These become their ids.
    pub allowed: Allowed,
    /// These are an error, allowed or not.
    pub disallowed: Allowed,
}

impl Policy {
    /// All special tokens are ordinary text.
    pub const ORDINARY: Self = Self {
        allowed: Allowed::Nothing,
        disallowed: Allowed::Nothing,
    };
}

/// A special token in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found<'a> {
    /// The byte where it starts.
    pub start: usize,
    /// Its text.
    pub text: &'a str,
    /// Its id.
    pub id: TokenId,
}

impl SpecialTokens {
    /// The special tokens `(text, id)`. Of two texts with the same id, decoding gives the first; of a text listed
    /// twice, the first id counts.
    ///
    /// # Errors
    /// [`VocabularyError::EmptySpecialToken`], and [`VocabularyError::TooLarge`] if the search automaton would be.
    pub fn new(tokens: Vec<(String, TokenId)>) -> Result<Self, VocabularyError> {
        let mut special = Self::default();
        for (text, id) in tokens {
            if text.is_empty() {
                return Err(VocabularyError::EmptySpecialToken(id));
            }
            if special.by_text.contains_key(&text) {
                continue;
            }
            let index = special.texts.len();
            special.by_id.entry(id).or_insert(index);
            special.by_text.insert(text.clone(), index);
            special.texts.push(text);
            special.ids.push(id);
        }
        if !special.texts.is_empty() {
            let finder = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .start_kind(StartKind::Unanchored)
                .build(&special.texts)
                .map_err(|_| VocabularyError::TooLarge)?;
            special.finder = Some(finder);
            let first = special.texts[0].as_bytes()[0];
            let shared = special.texts.iter().all(|text| text.as_bytes()[0] == first);
            special.first_byte = shared.then_some(first);
            special.starts = special
                .texts
                .iter()
                .map(|text| special.proper_starts(text))
                .collect();
        }
        Ok(special)
    }

    fn proper_starts(&self, text: &str) -> Vec<usize> {
        let cuts = text.char_indices().map(|(cut, _)| cut).skip(1);
        let mut starts: Vec<usize> = cuts
            .filter_map(|cut| self.by_text.get(&text[..cut]).copied())
            .collect();
        starts.reverse();
        starts
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The largest id, 0 if there are none.
    pub fn largest_id(&self) -> TokenId {
        self.ids.iter().copied().max().unwrap_or(0)
    }

    /// The text of a special token's id.
    pub fn text(&self, id: TokenId) -> Option<&str> {
        self.by_id.get(&id).map(|&index| self.texts[index].as_str())
    }

    /// The id of a special token's text.
    pub fn id(&self, text: &str) -> Option<TokenId> {
        self.by_text.get(text).map(|&index| self.ids[index])
    }

    /// Allows the special tokens among `texts`; other texts are ignored.
    pub fn allow<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Allowed {
        let mut allowed = vec![false; self.texts.len()];
        let mut count = 0;
        for text in texts {
            if let Some(&index) = self.by_text.get(text) {
                count += usize::from(!allowed[index]);
                allowed[index] = true;
            }
        }
        match count {
            0 => Allowed::Nothing,
            _ if count == self.texts.len() => Allowed::All,
            _ => Allowed::Some(allowed),
        }
    }

    /// All special tokens but those `allowed`.
    pub fn except(&self, allowed: &Allowed) -> Allowed {
        match allowed {
            Allowed::All => Allowed::Nothing,
            Allowed::Nothing => Allowed::All,
            Allowed::Some(flags) => Allowed::Some(flags.iter().map(|allowed| !allowed).collect()),
        }
    }

    /// Refuses a text that holds one of the `disallowed` special tokens.
    ///
    /// # Errors
    /// [`EncodeError::Disallowed`].
    ///
    /// # Complexity
    /// As [`find`](Self::find).
    pub fn refuse(&self, text: &str, disallowed: &Allowed) -> Result<(), EncodeError> {
        match self.find(text, 0, disallowed) {
            None => Ok(()),
            Some(found) => Err(EncodeError::Disallowed {
                token: found.text.to_owned(),
                start: text[..found.start].chars().count(),
            }),
        }
    }

    /// Whether a text cut at byte `cut` might be cut within a special token: whether one that starts before ends after.
    pub(crate) fn lies_across(&self, text: &str, cut: usize) -> bool {
        let longest = self.texts.iter().map(String::len).max().unwrap_or(0);
        let near = cut.saturating_sub(longest)..text.len().min(cut.saturating_add(longest));
        let boundary = |&place: &usize| text.is_char_boundary(place);
        let (Some(start), Some(end)) = (
            near.clone().find(boundary),
            (near.start..=near.end).rfind(boundary),
        ) else {
            return false;
        };
        let near = &text[start..end];
        let starts = near.char_indices().map(|(place, _)| place);
        starts.take_while(|place| start + place < cut).any(|place| {
            let longer = |text: &String| {
                start + place + text.len() > cut && near[place..].starts_with(text.as_str())
            };
            self.texts.iter().any(longer)
        })
    }

    /// The first allowed special token at or after byte `from`; where several start, the longest.
    ///
    /// # Complexity
    /// O(text), times the longest special token where many are found that are not allowed.
    pub fn find(&self, text: &str, from: usize, allowed: &Allowed) -> Option<Found<'_>> {
        let finder = self.finder.as_ref()?;
        let is_allowed = |index: usize| match allowed {
            Allowed::All => true,
            Allowed::Some(flags) => flags[index],
            Allowed::Nothing => false,
        };
        if *allowed == Allowed::Nothing {
            return None;
        }
        let mut place = from;
        if let Some(first) = self.first_byte {
            place += memchr(first, text.as_bytes().get(from..)?)?;
        }
        loop {
            let found = finder.find(Input::new(text).range(place..).anchored(Anchored::No))?;
            let longest = found.pattern().as_usize();
            let here = std::iter::once(longest).chain(self.starts[longest].iter().copied());
            if let Some(index) = here.into_iter().find(|&index| is_allowed(index)) {
                return Some(Found {
                    start: found.start(),
                    text: &self.texts[index],
                    id: self.ids[index],
                });
            }
            place = found.start() + 1;
        }
    }
}
