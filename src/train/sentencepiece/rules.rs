//! Which texts may be pieces.

use super::MARK;
use crate::token::{Pair, TokenId};
use crate::train::learning::Restriction;
use crate::unicode::property::Script;

/// Which texts may be pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the options of SentencePiece"
)]
pub struct PieceRules {
    /// The most characters.
    pub max_length: usize,
    /// Whether a mark may be at the beginning alone; otherwise it may not be at the end.
    pub split_by_whitespace: bool,
    /// Whether marks are at the ends of words, so that these two are exchanged.
    pub treat_whitespace_as_suffix: bool,
    /// Whether a piece may be of marks only.
    pub allow_whitespace_only_pieces: bool,
    /// Whether characters of different scripts are kept apart.
    pub split_by_unicode_script: bool,
    /// Whether digits are a script like others.
    pub split_by_number: bool,
    /// Whether a digit is a piece of its own.
    pub split_digits: bool,
}

/// The facts about a text that decide with which others it may be joined.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Shape {
    /// The script that the text before must have.
    first: Expected,
    /// The script that the text behind must have, if any; `None` if any will do.
    last: Option<Script>,
    starts_with_mark: bool,
    ends_with_mark: bool,
    /// Whether there is a mark that is not the first character.
    has_later_mark: bool,
    /// Whether there is a mark that is not the last character.
    has_earlier_mark: bool,
    is_marks: bool,
    has_digit: bool,
}

/// Which script a text expects before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// Any, which then is also that of this text.
    Before,
    /// Any.
    Any,
    /// This one.
    Script(Script),
}

impl PieceRules {
    /// Returns whether each part of a piece may be a piece, or is a single character.
    fn allows_parts(&self) -> bool {
        self.split_by_whitespace
    }

    /// The facts about a character.
    pub(super) fn shape(&self, character: char) -> Shape {
        let is_mark = character == MARK;
        let has_digit = matches!(character, '0'..='9' | '\u{FF10}'..='\u{FF19}');
        let first = if is_mark {
            Expected::Before
        } else if has_digit && !self.split_by_number {
            Expected::Any
        } else {
            match Script::of(character) {
                // Its script is Common: a sound of either kana is made longer.
                _ if character == '\u{30FC}' => Expected::Script(Script::HAN),
                Script::HIRAGANA | Script::KATAKANA => Expected::Script(Script::HAN),
                Script::INHERITED => Expected::Before,
                script => Expected::Script(script),
            }
        };
        let last = match first {
            Expected::Script(script) => Some(script),
            Expected::Before | Expected::Any => None,
        };
        Shape {
            first,
            last,
            starts_with_mark: is_mark,
            ends_with_mark: is_mark,
            has_later_mark: false,
            has_earlier_mark: false,
            is_marks: is_mark,
            has_digit,
        }
    }

    /// Returns whether no piece holds one character behind another.
    ///
    /// What forbids to join two characters also forbids to join texts that end and begin with them, since these rules
    /// look at the ends that meet. Those for sentences that are not cut look at the other ends.
    pub(super) fn keeps_apart(&self, left: Shape, right: Shape) -> bool {
        self.split_by_whitespace && !self.allows(left, right)
    }

    /// Returns whether two texts joined may be a piece, apart from their length.
    fn allows(&self, left: Shape, right: Shape) -> bool {
        let marks = if self.allow_whitespace_only_pieces && left.is_marks && right.is_marks {
            true
        } else {
            match (self.treat_whitespace_as_suffix, self.split_by_whitespace) {
                (false, true) => {
                    !left.has_later_mark && !right.starts_with_mark && !right.has_later_mark
                }
                (true, true) => {
                    !right.has_earlier_mark && !left.ends_with_mark && !left.has_earlier_mark
                }
                (false, false) => !right.ends_with_mark,
                (true, false) => !left.starts_with_mark,
            }
        };
        let digits = !(self.split_digits && (left.has_digit || right.has_digit));
        let scripts = match (right.first, left.last) {
            (Expected::Script(expected), Some(script)) if self.split_by_unicode_script => {
                expected == script
            }
            _ => true,
        };
        marks && digits && scripts
    }
}

