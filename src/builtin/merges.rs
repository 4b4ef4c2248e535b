//! Vocabularies from merge tables, in the format that `README.md` in this directory describes.

use crate::error::VocabularyError;
use crate::token::{NO_TOKEN, Pair, TokenId};
use crate::vocabulary::Vocabulary;

/// A table, and the id of the first token that its merges make.
pub(crate) type Segment<'a> = (&'a [u8], TokenId);

/// Builds the vocabulary of the tables.
///
/// # Errors
/// [`VocabularyError`] if one is damaged.
pub(crate) fn vocabulary(segments: &[Segment<'_>]) -> Result<Vocabulary, VocabularyError> {
    let mut byte_tokens = [NO_TOKEN; 256];
    let mut merges = Vec::new();
    for &(table, first_made) in segments {
        let table = Table::read(table)?;
        for (id, byte) in (0..).zip(table.bytes) {
            byte_tokens[usize::from(*byte)] = id;
        }
        merges.extend((first_made..).zip(table.pairs()));
    }
    Vocabulary::from_proven(&byte_tokens, &merges)
}

/// Returns the last bytes of a table, padded with zeros.
#[cold]
fn last(bytes: &[u8]) -> [u8; 8] {
    let mut last = [0; 8];
    for (to, from) in last.iter_mut().zip(bytes) {
        *to = *from;
    }
    last
}

/// The most bits of an id: 64 bits from any byte on contain two ids.
const MOST_BITS: u32 = 28;

/// A merge table in the format of its file.
struct Table<'a> {
    count: usize,
    bits: u32,
    bytes: &'a [u8; 256],
    packed: &'a [u8],
}

impl<'a> Table<'a> {
    fn read(table: &'a [u8]) -> Result<Self, VocabularyError> {
        let header = || {
            let rest = table.strip_prefix(b"BMT1")?;
            let (count, rest) = rest.split_first_chunk::<4>()?;
            let (bits, rest) = rest.split_first()?;
            let (bytes, packed) = rest.split_first_chunk::<256>()?;
            let count = u32::from_le_bytes(*count) as usize;
            Some(Self {
                count,
                bits: u32::from(*bits),
                bytes,
                packed,
            })
        };
        let table = header().ok_or(VocabularyError::BadTable("its header is damaged"))?;
        if !(8..=MOST_BITS).contains(&table.bits) {
            return Err(VocabularyError::BadTable(
                "its ids have too few bits or too many",
            ));
        }
        if table.packed.len() != (2 * table.count * table.bits as usize).div_ceil(8) {
            return Err(VocabularyError::BadTable(
                "its length is not that of its pairs",
            ));
        }
        Ok(table)
    }

    /// Unpacks the pairs: both ids of a pair from one number of 64 bits.
    fn pairs(&self) -> impl ExactSizeIterator<Item = Pair> {
        let bits = self.bits;
        let mask = (1 << bits) - 1;
        (0..self.count).map(move |number| {
            let bit = 2 * number * bits as usize;
            let rest = &self.packed[bit / 8..];
            let bytes = rest.first_chunk().copied().unwrap_or_else(|| last(rest));
            let both = u64::from_le_bytes(bytes) >> (bit % 8);
            #[expect(clippy::cast_possible_truncation, reason = "at most 28 bits are kept")]
            let id = |bits: u64| (bits & mask) as TokenId;
            Pair::new(id(both), id(both >> bits))
        })
    }
}
