//! Whole encoders: special tokens, pieces and merges together, decoding, external splitters.

#![expect(
    clippy::single_range_in_vec_init,
    clippy::reversed_empty_ranges,
    reason = "pieces are ranges, mistakes too"
)]

use std::error::Error;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use bytemill::builtin::Builtin;
use bytemill::encode::Encoder;
use bytemill::encode::special::{Allowed, SpecialTokens};
use bytemill::error::{DecodeError, EncodeError};
use bytemill::reference;
use bytemill::split::{ExternalSplitter, Splitter};
use bytemill::token::{NO_TOKEN, TokenId};
use bytemill::util::tier::Tier;
use bytemill::vocabulary::Vocabulary;

use crate::support::{CL100K, PUBLISHED, R50K, Random, TestResult, pieces, ranks_with_bytes};

fn encoder(special: &[(&str, TokenId)], pattern: &str) -> Result<Encoder, Box<dyn Error>> {
    let special = special.iter().map(|(text, id)| ((*text).to_owned(), *id));
    Ok(Encoder::new(
        Builtin::Cl100k.vocabulary()?,
        SpecialTokens::new(special.collect())?,
        Splitter::new(pattern)?,
    ))
}

fn encode(encoder: &Encoder, text: &str, allowed: &Allowed) -> Result<Vec<TokenId>, EncodeError> {
    let mut ids = Vec::new();
    encoder.encode(text, allowed, &mut ids)?;
    Ok(ids)
}

/// Each span between special tokens is a text of its own: whitespace at its end is whitespace at the end of a
/// text.
#[test]
fn spans_between_special_tokens_are_texts() -> TestResult {
    let encoder = encoder(&[("<|x|>", 200_000), ("<|y|>", 200_001)], CL100K)?;
    for spans in [
        ["Hello \n ", "world\n\n"],
        ["", ""],
        ["'", "s"],
        ["a  ", "  b"],
        ["don", "'t"],
        ["中", "\u{301}"],
    ] {
        let [before, after] = spans;
        let text = format!("{before}<|x|>{after}<|y|><|x|>");
        let mut expected = Vec::new();
        encoder.encode_ordinary(before, &mut expected)?;
        expected.push(200_000);
        encoder.encode_ordinary(after, &mut expected)?;
        expected.extend([200_001, 200_000]);
        assert_eq!(encode(&encoder, &text, &Allowed::All)?, expected);
        assert_eq!(encoder.decode(&expected)?, text.as_bytes());

        let mut ordinary = Vec::new();
        encoder.encode_ordinary(&text, &mut ordinary)?;
        assert_eq!(encode(&encoder, &text, &Allowed::Nothing)?, ordinary);
        assert!(ordinary.iter().all(|id| *id < 200_000));
    }
    Ok(())
}

#[test]
fn decoding() -> TestResult {
    // One has the id of an ordinary token, two have the same id, one has an id that no ordinary token has.
    let encoder = encoder(
        &[
            ("<|clash|>", 97),
            ("<|first|>", 200_018),
            ("<|second|>", 200_018),
            ("<|hole|>", 100_256),
        ],
        CL100K,
    )?;
    let decoded = |ids: &[TokenId]| encoder.decode(ids);
    assert_eq!(decoded(&[])?, b"");
    assert_eq!(decoded(&[200_018, 100_256])?, b"<|first|><|hole|>");
    assert_eq!(Some(&*decoded(&[97])?), encoder.vocabulary().bytes(97));
    assert_eq!(
        encode(&encoder, "<|clash|><|second|>", &Allowed::All)?,
        [97, 200_018]
    );
    for unknown in [100_257, 200_017, 200_019, NO_TOKEN] {
        assert_eq!(
            decoded(&[97, unknown, NO_TOKEN]),
            Err(DecodeError::UnknownToken(unknown))
        );
        assert_eq!(encoder.token_bytes(unknown), None);
    }
    assert_eq!(encoder.token_bytes(200_018), Some(&b"<|first|>"[..]));
    Ok(())
}

#[test]
fn text_that_the_pattern_drops_is_not_encoded() -> TestResult {
    let encoder = encoder(&[], r"\p{L}+")?;
    let mut ids = Vec::new();
    encoder.encode_ordinary("ab 12 cd", &mut ids)?;
    assert_eq!(encoder.decode(&ids)?, b"abcd");
    Ok(())
}

