//! Encoders with added tokens, normalization and what else a `tokenizer.json` says besides merges.

use std::error::Error;
use std::ops::Range;
use std::sync::Arc;

use bytemill::builtin::Builtin;
use bytemill::encode::Encoder;
use bytemill::encode::batch::Batch;
use bytemill::encode::pipeline::added::AddedToken;
use bytemill::encode::pipeline::{Marks, Normalization, Pipeline, Prefix};
use bytemill::encode::special::{Allowed, Policy, SpecialTokens};
use bytemill::encode::truncate::Keep;
use bytemill::error::VocabularyError;
use bytemill::normalize::chain::{Chain, Find, Step};
use bytemill::split::Splitter;
use bytemill::token::TokenId;
use bytemill::vocabulary::Vocabulary;

use crate::support::{R50K, Random, TestResult};

/// Ids of added tokens begin here.
const ADDED: TokenId = 100_000;

fn token(content: &str) -> AddedToken {
    AddedToken {
        content: content.to_owned(),
        id: 0,
        special: false,
        lstrip: false,
        rstrip: false,
        single_word: false,
        normalized: false,
    }
}

struct Parts {
    added: Vec<AddedToken>,
    steps: Vec<Step>,
    prefix: Prefix,
    marks: Marks,
}

impl Default for Parts {
    fn default() -> Self {
        Self {
            added: Vec::new(),
            steps: Vec::new(),
            prefix: Prefix::Nothing,
            marks: Marks::Nothing,
        }
    }
}

impl Parts {
    /// Builds the encoder around a vocabulary of the bytes alone, or of r50k.
    fn over(self, vocabulary: Arc<Vocabulary>) -> Result<Encoder, VocabularyError> {
        let added: Vec<AddedToken> = (ADDED..)
            .zip(self.added)
            .map(|(id, token)| AddedToken { id, ..token })
            .collect();
        let special = added.iter().filter(|token| token.special);
        let special = special.map(|token| (token.content.clone(), token.id));
        let special = SpecialTokens::new(special.collect())?;
        let pipeline = Pipeline {
            added: Some(added),
            symbols: Vec::new(),
            normalization: Normalization::Chain(Chain::new(self.steps)?),
            prefix: self.prefix,
            marks: self.marks,
            fused: None,
            splitter: Splitter::new(R50K).expect("a native pattern"),
        };
        Encoder::with_pipeline(vocabulary, special, pipeline)
    }

    fn over_bytes(self) -> Result<Encoder, VocabularyError> {
        let bytes = (0..=255).map(|byte| (vec![byte], TokenId::from(byte)));
        self.over(Vocabulary::from_ranks(bytes.collect())?.into())
    }
}

/// Encodes a text in every way, which must agree, and returns its ids.
fn ids(encoder: &Encoder, text: &str, allowed: &Allowed) -> Result<Vec<TokenId>, Box<dyn Error>> {
    let mut ids = Vec::new();
    encoder.encode(text, allowed, &mut ids)?;
    let spans = encoder.encode_with_offsets(text, allowed)?;
    assert_eq!(spans.ids, ids, "with offsets, of {text:?}");
    let policy = Policy {
        allowed: allowed.clone(),
        ..Policy::ORDINARY
    };
    for threads in [1, 2] {
        let batch = Batch::new(policy.clone(), threads);
        let batch = encoder.encode_batch::<TokenId>(&[text, text], &batch)?;
        assert_eq!(batch.ids, [ids.as_slice(), &ids].concat(), "of {text:?}");
    }
    if *allowed == Allowed::Nothing {
        assert_eq!(
            encoder.count(text, &Allowed::Nothing)?,
            ids.len(),
            "of {text:?}"
        );
        let counts = encoder.count_batch(&[text], &Policy::ORDINARY, 2)?;
        assert_eq!(counts, [0, ids.len()], "of {text:?}");
        let mut of_bytes = Vec::new();
        encoder.encode_bytes(text.as_bytes(), &mut of_bytes)?;
        assert_eq!(of_bytes, ids, "of {text:?}");
    }
    Ok(ids)
}

/// As text, with added tokens by their number in braces.
fn shown(encoder: &Encoder, text: &str, allowed: &Allowed) -> Result<String, Box<dyn Error>> {
    let mut shown = Vec::new();
    for id in ids(encoder, text, allowed)? {
        if id < ADDED {
            shown.extend_from_slice(encoder.token_bytes(id).expect("an id"));
        } else {
            shown.extend_from_slice(format!("{{{}}}", id - ADDED).as_bytes());
        }
    }
    Ok(String::from_utf8(shown)?)
}

