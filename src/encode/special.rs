//! Special tokens and disallowed strings: where a text contains one.

use std::collections::{HashMap, HashSet};
use std::iter;
use std::sync::{Arc, Mutex};

use memchr::memmem;

use super::finder::Finder;
use crate::error::{EncodeError, VocabularyError};
use crate::token::TokenId;
use crate::util::lazy::try_lock;
use crate::util::memory;

/// The special tokens of an encoding: strings with ids of their own.
#[derive(Debug, Default)]
pub struct SpecialTokens {
    texts: Vec<String>,
    ids: Vec<TokenId>,
    by_text: HashMap<String, usize>,
    by_id: HashMap<TokenId, usize>,
    /// The most bytes of one.
    longest: usize,
    /// Searches for all of them; `None` if there are none.
    finder: Option<Finder>,
    beside: Beside,
    /// For each special token, the longest other one that is a proper prefix of it.
    prefixes: Vec<Option<usize>>,
    /// Searches for some of them only, made when they were needed, the latest last.
    subsets: Mutex<Vec<(Vec<bool>, Arc<Finder>)>>,
}

/// Up to this length of special tokens, those that are not allowed are found and skipped: this visits the text
/// as often as it has bytes that lie in one of them.
const MAX_SKIPPED: usize = 256;

/// The most searches for some of the special tokens that are kept.
const MAX_SUBSETS: usize = 8;

/// Which characters stand beside each other in some strings, and which they end in.
#[derive(Debug, Default)]
pub(super) struct Beside {
    pairs: HashSet<(char, char)>,
    last: HashSet<char>,
}

impl Beside {
    /// Collects those of all `strings`.
    pub(super) fn of<'a>(strings: impl Iterator<Item = &'a str>) -> Self {
        let mut beside = Self::default();
        for string in strings {
            let characters = || string.chars();
            let pairs = characters().zip(characters().skip(1));
            beside.pairs.extend(pairs);
            beside.last.extend(characters().next_back());
        }
        beside
    }

    /// Returns whether two characters stand beside each other in a string.
    pub(super) fn reaches_across(&self, before: char, after: char) -> bool {
        self.pairs.contains(&(before, after))
    }

    /// Returns whether a string ends in this character.
    pub(super) fn may_end_in(&self, character: char) -> bool {
        self.last.contains(&character)
    }
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

impl Allowed {
    /// Returns whether the special token of an index may be found.
    pub(super) fn allows(&self, index: usize) -> bool {
        match self {
            Self::All => true,
            Self::Some(flags) => flags[index],
            Self::Nothing => false,
        }
    }
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
    texts: Vec<String>,
    beside: Beside,
    finder: Finder,
}

