//! The published vocabularies, inside the library: encoding needs neither files nor a network.
//!
//! Each is an image that `build.rs` makes from its merge table, which `README.md` in this directory
//! describes.

#[cfg(test)]
mod merges;
mod published;

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::error::VocabularyError;
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
    use super::{Builtin, merges};
    use crate::vocabulary::Vocabulary;

    /// The images are those of the merge tables, and a vocabulary that is read from an image has the same
    /// image.
    #[test]
    fn images_are_of_the_merges() -> Result<(), Box<dyn std::error::Error>> {
        assert_eq!(Builtin::ALL.map(Builtin::name), merges::ALL.map(|it| it.0));
        for (builtin, (_, segments)) in Builtin::ALL.into_iter().zip(merges::ALL) {
            let image = builtin.image();
            assert!(merges::vocabulary(segments)?.image() == image.0);
            assert!(Vocabulary::of_image(image)?.image() == image.0);
        }
        Ok(())
    }
}