fn offsets(encoder: &Encoder, text: &str) -> Result<Vec<Range<usize>>, Box<dyn Error>> {
    let mut spans = encoder.encode_with_offsets(text, &Allowed::All)?;
    spans.to_characters(text);
    let spans = spans.starts.iter().zip(spans.ends);
    Ok(spans.map(|(&start, end)| start..end).collect())
}

#[test]
fn a_pipeline_that_does_nothing_encodes_like_pieces() -> TestResult {
    let vocabulary = Builtin::R50k.vocabulary()?;
    let nothing = SpecialTokens::default();
    let plain = Encoder::new(Arc::clone(&vocabulary), nothing, Splitter::new(R50K)?);
    let kept = Parts {
        steps: vec![Step::Nfc],
        ..Parts::default()
    };
    let kept = kept.over(vocabulary)?;
    let mut random = Random::new(1);
    for _ in 0..200 {
        let text: String = (0..random.below(60))
            .map(|_| ['a', ' ', '1', '\n', 'é', '中', '.', 'T'][random.below(8)])
            .collect();
        let mut expected = Vec::new();
        plain.encode_ordinary(&text, &mut expected)?;
        assert_eq!(ids(&kept, &text, &Allowed::Nothing)?, expected, "{text:?}");
        let mut spans = plain.encode_with_offsets(&text, &Allowed::Nothing)?;
        spans.to_characters(&text);
        let spans: Vec<_> = spans.starts.iter().zip(spans.ends).collect();
        let expected: Vec<_> = spans.iter().map(|&(&start, end)| start..end).collect();
        assert_eq!(offsets(&kept, &text)?, expected, "{text:?}");
    }
    Ok(())
}

#[test]
fn added_tokens_are_found_by_their_flags() -> TestResult {
    let flagged = AddedToken {
        lstrip: true,
        rstrip: true,
        ..token("<m>")
    };
    let word = AddedToken {
        single_word: true,
        ..token("and")
    };
    let special = AddedToken {
        special: true,
        ..token("<s>")
    };
    let added = vec![token("<"), flagged, word, special, token("<s")];
    let encoder = Parts {
        added,
        ..Parts::default()
    };
    let encoder = encoder.over_bytes()?;
    let allowed = |text: &str| shown(&encoder, text, &Allowed::All);
    let ordinary = |text: &str| shown(&encoder, text, &Allowed::Nothing);
    assert_eq!(allowed("a \u{2003}<m>\t b")?, "a{1}b");
    assert_eq!(allowed("a<m> <m> <m>b")?, "a{1}{1}{1}b");
    assert_eq!(
        allowed("land and sand and_ (and)")?,
        "land {2} sand and_ ({2})"
    );
    assert_eq!(allowed("<s><s <")?, "{3}{4} {0}");
    // What is not allowed is not searched again.
    assert_eq!(ordinary("<s><s <")?, "<s>{4} {0}");
    let some = encoder.special_tokens().allow(["<s>"]);
    assert_eq!(shown(&encoder, "<s>", &some)?, "{3}");
    assert_eq!(encoder.added_id("and"), Some(ADDED + 2));
    assert_eq!(encoder.token_bytes(ADDED + 2), Some("and".as_bytes()));
    assert_eq!(encoder.largest_id(), ADDED + 4);
    let spans = offsets(&encoder, "é <m> b")?;
    assert_eq!(spans, [0..1, 0..1, 1..6, 6..7]);
    Ok(())
}

#[test]
fn tokens_among_blanks_that_were_taken_are_found_as_well() -> TestResult {
    let stripping = AddedToken {
        rstrip: true,
        ..token("a")
    };
    let encoder = Parts {
        added: vec![stripping.clone(), token(" "), token(" b")],
        ..Parts::default()
    };
    let encoder = encoder.over_bytes()?;
    assert_eq!(shown(&encoder, "xa   b", &Allowed::All)?, "x{0}{1}{1}{2}");
    assert_eq!(shown(&encoder, "xa \t x", &Allowed::All)?, "x{0}{1}\t{1}x");
    // The spans of both overlap.
    assert_eq!(offsets(&encoder, "éa  b")?, [0..1, 0..1, 1..4, 2..3, 3..5]);
    let blank = AddedToken {
        lstrip: true,
        ..token(" ")
    };
    let refused = Parts {
        added: vec![stripping, blank],
        ..Parts::default()
    };
    let error = refused.over_bytes().expect_err("`tokenizers` panics");
    assert!(matches!(
        error,
        VocabularyError::OverlappingAddedTokens { .. }
    ));
    Ok(())
}

