//! The native families, piece by piece or window by window, as fast as the machine allows.

#![expect(
    clippy::inline_always,
    reason = "compiled anew for each tier, with its instructions"
)]

use std::ops::Range;
use std::sync::OnceLock;

#[cfg(target_arch = "x86_64")]
use super::avx2;
use super::masks::{self, Masks, OVERHANG, WINDOW};
use super::pattern::Family;
use super::window::{self, Starts};
use super::{CHUNK, CHUNK_BYTES};

/// Other machines do not have this tier.
#[cfg(not(target_arch = "x86_64"))]
mod avx2 {
    use std::ops::Range;

    use super::Family;

    pub(super) fn by_windows(
        _: Family,
        _: &[u8],
        _: &mut usize,
        _: &mut Vec<Range<usize>>,
    ) -> bool {
        false
    }

    pub(super) fn available() -> bool {
        false
    }
}

/// How native splitting is done. All tiers give the same pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Character by character: the arbiter of the others.
    Scanner,
    /// By windows, in plain code.
    Plain,
    /// By windows, with AVX2.
    Avx2,
}

impl Tier {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Scanner, Self::Plain, Self::Avx2];

    /// Its name in the environment variable.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scanner => "scanner",
            Self::Plain => "plain",
            Self::Avx2 => "avx2",
        }
    }

    /// Whether this machine can run it.
    pub fn available(self) -> bool {
        self != Self::Avx2 || avx2::available()
    }

    /// The tier that the environment variable `BYTEMILL_TIER` names, if this machine has it; else its fastest.
    pub fn current() -> Self {
        static CURRENT: OnceLock<Tier> = OnceLock::new();
        *CURRENT.get_or_init(|| {
            let wanted = std::env::var("BYTEMILL_TIER").ok();
            let named = Self::ALL
                .into_iter()
                .find(|tier| wanted.as_deref() == Some(tier.name()));
            let available = named.filter(|tier| tier.available());
            available.unwrap_or(if avx2::available() {
                Self::Avx2
            } else {
                Self::Plain
            })
        })
    }
}

/// Adds the pieces of `text` from `place` on to `chunk`, some hundred at a time, and moves `place` past them.
pub(super) fn fill(
    family: Family,
    tier: Tier,
    text: &[u8],
    place: &mut usize,
    chunk: &mut Vec<Range<usize>>,
) {
    match tier {
        Tier::Scanner => by_scanner(family, text, place, chunk),
        Tier::Avx2 if avx2::by_windows(family, text, place, chunk) => {}
        Tier::Avx2 | Tier::Plain => by_windows(family, text, place, chunk, masks::ascii_masks),
    }
}

fn by_scanner(family: Family, text: &[u8], place: &mut usize, chunk: &mut Vec<Range<usize>>) {
    let most = place.saturating_add(CHUNK_BYTES).min(text.len());
    while *place < most && chunk.len() < CHUNK {
        let end = family.piece_end(text, *place);
        chunk.push(*place..end);
        *place = end;
    }
}

/// As [`fill`], window by window, `ascii_masks` being the tier's.
#[inline(always)]
pub(super) fn by_windows(
    family: Family,
    text: &[u8],
    place: &mut usize,
    chunk: &mut Vec<Range<usize>>,
    ascii_masks: impl Fn(&[u8; WINDOW]) -> Masks,
) {
    // One loop for each family, so that each is compiled for itself.
    match family {
        Family::R50k(r50k) => windows(
            text,
            place,
            chunk,
            ascii_masks,
            |masks, place| window::r50k(masks, text, place, r50k.contractions),
            |place| r50k.piece_end(text, place),
        ),
        Family::Cl100k(cl100k) => windows(
            text,
            place,
            chunk,
            ascii_masks,
            |masks, place| {
                window::cl100k(
                    masks,
                    text,
                    place,
                    cl100k.contractions,
                    cl100k.longest_number,
                )
            },
            |place| cl100k.piece_end(text, place),
        ),
        Family::O200k(o200k) => windows(
            text,
            place,
            chunk,
            ascii_masks,
            |masks, place| {
                window::o200k(masks, text, place, o200k.contractions, o200k.longest_number)
            },
            |place| o200k.piece_end(text, place),
        ),
    }
}

#[inline(always)]
fn windows(
    text: &[u8],
    place: &mut usize,
    chunk: &mut Vec<Range<usize>>,
    ascii_masks: impl Fn(&[u8; WINDOW]) -> Masks,
    starts: impl Fn(&Masks, usize) -> Starts,
    piece_end: impl Fn(usize) -> usize,
) {
    let most = place.saturating_add(CHUNK_BYTES).min(text.len());
    while *place < most && chunk.len() < CHUNK {
        let window = text
            .get(*place..)
            .and_then(<[u8]>::first_chunk::<{ WINDOW + OVERHANG }>);
        let further = match window {
            Some(window) => {
                let mut masks = window.first_chunk().map(&ascii_masks).unwrap_or_default();
                if masks.high != 0 {
                    masks.add_high(window);
                }
                starts(&masks, *place).further()
            }
            // The end of the text has rules of its own.
            None => 0,
        };
        if further == 0 {
            let end = piece_end(*place);
            chunk.push(*place..end);
            *place = end;
            continue;
        }
        // Storing the ends first and the pieces in a second loop was a tenth slower.
        let base = *place;
        let mut rest = further;
        while rest != 0 {
            let end = base + rest.trailing_zeros() as usize;
            chunk.push(*place..end);
            *place = end;
            rest &= rest - 1;
        }
    }
}