#[test]
fn pieces_between_dropped_text_are_encoded_where_they_stand() -> TestResult {
    let (encoder, reference) = (encoder(&[], r"[\p{L}\x00]+|\d")?, encoder(&[], r"[\s\S]+")?);
    let mut random = Random::new(7);
    // Lengths around those of keys and blocks, and more pieces than a chunk has.
    let parts = [
        "a",
        "\0",
        "é",
        "7",
        " ",
        "--",
        &"漢".repeat(21),
        &"b".repeat(63),
        &"c".repeat(200),
    ];
    for count in [0, 1, 3, 40, 3_000] {
        let text: String = (0..count).map(|_| *random.pick::<&str>(&parts)).collect();
        let spans = encoder.encode_with_offsets(&text, &Allowed::Nothing)?;
        let is_letter = |character: char| character.is_alphabetic() || character == '\0';
        let mut expected = Vec::new();
        let mut kept = vec![false; text.len() + 1];
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            let end = if is_letter(first) {
                rest.find(|other| !is_letter(other)).unwrap_or(rest.len())
            } else {
                first.len_utf8()
            };
            if is_letter(first) || first.is_ascii_digit() {
                reference.encode_piece(&rest.as_bytes()[..end], &mut expected)?;
                let start = text.len() - rest.len();
                kept[start..start + end].fill(true);
            }
            rest = &rest[end..];
        }
        assert_eq!(spans.ids, expected);
        let covered: usize = spans
            .starts
            .iter()
            .zip(&spans.ends)
            .map(|(start, end)| end - start)
            .sum();
        assert_eq!(covered, kept.iter().filter(|kept| **kept).count());
        assert!(spans.starts.iter().all(|&start| kept[start]));
        let mut ids = Vec::new();
        encoder.encode_ordinary(&text, &mut ids)?;
        assert_eq!(ids, expected);
        assert_eq!(encoder.count(&text, &Allowed::Nothing)?, expected.len());
    }
    Ok(())
}

#[test]
fn a_pattern_that_gives_up_is_an_error() -> TestResult {
    // A backreference, so that there is no automaton.
    let encoder = encoder(&[], r"(c?)(?:(?=a)a+)+\1(?=b)")?;
    let text = "a".repeat(40);
    let outcome = encoder.encode_ordinary(&text, &mut Vec::new());
    assert!(
        matches!(outcome, Err(EncodeError::Pattern(_))),
        "{outcome:?}"
    );
    Ok(())
}

#[test]
fn bytes_that_are_not_text() -> TestResult {
    let encoder = encoder(&[], CL100K)?;
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let every: Vec<u8> = (0..=255).collect();
        let length = random.below(60);
        let mut bytes = random.text(10).into_bytes();
        bytes.truncate(length);
        if seed % 3 == 0 {
            bytes = random.bytes(&every, length);
        }
        let mut ids = vec![5];
        encoder.encode_bytes(&bytes, &mut ids)?;
        assert_eq!(ids[0], 5);
        assert_eq!(encoder.decode(&ids[1..])?, bytes);
        if let Ok(text) = std::str::from_utf8(&bytes) {
            assert_eq!(ids[1..], encode(&encoder, text, &Allowed::Nothing)?);
        }
    }
    Ok(())
}

#[test]
fn unfinished_text_is_spelled_by_its_completions() -> TestResult {
    let encoder = encoder(&[("<|x|>", 200_000)], CL100K)?;
    for text in [
        "",
        "Hello fanta",
        "a  ",
        "<|x|>",
        "<|x|>\n",
        "1",
        "中",
        "hello  \n",
        "don'",
    ] {
        let (stable, completions) = encoder.encode_with_unstable(text, &Allowed::All)?;
        let before = encoder.decode(&stable)?;
        let unstable = text.as_bytes().strip_prefix(before.as_slice());
        let unstable = unstable.ok_or("the stable ids do not begin the text")?;
        assert_eq!(unstable.is_empty(), completions.is_empty(), "{text}");
        for completion in completions {
            let spelled = encoder.decode(&completion)?;
            assert!(spelled.starts_with(unstable), "{text}: {spelled:?}");
        }
    }
    Ok(())
}

