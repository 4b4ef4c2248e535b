//! The states of an automaton, found from its program.

use std::collections::{BTreeMap, HashMap};

use super::cells::Cells;
use super::program::{Instruction, Program};

/// The state in which nothing can match any more.
pub(super) const DEAD: usize = 0;

/// Limits of what one pattern may cost. The longest of open models takes 500 states and 0.3 million visits.
const MOST_STATES: usize = 4_000;
const MOST_TRANSITIONS: usize = 400_000;
const MOST_VISITS: usize = 8_000_000;
const MOST_CONDITIONS: usize = 32;

/// The action of a state.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Takes the next character.
    Takes,
    /// Asks whether an expression matches ahead, and goes on as one of two states: the first if it does not.
    Asks { question: usize, variants: [u32; 2] },
}

/// The ways that a state can still try, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Key {
    threads: Vec<usize>,
    /// Which conditions on the character before hold.
    conditions: u32,
    /// Answers that are known at this place.
    answers: BTreeMap<usize, bool>,
}

/// All states, in tables.
#[derive(Debug)]
pub(super) struct States {
    pub transitions: Vec<u32>,
    pub kinds: Vec<Kind>,
    pub starts: Vec<u32>,
}

impl States {
    /// Returns the states of a program; none if there are too many.
    pub(super) fn new(program: &Program, cells: &Cells) -> Option<Self> {
        let mut search = Search::new(program, cells)?;
        search.add(Key::default())?;
        let start = |conditions: u32| Key {
            threads: vec![program.start()],
            conditions,
            answers: BTreeMap::new(),
        };
        let behind = if search.conditions.is_empty() {
            search.columns - 1..search.columns
        } else {
            0..search.columns
        };
        let starts = behind
            .map(|column| search.add(start(search.conditions_behind(column))))
            .collect::<Option<Vec<_>>>()?;
        let mut transitions = Vec::new();
        let mut kinds = Vec::new();
        while let Some(key) = search.keys.get(kinds.len()).cloned() {
            let (kind, row) = if let Some(question) = search.question(&key) {
                let mut variant = |answer: bool| {
                    let mut key = key.clone();
                    key.answers.insert(question, answer);
                    search.add(key)
                };
                let variants = [variant(false)?, variant(true)?];
                let row = vec![0; search.columns];
                (Kind::Asks { question, variants }, row)
            } else {
                let row = (0..search.columns).map(|column| search.step(&key, column));
                (Kind::Takes, row.collect::<Option<Vec<_>>>()?)
            };
            kinds.push(kind);
            transitions.extend(row);
            if transitions.len() > MOST_TRANSITIONS {
                return None;
            }
        }
        Some(Self {
            transitions,
            kinds,
            starts,
        })
    }

    /// Returns whether a match can start with each cell, and last at the end of the text.
    pub(super) fn can_start(&self) -> Vec<bool> {
        let columns = self.transitions.len() / self.kinds.len();
        let mut first = vec![false; columns];
        let mut open: Vec<usize> = self.starts.iter().map(|&state| state as usize).collect();
        let mut seen = vec![false; self.kinds.len()];
        while let Some(state) = open.pop() {
            if std::mem::replace(&mut seen[state], true) {
                continue;
            }
            if let Kind::Asks { variants, .. } = self.kinds[state] {
                open.extend(variants.map(|state| state as usize));
            }
            let row = &self.transitions[state * columns..(state + 1) * columns];
            for (can, transition) in first.iter_mut().zip(row) {
                *can |= *transition != 0;
            }
        }
        first
    }
}

/// The search for states.
struct Search<'p> {
    program: &'p Program,
    /// Whether each cell is in each set; the end of the text is in none.
    sets: Vec<Vec<bool>>,
    conditions: &'p [(usize, bool)],
    columns: usize,
    numbers: HashMap<Key, u32>,
    keys: Vec<Key>,
    visits: usize,
    /// The last search that came across each instruction, and that took a character to it.
    seen: Vec<usize>,
    taken: Vec<usize>,
    searches: usize,
}

