//! The published vocabularies, inside the library: encoding needs neither files nor a network.
//!
//! Each is an image that `build.rs` makes from its merge table, which `README.md` in this directory
//! describes.

mod merges;
mod published;
#[cfg(test)]
mod tables;

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::error::VocabularyError;
use crate::token::TokenId;
use crate::vocabulary::Vocabulary;
use crate::vocabulary::sections::Aligned;

pub use published::Published;
pub use published::{CL100K_PATTERN, O200K_PATTERN, R50K_PATTERN};

/// A published vocabulary. Several encodings may share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    /// gpt2 and `r50k_base`.
    R50k,
    /// `p50k_base` and `p50k_edit`: r50k, a hole at 50256, and runs of spaces.
    P50k,
    /// `cl100k_base`.
    Cl100k,
    /// `o200k_base` and `o200k_harmony`.
    O200k,
}

macro_rules! image {
    ($name:literal) => {
        &Aligned(*include_bytes!(concat!(
            env!("OUT_DIR"),
            "/",
            $name,
            ".image"
        )))
    };
}

static R50K: &Aligned<[u8]> = image!("r50k");
static P50K: &Aligned<[u8]> = image!("p50k");
static CL100K: &Aligned<[u8]> = image!("cl100k");
static O200K: &Aligned<[u8]> = image!("o200k");

impl Builtin {
    /// All published vocabularies.
    pub const ALL: [Self; 4] = [Self::R50k, Self::P50k, Self::Cl100k, Self::O200k];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::R50k => "r50k",
            Self::P50k => "p50k",
            Self::Cl100k => "cl100k",
            Self::O200k => "o200k",
        }
    }

    /// Returns the vocabulary of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|builtin| builtin.name() == name)
    }

    /// The merge tables that it consists of, by the names of their files, and the id of the first token that each makes.
    pub fn tables(self) -> &'static [(&'static str, TokenId)] {
        match self {
            Self::R50k => &[("r50k", 256)],
            Self::P50k => &[("r50k", 256), ("p50k", 50_257)],
            Self::Cl100k => &[("cl100k", 256)],
            Self::O200k => &[("o200k", 256)],
        }
    }

    /// Builds the vocabulary from the contents of its [tables](Self::tables), for programs without the image, which is
    /// five to six times as large. The merges are trusted; the caller has compared their hash.
    ///
    /// # Errors
    /// [`VocabularyError`] if a table is damaged or missing.
    ///
    /// # Complexity
    /// O(tokens): 30 ms for `o200k`.
    pub fn of_tables(self, contents: &[&[u8]]) -> Result<Vocabulary, VocabularyError> {
        let tables = self.tables();
        if contents.len() != tables.len() {
            return Err(VocabularyError::BadTable("one of its tables is missing"));
        }
        let segments: Vec<_> = contents
            .iter()
            .copied()
            .zip(tables.iter().map(|table| table.1))
            .collect();
        merges::vocabulary(&segments)
    }

    fn image(self) -> &'static Aligned<[u8]> {
        match self {
            Self::R50k => R50K,
            Self::P50k => P50K,
            Self::Cl100k => CL100K,
            Self::O200k => O200K,
        }
    }

    /// Returns the vocabulary, which is read once and shared while it is in use.
    ///
    /// # Errors
    /// [`VocabularyError`] if the image in the library is damaged.
    ///
    /// # Complexity
    /// O(tokens) for the first user.
    pub fn vocabulary(self) -> Result<Arc<Vocabulary>, VocabularyError> {
        static SHARED: [Mutex<Weak<Vocabulary>>; 4] = [const { Mutex::new(Weak::new()) }; 4];
        // Not locked while reading: after `fork`, the thread that holds the lock may not exist.
        let shared = || {
            SHARED[self as usize]
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some(vocabulary) = shared().upgrade() {
            return Ok(vocabulary);
        }
        let built = Arc::new(Vocabulary::of_image(self.image())?);
        let mut shared = shared();
        // Of several threads that read at once, one's result is kept.
        let vocabulary = shared.upgrade().unwrap_or(built);
        *shared = Arc::downgrade(&vocabulary);
        Ok(vocabulary)
    }
}

#[cfg(test)]
mod tests {
    use super::{Builtin, merges, tables};
    use crate::vocabulary::Vocabulary;

    /// The images are those of the merge tables, and a vocabulary that is read from an image has the same
    /// image.
    #[test]
    fn images_are_of_the_merges() -> Result<(), Box<dyn std::error::Error>> {
        assert_eq!(Builtin::ALL.map(Builtin::name), tables::ALL.map(|it| it.0));
        for (builtin, (_, segments)) in Builtin::ALL.into_iter().zip(tables::ALL) {
            let image = builtin.image();
            assert!(merges::vocabulary(segments)?.image() == image.0);
            let named = segments.iter().map(|segment| segment.1);
            assert!(named.eq(builtin.tables().iter().map(|table| table.1)));
            let contents: Vec<&[u8]> = segments.iter().map(|segment| segment.0).collect();
            assert!(builtin.of_tables(&contents)?.image() == image.0);
            assert!(Vocabulary::of_image(image)?.image() == image.0);
        }
        Ok(())
    }
}
