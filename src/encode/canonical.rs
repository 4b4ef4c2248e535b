//! Whether ids are those that encoding their text gives, as ids that a model has sampled need not be.
//!
//! Ids are taken apart at special tokens. The ids between these are decoded, and their text is encoded as it would be there,
//! with special tokens as ordinary text: so ids that spell a special token are what they are, and never become it. Other added
//! tokens are found in any text, if its characters around them allow that; so they are encoded as text is.

use super::pipeline::Prepared;
use super::special::{Allowed, Disallowed};
use super::{Before, Encoder, Passage};
use crate::error::{CanonicalError, DecodeError};
use crate::token::TokenId;
use crate::util::memory::{self, Growable};
use crate::util::text::valid_start;

/// Bits of the filter of special tokens.
const FILTER_BITS: usize = 1 << 14;

impl Encoder {
    /// Returns the index of the first of some ids that encoding their text would not give, which may be their number if that
    /// gives further ones; `None` if there is none. Ids that decode to no text drift where that ends. If the text is not
    /// finished, only ids are judged that none behind can change.
    ///
    /// # Errors
    /// [`CanonicalError`] as from decoding and encoding.
    ///
    /// # Complexity
    /// That of decoding and encoding.
    pub fn first_drift(
        &self,
        ids: &[TokenId],
        is_finished: bool,
    ) -> Result<Option<usize>, CanonicalError> {
        let mut expected = Vec::new();
        for (start, gap) in self.gaps(ids) {
            let is_whole = is_finished || start + gap.len() < ids.len();
            let bytes = self.bytes_of_gap(ids[..start].last().copied(), gap, is_whole)?;
            let text = valid_start(&bytes);
            let end = if is_whole {
                text.len()
            } else {
                self.last_cut(text, 0, &Disallowed::Nothing).unwrap_or(0)
            };
            expected.clear();
            self.encode_gap_at(start, &text[..end], &mut expected)?;
            let pairs = gap.iter().zip(&expected);
            let same = pairs.take_while(|(id, expected)| id == expected).count();
            let (count, known) = (gap.len(), expected.len());
            // Ids that are yet to come may be those that are expected behind the last.
            let compared = if is_whole {
                count.max(known)
            } else {
                count.min(known)
            };
            if same < compared {
                return Ok(Some(start + same));
            }
        }
        Ok(None)
    }

    /// Appends the ids that encoding the text of some ids gives; bytes that are no text as
    /// [`encode_bytes`](Self::encode_bytes) does.
    ///
    /// # Errors
    /// As [`first_drift`](Self::first_drift).
    ///
    /// # Complexity
    /// As [`first_drift`](Self::first_drift).
    pub fn canonicalize(
        &self,
        ids: &[TokenId],
        out: &mut Vec<TokenId>,
    ) -> Result<(), CanonicalError> {
        let mut end = 0;
        for (start, gap) in self.gaps(ids) {
            out.with_room(start - end)
                .extend_from_slice(&ids[end..start]);
            end = start + gap.len();
            let bytes = self.bytes_of_gap(ids[..start].last().copied(), gap, true)?;
            match simdutf8::basic::from_utf8(&bytes) {
                Ok(text) => self.encode_gap_at(start, text, out)?,
                Err(_) => self.encode_bytes(&bytes, out)?,
            }
        }
        out.with_room(ids.len() - end)
            .extend_from_slice(&ids[end..]);
        Ok(())
    }

    /// Returns the ids between special tokens, with the index where they start.
    fn gaps<'i>(&self, ids: &'i [TokenId]) -> impl Iterator<Item = (usize, &'i [TokenId])> {
        let (filter, apart) = self.apart();
        let stands_apart = move |id: &TokenId| {
            let bit = *id as usize % FILTER_BITS;
            filter[bit / 64] >> (bit % 64) & 1 != 0 && apart.binary_search(id).is_ok()
        };
        let mut start = 0;
        let gaps = ids.split(stands_apart).map(move |gap| {
            let here = start;
            start += gap.len() + 1;
            (here, gap)
        });
        gaps.filter(|(_, gap)| !gap.is_empty())
    }

    /// Returns the ids of special tokens, sorted, and a filter of them, a bit for each: to look each of a million ids up by
    /// its hash took as long as to encode their text.
    fn apart(&self) -> (Vec<u64>, Vec<TokenId>) {
        let special = self.special_tokens.iter().map(|(_, id)| id);
        let apart = special.filter(|&id| !self.is_ordinary(id));
        let mut apart = memory::collect(apart);
        apart.sort_unstable();
        let mut filter = memory::filled(0, FILTER_BITS / 64);
        for &id in &apart {
            let bit = id as usize % FILTER_BITS;
            filter[bit / 64] |= 1 << (bit % 64);
        }
        (filter, apart)
    }

    /// Returns whether an id is that of a special or added token, and of no ordinary one.
    pub(super) fn stands_apart(&self, id: TokenId) -> bool {
        let is_special = self.special_tokens.text(id).is_some();
        let is_added = || self.added().is_some_and(|added| added.text(id).is_some());
        (is_special || is_added()) && !self.is_ordinary(id)
    }

    /// Of a `tokenizer.json`, added tokens come first; of ranks, the ordinary token of an id that is both.
    fn is_ordinary(&self, id: TokenId) -> bool {
        let bytes = self.vocabulary.bytes(id);
        self.file_decoder().is_none() && bytes.is_some_and(|bytes| !bytes.is_empty())
    }

    /// Returns whether ids behind another, if there is one, are decoded as if nothing stood before: where a space is put
    /// behind special tokens, it is taken away there.
    pub(super) fn starts_anew(&self, before: Option<TokenId>) -> bool {
        let pipeline = self.pipeline.as_deref();
        let starts_each_gap = pipeline.is_some_and(Prepared::starts_each_gap);
        before.is_none_or(|id| starts_each_gap && self.stands_apart(id))
    }

    /// Returns the bytes of ids behind another, among which are no special tokens: those of characters that no id behind
    /// changes if they are not the whole gap, where the bytes of tokens are not those of the text.
    fn bytes_of_gap(
        &self,
        before: Option<TokenId>,
        gap: &[TokenId],
        is_whole: bool,
    ) -> Result<Vec<u8>, DecodeError> {
        let starts_anew = self.starts_anew(before);
        if is_whole
            && starts_anew
            && let Some(text) = self.decode_text(gap)
        {
            return text.map(String::into_bytes);
        }
        let mut stream = self.text_stream_behind(before)?;
        if stream.joins_bytes() {
            return self.decode_part(gap, starts_anew);
        }
        let mut text = String::new();
        self.push_text(&mut stream, gap, is_whole, &mut text)?;
        Ok(text.into_bytes())
    }

    /// Appends the ids of a text, in which special tokens are ordinary text, that begins at the id with an index.
    fn encode_gap_at(
        &self,
        index: usize,
        text: &str,
        ids: &mut Vec<TokenId>,
    ) -> Result<(), CanonicalError> {
        let before = if index == 0 {
            Before::Nothing
        } else {
            Before::Token
        };
        let passage = Passage { text, before };
        self.with_workspace(|workspace| {
            self.append(workspace, passage, &Allowed::Nothing, ids, usize::MAX)
        })?;
        Ok(())
    }
}
