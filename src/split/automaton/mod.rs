//! Any pattern without backreferences, by a table: one look-up for each character, whatever the pattern.
//!
//! A state is what a backtracking engine could still try, in the order in which it would: the first way that ends in a
//! match wins, as there. Conditions on the character before are part of the state, those on the next one of the
//! transition, which therefore tells whether a match ends *before* the character that it takes. Where an expression is
//! looked for ahead, an automaton of its own decides which of two states goes on.

mod apart;
mod cells;
mod program;
mod scan;
mod states;
mod syntax;

use std::ops::Range;
use std::sync::OnceLock;

pub(super) use apart::Beside;
use apart::Relations;
use cells::Cells;
use program::Program;
use scan::{Transition, transitions};
use states::{DEAD, Kind, States};
pub(super) use syntax::single;

use crate::checkpoint::{self, Interrupted};
use crate::util::memory::Growable;

/// Characters between two passes of the checkpoint.
const STRIDE: usize = 1 << 16;

/// Bytes behind a match that an attempt may pass without being recorded, and the most that are recorded of one.
const TRACED: usize = 64;
const LONGEST_TRACE: usize = 1 << 20;

/// The states that an attempt was in at places from which it came to no match: another that comes to the same state at
/// the same place will not, either.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    base: usize,
    /// The row of the state by the place, from `base` on; `DEAD` inside of characters.
    states: Vec<usize>,
    /// Room for the ends of a walk's matches.
    ends: Vec<usize>,
}

impl Trace {
    /// Forgets a text.
    pub(crate) fn clear(&mut self) {
        self.states.clear();
    }

    /// Returns whether it reaches beyond `offset`.
    #[inline]
    fn covers(&self, offset: usize) -> bool {
        !self.states.is_empty() && offset < self.base + self.states.len()
    }

    #[inline]
    fn fails(&self, offset: usize, state: usize) -> bool {
        let recorded = self.states.get(offset.wrapping_sub(self.base));
        recorded.is_some_and(|&recorded| recorded == state)
    }
}

/// The state that attempts to match share.
struct Attempt<'a> {
    text: &'a [u8],
    steps: usize,
}

impl Attempt<'_> {
    /// Counts a character, and passes the checkpoint from time to time.
    #[inline]
    fn step(&mut self) -> Result<(), Interrupted> {
        self.steps += 1;
        if self.steps < STRIDE {
            return Ok(());
        }
        self.steps = 0;
        checkpoint::pass()
    }
}

/// A pattern as a table.
#[derive(Debug)]
pub(crate) struct Automaton {
    cells: Cells,
    /// A row for each state, with a column for each cell, and one for the end of the text.
    transitions: Vec<Transition>,
    kinds: Vec<Kind>,
    /// The row of the first state behind each cell, and last at the start of the text.
    starts: Vec<usize>,
    /// Whether a match can start with each cell, and last at the end of the text.
    can_start: Vec<bool>,
    /// Bytes of which every match has at least one; all if there are no such bytes.
    needed: [bool; 256],
    ahead: Vec<Automaton>,
    /// The relations of cells beside each other, once they are needed.
    beside: OnceLock<Relations>,
}

impl Automaton {
    /// Returns the automaton of a pattern in the syntax of fancy-regex; none if it has none of a
    /// bearable size, or can match nothing.
    pub(crate) fn new(pattern: &str) -> Option<Self> {
        let node = syntax::parse(pattern)?;
        (syntax::shortest(&node) > 0).then(|| Self::of_node(&node))?
    }

    fn of_node(node: &syntax::Node) -> Option<Self> {
        let program = Program::new(node)?;
        let cells = Cells::new(&program.sets)?;
        let ahead = program.ahead.iter().map(Self::of_node);
        let ahead = ahead.collect::<Option<Vec<_>>>()?;
        let states = States::new(&program, &cells)?;
        let columns = cells.count() + 1;
        Some(Self {
            cells,
            can_start: states.can_start(),
            needed: needed(node),
            transitions: transitions(&states, columns),
            starts: states
                .starts
                .iter()
                .map(|&state| state as usize * columns)
                .collect(),
            kinds: states.kinds,
            ahead,
            beside: OnceLock::new(),
        })
    }

    /// Returns the first match in `text` at `offset` or after it. The trace is that of earlier searches in the same text.
    ///
    /// # Errors
    /// [`Interrupted`] from the checkpoint.
    ///
    /// # Complexity
    /// O(characters) that are passed or matched, if ways to match from neighbouring characters soon come to the same
    /// state, as those of patterns without counted repetition do.
    fn find(
        &self,
        text: &[u8],
        offset: usize,
        trace: &mut Trace,
    ) -> Result<Option<Range<usize>>, Interrupted> {
        let mut start = offset;
        let mut attempt = Attempt { text, steps: 0 };
        loop {
            let (cell, length) = self.cell(text, start);
            if self.can_start[cell]
                && let Some(end) = self.longest(start, trace, &mut attempt)?
            {
                return Ok(Some(start..end));
            }
            if start == text.len() {
                return Ok(None);
            }
            start += length;
            attempt.step()?;
        }
    }

