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
    /// Whether a byte begins a character that is not ordinary.
    leads: [bool; 256],
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
            leads: [false; 256],
        };
        let (pages, _) = classes.as_chunks::<PAGE>();
        for (start, page) in (0..).step_by(PAGE).zip(pages) {
            let known = table.pages.iter().position(|known| known == page);
            let place = known.unwrap_or_else(|| {
                table.pages.push(*page);
                table.pages.len() - 1
            });
            // All characters of a page begin with the same byte, or all are ASCII.
            let first = char::from_u32(start).filter(|_| place > 0);
            if let Some(first) = first {
                let lead = first.encode_utf8(&mut [0; 4]).as_bytes()[0];
                table.leads[usize::from(lead)] = true;
            }
            let place = u16::try_from(place).expect("there are some thousand pages");
            table.index.push(place);
        }
        table
    }

    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.index) + size_of_val(&*self.pages)
    }

    pub(super) fn class(&self, c: char) -> Class {
        let c = c as usize;
        match self.index.get(c / PAGE) {
            Some(&page) => self.pages[usize::from(page)][c % PAGE],
            None => Class::ORDINARY,
        }
    }

    /// Returns the end of a run of characters that are ordinary by their first bytes, the first of which begins at `at`.
    pub(super) fn skip_ordinary(&self, bytes: &[u8], mut at: usize) -> usize {
        // Bytes that continue a character begin none, so it does not matter where a block begins.
        while let Some(block) = bytes[at..].first_chunk::<16>()
            && (block.is_ascii() || !block.iter().fold(false, |any, &b| any | self.begins(b)))
        {
            at += block.len();
        }
        let rest = bytes[at..].iter().position(|&byte| self.begins(byte));
        rest.map_or(bytes.len(), |rest| at + rest)
    }

    /// Whether a byte begins characters that are not all ordinary.
    pub(super) fn begins(&self, byte: u8) -> bool {
        self.leads[usize::from(byte)]
    }
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
                let lead = c.encode_utf8(&mut [0; 4]).as_bytes()[0];
                assert!(class == Class::ORDINARY || table.begins(lead));
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
        assert!((0..0xCC).all(|byte| !table.begins(byte)));
        // Han characters and nearly all Cyrillic ones are passed by their first byte.
        assert!(
            (0xE4..=0xE9)
                .chain([0xD0, 0xD1])
                .all(|byte| !table.begins(byte))
        );
    }
}
