//! Truncation and offsets: never too many ids, none lost, the longest part that fits.

use std::error::Error;
use std::ops::Range;

use bytemill::builtin::Builtin;
use bytemill::checkpoint::RunToEnd;
use bytemill::encode::Encoder;
use bytemill::encode::special::{Allowed, SpecialTokens};
use bytemill::encode::truncate::Keep;
use bytemill::error::EncodeError;
use bytemill::split::Splitter;

use crate::support::{CL100K, MONOTONOUS, Random, TestResult};

fn encoder(pattern: &str) -> Result<Encoder, Box<dyn Error>> {
    Ok(Encoder::new(
        Builtin::Cl100k.vocabulary()?,
        SpecialTokens::new(vec![("<|x|>".to_owned(), 100_300)])?,
        Splitter::new(pattern)?,
    ))
}

/// Every cut of `text` between two characters, and how many ids the side to keep has.
fn all_parts(
    encoder: &Encoder,
    text: &str,
    keep: Keep,
) -> Result<Vec<(usize, usize)>, EncodeError> {
    let cuts = text.char_indices().map(|(offset, _)| offset);
    let cuts = cuts.chain([text.len()]);
    let counted = cuts.map(|cut| {
        let part = match keep {
            Keep::Start => &text[..cut],
            Keep::End => &text[cut..],
        };
        Ok((cut, encoder.count(part, &RunToEnd)?))
    });
    counted.collect()
}

#[test]
fn the_longest_part_is_kept() -> TestResult {
    for pattern in [CL100K, r"\w+|\s", r"(?s).+"] {
        let encoder = encoder(pattern)?;
        for seed in 0..30 {
            let text = Random::new(seed).text(12);
            for keep in [Keep::Start, Keep::End] {
                let all = all_parts(&encoder, &text, keep)?;
                for limit in [0, 1, 2, 3, 5, 8, 13, 21] {
                    let fitting = all.iter().filter(|(_, count)| *count <= limit);
                    let longest = match keep {
                        Keep::Start => fitting.max(),
                        Keep::End => fitting.min(),
                    };
                    let part = encoder.truncate(&text, limit, keep, &RunToEnd)?;
                    assert!(part.count <= limit, "{text:?}");
                    assert!(all.contains(&(part.cut, part.count)), "{text:?}");
                    // A single long piece may be cut shorter than possible.
                    if pattern == CL100K && text.len() < 200 {
                        assert_eq!(
                            Some(&(part.cut, part.count)),
                            longest,
                            "{text:?} to {limit}"
                        );
                    }
                }
            }
        }
    }
    Ok(())
}

fn assert_parts(
    encoder: &Encoder,
    text: &str,
    limit: usize,
    overlap: usize,
) -> Result<Vec<Range<usize>>, EncodeError> {
    let parts = encoder.parts(text, limit, overlap, &RunToEnd)?;
    let mut last = 0;
    for part in &parts {
        assert!(part.start <= last && last < part.end, "{parts:?}");
        let part_of_text = &text[part.clone()];
        assert!(encoder.count(part_of_text, &RunToEnd)? <= limit);
        assert!(encoder.count(&text[part.start..last], &RunToEnd)? <= overlap);
        last = part.end;
    }
    assert_eq!(last, text.len());
    Ok(parts)
}

#[test]
fn parts_are_the_text() -> TestResult {
    for pattern in [CL100K, r"\w+|\s", r"(?s).+"] {
        let encoder = encoder(pattern)?;
        for seed in 0..30 {
            let text = Random::new(seed).text(60);
            for (limit, overlap) in [(5, 0), (5, 4), (40, 0), (40, 13), (100_000, 1)] {
                assert_parts(&encoder, &text, limit, overlap)?;
            }
        }
        for (_, writer) in MONOTONOUS {
            assert_parts(&encoder, &writer(20_000), 100, 0)?;
            assert_parts(&encoder, &writer(20_000), 1_000, 100)?;
        }
    }
    Ok(())
}

#[test]
fn a_character_that_does_not_fit() -> TestResult {
    let encoder = encoder(CL100K)?;
    let outcome = encoder.parts("中文 🧿", 2, 0, &RunToEnd);
    assert!(
        matches!(
            outcome,
            Err(EncodeError::NoRoom {
                character: '🧿',
                start: 3,
                count: 3,
                limit: 2
            })
        ),
        "{outcome:?}"
    );
    assert!(encoder.parts("", 1, 0, &RunToEnd)?.is_empty());
    Ok(())
}

#[test]
fn offsets_of_ids() -> TestResult {
    let encoder = encoder(r"\w+")?;
    let text = "  é  ab-<|x|> 中 abb";
    let mut spans = encoder.encode_with_offsets(text, &Allowed::All, &RunToEnd)?;
    let parts: Vec<&[u8]> = spans
        .ids
        .iter()
        .filter_map(|&id| encoder.token_bytes(id))
        .collect();
    let found = spans.starts.iter().zip(&spans.ends);
    let found: Vec<&[u8]> = found
        .map(|(&start, &end)| &text.as_bytes()[start..end])
        .collect();
    assert_eq!(found, parts);
    assert_eq!(spans.ids.len(), parts.len());
    spans.to_characters(text);
    let characters: Vec<char> = text.chars().collect();
    for ((start, end), part) in spans.starts.into_iter().zip(spans.ends).zip(parts) {
        let around: String = characters[start..end].iter().collect();
        assert!(
            around
                .as_bytes()
                .windows(part.len())
                .any(|window| window == part)
        );
    }
    Ok(())
}
