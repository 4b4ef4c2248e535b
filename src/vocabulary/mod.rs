//! The immutable vocabulary: the bytes of an id, the id of bytes, the merge of a pair.
//!
//! Invariants, checked once when a vocabulary is built and relied on everywhere else:
//! every single byte is a token, ids and byte strings are unique, no token is empty, no id is [`NO_TOKEN`].
//!
//! There are two ways to build one, which differ in the pairs that merge:
//! * [`Vocabulary::from_ranks`], from a rank file: **every** split of a token into two tokens merges into it.
//!   Ranking pairs this way equals ranking the concatenated bytes of adjacent symbols, which is what tiktoken
//!   does, for every vocabulary: symbols are always tokens, and tokens have unique bytes.
//! * [`Vocabulary::from_merges`], from a merge list: one pair for each token. Where every token re-encodes
//!   under lower ranks to exactly the two parts of its merge (published encodings: checked when their tables
//!   are derived), both give the same ids: when the lowest rank left in a text is that of token T, the bytes
//!   of any two adjacent symbols that spell T have already been merged as T's own bytes would be, into its
//!   two canonical parts.

pub mod byte_alphabet;
pub mod byte_merges;
pub(crate) mod byte_pairs;
pub mod characters;
mod halves;
mod image;
pub mod listed;
#[doc(hidden)]
pub mod pair_table;
pub(crate) mod sections;
mod stored;
mod tokens;
mod trie;
pub mod unigram;
pub mod words;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use crate::error::VocabularyError;
use crate::token::{NO_TOKEN, Pair, TokenId};
use crate::util::join::join;
use crate::util::lazy::get_or_init_nonblocking;
use crate::util::memory::{self, Growable};
use byte_merges::ByteMerges;
use byte_pairs::BytePairTable;
use characters::MARK;
use halves::Halves;
use listed::scored::{Kind, Piece};
use listed::{ListedMerges, Listing};
use pair_table::PairTable;
use tokens::Tokens;
use unigram::{Chunks, ScoreList, Unigram};
use words::{WordList, Words};

/// An immutable table of tokens and merges. See the module for its invariants.
#[derive(Debug)]
pub struct Vocabulary {
    tokens: Tokens,
    model: Model,
    sorted: OnceLock<Vec<TokenId>>,
    longest: OnceLock<usize>,
}

/// How a vocabulary turns a piece into tokens.
#[derive(Debug)]
pub enum Model {
    /// Every byte is a token, and the rank of a pair is the id of the token that it makes: tiktoken's BPE.
    Bytes(Box<ByteMerges>),
    /// Each pair has a rank, and a token that it makes: the BPE of a `tokenizer.json` or of a SentencePiece model.
    Listed(Box<ListedMerges>),
    /// The longest tokens from left to right: WordPiece and WordLevel.
    Words(Box<Words>),
    /// The tokens whose scores have the greatest sum: Unigram.
    Unigram(Box<Unigram>),
}

/// A token of a vocabulary whose merges are listed.
#[derive(Clone, Debug)]
pub struct ListedToken<'a> {
    /// Its id.
    pub id: TokenId,
    /// Its bytes.
    pub bytes: Cow<'a, [u8]>,
    /// Whether it is the token of these bytes; some stand for bytes that no text becomes them by.
    pub is_found: bool,
}

/// The bytes of a merge's parts are prefetched this many merges before they are copied, and their spans twice
/// as many. Without, loading took a fifth longer on a shared machine.
const PREFETCH_DISTANCE: usize = 16;

