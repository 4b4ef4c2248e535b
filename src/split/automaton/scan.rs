//! Finding one match after another.
//!
//! Most matches end where nothing can match any more, and the next starts there. So a transition leads from the end of one
//! match right into the next, and its end is stored without a branch: on text, whether a match ends is unpredictable.
//! Everything else stops that walk: a match that ended some characters before, a character that no match starts with, a
//! question.

use std::ops::Range;

use super::states::{DEAD, Kind, States};
use super::{Attempt, Automaton, STRIDE, TRACED, Trace};
use crate::checkpoint::Interrupted;
use crate::split::{CHUNK, CHUNK_BYTES};
use crate::util::memory::Growable;

/// The most matches of a walk.
const MOST: usize = 64;

/// The most bytes of a text that is looked at before it is searched, as most pieces of another pattern are for which this
/// one has no match.
const SHORT: usize = 32;

/// Why a walk stopped.
enum Stop {
    /// It found as much as it may.
    Full,
    /// The last match ended here, before the place at which that was known.
    Ended(usize),
    /// A match has to be searched.
    Unknown,
}

impl Automaton {
    /// Appends the next matches in `text` from `offset` on, some hundred of them, and moves `offset` past them; to the end
    /// of the text if there are no more. The trace is that of earlier searches in the same text.
    ///
    /// # Errors
    /// [`Interrupted`] from the checkpoint.
    ///
    /// # Complexity
    /// As [`find`](Self::find).
    pub(crate) fn fill(
        &self,
        text: &[u8],
        offset: &mut usize,
        trace: &mut Trace,
        matches: &mut Vec<Range<usize>>,
    ) -> Result<(), Interrupted> {
        let rest = &text[*offset..];
        if rest.len() <= SHORT && !rest.iter().any(|&byte| self.needed[usize::from(byte)]) {
            *offset = text.len();
            return Ok(());
        }
        let limit = offset.saturating_add(CHUNK_BYTES).min(text.len());
        let mut buffer = std::mem::take(&mut trace.ends);
        buffer.resize(MOST, 0);
        let ends = buffer.first_chunk_mut().expect("it has this length");
        while *offset < limit && matches.len() < CHUNK {
            let mut stop = Stop::Unknown;
            if self.starts_in_one_way() && !trace.covers(*offset) {
                let mut attempt = Attempt { text, steps: 0 };
                *offset = self.next_start(text, *offset, limit);
                if *offset == text.len() {
                    break;
                }
                let count;
                (count, stop) = self.walk(*offset, limit, ends, &mut attempt)?;
                matches.with_room(count);
                for &end in &ends[..count] {
                    matches.push(*offset..end);
                    *offset = end;
                }
            }
            let found = match stop {
                Stop::Full => continue,
                Stop::Ended(end) => Some(*offset..end),
                Stop::Unknown => self.find(text, *offset, trace)?,
            };
            *offset = found.as_ref().map_or(text.len(), |found| found.end);
            matches.with_room(1).extend(found);
        }
        trace.ends = buffer;
        Ok(())
    }

    /// Returns whether the state that a match starts in does not depend on the character before it.
    fn starts_in_one_way(&self) -> bool {
        self.starts.len() == 1
    }

    /// Stores the ends of the matches from `start` on, each of which starts where the one before ends, at least one unless
    /// it stops, and returns how many they are.
    #[inline]
    fn walk(
        &self,
        start: usize,
        mut limit: usize,
        ends: &mut [usize; MOST],
        attempt: &mut Attempt<'_>,
    ) -> Result<(usize, Stop), Interrupted> {
        let text = attempt.text;
        let (mut row, mut offset, mut found, mut count) = (self.starts[0], start, start, 0);
        loop {
            while offset < limit && count < MOST {
                let (cell, length) = self.cells.at(text, offset);
                let transition = self.transitions[row + cell];
                if transition.ends_match() {
                    found = offset;
                }
                if transition.stops() {
                    let stop = if transition.next_row() == DEAD {
                        stopped(
                            ends[..count].last().copied().unwrap_or(start),
                            found,
                            offset,
                        )
                    } else {
                        Stop::Unknown
                    };
                    return Ok((count, stop));
                }
                ends[count] = offset;
                count += transition.restarts();
                row = transition.next_row();
                offset += length;
            }
            if count > 0 && offset < text.len() {
                return Ok((count, Stop::Full));
            }
            if offset >= text.len() {
                break;
            }
            // A long match.
            limit = text.len().min(offset + STRIDE);
            attempt.steps = STRIDE;
            attempt.step()?;
        }
        if self.transitions[row + self.cells.count()].ends_match() {
            found = offset;
        }
        let stop = stopped(
            ends[..count].last().copied().unwrap_or(start),
            found,
            offset,
        );
        Ok((count, stop))
    }

