//! Parts of a text that fit a number of ids, and offsets of ids: never too many, none lost, in order.

use std::sync::LazyLock;

use bytemill::encode::Encoder;
use bytemill::encode::special::{Allowed, SpecialTokens};
use bytemill::encode::truncate::{Keep, Truncation};
use bytemill::error::EncodeError;

use crate::input::{Input, floor_char_boundary};
use crate::models::{self, PATTERNS, PUBLISHED, Ruled};

const LONGEST: usize = 1_000;

/// Published vocabularies with their patterns; and one with patterns that are not native.
static ENCODERS: LazyLock<Vec<Encoder>> = LazyLock::new(|| {
    let published = PUBLISHED
        .iter()
        .map(|(vocabulary, pattern)| (vocabulary, *pattern));
    let others = (3..PATTERNS.len()).map(|pattern| (&PUBLISHED[2].0, pattern));
    let all = published.chain(others).filter_map(|(vocabulary, pattern)| {
        let encoder = models::encoders(vocabulary, &PATTERNS[pattern], 1 << 20).pop()?;
        let special = SpecialTokens::new(vec![("a'".to_owned(), 300_000)]);
        Some(
            encoder
                .with_special_tokens(special.expect("a special token"))
                .expect("no pipeline"),
        )
    });
    all.collect()
});

pub(crate) fn run(mut input: Input) {
    let drawn;
    let mut joins_spans = true;
    let encoder = match input.below(6) {
        0 => {
            let pattern = &PATTERNS[input.below(PATTERNS.len())];
            let vocabulary = models::small(&mut input);
            let mut encoders = models::encoders(&vocabulary, pattern, 1 << 14);
            drawn = encoders.pop().expect("an encoder");
            &drawn
        }
        1 | 2 => {
            drawn = Ruled::draw(&mut input).encoder();
            joins_spans = false;
            &drawn
        }
        _ => &ENCODERS[input.below(ENCODERS.len())],
    };
    let limit = usize::from(input.byte()) >> input.below(6);
    let overlap = input.below(limit.max(1));
    let allowed = input.pick(&[&Allowed::Nothing, &Allowed::All]);
    let repeat = input.pick(&[1, 1, 1, 1, 1, 1, 2, 30]);
    for text in input.texts() {
        let mut text = text.repeat(repeat);
        text.truncate(floor_char_boundary(&text, LONGEST));
        assert_places(encoder, &text, joins_spans);
        assert_fits(encoder, &text, allowed, limit);
        if limit > 0 {
            assert_parts(encoder, &text, allowed, limit, overlap);
        }
    }
}

fn count(encoder: &Encoder, text: &str, allowed: &Allowed) -> usize {
    encoder.count(text, allowed).expect("a count")
}

fn assert_fits(encoder: &Encoder, text: &str, allowed: &Allowed, limit: usize) {
    let total = count(encoder, text, allowed);
    for most in [limit, total, total.saturating_sub(1)] {
        let counted = encoder
            .count_till_limit(text, allowed, most)
            .expect("a count");
        assert_eq!(
            counted,
            (total <= most).then_some(total),
            "{text:?} to {most}"
        );
    }
    if encoder.exceeds(text.len(), allowed, limit) {
        assert!(total > limit, "{text:?} does not exceed {limit}");
    }
    for kept in [Keep::Start, Keep::End] {
        let Truncation {
            cut: start,
            count: told,
        } = encoder
            .truncate(text, allowed, limit, kept)
            .expect("a part");
        let (before, after) = text.split_at(start);
        let (part, rest) = match kept {
            Keep::Start => (before, after),
            Keep::End => (after, before),
        };
        assert_eq!(
            told,
            count(encoder, part, allowed),
            "{text:?} to {limit}, {kept:?}"
        );
        assert!(told <= limit, "{text:?} to {limit}, {kept:?}");
        assert!(
            rest.is_empty() == (total <= limit) || rest.is_empty(),
            "{text:?} to {limit}, {kept:?}"
        );
    }
}

fn assert_parts(encoder: &Encoder, text: &str, allowed: &Allowed, limit: usize, overlap: usize) {
    assert_parts_at(encoder, text, allowed, (limit, overlap), &[]);
    // The ends of words, and what stands at the start.
    let separators = [" ".to_owned(), text.chars().take(2).collect::<String>()];
    let separators: Vec<String> = separators
        .into_iter()
        .filter(|each| !each.is_empty())
        .collect();
    assert_parts_at(encoder, text, allowed, (limit, overlap), &separators);
}

fn assert_parts_at(
    encoder: &Encoder,
    text: &str,
    allowed: &Allowed,
    (limit, overlap): (usize, usize),
    separators: &[String],
) {
    let parts = match encoder.parts(text, allowed, limit, overlap, separators) {
        Ok(parts) => parts,
        Err(EncodeError::NoRoom {
            character,
            start,
            count: told,
            limit: same,
        }) => {
            assert_eq!(text.chars().nth(start), Some(character));
            assert_eq!(
                (told, same),
                (count(encoder, &character.to_string(), allowed), limit)
            );
            assert!(told > limit, "{text:?} to {limit}: {character:?} has room");
            return;
        }
        Err(error) => panic!("{text:?}: {error}"),
    };
    let mut last = 0;
    for part in parts {
        assert!(
            part.start <= last && last < part.end,
            "{text:?} to {limit}, {overlap}"
        );
        assert!(
            count(encoder, &text[part.clone()], allowed) <= limit,
            "{text:?} to {limit}, {overlap}"
        );
        assert!(
            count(encoder, &text[part.start..last], allowed) <= overlap,
            "{text:?} to {limit}, {overlap}"
        );
        last = part.end;
    }
    assert_eq!(last, text.len());
}

/// With `joins_spans`, the tokens are the text between their offsets; normalized text is another one.
fn assert_places(encoder: &Encoder, text: &str, joins_spans: bool) {
    for allowed in [Allowed::Nothing, Allowed::All] {
        let mut ids = Vec::new();
        encoder.encode(text, &allowed, &mut ids).expect("ids");
        let mut offsets = encoder
            .encode_with_offsets(text, &allowed)
            .expect("offsets");
        assert_eq!(offsets.ids, ids);
        assert_eq!(
            (offsets.starts.len(), offsets.ends.len()),
            (ids.len(), ids.len())
        );
        let mut last = 0;
        for ((&start, &end), &id) in offsets.starts.iter().zip(&offsets.ends).zip(&ids) {
            if !joins_spans {
                assert!(start <= end && end <= text.len(), "{text:?}: {offsets:?}");
                continue;
            }
            assert!(last <= start && start < end, "{text:?}: {offsets:?}");
            assert!(
                last == start || !encoder.splitter().is_native(),
                "{text:?}: {offsets:?}"
            );
            assert_eq!(
                encoder.token_bytes(id),
                Some(&text.as_bytes()[start..end]),
                "{text:?}"
            );
            last = end;
        }
        // In characters: those that hold any byte of the token.
        let bytes: Vec<_> = offsets
            .starts
            .iter()
            .copied()
            .zip(offsets.ends.iter().copied())
            .collect();
        offsets.to_characters(text);
        for ((start, end), characters) in bytes
            .into_iter()
            .zip(offsets.starts.into_iter().zip(offsets.ends))
        {
            let before = |start: usize| text[..start].chars().count();
            let expected = (
                before(floor_char_boundary(text, start)),
                before(
                    (end..=text.len())
                        .find(|&end| text.is_char_boundary(end))
                        .unwrap_or(end),
                ),
            );
            assert_eq!(characters, expected, "{text:?}");
        }
    }
}