impl Vocabulary {
    /// Builds a vocabulary from `ranks`: token bytes with their ids, which are also their ranks, in any
    /// order.
    ///
    /// # Errors
    /// [`VocabularyError`] if an invariant of the module does not hold.
    ///
    /// # Complexity
    /// O(total bytes) table look-ups.
    pub fn from_ranks(mut ranks: Vec<(Vec<u8>, TokenId)>) -> Result<Self, VocabularyError> {
        ranks.sort_unstable_by_key(|(_, id)| *id);
        for neighbours in ranks.windows(2) {
            if let [(first, id), (second, same)] = neighbours
                && id == same
            {
                return Err(VocabularyError::DuplicateId {
                    id: *id,
                    first: first.clone(),
                    second: second.clone(),
                });
            }
        }
        let bytes = ranks.iter().map(|(token, _)| token.len()).sum();
        let mut tokens = Tokens::with_capacity(ranks.len(), bytes);
        for (token, id) in &ranks {
            if token.is_empty() {
                return Err(VocabularyError::EmptyToken(*id));
            }
            if *id == NO_TOKEN {
                return Err(VocabularyError::IdTooLarge(token.clone()));
            }
            tokens.push(*id, token)?;
        }
        Self::from_tokens(tokens)
    }

    /// Builds a vocabulary of tokens, of which every two merge whose bytes are those of a third.
    fn from_tokens(tokens: Tokens) -> Result<Self, VocabularyError> {
        tokens.check_distinct()?;
        let (pairs, byte_pairs) = tables_of(&tokens, &every_split(&tokens));
        Self::new(tokens, pairs, byte_pairs)
    }

    /// Builds a vocabulary from byte tokens, byte `b` being `byte_tokens[b]`, and `merges`: each merged token
    /// with its pair, ids increasing, above the ids of the byte tokens.
    ///
    /// # Errors
    /// [`VocabularyError`] if an invariant of the module does not hold or a part does not precede its merge.
    ///
    /// # Complexity
    /// O(total bytes).
    pub fn from_merges(
        byte_tokens: &[TokenId; 256],
        merges: impl ExactSizeIterator<Item = (TokenId, Pair)>,
    ) -> Result<Self, VocabularyError> {
        let merges = memory::collect(merges);
        Self::build(byte_tokens, &merges, true)
    }

    /// As [`from_merges`](Self::from_merges), for merges that are known to yield distinct tokens and to yield
    /// each token from its own bytes. Neither is checked; the check takes more than half of the time.
    ///
    /// # Errors
    /// As [`from_merges`](Self::from_merges), except for duplicate tokens.
    pub(crate) fn from_proven(
        byte_tokens: &[TokenId; 256],
        merges: &[(TokenId, Pair)],
    ) -> Result<Self, VocabularyError> {
        Ok(Self::build(byte_tokens, merges, false)?.with_unmade([]))
    }

    fn build(
        byte_tokens: &[TokenId; 256],
        merges: &[(TokenId, Pair)],
        check: bool,
    ) -> Result<Self, VocabularyError> {
        // Half of the time goes into the pair table, which is independent of the rest.
        let (rest, pairs) = join(
            || Self::tokens_of(byte_tokens, merges, check),
            || PairTable::of(merges),
        );
        let (tokens, byte_pairs) = rest?;
        Self::new(tokens, pairs, byte_pairs)
    }

