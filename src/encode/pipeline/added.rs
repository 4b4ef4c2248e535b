//! Added tokens: strings that become ids before text is split, where their flags let them.
//!
//! There are two searches, of the raw text and of normalized text. Each finds the leftmost strings, of several that
//! start at one place the longest, which do not overlap; then come the flags of the token that was found:
//!
//! ```text
//! special       it is passed over, and not searched for shorter ones, unless it is allowed
//! single_word   so too where a character of a word stands beside it
//! lstrip        it takes the blanks before it, back to the end of the token before
//! rstrip        it takes the blanks after it; the search goes on behind the string all the same
//! ```

use std::collections::{HashMap, HashSet};
use std::iter;
use std::ops::Range;

use crate::encode::finder::Finder;
use crate::encode::special::{Allowed, Beside, SpecialTokens, longest_prefixes};
use crate::error::VocabularyError;
use crate::token::TokenId;
use crate::util::memory;
use crate::util::regex::{self, Regex};

/// A string that becomes an id, as a file of Hugging Face's tokenizers describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are flags in the file")]
pub struct AddedToken {
    /// The string.
    pub content: String,
    /// Its id.
    pub id: TokenId,
    /// Whether it is found only where it is allowed.
    pub special: bool,
    /// Whether it takes the blanks before it.
    pub lstrip: bool,
    /// Whether it takes the blanks after it.
    pub rstrip: bool,
    /// Whether it is found only where no character of a word stands beside it.
    pub single_word: bool,
    /// Whether it is normalized, and found in normalized text.
    pub normalized: bool,
}

/// The added tokens of an encoder, and both searches.
#[derive(Debug)]
pub(in crate::encode) struct AddedTokens {
    /// `None` if special tokens are searched for as without a pipeline.
    pub(super) raw: Option<Search>,
    pub(super) normalized: Search,
    /// Those that are not special, by id and by string.
    texts: HashMap<TokenId, String>,
    ids: HashMap<String, TokenId>,
}

/// A search for added tokens.
#[derive(Debug)]
pub(in crate::encode) struct Search {
    /// `None` if there are none.
    finder: Option<Finder>,
    tokens: Vec<Token>,
    /// Their strings.
    texts: Vec<String>,
    /// Matches a character of a word; `None` if no token asks for one.
    word: Option<Regex>,
    /// Whether U+0020 stands for a mark, which is no blank.
    has_marks: bool,
    /// Whether a token takes blanks before it or behind it.
    takes_blanks: bool,
    beside: Beside,
    /// The first characters of tokens that look at what stands before them, other than blanks.
    looking_back: HashSet<char>,
    /// The last characters of those that look at what stands behind them.
    looking_ahead: HashSet<char>,
}

/// A token of a search.
#[derive(Clone, Copy, Debug)]
struct Token {
    id: TokenId,
    /// Its index among the special tokens, if it is one.
    special: Option<usize>,
    lstrip: bool,
    rstrip: bool,
    single_word: bool,
}

impl Token {
    /// A token without flags.
    fn plain(id: TokenId) -> Self {
        Self {
            id,
            special: None,
            lstrip: false,
            rstrip: false,
            single_word: false,
        }
    }
}

/// A token in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::encode) struct Match {
    pub(in crate::encode) id: TokenId,
    /// All that it takes of the text.
    pub(in crate::encode) span: Range<usize>,
    /// Where the search goes on.
    pub(in crate::encode) next: usize,
}