impl Shape {
    fn join(self, right: Self) -> Self {
        Self {
            first: match self.first {
                Expected::Before => right.first,
                first => first,
            },
            last: match right.first {
                Expected::Before => right.last.or(self.last),
                _ => right.last,
            },
            starts_with_mark: self.starts_with_mark,
            ends_with_mark: right.ends_with_mark,
            has_later_mark: self.has_later_mark || right.starts_with_mark || right.has_later_mark,
            has_earlier_mark: self.has_earlier_mark
                || self.ends_with_mark
                || right.has_earlier_mark,
            is_marks: self.is_marks && right.is_marks,
            has_digit: self.has_digit || right.has_digit,
        }
    }
}

/// The rules, with the shapes of all tokens.
#[derive(Debug)]
pub(super) struct TextRestriction {
    rules: PieceRules,
    shapes: Vec<Shape>,
}

impl TextRestriction {
    /// The rules for tokens that are these characters, in order.
    pub(super) fn new(rules: PieceRules, alphabet: &[char]) -> Self {
        let shapes = alphabet.iter().map(|&character| rules.shape(character));
        Self {
            rules,
            shapes: shapes.collect(),
        }
    }

    fn of(&self, token: TokenId) -> Shape {
        self.shapes[token as usize]
    }
}

impl Restriction for TextRestriction {
    fn allows(&self, pair: Pair) -> bool {
        self.rules.allows(self.of(pair.left), self.of(pair.right))
    }

    fn push(&mut self, pair: Pair) {
        self.shapes
            .push(self.of(pair.left).join(self.of(pair.right)));
    }

    fn allows_predecessors(&self) -> bool {
        self.rules.allows_parts()
    }
}

#[cfg(test)]
mod tests {
    use super::{PieceRules, Shape};

    /// A letter of two scripts, a kana and its long sound, digits of two widths, a sign, an accent, the mark.
    const CHARACTERS: [char; 9] = ['a', 'α', 'か', 'ー', '1', '１', '_', '\u{301}', '\u{2581}'];

    fn all_rules() -> impl Iterator<Item = PieceRules> {
        (0..1 << 6).map(|bits: u32| {
            let option = |at: u32| bits >> at & 1 == 1;
            PieceRules {
                max_length: 16,
                split_by_whitespace: option(0),
                treat_whitespace_as_suffix: option(1),
                allow_whitespace_only_pieces: option(2),
                split_by_unicode_script: option(3),
                split_by_number: option(4),
                split_digits: option(5),
            }
        })
    }

    /// Returns the shapes of all texts of up to four characters that joining allowed parts makes, by length.
    fn pieces(rules: &PieceRules) -> Vec<Vec<(String, Shape)>> {
        let single = CHARACTERS.map(|character| (character.to_string(), rules.shape(character)));
        let mut all = vec![single.to_vec()];
        for length in 2..=4 {
            let mut made = Vec::new();
            for cut in 1..length {
                for (left, left_shape) in &all[cut - 1] {
                    for (right, right_shape) in &all[length - cut - 1] {
                        if rules.allows(*left_shape, *right_shape) {
                            made.push((format!("{left}{right}"), left_shape.join(*right_shape)));
                        }
                    }
                }
            }
            all.push(made);
        }
        all
    }

    #[test]
    fn no_piece_holds_characters_that_are_kept_apart() {
        let mut number = 0;
        for rules in all_rules() {
            for (piece, _) in pieces(&rules).iter().flatten() {
                let shapes: Vec<Shape> = piece.chars().map(|c| rules.shape(c)).collect();
                let apart = |pair: &[Shape]| rules.keeps_apart(pair[0], pair[1]);
                assert!(!shapes.windows(2).any(apart), "{piece} {rules:?}");
                number += shapes.len();
            }
        }
        assert!(number > 500_000, "{number}");
    }
}