    /// Returns the first offset from `offset` on at which a match may start, if it is below `limit`.
    #[inline]
    fn next_start(&self, text: &[u8], mut offset: usize, limit: usize) -> usize {
        while offset < limit {
            let (cell, length) = self.cells.at(text, offset);
            if self.can_start[cell] {
                break;
            }
            offset += length;
        }
        offset
    }
}

/// Returns why a walk stopped where nothing could match any more, by the end of the last match but one, and of the last
/// one if that is behind it.
#[inline]
fn stopped(last: usize, found: usize, offset: usize) -> Stop {
    if found > last && offset - found <= TRACED {
        Stop::Ended(found)
    } else {
        Stop::Unknown
    }
}

// Transitions: what a state does with the next character.

/// Bits of the flags, below the row.
const SHIFT: u32 = 3;

/// A match ends before the character.
const MATCHES: u32 = 1;
/// With [`MATCHES`]: nothing can match any more, and the next match starts with the character. The row is the one behind
/// that.
const RESTARTS: u32 = 2;
/// The walk cannot go on at the row: nothing can match any more, or its state asks something.
const STOPS: u32 = 4;

/// The row of the state behind a character, with flags.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transition(u32);

impl Transition {
    fn new(row: usize, flags: u32) -> Self {
        let row = u32::try_from(row).expect("there are few transitions");
        Self(row << SHIFT | flags)
    }

    /// Returns whether a match ends before the character.
    #[inline]
    pub(super) fn ends_match(self) -> bool {
        self.0 & MATCHES != 0
    }

    /// 1 if a match ends before the character and the next one starts with it, otherwise 0.
    #[inline]
    pub(super) fn restarts(self) -> usize {
        (self.0 & RESTARTS) as usize / RESTARTS as usize
    }

    /// Returns whether a walk that starts again by itself cannot go on.
    #[inline]
    pub(super) fn stops(self) -> bool {
        self.0 & STOPS != 0
    }

    /// Returns the row of the next state of a walk that starts again by itself, if it does not stop.
    #[inline]
    pub(super) fn next_row(self) -> usize {
        (self.0 >> SHIFT) as usize
    }

    /// Returns the row of the next state in the same match.
    #[inline]
    pub(super) fn row(self) -> usize {
        if self.restarts() == 0 {
            self.next_row()
        } else {
            DEAD
        }
    }
}

/// Returns the transitions of all states, a row of `columns` for each.
pub(super) fn transitions(states: &States, columns: usize) -> Vec<Transition> {
    let asks = |state: u32| matches!(states.kinds[state as usize], Kind::Asks { .. });
    // Only with one start is it known what the next match starts as.
    let restart = match states.starts[..] {
        [start] if !asks(start) => Some(&states.transitions[start as usize * columns..][..columns]),
        _ => None,
    };
    let of = |(index, &transition): (usize, &u32)| {
        let (next, matches) = (transition >> 1, transition & MATCHES);
        let row = |state: u32| state as usize * columns;
        if next as usize != DEAD {
            let stops = if asks(next) { STOPS } else { 0 };
            return Transition::new(row(next), matches | stops);
        }
        let first = restart.map_or(0, |restart| restart[index % columns] >> 1);
        if matches != 0 && first as usize != DEAD && !asks(first) {
            Transition::new(row(first), MATCHES | RESTARTS)
        } else {
            Transition::new(DEAD, matches | STOPS)
        }
    };
    states.transitions.iter().enumerate().map(of).collect()
}
