//! Steps that change each character by itself, as one table: for each character the text that it becomes.
//!
//! BERT's normalizer consists of such steps. So does the map of characters of a SentencePiece model, apart from characters that
//! form a grapheme cluster with their neighbours; and a decomposition also sorts marks. Characters of these two kinds are
//! *unsure*: they go through the steps, together with their neighbours. The steps make the table, page by page, when a text
//! needs it.

use std::ops::Range;
use std::sync::OnceLock;

use unicode_normalization_alignments::char::canonical_combining_class;
use unicode_segmentation::UnicodeSegmentation;

use super::{Output, Prepared};
use crate::error::EncodeError;
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
const UNSURE: Entry = DROPPED + 1;
const LONG: Entry = 1 << 25;

/// Maps ASCII, without most controls, by arithmetic that the compiler turns into vector instructions. With a table for each byte,
/// normalizing took 23 % of encoding English with bert-base-uncased; so it takes 8 %.
#[derive(Clone, Copy, Debug)]
struct Ascii {
    /// Capitals become small letters.
    lowers: bool,
    /// `\t`, `\n` and `\r` become spaces.
    blanks: bool,
    /// `\r` is known.
    returns: bool,
}

impl Ascii {
    /// Returns what the characters of a page become; `None` if that is something else.
    fn of(entries: &[Entry; PAGE]) -> Option<Self> {
        let becomes = |byte: u8, other: u8| entries[usize::from(byte)] == Entry::from(other);
        let ascii = Self {
            lowers: becomes(b'A', b'a'),
            blanks: becomes(b'\t', b' '),
            returns: entries[usize::from(b'\r')] != UNSURE,
        };
        let mut plain = (0..0x80).filter(|&byte| ascii.is_plain(byte));
        let is_known = plain.all(|byte| becomes(byte, ascii.map(byte)));
        is_known.then_some(ascii)
    }

    /// Returns whether it is known what each byte of a block becomes.
    fn knows(self, block: &[u8]) -> bool {
        block
            .iter()
            .fold(true, |all, &byte| all & self.is_plain(byte))
    }

