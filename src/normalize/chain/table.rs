//! The classes of characters: where a normal form may change them.

use unicode_normalization_alignments::UnicodeNormalization;
use unicode_normalization_alignments::char::{
    canonical_combining_class, compose, decompose_canonical, decompose_compatible,
};

use std::ops::Range;
use std::sync::OnceLock;

use crate::util::lazy::get_or_init_nonblocking;

use super::windows::{Groups, Others, WINDOW, Window, group_of, last, leads};

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

/// Bytes that are passed together if nothing in them needs a look.
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
    /// By the last six bits of the first byte and of the second, which third bytes, by their last six bits, begin
    /// characters with both that are not all ordinary; all or none for characters of two bytes.
    rows: Box<[u64; 64 * 64]>,
    groups: Groups,
    /// The characters that are composed with some that may follow them, in order; none where the form only decomposes.
    starters: Vec<char>,
}

impl Table {
    /// Returns the table of a form, which is made once a process.
    pub(super) fn of_form(form: Form) -> &'static Self {
        static TABLES: [OnceLock<Table>; 4] = [const { OnceLock::new() }; 4];
        get_or_init_nonblocking(&TABLES[form as usize], || Self::new(form))
    }

    pub(super) fn new(form: Form) -> Self {
        let mut classes = vec![Class::ORDINARY; RANGES[5].end as usize];
        let (mut starters, mut joining) = (Vec::new(), Vec::new());
        for c in RANGES.into_iter().flatten().filter_map(char::from_u32) {
            let mut report = |starter, last| {
                starters.push(starter);
                joining.push(last);
            };
            classes[c as usize] = Class {
                quick: quick(c, form, &mut report),
                order: canonical_combining_class(c),
            };
        }
        for c in joining {
            classes[c as usize].quick = Quick::Maybe;
        }
        starters.sort_unstable();
        starters.dedup();
        Self {
            starters,
            ..Self::of(&classes)
        }
    }

    fn of(classes: &[Class]) -> Self {
        let mut table = Self {
            index: Vec::new(),
            pages: vec![[Class::ORDINARY; PAGE]],
            leads: Box::new([0; 256]),
            rows: vec![0; 64 * 64].try_into().expect("64 times 64"),
            groups: Groups::new(),
            starters: Vec::new(),
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
                let [lead, next, third, _] = encoded(c);
                table.leads[usize::from(lead)] |= 1 << (next % 64);
                table.rows[row(lead, next)] |= match c.len_utf8() {
                    1 | 2 => u64::MAX,
                    _ => 1 << (third % 64),
                };
                if c.len_utf8() == 3 {
                    let is_changing = page[c as usize % PAGE].quick != Quick::Yes;
                    table.groups.add([lead, next, third], is_changing);
                }
            }
            let place = u16::try_from(place).expect("there are some thousand pages");
            table.index.push(place);
        }
        table
    }

    pub(super) fn class(&self, c: char) -> Class {
        let c = c as usize;
        match self.index.get(c / PAGE) {
            Some(&page) => self.pages[usize::from(page)][c % PAGE],
            None => Class::ORDINARY,
        }
    }

    /// Returns whether a character is composed with some that may follow it.
    pub(super) fn is_starter(&self, c: char) -> bool {
        self.starters.binary_search(&c).is_ok()
    }

    /// Returns the first offset from `at` on, which is that of a character, of one that may not occur in normal text after
    /// those that are passed; none before `at` is a mark.
    ///
    /// Blocks are passed by the first two bytes of their characters, without a branch for each: with one, the check of
    /// Arabic text took four times as long. In text of Devanagari or Thai these bytes say little, so the characters of a
    /// window are classified together, and only those in doubt have a branch each. With one for each byte, the check of Hindi
    /// took 32 instructions a byte.
    pub(super) fn skip_normal(&self, text: &str, mut at: usize) -> usize {
        let bytes = text.as_bytes();
        // Where the last character that is not ordinary ends.
        let mut end = at;
        // How characters begin in a script in which many are not ordinary.
        let mut script = None;
        loop {
            // Bytes that continue a character begin none, so it does not matter where a block begins.
            while script.is_none()
                && let Some(block) = bytes[at..].first_chunk::<{ BLOCK + 1 }>()
                && (block[..BLOCK].is_ascii() || !self.begins_in(block))
            {
                at += BLOCK;
            }
            let padded;
            let window = if let Some(window) = bytes[at..].first_chunk() {
                window
            } else {
                padded = last(&bytes[at..]);
                &padded
            };
            let classified = script.and_then(|begin| self.groups.classify(window, begin));
            if let Some(Others { all, changing }) = classified {
                // All are of three bytes. Of those beside each other, the later is in doubt.
                let behind = all << 3 | end.checked_sub(at).map_or(0, bit);
                let mut in_doubt = changing | all & behind;
                while in_doubt != 0 {
                    let place = in_doubt.trailing_zeros() as usize;
                    in_doubt &= in_doubt - 1;
                    if !self.stays(text, at + place, behind & bit(place) != 0) {
                        return at + place;
                    }
                }
                if let Some(last) = all.checked_ilog2() {
                    end = at + last as usize + 3;
                }
            } else {
                let leads = leads(window);
                let mut others = self.others(window, leads);
                script = group_of(window, leads).filter(|_| others != 0);
                while others != 0 {
                    let here = at + others.trailing_zeros() as usize;
                    others &= others - 1;
                    if !self.stays(text, here, here == end) {
                        return here;
                    }
                    end = here + text[here..].chars().next().map_or(1, char::len_utf8);
                }
            }
            at += WINDOW;
            if at >= bytes.len() {
                return bytes.len();
            }
        }
    }

    /// Returns whether a character that is not ordinary occurs in normal text where it stands, as far as what stands
    /// before it says; false if only the whole segment tells. `is_behind` says that the one before it is not ordinary
    /// either.
    fn stays(&self, text: &str, here: usize, is_behind: bool) -> bool {
        let c = text[here..].chars().next();
        let c = c.expect("a character begins here");
        let before = text[..here].chars().next_back();
        let Class { quick, order } = self.class(c);
        match quick {
            Quick::Yes => {
                let order_before = |before| self.class(before).order;
                !is_behind
                    || order == 0
                    || before.is_none_or(|before| order >= order_before(before))
            }
            Quick::Maybe => {
                // It may come before one of the marks that the starter is composed of.
                let joins =
                    |starter| compose(starter, c).is_some() || order != 0 && is_composed(starter);
                !is_behind && !before.is_some_and(joins)
            }
            Quick::No => false,
        }
    }

    #[cfg(test)]
    pub(super) fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Returns which bytes of a window begin a character that is not ordinary. One of four bytes may be another that has
    /// the same first three.
    fn others(&self, window: &Window, mut leads: u64) -> u64 {
        let mut others = 0;
        while leads != 0 {
            let at = leads.trailing_zeros() as usize % WINDOW;
            leads &= leads - 1;
            let row = self.rows[row(window[at], window[at + 1])];
            others |= (row >> (window[at + 2] % 64) & 1) << at;
        }
        others
    }

    /// Returns whether characters that are not all ordinary begin in a block, before its last byte.
    fn begins_in(&self, block: &[u8; BLOCK + 1]) -> bool {
        let pairs = block.iter().zip(&block[1..]);
        let any = pairs.fold(0, |any, (&lead, &next)| any | self.lead(lead, next));
        any & 1 != 0
    }

    /// The lowest bit says whether two bytes begin characters that are not all ordinary.
    fn lead(&self, lead: u8, next: u8) -> u64 {
        self.leads[usize::from(lead)] >> (next % 64)
    }
}

