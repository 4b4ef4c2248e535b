//! Windows of 64 bytes of a text, whose characters are classified together.
//!
//! Most texts in scripts with marks, such as Devanagari or Thai, have nothing in a window but ASCII and characters of the
//! same 512: those of three bytes that have the first byte and three bits of the second in common, a **group**. One table of
//! 64 bytes then knows them all: it has a byte for each third byte, and in that a bit for each second one.

#[cfg(vectors)]
mod tiers;

use crate::util::tier::Tier;
use crate::util::vector::Vector;

/// Bytes of a window, and behind them those of its last character.
pub(super) const WINDOW: usize = 64;
const OVERHANG: usize = 3;

/// A window of a text.
pub(super) type Window = [u8; WINDOW + OVERHANG];

/// Returns the window of the last bytes of a text.
pub(super) fn last(bytes: &[u8]) -> Window {
    let mut window = [0; WINDOW + OVERHANG];
    window[..bytes.len()].copy_from_slice(bytes);
    window
}

/// Returns which bytes of a window begin a character of several bytes: those whose first two bits are set.
pub(super) fn leads(window: &Window) -> u64 {
    const HIGHEST: u64 = 0x8080_8080_8080_8080;
    // Moves the lowest bit of each byte to the highest byte, in the order of the bytes.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (words, _) = window[..WINDOW].as_chunks::<8>();
    let words = words.iter().zip(0..).map(|(word, index)| {
        let word = u64::from_le_bytes(*word);
        let leads = (word & word << 1 & HIGHEST) >> 7;
        leads.wrapping_mul(GATHER) >> 56 << (8 * index)
    });
    words.sum()
}

/// Which bytes of a window begin characters that are not ordinary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Others {
    /// All.
    pub(super) all: u64,
    /// Those that may not occur wherever their combining class lets them.
    pub(super) changing: u64,
}

/// The characters of a group that are not ordinary: those of both members of [`Others`].
#[derive(Clone, Debug)]
pub(super) struct Group {
    all: [u8; 64],
    changing: [u8; 64],
}

/// The groups of all characters of three bytes.
#[derive(Debug)]
pub(super) struct Groups {
    groups: Vec<Group>,
    tier: Tier,
}

impl Groups {
    pub(super) fn new() -> Self {
        let group = Group {
            all: [0; 64],
            changing: [0; 64],
        };
        Self {
            groups: vec![group; 16 << 3],
            tier: Tier::current(),
        }
    }

    /// Adds a character of three bytes that is not ordinary.
    pub(super) fn add(&mut self, [lead, next, third]: [u8; 3], is_changing: bool) {
        let group = &mut self.groups[number(lead, next)];
        let (place, bit) = (usize::from(third % 64), 1 << (next % 8));
        group.all[place] |= bit;
        if is_changing {
            group.changing[place] |= bit;
        }
    }

    /// Classifies a window by the group of characters that begin with two bytes; `None` if there are others but ASCII, or the
    /// tier has no vectors.
    pub(super) fn classify(&self, window: &Window, begin: [u8; 2]) -> Option<Others> {
        self.classify_with(self.tier, window, begin)
    }

    #[cfg(vectors)]
    fn classify_with(&self, tier: Tier, window: &Window, begin: [u8; 2]) -> Option<Others> {
        let [lead, next] = begin;
        tiers::classify(tier, window, begin, &self.groups[number(lead, next)])
    }

    #[cfg(not(vectors))]
    fn classify_with(&self, _: Tier, _: &Window, _: [u8; 2]) -> Option<Others> {
        None
    }
}

/// Returns the first two bytes of the first character of several bytes in a window, if it has three of them.
pub(super) fn group_of(window: &Window, leads: u64) -> Option<[u8; 2]> {
    let first = leads.trailing_zeros() as usize;
    let begin = *window[first..].first_chunk()?;
    (begin[0] >> 4 == 0xE).then_some(begin)
}

/// The number of the group of two bytes.
fn number(lead: u8, next: u8) -> usize {
    usize::from(lead % 16) << 3 | usize::from(next >> 3 & 7)
}