impl<'p> Search<'p> {
    fn new(program: &'p Program, cells: &Cells) -> Option<Self> {
        let set = |index: usize| {
            let mut members = cells.of_set(index);
            members.push(false);
            members
        };
        (program.conditions.len() <= MOST_CONDITIONS).then(|| Self {
            program,
            sets: (0..program.sets.len()).map(set).collect(),
            conditions: &program.conditions,
            columns: cells.count() + 1,
            numbers: HashMap::new(),
            keys: Vec::new(),
            visits: 0,
            seen: vec![0; program.instructions.len()],
            taken: vec![0; program.instructions.len()],
            searches: 0,
        })
    }

    /// Returns the number of a state.
    fn add(&mut self, key: Key) -> Option<u32> {
        let next = u32::try_from(self.keys.len()).ok()?;
        let keys = &mut self.keys;
        let number = *self.numbers.entry(key).or_insert_with_key(|key| {
            keys.push(key.clone());
            next
        });
        (self.keys.len() <= MOST_STATES).then_some(number)
    }

    /// Returns which conditions hold behind a character of a cell; at the start of the text, for the last column.
    fn conditions_behind(&self, column: usize) -> u32 {
        let is_start = column + 1 == self.columns;
        let holds =
            |&(set, at_start): &(usize, bool)| self.sets[set][column] || (at_start && is_start);
        let conditions = self.conditions.iter().enumerate();
        conditions
            .filter(|(_, condition)| holds(condition))
            .fold(0, |bits, (index, _)| bits | 1 << index)
    }

    /// Returns a question that a state may have to ask before it takes a character.
    fn question(&mut self, key: &Key) -> Option<usize> {
        if self.program.ahead.is_empty() {
            return None;
        }
        self.searches += 1;
        let mut open = key.threads.clone();
        while let Some(at) = open.pop() {
            if std::mem::replace(&mut self.seen[at], self.searches) == self.searches {
                continue;
            }
            self.visits += 1;
            match self.program.instructions[at] {
                Instruction::Take { .. } | Instruction::Match => {}
                Instruction::Fork { first, second } => open.extend([first, second]),
                Instruction::Next { next, .. } => open.push(next),
                Instruction::Previous { condition, next } => {
                    if key.conditions & (1 << condition) != 0 {
                        open.push(next);
                    }
                }
                Instruction::Ahead {
                    index,
                    negated,
                    next,
                } => match key.answers.get(&index) {
                    None => return Some(index),
                    Some(&answer) if answer != negated => open.push(next),
                    Some(_) => {}
                },
            }
        }
        None
    }

    /// Returns the transition of a state for a cell, or for the end of the text; none if there are too many states.
    fn step(&mut self, key: &Key, column: usize) -> Option<u32> {
        let is_end = column + 1 == self.columns;
        self.searches += 1;
        let mut threads = Vec::new();
        let mut matched = false;
        // The last is tried first.
        let mut open: Vec<usize> = key.threads.iter().rev().copied().collect();
        while let Some(at) = open.pop() {
            if std::mem::replace(&mut self.seen[at], self.searches) == self.searches {
                continue;
            }
            self.visits += 1;
            match self.program.instructions[at] {
                Instruction::Take { set, next } => {
                    if self.sets[set][column] && self.taken[next] != self.searches {
                        self.taken[next] = self.searches;
                        threads.push(next);
                    }
                }
                Instruction::Fork { first, second } => open.extend([second, first]),
                Instruction::Next { set, at_end, next } => {
                    if self.sets[set][column] || (at_end && is_end) {
                        open.push(next);
                    }
                }
                Instruction::Previous { condition, next } => {
                    if key.conditions & (1 << condition) != 0 {
                        open.push(next);
                    }
                }
                Instruction::Ahead {
                    index,
                    negated,
                    next,
                } => {
                    if key.answers[&index] != negated {
                        open.push(next);
                    }
                }
                Instruction::Match => {
                    matched = true;
                    // What follows would match only if this did not.
                    break;
                }
            }
        }
        if self.visits > MOST_VISITS {
            return None;
        }
        let conditions = if threads.is_empty() {
            0
        } else {
            self.conditions_behind(column)
        };
        let next = self.add(Key {
            threads,
            conditions,
            answers: BTreeMap::new(),
        })?;
        Some(next << 1 | u32::from(matched))
    }
}
