//! Splitting: cutting text into pieces by a pattern.
//!
//! A pattern is one of the [native families](pattern), which have code of their own, or a regular expression
//! for the [general engine](general), or the caller's own [`ExternalSplitter`]. All three yield pieces in
//! order, a few hundred at a time, so that text, pieces and tables stay in the processor's caches together.

pub mod adjacent;
mod automaton;
#[doc(hidden)]
pub mod borders;
pub mod chain;
#[doc(hidden)]
pub mod coverage;
mod cursor;
mod cuts;
#[doc(hidden)]
pub mod deepseek;
#[doc(hidden)]
pub mod general;
pub(crate) mod masks;
#[doc(hidden)]
pub mod native;
#[doc(hidden)]
pub mod o200k;
#[doc(hidden)]
pub mod pattern;
mod ranges;
#[doc(hidden)]
pub mod rules;
mod seams;
mod starts;
mod vector;

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::checkpoint::Interrupted;
use crate::error::{EncodeError, PatternError};
use crate::unicode::utf8::Character;
use crate::util::tier::Tier;
use adjacent::Adjacency;
use automaton::Trace;
use chain::cascade::{Cascade, Progress};
use chain::classes::Classes;
use chain::layers::Layers;
use general::General;
use native::Rule;
use pattern::Family;

/// The most pieces in a chunk, and the most bytes before its last piece.
const CHUNK: usize = 512;
const CHUNK_BYTES: usize = 1 << 13;

/// Bytes that [`Splitter::cut`] searches.
const CUT_SEARCH_BYTES: usize = 1 << 16;

/// A splitter supplied by the caller.
pub trait ExternalSplitter: Send + Sync {
    /// Returns all pieces of `text`: byte ranges in order, without overlap.
    ///
    /// # Errors
    /// Any error; callers receive it as [`EncodeError::Splitter`].
    fn split(&self, text: &str) -> Result<Vec<Range<usize>>, Box<dyn Error + Send + Sync>>;
}

/// Cuts text into pieces.
#[derive(Clone)]
pub enum Splitter {
    /// By a native family. Every byte is in a piece.
    Native(Family, Tier),
    /// By a regular expression. Text that it does not match is in no piece.
    General(Box<General>),
    /// By rules one after another, as a chain of steps has them.
    Cascade(Arc<Cascade>),
    /// By the classes of characters, which say all of a chain.
    Classes(Arc<Classes>, Tier),
    /// By runs of classes, which say all of a chain. Every byte is in a piece.
    Layers(Arc<Layers>, Tier),
    /// Between characters that no token of a vocabulary joins. Every byte is in a piece.
    Adjacent(Arc<Adjacency>, Tier),
    /// By the caller's code.
    External(Arc<dyn ExternalSplitter>),
}

impl fmt::Debug for Splitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Native(family, tier) => {
                f.debug_tuple("Native").field(family).field(tier).finish()
            }
            Self::Adjacent(_, tier) => f.debug_tuple("Adjacent").field(tier).finish(),
            Self::General(general) => f.debug_tuple("General").field(general).finish(),
            Self::Cascade(cascade) => f.debug_tuple("Cascade").field(cascade).finish(),
            Self::Classes(classes, tier) => {
                f.debug_tuple("Classes").field(classes).field(tier).finish()
            }
            Self::Layers(layers, tier) => {
                f.debug_tuple("Layers").field(layers).field(tier).finish()
            }
            Self::External(_) => f.write_str("External"),
        }
    }
}

impl Splitter {
    /// Returns the splitter for `pattern`: native if it is a known spelling, otherwise general.
    ///
    /// # Errors
    /// [`PatternError`] if it does not compile or can match the empty string.
    pub fn new(pattern: &str) -> Result<Self, PatternError> {
        match Family::recognise(pattern) {
            Some(family) => Ok(Self::Native(family, Tier::current())),
            None => General::quick(pattern, 1).map(|general| Self::General(Box::new(general))),
        }
    }

