//! The names that programs in Rust use.

use std::thread;

use bytemill::encode::Encoder;
use bytemill::encode::special::Allowed;
use bytemill::{CL100K_PATTERN, Encoding, Error};

use crate::support::{Random, TestResult};

const TEXT: &str =
    "Don't tokenize 12345 \u{4E2D}\u{6587}\n\n twice <|endoftext|> na\u{EF}ve\u{1F600}";

/// A model of two tokens and the bytes, with a special token.
const FILE: &str = r###"{
    "added_tokens": [
        {"id": 2, "content": "<s>", "special": true, "normalized": false, "single_word": false, "lstrip": false, "rstrip": false}
    ],
    "normalizer": {"type": "Lowercase"},
    "pre_tokenizer": {"type": "WhitespaceSplit"},
    "model": {"type": "WordPiece", "unk_token": "a", "continuing_subword_prefix": "##", "max_input_chars_per_word": 9,
              "vocab": {"a": 0, "##b": 1}}
}"###;

#[test]
fn each_published_encoding_decodes_what_it_encodes() -> TestResult {
    for name in [
        "gpt2",
        "r50k_base",
        "p50k_base",
        "p50k_edit",
        "cl100k_base",
        "o200k_base",
        "o200k_harmony",
    ] {
        let encoding = Encoding::builtin(name)?;
        let ids = encoding.encode(TEXT)?;
        assert_eq!(encoding.decode(&ids)?, TEXT, "{name}");
        assert_eq!(encoding.count(TEXT)?, ids.len());
        let special = encoding
            .special_token("<|endoftext|>")
            .ok_or("it has one")?;
        assert!(!ids.contains(&special));
        let ids = encoding.encode_with_special_tokens(TEXT)?;
        assert!(ids.contains(&special) && encoding.max_token_id() >= special);
        assert_eq!(encoding.decode_bytes(&ids)?, TEXT.as_bytes());
    }
    Ok(())
}

#[test]
fn errors_say_what_was_expected() {
    let error = Encoding::builtin("o200k").expect_err("there is no such encoding");
    assert_eq!(error, Error::UnknownEncoding("o200k".to_owned()));
    assert!(error.to_string().contains("o200k_base"));
    let encoding = Encoding::builtin("gpt2").expect("it is published");
    assert_eq!(encoding.decode(&[50_257]), Err(Error::UnknownToken(50_257)));
    assert!(matches!(
        Encoding::from_tokenizer_json(b"{}"),
        Err(Error::InvalidFile(_))
    ));
    assert!(matches!(
        Encoding::from_model(b"x".to_vec()),
        Err(Error::InvalidFile(_))
    ));
    assert!(matches!(
        Encoding::train(["a"], 255, "a"),
        Err(Error::Other(_))
    ));
    assert!(matches!(
        Encoding::train(["a"], 256, "("),
        Err(Error::InvalidPattern(_))
    ));
    assert!(matches!(
        encoding.split("\u{1F600}", 1, &[]),
        Err(Error::Other(_))
    ));
}

#[test]
fn a_file_gives_its_ids() -> TestResult {
    let encoding = Encoding::from_tokenizer_json(FILE.as_bytes())?;
    // A word with an unknown part is one unknown token, which is "a" here.
    assert_eq!(encoding.encode("AB ab<s>")?, [0, 1, 0]);
    assert_eq!(encoding.encode_with_special_tokens("AB<s>")?, [0, 1, 2]);
    Ok(())
}

#[test]
fn training_gives_the_merges_of_the_definition() -> TestResult {
    let text = "low low low lower lowest newest newest";
    let encoding = Encoding::train([text, text], 260, CL100K_PATTERN)?;
    assert_eq!(encoding.max_token_id(), 259);
    let tokens = (256..260).map(|id| encoding.decode(&[id]));
    assert_eq!(
        tokens.collect::<Result<Vec<_>, _>>()?,
        ["lo", "low", " low", "es"]
    );
    Ok(())
}