#[test]
fn normalized_tokens_are_found_in_normalized_text() -> TestResult {
    let normalized = |content: &str| AddedToken {
        normalized: true,
        ..token(content)
    };
    let encoder = Parts {
        added: vec![normalized("Name"), token("RAW")],
        steps: vec![Step::Lowercase],
        ..Parts::default()
    };
    let encoder = encoder.over_bytes()?;
    let text = "My NAME raw RAW İ name";
    assert_eq!(
        shown(&encoder, text, &Allowed::All)?,
        "my {0} raw {1} i\u{307} {0}"
    );
    let spans = offsets(&encoder, "İ name")?;
    assert_eq!(spans, [0..1, 0..1, 0..1, 1..2, 2..6]);
    let refused = Parts {
        added: vec![normalized("A"), normalized("a")],
        steps: vec![Step::Lowercase],
        ..Parts::default()
    };
    let error = refused
        .over_bytes()
        .expect_err("`tokenizers` finds any of them");
    assert!(matches!(
        error,
        VocabularyError::AmbiguousAddedTokens { .. }
    ));
    Ok(())
}

#[test]
fn a_long_gap_is_normalized_in_chunks() -> TestResult {
    let encoder = Parts {
        steps: vec![Step::Nfc, Step::Lowercase],
        prefix: Prefix::Always,
        ..Parts::default()
    };
    let encoder = encoder.over_bytes()?;
    let part = "E\u{301}\u{323} W\u{302}中";
    let count = (5 << 19) / part.len();
    let text = part.repeat(count);
    let (mut short, mut ids) = (Vec::new(), Vec::new());
    encoder.encode_ordinary(part, &mut short)?;
    encoder.encode_ordinary(&text, &mut ids)?;
    assert_eq!((ids[0], short[0]), (32, 32));
    assert_eq!(ids[1..], short[1..].repeat(count));
    let spans = encoder.encode_with_offsets(&text, &Allowed::Nothing)?;
    let first = encoder.encode_with_offsets(part, &Allowed::Nothing)?;
    assert_eq!(spans.ids, ids);
    for (index, place) in (0..count).zip((1..).step_by(short.len() - 1)) {
        let shifted = |offsets: &[usize]| -> Vec<usize> {
            let offsets = offsets[1..].iter();
            offsets.map(|offset| offset + index * part.len()).collect()
        };
        let tokens = place..place + short.len() - 1;
        assert_eq!(spans.starts[tokens.clone()], shifted(&first.starts));
        assert_eq!(spans.ends[tokens], shifted(&first.ends));
    }
    Ok(())
}

#[test]
fn a_token_of_which_nothing_is_left_is_refused() {
    let blank = AddedToken {
        normalized: true,
        ..token(" ")
    };
    let parts = Parts {
        added: vec![blank],
        steps: vec![Step::Strip {
            left: true,
            right: true,
        }],
        ..Parts::default()
    };
    let error = parts
        .over_bytes()
        .expect_err("it would be found everywhere");
    assert!(matches!(error, VocabularyError::AddedToken { .. }));
}

#[test]
fn a_space_goes_where_the_file_puts_one() -> TestResult {
    let prefixed = |prefix, marks| {
        let normalized = AddedToken {
            normalized: true,
            ..token("<s>")
        };
        let parts = Parts {
            added: vec![token("|"), normalized],
            prefix,
            marks,
            ..Parts::default()
        };
        parts.over_bytes()
    };
    let always = prefixed(Prefix::UnlessSpace, Marks::Nothing)?;
    let shown = |encoder: &Encoder, text: &str| shown(encoder, text, &Allowed::All);
    assert_eq!(shown(&always, "a| b|c<s>d")?, " a{0} b{0} c{1} d");
    let first = prefixed(Prefix::FirstUnlessSpace, Marks::Nothing)?;
    assert_eq!(shown(&first, "a|b|c<s>d")?, " a{0}b{0}c{1}d");
    assert_eq!(shown(&first, "|b")?, "{0}b");
    let before_tokens = prefixed(Prefix::Always, Marks::Nothing)?;
    assert_eq!(
        shown(&before_tokens, "<s>a<s> <s>| b|")?,
        "{1}a<s>{1}{0}  b{0}"
    );
    let marks = prefixed(Prefix::UnlessSpace, Marks::Segments)?;
    assert_eq!(shown(&marks, "▁a|b▁")?, " a{0} b ");
    assert_eq!(
        offsets(&always, "é|b")?,
        [0..1, 0..1, 0..1, 1..2, 2..3, 2..3]
    );
    assert_eq!(offsets(&marks, "b▁c")?, [0..1, 0..1, 1..2, 2..3]);
    Ok(())
}

