//! A pattern as instructions, in the order in which a backtracking engine would try them.

use std::collections::HashMap;

use regex_syntax::hir::ClassUnicode;

use super::syntax::Node;

/// The most instructions of a program.
const MOST: usize = 20_000;

/// An instruction. Numbers of instructions are indices into the program, those of sets into its sets.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instruction {
    /// Takes a character of a set.
    Take { set: usize, next: usize },
    /// Tries one way, then another.
    Fork { first: usize, second: usize },
    /// Goes on if the next character is in a set, or at the end of the text.
    Next {
        set: usize,
        at_end: bool,
        next: usize,
    },
    /// Goes on if a condition on the character before holds.
    Previous { condition: usize, next: usize },
    /// Goes on if an expression matches ahead, or does not.
    Ahead {
        index: usize,
        negated: bool,
        next: usize,
    },
    /// Ends a match.
    Match,
}

/// A program. It starts at its last instruction.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub instructions: Vec<Instruction>,
    pub sets: Vec<ClassUnicode>,
    /// Conditions on the character before: it is in a set, or a text starts here.
    pub conditions: Vec<(usize, bool)>,
    /// Expressions that are looked for ahead.
    pub ahead: Vec<Node>,
    known: HashMap<Vec<(char, char)>, usize>,
}

impl Program {
    /// Returns the program of an expression; none if it is too long.
    pub(super) fn new(node: &Node) -> Option<Self> {
        let mut program = Self::default();
        let end = program.push(Instruction::Match)?;
        let start = program.write(node, end)?;
        if start + 1 != program.instructions.len() {
            program.push(Instruction::Fork {
                first: start,
                second: start,
            })?;
        }
        Some(program)
    }

    pub(super) fn start(&self) -> usize {
        self.instructions.len() - 1
    }

    fn push(&mut self, instruction: Instruction) -> Option<usize> {
        self.instructions.push(instruction);
        (self.instructions.len() <= MOST).then_some(self.instructions.len() - 1)
    }

    fn set(&mut self, set: &ClassUnicode) -> usize {
        let key = set
            .ranges()
            .iter()
            .map(|range| (range.start(), range.end()));
        let sets = &mut self.sets;
        *self.known.entry(key.collect()).or_insert_with(|| {
            sets.push(set.clone());
            sets.len() - 1
        })
    }

    /// Writes the instructions of an expression, after which `next` follows. Returns where they start.
    fn write(&mut self, node: &Node, next: usize) -> Option<usize> {
        match node {
            Node::Set(set) => {
                let set = self.set(set);
                self.push(Instruction::Take { set, next })
            }
            Node::Concat(parts) => parts
                .iter()
                .rev()
                .try_fold(next, |next, part| self.write(part, next)),
            Node::Alternatives(parts) => {
                let (last, others) = parts.split_last()?;
                let last = self.write(last, next)?;
                others.iter().rev().try_fold(last, |second, part| {
                    let first = self.write(part, next)?;
                    self.push(Instruction::Fork { first, second })
                })
            }
            Node::Repeat {
                node,
                least,
                most,
                greedy,
            } => self.repeat(node, *least, *most, *greedy, next),
            Node::Next { set, at_end } => {
                let set = self.set(set);
                self.push(Instruction::Next {
                    set,
                    at_end: *at_end,
                    next,
                })
            }
            Node::Previous { set, at_start } => {
                let condition = (self.set(set), *at_start);
                let found = self.conditions.iter().position(|known| *known == condition);
                let condition = found.unwrap_or_else(|| {
                    self.conditions.push(condition);
                    self.conditions.len() - 1
                });
                self.push(Instruction::Previous { condition, next })
            }
            Node::Ahead { node, negated } => {
                self.ahead.push(node.as_ref().clone());
                self.push(Instruction::Ahead {
                    index: self.ahead.len() - 1,
                    negated: *negated,
                    next,
                })
            }
        }
    }

    fn repeat(
        &mut self,
        node: &Node,
        least: usize,
        most: Option<usize>,
        greedy: bool,
        next: usize,
    ) -> Option<usize> {
        let fork = |body: usize, on: usize| {
            let (first, second) = if greedy { (body, on) } else { (on, body) };
            Instruction::Fork { first, second }
        };
        let mut start = match most {
            None => {
                let again = self.push(fork(next, next))?;
                let body = self.write(node, again)?;
                self.instructions[again] = fork(body, next);
                again
            }
            Some(most) => {
                let mut start = next;
                for _ in least..most {
                    let body = self.write(node, start)?;
                    start = self.push(fork(body, next))?;
                }
                start
            }
        };
        for _ in 0..least {
            start = self.write(node, start)?;
        }
        Some(start)
    }
}