impl AddedTokens {
    /// Builds both searches. The ids of special tokens are those of `special`; a special token that `added` does not
    /// list has no flags. `symbols` are found in normalized text as they are. `normalize` makes normalized text, in which
    /// U+0020 is a mark if `has_marks` says so.
    ///
    /// # Errors
    /// [`VocabularyError`] if `tokenizers` would not always find the same tokens, or if there are too many.
    pub(super) fn new(
        added: Option<&[AddedToken]>,
        symbols: &[(String, TokenId)],
        special: &SpecialTokens,
        has_marks: bool,
        normalize: impl Fn(&str) -> Result<String, VocabularyError>,
    ) -> Result<Self, VocabularyError> {
        let (mut raw, mut normalized) = (Vec::new(), Vec::new());
        let mut listed = memory::filled(false, special.len());
        let is_searched = added.is_some();
        let added = added.unwrap_or_default();
        for (text, id) in symbols {
            normalized.push((text.clone(), text.clone(), Token::plain(*id)));
        }
        for token in added {
            let index = special.index(&token.content);
            if let Some(index) = index {
                listed[index] = true;
            } else if token.special {
                // The encoder has other special tokens than the file.
                continue;
            }
            let found = Token {
                id: special.id(&token.content).unwrap_or(token.id),
                special: index,
                lstrip: token.lstrip,
                rstrip: token.rstrip,
                single_word: token.single_word,
            };
            if token.normalized {
                normalized.push((normalize(&token.content)?, token.content.clone(), found));
            } else {
                raw.push((token.content.clone(), token.content.clone(), found));
            }
        }
        for (index, (text, id)) in special.iter().enumerate() {
            if !listed[index] {
                let found = Token {
                    special: Some(index),
                    ..Token::plain(id)
                };
                raw.push((text.to_owned(), text.to_owned(), found));
            }
        }
        let ordinary = added.iter().filter(|token| !token.special);
        Ok(Self {
            raw: is_searched.then(|| Search::new(&raw, false)).transpose()?,
            normalized: Search::new(&normalized, has_marks)?,
            texts: ordinary
                .clone()
                .map(|token| (token.id, token.content.clone()))
                .collect(),
            ids: ordinary
                .map(|token| (token.content.clone(), token.id))
                .collect(),
        })
    }

    /// The string of a token that is not special.
    pub(in crate::encode) fn text(&self, id: TokenId) -> Option<&str> {
        self.texts.get(&id).map(String::as_str)
    }

    /// The id of a token that is not special.
    pub(in crate::encode) fn id(&self, text: &str) -> Option<TokenId> {
        self.ids.get(text).copied()
    }

    /// The ids of tokens that are not special, in any order.
    pub(in crate::encode) fn ids(&self) -> impl Iterator<Item = TokenId> {
        self.texts.keys().copied()
    }

    /// The largest id of a token that is not special, 0 if there are none.
    pub(in crate::encode) fn largest_id(&self) -> TokenId {
        self.ids.values().copied().max().unwrap_or(0)
    }
}

impl Search {
    /// Builds the search for tokens, each after the string to find and its string in the file.
    fn new(tokens: &[(String, String, Token)], has_marks: bool) -> Result<Self, VocabularyError> {
        if let Some((_, content, _)) = tokens.iter().find(|(text, ..)| text.is_empty()) {
            return Err(VocabularyError::AddedToken {
                content: content.clone(),
                reason: "nothing is left of it, which would be found everywhere".to_owned(),
            });
        }
        let mut contents: HashMap<&str, &str> = HashMap::new();
        for (text, content, _) in tokens {
            if let Some(first) = contents.insert(text, content) {
                return Err(VocabularyError::AmbiguousAddedTokens {
                    first: first.to_owned(),
                    second: content.clone(),
                });
            }
        }
        let word = tokens.iter().any(|(.., token)| token.single_word);
        let search = Self {
            finder: None,
            tokens: tokens.iter().map(|(.., token)| *token).collect(),
            texts: tokens.iter().map(|(text, ..)| text.clone()).collect(),
            word: word.then(|| regex::compiled(r"^\w", 1).expect("it compiles")),
            has_marks,
            takes_blanks: tokens
                .iter()
                .any(|(.., token)| token.lstrip || token.rstrip),
            beside: Beside::of(tokens.iter().map(|(text, ..)| text.as_str())),
            looking_back: tokens
                .iter()
                .filter(|(.., token)| token.single_word)
                .filter_map(|(text, ..)| text.chars().next())
                .collect(),
            looking_ahead: tokens
                .iter()
                .filter(|(.., token)| token.single_word || token.rstrip)
                .filter_map(|(text, ..)| text.chars().next_back())
                .collect(),
        };
        let stripping = tokens.iter().find(|(.., token)| token.rstrip);
        let blank = tokens.iter().find(|(text, _, token)| {
            token.lstrip && !token.rstrip && text.chars().all(|c| search.is_blank(c))
        });
        if let (Some((_, stripping, _)), Some((_, blank, _))) = (stripping, blank) {
            return Err(VocabularyError::OverlappingAddedTokens {
                stripping: stripping.clone(),
                blank: blank.clone(),
            });
        }
        let texts = &search.texts;
        let finder = (!texts.is_empty()).then(|| Finder::new(texts));
        Ok(Self {
            finder: finder.transpose().map_err(|_| VocabularyError::TooLarge)?,
            ..search
        })
    }

