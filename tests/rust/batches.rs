//! Batches: the ids of each text by itself, whatever the number of threads and the cuts of texts.

use std::error::Error;

use bytemill::builtin::Builtin;
use bytemill::encode::Encoder;
use bytemill::encode::batch::{Batch, Ragged};
use bytemill::encode::special::{Allowed, Policy, SpecialTokens};
use bytemill::error::EncodeError;
use bytemill::split::Splitter;
use bytemill::token::TokenId;
use bytemill::util::text::RawText;

use crate::support::{O200K, TestResult};

fn encoder(pattern: &str) -> Result<Encoder, Box<dyn Error>> {
    Ok(Encoder::new(
        Builtin::O200k.vocabulary()?,
        SpecialTokens::new(vec![("<|x|>".to_owned(), 200_010)])?,
        Splitter::new(pattern)?,
    ))
}

/// Short texts, empty ones, and some that are divided among threads.
fn texts() -> Vec<String> {
    let words = "It's 12 words, he'd say;\n\n  中文 and e\u{301}t\u{e9}s <|x|> 3rd…  ";
    let mut texts = vec![
        String::new(),
        words.repeat(9_000),
        String::new(),
        "a".repeat(300_000),
    ];
    texts.extend((0..3_000).map(|number| words[..number % 24].to_owned()));
    texts.push(words.repeat(20_000));
    texts
}

#[test]
fn batches_equal_the_texts_one_by_one() -> TestResult {
    let encoder = encoder(O200K)?;
    let texts = texts();
    for allowed in [Allowed::Nothing, Allowed::All] {
        let mut expected: Vec<TokenId> = Vec::new();
        let mut offsets = vec![0];
        for text in &texts {
            expected.push(7);
            encoder.encode(text, &allowed, &mut expected)?;
            expected.extend([8, 9]);
            offsets.push(expected.len());
        }
        let policy = Policy {
            allowed,
            disallowed: Allowed::Nothing.into(),
        };
        for threads in [0, 1, 2, 3, 8] {
            let batch = Batch::new(policy.clone(), threads).between(vec![7], vec![8, 9]);
            let ragged: Ragged<TokenId> = encoder.encode_batch(&texts, &batch)?;
            assert_eq!(ragged.offsets, offsets);
            assert!(ragged.ids == expected, "{threads} threads");

            let wide: Ragged<i64> = encoder.encode_batch(&texts, &batch)?;
            assert_eq!(wide.offsets, offsets);
            assert!(
                wide.ids
                    .iter()
                    .copied()
                    .eq(expected.iter().map(|&id| i64::from(id)))
            );
        }
    }
    Ok(())
}

#[test]
fn counts_are_the_numbers_of_ids() -> TestResult {
    // A native pattern, and a general one, whose texts are never divided.
    for pattern in [O200K, r"[a-z]+|[^a-z]+"] {
        let encoder = encoder(pattern)?;
        let texts = texts();
        let mut offsets = vec![0];
        for text in &texts {
            let mut ids = Vec::new();
            encoder.encode_ordinary(text, &mut ids)?;
            assert_eq!(encoder.count(text, &Allowed::Nothing)?, ids.len());
            offsets.push(offsets[offsets.len() - 1] + ids.len());
        }
        for threads in [1, 2, 5] {
            let counts = encoder.count_batch(&texts, &Policy::ORDINARY, threads)?;
            assert_eq!(counts, offsets);
        }
    }
    Ok(())
}

#[test]
fn no_texts_give_no_ids() -> TestResult {
    let none: [&str; 0] = [];
    for threads in [1, 4] {
        let batch = Batch::new(Policy::ORDINARY, threads);
        let ragged: Ragged<TokenId> = encoder(O200K)?.encode_batch(&none, &batch)?;
        assert_eq!((ragged.ids, ragged.offsets), (vec![], vec![0]));
    }
    Ok(())
}

#[test]
fn the_first_text_with_a_disallowed_token_is_the_error() -> TestResult {
    let encoder = encoder(O200K)?;
    let mut texts = vec!["some words ".repeat(100); 3_000];
    texts[1_999] = format!("{}é<|x|>", texts[1_999]);
    texts[2_000] = "<|x|>".to_owned();
    let policy = Policy {
        allowed: Allowed::All,
        disallowed: Allowed::All.into(),
    };
    for threads in [1, 2, 8] {
        let batch = Batch::new(policy.clone(), threads);
        let outcome = encoder.encode_batch::<TokenId>(&texts, &batch);
        let Err(EncodeError::Disallowed { token, start }) = outcome else {
            return Err(format!("no error with {threads} threads").into());
        };
        assert_eq!((token.as_str(), start), ("<|x|>", 1_101));
    }
    Ok(())
}

#[test]
fn spans_are_texts_or_bytes() -> TestResult {
    let encoder = encoder(O200K)?;
    let mut all: Vec<Vec<u8>> = texts().into_iter().map(String::into_bytes).collect();
    for (number, bytes) in all.iter_mut().enumerate() {
        if number % 3 == 1 {
            // At the end of long texts, which are divided if they are UTF-8.
            bytes.extend(b"<|x|>\xE2\x82 and <|x|>");
        }
    }
    let mut expected: Vec<TokenId> = Vec::new();
    for bytes in &all {
        encoder.encode_bytes(bytes, &mut expected)?;
    }
    let spans: Vec<RawText> = all.iter().map(|bytes| RawText(bytes)).collect();
    for threads in [1, 2, 8] {
        let batch = Batch::new(Policy::ORDINARY, threads);
        let ragged: Ragged<TokenId> = encoder.encode_batch(&spans, &batch)?;
        assert_eq!(ragged.offsets.len(), all.len() + 1);
        assert!(ragged.ids == expected, "{threads} threads");
        let counts = encoder.count_batch(&spans, &Policy::ORDINARY, threads)?;
        assert_eq!(counts, ragged.offsets);
    }
    Ok(())
}

#[test]
fn special_tokens_in_bytes_that_are_not_utf8() -> TestResult {
    let encoder = encoder(O200K)?;
    let span = [RawText(b"\xC3\xA9<|x|>a\xFF\xE2\x82 \xC3\xA9<|x|>")];
    let mut policy = Policy {
        allowed: Allowed::All,
        disallowed: Allowed::Nothing.into(),
    };
    let encode = |policy: &Policy| -> Result<Ragged<TokenId>, EncodeError> {
        encoder.encode_batch(&span, &Batch::new(policy.clone(), 1))
    };
    let ids = encode(&policy)?.ids;
    assert_eq!(ids.iter().filter(|&&id| id == 200_010).count(), 1);
    assert_eq!(encoder.decode(&ids)?, span[0].0);

    policy.disallowed = Allowed::All.into();
    assert!(matches!(
        encode(&policy),
        Err(EncodeError::Disallowed { start: 1, .. })
    ));
    let span = [RawText(&span[0].0[7..])];
    let outcome = encoder.encode_batch::<TokenId>(&span, &Batch::new(policy, 1));
    assert!(matches!(
        outcome,
        Err(EncodeError::Disallowed { start: 5, .. })
    ));
    Ok(())
}
