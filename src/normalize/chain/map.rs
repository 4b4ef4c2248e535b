//! Steps that change each character by itself, as one table: for each character the text that it becomes.
//!
//! Such are all steps of BERT's normalizer. Decomposing puts marks in order, besides: a character that becomes a mark with a
//! class of order is *unordered*, and a text with one goes through the steps. The table is made page by page when a text needs
//! it, by the steps themselves.

use std::ops::Range;
use std::sync::OnceLock;

use unicode_normalization_alignments::char::canonical_combining_class;

use super::{Output, Prepared};
use crate::util::lazy::get_or_init_nonblocking;
use crate::util::memory::{self, Growable};

/// Code points of a page.
const PAGE: usize = 1 << 8;

/// Bytes of ASCII that are looked at together, and that are appended together: to check that these are UTF-8 cost a
/// twentieth of all of encoding, block by block.
const BLOCK: usize = 64;
const BLOCKS: usize = 1024;

/// The character that a character becomes, or one of these. An entry above [`LONG`] has the number of a text of its page.
type Entry = u32;
const DROPPED: Entry = 1 << 24;
const UNORDERED: Entry = DROPPED + 1;
const LONG: Entry = 1 << 25;

/// What becomes of ASCII without controls other than `\t`, `\n` and `\r`, as far as it is known without a table: in a loop
/// that the compiler makes one of vectors. A table took four times as long, a tenth of all of encoding.
#[derive(Clone, Copy, Debug)]
struct Ascii {
    /// Capitals become small letters.
    lowers: bool,
    /// `\t`, `\n` and `\r` become spaces.
    blanks: bool,
}

impl Ascii {
    /// Returns what the characters of a page become; `None` if that is something else.
    fn of(entries: &[Entry; PAGE]) -> Option<Self> {
        let becomes = |byte: u8, other: u8| entries[usize::from(byte)] == Entry::from(other);
        let ascii = Self {
            lowers: becomes(b'A', b'a'),
            blanks: becomes(b'\t', b' '),
        };
        let mut plain = (0..0x80).filter(|&byte| is_plain(byte));
        let made = plain.all(|byte| becomes(byte, ascii.map(byte)));
        made.then_some(ascii)
    }

    #[inline]
    fn map(self, byte: u8) -> u8 {
        let case = if self.lowers && byte.is_ascii_uppercase() {
            0x20
        } else {
            0
        };
        if self.blanks && byte < b' ' {
            b' '
        } else {
            byte | case
        }
    }
}

/// Returns whether a byte is of ASCII, and no control but `\t`, `\n` and `\r`.
#[inline]
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..0x7F) | (byte == b'\t') | (byte == b'\n') | (byte == b'\r')
}

#[derive(Debug)]
struct Page {
    entries: [Entry; PAGE],
    long: Vec<String>,
}

/// The text that each character becomes.
#[derive(Debug)]
pub(super) struct CharacterMap {
    pages: Vec<OnceLock<Box<Page>>>,
    ascii: Option<Ascii>,
}

impl CharacterMap {
    /// Returns the map of steps; `None` if a step does not change each character by itself.
    pub(super) fn of(steps: &[Prepared]) -> Option<Self> {
        let is_of_characters = |step: &Prepared| match step {
            Prepared::Form(form) => form.decomposes(),
            Prepared::Lowercase
            | Prepared::StripAccents
            | Prepared::CleanText
            | Prepared::IsolateHan
            | Prepared::StripNonspacing
            | Prepared::Nmt => true,
            _ => false,
        };
        if steps.is_empty() || !steps.iter().all(is_of_characters) {
            return None;
        }
        let pages = (char::MAX as usize + 1) / PAGE;
        let mut map = Self {
            pages: (0..pages).map(|_| OnceLock::new()).collect(),
            ascii: None,
        };
        map.ascii = Ascii::of(&map.page(steps, 0).entries);
        Some(map)
    }

    #[inline]
    fn page(&self, steps: &[Prepared], point: usize) -> &Page {
        match self.pages[point / PAGE].get() {
            Some(page) => page,
            None => self.make_page(steps, point / PAGE),
        }
    }

    #[cold]
    fn make_page(&self, steps: &[Prepared], number: usize) -> &Page {
        let make = || Box::new(Page::new(steps, number * PAGE));
        get_or_init_nonblocking::<Box<Page>>(&self.pages[number], make)
    }

    #[inline]
    fn entry(&self, steps: &[Prepared], c: char) -> Entry {
        self.page(steps, c as usize).entries[c as usize % PAGE]
    }

    /// Returns whether each character of a text becomes itself; `None` if that is not known, of an unordered character.
    pub(super) fn keeps(&self, steps: &[Prepared], text: &str) -> Option<bool> {
        for c in text.chars() {
            match self.entry(steps, c) {
                UNORDERED => return None,
                entry if entry != u32::from(c) => return Some(false),
                _ => {}
            }
        }
        Some(true)
    }

