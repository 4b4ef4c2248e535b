//! A vocabulary as it lies in the library.
//!
//! To make the tables of 200,000 merges took 12 ms on two threads, most of it waiting: for fresh memory, and for places all
//! over the tokens so far. To read them takes a tenth of that, and what is read in place takes no memory of the process.

use super::Vocabulary;
use super::tokens::Tokens;
use crate::error::VocabularyError;
use crate::vocabulary::byte_pairs::Adjacencies;
use crate::vocabulary::pair_table::PairTable;
use crate::vocabulary::sections::{Aligned, Image, Sections};

impl Vocabulary {
    /// The image of a vocabulary that [`from_proven`](Self::from_proven) has made, of ids that are not large.
    #[allow(dead_code, reason = "for the build script")]
    pub(crate) fn image(&self) -> Vec<u8> {
        let mut image = Image::default();
        self.tokens.put_into(&mut image);
        self.pairs.put_into(&mut image);
        self.adjacencies.put_into(&mut image);
        image.into_bytes()
    }

    /// The vocabulary that has this image.
    ///
    /// # Errors
    /// [`VocabularyError::BadTable`] if it is none, as far as that can be told without looking at every number.
    ///
    /// # Complexity
    /// O(bytes), but for what is read in place: the tokens.
    pub(crate) fn of_image(image: &'static Aligned<[u8]>) -> Result<Self, VocabularyError> {
        let mut sections = Sections::of(image);
        let mut read = || {
            let tokens = Tokens::of_image(&mut sections)?;
            let pairs = PairTable::of_image(&mut sections)?;
            let adjacencies = Adjacencies::of_image(&mut sections)?;
            let all = (tokens, pairs, adjacencies);
            sections.is_empty().then_some(all)
        };
        let (tokens, pairs, adjacencies) =
            read().ok_or(VocabularyError::BadTable("its sections are others"))?;
        let mut vocabulary = Self::new(tokens, pairs, adjacencies)?;
        vocabulary.tokens_merge = true;
        Ok(vocabulary)
    }
}
