//! Two characters beside each other that a pattern keeps apart, whatever stands around them.
//!
//! Let c stand before d. The matches in a text are those in its parts before and behind this place, if
//!
//! * every attempt that has taken c, in whatever state, ends before d, and whether its match ends there is the same at the
//!   end of a text;
//! * a start behind c is that at the start of a text;
//! * what is looked for ahead ends with c at the latest, whatever came before, or is one character; nothing is looked for
//!   where c has been taken; and where something is looked for at a start, it does not ask what stands before.
//!
//! For then no attempt from before reads d, but as it would read the end, and none from behind knows c. Beyond that, a match
//! ends or starts at this place, if c by itself is always a match before d, or d by itself one before anything: an attempt
//! starts with each character that no match before has taken.

use super::cells::Cells;
use super::states::{DEAD, Kind};
use super::{Automaton, Transition};
use crate::util::lazy::get_or_init_nonblocking;

/// The relation of two characters beside each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    /// Something may reach across.
    Joined,
    /// Matches in both parts are those of the whole.
    Apart,
    /// In addition, one ends or starts between them.
    Border,
}

/// The relations of characters beside each other.
#[derive(Debug)]
pub(super) struct Relations {
    /// Those of all pairs of cells.
    table: Vec<Beside>,
    /// The automata of what is looked for farther ahead than one character, by their numbers, each with the cells that end it.
    far: Vec<(usize, Vec<bool>)>,
}

impl Automaton {
    /// Returns the relation of two characters.
    pub(crate) fn beside(&self, before: char, after: char) -> Beside {
        let relations = get_or_init_nonblocking(&self.beside, || self.relations());
        let [left, right] = [before, after].map(|character| cell_of(&self.cells, character));
        let mut far = relations.far.iter();
        if far.all(|(index, ends)| ends[cell_of(&self.ahead[*index].cells, before)]) {
            relations.table[left * self.cells.count() + right]
        } else {
            Beside::Joined
        }
    }

    fn relations(&self) -> Relations {
        let ahead = self.ahead.iter().enumerate();
        let far = ahead.filter(|(_, ahead)| !ahead.looks_at_one_character());
        let far = far.map(|(index, ahead)| (index, ahead.cells_that_end_it()));
        let far: Vec<_> = far.collect();
        let mut starts = far.iter().map(|(index, _)| self.ahead[*index].starts.len());
        let starts_alike =
            self.takes(self.start_behind(self.cells.count())) || starts.all(|count| count == 1);
        Relations {
            table: self.table(starts_alike),
            far,
        }
    }

    /// Returns the relations of all pairs of cells, as far as they do not depend on what is looked for ahead.
    fn table(&self, starts_alike: bool) -> Vec<Beside> {
        let (cells, columns) = (self.cells.count(), self.cells.count() + 1);
        let mut table = Vec::new();
        for before in 0..cells {
            let rows = 0..self.kinds.len();
            let rows = rows.map(|state| self.transitions[state * columns + before].row());
            let mut taken: Vec<usize> = rows.filter(|&row| row != DEAD).collect();
            taken.sort_unstable();
            taken.dedup();
            for after in 0..cells {
                let is_apart = starts_alike
                    && self.start_behind(before) == self.start_behind(cells)
                    && taken.iter().all(|&row| self.ends_before(row, after));
                table.push(match (is_apart, self.has_border(before, after)) {
                    (false, _) => Beside::Joined,
                    (true, false) => Beside::Apart,
                    (true, true) => Beside::Border,
                });
            }
        }
        table
    }

    /// Returns whether the first character that it takes decides whether there is a match.
    fn looks_at_one_character(&self) -> bool {
        let cells = self.cells.count();
        let start = self.start_behind(cells);
        self.starts.len() == 1
            && self.ahead.is_empty()
            && (0..=cells).all(|cell| self.transitions[start + cell].row() == DEAD)
    }

    /// Returns, for each cell, whether no attempt goes on behind it.
    fn cells_that_end_it(&self) -> Vec<bool> {
        let (cells, columns) = (self.cells.count(), self.cells.count() + 1);
        let looks_near = self.ahead.iter().all(Self::looks_at_one_character);
        let ends = |cell: usize| {
            let mut rows = self.transitions.chunks(columns);
            rows.all(|row| row[cell].row() == DEAD)
        };
        (0..cells).map(|cell| looks_near && ends(cell)).collect()
    }

    /// Returns whether an attempt in a state ends before a cell, as it would at the end of a text.
    fn ends_before(&self, row: usize, cell: usize) -> bool {
        let transition = self.transitions[row + cell];
        self.takes(row)
            && transition.row() == DEAD
            && transition.ends_match() == self.end_of_text(row).ends_match()
    }

    /// Returns whether a match ends or starts between two cells.
    fn has_border(&self, before: usize, after: usize) -> bool {
        let cells = self.cells.count();
        let alone = |start: usize, cell: usize| {
            let row = self.transitions[start + cell].row();
            let is_taken = self.takes(start) && row != DEAD && self.takes(row);
            is_taken.then_some(row)
        };
        let ends = self.starts.iter().all(|&start| {
            alone(start, before).is_some_and(|row| self.transitions[row + after].ends_match())
        });
        let starts = alone(self.start_behind(before), after)
            .is_some_and(|row| (0..=cells).all(|next| self.transitions[row + next].ends_match()));
        ends || starts
    }

    /// Returns the row of the first state behind a cell, or at the start of a text.
    fn start_behind(&self, cell: usize) -> usize {
        self.starts[cell.min(self.starts.len() - 1)]
    }

    /// Returns whether a state takes a character, without a question.
    fn takes(&self, row: usize) -> bool {
        matches!(self.kinds[row / (self.cells.count() + 1)], Kind::Takes)
    }

    fn end_of_text(&self, row: usize) -> Transition {
        self.transitions[row + self.cells.count()]
    }
}

fn cell_of(cells: &Cells, character: char) -> usize {
    let mut utf8 = [0; 4];
    cells.at(character.encode_utf8(&mut utf8).as_bytes(), 0).0
}
