//! The native families, piece by piece or block by block, as fast as the machine allows.

#![expect(
    clippy::inline_always,
    reason = "compiled anew for each tier, with its instructions"
)]

use std::ops::Range;

use super::masks::{self, Masks};
use super::pattern::Family;
use super::window::{self, Starts};
use super::{CHUNK, CHUNK_BYTES};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::checkpoint::{Checkpoint, Interrupted};
use crate::util::block::{BLOCK_LEN, Block, OVERHANG};
use crate::util::tier::Tier;

/// What takes the pieces of a text, in order.
pub(crate) trait Sink {
    /// What can go wrong with a piece.
    type Error: From<Interrupted>;

    /// Takes the pieces that end where `ends` has bits; the first starts where the block does, at `place` of the text.
    fn block(&mut self, block: &Block, place: usize, ends: u64) -> Result<(), Self::Error>;

    /// Takes one piece.
    fn piece(&mut self, text: &[u8], piece: Range<usize>) -> Result<(), Self::Error>;

    /// Whether it wants no more for now.
    #[inline(always)]
    fn is_full(&self) -> bool {
        false
    }

    /// What is asked while the end of a long piece is searched for.
    fn checkpoint(&self) -> &dyn Checkpoint;
}

/// The sink that keeps the pieces.
struct Chunk<'c> {
    pieces: &'c mut Vec<Range<usize>>,
    checkpoint: &'c dyn Checkpoint,
}

impl Sink for Chunk<'_> {
    type Error = Interrupted;

    #[inline(always)]
    fn block(&mut self, _: &Block, place: usize, mut ends: u64) -> Result<(), Interrupted> {
        // Storing the ends first and the pieces in a second loop was a tenth slower.
        let mut start = place;
        while ends != 0 {
            let end = place + ends.trailing_zeros() as usize;
            self.pieces.push(start..end);
            start = end;
            ends &= ends - 1;
        }
        Ok(())
    }

    #[inline(always)]
    fn piece(&mut self, _: &[u8], piece: Range<usize>) -> Result<(), Interrupted> {
        self.pieces.push(piece);
        Ok(())
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.pieces.len() >= CHUNK
    }

    fn checkpoint(&self) -> &dyn Checkpoint {
        self.checkpoint
    }
}

/// Adds the pieces of `text` from `place` on to `pieces`, some hundred at a time, and moves `place` past them.
///
/// # Errors
/// [`Interrupted`] from the checkpoint, asked during long pieces.
pub(super) fn fill(
    family: Family,
    tier: Tier,
    text: &[u8],
    place: &mut usize,
    pieces: &mut Vec<Range<usize>>,
    checkpoint: &dyn Checkpoint,
) -> Result<(), Interrupted> {
    let mut chunk = Chunk { pieces, checkpoint };
    split_into(family, tier, text, place, &mut chunk)
}

/// Gives the pieces of `text` from `place` on to `sink`, until it is full or some KB are done, and moves `place`
/// past them.
pub(crate) fn split_into<S: Sink>(
    family: Family,
    tier: Tier,
    text: &[u8],
    place: &mut usize,
    sink: &mut S,
) -> Result<(), S::Error> {
    #[cfg(target_arch = "x86_64")]
    {
        let result = match tier {
            Tier::Avx512 => avx512::by_blocks(family, text, place, sink),
            Tier::Avx2 => avx2::by_blocks(family, text, place, sink),
            Tier::Reference | Tier::Scalar => None,
        };
        if let Some(result) = result {
            return result;
        }
    }
    split_into_scalar(family, tier, text, place, sink)
}

/// As [`split_into`], without special instructions, whatever the tier.
pub(crate) fn split_into_scalar<S: Sink>(
    family: Family,
    tier: Tier,
    text: &[u8],
    place: &mut usize,
    sink: &mut S,
) -> Result<(), S::Error> {
    match tier {
        Tier::Reference => by_reference(family, text, place, sink),
        Tier::Scalar | Tier::Avx2 | Tier::Avx512 => {
            by_blocks(family, text, place, sink, masks::ascii, Masks::with_high)
        }
    }
}

