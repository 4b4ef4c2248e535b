//! Batches on two threads against the texts one by one.

use std::sync::LazyLock;

use bytemill::encode::Encoder;
use bytemill::encode::batch::{Batch, Ragged};
use bytemill::encode::special::{Allowed, Policy, SpecialTokens};
use bytemill::token::TokenId;
use bytemill::util::text::RawText;

use crate::input::Input;
use crate::models::{self, PATTERNS, PUBLISHED, Ruled};

/// Enough bytes for several work items.
const LONG: usize = 150_000;

static ENCODERS: LazyLock<Vec<Encoder>> = LazyLock::new(|| {
    let chosen = [(0, 0), (2, 1), (3, 2), (2, 3)];
    let all = chosen.into_iter().filter_map(|(vocabulary, pattern)| {
        let encoder =
            models::encoders(&PUBLISHED[vocabulary].0, &PATTERNS[pattern], 1 << 22).pop()?;
        let special =
            SpecialTokens::new(vec![("a'".to_owned(), 300_000), ("'".to_owned(), 300_001)]);
        Some(
            encoder
                .with_special_tokens(special.expect("special tokens"))
                .expect("no pipeline"),
        )
    });
    all.collect()
});

pub(crate) fn run(mut input: Input) {
    let drawn;
    let encoder = match input.below(ENCODERS.len() + 2) {
        index if index < ENCODERS.len() => &ENCODERS[index],
        _ => {
            drawn = Ruled::draw(&mut input).encoder();
            &drawn
        }
    };
    let allowed = if input.below(3) == 0 {
        Allowed::All
    } else {
        Allowed::Nothing
    };
    let long = input.below(16) == 0;
    let (prepend, append) = (vec![7; input.below(3)], vec![8; input.below(3)]);
    let batch = Batch {
        prepend,
        append,
        ..Batch::new(
            Policy {
                allowed,
                disallowed: Allowed::Nothing.into(),
            },
            2,
        )
    };
    let raw = input.below(3) == 0;
    let lengthened = |number: usize, length: usize| {
        // The first text is long, or all are many.
        match number {
            0 if long => LONG / length.max(1),
            _ => 1 + 4 * (number & 3),
        }
    };
    if raw {
        let parts = input.parts().enumerate();
        let mut texts: Vec<Vec<u8>> = parts
            .map(|(number, part)| part.repeat(lengthened(number, part.len())))
            .collect();
        if let Some(last) = texts.last_mut() {
            last.push(0xE4);
        }
        let spans: Vec<RawText> = texts.iter().map(|bytes| RawText(bytes)).collect();
        let ragged: Ragged<TokenId> = encoder.encode_batch(&spans, &batch).expect("ids");
        assert_ragged(&ragged, texts.len(), &batch, |number, ids| {
            // Without special tokens this is the same for texts and bytes.
            let one = Batch {
                threads: 1,
                prepend: Vec::new(),
                append: Vec::new(),
                ..batch.clone()
            };
            let alone: Ragged<TokenId> = encoder
                .encode_batch(&spans[number..=number], &one)
                .expect("ids");
            if batch.policy.allowed == Allowed::Nothing {
                encoder.encode_bytes(&texts[number], ids).expect("ids");
                assert_eq!(*ids, alone.ids);
            } else {
                *ids = alone.ids;
            }
        });
        return;
    }
    let texts = input.texts().into_iter().enumerate();
    let texts: Vec<String> = texts
        .map(|(number, text)| text.repeat(lengthened(number, text.len())))
        .collect();
    let ragged: Ragged<TokenId> = encoder.encode_batch(&texts, &batch).expect("ids");
    assert_ragged(&ragged, texts.len(), &batch, |number, ids| {
        encoder
            .encode(&texts[number], &batch.policy.allowed, ids)
            .expect("ids");
    });
    let wide: Ragged<i64> = encoder.encode_batch(&texts, &batch).expect("ids");
    assert_eq!(wide.offsets, ragged.offsets);
    assert!(
        wide.ids
            .iter()
            .copied()
            .eq(ragged.ids.iter().map(|&id| i64::from(id)))
    );
    let counted = encoder
        .count_batch(&texts, &Policy::ORDINARY, 2)
        .expect("counts");
    for (text, offsets) in texts.iter().zip(counted.windows(2)) {
        let count = encoder.count(text, &Allowed::Nothing).expect("a count");
        assert_eq!(offsets[1] - offsets[0], count, "{text:?}");
    }
}

/// The ids of each text, which `encode` appends, between what stands before and after it.
fn assert_ragged(
    ragged: &Ragged<TokenId>,
    texts: usize,
    batch: &Batch,
    encode: impl Fn(usize, &mut Vec<TokenId>),
) {
    assert_eq!(ragged.offsets.len(), texts + 1);
    assert_eq!(
        (ragged.offsets[0], ragged.offsets[texts]),
        (0, ragged.ids.len())
    );
    for (number, range) in ragged.offsets.windows(2).enumerate() {
        let mut ids = Vec::new();
        encode(number, &mut ids);
        let expected = [batch.prepend.as_slice(), &ids, &batch.append].concat();
        assert_eq!(ragged.ids[range[0]..range[1]], expected, "text {number}");
    }
}