    /// Returns whether a token in a text may depend on both of two characters that stand beside each other.
    pub(in crate::encode) fn reaches_across(&self, before: char, after: char) -> bool {
        self.beside.reaches_across(before, after)
            || self.takes_blanks && self.is_blank(before)
            || self.looking_ahead.contains(&before)
            || self.looking_back.contains(&after)
    }

    /// Returns whether a token in a text may end in this character.
    pub(in crate::encode) fn may_end_in(&self, character: char) -> bool {
        self.beside.may_end_in(character) || self.takes_blanks && self.is_blank(character)
    }

    /// Returns the strings of all tokens, each with whether it is a special one before which a text may be cut wherever no
    /// string lies across: both parts have the tokens that they have in the whole.
    ///
    /// So it is if the token is found whatever stands around it, and takes nothing of what stands before it; if it begins with
    /// no character of a word, for which one before it may look; and if it begins no longer one that may be passed over.
    /// Tokens among the blanks that one before them takes are found all the same.
    pub(in crate::encode) fn dividing(&self, allowed: &Allowed) -> Vec<(&str, bool)> {
        let is_found = |(token, text): (&Token, &String)| {
            let is_allowed = token.special.is_some_and(|index| allowed.allows(index));
            is_allowed
                && !token.lstrip
                && !token.single_word
                && !text.chars().next().is_some_and(|c| self.is_of_word(c))
        };
        let found: Vec<bool> = memory::collect(self.tokens.iter().zip(&self.texts).map(is_found));
        let mut divides = memory::copied(&found);
        let prefixes = longest_prefixes(&self.texts);
        for (index, _) in found.iter().enumerate().filter(|(_, found)| !**found) {
            let shorter = iter::successors(prefixes[index], |&prefix| prefixes[prefix]);
            for prefix in shorter {
                divides[prefix] = false;
            }
        }
        let texts = self.texts.iter().map(String::as_str);
        memory::collect(texts.zip(divides))
    }

    /// True if there is nothing to find.
    pub(in crate::encode) fn is_empty(&self) -> bool {
        self.finder.is_none()
    }

    /// Returns the first token whose string starts at byte `from` or after it; `taken` is where the token before ends.
    pub(in crate::encode) fn find(
        &self,
        text: &[u8],
        mut from: usize,
        taken: usize,
        allowed: &Allowed,
    ) -> Option<Match> {
        let finder = self.finder.as_ref()?;
        loop {
            let found = finder.find(text, from)?;
            let Range { mut start, mut end } = found.range();
            from = end;
            let flags = self.tokens[found.pattern().as_usize()];
            let is_allowed = flags.special.is_none_or(|index| allowed.allows(index));
            if !is_allowed || flags.single_word && !self.is_alone(text, start..end) {
                continue;
            }
            if flags.lstrip {
                while let Some(blank) = last(&text[..start]).filter(|&c| self.is_blank(c)) {
                    start -= blank.len_utf8();
                }
                start = start.max(taken);
            }
            if flags.rstrip {
                while let Some(blank) = first(&text[end..]).filter(|&c| self.is_blank(c)) {
                    end += blank.len_utf8();
                }
            }
            assert!(
                start <= end,
                "a token of blanks behind one that takes them is refused"
            );
            return Some(Match {
                id: flags.id,
                span: start..end,
                next: from,
            });
        }
    }

    /// Returns whether no character of a word stands beside a span.
    fn is_alone(&self, text: &[u8], span: Range<usize>) -> bool {
        let before = last(&text[..span.start]);
        let after = first(&text[span.end..]);
        let is_of_word = |c| self.is_of_word(c);
        !before.is_some_and(is_of_word) && !after.is_some_and(is_of_word)
    }

    /// Returns whether a character is one of a word, if a token asks for that.
    fn is_of_word(&self, c: char) -> bool {
        self.word.as_ref().is_some_and(|word| {
            let matched = word.is_match(c.encode_utf8(&mut [0; 4]));
            matched.expect("no backtracking that could fail")
        })
    }

    fn is_blank(&self, c: char) -> bool {
        c.is_whitespace() && !(self.has_marks && c == ' ')
    }
}

/// Returns the character that a text begins with.
fn first(text: &[u8]) -> Option<char> {
    let chunk = text[..text.len().min(4)].utf8_chunks().next()?;
    chunk.valid().chars().next()
}

/// Returns the character that a text ends in.
fn last(text: &[u8]) -> Option<char> {
    let is_first = |byte: &u8| byte & 0xC0 != 0x80;
    let start = text.iter().rposition(is_first)?;
    first(&text[start..])
}
