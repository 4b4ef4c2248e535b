//! Merges by list, for both engines.

use super::queue::{self, LongMerges, Queue, Start, Token};
use super::short::{self, ShortMerges, Symbols};
use super::{Placed, apart, long};
use crate::error::EncodeError;
use crate::token::{NO_TOKEN, TokenId};
use crate::util::memory::{self, Growable};
use crate::vocabulary::byte_merges::ByteMerges;
use crate::vocabulary::listed::{ListedMerges, Symbol};
use crate::vocabulary::pair_table::PairTable;

/// Appends the ids of `piece` to `ids`.
///
/// # Errors
/// As [`encode_piece`](super::encode_piece).
pub(super) fn merge(
    merges: &ListedMerges,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
) -> Result<(), EncodeError> {
    let before = ids.len();
    if merges.takes_apart() {
        let mut symbols = Vec::new();
        merges.start(piece, &mut symbols);
        let tokens = apart::merge(merges, &symbols)?;
        memory::extend(ids, tokens.iter().map(|token| token.id));
    } else if merges.knows(piece) {
        merge_by(merges, piece, long::WINDOW_LEN, ids)?;
    } else {
        let mut symbols = Vec::new();
        merges.start(piece, &mut symbols);
        let length = SYMBOL * long::WINDOW_LEN;
        merge_by(&Spelled(merges), &spelled(&symbols), length, ids)?;
    }
    merges.replace_singles(ids, before);
    Ok(())
}

fn merge_by(
    merges: &(impl ShortMerges + LongMerges),
    piece: &[u8],
    window: usize,
    ids: &mut Vec<TokenId>,
) -> Result<(), EncodeError> {
    if short::merge(merges, piece, ids) {
        return Ok(());
    }
    long::merge(merges, piece, window, ids)
}

/// Appends the ids of `piece` to `placed`, each with its span in the piece.
///
/// A span is where `tokenizers` has it: behind the characters that the ids before it stand for, even if others between them
/// have been left out.
///
/// # Errors
/// As [`encode_piece`](super::encode_piece).
pub(super) fn placed(
    merges: &ListedMerges,
    piece: &[u8],
    placed: &mut Vec<Placed>,
) -> Result<(), EncodeError> {
    let mut symbols = Vec::new();
    merges.start(piece, &mut symbols);
    let tokens = if merges.takes_apart() {
        apart::merge(merges, &symbols)?
    } else {
        let mut queue = Queue::new();
        queue.merge(&Spelled(merges), &spelled(&symbols))?;
        let index = |token: Token| Token {
            start: token.start / SYMBOL,
            ..token
        };
        memory::collect(queue.tokens().map(index))
    };
    let starts = tokens.iter().skip(1).map(|token| token.start);
    let written = merges.written(piece);
    let (mut index, mut start) = (0, 0);
    let mut ids = Vec::new();
    for (token, next) in tokens.iter().zip(starts.chain([symbols.len()])) {
        let length: usize = symbols[index..next]
            .iter()
            .map(|symbol| symbol.length)
            .sum();
        // The bytes of a suffix stand for nothing in the piece.
        let own = &written[start.min(written.len())..(start + length).min(written.len())];
        let span = match (own.first(), own.last()) {
            (Some(first), Some(last)) => first.start..last.end,
            _ => piece.len()..piece.len(),
        };
        (index, start) = (next, start + length);
        if merges.is_single(token.id) {
            ids.clear();
            merges.push_single(token.id, &mut ids);
            let spans = ids.iter().map(|&id| Placed {
                id,
                span: span.clone(),
            });
            memory::extend(placed, spans);
        } else {
            placed.with_room(1).push(Placed { id: token.id, span });
        }
    }
    Ok(())
}

impl LongMerges for ListedMerges {
    #[inline]
    fn start(&self, rest: &[u8]) -> Start {
        let (id, length) = self.first(rest);
        let rank = match (self.byte_pairs(), &rest[length..]) {
            (_, []) => NO_TOKEN,
            (Some(byte_pairs), [second, ..]) => byte_pairs.of(rest[0], *second).rank(),
            (None, after) => LongMerges::rank(self, id, self.first(after).0),
        };
        Start { id, length, rank }
    }

    #[inline]
    fn rank(&self, left: TokenId, right: TokenId) -> TokenId {
        self.rank(self.pairs().get(left, right))
    }

    #[inline]
    fn made(&self, rank: TokenId, left: TokenId, right: TokenId) -> TokenId {
        self.made(rank, || self.pairs().get(left, right))
    }

    #[inline]
    fn likely(&self, rank: TokenId) -> TokenId {
        self.likely(rank)
    }

    #[inline]
    fn prefetch(&self, left: TokenId, right: TokenId) {
        self.pairs().prefetch(left, right);
    }

    fn boundary(&self, bytes: &[u8], end: usize) -> usize {
        if self.merges_bytes() {
            end
        } else {
            character_boundary(bytes, end)
        }
    }
}

/// Returns the last offset in `bytes` at which a character ends, no later than `end`.
fn character_boundary(bytes: &[u8], end: usize) -> usize {
    let is_inside = |offset: &usize| bytes.get(*offset).is_some_and(|byte| byte & 0xC0 == 0x80);
    // A character of four bytes has three of these; where there are more, they are no character.
    (end.saturating_sub(3).max(1)..=end)
        .rev()
        .find(|offset| !is_inside(offset))
        .unwrap_or(end)
}

