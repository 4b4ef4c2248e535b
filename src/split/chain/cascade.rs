//! Splitting by one rule after another: each splits the pieces of the one before as texts of their own.

use std::ops::Range;

use super::step::{Behavior, Rule};
use crate::checkpoint::Checkpoint;
use crate::error::{EncodeError, PatternError};
use crate::split::automaton::Trace;
use crate::split::general::General;
use crate::split::native;
use crate::split::pattern::Family;
use crate::split::rule;
use crate::util::tier::Tier;

/// Rules that are compiled, in order.
#[derive(Debug)]
pub struct Cascade {
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    engine: Engine,
    behavior: Behavior,
    invert: bool,
}

/// The engine that finds the matches of a pattern.
#[derive(Debug)]
enum Engine {
    /// A family, in which every byte is in a match.
    Native(Family, Tier),
    /// Any pattern.
    General(General),
}

impl Cascade {
    /// Compiles rules.
    ///
    /// # Errors
    /// [`PatternError`] if a pattern does not compile.
    pub(super) fn new(rules: &[Rule]) -> Result<Self, PatternError> {
        let level = |rule: &Rule| {
            let engine = match Family::recognise(&rule.pattern) {
                Some(family) => Engine::Native(family, Tier::current()),
                None => Engine::General(General::quick(&rule.pattern)?),
            };
            Ok(Level {
                engine,
                behavior: rule.behavior,
                invert: rule.invert,
            })
        };
        let levels = rules.iter().map(level).collect::<Result<_, _>>()?;
        Ok(Self { levels })
    }

    /// Returns what splitting a text of `length` bytes starts with.
    pub(in crate::split) fn start(&self, length: usize) -> Vec<Progress> {
        let mut progress = vec![Progress::default(); self.levels.len()];
        if let Some(first) = progress.first_mut() {
            first.begin(0..length);
        }
        progress
    }

    /// Returns the next piece.
    ///
    /// # Errors
    /// Those of the patterns' engines, and [`EncodeError::Interrupted`] from the checkpoint.
    pub(in crate::split) fn next(
        &self,
        text: &str,
        progress: &mut [Progress],
        checkpoint: &dyn Checkpoint,
    ) -> Result<Option<Range<usize>>, EncodeError> {
        let last = self.levels.len() - 1;
        let mut level = last;
        loop {
            match self.levels[level].next(text, &mut progress[level], checkpoint)? {
                Some(piece) if level == last => return Ok(Some(piece)),
                Some(piece) => {
                    level += 1;
                    progress[level].begin(piece);
                }
                None if level == 0 => return Ok(None),
                None => level -= 1,
            }
        }
    }

    /// Number of bytes that its tables occupy.
    pub(in crate::split) fn memory(&self) -> usize {
        let engines = self.levels.iter().map(|level| match &level.engine {
            Engine::Native(..) => 0,
            Engine::General(general) => general.memory(),
        });
        self.levels.capacity() * size_of::<Level>() + engines.sum::<usize>()
    }
}

/// A match, or the text between two.
#[derive(Clone, Debug)]
struct Segment {
    span: Range<usize>,
    is_match: bool,
}

/// How far a level is in the piece that it splits.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    piece: Range<usize>,
    /// Where the search goes on.
    offset: usize,
    trace: Trace,
    /// The match behind the gap that was returned last.
    found: Option<Range<usize>>,
    /// A segment that was looked at ahead.
    ahead: Option<Segment>,
    /// Matches of a native family in the piece, last first.
    matches: Vec<Range<usize>>,
}

impl Progress {
    fn begin(&mut self, piece: Range<usize>) {
        self.offset = piece.start;
        self.trace.clear();
        self.piece = piece;
    }
}

impl Level {
    /// Returns the next piece of the level; none at the end of the piece that it splits.
    fn next(
        &self,
        text: &str,
        progress: &mut Progress,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Option<Range<usize>>, EncodeError> {
        while let Some(segment) = self.segment(text, progress, checkpoint)? {
            let Segment { mut span, is_match } = segment;
            match self.behavior {
                Behavior::Removed if is_match => continue,
                Behavior::Isolated | Behavior::Removed => {}
                Behavior::Contiguous => {
                    while let Some(next) = self.segment(text, progress, checkpoint)? {
                        if next.is_match != is_match {
                            progress.ahead = Some(next);
                            break;
                        }
                        span.end = next.span.end;
                    }
                }
                Behavior::MergedWithPrevious | Behavior::MergedWithNext => {
                    let merges = is_match == (self.behavior == Behavior::MergedWithNext);
                    let next = if merges {
                        self.segment(text, progress, checkpoint)?
                    } else {
                        None
                    };
                    match next {
                        Some(next) if next.is_match != is_match => span.end = next.span.end,
                        next => progress.ahead = next,
                    }
                }
            }
            if !span.is_empty() {
                return Ok(Some(span));
            }
        }
        Ok(None)
    }

    /// Returns the next match or gap, roles changed if the rule inverts them.
    fn segment(
        &self,
        text: &str,
        progress: &mut Progress,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Option<Segment>, EncodeError> {
        if let Some(segment) = progress.ahead.take() {
            return Ok(Some(segment));
        }
        let found = match progress.found.take() {
            Some(found) => Some(found),
            None if progress.offset == progress.piece.end => return Ok(None),
            None => self.find(text, progress, checkpoint)?,
        };
        let segment = |span: Range<usize>, is_match: bool| Segment {
            span,
            is_match: is_match != self.invert,
        };
        let offset = progress.offset;
        let next = match found {
            Some(found) if found.start == offset => {
                progress.offset = found.end;
                segment(found, true)
            }
            Some(found) => {
                progress.offset = found.start;
                let gap = offset..found.start;
                progress.found = Some(found);
                segment(gap, false)
            }
            None => {
                progress.offset = progress.piece.end;
                segment(offset..progress.piece.end, false)
            }
        };
        Ok(Some(next))
    }

    /// Returns the next match in the piece.
    fn find(
        &self,
        text: &str,
        progress: &mut Progress,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Option<Range<usize>>, EncodeError> {
        let Range { start, end } = progress.piece;
        let absolute = |found: Range<usize>| found.start + start..found.end + start;
        match &self.engine {
            Engine::General(general) => {
                let offset = progress.offset - start;
                let found =
                    general.next(text, start..end, offset, &mut progress.trace, checkpoint)?;
                Ok(found.map(absolute))
            }
            Engine::Native(family, tier) => {
                if progress.matches.is_empty() {
                    let mut offset = progress.offset - start;
                    native::fill(
                        rule::Rule::Family(*family),
                        *tier,
                        &text.as_bytes()[start..end],
                        &mut offset,
                        &mut progress.matches,
                        checkpoint,
                    )?;
                    progress.matches.reverse();
                }
                Ok(progress.matches.pop().map(absolute))
            }
        }
    }
}
