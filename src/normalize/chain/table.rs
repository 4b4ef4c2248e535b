//! The classes of characters: where a normal form may change them.

use unicode_normalization_alignments::UnicodeNormalization;
use unicode_normalization_alignments::char::{
    canonical_combining_class, decompose_canonical, decompose_compatible,
};

use std::ops::Range;

/// A normal form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
}

/// Characters of a page.
const PAGE: usize = 64;

/// Bytes that are passed together.
const BLOCK: usize = 16;

/// All characters that are not ordinary in every form are in these.
const RANGES: [Range<u32>; 6] = [
    0..0x3400,
    0xA000..0xD800,
    0xF900..0x1_2000,
    0x1_6000..0x1_7000,
    0x1_B000..0x1_F300,
    0x2_F800..0x2_FA40,
];

/// Whether a character may occur in normal text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quick {
    /// Wherever its combining class lets it.
    Yes,
    /// Where it is not composed with what stands before it.
    Maybe,
    /// Never.
    No,
}

/// The class of a character in a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) quick: Quick,
    /// The canonical combining class.
    pub(super) order: u8,
}

impl Class {
    /// The character stays whatever stands before it, and what follows it never reaches across it.
    pub(super) const ORDINARY: Self = Self {
        quick: Quick::Yes,
        order: 0,
    };
}

/// The classes of all characters in a form.
#[derive(Debug)]
pub(super) struct Table {
    /// The page of every 64 characters; those after the last are ordinary.
    index: Vec<u16>,
    pages: Vec<[Class; PAGE]>,
    /// Which bytes after each, by their last six bits, begin characters with it that are not all ordinary.
    leads: Box<[u64; 256]>,
}

impl Table {
    pub(super) fn new(form: Form) -> Self {
        let mut classes = vec![Class::ORDINARY; RANGES[5].end as usize];
        let mut joining = Vec::new();
        for c in RANGES.into_iter().flatten().filter_map(char::from_u32) {
            classes[c as usize] = Class {
                quick: quick(c, form, &mut joining),
                order: canonical_combining_class(c),
            };
        }
        for c in joining {
            classes[c as usize].quick = Quick::Maybe;
        }
        Self::of(&classes)
    }

    fn of(classes: &[Class]) -> Self {
        let mut table = Self {
            index: Vec::new(),
            pages: vec![[Class::ORDINARY; PAGE]],
            leads: Box::new([0; 256]),
        };
        let (pages, _) = classes.as_chunks::<PAGE>();
        for (start, page) in (0..).step_by(PAGE).zip(pages) {
            let known = table.pages.iter().position(|known| known == page);
            let place = known.unwrap_or_else(|| {
                table.pages.push(*page);
                table.pages.len() - 1
            });
            let others = (start..)
                .zip(page)
                .filter(|(_, class)| **class != Class::ORDINARY);
            for c in others.filter_map(|(c, _)| char::from_u32(c)) {
                let [lead, next, ..] = encoded(c);
                table.leads[usize::from(lead)] |= 1 << (next % 64);
            }
            let place = u16::try_from(place).expect("there are some thousand pages");
            table.index.push(place);
        }
        table
    }

    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.index) + size_of_val(&*self.pages) + size_of_val(&*self.leads)
    }

    pub(super) fn class(&self, c: char) -> Class {
        let c = c as usize;
        match self.index.get(c / PAGE) {
            Some(&page) => self.pages[usize::from(page)][c % PAGE],
            None => Class::ORDINARY,
        }
    }

    /// Returns the first offset from `at` on, which is that of a character, of one that may not occur in normal text after
    /// those that are passed; none before `at` is a mark.
    ///
    /// Blocks are passed by the first two bytes of their characters, without a branch for each: with one, the check of
    /// Arabic text took four times as long.
    pub(super) fn skip_normal(&self, text: &str, mut at: usize) -> usize {
        let bytes = text.as_bytes();
        // The combining class of the last character.
        let mut order = 0;
        loop {
            let limit = bytes.len().min(at + BLOCK);
            while at < limit {
                let next = bytes.get(at + 1).copied().unwrap_or(0);
                if self.begins(bytes[at], next) {
                    let c = text[at..].chars().next().expect("a character begins here");
                    let class = self.class(c);
                    if class.quick != Quick::Yes || class.order != 0 && class.order < order {
                        return at;
                    }
                    order = class.order;
                    at += c.len_utf8();
                } else {
                    order = 0;
                    at += 1;
                }
            }
            // Bytes that continue a character begin none, so it does not matter where a block begins.
            while let Some(block) = bytes[at..].first_chunk::<{ BLOCK + 1 }>()
                && (block[..BLOCK].is_ascii() || !self.begins_in(block))
            {
                order = 0;
                at += BLOCK;
            }
            if at == bytes.len() {
                return at;
            }
        }
    }

    /// Whether characters that are not all ordinary begin in a block, before its last byte.
    fn begins_in(&self, block: &[u8; BLOCK + 1]) -> bool {
        let pairs = block.iter().zip(&block[1..]);
        let any = pairs.fold(0, |any, (&lead, &next)| any | self.lead(lead, next));
        any & 1 != 0
    }

    /// Whether two bytes begin characters that are not all ordinary.
    pub(super) fn begins(&self, lead: u8, next: u8) -> bool {
        self.lead(lead, next) & 1 != 0
    }

    /// The lowest bit says what [`begins`](Self::begins) does.
    fn lead(&self, lead: u8, next: u8) -> u64 {
        self.leads[usize::from(lead)] >> (next % 64)
    }
}

