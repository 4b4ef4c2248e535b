//! Splitting by one rule after another: each splits the pieces of the one before as texts of their own.

use std::collections::VecDeque;
use std::ops::Range;

use super::{Behavior, Rule};
use crate::error::{EncodeError, PatternError};
use crate::split::automaton::{Beside, Trace};
use crate::split::cuts::family_separates;
use crate::split::general::General;
use crate::split::native;
use crate::split::pattern::Family;
use crate::util::memory::Growable;
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
                None => Engine::General(General::quick(&rule.pattern, rules.len())?),
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

    /// Returns whether a text can be cut between two characters: nothing reaches across in a rule, nor in those before, and
    /// it has pieces on both sides.
    pub(in crate::split) fn separates(&self, before: char, after: char) -> bool {
        for level in &self.levels {
            match level.beside(before, after) {
                Beside::Joined => return false,
                Beside::Apart => {}
                Beside::Border => return true,
            }
        }
        false
    }

    /// Returns what splitting a text of `length` bytes starts with.
    pub(in crate::split) fn start(&self, length: usize) -> Vec<Progress> {
        let mut progress = vec![Progress::default(); self.levels.len()];
        if let Some(first) = progress.first_mut() {
            first.begin(0..length);
        }
        progress
    }

    /// Appends the next pieces, at least one if there are any left.
    ///
    /// # Errors
    /// Those of the patterns' engines, and [`EncodeError::Interrupted`] from the checkpoint.
    pub(in crate::split) fn fill(
        &self,
        text: &str,
        progress: &mut [Progress],
        pieces: &mut Vec<Range<usize>>,
    ) -> Result<(), EncodeError> {
        self.refill(self.levels.len(), text, progress)?;
        if let Some(last) = progress.last_mut() {
            pieces.with_room(last.pieces.len());
            pieces.extend(last.pieces.drain(..));
        }
        Ok(())
    }

    /// Finds the next pieces of the last of the first `count` levels, if it has none and there are any left.
    fn refill(
        &self,
        count: usize,
        text: &str,
        progress: &mut [Progress],
    ) -> Result<(), EncodeError> {
        let Some(above) = count.checked_sub(1) else {
            return Ok(());
        };
        while progress[above].pieces.is_empty() {
            if progress[above].is_done() {
                self.refill(above, text, progress)?;
                let piece = above.checked_sub(1);
                let Some(piece) = piece.and_then(|level| progress[level].pieces.pop_front()) else {
                    break;
                };
                progress[above].begin(piece);
            }
            self.levels[above].fill(text, &mut progress[above])?;
        }
        Ok(())
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
    /// The next matches in the piece, last first.
    matches: Vec<Range<usize>>,
    /// The next pieces that it is split into.
    pieces: VecDeque<Range<usize>>,
}

impl Progress {
    fn begin(&mut self, piece: Range<usize>) {
        self.offset = piece.start;
        self.trace.clear();
        self.matches.clear();
        self.piece = piece;
    }

    /// Returns whether all of the piece is split.
    fn is_done(&self) -> bool {
        self.offset == self.piece.end && self.found.is_none() && self.ahead.is_none()
    }
}

impl Level {
    /// Returns the relation of two characters: a border is one of pieces.
    fn beside(&self, before: char, after: char) -> Beside {
        let found = match &self.engine {
            Engine::Native(family, _) if family_separates(*family, before, after) => Beside::Border,
            Engine::Native(..) => Beside::Joined,
            Engine::General(general) => general.beside(before, after),
        };
        match (self.behavior, found) {
            (_, Beside::Joined) => Beside::Joined,
            // Where text between matches is dropped, both sides have a border or are dropped.
            (Behavior::Removed, _) if self.invert => Beside::Border,
            (Behavior::Isolated | Behavior::Removed, found) => found,
            // A match may be one piece with what stands beside it.
            (Behavior::Contiguous | Behavior::MergedWithPrevious | Behavior::MergedWithNext, _) => {
                Beside::Apart
            }
        }
    }

    /// Adds the next pieces of the piece that it splits.
    fn fill(&self, text: &str, progress: &mut Progress) -> Result<(), EncodeError> {
        let (has_matches, has_gaps) = match self.behavior {
            Behavior::Isolated => (true, true),
            Behavior::Removed => (self.invert, !self.invert),
            Behavior::Contiguous | Behavior::MergedWithPrevious | Behavior::MergedWithNext => {
                let next = self.merged(text, progress)?;
                progress.pieces.with_room(1).extend(next);
                return Ok(());
            }
        };
        let Range { start, end } = progress.piece;
        let searched = self.search(text, progress)?;
        let mut offset = progress.offset;
        progress.pieces.with_room(2 * progress.matches.len() + 1);
        for found in progress.matches.drain(..) {
            let found = found.start + start..found.end + start;
            if has_gaps && offset < found.start {
                progress.pieces.push_back(offset..found.start);
            }
            offset = found.end;
            if has_matches {
                progress.pieces.push_back(found);
            }
        }
        if searched == end && offset < end {
            if has_gaps {
                progress.pieces.push_back(offset..end);
            }
            offset = end;
        }
        progress.offset = offset;
        Ok(())
    }

    /// Returns the next piece of a level that merges segments; none at the end of the piece that it splits.
    fn merged(
        &self,
        text: &str,
        progress: &mut Progress,
    ) -> Result<Option<Range<usize>>, EncodeError> {
        let Some(segment) = self.segment(text, progress)? else {
            return Ok(None);
        };
        let Segment { mut span, is_match } = segment;
        if self.behavior == Behavior::Contiguous {
            while let Some(next) = self.segment(text, progress)? {
                if next.is_match != is_match {
                    progress.ahead = Some(next);
                    break;
                }
                span.end = next.span.end;
            }
        } else if is_match == (self.behavior == Behavior::MergedWithNext) {
            match self.segment(text, progress)? {
                Some(next) if next.is_match != is_match => span.end = next.span.end,
                next => progress.ahead = next,
            }
        }
        Ok(Some(span))
    }

    /// Returns the next match or gap, roles changed if the rule inverts them.
    fn segment(&self, text: &str, progress: &mut Progress) -> Result<Option<Segment>, EncodeError> {
        if let Some(segment) = progress.ahead.take() {
            return Ok(Some(segment));
        }
        let found = match progress.found.take() {
            Some(found) => Some(found),
            None if progress.offset == progress.piece.end => return Ok(None),
            None => self.find(text, progress)?,
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
    ) -> Result<Option<Range<usize>>, EncodeError> {
        if progress.matches.is_empty() {
            self.search(text, progress)?;
            progress.matches.reverse();
        }
        let start = progress.piece.start;
        let found = progress.matches.pop();
        Ok(found.map(|found| found.start + start..found.end + start))
    }

    /// Finds the next matches in the piece, as offsets in it. Returns where in the text the search ended.
    fn search(&self, text: &str, progress: &mut Progress) -> Result<usize, EncodeError> {
        let Range { start, end } = progress.piece;
        let mut offset = progress.offset - start;
        match &self.engine {
            Engine::General(general) => general.fill(
                text,
                start..end,
                &mut offset,
                &mut progress.trace,
                &mut progress.matches,
            )?,
            Engine::Native(family, tier) => native::fill(
                native::Rule::Family(*family),
                *tier,
                &text.as_bytes()[start..end],
                &mut offset,
                &mut progress.matches,
            )?,
        }
        Ok(offset + start)
    }
}
