//! The loop that splits text by a rule, block by block or piece by piece.

#![expect(
    clippy::inline_always,
    reason = "compiled anew for each tier, with its instructions"
)]

#[cfg(vectors)]
mod tiers;

use std::ops::Range;

use super::adjacent::Adjacency;
use super::borders::{Borders, Places};
use super::chain::classes::Classes;
use super::chain::codes::{ByClasses, Found};
use super::chain::layers::Layers;
use super::masks::{Classify, Masks, Scalar};
use super::o200k::{O200k, R50k};
use super::pattern::Family;
use super::rules::Tail;
use super::starts::{self, Han};
use super::{CHUNK, CHUNK_BYTES};
use crate::checkpoint::{self, Interrupted};
use crate::util::block::{BLOCK_LEN, Block, OVERHANG, Spans};
use crate::util::memory::Growable;
use crate::util::tier::Tier;
use crate::util::vector::dispatch;

/// Receives the pieces of a text, in order.
pub(crate) trait Sink {
    /// The error of a piece.
    type Error: From<Interrupted>;

    /// Takes the pieces of a block at `offset` of the text.
    fn block<const GAPS: bool>(
        &mut self,
        block: &Block,
        offset: usize,
        spans: Spans<GAPS>,
    ) -> Result<(), Self::Error>;

    /// Takes one piece.
    fn piece(&mut self, text: &[u8], piece: Range<usize>) -> Result<(), Self::Error>;

    /// Returns whether splitting should pause.
    #[inline(always)]
    fn is_full(&self) -> bool {
        false
    }
}

/// A sink that collects pieces.
struct Chunk<'c> {
    pieces: &'c mut Vec<Range<usize>>,
}

impl Sink for Chunk<'_> {
    type Error = Interrupted;

    #[inline(always)]
    fn block<const GAPS: bool>(
        &mut self,
        _: &Block,
        offset: usize,
        spans: Spans<GAPS>,
    ) -> Result<(), Interrupted> {
        // Storing the ends first and the pieces in a second loop was a tenth slower.
        for (start, end) in spans {
            let piece = offset + start..offset + end;
            self.pieces.with_room(1).push(piece);
        }
        Ok(())
    }

    #[inline(always)]
    fn piece(&mut self, _: &[u8], piece: Range<usize>) -> Result<(), Interrupted> {
        self.pieces.with_room(1).push(piece);
        Ok(())
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.pieces.len() >= CHUNK
    }
}

/// Appends the next few hundred pieces of `text` from `offset` on to `pieces` and moves `offset` past them.
///
/// # Errors
/// [`Interrupted`] from the checkpoint, passed during long pieces.
pub(super) fn fill(
    rule: Rule<'_>,
    tier: Tier,
    text: &[u8],
    offset: &mut usize,
    pieces: &mut Vec<Range<usize>>,
) -> Result<(), Interrupted> {
    let mut chunk = Chunk { pieces };
    split_into(rule, tier, text, offset, &mut chunk)
}

/// Passes the pieces of `text` from `offset` on to `sink`, until it is full or [`CHUNK_BYTES`] are split, and
/// moves `offset` past them.
pub(crate) fn split_into<S: Sink>(
    rule: Rule<'_>,
    tier: Tier,
    text: &[u8],
    offset: &mut usize,
    sink: &mut S,
) -> Result<(), S::Error> {
    dispatch!(tier, |proof| tiers::SplitInto::split_into(
        proof, rule, text, offset, sink
    ));
    split_portably(rule, tier, text, offset, sink)
}

/// As [`split_into`], in portable code whatever the tier.
pub(crate) fn split_portably<S: Sink>(
    rule: Rule<'_>,
    tier: Tier,
    text: &[u8],
    offset: &mut usize,
    sink: &mut S,
) -> Result<(), S::Error> {
    match tier {
        Tier::Reference => split_by_reference(rule, text, offset, sink),
        Tier::Scalar | Tier::Simd128 | Tier::Avx2 | Tier::Avx512 => {
            split_blocks(rule, text, offset, sink, Scalar)
        }
    }
}

/// As [`split_into`], one piece at a time.
fn split_by_reference<S: Sink>(
    rule: Rule<'_>,
    text: &[u8],
    offset: &mut usize,
    sink: &mut S,
) -> Result<(), S::Error> {
    let limit = offset.saturating_add(CHUNK_BYTES).min(text.len());
    while *offset < limit && !sink.is_full() {
        *offset = split_piece(rule, text, *offset, None, sink)?;
    }
    Ok(())
}

