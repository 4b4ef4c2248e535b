//! A vocabulary of merges by rank, as native files hold it.
//!
//! ```text
//! number of tokens, number of their bytes           8 bytes each
//! the id of each token, increasing                  4 bytes each
//! the length of each                                4 bytes each
//! the bytes of all tokens, one after the other
//! for each token of more than one byte, the ids of the two tokens that merge into it, or twice 2^32 - 1   4 bytes each
//! ```
//!
//! Numbers are in little-endian order. The pairs are those of the shortest list of merges that
//! gives the same ids, so a token without a pair is one that no merges make. Without any pairs at all, every two tokens merge whose bytes are
//! those of a third, and these have to be found, which takes several times as long as all else.
//!
//! What is read are pairs of the right bytes. That merging by rank makes these and no others of a token is what the writer
//! has proved: it is believed, as are the ids.

use super::Vocabulary;
use super::byte_pairs::BytePairTable;
use super::pair_table::PairTable;
use super::tokens::Tokens;
use crate::error::VocabularyError;
use crate::token::{NO_TOKEN, Pair, TokenId};
use crate::util::join::join;
use crate::util::memory;

/// Bytes of a number of tokens or bytes, and of an id or length.
const COUNT: usize = size_of::<u64>();
const NUMBER: usize = size_of::<u32>();

const TRUNCATED: VocabularyError = VocabularyError::BadTable("it has fewer bytes than it says");

impl Vocabulary {
    /// Returns the stored form. `pairs` are all that merge, each with the token that it makes, in the order of these; if
    /// they are `None`, every two tokens do whose bytes are those of a third.
    pub fn stored(&self, pairs: Option<&[(TokenId, Pair)]>) -> Vec<u8> {
        let numbers = self.len() * if pairs.is_some() { 4 } else { 2 };
        let bytes = 2 * COUNT + NUMBER * numbers + self.all_bytes().len();
        let mut stored = memory::vec_with_capacity(bytes);
        for count in [self.len(), self.all_bytes().len()] {
            stored.extend((count as u64).to_le_bytes());
        }
        for id in self.ids() {
            stored.extend(id.to_le_bytes());
        }
        for length in self.lengths() {
            let length = u32::try_from(length).expect("all tokens have less than 4 GiB");
            stored.extend(length.to_le_bytes());
        }
        stored.extend(self.all_bytes());
        let Some(pairs) = pairs else {
            return stored;
        };
        let mut pairs = pairs.iter().peekable();
        for (_, id) in self.spans().filter(|(span, _)| span.len() > 1) {
            let pair = pairs.next_if(|(made, _)| *made == id);
            let pair = pair.map_or(Pair::new(NO_TOKEN, NO_TOKEN), |&(_, pair)| pair);
            stored.extend(pair.left.to_le_bytes());
            stored.extend(pair.right.to_le_bytes());
        }
        stored
    }

    /// Builds the vocabulary of a stored form.
    ///
    /// # Errors
    /// [`VocabularyError`] if it is damaged, or an invariant of the vocabulary does not hold.
    ///
    /// # Complexity
    /// O(bytes), on two threads.
    pub fn of_stored(stored: &[u8]) -> Result<Self, VocabularyError> {
        let mut rest = stored;
        let (count, bytes) = (take_count(&mut rest)?, take_count(&mut rest)?);
        let ids = take_numbers(&mut rest, count)?;
        let lengths = take_numbers(&mut rest, count)?;
        let arena = take(&mut rest, bytes)?;
        let tokens = Tokens::of_parts(memory::copied(arena), ids, lengths.clone())?;
        if rest.is_empty() {
            return Self::from_tokens(tokens);
        }
        let is_long = |length: &u32| *length > 1;
        let long = lengths.filter(is_long).count();
        let parts = take_numbers(&mut rest, 2 * long)?;
        if !rest.is_empty() {
            return Err(VocabularyError::BadTable("it has more bytes than it says"));
        }
        let Pairs { pairs, unmade } = pairs_of(&tokens, parts);
        let (byte_pairs, pairs) = join(
            || {
                tokens.check_distinct()?;
                byte_pairs_of(&tokens, &pairs)
            },
            || PairTable::of(&pairs),
        );
        Ok(Self::new(tokens, pairs, byte_pairs?)?.with_unmade(unmade))
    }
}

/// The pairs that merge, each with the token that it makes, and the lengths of the tokens that none makes.
struct Pairs {
    pairs: Vec<(TokenId, Pair)>,
    unmade: Vec<usize>,
}

/// Reads the parts of each token of more than one byte.
fn pairs_of(tokens: &Tokens, mut parts: impl Iterator<Item = u32>) -> Pairs {
    let mut pairs = memory::vec_with_capacity(tokens.len());
    let mut unmade = Vec::new();
    for (span, id) in tokens.spans().filter(|(span, _)| span.len() > 1) {
        let mut part = || parts.next().expect("there are two for each such token");
        match Pair::new(part(), part()) {
            Pair {
                left: NO_TOKEN,
                right: NO_TOKEN,
            } => unmade.push(span.len()),
            pair => pairs.push((id, pair)),
        }
    }
    Pairs { pairs, unmade }
}

/// Builds the table of byte pairs, and refuses pairs that have other bytes than the tokens that they make.
fn byte_pairs_of(
    tokens: &Tokens,
    pairs: &[(TokenId, Pair)],
) -> Result<BytePairTable, VocabularyError> {
    let mut byte_pairs = BytePairTable::new();
    for &(id, pair) in pairs {
        let part = |part| match tokens.bytes(part) {
            Some(bytes) => Ok((bytes, part)),
            None => Err(VocabularyError::UnknownPart { id, part }),
        };
        let (left, right) = (part(pair.left)?, part(pair.right)?);
        let (token, _) = part(id)?;
        if token.strip_prefix(left.0) != Some(right.0) {
            return Err(VocabularyError::BadTable(
                "the parts of a token have other bytes",
            ));
        }
        byte_pairs.insert(left, right, id);
    }
    Ok(byte_pairs)
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Result<&'a [u8], VocabularyError> {
    let Some((taken, others)) = rest.split_at_checked(length) else {
        return Err(TRUNCATED);
    };
    *rest = others;
    Ok(taken)
}

fn take_count(rest: &mut &[u8]) -> Result<usize, VocabularyError> {
    let count = take(rest, COUNT)?.first_chunk().ok_or(TRUNCATED)?;
    usize::try_from(u64::from_le_bytes(*count)).map_err(|_| TRUNCATED)
}

fn take_numbers<'a>(
    rest: &mut &'a [u8],
    count: usize,
) -> Result<impl ExactSizeIterator<Item = u32> + Clone + use<'a>, VocabularyError> {
    let bytes = count.checked_mul(NUMBER).ok_or(TRUNCATED)?;
    let (numbers, _) = take(rest, bytes)?.as_chunks::<NUMBER>();
    Ok(numbers.iter().map(|number| u32::from_le_bytes(*number)))
}
