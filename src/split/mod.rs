//! Splitting: where do the pieces of this text start and end?
//!
//! A pattern is either one of the [native families](pattern), scanned by code written for it, or a regular expression
//! for the [general engine](general), or it is split by the caller's own [`ExternalSplitter`]. All three hand out
//! pieces in order, some hundred at a time, so that text, pieces and tables stay in the caches together.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
pub mod cl100k;
mod cursor;
mod cuts;
pub mod general;
pub(crate) mod masks;
pub mod native;
pub mod o200k;
pub mod pattern;
pub mod r50k;
pub mod rules;
mod window;

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::checkpoint::Checkpoint;
use crate::error::{EncodeError, PatternError};
use crate::unicode::utf8::Character;
use crate::util::tier::Tier;
use general::General;
use pattern::Family;

/// The most pieces handed out at a time, and bytes, but for the last piece.
const CHUNK: usize = 512;
const CHUNK_BYTES: usize = 1 << 13;

/// How far [`Splitter::cut`] searches, in bytes.
const FARTHEST_CUT: usize = 1 << 16;

/// A splitter from outside: all pieces of a text at once, as ordered byte ranges without overlap.
pub trait ExternalSplitter: Send + Sync {
    /// The pieces of `text`.
    ///
    /// # Errors
    /// Whatever went wrong; it is handed through as [`EncodeError::Splitter`].
    fn split(&self, text: &str) -> Result<Vec<Range<usize>>, Box<dyn Error + Send + Sync>>;
}

/// Cuts text into pieces.
#[derive(Clone)]
pub enum Splitter {
    /// By one of the native scanners. Every byte is in some piece.
    Native(Family, Tier),
    /// By a regular expression. Text that it does not match is in no piece.
    General(Box<General>),
    /// By the caller's code.
    External(Arc<dyn ExternalSplitter>),
}

impl fmt::Debug for Splitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Native(family, tier) => {
                f.debug_tuple("Native").field(family).field(tier).finish()
            }
            Self::General(general) => f.debug_tuple("General").field(general).finish(),
            Self::External(_) => f.write_str("External"),
        }
    }
}

impl Splitter {
    /// The splitter for `pattern`: native if it is a known spelling, else general.
    ///
    /// # Errors
    /// [`PatternError`] if it does not compile or can match the empty string.
    pub fn new(pattern: &str) -> Result<Self, PatternError> {
        match Family::recognise(pattern) {
            Some(family) => Ok(Self::Native(family, Tier::current())),
            None => General::new(pattern).map(|general| Self::General(Box::new(general))),
        }
    }

    /// A place at `near` or after it where the text can be cut, if there is one within 64 KiB: the first of the
    /// [`cuts`](Self::cuts).
    ///
    /// # Complexity
    /// O(distance), at most 64 KiB.
    pub fn cut(&self, text: &str, near: usize) -> Option<usize> {
        self.cuts(text, near..near.saturating_add(FARTHEST_CUT))
            .next()
    }

    /// As [`cut`](Self::cut), of characters that are yet to become text.
    ///
    /// # Complexity
    /// As [`cut`](Self::cut).
    pub fn cut_characters<C: Character>(&self, characters: &[C], near: usize) -> Option<usize> {
        let range = near..near.saturating_add(FARTHEST_CUT);
        let first = || cuts::first_among(characters, range);
        self.is_native().then(first).flatten()
    }

    /// The places in `range` where the text can be cut, in order: its pieces are those of `text[..cut]` and
    /// `text[cut..]`. None if the pattern is not native. The start and the end of the text are never among them.
    ///
    /// # Complexity
    /// O(range) for all of them.
    pub fn cuts(&self, text: &str, range: Range<usize>) -> impl Iterator<Item = usize> {
        let cuts = self.is_native().then(|| cuts::within(text, range));
        cuts.into_iter().flatten()
    }

    /// As [`cuts`](Self::cuts), last first, in bytes that need not be UTF-8: a cut is between two whole characters, so
    /// bytes that are cut off at an end are no reason to cut there.
    ///
    /// # Complexity
    /// O(range) for all of them.
    pub fn cuts_backwards(&self, text: &[u8], range: Range<usize>) -> impl Iterator<Item = usize> {
        let cuts = self.is_native().then(|| cuts::backwards(text, range));
        cuts.into_iter().flatten()
    }

    /// Whether the pattern is native: then every byte of a text is in some piece.
    pub fn is_native(&self) -> bool {
        matches!(self, Self::Native(..))
    }

    /// Starts on a text. The checkpoint is asked during long pieces.
    pub fn pieces<'a>(&'a self, text: &'a str, checkpoint: &'a dyn Checkpoint) -> Pieces<'a> {
        Pieces {
            splitter: self,
            text,
            checkpoint,
            place: 0,
            done: text.is_empty(),
        }
    }
}

/// The pieces of one text, in order.
pub struct Pieces<'a> {
    splitter: &'a Splitter,
    text: &'a str,
    checkpoint: &'a dyn Checkpoint,
    place: usize,
    done: bool,
}

impl Pieces<'_> {
    /// Replaces `chunk` by the next pieces, as byte ranges of the text. False once there are none left.
    ///
    /// # Errors
    /// [`EncodeError::Pattern`] or [`EncodeError::Splitter`] if the pattern's engine fails on this text. The native
    /// families never fail, but for [`EncodeError::Interrupted`] from the checkpoint.
    ///
    /// # Complexity
    /// Native: O(bytes), whatever the text. General: as the regular expression.
    pub fn next_chunk(&mut self, chunk: &mut Vec<Range<usize>>) -> Result<bool, EncodeError> {
        chunk.clear();
        if self.done {
            return Ok(false);
        }
        match self.splitter {
            Splitter::Native(family, tier) => {
                let text = self.text.as_bytes();
                native::fill(
                    *family,
                    *tier,
                    text,
                    &mut self.place,
                    chunk,
                    self.checkpoint,
                )?;
                self.done = self.place == text.len();
            }
            Splitter::General(general) => {
                let most = self.place.saturating_add(CHUNK_BYTES);
                while chunk.len() < CHUNK && self.place < most {
                    let Some(piece) = general.next(self.text, self.place)? else {
                        self.done = true;
                        break;
                    };
                    self.place = piece.end;
                    chunk.push(piece);
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

/// Refuses ranges that are empty, out of order or out of the text.
fn check_ranges(pieces: &[Range<usize>], length: usize) -> Result<(), EncodeError> {
    let mut place = 0;
    for piece in pieces {
        if piece.start < place || piece.end <= piece.start || piece.end > length {
            let reason = format!(
                "it returned the piece {}..{} after {place}: expected pieces in order, none empty, within {length} bytes",
                piece.start, piece.end
            );
            return Err(EncodeError::Splitter(reason.into()));
        }
        place = piece.end;
    }
    Ok(())
}
