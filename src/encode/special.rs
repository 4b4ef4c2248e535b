//! Special tokens and disallowed strings: where a text contains one.

use std::collections::HashMap;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, BuildError, Input, Match, MatchKind, StartKind};
use memchr::memchr;

use crate::error::{EncodeError, VocabularyError};
use crate::token::TokenId;

/// The special tokens of an encoding: strings with ids of their own.
#[derive(Debug, Default)]
pub struct SpecialTokens {
    texts: Vec<String>,
    ids: Vec<TokenId>,
    by_text: HashMap<String, usize>,
    by_id: HashMap<TokenId, usize>,
    /// Searches for all of them; `None` if there are none.
    finder: Option<Finder>,
    /// For each special token, the others that are a proper prefix of it, longest first.
    prefixes: Vec<Vec<usize>>,
}

/// The special tokens that a search may find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// Every special token.
    All,
    /// Those with `true` at their index in [`SpecialTokens`].
    Some(Vec<bool>),
    /// No special token.
    Nothing,
}

/// The strings that a text must not contain. Compiled once for all texts of a call.
#[derive(Clone, Debug, Default)]
pub enum Disallowed {
    /// No string.
    #[default]
    Nothing,
    /// Some special tokens of the encoding, whose own search finds them.
    Tokens(Allowed),
    /// Any strings, special tokens or not.
    Strings(Arc<Strings>),
}

/// Strings with a search for all of them.
#[derive(Debug)]
pub struct Strings {
    strings: Vec<String>,
    finder: Finder,
}

impl From<Allowed> for Disallowed {
    fn from(tokens: Allowed) -> Self {
        match tokens {
            Allowed::Nothing => Self::Nothing,
            tokens => Self::Tokens(tokens),
        }
    }
}

/// How the special tokens in a text are treated. Those neither allowed nor disallowed are ordinary text.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Special tokens that become their ids.
    pub allowed: Allowed,
    /// Strings that are an error, even if they are allowed special tokens.
    pub disallowed: Disallowed,
}

impl Policy {
    /// All special tokens are ordinary text.
    pub const ORDINARY: Self = Self {
        allowed: Allowed::Nothing,
        disallowed: Disallowed::Nothing,
    };
}

/// A special token in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found<'a> {
    /// Byte offset where it starts.
    pub start: usize,
    /// Its text.
    pub text: &'a str,
    /// Its id.
    pub id: TokenId,
}

