//! Pieces → ids, a hundred or so at a time: the loop that nearly all encoding time is spent in.
//!
//! ```text
//! for each piece of a batch:
//!     find where its answer would be, and ask for that memory
//! for each piece of the batch:
//!     if the table of pieces knows it: store its ids
//!     else: the whole piece as a token, or its merges; store these and remember them
//! ```
//!
//! Both loops are bound by instructions, not by memory, once the tables lie in huge pages: English text in the caches is
//! hardly faster than 10 MB of it. Looking up lines of both widths in one way and storing answers whole, so that neither
//! the length of a piece nor the number of its ids is a branch, took the way from text to ids from 226 to 133
//! instructions a piece (splitting, 30 of them, included; English, `cl100k_base`, counted by callgrind).

use std::ops::Range;

use crate::checkpoint::Checkpoint;
use crate::error::EncodeError;
use crate::merge;
use crate::piece_table::{self, Answer, LONGEST, LONGEST_WHOLE, MOST_IDS, PieceTable, Spot, View};
use crate::split::native::Tier;
use crate::token::TokenId;
use crate::vocabulary::Vocabulary;

/// Pieces whose memory is asked for at once: enough for the first to have come when the last is asked for, few enough
/// for all to stay near.
const BATCH: usize = 128;

/// Room for the answers of a batch, the last of which is stored whole.
const ROOM: usize = MOST_IDS * (BATCH + 1);

/// What the loop works on besides the text; kept between calls, so that short texts need not prepare it.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) table: PieceTable,
    spots: [Spot; BATCH],
    long: Vec<u64>,
    /// The ids of a batch before they are appended to those of the text.
    ids: [TokenId; ROOM],
}

impl Workspace {
    pub(super) fn new(table: PieceTable) -> Self {
        Self {
            table,
            spots: [Spot::default(); BATCH],
            long: Vec::new(),
            ids: [0; ROOM],
        }
    }
}

/// Appends the ids of `pieces` of `text`.
pub(super) fn encode(
    tier: Tier,
    vocabulary: &Vocabulary,
    workspace: &mut Workspace,
    text: &[u8],
    pieces: &[Range<usize>],
    ids: &mut Vec<TokenId>,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    #[cfg(target_arch = "x86_64")]
    if tier == Tier::Avx2
        && let Some(result) =
            super::avx2::encode(vocabulary, workspace, text, pieces, ids, checkpoint)
    {
        return result;
    }
    let _ = tier;
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method's lifetime is not general enough"
    )]
    encode_with(
        vocabulary,
        workspace,
        text,
        pieces,
        ids,
        checkpoint,
        |view, text, start, length| view.find(text, start, length),
        |view, spot| {
            let answer = view.get(spot)?;
            Some((answer, piece_table::count(&answer)))
        },
    )
}

/// As [`encode`]; `find` and `get` are how the tier looks up.
#[expect(clippy::inline_always, reason = "compiled anew for each tier")]
#[expect(clippy::too_many_arguments, reason = "two of them are the tier")]
#[inline(always)]
pub(super) fn encode_with(
    vocabulary: &Vocabulary,
    workspace: &mut Workspace,
    text: &[u8],
    pieces: &[Range<usize>],
    ids: &mut Vec<TokenId>,
    checkpoint: &dyn Checkpoint,
    find: impl Fn(&View<'_>, &[u8], usize, usize) -> Spot,
    get: impl Fn(&View<'_>, &Spot) -> Option<(Answer, usize)>,
) -> Result<(), EncodeError> {
    let Workspace {
        table,
        spots,
        long,
        ids: answers,
    } = workspace;
    for batch in pieces.chunks(BATCH) {
        let view = table.view();
        for (spot, piece) in spots.iter_mut().zip(batch) {
            let length = piece.end - piece.start;
            *spot = find(&view, text, piece.start, length);
            view.prefetch(spot);
            if length > LONGEST_WHOLE && length <= LONGEST {
                long.push(table.find_long(&text[piece.clone()]));
            }
        }
        for hash in long.drain(..) {
            table.prefetch_long(hash);
        }
        let mut rest = batch.iter().zip(spots.iter());
        loop {
            let view = table.view();
            let mut place = 0;
            let unknown = loop {
                let Some((piece, spot)) = rest.next() else {
                    break None;
                };
                // Answers are stored whole, however many of their ids count.
                if let Some((answer, count)) = get(&view, spot)
                    && let Some(room) = answers.get_mut(place..place + MOST_IDS)
                {
                    room.copy_from_slice(&answer);
                    place += count;
                } else {
                    break Some((piece, *spot));
                }
            };
            ids.extend_from_slice(&answers[..place]);
            let Some((piece, spot)) = unknown else {
                break;
            };
            unseen(
                vocabulary,
                table,
                &text[piece.clone()],
                spot,
                ids,
                checkpoint,
            )?;
        }
    }
    Ok(())
}

/// Appends the ids of a piece that has no answer at its spot, and remembers them.
#[cold]
#[inline(never)]
fn unseen(
    vocabulary: &Vocabulary,
    table: &mut PieceTable,
    piece: &[u8],
    spot: Spot,
    ids: &mut Vec<TokenId>,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    if table.elsewhere(spot, piece, ids) {
        return Ok(());
    }
    let before = ids.len();
    merge::encode_piece(vocabulary, piece, ids, checkpoint)?;
    table.insert(spot, piece, &ids[before..]);
    Ok(())
}