    fn tokens_of(
        byte_tokens: &[TokenId; 256],
        merges: &[(TokenId, Pair)],
        check: bool,
    ) -> Result<(Tokens, BytePairTable), VocabularyError> {
        let mut tokens = Tokens::with_capacity(256 + merges.len(), 8 * merges.len());
        let mut bytes_by_id: Vec<u8> = (0..=255).collect();
        bytes_by_id.sort_unstable_by_key(|byte| byte_tokens[usize::from(*byte)]);
        for byte in bytes_by_id {
            let id = byte_tokens[usize::from(byte)];
            if let Some(last) = tokens.last_id().filter(|&last| last == id) {
                return Err(VocabularyError::DuplicateId {
                    id,
                    first: tokens.bytes(last).expect("the id has a token").to_vec(),
                    second: vec![byte],
                });
            }
            if id == NO_TOKEN {
                return Err(VocabularyError::IdTooLarge(vec![byte]));
            }
            tokens.push(id, &[byte])?;
        }
        let mut byte_pairs = BytePairTable::new();
        for (number, &(id, pair)) in merges.iter().enumerate() {
            if let Some((_, later)) = merges.get(number + 2 * PREFETCH_DISTANCE) {
                tokens.prefetch_span(later.left);
                tokens.prefetch_span(later.right);
            }
            if let Some((_, later)) = merges.get(number + PREFETCH_DISTANCE) {
                tokens.prefetch_bytes(later.left);
                tokens.prefetch_bytes(later.right);
            }
            let (Some(left), Some(right)) = (tokens.span_of(pair.left), tokens.span_of(pair.right))
            else {
                let unknown = |part: &TokenId| tokens.span_of(*part).is_none();
                let part = [pair.left, pair.right].into_iter().find(unknown);
                let part = part.expect("one of the two parts is unknown");
                return Err(VocabularyError::UnknownPart { id, part });
            };
            let [left_bytes, right_bytes] =
                [&left, &right].map(|part| &tokens.arena()[part.clone()]);
            if id == NO_TOKEN || tokens.last_id() >= Some(id) {
                let token = [left_bytes, right_bytes].concat();
                return Err(refusal(&tokens, id, token));
            }
            byte_pairs.insert((left_bytes, pair.left), (right_bytes, pair.right), id);
            tokens.push_joined(id, left, right)?;
        }
        if check {
            tokens.check_distinct()?;
        }
        Ok((tokens, byte_pairs))
    }

    fn new(
        tokens: Tokens,
        pairs: PairTable,
        byte_pairs: BytePairTable,
    ) -> Result<Self, VocabularyError> {
        let byte_tokens = tokens.byte_tokens()?;
        let highest = tokens.last_id().expect("every byte is a token");
        let merges = ByteMerges::new(&byte_tokens, pairs, byte_pairs, highest);
        Ok(Self::of(tokens, Model::Bytes(Box::new(merges))))
    }

    fn of(tokens: Tokens, model: Model) -> Self {
        Self {
            tokens,
            model,
            sorted: OnceLock::new(),
            longest: OnceLock::new(),
        }
    }