    /// Appends what a text becomes to `out`, and for each byte of it the span of its character to `spans`, if wanted.
    /// Returns false, and appends nothing, if there is an unordered character.
    pub(super) fn apply(
        &self,
        steps: &[Prepared],
        text: &str,
        out: &mut String,
        mut spans: Option<&mut Vec<Range<usize>>>,
    ) -> bool {
        let (written, spanned) = (out.len(), spans.as_ref().map_or(0, |spans| spans.len()));
        out.with_room(text.len());
        let (mut at, mut blocks) = (0, [0; BLOCKS]);
        while at < text.len() {
            let length = self.map_blocks(&text.as_bytes()[at..], &mut blocks);
            if length > 0 {
                let made = simdutf8::basic::from_utf8(&blocks[..length]).expect("ASCII is UTF-8");
                out.with_room(length).push_str(made);
                if let Some(spans) = &mut spans {
                    memory::extend(spans, (at..at + length).map(|at| at..at + 1));
                }
                at += length;
                continue;
            }
            let end = text.len().min(at + BLOCK);
            for c in text[at..].chars() {
                let start = out.len();
                match self.entry(steps, c) {
                    DROPPED => {}
                    UNORDERED => {
                        out.truncate(written);
                        if let Some(spans) = spans {
                            spans.truncate(spanned);
                        }
                        return false;
                    }
                    entry => {
                        if let Some(made) = char::from_u32(entry) {
                            out.with_room(made.len_utf8()).push(made);
                        } else {
                            let long = &self.page(steps, c as usize).long[(entry - LONG) as usize];
                            out.with_room(long.len()).push_str(long);
                        }
                    }
                }
                let span = at..at + c.len_utf8();
                at = span.end;
                if let Some(spans) = &mut spans {
                    memory::extend(spans, std::iter::repeat_n(span, out.len() - start));
                }
                if at >= end {
                    break;
                }
            }
        }
        true
    }

    /// Writes what the first blocks of `bytes` become, as far as it is known without looking characters up. Returns the
    /// number of bytes.
    fn map_blocks(&self, bytes: &[u8], made: &mut [u8; BLOCKS]) -> usize {
        let Some(ascii) = self.ascii else {
            return 0;
        };
        let (from, _) = bytes.as_chunks::<BLOCK>();
        let (to, _) = made.as_chunks_mut::<BLOCK>();
        let mut count = 0;
        for (from, to) in from.iter().zip(to) {
            if !from.iter().fold(true, |all, &byte| all & is_plain(byte)) {
                break;
            }
            *to = from.map(|byte| ascii.map(byte));
            count += BLOCK;
        }
        count
    }
}

impl Page {
    fn new(steps: &[Prepared], first: usize) -> Self {
        let mut long = Vec::new();
        let mut entry = |c: char| {
            let mut text = c.to_string();
            for step in steps {
                let mut output = Output::new(&text, false);
                step.apply(&mut output)
                    .expect("it has no pattern that fails");
                text = output.finish().0;
            }
            if text.chars().any(|c| canonical_combining_class(c) != 0) {
                return UNORDERED;
            }
            let mut characters = text.chars();
            match (characters.next(), characters.next()) {
                (None, _) => DROPPED,
                (Some(c), None) => c.into(),
                _ => {
                    long.push(text);
                    LONG + Entry::try_from(long.len() - 1).expect("a page has 256 characters")
                }
            }
        };
        let points = first..first + PAGE;
        let entries = points.map(|point| {
            let c = u32::try_from(point).ok().and_then(char::from_u32);
            c.map_or(DROPPED, &mut entry)
        });
        let entries: Vec<Entry> = entries.collect();
        let entries = entries.try_into().expect("it has 256 entries");
        Self { entries, long }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Chain, Step};

    fn chains() -> Vec<Vec<Step>> {
        vec![
            vec![
                Step::CleanText,
                Step::IsolateHan,
                Step::Nfd,
                Step::StripNonspacing,
                Step::Lowercase,
            ],
            vec![Step::CleanText, Step::IsolateHan],
            vec![Step::Nfkd, Step::StripAccents, Step::Lowercase],
            vec![Step::Nmt],
            vec![Step::Nfd],
        ]
    }

    /// Compares the map with the steps, text and spans.
    fn compare(mapped: &Chain, by_steps: &Chain, text: &str) {
        assert!(mapped.map.is_some());
        let [found, expected] = [mapped, by_steps].map(|chain| {
            let (mut out, mut spans) = ("before".to_owned(), Vec::new());
            chain
                .normalize(text, &mut out, Some(&mut spans))
                .expect("nothing fails");
            (out, spans)
        });
        assert_eq!(found, expected, "{text:?}");
        assert_eq!(mapped.keeps(text), by_steps.keeps(text), "{text:?}");
    }

    fn pair(steps: &[Step]) -> [Chain; 2] {
        let made = || Chain::new(steps.to_vec()).expect("known steps");
        let by_steps = Chain {
            map: None,
            ..made()
        };
        [made(), by_steps]
    }

    #[test]
    fn every_character_becomes_what_the_steps_make_of_it() {
        for steps in chains() {
            let [mapped, by_steps] = pair(&steps);
            let mut text = String::new();
            for c in '\0'..=char::MAX {
                text.push(c);
                text.push('e');
                // Alone among the letters of a line, and beside marks.
                if text.len() > 100 {
                    compare(&mapped, &by_steps, &text);
                    text.clear();
                }
            }
            compare(&mapped, &by_steps, &text);
        }
    }

    #[test]
    fn texts_become_what_the_steps_make_of_them() {
        let parts = [
            "a",
            "É",
            "the Quick ",
            "\u{301}",
            "\u{323}",
            "\u{8D4}",
            "\u{1B44}",
            "\u{302E}",
            "가",
            "中",
            "\t",
            "\0",
            "\u{200B}",
            "İ",
            "ǆ",
            "\u{1D160}",
            " ",
            "≠",
        ];
        let mut state = 3_u64;
        let mut number = |below: usize| {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            usize::try_from(state >> 33).expect("it has 31 bits") % below
        };
        for steps in chains() {
            let [mapped, by_steps] = pair(&steps);
            for _ in 0..2000 {
                let text: String = (0..number(12))
                    .map(|_| parts[number(parts.len())])
                    .collect();
                compare(&mapped, &by_steps, &text);
            }
            compare(&mapped, &by_steps, &"plain ASCII text ".repeat(100));
        }
    }
}