/// The index of the row of two bytes.
fn row(lead: u8, next: u8) -> usize {
    usize::from(lead % 64) << 6 | usize::from(next % 64)
}

/// The bit of a place in a window; 0 behind it.
fn bit(place: usize) -> u64 {
    if place < WINDOW { 1 << place } else { 0 }
}

/// Returns whether a character has a canonical decomposition.
pub(super) fn is_composed(c: char) -> bool {
    let mut parts = 0;
    decompose_canonical(c, |_| parts += 1);
    parts > 1
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

    fn parts(&self) -> &[char] {
        &self.parts[..self.count]
    }

    /// Returns whether it is the character itself.
    fn is(&self, c: char) -> bool {
        self.parts() == [c]
    }
}

/// Returns whether a character may occur in a normal text, but "yes" for "maybe". In a composed form, reports the two
/// characters that it is composed of.
fn quick(c: char, form: Form, report: &mut impl FnMut(char, char)) -> Quick {
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
            if is_composed && let [first, parts @ .., last] = canonical.parts() {
                let starter = parts.iter().try_fold(*first, |c, &part| compose(c, part));
                report(starter.expect("its first parts are composed"), *last);
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
                let is_ordinary = class == Class::ORDINARY;
                assert!(is_ordinary || table.lead(lead, next) & 1 != 0);
                let window = last(c.to_string().as_bytes());
                let others = table.others(&window, leads(&window));
                assert!(others == u64::from(!is_ordinary) || is_ordinary && c > '\u{FFFF}');
                assert_eq!(
                    table.skip_normal(&c.to_string(), 0) == 0,
                    class.quick != Quick::Yes
                );
            }
        }
    }

    #[test]
    fn starters_are_composed_with_what_may_follow() {
        for form in FORMS {
            let table = Table::new(form);
            let all = || '\0'..=char::MAX;
            let joining: Vec<char> = all()
                .filter(|&c| table.class(c).quick == Quick::Maybe)
                .collect();
            for c in all() {
                let is_composed = joining.iter().any(|&next| compose(c, next).is_some());
                assert_eq!(table.is_starter(c), is_composed, "{c:?} {form:?}");
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
            table.lead(lead, next) & 1 != 0
        };
        for c in '\0'..'\u{800}' {
            assert_eq!(begins(c), table.class(c) != Class::ORDINARY, "{c:?}");
        }
        assert!(!('\u{4E00}'..'\u{A000}').any(begins));
        assert!(!('\u{AC00}'..'\u{D7A4}').any(begins));
    }
}
