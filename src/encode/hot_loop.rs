//! Pieces → ids: the loop that nearly all encoding time is spent in, from top to bottom.
//!
//! ```text
//! encode_chunk         for some KB of text, compiled for the instructions of a tier:
//!   split_blocks         for each block of 64 bytes: where its pieces end (`split::native`, which calls the sink);
//!                        `pass_pieces` where other engines have found them
//!     Sink::block          hash its pieces, prefetch their buckets; they are pending
//!     flush                every 16 blocks, for each pending piece:
//!       probe_batch          if its bucket has it: append its ids
//!       encode_missed        else: look elsewhere, or encode it, whole or by its merges, append and learn its ids
//! ```
//!
//! Buckets of both short widths are probed in one way, and ids are stored eight at a time, so that there is
//! no branch on the length of a piece or the number of its ids. To probe each bucket at once, without pending
//! pieces, was a third slower on 10 MB of text, whose buckets are in no near cache, and as fast on some KB;
//! to prefetch the buckets of one block only made no difference, as the processor looks that far ahead by
//! itself.

use std::ops::Range;

use super::Before;
use crate::cache::{HashBlock, Hashed, PieceCache, ProbeBatch, ProbeCache, Scalar};
use crate::error::EncodeError;
use crate::merge;
use crate::merge::sums::Sums;
use crate::split::native::{self, Rule, Sink};
use crate::token::TokenId;
use crate::util::block::{BLOCK_LEN, Block, Spans};
use crate::util::tier::Tier;
use crate::vocabulary::Vocabulary;

/// Blocks whose pieces are pending together: some hundred pieces, so that their buckets have time to arrive,
/// and all of them fit into the nearest cache.
const BLOCKS: usize = 16;

/// Maximum number of pending pieces whose records are prefetched.
const RECORDS: usize = 64;

/// The state of the loop besides the text. Kept between calls, so that short texts need not prepare it.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) cache: PieceCache,
    /// Buffers for text that is treated before it is split.
    pub(super) scratch: Scratch,
    /// A piece behind a space.
    pub(super) behind_space: Vec<u8>,
    pending: Pending,
}

/// Buffers for text that is treated before it is split.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Normalized text of a SentencePiece model.
    pub(super) bytes: Vec<u8>,
    /// Normalized text of a pipeline.
    pub(super) normalized: String,
    /// The span of each of its bytes.
    pub(super) spans: Vec<Range<usize>>,
}

/// Pieces that are hashed and prefetched, not yet resolved. The sink knows how many.
#[derive(Debug)]
struct Pending {
    probes: ProbeBatch,
    /// The indices of those with a hash.
    hashed: [usize; RECORDS],
}

impl Workspace {
    pub(super) fn new(cache: PieceCache) -> Self {
        let pending = Pending {
            probes: ProbeBatch::new(BLOCKS * BLOCK_LEN),
            hashed: [0; RECORDS],
        };
        Self {
            cache,
            scratch: Scratch::default(),
            behind_space: Vec::new(),
            pending,
        }
    }
}

/// Whether the ids of cached pieces are appended or counted. Those of other pieces are appended in either case.
#[derive(Debug)]
pub(super) enum Mode {
    /// Appends them.
    Append,
    /// Counts them: the number so far.
    Count(usize),
}

impl Mode {
    /// Counts from 0.
    pub(super) const COUNT: Self = Self::Count(0);
}

/// The pieces of a text.
pub(super) enum Source<'s> {
    /// Those by a rule from an offset on, which moves past them.
    Rule(Rule<'s>, &'s mut usize),
    /// These, in order.
    Pieces(&'s [Range<usize>]),
}

/// Encodes pieces, in order.
pub(super) struct PieceEncoder<'a> {
    pub(super) vocabulary: &'a Vocabulary,
    pub(super) workspace: &'a mut Workspace,
    pub(super) ids: &'a mut Vec<TokenId>,
    pub(super) mode: Mode,
    /// The place of the text that is encoded: a model treats the start as nothing else.
    pub(super) before: Before,
    /// The sum of scores before a piece, where its ids may depend on that.
    pub(super) sums: Option<Sums>,
    /// Whether a step ends before text that is in no piece, so that nothing but its pieces is in its span.
    pub(super) stops_at_gaps: bool,
}