#[test]
fn spaces_for_marks_are_no_blanks() -> TestResult {
    let mark = Step::Replace {
        find: Find::Text("▁".to_owned()),
        content: " ".to_owned(),
    };
    let stripped = AddedToken {
        lstrip: true,
        normalized: true,
        ..token("x")
    };
    let encoder = Parts {
        added: vec![stripped],
        steps: vec![mark],
        marks: Marks::Normalized,
        ..Parts::default()
    };
    let encoder = encoder.over_bytes()?;
    assert_eq!(shown(&encoder, "a x\tx▁x", &Allowed::All)?, "a {0}{0} {0}");
    Ok(())
}

#[test]
fn other_special_tokens_have_no_flags() -> TestResult {
    let special = AddedToken {
        special: true,
        rstrip: true,
        ..token("<s>")
    };
    let encoder = Parts {
        added: vec![special],
        ..Parts::default()
    };
    let encoder = encoder.over_bytes()?;
    let others = SpecialTokens::new(vec![("<t>".to_owned(), ADDED + 7)])?;
    let other = encoder.with_special_tokens(others)?;
    assert_eq!(shown(&other, "<s> <t> a", &Allowed::All)?, "<s> {7} a");
    assert_eq!(shown(&encoder, "<s> <t> a", &Allowed::All)?, "{0}<t> a");
    Ok(())
}

#[test]
fn parts_of_a_text_fit() -> TestResult {
    let normalized = AddedToken {
        normalized: true,
        rstrip: true,
        ..token("ab")
    };
    let encoder = Parts {
        added: vec![normalized, token("c")],
        steps: vec![Step::Lowercase, Step::Nfkd],
        prefix: Prefix::UnlessSpace,
        ..Parts::default()
    };
    let encoder = encoder.over_bytes()?;
    let mut random = Random::new(2);
    for _ in 0..100 {
        let text: String = (0..random.below(40))
            .map(|_| ['a', 'B', ' ', 'C', 'é', 'ﬁ', '.'][random.below(7)])
            .collect();
        for limit in [4, 7, 20] {
            let parts = encoder.parts(&text, &Allowed::Nothing, limit, 0, &[])?;
            let joined: String = parts.iter().map(|part| &text[part.clone()]).collect();
            assert_eq!(joined, text);
            for part in parts {
                assert!(
                    encoder.count(&text[part], &Allowed::Nothing)? <= limit,
                    "{text:?}"
                );
            }
            for keep in [Keep::Start, Keep::End] {
                let cut = encoder.truncate(&text, &Allowed::Nothing, limit, keep)?;
                let kept = match keep {
                    Keep::Start => &text[..cut.cut],
                    Keep::End => &text[cut.cut..],
                };
                assert_eq!(
                    encoder.count(kept, &Allowed::Nothing)?,
                    cut.count,
                    "{text:?}"
                );
                assert!(cut.count <= limit, "{text:?}");
            }
        }
    }
    Ok(())
}

#[test]
fn bytes_that_are_no_character_are_replaced() -> TestResult {
    let encoder = Parts {
        added: vec![token("|")],
        ..Parts::default()
    };
    let encoder = encoder.over_bytes()?;
    let (mut ids, mut expected) = (Vec::new(), Vec::new());
    encoder.encode_bytes(b"a|\xE4\xB8|b", &mut ids)?;
    encoder.encode_ordinary("a|\u{FFFD}\u{FFFD}|b", &mut expected)?;
    assert_eq!(ids, expected);
    assert_eq!(ids.iter().filter(|&&id| id == ADDED).count(), 2);
    Ok(())
}