#[test]
fn one_encoder_in_many_threads() -> TestResult {
    let encoder = encoder(&[("<|x|>", 200_000)], R50K)?;
    let text = Random::new(3).text(3000) + "<|x|>";
    let expected = encode(&encoder, &text, &Allowed::All)?;
    let right = thread::scope(|scope| {
        let threads = [(); 8].map(|()| scope.spawn(|| encode(&encoder, &text, &Allowed::All)));
        threads.map(|thread| matches!(thread.join(), Ok(Ok(ids)) if ids == expected))
    });
    assert_eq!(right, [true; 8]);
    Ok(())
}

struct Given(Result<Vec<Range<usize>>, &'static str>);

impl ExternalSplitter for Given {
    fn split(&self, _: &str) -> Result<Vec<Range<usize>>, Box<dyn Error + Send + Sync>> {
        Ok(self.0.clone()?)
    }
}

#[test]
fn external_splitters() -> TestResult {
    let split = |given| pieces(&Splitter::External(Arc::new(Given(given))), "a中bc");
    for good in [
        vec![],
        vec![0..6],
        vec![0..1, 1..4, 4..6],
        vec![1..4, 5..6],
        vec![2..3],
    ] {
        assert_eq!(split(Ok(good.clone()))?, good);
    }
    for bad in [
        vec![0..7],
        vec![7..8],
        vec![2..2],
        vec![3..2],
        vec![0..3, 2..5],
        vec![3..5, 0..2],
        vec![0..1, 1..1],
        vec![usize::MAX..usize::MAX],
        vec![0..usize::MAX],
    ] {
        let outcome = split(Ok(bad));
        let Err(EncodeError::Splitter(error)) = outcome else {
            panic!("{outcome:?}");
        };
        let said = error.to_string();
        assert!(
            said.contains("expected") && said.contains("6 bytes"),
            "{said}"
        );
    }
    let Err(EncodeError::Splitter(error)) = split(Err("out of paper")) else {
        panic!("the error is lost");
    };
    assert_eq!(error.to_string(), "out of paper");
    Ok(())
}

/// Returns other pieces each time.
struct Fickle(AtomicUsize);

impl ExternalSplitter for Fickle {
    fn split(&self, text: &str) -> Result<Vec<Range<usize>>, Box<dyn Error + Send + Sync>> {
        let end = self.0.fetch_add(1, Ordering::Relaxed).min(text.len());
        Ok((0..end).map(|start| start..start + 1).collect())
    }
}

/// External splitters that cut within characters, or return other pieces the second time, do no harm where a
/// text is split again.
#[test]
fn external_splitters_on_unfinished_text() -> TestResult {
    let with = |splitter| -> Result<Encoder, Box<dyn Error>> {
        let vocabulary = Builtin::Cl100k.vocabulary()?;
        Ok(Encoder::new(vocabulary, SpecialTokens::default(), splitter))
    };
    let text = "a中bc";
    for given in [vec![0..1, 2..3], vec![0..2], vec![2..6]] {
        let encoder = with(Splitter::External(Arc::new(Given(Ok(given.clone())))))?;
        let (stable, completions) = encoder.encode_with_unstable(text, &Allowed::Nothing)?;
        let spelled: Vec<&[u8]> = given
            .iter()
            .map(|piece| &text.as_bytes()[piece.clone()])
            .collect();
        let stable = encoder.decode(&stable)?;
        assert_eq!(stable, spelled[..given.len() - 1].concat());
        assert!(!completions.is_empty());
        let bytes = [text.as_bytes(), b"\xFF"].concat();
        let mut ids = Vec::new();
        encoder.encode_bytes(&bytes, &mut ids)?;
        let spelled = [&spelled.concat(), b"\xFF".as_slice()].concat();
        assert_eq!(encoder.decode(&ids)?, spelled);
    }
    let encoder = with(Splitter::External(Arc::new(Fickle(AtomicUsize::new(0)))))?;
    let (stable, _) = encoder.encode_with_unstable(text, &Allowed::Nothing)?;
    assert!(stable.is_empty());
    Ok(())
}

/// The cache changes no id, whatever its limit, on any tier, with cold text and with warm.
#[test]
fn limits_and_tiers_of_the_cache_change_no_id() -> TestResult {
    let mut random = Random::new(11);
    let words = [
        "a",
        "the",
        " word",
        "wörter",
        "слова",
        "漢字仮名交じり文",
        "\0\0\0\0\0\0\0\0",
        "\0",
        "!",
        "!\0",
        " !\0\0",
        "\u{7f}",
        "  ",
        "!?",
    ];
    let mut texts: Vec<String> = (0..60)
        .map(|number| {
            (0..=10 * number)
                .map(|_| words[random.below(words.len())])
                .collect()
        })
        .collect();
    // More pieces than fit into the small limits, of every length around the widths of keys.
    let different = (0..40_000_u32).map(|number| {
        let letters = number.wrapping_mul(2_654_435_761).to_string();
        let letters: String = letters
            .bytes()
            .map(|digit| char::from(digit + 49))
            .collect();
        format!(" {}", letters.repeat(1 + number as usize % 4))
    });
    texts.push(different.collect());
    let texts_and_ids: Vec<_> = texts
        .iter()
        .map(|text| {
            let vocabulary = Builtin::Cl100k.vocabulary()?;
            let mut ids = Vec::new();
            for piece in pieces(&Splitter::new(CL100K)?, text)? {
                ids.extend(bytemill::reference::encode_piece(
                    &vocabulary,
                    text[piece].as_bytes(),
                ));
            }
            Ok((text, ids))
        })
        .collect::<Result<_, Box<dyn Error>>>()?;
    for tier in Tier::ALL.into_iter().filter(|tier| tier.available()) {
        let Splitter::Native(family, _) = Splitter::new(CL100K)? else {
            return Err("not native".into());
        };
        let encoder = Encoder::new(
            Builtin::Cl100k.vocabulary()?,
            SpecialTokens::default(),
            Splitter::Native(family, tier),
        );
        for limit in [0, 1 << 12, 1 << 16, 1 << 20, 1 << 22, 64 << 20] {
            encoder.set_cache_limit(limit);
            for (text, ids) in texts_and_ids.iter().chain(&texts_and_ids) {
                assert_eq!(
                    &encode(&encoder, text, &Allowed::Nothing)?,
                    ids,
                    "{tier:?} {limit}"
                );
                assert_eq!(encoder.count(text, &Allowed::Nothing)?, ids.len());
            }
            let used = encoder.memory();
            encoder.clear_cache();
            let learned = used - encoder.memory();
            assert!(
                learned <= limit + (1 << 16),
                "{learned} bytes with a limit of {limit}"
            );
        }
    }
    Ok(())
}

/// Encoders of a vocabulary with a published pattern, on every tier that the machine has.
fn on_every_tier(
    vocabulary: &Arc<Vocabulary>,
    pattern: &str,
) -> Result<Vec<Encoder>, Box<dyn Error>> {
    let Splitter::Native(family, _) = Splitter::new(pattern)? else {
        return Err("not native".into());
    };
    let tiers = Tier::ALL.into_iter().filter(|tier| tier.available());
    Ok(tiers
        .map(|tier| {
            let splitter = Splitter::Native(family, tier);
            Encoder::new(vocabulary.clone(), SpecialTokens::default(), splitter)
        })
        .collect())
}

/// Asserts that each encoder returns the ids of the definition, with a cold cache and with a warm one.
fn assert_defined(encoders: &[Encoder], vocabulary: &Vocabulary, text: &str) -> TestResult {
    for encoder in encoders {
        let mut expected = Vec::new();
        for piece in pieces(encoder.splitter(), text)? {
            expected.extend(reference::encode_piece(vocabulary, text[piece].as_bytes()));
        }
        for _ in 0..3 {
            let ids = encode(encoder, text, &Allowed::Nothing)?;
            assert_eq!(ids, expected, "{:?}: {text:?}", encoder.splitter());
            assert_eq!(encoder.count(text, &Allowed::Nothing)?, expected.len());
        }
    }
    Ok(())
}

/// As many ids as bytes, many times the capacity of a batch of probes.
#[test]
fn an_id_for_every_byte() -> TestResult {
    let vocabulary = Arc::new(Vocabulary::from_ranks(ranks_with_bytes())?);
    let mut letters = Random::new(3);
    for pattern in PUBLISHED {
        let encoders = on_every_tier(&vocabulary, pattern)?;
        let mut text: String = "a b1 c!\n".repeat(700);
        // Blocks of as many pieces as they have bytes.
        text.push_str(&"a1".repeat(700));
        for length in 1..=63 {
            // Blocks full of one piece, with as many ids as a bucket holds or a few more.
            let word: String = (0..length)
                .map(|_| *letters.pick(&['x', 'y', 'é']))
                .collect();
            text.push_str(&format!(" {word}").repeat(40));
        }
        assert_defined(&encoders, &vocabulary, &text)?;
        // Every number of pieces that may be pending when the text ends.
        for length in (900..1100).chain([2048]) {
            let text = &text[..length];
            for encoder in &encoders {
                for _ in 0..2 {
                    let ids = encode(encoder, text, &Allowed::Nothing)?;
                    let bytes: Vec<TokenId> = text.bytes().map(TokenId::from).collect();
                    assert_eq!(ids, bytes);
                }
            }
        }
    }
    Ok(())
}

/// Ids that are too large for packed ids, for tables of bytes and pairs, and for short merges, among small
/// ones; and tokens of NUL and of bytes that no text has.
#[test]
fn ids_of_every_size_and_tokens_of_any_bytes() -> TestResult {
    let tokens: [&[u8]; 22] = [
        b"ab",
        b"\0\0",
        b"a\0",
        b"\0a",
        b"ab\0\0",
        b"\0\0\0\0\0\0\0\0",
        b"\xFF\xFF",
        b"a\xFF",
        b"ab\xFF\xFF\xFF\xFF\xFF\xFF",
        b"abcdefgh\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF",
        b"abc",
        b" ab",
        b"ba",
        b"aba",
        b"abab",
        b"abababab",
        b"ababababa",
        b"\xE4\xB8",
        "中".as_bytes(),
        "中中".as_bytes(),
        b"\xB8\xAD\xE4",
        b"abababababababababababababababababa",
    ];
    let mut random = Random::new(5);
    // Ids on both sides of each.
    let limits = [1 << 20, 1 << 24, 1 << 25, NO_TOKEN - 140];
    for round in 0..24 {
        let mut ids: Vec<TokenId> = (0..).take(256 + tokens.len()).collect();
        for id in &mut ids {
            if random.below(3) == 0 {
                *id += random.pick(&limits[..=round % limits.len()]) - 140;
            }
        }
        if round % 3 == 0 {
            // Tokens have higher ids than their parts.
            ids.sort_unstable();
        } else {
            random.shuffle(&mut ids);
        }
        let bytes = (0..=255).map(|byte| vec![byte]);
        let all = bytes.chain(tokens.iter().map(|token| token.to_vec()));
        let ranks: Vec<(Vec<u8>, TokenId)> = all.zip(ids).collect();
        let vocabulary = Arc::new(Vocabulary::from_ranks(ranks.clone())?);
        for pattern in PUBLISHED {
            let encoders = on_every_tier(&vocabulary, pattern)?;
            for _ in 0..4 {
                let parts = [
                    "ab", "a", "b", "abcdefgh", " ", "\0", "\0\0", "中", "一", "\n", "!", "c",
                ];
                let text: String = (0..random.below(120))
                    .map(|_| *random.pick(&parts))
                    .collect();
                assert_defined(&encoders, &vocabulary, &text)?;
            }
            for (token, id) in &ranks {
                let mut bytes = Vec::new();
                encoders[0].encode_bytes(token, &mut bytes)?;
                assert_eq!(encoders[0].decode(&bytes)?, *token);
                let mut piece = Vec::new();
                encoders[0].encode_piece(token, &mut piece)?;
                assert_eq!(piece, [*id]);
            }
            for _ in 0..20 {
                let length = random.below(40);
                let bytes = random.bytes(b"ab\0\xFF\xE4\xB8\xAD", length);
                let mut ids = Vec::new();
                encoders[0].encode_piece(&bytes, &mut ids)?;
                assert_eq!(ids, reference::encode_piece(&vocabulary, &bytes));
            }
        }
    }
    Ok(())
}