/// As [`split_into`], one block at a time.
#[inline(always)]
pub(crate) fn split_blocks<S: Sink>(
    rule: Rule<'_>,
    text: &[u8],
    offset: &mut usize,
    sink: &mut S,
    classify: impl Classify,
) -> Result<(), S::Error> {
    // One loop for each rule: each is compiled with its own ends. With two for each family, one of them for blocks of
    // ASCII alone, which need fewer of its rules, splitting English took half as long again.
    macro_rules! split {
        ($ranges:expr, $ends:expr) => {
            split_blocks_by(rule, text, offset, sink, classify, $ranges, $ends)
        };
    }
    match rule {
        Rule::Family(Family::R50k(r50k)) if r50k.borders == Borders::NONE => {
            // Known to the compiler in this loop.
            let r50k = R50k {
                longest_number: usize::MAX,
                ..r50k
            };
            split!(Ranges::All, |masks, _, at| {
                starts::r50k(r50k, masks, Places::NONE, text, at).further()
            })
        }
        Rule::Family(Family::R50k(r50k)) => split!(Ranges::All, |masks, block, at| {
            let (masks, places) = r50k.borders.in_block(classify, masks, block);
            starts::r50k(r50k, &masks, places, text, at).further()
        }),
        Rule::Family(Family::Cl100k(cl100k)) if cl100k.borders == Borders::NONE => {
            split!(Ranges::All, |masks, _, at| {
                starts::cl100k(cl100k, masks, Places::NONE, text, at).further()
            })
        }
        Rule::Family(Family::Cl100k(cl100k)) => split!(Ranges::All, |masks, block, at| {
            let (masks, places) = cl100k.borders.in_block(classify, masks, block);
            starts::cl100k(cl100k, &masks, places, text, at).further()
        }),
        Rule::Family(Family::O200k(o200k))
            if !o200k.han_apart && o200k.tail == Tail::NewlinesAndSlashes =>
        {
            // As above.
            let o200k = O200k {
                tail: Tail::NewlinesAndSlashes,
                ..o200k
            };
            split!(Ranges::All, |masks, _, at| {
                starts::o200k(o200k, masks, Han::NONE, text, at).further()
            })
        }
        Rule::Family(Family::O200k(o200k)) => split!(Ranges::All, |masks, block, at| {
            let han = if o200k.han_apart {
                Han::in_block(classify, masks, block)
            } else {
                Han::NONE
            };
            starts::o200k(o200k, masks, han, text, at).further()
        }),
        Rule::Family(Family::Deepseek(deepseek)) => split!(Ranges::All, |masks, block, _| {
            deepseek.starts(classify, masks, block).further()
        }),
        Rule::Adjacency(adjacency) => split!(Ranges::Ascii, |masks, block, at| {
            adjacency.ends(block, masks, text.len() - at)
        }),
        Rule::Classes(classes) => split_by_spans(rule, classes, text, offset, sink, classify),
        Rule::Layers(layers) => split_by_spans(rule, layers, text, offset, sink, classify),
    }
}

/// The characters that a rule needs the classes of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ranges {
    Ascii,
    All,
}

/// As [`split_blocks`], `ends` being the ends of pieces in a block, of these classes, at an offset of the text; 0 if it
/// has none that is sure.
///
/// Blocks are classified here: in a closure, which is compiled without the instructions of the tier before it is
/// inlined, that took 50 instructions more for each.
#[inline(always)]
fn split_blocks_by<S: Sink>(
    rule: Rule<'_>,
    text: &[u8],
    offset: &mut usize,
    sink: &mut S,
    classify: impl Classify,
    ranges: Ranges,
    ends: impl Fn(&Masks, &Block, usize) -> u64,
) -> Result<(), S::Error> {
    let limit = offset.saturating_add(CHUNK_BYTES).min(text.len());
    let mut last = EMPTY_BLOCK;
    while *offset < limit && !sink.is_full() {
        let block = block_at(&text[*offset..], &mut last);
        let mut masks = classify.ascii(block);
        if ranges == Ranges::All && masks.non_ascii != 0 {
            masks = classify.add_non_ascii(masks, block);
        }
        let ends = ends(&masks, block, *offset);
        if ends == 0 {
            *offset = split_piece(rule, text, *offset, Some(block), sink)?;
        } else {
            sink.block(block, *offset, Spans::adjacent(ends))?;
            *offset += (BLOCK_LEN - 1) - ends.leading_zeros() as usize;
        }
    }
    Ok(())
}

