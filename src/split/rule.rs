//! The rules that the loop over blocks splits by.

use super::adjacent::Adjacency;
use super::pattern::Family;
use crate::checkpoint::Interrupted;

/// A way to split with code of its own, in which every byte is in a piece.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule<'a> {
    /// A pattern's.
    Family(Family),
    /// A vocabulary's.
    Adjacency(&'a Adjacency),
}

impl Rule<'_> {
    /// Returns the end of the piece that starts at `offset`.
    ///
    /// # Errors
    /// [`Interrupted`] from the checkpoint, passed during long pieces.
    pub(super) fn piece_end(self, text: &[u8], offset: usize) -> Result<usize, Interrupted> {
        match self {
            Self::Family(family) => family.piece_end(text, offset),
            Self::Adjacency(adjacency) => adjacency.piece_end(text, offset),
        }
    }
}