#[test]
fn batches_parts_and_sessions_agree_with_encode() -> TestResult {
    let encoding = Encoding::builtin("cl100k_base")?;
    let texts: Vec<String> = (0..40).map(|seed| Random::new(seed).text(80)).collect();
    let ids = encoding.encode_batch(&texts, 2)?;
    for (text, ids) in texts.iter().zip(&ids) {
        assert_eq!(&encoding.encode(text)?, ids);
        for separators in [&[][..], &["\n", " "], &[""]] {
            let parts = encoding.split(text, 9, separators)?;
            assert_eq!(parts.concat(), *text);
            for part in &parts {
                assert!(encoding.count(part)? <= 9);
            }
        }
        let kept = encoding.truncate(text, 5)?;
        assert!(text.starts_with(kept) && encoding.count(kept)? <= 5);
        let mut session = encoding.session();
        for character in text.chars() {
            session.append(character.encode_utf8(&mut [0; 4]))?;
        }
        assert_eq!((&session.ids(), session.count()), (ids, ids.len()));
        session.update("other")?;
        assert_eq!(
            (session.text(), session.ids()),
            ("other".to_owned(), encoding.encode("other")?)
        );
    }
    Ok(())
}

/// Returns whether a part ends behind a separator.
fn ends(part: &str, separators: &[String]) -> bool {
    separators.iter().any(|separator| part.ends_with(separator))
}

#[test]
fn parts_end_behind_the_first_separator_that_they_have() -> TestResult {
    let encoding = Encoding::builtin("cl100k_base")?;
    let text =
        "One two three.\n\nFour five. Six seven eight nine ten eleven twelve.\nThirteen".repeat(3);
    let parts = encoding.split(&text, 8, &["\n\n", "\n", ". ", " "])?;
    assert_eq!(
        parts[..4],
        [
            "One two three.\n\n",
            "Four five. ",
            "Six seven eight nine ten eleven twelve.\n",
            "ThirteenOne two three.\n\n"
        ]
    );
    let encoder: Encoder = encoder()?;
    let separators = [" ", "\n"].map(str::to_owned);
    for seed in 0..200 {
        let text = Random::new(seed).text(90);
        for (limit, overlap) in [(5, 0), (9, 3), (40, 0)] {
            let parts = encoder.parts(&text, &Allowed::Nothing, limit, overlap, &separators)?;
            let longest = encoder.parts(&text, &Allowed::Nothing, limit, overlap, &[])?;
            let mut last = 0;
            for part in &parts {
                assert!(part.start <= last && last < part.end);
                assert!(encoder.count(&text[part.clone()], &Allowed::Nothing)? <= limit);
                let is_whole = ends(&text[part.clone()], &separators) || part.end == text.len();
                let new = &text[last..part.end];
                assert!(is_whole || !separators.iter().any(|separator| new.contains(separator)));
                last = part.end;
            }
            assert!(last == text.len() && parts.len() >= longest.len());
        }
    }
    Ok(())
}

fn encoder() -> Result<Encoder, Box<dyn std::error::Error>> {
    use bytemill::builtin::Builtin;
    use bytemill::encode::special::SpecialTokens;
    use bytemill::split::Splitter;

    let vocabulary = Builtin::Cl100k.vocabulary()?;
    Ok(Encoder::new(
        vocabulary,
        SpecialTokens::new(Vec::new())?,
        Splitter::new(CL100K_PATTERN)?,
    ))
}

#[test]
fn clones_work_in_threads() -> TestResult {
    let encoding = Encoding::builtin("o200k_base")?;
    let expected = encoding.encode(TEXT)?;
    let workers: Vec<_> = (0..3)
        .map(|_| {
            let encoding = encoding.clone();
            thread::spawn(move || encoding.encode(TEXT))
        })
        .collect();
    for worker in workers {
        assert_eq!(worker.join().expect("it does not panic")?, expected);
    }
    Ok(())
}