/// Classifies a window by a group of characters that begin with `lead`, and then a byte that has three bits in common with
/// `next`. `None` if there are others but ASCII.
#[inline(always)]
pub(super) fn classify<V: Vector>(
    v: V,
    window: &Window,
    [lead, next]: [u8; 2],
    group: &Group,
) -> Option<Others> {
    const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    let [first, second, third] = [&window[..], &window[1..], &window[2..]];
    let (Some(first), Some(second), Some(third)) = (
        first.first_chunk(),
        second.first_chunk(),
        third.first_chunk(),
    ) else {
        unreachable!("a window has more than two bytes behind it");
    };
    let (first, second, third) = (v.load(first), v.load(second), v.load(third));
    let begins = v.equal(first, v.splat(lead));
    let goes_on = v.equal(v.and(second, v.splat(0xF8)), v.splat(next & 0xF8));
    let leads = v.bits(v.at_least(first, v.splat(0xC0)));
    if v.bits(v.both(begins, goes_on)) != leads {
        return None;
    }
    let bit = v.look_up_16(&BITS, v.and(second, v.splat(7)));
    let all = v.and(v.look_up_64(&group.all, third), bit);
    let changing = v.and(v.look_up_64(&group.changing, third), bit);
    Some(Others {
        all: v.bits(v.equal(all, bit)) & leads,
        changing: v.bits(v.equal(changing, bit)) & leads,
    })
}

#[cfg(test)]
mod tests {
    use super::super::table::{Class, Form, Quick, Table};
    use super::*;
    use crate::util::vector::portable::Portable;

    /// The tiers of this machine that have vectors.
    fn with_vectors() -> impl Iterator<Item = Tier> {
        let vectors = [Tier::Simd128, Tier::Avx2, Tier::Avx512];
        vectors.into_iter().filter(|tier| tier.available())
    }

    /// The whole characters of the first window of a text.
    fn first_window(text: &str) -> &[u8] {
        let end = (0..=WINDOW).rev().find(|&end| text.is_char_boundary(end));
        &text.as_bytes()[..end.expect("0 is a boundary")]
    }

    /// Every character of three bytes in a window with others of its group and ASCII, by every tier.
    #[test]
    fn windows_are_classified_as_their_characters_are() {
        for form in [Form::Nfc, Form::Nfkd] {
            let table = Table::new(form);
            let mut checked = 0;
            for c in ('\u{800}'..='\u{FFFF}').step_by(3) {
                let beside = |offset: u32| char::from_u32(u32::from(c) ^ offset).unwrap_or(c);
                let text: String = [
                    ' ',
                    c,
                    beside(1),
                    beside(0x40),
                    'a',
                    beside(7),
                    beside(0x85),
                    c,
                ]
                .iter()
                .cycle()
                .take(20)
                .collect();
                let window = last(first_window(&text));
                let (mut all, mut changing) = (0, 0);
                for (at, c) in text.char_indices().filter(|(at, _)| *at < WINDOW - 2) {
                    let class = table.class(c);
                    all |= u64::from(class != Class::ORDINARY) << at;
                    changing |= u64::from(class.quick != Quick::Yes) << at;
                }
                let expected = Some(Others { all, changing });
                let begin = group_of(&window, leads(&window)).expect("it has three bytes");
                let group = &table.groups().groups[number(begin[0], begin[1])];
                assert_eq!(
                    classify(Portable, &window, begin, group),
                    expected,
                    "{text:?}"
                );
                for tier in with_vectors() {
                    let found = table.groups().classify_with(tier, &window, begin);
                    assert_eq!(found, expected, "{tier:?} {text:?}");
                }
                checked += 1;
                // A character of another group is not taken for one of this.
                let mixed = format!("{c}{}", beside(0x200));
                let window = last(mixed.as_bytes());
                assert_eq!(classify(Portable, &window, begin, group), None);
                for tier in Tier::ALL {
                    let found = table.groups().classify_with(tier, &window, begin);
                    assert_eq!(found, None, "{tier:?} {mixed:?}");
                }
            }
            assert!(checked > 10_000);
        }
    }

    #[test]
    fn leads_are_those_of_characters() {
        let text = "a\u{e9}\u{915}\u{1F600}b\u{e48}".repeat(5);
        let window = last(first_window(&text));
        let expected = text
            .char_indices()
            .filter(|(at, c)| *at < WINDOW - 3 && !c.is_ascii());
        let expected = expected.fold(0, |bits, (at, _)| bits | 1_u64 << at);
        assert_eq!(leads(&window) & (u64::MAX >> 4), expected & (u64::MAX >> 4));
    }
}
