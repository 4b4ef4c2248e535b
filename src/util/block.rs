//! A block: 64 bytes of text, which splitting classifies and the cache hashes at once, one bit for each byte.

/// Bytes in a block.
pub(crate) const BLOCK_LEN: usize = 64;

/// Bytes readable after a block: its last character may reach into them, and a reader of its pieces loads up to 32 bytes
/// from the start of any of them.
pub(crate) const OVERHANG: usize = 31;

/// The bytes of a block and its overhang.
pub(crate) type Block = [u8; BLOCK_LEN + OVERHANG];

/// The pieces of a block, as bits: one for each start, and one for each end, at the byte behind the piece.
///
/// Without `GAPS` each piece starts where the one before it ends, and the first with the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spans<const GAPS: bool> {
    starts: u64,
    ends: u64,
}

impl Spans<false> {
    /// Pieces that end at these bytes, one behind the other.
    #[inline]
    pub(crate) fn adjacent(ends: u64) -> Self {
        Self {
            starts: ends | 1,
            ends,
        }
    }
}

impl Spans<true> {
    /// Pieces from a start to the next end, with gaps between them. There are as many starts as ends.
    #[inline]
    pub(crate) fn apart(starts: u64, ends: u64) -> Self {
        debug_assert_eq!(starts.count_ones(), ends.count_ones());
        Self { starts, ends }
    }
}

impl<const GAPS: bool> Spans<GAPS> {
    /// The starts; without `GAPS`, one more than there are pieces.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(crate) fn starts(self) -> u64 {
        self.starts
    }

    /// The ends.
    #[inline]
    pub(crate) fn ends(self) -> u64 {
        self.ends
    }

    /// Number of pieces.
    #[inline]
    pub(crate) fn count(self) -> usize {
        self.ends.count_ones() as usize
    }

    /// Takes the first piece away, where `end` is that of the piece before it, or 0. Returns its start and its end; from
    /// no pieces, nothing that has a meaning.
    #[expect(
        clippy::inline_always,
        reason = "compiled into the caller, which has the target features"
    )]
    #[inline(always)]
    pub(crate) fn take(&mut self, end: usize) -> (usize, usize) {
        let start = if GAPS {
            let start = self.starts.trailing_zeros() as usize;
            self.starts &= self.starts.wrapping_sub(1);
            start
        } else {
            end
        };
        let end = self.ends.trailing_zeros() as usize;
        self.ends &= self.ends.wrapping_sub(1);
        (start, end)
    }
}

impl<const GAPS: bool> Iterator for SpansIter<GAPS> {
    type Item = (usize, usize);

    #[inline]
    fn next(&mut self) -> Option<(usize, usize)> {
        if self.spans.ends == 0 {
            return None;
        }
        let (start, end) = self.spans.take(self.end);
        self.end = end;
        Some((start, end))
    }
}

/// The starts and ends of [`Spans`].
pub(crate) struct SpansIter<const GAPS: bool> {
    spans: Spans<GAPS>,
    end: usize,
}

impl<const GAPS: bool> IntoIterator for Spans<GAPS> {
    type Item = (usize, usize);
    type IntoIter = SpansIter<GAPS>;

    #[inline]
    fn into_iter(self) -> SpansIter<GAPS> {
        SpansIter {
            spans: self,
            end: 0,
        }
    }
}