    /// Returns the cell of the character at `offset` and its length; of the end of the text, the last column.
    #[inline]
    fn cell(&self, text: &[u8], offset: usize) -> (usize, usize) {
        if offset < text.len() {
            self.cells.at(text, offset)
        } else {
            (self.cells.count(), 0)
        }
    }

    /// Returns the row of the state at `start`, before it takes a character.
    fn start(&self, text: &[u8], start: usize) -> usize {
        let behind = if start == 0 || self.starts.len() == 1 {
            self.starts.len() - 1
        } else {
            self.cells.before(text, start)
        };
        self.starts[behind]
    }

    /// Returns the row of the state that goes on from one that has asked all it has to ask.
    #[inline]
    fn decided(
        &self,
        mut row: usize,
        offset: usize,
        attempt: &mut Attempt<'_>,
    ) -> Result<usize, Interrupted> {
        let columns = self.cells.count() + 1;
        while let Kind::Asks { question, variants } = self.kinds[row / columns] {
            let answer = self.ahead[question].matches_at(offset, attempt)?;
            row = variants[usize::from(answer)] as usize * columns;
        }
        Ok(row)
    }

    /// Returns the end of the match that starts at `start`.
    fn longest(
        &self,
        start: usize,
        trace: &mut Trace,
        attempt: &mut Attempt<'_>,
    ) -> Result<Option<usize>, Interrupted> {
        let text = attempt.text;
        let mut row = self.start(text, start);
        let mut found = None;
        let mut offset = start;
        loop {
            row = self.decided(row, offset, attempt)?;
            let (cell, length) = self.cell(text, offset);
            let transition = self.transitions[row + cell];
            if transition.ends_match() {
                found = Some(offset);
            }
            row = transition.row();
            if row == DEAD {
                break;
            }
            offset += length;
            if trace.fails(offset, row) {
                return Ok(found);
            }
            attempt.step()?;
        }
        let last = found.unwrap_or(start);
        if offset - last > TRACED {
            self.record(start, last, trace, attempt)?;
        }
        Ok(found)
    }

    /// Records the states of an attempt behind `last`, where no match ends any more.
    #[cold]
    fn record(
        &self,
        start: usize,
        last: usize,
        trace: &mut Trace,
        attempt: &mut Attempt<'_>,
    ) -> Result<(), Interrupted> {
        let text = attempt.text;
        trace.states.clear();
        trace.base = last + 1;
        let mut row = self.start(text, start);
        let mut offset = start;
        while trace.states.len() < LONGEST_TRACE {
            row = self.decided(row, offset, attempt)?;
            let (cell, length) = self.cell(text, offset);
            row = self.transitions[row + cell].row();
            if row == DEAD {
                break;
            }
            offset += length;
            if offset > last {
                let states = trace
                    .states
                    .with_room(offset - trace.base + 1 - trace.states.len());
                states.resize(offset - trace.base, DEAD);
                states.push(row);
            }
            attempt.step()?;
        }
        Ok(())
    }

    /// Returns whether there is a match that starts at `start`.
    fn matches_at(&self, start: usize, attempt: &mut Attempt<'_>) -> Result<bool, Interrupted> {
        let text = attempt.text;
        let mut row = self.start(text, start);
        let mut offset = start;
        loop {
            row = self.decided(row, offset, attempt)?;
            let (cell, length) = self.cell(text, offset);
            let transition = self.transitions[row + cell];
            if transition.ends_match() {
                return Ok(true);
            }
            row = transition.row();
            if row == DEAD {
                return Ok(false);
            }
            offset += length;
            attempt.step()?;
        }
    }
}

/// Returns bytes of which every match of an expression has at least one. Those of all characters beyond ASCII count as one.
fn needed(node: &syntax::Node) -> [bool; 256] {
    let Some(set) = syntax::needed(node) else {
        return [true; 256];
    };
    let has = |first: char, last: char| {
        let mut ranges = set.ranges().iter();
        ranges.any(|range| range.start() <= last && first <= range.end())
    };
    let beyond = has('\u{80}', char::MAX);
    std::array::from_fn(|byte| match u8::try_from(byte) {
        Ok(byte) if byte.is_ascii() => has(byte.into(), byte.into()),
        _ => beyond,
    })
}