    /// Builds the vocabulary of a SentencePiece model, whose tokens have scores.
    ///
    /// Decoding writes the unknown token as `unknown`, control tokens as nothing, and each [`MARK`] as a space.
    ///
    /// # Errors
    /// [`VocabularyError::TooLarge`].
    ///
    /// # Complexity
    /// O(total characters).
    pub fn from_pieces(
        pieces: &[Piece<'_>],
        unknown: &str,
        model: Model,
    ) -> Result<Self, VocabularyError> {
        let mut tokens = Tokens::with_capacity(pieces.len(), 8 * pieces.len());
        for (id, piece) in (0..).zip(pieces) {
            match piece.kind {
                Kind::Normal | Kind::UserDefined | Kind::Unused | Kind::Unreachable => {
                    // Most texts have spaces in place of marks already.
                    if piece.text.contains(MARK) {
                        tokens.push(id, piece.text.replace(MARK, " ").as_bytes())?;
                    } else {
                        tokens.push(id, piece.text.as_bytes())?;
                    }
                }
                Kind::Byte(byte) => tokens.push_unlisted(id, &[byte])?,
                Kind::Control => tokens.push_unlisted(id, b"")?,
                Kind::Unknown => tokens.push_unlisted(id, unknown.as_bytes())?,
            }
        }
        Ok(Self::of(tokens, model))
    }

    /// Builds a vocabulary whose merges are listed, of tokens in the order of ids.
    ///
    /// # Errors
    /// [`VocabularyError::TooLarge`].
    ///
    /// # Complexity
    /// O(total bytes + merges).
    pub fn from_list(
        tokens: &[ListedToken<'_>],
        listing: Listing,
    ) -> Result<Self, VocabularyError> {
        let (merges, table) = join(|| ListedMerges::new(listing), || listed_tokens(tokens));
        Ok(Self::of(table?, Model::Listed(Box::new(merges?))))
    }

    /// Builds a vocabulary of words and their parts, of tokens in the order of ids.
    ///
    /// # Errors
    /// [`VocabularyError::TooLarge`].
    ///
    /// # Complexity
    /// O(total bytes), and sorting.
    pub fn from_words(
        tokens: &[ListedToken<'_>],
        list: WordList<'_>,
    ) -> Result<Self, VocabularyError> {
        let (words, table) = join(|| Words::new(list), || listed_tokens(tokens));
        Ok(Self::of(table?, Model::Words(Box::new(words?))))
    }

    /// Builds a vocabulary of tokens with scores, of tokens in the order of ids.
    ///
    /// # Errors
    /// [`VocabularyError::TooLarge`].
    ///
    /// # Complexity
    /// O(total bytes), and sorting.
    pub fn from_score_list(
        tokens: &[ListedToken<'_>],
        list: ScoreList<'_>,
    ) -> Result<Self, VocabularyError> {
        let (unigram, table) = join(|| Unigram::new(list), || listed_tokens(tokens));
        Ok(Self::of(table?, Model::Unigram(Box::new(unigram?))))
    }

    /// Builds a vocabulary from different tokens in the order of ids, and pairs, each with the token of which they are
    /// the two parts, in the order of these. Only they merge, and a token may be made by none.
    ///
    /// # Errors
    /// [`VocabularyError::MissingByte`], [`VocabularyError::TooLarge`].
    ///
    /// # Complexity
    /// O(total bytes).
    pub(crate) fn from_pairs<'a>(
        tokens: impl Iterator<Item = (TokenId, &'a [u8])> + Clone,
        pairs: &[(TokenId, Pair)],
    ) -> Result<Self, VocabularyError> {
        let bytes = tokens.clone().map(|(_, token)| token.len()).sum();
        let mut table = Tokens::with_capacity(tokens.clone().count(), bytes);
        for (id, token) in tokens {
            table.push(id, token)?;
        }
        let (pairs, byte_pairs) = tables_of(&table, pairs);
        Self::new(table, pairs, byte_pairs)
    }

    /// Returns the same tokens, made by other pairs.
    pub(crate) fn with_pairs(self, pairs: &[(TokenId, Pair)]) -> Result<Self, VocabularyError> {
        let (pairs, byte_pairs) = tables_of(&self.tokens, pairs);
        Self::new(self.tokens, pairs, byte_pairs)
    }

    /// Returns every split of a token into two tokens, as a merge of that pair, in the order of ids.
    ///
    /// # Complexity
    /// O(total bytes).
    pub(crate) fn every_split(&self) -> Vec<(TokenId, Pair)> {
        every_split(&self.tokens)
    }

    /// Says that merging a token's own bytes is known to yield that token, but for tokens of these lengths in bytes.
    pub(crate) fn with_unmade(mut self, lengths: impl IntoIterator<Item = usize>) -> Self {
        if let Model::Bytes(merges) = &mut self.model {
            let bits = lengths.into_iter().map(|length| 1 << (length % 64));
            merges.unmade = bits.fold(0, |unmade, bit: u64| unmade | bit);
        }
        self
    }

    /// How a piece becomes tokens.
    #[inline]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The merges by rank; `None` for other models.
    pub fn byte_merges(&self) -> Option<&ByteMerges> {
        match &self.model {
            Model::Bytes(merges) => Some(merges),
            _ => None,
        }
    }

    /// The merges of a list; `None` for other models.
    pub fn listed_merges(&self) -> Option<&ListedMerges> {
        match &self.model {
            Model::Listed(merges) => Some(merges),
            _ => None,
        }
    }

    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Number of bytes that it occupies, without the parts of a published one that lie in the library.
    pub(crate) fn memory(&self) -> usize {
        let sorted = self.sorted.get().map_or(0, |sorted| 4 * sorted.capacity());
        let model = match &self.model {
            Model::Bytes(merges) => merges.memory(),
            Model::Listed(merges) => merges.memory(),
            Model::Words(words) => words.memory(),
            Model::Unigram(unigram) => unigram.memory(),
        };
        self.tokens.memory() + model + sorted
    }

    /// Never true: every byte is a token.
    pub fn is_empty(&self) -> bool {
        self.tokens.len() == 0
    }

    /// The ids in increasing order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = TokenId> {
        self.tokens.ids()
    }

    /// All tokens end to end, in the order of ids.
    pub(crate) fn all_bytes(&self) -> &[u8] {
        self.tokens.arena()
    }

    /// The span of each token in [`all_bytes`](Self::all_bytes), with its id, in the order of ids.
    pub(crate) fn spans(&self) -> impl ExactSizeIterator<Item = (Range<usize>, TokenId)> {
        self.tokens.spans()
    }

    /// The numbers of bytes of all tokens, in the order of ids.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = usize> {
        self.tokens.lengths()
    }

    /// The runs of indices, in the order of ids, of the tokens that are found by their bytes.
    pub(crate) fn runs(&self) -> impl Iterator<Item = Range<usize>> {
        self.tokens.runs()
    }

    /// The span of the token with this index.
    #[inline]
    pub(crate) fn span(&self, index: usize) -> Range<usize> {
        self.tokens.span(index)
    }

    /// Returns whether there may be pieces without ids, which are an error.
    pub(crate) fn may_lack_ids(&self) -> bool {
        match &self.model {
            Model::Words(words) => words.unknown().is_err(),
            Model::Unigram(unigram) => unigram.unknown().is_err(),
            Model::Bytes(_) | Model::Listed(_) => false,
        }
    }

    /// Returns what encoding by chunks needs, if the ids of a part of a text may depend on the sum of scores before it.
    pub(crate) fn chunks(&self) -> Option<(&Unigram, &Chunks)> {
        match &self.model {
            Model::Unigram(unigram) => Some((unigram, unigram.chunks()?)),
            _ => None,
        }
    }

    /// Returns whether a token is the unknown one, and stands for texts that it is spelled by.
    pub(crate) fn is_unknown_text(&self, id: TokenId) -> bool {
        matches!(&self.model, Model::Unigram(unigram) if unigram.is_unknown(id))
    }

    /// The scores of tokens by id; `None` for models without.
    pub fn scores(&self) -> Option<&[f64]> {
        match &self.model {
            Model::Unigram(unigram) => Some(unigram.scores()),
            _ => None,
        }
    }

    /// Returns whether a piece of exactly the bytes of a token is known to become it, for any token.
    pub(crate) fn has_own_tokens(&self) -> bool {
        match &self.model {
            Model::Bytes(_) | Model::Words(_) => true,
            Model::Listed(merges) => merges.looks_up_whole_pieces() || merges.has_own(),
            // Which those are would take the work of encoding each.
            Model::Unigram(_) => false,
        }
    }

    /// The span and the id of the token with this index, of a [run](Self::runs), if a piece of exactly its bytes is known
    /// to become it.
    #[inline]
    pub(crate) fn own_token(&self, index: usize) -> Option<(Range<usize>, TokenId)> {
        let id = self.tokens.id(index);
        let is_own = match &self.model {
            Model::Bytes(_) => true,
            Model::Listed(merges) => merges.looks_up_whole_pieces() || merges.is_own(id),
            Model::Words(words) => words.is_own(self.tokens.at(index)),
            Model::Unigram(_) => false,
        };
        is_own.then(|| (self.tokens.span(index), id))
    }

    /// Returns the token that a piece becomes before anything is merged, where merges are listed and whole pieces are
    /// looked up.
    #[inline]
    pub(crate) fn whole_piece(&self, piece: &[u8]) -> Option<TokenId> {
        match &self.model {
            Model::Listed(merges) if merges.looks_up_whole_pieces() => {
                // A character whose token has other bytes is that token, not the one of its byte.
                let found = self.tokens.find(piece).or_else(|| merges.spelled(piece));
                found.or_else(|| self.token(piece))
            }
            _ => None,
        }
    }

    /// Returns the bytes of token `id`. O(1) for ids without holes before them, otherwise O(log n).
    #[inline]
    pub fn bytes(&self, id: TokenId) -> Option<&[u8]> {
        self.tokens.bytes(id)
    }

    /// Number of bytes of the longest token. O(tokens) for the first caller.
    pub fn longest(&self) -> usize {
        let longest = || self.lengths().max();
        *get_or_init_nonblocking(&self.longest, || longest().expect("every byte is a token"))
    }

    /// Returns the token that is exactly `bytes`. O(length).
    #[inline]
    pub fn token(&self, bytes: &[u8]) -> Option<TokenId> {
        self.tokens.find(bytes).or_else(|| {
            let [byte] = *bytes else { return None };
            match &self.model {
                Model::Listed(merges) => merges.byte_token(byte),
                Model::Bytes(_) | Model::Words(_) | Model::Unigram(_) => None,
            }
        })
    }

    /// The highest id.
    #[inline]
    pub fn highest_id(&self) -> TokenId {
        self.tokens.last_id().expect("every byte is a token")
    }

    /// Returns the ids in the order of their tokens' bytes.
    ///
    /// # Complexity
    /// O(n log n) for the first caller; kept from then on, 4 bytes a token.
    pub fn sorted_by_bytes(&self) -> &[TokenId] {
        get_or_init_nonblocking::<Vec<TokenId>>(&self.sorted, || {
            let mut indices = memory::collect(0..self.len());
            indices.sort_unstable_by_key(|&index| self.tokens.at(index));
            memory::collect(indices.into_iter().map(|index| self.tokens.id(index)))
        })
    }
}

/// Returns why a merged token cannot be added: its id is too large, or not larger than the last.
#[cold]
fn refusal(tokens: &Tokens, id: TokenId, merged: Vec<u8>) -> VocabularyError {
    match (tokens.bytes(id), tokens.last_id()) {
        (Some(first), _) => VocabularyError::DuplicateId {
            id,
            first: first.to_vec(),
            second: merged,
        },
        (None, Some(last)) if id != NO_TOKEN => VocabularyError::OutOfOrder { id, last },
        _ => VocabularyError::IdTooLarge(merged),
    }
}

/// Returns the table of tokens in the order of ids.
fn listed_tokens(tokens: &[ListedToken<'_>]) -> Result<Tokens, VocabularyError> {
    let bytes = tokens.iter().map(|token| token.bytes.len()).sum();
    let mut table = Tokens::with_capacity(tokens.len(), bytes);
    for token in tokens {
        if token.is_found {
            table.push(token.id, &token.bytes)?;
        } else {
            table.push_unlisted(token.id, &token.bytes)?;
        }
    }
    Ok(table)
}

/// Returns every split of a token into two tokens, as a merge of that pair.
fn every_split(tokens: &Tokens) -> Vec<(TokenId, Pair)> {
    let number = tokens.len();
    let halves = Halves::new(memory::collect((0..number).map(|index| tokens.at(index))));
    let id = |index: u32| tokens.id(index as usize);
    let splits = |indices: Range<usize>| {
        let mut splits = memory::vec_with_capacity(2 * indices.len());
        let mut hashes = Vec::new();
        for index in indices {
            halves.of(index, &mut hashes, |left, right| {
                splits
                    .with_room(1)
                    .push((tokens.id(index), Pair::new(id(left), id(right))));
            });
        }
        splits
    };
    let (mut all, others) = join(|| splits(0..number / 2), || splits(number / 2..number));
    memory::extend(&mut all, others);
    all
}

/// Returns the tables of pairs of tokens, in the order of the tokens that they merge into.
fn tables_of(tokens: &Tokens, pairs: &[(TokenId, Pair)]) -> (PairTable, BytePairTable) {
    join(
        || PairTable::of(pairs),
        || {
            let mut byte_pairs = BytePairTable::new();
            let part = |id| (tokens.bytes(id).expect("it is a token"), id);
            for &(id, pair) in pairs {
                byte_pairs.insert(part(pair.left), part(pair.right), id);
            }
            byte_pairs
        },
    )
}