impl Disallowed {
    /// The strings, of which some may be among these special tokens.
    pub(super) fn strings<'a>(&'a self, tokens: &'a SpecialTokens) -> Vec<&'a str> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Tokens(disallowed) => memory::collect(tokens.allowed_by(disallowed)),
            Self::Strings(any) => memory::collect(any.texts.iter().map(String::as_str)),
        }
    }

    /// Returns whether no string that may be no special token has two characters beside each other.
    pub(super) fn keeps_apart(&self, (before, after): (char, char)) -> bool {
        !matches!(self, Self::Strings(any) if any.beside.reaches_across(before, after))
    }
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
            special.longest = special.longest.max(text.len());
            special.texts.push(text);
            special.ids.push(id);
        }
        if !special.texts.is_empty() {
            let finder = Finder::new(&special.texts).map_err(|_| VocabularyError::TooLarge)?;
            special.finder = Some(finder);
            special.beside = Beside::of(special.texts.iter().map(String::as_str));
            special.prefixes = longest_prefixes(&special.texts);
        }
        Ok(special)
    }

    /// The characters of special tokens that stand beside each other.
    pub(super) fn beside(&self) -> &Beside {
        &self.beside
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

    /// The index of a special token's text.
    pub(super) fn index(&self, text: &str) -> Option<usize> {
        self.by_text.get(text).copied()
    }

    /// The texts and ids, by index.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, TokenId)> {
        let texts = self.texts.iter().map(String::as_str);
        texts.zip(self.ids.iter().copied())
    }

    /// The texts of those that may be found.
    pub(super) fn allowed_by<'a>(&'a self, allowed: &'a Allowed) -> impl Iterator<Item = &'a str> {
        let texts = self.texts.iter().enumerate();
        texts.filter_map(|(index, text)| allowed.allows(index).then_some(text.as_str()))
    }

    /// Allows the special tokens among `texts`; other texts are ignored.
    pub fn allow<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Allowed {
        let mut allowed = memory::filled(false, self.texts.len());
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
        let beside = Beside::of(strings.iter().map(String::as_str));
        let texts = strings;
        let strings = Strings {
            texts,
            beside,
            finder,
        };
        Ok(Disallowed::Strings(Arc::new(strings)))
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
            Disallowed::Strings(any) => any.finder.find(text.as_bytes(), 0).map(|found| {
                (
                    any.texts[found.pattern().as_usize()].as_str(),
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

    /// True if an allowed special token starts before byte `cut` of `text` and ends after it.
    ///
    /// # Complexity
    /// O(bytes of all special tokens).
    pub(crate) fn lies_across(&self, text: &str, cut: usize, allowed: &Allowed) -> bool {
        self.is_within(text, cut, allowed, |length| length - 1)
    }

    /// True if an allowed special token starts before byte `cut` of `text` or there, and ends after it or there.
    ///
    /// # Complexity
    /// O(bytes of all special tokens).
    pub(super) fn touches(&self, text: &str, cut: usize, allowed: &Allowed) -> bool {
        self.is_within(text, cut, allowed, |length| length)
    }

    /// True if an allowed special token lies in the bytes next to `cut`, as many on either side as `beside` says for its
    /// length.
    fn is_within(
        &self,
        text: &str,
        cut: usize,
        allowed: &Allowed,
        beside: impl Fn(usize) -> usize,
    ) -> bool {
        if *allowed == Allowed::Nothing {
            return false;
        }
        let allowed = (0..)
            .zip(&self.texts)
            .filter(|(index, _)| allowed.allows(*index));
        allowed.map(|(_, token)| token).any(|token| {
            // So few bytes that it reaches the cut wherever it is in them.
            let beside = beside(token.len());
            let near = cut.saturating_sub(beside)..text.len().min(cut.saturating_add(beside));
            memmem::find(&text.as_bytes()[near], token.as_bytes()).is_some()
        })
    }

    /// Returns the first allowed special token in UTF-8 at or after byte `from`; where several start, the longest.
    ///
    /// # Complexity
    /// O(text), and one allowed special token beyond the one that is found, which may begin it.
    pub fn find(
        &self,
        text: impl AsRef<[u8]>,
        from: usize,
        allowed: &Allowed,
    ) -> Option<Found<'_>> {
        let text = text.as_ref();
        let finder = self.finder.as_ref()?;
        let (start, index) = match allowed {
            Allowed::Nothing => return None,
            Allowed::All => {
                let found = finder.find(text, from)?;
                (found.start(), found.pattern().as_usize())
            }
            Allowed::Some(flags) if self.longest > MAX_SKIPPED => {
                let found = self.subset(flags).find(text, from)?;
                let index = indices(flags).nth(found.pattern().as_usize())?;
                (found.start(), index)
            }
            Allowed::Some(flags) => self.find_skipping(finder, text, from, flags)?,
        };
        Some(Found {
            start,
            text: &self.texts[index],
            id: self.ids[index],
        })
    }

    /// As [`find`](Self::find), by the search for all special tokens: those not allowed are skipped.
    fn find_skipping(
        &self,
        finder: &Finder,
        text: &[u8],
        mut from: usize,
        allowed: &[bool],
    ) -> Option<(usize, usize)> {
        loop {
            let found = finder.find(text, from)?;
            let longest = found.pattern().as_usize();
            let mut here = iter::successors(Some(longest), |&index| self.prefixes[index]);
            if let Some(index) = here.find(|&index| allowed[index]) {
                return Some((found.start(), index));
            }
            from = found.start() + 1;
        }
    }

    /// Returns the search for the `allowed` special tokens alone.
    fn subset(&self, allowed: &[bool]) -> Arc<Finder> {
        let known = try_lock(&self.subsets).and_then(|subsets| {
            let (_, finder) = subsets.iter().find(|(flags, _)| flags == allowed)?;
            Some(Arc::clone(finder))
        });
        if let Some(finder) = known {
            return finder;
        }
        let texts = indices(allowed).map(|index| &self.texts[index]);
        let finder = Finder::new(&texts.collect::<Vec<_>>());
        let finder = Arc::new(finder.expect("the search for all of them was not too large"));
        if let Some(mut subsets) = try_lock(&self.subsets) {
            // Another thread may have made the same meanwhile: then it is kept twice.
            if subsets.len() == MAX_SUBSETS {
                subsets.remove(0);
            }
            subsets.push((allowed.to_vec(), Arc::clone(&finder)));
        }
        finder
    }
}

/// Returns the indices of the `true` flags.
fn indices(flags: &[bool]) -> impl Iterator<Item = usize> {
    let flags = flags.iter().enumerate();
    flags.filter_map(|(index, &flag)| flag.then_some(index))
}

/// Returns the index of the longest other text that is a proper prefix of each of these different ones.
///
/// # Complexity
/// O(n log n) for n bytes.
pub(super) fn longest_prefixes(texts: &[String]) -> Vec<Option<usize>> {
    let mut sorted: Vec<usize> = (0..texts.len()).collect();
    sorted.sort_unstable_by_key(|&index| &texts[index]);
    let mut prefixes = memory::filled(None, texts.len());
    // In this order a text comes right after its prefixes, and what else begins with them.
    let mut open: Vec<usize> = Vec::new();
    for index in sorted {
        while open
            .pop_if(|prefix| !texts[index].starts_with(&texts[*prefix]))
            .is_some()
        {}
        prefixes[index] = open.last().copied();
        open.push(index);
    }
    prefixes
}

#[cfg(test)]
mod tests {
    use super::{MAX_SKIPPED, SpecialTokens};
    use std::error::Error;

    /// As after a fork while another thread held the lock.
    #[test]
    fn a_lock_that_is_held_is_not_waited_for() -> Result<(), Box<dyn Error>> {
        let long = "x".repeat(MAX_SKIPPED + 1);
        let special = SpecialTokens::new(vec![("<a>".to_owned(), 1), (long, 2)])?;
        let allowed = special.allow(["<a>"]);
        let held = special.subsets.lock().map_err(|error| error.to_string())?;
        let found = special.find("b <a>", 0, &allowed).ok_or("it is there")?;
        assert_eq!((found.start, found.id), (2, 1));
        assert!(held.is_empty());
        Ok(())
    }
}
