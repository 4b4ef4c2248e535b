//! Transitions: what a state does with the next character.

use super::states::{DEAD, Kind, States};

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
