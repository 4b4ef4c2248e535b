//! The image of a vocabulary: its tables as they lie in the library.
//!
//! Building the tables of 200,000 merges took 12 ms on two threads, most of it waiting for fresh memory and
//! for cache misses all over the tokens so far. Reading them takes a tenth of that, and what is read in place
//! takes no memory of the process.

use super::Vocabulary;
use super::tokens::Tokens;
use crate::error::VocabularyError;
use crate::vocabulary::byte_pairs::BytePairTable;
use crate::vocabulary::pair_table::PairTable;
use crate::vocabulary::sections::{Aligned, Image, Sections};

impl Vocabulary {
    /// Returns the image of a vocabulary that [`from_proven`](Self::from_proven) built, all ids of which are
    /// small.
    #[allow(dead_code, reason = "for the build script")]
    pub(crate) fn image(&self) -> Vec<u8> {
        let mut image = Image::default();
        self.tokens.put_into(&mut image);
        let merges = self
            .byte_merges()
            .expect("published vocabularies merge bytes");
        merges.put_into(&mut image);
        image.into_bytes()
    }

    /// Reads the vocabulary of an image.
    ///
    /// # Errors
    /// [`VocabularyError::BadTable`] if the image is damaged, as far as that shows without reading every
    /// number.
    ///
    /// # Complexity
    /// O(bytes) of the tables of pairs. The tokens are read in place.
    pub(crate) fn of_image(image: &'static Aligned<[u8]>) -> Result<Self, VocabularyError> {
        let mut sections = Sections::of(image);
        let mut read = || {
            let tokens = Tokens::of_image(&mut sections)?;
            let pairs = PairTable::of_image(&mut sections)?;
            let byte_pairs = BytePairTable::of_image(&mut sections)?;
            let all = (tokens, pairs, byte_pairs);
            sections.is_empty().then_some(all)
        };
        let (tokens, pairs, byte_pairs) =
            read().ok_or(VocabularyError::BadTable("its sections are others"))?;
        Ok(Self::new(tokens, pairs, byte_pairs)?.with_unmade([]))
    }
}
