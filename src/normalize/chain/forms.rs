//! The normal forms of Unicode 9.
//!
//! An *ordinary* character stays and keeps what stands before it apart from what follows. So a text is normal if each
//! of its segments is that begins with an ordinary character and goes on with others; and only segments that are not
//! are normalized. Nearly all are by the classes of their characters alone, one after the other.

use std::ops::Range;

use unicode_normalization_alignments::UnicodeNormalization;
use unicode_normalization_alignments::char::compose;

use super::Output;
use super::table::{Class, Form, Quick, Table, is_composed};

/// Brings texts into a normal form.
#[derive(Debug)]
pub(super) struct Normal {
    form: Form,
    table: &'static Table,
}

impl Normal {
    pub(super) fn new(form: Form) -> Self {
        Self {
            form,
            table: Table::of_form(form),
        }
    }

    /// Returns whether it only decomposes characters, and puts marks in order.
    pub(super) fn decomposes(&self) -> bool {
        matches!(self.form, Form::Nfd | Form::Nfkd)
    }

    /// Returns whether a character stays whatever stands before it, and keeps that apart from what follows.
    pub(super) fn is_ordinary(&self, c: char) -> bool {
        self.table.class(c) == Class::ORDINARY
    }

    /// Returns whether a character stays whatever stands around it, as well.
    pub(super) fn is_fixed(&self, c: char) -> bool {
        self.is_ordinary(c) && !self.table.is_starter(c)
    }

    pub(super) fn keeps(&self, text: &str) -> bool {
        self.next_change(text, 0).is_none()
    }

    pub(super) fn apply(&self, output: &mut Output<'_>) {
        let text = output.input();
        let mut at = 0;
        while let Some(segment) = self.next_change(text, at) {
            output.copy(at..segment.start);
            at = segment.end;
            let part = &text[segment.clone()];
            match self.form {
                Form::Nfc => write(part.nfc(), part, segment.start, output),
                Form::Nfd => write(part.nfd(), part, segment.start, output),
                Form::Nfkc => write(part.nfkc(), part, segment.start, output),
                Form::Nfkd => write(part.nfkd(), part, segment.start, output),
            }
        }
        output.copy(at..text.len());
    }

    /// Returns whether a text is normal, by normalizing it.
    fn is_normal(&self, text: &str) -> bool {
        let same = |normal: &mut dyn Iterator<Item = (char, isize)>| {
            normal.map(|(c, _)| c).eq(text.chars())
        };
        match self.form {
            Form::Nfc => same(&mut text.nfc()),
            Form::Nfd => same(&mut text.nfd()),
            Form::Nfkc => same(&mut text.nfkc()),
            Form::Nfkd => same(&mut text.nfkd()),
        }
    }

    /// Returns the next segment that is not normal. One begins at `from`, or the text does.
    fn next_change(&self, text: &str, from: usize) -> Option<Range<usize>> {
        let mut at = from;
        loop {
            at = self.table.skip_normal(text, at);
            if at == text.len() {
                return None;
            }
            let mut before = text[from..at].char_indices();
            let mut segment = match before.rfind(|(_, c)| self.is_ordinary(*c)) {
                Some((offset, starter)) => Segment::new(from + offset, Some(starter)),
                None => Segment::new(from, None),
            };
            at = segment.start + segment.starter.map_or(0, char::len_utf8);
            for c in text[at..].chars() {
                let class = self.table.class(c);
                if class == Class::ORDINARY {
                    break;
                }
                segment.add(c, class);
                at += c.len_utf8();
            }
            if self.changes(text, &segment, at) {
                return Some(segment.start..at);
            }
        }
    }

    /// Returns whether a segment that ends at `end` is not normal.
    fn changes(&self, text: &str, segment: &Segment, end: usize) -> bool {
        !segment.is_normal || segment.in_doubt && !self.is_normal(&text[segment.start..end])
    }
}

/// A segment as far as it is read.
struct Segment {
    start: usize,
    /// The last character of the combining class 0.
    starter: Option<char>,
    /// The combining class of the last character.
    order: u8,
    is_normal: bool,
    /// Whether it is normal only if it stays the same when it is normalized.
    in_doubt: bool,
}

impl Segment {
    fn new(start: usize, starter: Option<char>) -> Self {
        Self {
            start,
            starter,
            order: 0,
            is_normal: true,
            in_doubt: false,
        }
    }

    /// Adds a character that is not ordinary.
    #[inline]
    fn add(&mut self, c: char, class: Class) {
        self.is_normal &= class.order == 0 || class.order >= self.order;
        // Marks of the same or a higher class keep a mark apart from the starter.
        let reaches = self.order == 0 || class.order > self.order;
        match (class.quick, self.starter) {
            (Quick::No, _) => self.is_normal = false,
            (Quick::Maybe, Some(starter)) if reaches => {
                self.is_normal &= compose(starter, c).is_none();
                // It may come before one of the marks that the starter is composed of.
                self.in_doubt |= class.order != 0 && is_composed(starter);
            }
            _ => {}
        }
        self.order = class.order;
        if self.order == 0 {
            self.starter = Some(c);
        }
    }
}

/// Appends what a part of the input that starts at `start` becomes. Each character comes with a number: 1 if it is new
/// and stands for the character before it, else 0 less the characters after the one it stands for that it takes, too.
fn write(
    normal: impl Iterator<Item = (char, isize)>,
    part: &str,
    start: usize,
    output: &mut Output<'_>,
) {
    let mut origins = part.char_indices().map(|(at, _)| start + at);
    let mut last = None;
    for (c, change) in normal {
        let origin = if change > 0 {
            last
        } else {
            let origin = origins.next();
            last = origin;
            for _ in change..0 {
                last = origins.next();
            }
            origin
        };
        output.push(
            c,
            origin.expect("a new character follows one that is not, and none is taken twice"),
        );
    }
}