impl SpecialTokens {
    /// Builds the special tokens from `(text, id)` pairs. Of two texts with the same id, decoding returns the
    /// first; of a text listed twice, the first id counts.
    ///
    /// # Errors
    /// [`VocabularyError::EmptySpecialToken`]; [`VocabularyError::TooLarge`] if the search automaton would
    /// be.
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
            let finder = Finder::new(&special.texts).map_err(|_| VocabularyError::TooLarge)?;
            special.finder = Some(finder);
            let prefixes = special.texts.iter().map(|text| special.prefixes_of(text));
            special.prefixes = prefixes.collect();
        }
        Ok(special)
    }

    fn prefixes_of(&self, text: &str) -> Vec<usize> {
        let ends = text.char_indices().map(|(end, _)| end).skip(1);
        let mut prefixes: Vec<usize> = ends
            .filter_map(|end| self.by_text.get(&text[..end]).copied())
            .collect();
        prefixes.reverse();
        prefixes
    }

    /// Number of special tokens.
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

    /// Disallows `strings`, special tokens or not. Compiles an automaton unless all of them are special
    /// tokens.
    ///
    /// # Errors
    /// [`VocabularyError::TooLarge`] if the automaton would be.
    pub fn disallow(&self, strings: Vec<String>) -> Result<Disallowed, VocabularyError> {
        if strings
            .iter()
            .all(|string| self.by_text.contains_key(string))
        {
            return Ok(self.allow(strings.iter().map(String::as_str)).into());
        }
        let finder = Finder::new(&strings).map_err(|_| VocabularyError::TooLarge)?;
        Ok(Disallowed::Strings(Arc::new(Strings { strings, finder })))
    }

    /// Disallows all special tokens except the `allowed` ones.
    pub fn disallow_except(&self, allowed: &Allowed) -> Disallowed {
        match allowed {
            Allowed::All => Disallowed::Nothing,
            Allowed::Nothing => Disallowed::Tokens(Allowed::All),
            Allowed::Some(flags) => {
                let flags = flags.iter().map(|allowed| !allowed).collect();
                Disallowed::Tokens(Allowed::Some(flags))
            }
        }
    }

    /// Returns an error if `text` contains a `disallowed` string: the leftmost, and of several there the
    /// longest.
    ///
    /// # Errors
    /// [`EncodeError::Disallowed`].
    ///
    /// # Complexity
    /// As [`find`](Self::find): one search.
    pub fn refuse(&self, text: &str, disallowed: &Disallowed) -> Result<(), EncodeError> {
        let found = match disallowed {
            Disallowed::Nothing => None,
            Disallowed::Tokens(tokens) => self
                .find(text, 0, tokens)
                .map(|found| (found.text, found.start)),
            Disallowed::Strings(any) => any.finder.find(text, 0).map(|found| {
                (
                    any.strings[found.pattern().as_usize()].as_str(),
                    found.start(),
                )
            }),
        };
        match found {
            None => Ok(()),
            Some((string, start)) => Err(EncodeError::Disallowed {
                token: string.to_owned(),
                start: text[..start].chars().count(),
            }),
        }
    }

    /// True if a special token starts before byte `cut` of `text` and ends after it.
    pub(crate) fn lies_across(&self, text: &str, cut: usize) -> bool {
        let longest = self.texts.iter().map(String::len).max().unwrap_or(0);
        let near = cut.saturating_sub(longest)..text.len().min(cut.saturating_add(longest));
        let boundary = |&offset: &usize| text.is_char_boundary(offset);
        let (Some(start), Some(end)) = (
            near.clone().find(boundary),
            (near.start..=near.end).rfind(boundary),
        ) else {
            return false;
        };
        let near = &text[start..end];
        let starts = near.char_indices().map(|(offset, _)| offset);
        starts
            .take_while(|offset| start + offset < cut)
            .any(|offset| {
                self.texts.iter().any(|text| {
                    start + offset + text.len() > cut && near[offset..].starts_with(text.as_str())
                })
            })
    }

    /// Returns the first allowed special token at or after byte `from`; where several start, the longest.
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
        let mut from = from;
        loop {
            let found = finder.find(text, from)?;
            let longest = found.pattern().as_usize();
            let here = std::iter::once(longest).chain(self.prefixes[longest].iter().copied());
            if let Some(index) = here.into_iter().find(|&index| is_allowed(index)) {
                return Some(Found {
                    start: found.start(),
                    text: &self.texts[index],
                    id: self.ids[index],
                });
            }
            from = found.start() + 1;
        }
    }
}

/// A search for some strings at once: the leftmost, and of several that start there the longest.
#[derive(Debug)]
struct Finder {
    automaton: AhoCorasick,
    /// The first byte of all strings, if it is the same: `memchr` skips to it, which is all that most texts
    /// need.
    first_byte: Option<u8>,
}

impl Finder {
    fn new(strings: &[String]) -> Result<Self, BuildError> {
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .start_kind(StartKind::Unanchored)
            .build(strings)?;
        let mut first_bytes = strings.iter().map(|string| string.as_bytes().first());
        let first = first_bytes.next().flatten().copied();
        let shared = first_bytes.all(|byte| byte.copied() == first);
        Ok(Self {
            automaton,
            first_byte: first.filter(|_| shared),
        })
    }

    fn find(&self, text: &str, from: usize) -> Option<Match> {
        let start = match self.first_byte {
            Some(byte) => from + memchr(byte, text.as_bytes().get(from..)?)?,
            None => from,
        };
        self.automaton.find(Input::new(text).range(start..))
    }
}