impl PieceEncoder<'_> {
    /// Encodes pieces of `text`, some KB of them.
    pub(super) fn encode_chunk(
        &mut self,
        source: Source<'_>,
        tier: Tier,
        text: &[u8],
    ) -> Result<(), EncodeError> {
        #[cfg(vectors)]
        let source = match tiers::encode_chunk(self, source, tier, text) {
            Ok(result) => return result,
            Err(source) => source,
        };
        let mut sink = EncodeSink::new(self, text, Scalar, Scalar);
        match source {
            Source::Rule(rule, offset) => {
                native::split_portably(rule, tier, text, offset, &mut sink)?;
            }
            Source::Pieces(pieces) => native::pass_pieces(text, pieces, &mut sink)?,
        }
        sink.flush()
    }

    /// Encodes one piece of a text.
    #[inline(never)]
    pub(super) fn encode_piece(&mut self, text: &[u8], piece: &[u8]) -> Result<(), EncodeError> {
        if self.workspace.cache.get(piece, self.ids) {
            return Ok(());
        }
        let before = self.ids.len();
        if encode_unknown(self.vocabulary, &mut self.sums, (text, piece), self.ids)? {
            self.workspace.cache.insert(piece, &self.ids[before..]);
        }
        Ok(())
    }

    /// Takes all ids away and returns their number, with that of the ids that were only counted.
    pub(super) fn take_count(&mut self) -> usize {
        let mut count = self.ids.len();
        self.ids.clear();
        if let Mode::Count(cached) = &mut self.mode {
            count += std::mem::take(cached);
        }
        count
    }
}

/// Appends the ids of a piece of a text that is not cached, and returns whether it may be.
fn encode_unknown(
    vocabulary: &Vocabulary,
    sums: &mut Option<Sums>,
    (text, piece): (&[u8], &[u8]),
    ids: &mut Vec<TokenId>,
) -> Result<bool, EncodeError> {
    if let Some(sums) = sums
        && let Some(chunks) = vocabulary.chunks()
    {
        return sums.encode(vocabulary, chunks, (text, piece), ids);
    }
    merge::encode_piece(vocabulary, piece, ids)?;
    Ok(true)
}

/// Takes the pieces of a text from the splitter, block by block.
struct EncodeSink<'p, 'a, 't, H, P> {
    pieces: &'p mut PieceEncoder<'a>,
    text: &'t [u8],
    /// Both steps of probing, as the tier does them.
    hash: H,
    probe: P,
    /// Number of pending blocks, of their pieces, and of those of these that are listed as hashed.
    blocks: usize,
    pending: usize,
    hashed: usize,
}

impl<H: HashBlock, P: ProbeCache> Sink for EncodeSink<'_, '_, '_, H, P> {
    type Error = EncodeError;

    #[expect(clippy::inline_always, reason = "compiled anew for each tier")]
    #[inline(always)]
    fn block<const GAPS: bool>(
        &mut self,
        block: &Block,
        offset: usize,
        spans: Spans<GAPS>,
    ) -> Result<(), EncodeError> {
        let Workspace { cache, pending, .. } = &mut *self.pieces.workspace;
        let first = self.pending;
        let probes = pending.probes.block_mut(first);
        let Hashed { count, has_hash } = self.hash.hash_block(cache, block, offset, spans, probes);
        self.pending += count;
        if has_hash {
            self.list_hashed(first);
        }
        self.flush_if_full()
    }

    fn piece(&mut self, text: &[u8], piece: Range<usize>) -> Result<(), EncodeError> {
        let Workspace { cache, pending, .. } = &mut *self.pieces.workspace;
        let (first, offset) = (self.pending, piece.start);
        let piece = &text[piece];
        if !PieceCache::is_long(piece) {
            self.flush()?;
            return self.pieces.encode_piece(text, piece);
        }
        // As if it were a block of its own.
        let probe = cache.view().probe_by_hash(piece, offset);
        pending.probes.set(first, probe);
        self.pending += 1;
        self.list_hashed(first);
        self.flush_if_full()
    }
}

impl<'p, 'a, 't, H: HashBlock, P: ProbeCache> EncodeSink<'p, 'a, 't, H, P> {
    fn new(pieces: &'p mut PieceEncoder<'a>, text: &'t [u8], hash: H, probe: P) -> Self {
        Self {
            pieces,
            text,
            hash,
            probe,
            blocks: 0,
            pending: 0,
            hashed: 0,
        }
    }

    /// Lists the pending pieces with a hash from an index on, as far as there is room.
    #[cold]
    #[inline(never)]
    fn list_hashed(&mut self, from: usize) {
        let Pending { probes, hashed } = &mut self.pieces.workspace.pending;
        let mut entries = hashed[self.hashed..].iter_mut();
        for index in from..self.pending {
            if probes.get(index).hash().is_some()
                && let Some(entry) = entries.next()
            {
                *entry = index;
                self.hashed += 1;
            }
        }
    }

    /// Counts the block that was added, and flushes when the batch is full.
    #[inline]
    fn flush_if_full(&mut self) -> Result<(), EncodeError> {
        self.blocks += 1;
        if self.blocks == BLOCKS {
            self.flush()?;
        }
        Ok(())
    }