/// The bytes of a character, and zeros.
fn encoded(c: char) -> [u8; 4] {
    let mut bytes = [0; 4];
    c.encode_utf8(&mut bytes);
    bytes
}

/// The characters that one is decomposed into. The longest has 18 characters.
#[derive(Default, PartialEq)]
struct Parts {
    count: usize,
    parts: [char; 18],
}

impl Parts {
    fn push(&mut self, part: char) {
        self.parts[self.count] = part;
        self.count += 1;
    }

    /// Whether it is the character itself.
    fn is(&self, c: char) -> bool {
        self.count == 1 && self.parts[0] == c
    }
}

/// Returns whether a character may occur in a normal text, but "yes" for "maybe". In a composed form, reports the
/// character that completes it where it is composed.
fn quick(c: char, form: Form, joining: &mut Vec<char>) -> Quick {
    let mut canonical = Parts::default();
    decompose_canonical(c, |part| canonical.push(part));
    let compatible = || {
        let mut parts = Parts::default();
        decompose_compatible(c, |part| parts.push(part));
        parts
    };
    let stays = match form {
        Form::Nfd => canonical.is(c),
        Form::Nfkd => compatible().is(c),
        Form::Nfc | Form::Nfkc => {
            let is_composed = canonical.is(c) || std::iter::once(c).nfc().map(|(c, _)| c).eq([c]);
            if is_composed && canonical.count > 1 {
                joining.push(canonical.parts[canonical.count - 1]);
            }
            is_composed && (form == Form::Nfc || canonical == compatible())
        }
    };
    if stays { Quick::Yes } else { Quick::No }
}

#[cfg(test)]
mod tests {
    use unicode_normalization_alignments::{
        IsNormalized, is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick,
    };

    use super::*;

    const FORMS: [Form; 4] = [Form::Nfc, Form::Nfd, Form::Nfkc, Form::Nfkd];

    fn normal(c: char, form: Form) -> String {
        let alone = std::iter::once(c);
        match form {
            Form::Nfc => alone.nfc().map(|(c, _)| c).collect(),
            Form::Nfd => alone.nfd().map(|(c, _)| c).collect(),
            Form::Nfkc => alone.nfkc().map(|(c, _)| c).collect(),
            Form::Nfkd => alone.nfkd().map(|(c, _)| c).collect(),
        }
    }

    /// The class by the library's own tables.
    fn expected(c: char, form: Form) -> Class {
        let alone = std::iter::once(c);
        let quick = match form {
            Form::Nfc => is_nfc_quick(alone),
            Form::Nfd => is_nfd_quick(alone),
            Form::Nfkc => is_nfkc_quick(alone),
            Form::Nfkd => is_nfkd_quick(alone),
        };
        let quick = match quick {
            IsNormalized::Yes => Quick::Yes,
            IsNormalized::Maybe => Quick::Maybe,
            IsNormalized::No => Quick::No,
        };
        let order = canonical_combining_class(c);
        Class { quick, order }
    }

    #[test]
    fn classes_are_what_the_forms_do() {
        for form in FORMS {
            let table = Table::new(form);
            for c in '\0'..=char::MAX {
                let class = table.class(c);
                assert_eq!(class, expected(c, form), "{c:?} {form:?}");
                let stays = normal(c, form) == c.to_string();
                assert_eq!(class.quick == Quick::No, !stays, "{c:?} {form:?}");
                let [lead, next, ..] = encoded(c);
                assert!(class == Class::ORDINARY || table.begins(lead, next));
                assert_eq!(
                    table.skip_normal(&c.to_string(), 0) == 0,
                    class.quick != Quick::Yes
                );
            }
        }
    }

    #[test]
    fn ordinary_characters_begin_with_ordinary_parts() {
        let (composed, decomposed) = (Table::new(Form::Nfc), Table::new(Form::Nfkc));
        for c in '\0'..=char::MAX {
            for table in [&composed, &decomposed] {
                let first = normal(c, Form::Nfd).chars().next().expect("a part");
                let is_ordinary = table.class(c) == Class::ORDINARY;
                assert!(
                    !is_ordinary || table.class(first) == Class::ORDINARY,
                    "{c:?}"
                );
            }
        }
    }

    #[test]
    fn characters_below_the_marks_are_composed() {
        let table = Table::new(Form::Nfc);
        for c in '\0'..'\u{300}' {
            assert_eq!(table.class(c), Class::ORDINARY);
        }
        // Of characters of two bytes, both say which they are; Han and nearly all Hangul are passed by two bytes, too.
        let begins = |c: char| {
            let [lead, next, ..] = encoded(c);
            table.begins(lead, next)
        };
        for c in '\0'..'\u{800}' {
            assert_eq!(begins(c), table.class(c) != Class::ORDINARY, "{c:?}");
        }
        assert!(!('\u{4E00}'..'\u{A000}').any(begins));
        assert!(!('\u{AC00}'..'\u{D7A4}').any(begins));
    }
}
