//! Offsets where a text can be cut in two so that its ids are those of both parts.
//!
//! With a native pattern those are the [cuts of the splitter](crate::split::Splitter::cuts). With a model they are
//! between two characters that no token joins and no user-defined symbol, so that the pieces on both sides are merged
//! by themselves, and neither beside a mark, which becomes a space, nor behind a character that is no token where such
//! characters become one token together.
//!
//! **Normalization.** Where it leaves a text as it is, no more is needed. Where it works word by word, a cut is before a
//! space, behind a letter or digit that becomes itself whatever stands before it: so the left side does not end in a
//! space that would be removed, and the right side begins with one that is kept, as it begins no text.
//!
//! There are none in a model that adds a space behind each text, or takes tokens apart by what the whole text holds.
//!
//! In a pipeline they are those of its splitter between two characters that normalization leaves as they are and beside
//! each other, and that no added token joins or looks at ([`Prepared::keeps_apart`]); there are none in one that puts a
//! space in front. The first of the two is a letter or number, so no token takes blanks across a cut.

use std::ops::Range;

use super::sentencepiece::SentencePiece;
use super::{Encoder, Rules};
use crate::vocabulary::characters::MARK;

/// Bytes that are searched for a cut of a text to divide it.
const SEARCH_BYTES: usize = 1 << 16;

/// The longest word before a cut, in bytes, where normalization works word by word.
const LONGEST_WORD: usize = 64;

impl Encoder {
    /// Returns the offsets in `range` where `text` can be cut, in order: its ids are those of `text[..cut]` followed by
    /// those of `text[cut..]`, if this is known to [follow](Self::encode_after_cut) other text. The start and the end
    /// of the text are not among them.
    ///
    /// # Complexity
    /// O(range) for all of them.
    pub fn cuts(&self, text: &str, range: Range<usize>) -> impl Iterator<Item = usize> {
        let is_model = self.sentencepiece().is_some();
        let of_pattern = (!is_model).then(|| self.splitter.cuts(text, range.clone()));
        let of_pattern = of_pattern.into_iter().flatten();
        let of_pattern = of_pattern.filter(move |&offset| match &self.rules {
            Some(Rules::Pipeline(pipeline)) => {
                let (left, right) = text.split_at(offset);
                let beside = left.chars().next_back().zip(right.chars().next());
                beside.is_some_and(|(before, after)| pipeline.keeps_apart(before, after))
            }
            _ => true,
        });
        let rules = self
            .sentencepiece()
            .filter(|rules| !rules.adds_suffix() && !self.character_merges().takes_apart());
        let of_model = rules.into_iter().flat_map(move |rules| {
            let offsets = range.start.max(1)..range.end.min(text.len());
            offsets.filter(move |&offset| self.is_cut(rules, text, offset))
        });
        of_pattern.chain(of_model)
    }

    /// Returns the first of the [`cuts`](Self::cuts) at `from` or after it, if there is one within 64 KiB.
    ///
    /// # Complexity
    /// O(distance), at most 64 KiB.
    pub fn cut(&self, text: &str, from: usize) -> Option<usize> {
        self.cuts(text, from..from.saturating_add(SEARCH_BYTES))
            .next()
    }

    /// Returns whether the text of a model can be cut inside at an offset.
    fn is_cut(&self, rules: &SentencePiece, text: &str, offset: usize) -> bool {
        let Some((left, right)) = text.split_at_checked(offset) else {
            return false;
        };
        let (Some(before), Some(after)) = (left.chars().next_back(), right.chars().next()) else {
            return false;
        };
        let adjacency = self.splitter.adjacency();
        let joins = adjacency.is_none_or(|adjacency| adjacency.may_join(before, after));
        if joins || [before, after].contains(&MARK) || !self.is_token_where_fused(before) {
            return false;
        }
        let normalizer = &rules.normalizer;
        normalizer.is_identity()
            || after == ' '
                && before.is_ascii_alphanumeric()
                && normalizer.is_word_by_word()
                && last_word(left).is_some_and(|word| normalizer.keeps_end(word))
    }

    /// Returns whether a character is a token, in a model that makes one token of characters in a row that are none.
    fn is_token_where_fused(&self, character: char) -> bool {
        let merges = self.character_merges();
        let mut utf8 = [0; 4];
        let (symbol, _) = merges.first(character.encode_utf8(&mut utf8).as_bytes());
        merges.fused().is_none() || merges.id(symbol).is_some()
    }
}

/// Returns what stands behind the last space of a text, unless that is long.
fn last_word(text: &str) -> Option<&[u8]> {
    let text = text.as_bytes();
    let near = &text[text.len().saturating_sub(LONGEST_WORD)..];
    match near.iter().rposition(|&byte| byte == b' ') {
        Some(space) => Some(&near[space + 1..]),
        None => Some(text).filter(|text| text.len() == near.len()),
    }
}