    /// Resolves all pending pieces.
    #[inline(never)]
    fn flush(&mut self) -> Result<(), EncodeError> {
        let Workspace { cache, pending, .. } = &*self.pieces.workspace;
        for &index in &pending.hashed[..self.hashed] {
            cache.view().prefetch_long(&pending.probes.get(index));
        }
        let mut next = 0;
        while next < self.pending {
            let Workspace { cache, pending, .. } = &*self.pieces.workspace;
            let (view, probes) = (cache.view(), pending.probes.slice(next..self.pending));
            next += match &mut self.pieces.mode {
                Mode::Append => self
                    .probe
                    .probe_batch(&view, self.text, probes, self.pieces.ids),
                Mode::Count(cached) => {
                    let (found, count) = self.probe.count_batch(&view, self.text, probes);
                    *cached += count;
                    found
                }
            };
            if next < self.pending {
                self.encode_missed(next)?;
                next += 1;
            }
        }
        (self.blocks, self.pending, self.hashed) = (0, 0, 0);
        Ok(())
    }

    /// Encodes a pending piece that is not in its bucket.
    #[inline(never)]
    fn encode_missed(&mut self, index: usize) -> Result<(), EncodeError> {
        let PieceEncoder {
            vocabulary,
            workspace: Workspace { cache, pending, .. },
            ids,
            sums,
            ..
        } = &mut *self.pieces;
        let (probe, mut buffer) = (pending.probes.get(index), Default::default());
        let piece = probe.piece(self.text, &mut buffer);
        if cache.get_missed(&probe, piece, ids) {
            return Ok(());
        }
        let before = ids.len();
        let is_known = encode_unknown(vocabulary, sums, (self.text, piece), ids)?;
        if is_known && cache.insert_probed(&probe, piece, &ids[before..]) {
            let rest = index..self.pending;
            cache.view().rehash(self.text, &mut pending.probes, rest);
        }
        Ok(())
    }
}

/// The loop, compiled for SSE4.1 or NEON, for AVX2, and for AVX-512 where blocks are classified and hashed by that.
#[cfg(vectors)]
mod tiers {
    #![allow(unsafe_code)]
    #![expect(
        clippy::inline_always,
        reason = "compiled anew for each tier, with its instructions"
    )]

    use super::{EncodeSink, PieceEncoder, Source};
    use crate::cache::{HashBlock, ProbeCache, Probing};
    use crate::error::EncodeError;
    use crate::split::masks::Classify;
    use crate::split::native;
    use crate::util::tier::Tier;
    use crate::util::vector::{dispatch, for_each_tier};

    /// As [`PieceEncoder::encode_chunk`]; returns the source, and nothing is done, for another tier or on a machine
    /// without it.
    pub(super) fn encode_chunk<'s>(
        pieces: &mut PieceEncoder<'_>,
        source: Source<'s>,
        tier: Tier,
        text: &[u8],
    ) -> Result<Result<(), EncodeError>, Source<'s>> {
        let chunk = Chunk {
            pieces,
            source,
            text,
        };
        dispatch!(tier, |proof| Ok(proof.run(chunk)));
        Err(chunk.source)
    }

    /// A tier for which the loop is compiled.
    trait Run {
        fn run(self, chunk: Chunk<'_, '_, '_>) -> Result<(), EncodeError>;
    }

    /// Compiles the loop with the target features of a tier.
    macro_rules! compile {
        ($tier:ty, $features:literal) => {
            impl Run for $tier {
                fn run(self, chunk: Chunk<'_, '_, '_>) -> Result<(), EncodeError> {
                    #[target_feature(enable = $features)]
                    fn compiled(tier: $tier, chunk: Chunk<'_, '_, '_>) -> Result<(), EncodeError> {
                        chunk.run(tier, tier.prober())
                    }
                    // SAFETY: `self` proves that the machine has what the function is compiled for.
                    unsafe { compiled(self, chunk) }
                }
            }
        };
    }

    for_each_tier!(compile, 128..=512);

    /// The steps that all share.
    struct Chunk<'p, 'a, 's> {
        pieces: &'p mut PieceEncoder<'a>,
        source: Source<'s>,
        text: &'p [u8],
    }

    impl Chunk<'_, '_, '_> {
        #[inline(always)]
        fn run(
            self,
            tier: impl Classify + HashBlock,
            probe: impl ProbeCache,
        ) -> Result<(), EncodeError> {
            let mut sink = EncodeSink::new(self.pieces, self.text, tier, probe);
            match self.source {
                Source::Rule(rule, offset) => {
                    native::split_blocks(rule, self.text, offset, &mut sink, tier)?;
                }
                Source::Pieces(pieces) => native::pass_pieces(self.text, pieces, &mut sink)?,
            }
            sink.flush()
        }
    }
}