    /// Returns whether it is known what a byte becomes.
    #[expect(
        clippy::needless_bitwise_bool,
        reason = "without branches, a loop becomes one of vectors"
    )]
    #[inline]
    fn is_plain(self, byte: u8) -> bool {
        matches!(byte, b' '..0x7F)
            | (byte == b'\t')
            | (byte == b'\n')
            | (byte == b'\r') & self.returns
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

#[derive(Debug)]
struct Page {
    entries: [Entry; PAGE],
    long: Vec<String>,
}

/// The text that each character becomes.
#[derive(Debug)]
pub(super) struct CharacterMap {
    pages: Vec<OnceLock<Box<Page>>>,
    /// Number of steps that it stands for.
    length: usize,
    /// Whether what a character becomes stands for that character alone.
    has_spans: bool,
    ascii: Option<Ascii>,
}

impl CharacterMap {
    /// Returns the map of the first of some steps, as far as they change each character by itself; `None` if none does.
    pub(super) fn of(steps: &[Prepared]) -> Option<Self> {
        let has_clusters = |step: &Prepared| matches!(step, Prepared::Precompiled(_));
        let is_of_characters = |(number, step): &(usize, &Prepared)| match step {
            Prepared::Form(form) => form.decomposes(),
            Prepared::Lowercase
            | Prepared::StripAccents
            | Prepared::CleanText
            | Prepared::IsolateHan
            | Prepared::StripNonspacing
            | Prepared::Nmt => true,
            // Behind others, clusters would be those of what these make.
            Prepared::Precompiled(_) => *number == 0,
            _ => false,
        };
        let numbered = steps.iter().enumerate();
        let length = numbered.take_while(is_of_characters).count();
        if length == 0 {
            return None;
        }
        let steps = &steps[..length];
        let pages = (char::MAX as usize + 1) / PAGE;
        let mut map = Self {
            pages: (0..pages).map(|_| OnceLock::new()).collect(),
            length,
            has_spans: !steps.iter().any(has_clusters),
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
        let make = || {
            Box::new(Page::new(
                &steps[..self.length],
                number * PAGE,
                !self.has_spans,
            ))
        };
        get_or_init_nonblocking::<Box<Page>>(&self.pages[number], make)
    }

    #[inline]
    fn entry(&self, steps: &[Prepared], c: char) -> Entry {
        self.page(steps, c as usize).entries[c as usize % PAGE]
    }

    /// Number of steps that it stands for.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Returns whether it can say which characters of a text stand for which.
    pub(super) fn has_spans(&self) -> bool {
        self.has_spans
    }

    /// Returns whether each character of a text becomes itself; `None` if that is not known, of an unsure character.
    pub(super) fn keeps(&self, steps: &[Prepared], text: &str) -> Option<bool> {
        let mut at = 0;
        while at < text.len() {
            let end = text.len().min(at + BLOCK);
            let block = &text.as_bytes()[at..end];
            if let Some(ascii) = self.ascii
                && ascii.knows(block)
            {
                if !block
                    .iter()
                    .fold(true, |all, &byte| all & (ascii.map(byte) == byte))
                {
                    return Some(false);
                }
                at = end;
                continue;
            }
            for c in text[at..].chars() {
                match self.entry(steps, c) {
                    UNSURE => return None,
                    entry if entry != u32::from(c) => return Some(false),
                    _ => at += c.len_utf8(),
                }
                if at >= end {
                    break;
                }
            }
        }
        Some(true)
    }

    /// Appends what a text becomes to `out`, and for each byte of it the span of its character to `spans`, if wanted.
    ///
    /// # Errors
    /// [`EncodeError::Interrupted`] from the checkpoint.
    pub(super) fn apply(
        &self,
        steps: &[Prepared],
        text: &str,
        out: &mut String,
        mut spans: Option<&mut Vec<Range<usize>>>,
    ) -> Result<(), EncodeError> {
        out.with_room(text.len());
        let (mut at, mut blocks) = (0, [0; BLOCKS]);
        // The last character that was not dropped, and where what it became starts.
        let (mut before, mut made_before) = (0, out.len());
        while at < text.len() {
            let length = self.map_blocks(&text.as_bytes()[at..], &mut blocks);
            if length > 0 {
                let made = simdutf8::basic::from_utf8(&blocks[..length]).expect("ASCII is UTF-8");
                out.with_room(length).push_str(made);
                if let Some(spans) = &mut spans {
                    memory::extend(spans, (at..at + length).map(|at| at..at + 1));
                }
                at += length;
                (before, made_before) = (at - 1, out.len() - 1);
                continue;
            }
            let end = text.len().min(at + BLOCK);
            while at < end {
                let c = text[at..].chars().next().expect("it is not the end");
                let start = out.len();
                match self.entry(steps, c) {
                    DROPPED => {
                        // It keeps nothing apart.
                        at += c.len_utf8();
                        continue;
                    }
                    UNSURE => {
                        if let Some(spans) = &mut spans {
                            spans.truncate(spans.len() - (start - made_before));
                        }
                        out.truncate(made_before);
                        let end = self.sure_from(steps, text, at);
                        let first = spans.as_ref().map_or(0, |spans| spans.len());
                        super::run(steps, &text[before..end], true, out, spans.as_deref_mut())?;
                        for span in spans.iter_mut().flat_map(|spans| &mut spans[first..]) {
                            *span = before + span.start..before + span.end;
                        }
                        at = end;
                        (before, made_before) = (at, out.len());
                        continue;
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
                (before, made_before) = (at, start);
                at += c.len_utf8();
                if let Some(spans) = &mut spans {
                    memory::extend(spans, std::iter::repeat_n(before..at, out.len() - start));
                }
            }
        }
        Ok(())
    }

    /// Returns the first place from a place on that is between two characters that are neither unsure nor dropped.
    fn sure_from(&self, steps: &[Prepared], text: &str, at: usize) -> usize {
        let mut is_sure = false;
        for (place, c) in text[at..].char_indices() {
            let here = !matches!(self.entry(steps, c), UNSURE | DROPPED);
            let was_sure = std::mem::replace(&mut is_sure, here);
            if was_sure && is_sure {
                return at + place;
            }
        }
        text.len()
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
            if !ascii.knows(from) {
                break;
            }
            *to = from.map(|byte| ascii.map(byte));
            count += BLOCK;
        }
        count
    }
}

impl Page {
    /// Makes the entries of a page. Characters that may be in clusters with others are unsure if the steps look `by_clusters`.
    fn new(steps: &[Prepared], first: usize, by_clusters: bool) -> Self {
        let mut long = Vec::new();
        let mut entry = |c: char| {
            if by_clusters && joins_clusters(c) {
                return UNSURE;
            }
            let mut text = c.to_string();
            for step in steps {
                let mut output = Output::new(&text, false);
                step.apply(true, &mut output)
                    .expect("it has no pattern that fails");
                text = output.finish().0;
            }
            if text.chars().any(|c| canonical_combining_class(c) != 0) {
                return UNSURE;
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

/// Returns whether a character may be in a grapheme cluster with others. Two characters that may not are never in one: in each
/// pair that a cluster holds, one joins a letter or a syllable before it, what follows it, or its like.
fn joins_clusters(c: char) -> bool {
    let is_one = |text: [char; 2]| String::from_iter(text).graphemes(true).count() == 1;
    ['a', '가', c].iter().any(|&before| is_one([before, c]))
        || ['a', '\n'].iter().any(|&after| is_one([c, after]))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{Chain, Precompiled, Step};
    use crate::normalize::rules::charsmap;
    use crate::util::random::numbers;

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
            vec![Step::Precompiled(precompiled())],
            vec![Step::Precompiled(precompiled()), Step::Lowercase],
        ]
    }

    fn precompiled() -> Arc<Precompiled> {
        let blob = charsmap("nmt_nfkc").expect("it has a name");
        Arc::new(Precompiled::parse(blob).expect("it is a map"))
    }

    /// Compares the map with the steps, text and spans, and text alone.
    fn compare(mapped: &Chain, by_steps: &Chain, text: &str) {
        assert!(mapped.map.is_some());
        let [found, expected] = [mapped, by_steps].map(|chain| {
            let mut out = String::new();
            chain
                .normalize(text, &mut out, None)
                .expect("nothing fails");
            out
        });
        assert_eq!(found, expected, "{text:?}");
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
            "\r",
            "\n",
            "ﬁ",
            "\u{1112}",
            "\u{1161}",
            "\u{11AB}",
            "🇩",
            "👩",
            "\u{200D}",
            "\u{600}",
            "क",
            "\u{94D}",
        ];
        let mut number = numbers(3);
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
