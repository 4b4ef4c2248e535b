//! The count of one piece.

/// How often a piece occurs, and where first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Number of occurrences.
    pub(crate) count: u64,
    /// Position of the first occurrence among all pieces that were ever counted.
    pub(crate) first: u64,
}

impl Counted {
    /// No occurrence: the state of a cursor before its first piece.
    pub(super) const NONE: Self = Self { count: 0, first: 0 };

    /// The same count, `by` positions later.
    pub(super) fn shifted(self, by: u64) -> Self {
        Self {
            first: self.first + by,
            ..self
        }
    }

    /// Adds the occurrences of the same piece that were counted elsewhere. Whoever counts adds all counts up as well:
    /// where those do not fit, there is an error, and these are looked at no more.
    #[inline]
    pub(super) fn absorb(&mut self, other: Self) {
        self.count = self.count.wrapping_add(other.count);
        self.first = self.first.min(other.first);
    }
}