/// Bytes of a symbol where pieces are spelled by symbols.
const SYMBOL: usize = size_of::<TokenId>();

/// Returns the ids of symbols as bytes, which [`Spelled`] reads as a piece.
fn spelled(symbols: &[Symbol]) -> Vec<u8> {
    let mut bytes = memory::vec_with_capacity(SYMBOL * symbols.len());
    bytes.extend(symbols.iter().flat_map(|symbol| symbol.id.to_ne_bytes()));
    bytes
}

/// The same merges, of pieces that are spelled by symbols.
struct Spelled<'a>(&'a ListedMerges);

impl LongMerges for Spelled<'_> {
    fn start(&self, rest: &[u8]) -> Start {
        let symbol = |rest: &[u8]| rest.first_chunk().copied().map(TokenId::from_ne_bytes);
        let id = symbol(rest).expect("a piece is spelled by whole symbols");
        let next = symbol(&rest[SYMBOL..]);
        Start {
            id,
            length: SYMBOL,
            rank: next.map_or(NO_TOKEN, |next| LongMerges::rank(self, id, next)),
        }
    }

    fn rank(&self, left: TokenId, right: TokenId) -> TokenId {
        LongMerges::rank(self.0, left, right)
    }

    fn made(&self, rank: TokenId, left: TokenId, right: TokenId) -> TokenId {
        LongMerges::made(self.0, rank, left, right)
    }

    fn likely(&self, rank: TokenId) -> TokenId {
        LongMerges::likely(self.0, rank)
    }

    fn prefetch(&self, left: TokenId, right: TokenId) {
        LongMerges::prefetch(self.0, left, right);
    }

    fn boundary(&self, _: &[u8], end: usize) -> usize {
        end - end % SYMBOL
    }
}

impl ShortMerges for Spelled<'_> {
    #[inline]
    fn fits(&self) -> bool {
        ShortMerges::fits(self.0)
    }

    #[inline]
    fn pairs(&self) -> &PairTable {
        self.0.pairs()
    }

    #[inline]
    fn fill<const N: usize>(
        &self,
        symbols: &mut Symbols<N>,
        piece: &[u8],
        look_up: impl Fn(TokenId, TokenId) -> TokenId + Copy,
    ) {
        let (spelled, _) = piece.as_chunks();
        for &symbol in spelled {
            let rank = |left, right| self.0.rank(look_up(left, right));
            symbols.push(TokenId::from_ne_bytes(symbol), rank);
        }
    }

    #[inline]
    fn rank(&self, entry: TokenId) -> TokenId {
        self.0.rank(entry)
    }

    #[inline]
    fn likely(&self, rank: TokenId) -> TokenId {
        self.0.likely(rank)
    }

    #[inline]
    fn made(&self, rank: TokenId, look_up: impl FnOnce() -> TokenId) -> TokenId {
        self.0.made(rank, look_up)
    }
}

// The merges with a rank below a limit, for both engines.

/// The merges with a rank below a limit.
pub(super) struct Below<'a> {
    pub(super) merges: &'a ByteMerges,
    pub(super) limit: TokenId,
}

impl Below<'_> {
    #[inline]
    fn limited(&self, rank: TokenId) -> TokenId {
        if rank < self.limit { rank } else { NO_TOKEN }
    }
}

impl LongMerges for Below<'_> {
    fn start(&self, rest: &[u8]) -> Start {
        let start = LongMerges::start(self.merges, rest);
        Start {
            rank: self.limited(start.rank),
            ..start
        }
    }

    fn rank(&self, left: TokenId, right: TokenId) -> TokenId {
        self.limited(LongMerges::rank(self.merges, left, right))
    }

    fn made(&self, rank: TokenId, left: TokenId, right: TokenId) -> TokenId {
        LongMerges::made(self.merges, rank, left, right)
    }

    fn prefetch(&self, left: TokenId, right: TokenId) {
        LongMerges::prefetch(self.merges, left, right);
    }

    fn boundary(&self, bytes: &[u8], end: usize) -> usize {
        LongMerges::boundary(self.merges, bytes, end)
    }
}

impl ShortMerges for Below<'_> {
    #[inline]
    fn fits(&self) -> bool {
        ShortMerges::fits(self.merges)
    }

    #[inline]
    fn pairs(&self) -> &PairTable {
        self.merges.pairs()
    }

    /// Without forced merges, whose ranks may be above the limit.
    #[inline]
    fn fill<const N: usize>(
        &self,
        symbols: &mut Symbols<N>,
        piece: &[u8],
        look_up: impl Fn(TokenId, TokenId) -> TokenId + Copy,
    ) {
        for &byte in piece {
            let rank = |left, right| self.limited(look_up(left, right));
            symbols.push(self.merges.byte_token(byte), rank);
        }
    }

    #[inline]
    fn rank(&self, made: TokenId) -> TokenId {
        self.limited(made)
    }

    #[inline]
    fn made(&self, rank: TokenId, _: impl FnOnce() -> TokenId) -> TokenId {
        rank
    }
}

/// Appends the ids of `piece` to `ids`.
///
/// # Errors
/// As [`queue::merge`].
pub(super) fn merge_below(
    merges: &Below<'_>,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
) -> Result<(), EncodeError> {
    if short::merge(merges, piece, ids) {
        return Ok(());
    }
    queue::merge(merges, piece, ids)
}