    /// Returns the first of the [`cuts`](Self::cuts) at `from` or after it, if there is one within 64 KiB.
    ///
    /// # Complexity
    /// O(distance), at most 64 KiB.
    pub fn cut(&self, text: &str, from: usize) -> Option<usize> {
        self.cuts(text, from..from.saturating_add(CUT_SEARCH_BYTES))
            .next()
    }

    /// As [`cut`](Self::cut), in characters that are not yet encoded as UTF-8; `from` and the cut count
    /// characters.
    ///
    /// # Complexity
    /// As [`cut`](Self::cut).
    pub fn cut_characters<C: Character>(&self, characters: &[C], from: usize) -> Option<usize> {
        let range = from..from.saturating_add(CUT_SEARCH_BYTES);
        cuts::first_among(self, characters, range)
    }

    /// Returns the offsets in `range` where the text can be cut, in order: its pieces are those of
    /// `text[..cut]` followed by those of `text[cut..]`. There are none if a regular expression with backtracking, or the
    /// caller's code, splits. The start and the end of the text are not among them.
    ///
    /// # Complexity
    /// O(range) for all of them.
    pub fn cuts(&self, text: &str, range: Range<usize>) -> impl Iterator<Item = usize> {
        let cuts = self.may_be_cut().then(|| cuts::within(self, text, range));
        cuts.into_iter().flatten()
    }

    /// Returns those of some places, in order and each with a number, that are seams of a text from its start, a cut or a seam
    /// on: places inside of pieces from which their ends are found as from their starts. There are none if a regular
    /// expression, a chain of them or the caller's code splits.
    ///
    /// # Complexity
    /// O(text) for all of them.
    pub fn seams(
        &self,
        text: &str,
        places: impl Iterator<Item = (usize, usize)>,
    ) -> impl Iterator<Item = (usize, usize)> {
        seams::among(self, text, places)
    }

    /// Returns whether a place before `text` that was a seam, with the same character behind it, is still one.
    pub fn goes_on(&self, text: &str) -> bool {
        seams::goes_on(self, text)
    }

    /// As [`cuts`](Self::cuts), last first, in bytes that need not be UTF-8. A cut is between two whole characters:
    /// never beside one that the end of the bytes truncates.
    ///
    /// # Complexity
    /// O(range) for all of them.
    pub fn cuts_backwards(&self, text: &[u8], range: Range<usize>) -> impl Iterator<Item = usize> {
        let cuts = self
            .may_be_cut()
            .then(|| cuts::backwards(self, text, range));
        cuts.into_iter().flatten()
    }

    /// Returns whether texts may have cuts. Otherwise none of their characters need to be looked at.
    fn may_be_cut(&self) -> bool {
        match self {
            Self::General(general) => general.has_automaton(),
            Self::External(_) => false,
            _ => true,
        }
    }

    /// Returns where the first piece of `text` behind a character of ASCII ends, in `text`: 0 if it is that character
    /// alone. `None` if more than that has to be looked at.
    pub(crate) fn first_piece_end(
        &self,
        before: u8,
        text: &[u8],
    ) -> Result<Option<usize>, Interrupted> {
        match self {
            Self::Adjacent(adjacency, _) => {
                let end = adjacency.end_after(before.into(), text)?;
                Ok(Some(end))
            }
            _ => Ok(None),
        }
    }

    /// The characters that tokens join, if it splits where they join none.
    pub(crate) fn adjacency(&self) -> Option<&Adjacency> {
        match self {
            Self::Adjacent(adjacency, _) => Some(adjacency),
            _ => None,
        }
    }

    /// Returns the rule of the loop over blocks, if that splits.
    pub(crate) fn rule(&self) -> Option<(Rule<'_>, Tier)> {
        match self {
            Self::Native(family, tier) => Some((Rule::Family(*family), *tier)),
            Self::Adjacent(adjacency, tier) => Some((Rule::Adjacency(adjacency), *tier)),
            Self::Classes(classes, tier) => Some((Rule::Classes(classes), *tier)),
            Self::Layers(layers, tier) => Some((Rule::Layers(layers), *tier)),
            _ => None,
        }
    }