/// As [`split_blocks`], by classes of characters.
#[inline(always)]
fn split_by_spans<S: Sink, const GAPS: bool>(
    rule: Rule<'_>,
    classes: &impl ByClasses<GAPS>,
    text: &[u8],
    offset: &mut usize,
    sink: &mut S,
    classify: impl Classify,
) -> Result<(), S::Error> {
    let limit = offset.saturating_add(CHUNK_BYTES).min(text.len());
    let mut last = EMPTY_BLOCK;
    // Where the block begins: inside of a piece, which begins at `offset`, if that is open.
    let mut at = *offset;
    let mut check = at + CHECK_INTERVAL;
    while at > *offset || (at < limit && !sink.is_full()) {
        let rest = &text[at..];
        let block = block_at(rest, &mut last);
        match classes.spans(classify, block, rest) {
            Found::Pieces(spans, end) if at == *offset => {
                sink.block(block, at, spans)?;
                at += end;
            }
            Found::Pieces(spans, _) => {
                at += spans.ends().trailing_zeros() as usize;
                sink.piece(text, *offset..at)?;
            }
            Found::Gap(end) => at += end,
            Found::Open(end) => {
                at += end;
                if at >= check {
                    check = at + CHECK_INTERVAL;
                    checkpoint::pass()?;
                }
                continue;
            }
            Found::Unsure => at = split_piece(rule, text, *offset, None, sink)?,
        }
        *offset = at;
    }
    Ok(())
}

/// Passes the next piece from `offset` on, where the block begins, to `sink`, and returns its end, or that of the text
/// if there is none. Not inlined: the loop, which seldom needs it, keeps its registers.
#[cold]
#[inline(never)]
fn split_piece<S: Sink>(
    rule: Rule<'_>,
    text: &[u8],
    offset: usize,
    block: Option<&Block>,
    sink: &mut S,
) -> Result<usize, S::Error> {
    let Some(piece) = rule.piece(text, offset)? else {
        return Ok(text.len());
    };
    let end = piece.end;
    match block {
        Some(block) if piece.start == offset && piece.len() < BLOCK_LEN => {
            sink.block(block, offset, Spans::adjacent(1 << piece.len()))?;
        }
        _ => sink.piece(text, piece)?,
    }
    Ok(end)
}

/// Passes `pieces` of `text`, in order, to `sink`.
#[inline(always)]
pub(crate) fn pass_pieces<S: Sink>(
    text: &[u8],
    mut pieces: &[Range<usize>],
    sink: &mut S,
) -> Result<(), S::Error> {
    let mut last = EMPTY_BLOCK;
    while let [first, rest @ ..] = pieces {
        let start = first.start;
        if first.len() >= BLOCK_LEN {
            sink.piece(text, first.clone())?;
            pieces = rest;
            continue;
        }
        let (mut starts, mut ends) = (0, 0);
        while let [piece, rest @ ..] = pieces
            && piece.end - start < BLOCK_LEN
        {
            starts |= 1 << (piece.start - start);
            ends |= 1 << (piece.end - start);
            pieces = rest;
        }
        let block = block_at(&text[start..], &mut last);
        sink.block(block, start, Spans::apart(starts, ends))?;
    }
    Ok(())
}

/// Bytes between two passes of the checkpoint in a long piece.
const CHECK_INTERVAL: usize = 1 << 20;

/// A block of spaces.
const EMPTY_BLOCK: Block = [b' '; BLOCK_LEN + OVERHANG];

/// The block that the rest of a text begins with, or its last one, in `last`.
#[inline(always)]
fn block_at<'a>(rest: &'a [u8], last: &'a mut Block) -> &'a Block {
    if let Some(block) = rest.first_chunk() {
        return block;
    }
    *last = last_block(rest);
    last
}

/// The last block of a text, padded with spaces.
///
/// A piece that is not whitespace ends before a space as it does at the end of the text. A run of whitespace
/// that does not end inside a block makes the block unsure, so whitespace at the end of the text, which has
/// rules of its own, is left to the reference.
fn last_block(rest: &[u8]) -> Block {
    let mut block = EMPTY_BLOCK;
    for (to, from) in block.iter_mut().zip(rest) {
        *to = *from;
    }
    block
}

/// A way to split with code of its own. Every byte is in a piece, unless classes remove some.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule<'a> {
    /// A pattern's.
    Family(Family),
    /// A vocabulary's.
    Adjacency(&'a Adjacency),
    /// By classes of characters.
    Classes(&'a Classes),
    /// By runs of classes.
    Layers(&'a Layers),
}

impl Rule<'_> {
    /// Returns the next piece from `offset` on, where one may start; none if the rest of the text is in no piece.
    ///
    /// # Errors
    /// [`Interrupted`] from the checkpoint, passed during long pieces.
    fn piece(self, text: &[u8], offset: usize) -> Result<Option<Range<usize>>, Interrupted> {
        let end = match self {
            Self::Family(family) => family.piece_end(text, offset)?,
            Self::Adjacency(adjacency) => adjacency.piece_end(text, offset)?,
            Self::Layers(layers) => layers.piece_end(text, offset)?,
            Self::Classes(classes) => return classes.piece(text, offset),
        };
        Ok(Some(offset..end))
    }

    /// Returns whether every byte is in a piece.
    pub(crate) fn is_whole(self) -> bool {
        !matches!(self, Self::Classes(_))
    }
}
