//! Offsets between two tokens of a long piece: what follows is encoded from there, and compared.
//!
//! A run of letters has no [cut](Encoder::cuts). But let a text have a [seam of the splitter](crate::split::Splitter::seams)
//! where one of its tokens ends and another, T, begins. If what stands behind the seam is replaced by something that begins
//! with the same character, and encoding that alone gives T first, then the ids of the new text are those before the seam,
//! followed by those.
//!
//! **Why.** The pieces before the seam stay, and those behind it are those of the right side, by what a seam of the splitter
//! is. Of the piece around the seam, `merge/long.rs` has the proof: E there is the piece of the old text, F that of the new
//! one from the seam on, both merged by pairs, of which the one of lowest rank is first, the left one among equals. So
//! it holds where a piece is merged in this way, whatever its length: where all tokens are those that merging their own bytes
//! gives. Where a piece ends at the seam, both sides are apart anyhow.
//!
//! The ids from a seam on are those of the right side alone: no merge has crossed the end of a token. So texts are kept in
//! segments that begin at seams as at cuts, but an edit behind one is encoded from it only if T is still the first.
//! Otherwise it is encoded from the border before.
//!
//! Where tokens begin in the text is known as long as their bytes, joined, are the text.

use super::Encoder;
use crate::token::TokenId;
use crate::util::memory::Growable;
use crate::vocabulary::Model;

impl Encoder {
    /// Returns whether texts may have seams at all.
    pub(super) fn has_seams(&self) -> bool {
        match self.vocabulary.model() {
            Model::Bytes(merges) => merges.makes_all(),
            Model::Listed(merges) => merges.merges_by_pairs(),
            Model::Words(_) | Model::Unigram(_) => false,
        }
    }

    /// Returns where tokens of a text, from the start or a border on, begin at a seam of the splitter, in order, each with the
    /// number of ids before it; there are none if `ids`, those of the text, do not spell it. Such a place is a seam of the
    /// text if both sides are [apart](Self::is_apart) there.
    ///
    /// # Complexity
    /// O(text).
    pub(super) fn seams<'t>(
        &'t self,
        text: &'t str,
        ids: &[TokenId],
    ) -> impl Iterator<Item = (usize, usize)> + use<'t> {
        let starts = self.starts(text, ids).into_iter().flatten();
        self.splitter.seams(text, starts)
    }

    /// Returns where tokens start in the text that they spell, each with the number of ids before it.
    fn starts(&self, text: &str, ids: &[TokenId]) -> Option<Vec<(usize, usize)>> {
        let mut starts = Vec::new();
        starts.with_room(ids.len());
        let mut rest = text.as_bytes();
        for (index, &id) in ids.iter().enumerate() {
            starts.push((text.len() - rest.len(), index));
            let bytes = self.vocabulary.bytes(id).filter(|bytes| !bytes.is_empty());
            let special = || self.special_tokens.text(id).map(str::as_bytes);
            let bytes = bytes.or_else(special)?;
            rest = match rest.strip_prefix(bytes) {
                Some(rest) => rest,
                // A space that the pipeline puts in front of a text.
                None if index == 0 => rest.strip_prefix(bytes.strip_prefix(b" ")?)?,
                None => return None,
            };
        }
        rest.is_empty().then_some(starts)
    }
}