fn by_reference<S: Sink>(
    family: Family,
    text: &[u8],
    place: &mut usize,
    sink: &mut S,
) -> Result<(), S::Error> {
    let most = place.saturating_add(CHUNK_BYTES).min(text.len());
    while *place < most && !sink.is_full() {
        *place = one_piece(family, text, *place, None, sink)?;
    }
    Ok(())
}

/// As [`split_into_scalar`], block by block, `ascii` and `high` being how the tier classifies.
#[inline(always)]
pub(crate) fn by_blocks<S: Sink>(
    family: Family,
    text: &[u8],
    place: &mut usize,
    sink: &mut S,
    ascii: impl Fn(&Block) -> Masks,
    high: impl Fn(Masks, &Block) -> Masks,
) -> Result<(), S::Error> {
    // One loop for each family, so that each is compiled for itself.
    match family {
        Family::R50k(r50k) => blocks(family, text, place, sink, ascii, high, |masks, place| {
            window::r50k(masks, text, place, r50k.contractions)
        }),
        Family::Cl100k(cl100k) => blocks(family, text, place, sink, ascii, high, |masks, place| {
            window::cl100k(
                masks,
                text,
                place,
                cl100k.contractions,
                cl100k.longest_number,
            )
        }),
        Family::O200k(o200k) => blocks(family, text, place, sink, ascii, high, |masks, place| {
            window::o200k(masks, text, place, o200k.contractions, o200k.longest_number)
        }),
    }
}

/// The loop over blocks. With the rules compiled twice, once for blocks of ASCII alone, which take fewer, to split English
/// took half as long again.
#[inline(always)]
fn blocks<S: Sink>(
    family: Family,
    text: &[u8],
    place: &mut usize,
    sink: &mut S,
    ascii: impl Fn(&Block) -> Masks,
    high: impl Fn(Masks, &Block) -> Masks,
    starts: impl Fn(&Masks, usize) -> Starts,
) -> Result<(), S::Error> {
    let most = place.saturating_add(CHUNK_BYTES).min(text.len());
    let mut last;
    while *place < most && !sink.is_full() {
        let rest = text.get(*place..).unwrap_or_default();
        let block = if let Some(block) = rest.first_chunk() {
            block
        } else {
            last = last_block(rest);
            &last
        };
        let mut masks = ascii(block);
        if masks.high != 0 {
            masks = high(masks, block);
        }
        let further = starts(&masks, *place).further();
        if further == 0 {
            *place = one_piece(family, text, *place, Some(block), sink)?;
        } else {
            sink.block(block, *place, further)?;
            *place += (BLOCK_LEN - 1) - further.leading_zeros() as usize;
        }
    }
    Ok(())
}

/// Gives the piece at `place`, where the block begins, to `sink`, and answers where it ends. Not inlined: the loop, which
/// seldom needs it, keeps its registers.
#[cold]
#[inline(never)]
fn one_piece<S: Sink>(
    family: Family,
    text: &[u8],
    place: usize,
    block: Option<&Block>,
    sink: &mut S,
) -> Result<usize, S::Error> {
    let end = family.piece_end(text, place, sink.checkpoint())?;
    match block {
        Some(block) if end - place < BLOCK_LEN => {
            sink.block(block, place, 1 << (end - place))?;
        }
        _ => sink.piece(text, place..end)?,
    }
    Ok(end)
}

/// The end of a text, as if spaces followed. A piece that is no blank ends there as it does at the end of the text; where
/// a run of blanks that does not end in the block is cut, the block is not sure, so that the blanks at the end of the
/// text, which have rules of their own, are left to the scanner.
fn last_block(rest: &[u8]) -> Block {
    let mut block = [b' '; BLOCK_LEN + OVERHANG];
    for (to, from) in block.iter_mut().zip(rest) {
        *to = *from;
    }
    block
}
