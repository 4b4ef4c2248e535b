//! Truncation and offsets: never too many ids, none lost, the longest part that fits.

use std::error::Error;
use std::ops::Range;

use bytemill::builtin::Builtin;
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

/// Special tokens of which one is the beginning of another, and one overlaps itself.
const SPECIAL: [&str; 4] = ["<|x|>", "<|x|><|y|>", "aba", " {}"];

/// Every cut of `text` between two characters, and how many ids the side to keep has. Allowed special tokens are not cut.
fn all_parts(
    encoder: &Encoder,
    text: &str,
    allowed: &Allowed,
    keep: Keep,
) -> Result<Vec<(usize, usize)>, EncodeError> {
    let cuts = text.char_indices().map(|(offset, _)| offset);
    let cuts = cuts.chain([text.len()]).filter(|&cut| {
        let tokens = SPECIAL
            .iter()
            .enumerate()
            .filter(|(index, _)| match allowed {
                Allowed::All => true,
                Allowed::Some(flags) => flags[*index],
                Allowed::Nothing => false,
            });
        !tokens
            .into_iter()
            .any(|(_, token)| is_inside(text, token, cut))
    });
    let counted = cuts.map(|cut| {
        let part = match keep {
            Keep::Start => &text[..cut],
            Keep::End => &text[cut..],
        };
        Ok((cut, encoder.count(part, allowed)?))
    });
    counted.collect()
}

/// Whether a cut is inside of an occurrence of a token.
fn is_inside(text: &str, token: &str, cut: usize) -> bool {
    (cut.saturating_sub(token.len() - 1)..cut)
        .any(|start| text.as_bytes()[start..].starts_with(token.as_bytes()))
}

#[test]
fn allowed_special_tokens_stay_whole() -> TestResult {
    let special = (100_300..)
        .zip(SPECIAL)
        .map(|(id, text)| (text.to_owned(), id));
    let special = SpecialTokens::new(special.collect())?;
    let some = special.allow(["<|x|>", "aba"]);
    let encoder = encoder(CL100K)?.with_special_tokens(special)?;
    let mut cut_at_tokens = 0;
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let mut text = String::new();
        for _ in 0..6 {
            text += &random.text(2);
            text += SPECIAL[random.below(SPECIAL.len())];
        }
        let has_long_run =
            (text.as_bytes().windows(20)).any(|run| run.iter().all(|byte| *byte == run[0]));
        for allowed in [&Allowed::All, &some] {
            for keep in [Keep::Start, Keep::End] {
                let all = all_parts(&encoder, &text, allowed, keep)?;
                for limit in [0, 1, 2, 3, 5, 8, 13, 21] {
                    let fitting = all.iter().filter(|(_, count)| *count <= limit);
                    let longest = match keep {
                        Keep::Start => fitting.max(),
                        Keep::End => fitting.min(),
                    };
                    let part = encoder.truncate(&text, allowed, limit, keep)?;
                    assert!(all.contains(&(part.cut, part.count)), "{text:?} to {limit}");
                    assert!(part.count <= limit, "{text:?} to {limit}");
                    // A single long piece may be cut shorter than possible.
                    if !has_long_run {
                        assert_eq!(
                            Some(&(part.cut, part.count)),
                            longest,
                            "{text:?} to {limit}"
                        );
                    }
                    cut_at_tokens += usize::from(text[part.cut..].starts_with("<|x|>"));
                    let count = encoder.count(&text, allowed)?;
                    let till = encoder.count_till_limit(&text, allowed, limit)?;
                    assert_eq!(till, (count <= limit).then_some(count));
                    if limit > 4 {
                        assert_parts(&encoder, &text, allowed, limit, limit / 3)?;
                    }
                }
            }
        }
    }
    assert!(cut_at_tokens > 10, "{cut_at_tokens}");
    Ok(())
}

#[test]
fn the_longest_part_is_kept() -> TestResult {
    for pattern in [CL100K, r"\w+|\s", r"(?s).+"] {
        let encoder = encoder(pattern)?;
        for seed in 0..30 {
            let text = Random::new(seed).text(12);
            for keep in [Keep::Start, Keep::End] {
                let all = all_parts(&encoder, &text, &Allowed::Nothing, keep)?;
                for limit in [0, 1, 2, 3, 5, 8, 13, 21] {
                    let fitting = all.iter().filter(|(_, count)| *count <= limit);
                    let longest = match keep {
                        Keep::Start => fitting.max(),
                        Keep::End => fitting.min(),
                    };
                    let part = encoder.truncate(&text, &Allowed::Nothing, limit, keep)?;
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
    allowed: &Allowed,
    limit: usize,
    overlap: usize,
) -> Result<Vec<Range<usize>>, EncodeError> {
    let parts = encoder.parts(text, allowed, limit, overlap, &[])?;
    let mut last = 0;
    for part in &parts {
        assert!(part.start <= last && last < part.end, "{parts:?}");
        let part_of_text = &text[part.clone()];
        assert!(encoder.count(part_of_text, allowed)? <= limit);
        assert!(encoder.count(&text[part.start..last], allowed)? <= overlap);
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
                assert_parts(&encoder, &text, &Allowed::Nothing, limit, overlap)?;
            }
        }
        for (_, writer) in MONOTONOUS {
            assert_parts(&encoder, &writer(20_000), &Allowed::Nothing, 100, 0)?;
            assert_parts(&encoder, &writer(20_000), &Allowed::Nothing, 1_000, 100)?;
        }
    }
    Ok(())
}

#[test]
fn a_character_that_does_not_fit() -> TestResult {
    let encoder = encoder(CL100K)?;
    let outcome = encoder.parts("中文 🧿", &Allowed::Nothing, 2, 0, &[]);
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
    assert!(encoder.parts("", &Allowed::Nothing, 1, 0, &[])?.is_empty());
    Ok(())
}

#[test]
fn offsets_of_ids() -> TestResult {
    let encoder = encoder(r"\w+")?;
    let text = "  é  ab-<|x|> 中 abb";
    let mut spans = encoder.encode_with_offsets(text, &Allowed::All)?;
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