    /// Returns whether a native family splits, or runs of classes do: then every byte of a text is in a piece.
    pub fn is_native(&self) -> bool {
        matches!(self, Self::Native(..) | Self::Layers(..))
    }

    /// Returns the pieces of `text`. The checkpoint is passed during long pieces.
    pub fn pieces<'a>(&'a self, text: &'a str) -> Pieces<'a> {
        Pieces {
            splitter: self,
            text,
            offset: 0,
            trace: Trace::default(),
            progress: match self {
                Self::Cascade(cascade) => cascade.start(text.len()),
                _ => Vec::new(),
            },
            done: text.is_empty(),
        }
    }
}

/// The pieces of one text, in order.
pub struct Pieces<'a> {
    splitter: &'a Splitter,
    text: &'a str,
    offset: usize,
    /// Of a general pattern.
    trace: Trace,
    /// Of each level of a cascade.
    progress: Vec<Progress>,
    done: bool,
}

impl Pieces<'_> {
    /// Replaces `chunk` by the next pieces, as byte ranges of the text. Returns false once there are none
    /// left.
    ///
    /// # Errors
    /// [`EncodeError::Pattern`] or [`EncodeError::Splitter`] if the pattern's engine fails on this text. The
    /// native families fail only with [`EncodeError::Interrupted`] from the checkpoint.
    ///
    /// # Complexity
    /// Native: O(bytes) for any text. General: that of the regular expression.
    pub fn next_chunk(&mut self, chunk: &mut Vec<Range<usize>>) -> Result<bool, EncodeError> {
        chunk.clear();
        if self.done {
            return Ok(false);
        }
        if let Some((rule, tier)) = self.splitter.rule() {
            let text = self.text.as_bytes();
            // Much text may be in no piece.
            while chunk.is_empty() && !self.done {
                native::fill(rule, tier, text, &mut self.offset, chunk)?;
                self.done = self.offset == text.len();
            }
            return Ok(!chunk.is_empty());
        }
        match self.splitter {
            Splitter::Native(..)
            | Splitter::Adjacent(..)
            | Splitter::Classes(..)
            | Splitter::Layers(..) => {
                unreachable!("each has a rule")
            }
            Splitter::General(general) => {
                let limit = self.offset.saturating_add(CHUNK_BYTES).min(self.text.len());
                while chunk.len() < CHUNK && self.offset < limit {
                    general.fill(
                        self.text,
                        0..self.text.len(),
                        &mut self.offset,
                        &mut self.trace,
                        chunk,
                    )?;
                }
                self.done = self.offset == self.text.len();
            }
            Splitter::Cascade(cascade) => {
                let limit = self.offset.saturating_add(CHUNK_BYTES);
                while chunk.len() < CHUNK && self.offset < limit && !self.done {
                    let known = chunk.len();
                    cascade.fill(self.text, &mut self.progress, chunk)?;
                    match &chunk[known..] {
                        [.., last] => self.offset = last.end,
                        [] => self.done = true,
                    }
                }
            }
            Splitter::External(external) => {
                *chunk = external.split(self.text).map_err(EncodeError::Splitter)?;
                check_ranges(chunk, self.text.len())?;
                self.done = true;
            }
        }
        Ok(!chunk.is_empty())
    }
}

/// Refuses ranges that are empty, out of order or outside the text.
fn check_ranges(pieces: &[Range<usize>], length: usize) -> Result<(), EncodeError> {
    let mut end = 0;
    for piece in pieces {
        if piece.start < end || piece.end <= piece.start || piece.end > length {
            let reason = format!(
                "it returned the piece {}..{} after {end}: expected pieces in order, none empty, within {length} bytes",
                piece.start, piece.end
            );
            return Err(EncodeError::Splitter(reason.into()));
        }
        end = piece.end;
    }
    Ok(())
}
