//! Nothing is read before the first byte of an input or after its last: inputs are adjacent to inaccessible
//! pages, so that one byte too many terminates the process.
#![allow(unsafe_code)]

use std::error::Error;
use std::io;
use std::ptr::{NonNull, null_mut, with_exposed_provenance_mut};
use std::slice;

use bytemill::builtin::Builtin;
use bytemill::documents::json_lines;
use bytemill::encode::Encoder;
use bytemill::encode::batch::{Batch, Ragged};
use bytemill::encode::special::{Allowed, Policy, SpecialTokens};
use bytemill::merge;
use bytemill::split::Splitter;
use bytemill::token::TokenId;
use bytemill::train::counting::{Item, PieceCounts};
use bytemill::util::text::RawText;
use bytemill::util::tier::Tier;

use crate::spellings::{self, SPELLERS};
use crate::support::{Random, TestResult, pieces};

/// Lengths of inputs in bytes: several blocks, and a partial one.
const LENGTHS: usize = 300;

/// A multiple of the page size of all supported machines.
const PAGE: usize = 1 << 16;

/// Memory between inaccessible pages.
struct Fenced {
    start: NonNull<u8>,
}

impl Fenced {
    fn new() -> io::Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping, which nothing else refers to.
        let start = unsafe { libc::mmap(null_mut(), 3 * PAGE, libc::PROT_NONE, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let inside = with_exposed_provenance_mut(start.expose_provenance() + PAGE);
        // SAFETY: the page in the middle of this mapping.
        if unsafe { libc::mprotect(inside, PAGE, libc::PROT_READ | libc::PROT_WRITE) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(inside.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start })
    }

    /// Returns a copy of `items` that ends where the page ends, or begins where it begins.
    fn holding<T: Copy>(&mut self, items: &[T], at_end: bool) -> &[T] {
        let size = size_of_val(items);
        assert!(size <= PAGE && PAGE.is_multiple_of(align_of::<T>()));
        let offset = if at_end { PAGE - size } else { 0 };
        // SAFETY: the start is inside the page and aligned, since sizes are multiples of alignments; nothing
        // else writes there while the result is borrowed from `self`.
        unsafe {
            let start = self.start.add(offset).cast::<T>();
            start.copy_from_nonoverlapping(NonNull::from(items).cast(), items.len());
            slice::from_raw_parts(start.as_ptr(), items.len())
        }
    }
}

impl Drop for Fenced {
    fn drop(&mut self) {
        // SAFETY: unmaps the mapping of `new`, which is no longer borrowed.
        let _ = unsafe { libc::munmap(self.start.as_ptr().sub(PAGE).cast(), 3 * PAGE) };
    }
}

/// Returns a difficult text of that many bytes, with the most difficult part at its end.
fn text_of(random: &mut Random, length: usize) -> String {
    let hard = random.text(length);
    let from = hard.len().saturating_sub(length);
    let from = (from..=hard.len()).find(|&start| hard.is_char_boundary(start));
    let hard = &hard[from.unwrap_or(0)..];
    format!("{}{hard}", "a".repeat(length - hard.len()))
}

/// Runs the same work on a text in fenced memory, at both ends of it.
fn fenced_text(fenced: &mut Fenced, text: &str, work: impl Fn(&str) -> TestResult) -> TestResult {
    for at_end in [true, false] {
        work(str::from_utf8(fenced.holding(text.as_bytes(), at_end))?)?;
    }
    Ok(())
}

/// Returns an encoder on each tier, for each native family. The first of a family is the reference.
fn encoders() -> Result<Vec<Vec<Encoder>>, Box<dyn Error>> {
    let special = || SpecialTokens::new(vec![("<|endoftext|>".to_owned(), 250_000)]);
    let tiers = || Tier::ALL.into_iter().filter(|tier| tier.available());
    [Builtin::R50k, Builtin::Cl100k, Builtin::O200k]
        .into_iter()
        .zip(SPELLERS)
        .map(|(builtin, speller)| {
            let family = spellings::published(speller).family;
            tiers()
                .map(|tier| {
                    let splitter = Splitter::Native(family, tier);
                    Ok(Encoder::new(builtin.vocabulary()?, special()?, splitter))
                })
                .collect()
        })
        .collect()
}

#[test]
fn texts_of_every_length_on_every_tier() -> TestResult {
    let (mut random, mut fenced) = (Random::new(1), Fenced::new()?);
    for encoders in encoders()? {
        for length in 0..=LENGTHS {
            let text = text_of(&mut random, length);
            let expected_pieces = pieces(encoders[0].splitter(), &text)?;
            let mut expected = Vec::new();
            encoders[0].encode(&text, &Allowed::All, &mut expected)?;
            for encoder in &encoders {
                fenced_text(&mut fenced, &text, |text| {
                    assert_eq!(pieces(encoder.splitter(), text)?, expected_pieces);
                    // Cold, then from the cache.
                    for _ in 0..2 {
                        let mut ids = Vec::new();
                        encoder.encode(text, &Allowed::All, &mut ids)?;
                        assert_eq!(ids, expected, "{:?}: {text:?}", encoder.splitter());
                    }
                    let mut ordinary = Vec::new();
                    encoder.encode_ordinary(text, &mut ordinary)?;
                    assert_eq!(encoder.count(text, &Allowed::Nothing)?, ordinary.len());
                    Ok(())
                })?;
            }
        }
    }
    Ok(())
}

#[test]
fn ids_of_every_number() -> TestResult {
    let (mut random, mut fenced) = (Random::new(2), Fenced::new()?);
    for encoders in encoders()? {
        let encoder = &encoders[0];
        let known: Vec<TokenId> = encoder.vocabulary().ids().collect();
        // Until ids are decoded by rows, and then.
        for round in 0..2 {
            for length in 0..=LENGTHS {
                let ids: Vec<TokenId> = (0..length).map(|_| *random.pick(&known)).collect();
                let expected: Vec<u8> = ids
                    .iter()
                    .flat_map(|&id| encoder.token_bytes(id).unwrap_or_default())
                    .copied()
                    .collect();
                for at_end in [true, false] {
                    let ids = fenced.holding(&ids, at_end);
                    assert_eq!(encoder.decode(ids)?, expected, "round {round}");
                }
            }
            encoder.decode(&known)?;
        }
    }
    Ok(())
}

#[test]
fn bytes_pieces_and_lines_of_every_length() -> TestResult {
    let (mut random, mut fenced) = (Random::new(3), Fenced::new()?);
    let encoders = encoders()?;
    let batch = Batch::new(
        Policy {
            allowed: Allowed::Nothing,
            disallowed: Allowed::Nothing.into(),
        },
        1,
    );
    for length in 0..=LENGTHS {
        let text = text_of(&mut random, length);
        let mut bytes = text.clone().into_bytes();
        if let Some(last) = bytes.last_mut() {
            *last = 0xE4; // The first of three.
        }
        let line = format!("{{\"text\": \"{}\"}}", "é".repeat(length / 2));
        for at_end in [true, false] {
            for encoder in encoders
                .iter()
                .map(|encoders| &encoders[encoders.len() - 1])
            {
                let (mut expected, mut ids) = (Vec::new(), Vec::new());
                encoder.encode_bytes(&bytes, &mut expected)?;
                let inside = fenced.holding(&bytes, at_end);
                encoder.encode_bytes(inside, &mut ids)?;
                assert_eq!(ids, expected, "{bytes:?}");
                let ragged: Ragged<u32> = encoder.encode_batch(&[RawText(inside)], &batch)?;
                assert_eq!(ragged.ids, expected, "{bytes:?}");

                let vocabulary = encoder.vocabulary();
                let piece = fenced.holding(text.as_bytes(), at_end);
                let (mut expected, mut ids) = (Vec::new(), Vec::new());
                merge::encode_piece(vocabulary, text.as_bytes(), &mut expected)?;
                merge::encode_piece(vocabulary, piece, &mut ids)?;
                assert_eq!(ids, expected, "{text:?}");
            }
            let inside = fenced.holding(&bytes, at_end);
            assert_eq!(
                json_lines::find_invalid_utf8(inside),
                json_lines::find_invalid_utf8(&bytes)
            );
            assert_eq!(
                json_lines::line_offsets(inside),
                json_lines::line_offsets(&bytes)
            );
            let inside = fenced.holding(line.as_bytes(), at_end);
            assert_eq!(
                json_lines::fields(inside, &["text"], 1)?.size(),
                length / 2 * 2
            );

            let inside = fenced.holding(text.as_bytes(), at_end);
            let mut counts = PieceCounts::new();
            let splitter = encoders[2][0].splitter();
            let mut items = Vec::new();
            Item::split_bytes(inside, &mut items);
            counts.add(&items, Some(splitter), &SpecialTokens::default(), 1)?;
            let expected = pieces(splitter, &text)?.len();
            assert_eq!(usize::try_from(counts.total())?, expected);
        }
    }
    Ok(())
}
