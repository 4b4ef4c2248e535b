//! Cuts of texts for pipelines: the ids of both parts are those of the whole, whatever is added and normalized.

use std::sync::{Arc, OnceLock};

use bytemill::builtin::Builtin;
use bytemill::encode::Encoder;
use bytemill::encode::batch::Batch;
use bytemill::encode::pipeline::added::AddedToken;
use bytemill::encode::pipeline::{Marks, Normalization, Pipeline, Prefix};
use bytemill::encode::special::{Allowed, Disallowed, Policy, SpecialTokens};
use bytemill::encode::truncate::Keep;
use bytemill::error::{EncodeError, NormalizerError};
use bytemill::normalize::chain::{Chain, Find, Precompiled, Step};
use bytemill::normalize::rules::{Rules, charsmap};
use bytemill::split::Splitter;
use bytemill::split::adjacent::Adjacency;
use bytemill::split::chain::{Behavior, Pattern, Step as Cutting};
use bytemill::token::TokenId;
use bytemill::util::tier::Tier;
use fancy_regex::Regex;

use crate::support::{CL100K, O200K, R50K, Random, TestResult};

/// Parts of texts: letters and numbers before others, which are cut, and what normal forms and added tokens make of them.
const PARTS: [&str; 49] = [
    "a",
    "b",
    "B",
    "1",
    "2",
    "é",
    "e",
    "=",
    "o\u{308}",
    "a\u{200B}\u{301}",
    "е",
    "中",
    "ก",
    "ड",
    "가",
    "\u{1100}",
    "\u{212A}",
    "ſ", // letters and numbers
    " ",
    " ",
    "\n",
    "\t",
    "\u{3000}",
    ".",
    "-",
    "<",
    ">",
    "'",
    "'s",
    "。",
    "\u{2000}",
    "\u{387}", // others
    "\u{301}",
    "\u{323}",
    "\u{93C}",
    "\u{94D}",
    "\u{1161}",
    "\u{11A8}",
    "\u{E48}",
    "\u{338}", // marks
    "<a>",
    "b 1",
    "1.",
    "s<",
    "\u{2581}",
    "\0",
    "\u{200B}",
    "\u{AD}",
    "\u{FFFD}", // dropped where text is cleaned
];

/// Contents of added tokens: each has letters or numbers beside others, inside or at an end.
const CONTENTS: [&str; 15] = [
    "<a>",
    "b 1",
    "1.",
    "a-b",
    "s<",
    "B",
    ".a",
    "-",
    "é",
    "é ",
    "e\u{301}.",
    "中。",
    " b",
    "2\n",
    "1 a 1 a",
];

pub(crate) fn text(random: &mut Random, longest: usize) -> String {
    let length = random.within(1..longest);
    (0..length).map(|_| *random.pick(&PARTS)).collect()
}

fn tokens(random: &mut Random) -> Vec<AddedToken> {
    let mut tokens: Vec<AddedToken> = Vec::new();
    for content in CONTENTS {
        if random.within(0..4) > 0 {
            continue;
        }
        // A token that takes blanks behind it is refused beside one of blanks; there are none.
        let mut flag = || random.within(0..3) == 0;
        tokens.push(AddedToken {
            content: content.to_owned(),
            id: 100_000 + TokenId::try_from(tokens.len()).expect("few"),
            special: flag(),
            lstrip: flag(),
            rstrip: flag(),
            single_word: flag(),
            normalized: flag(),
        });
    }
    tokens
}

/// A map of SentencePiece, read once.
fn map(name: &str) -> Result<&'static Arc<Precompiled>, NormalizerError> {
    static MAP: OnceLock<Arc<Precompiled>> = OnceLock::new();
    if let Some(map) = MAP.get() {
        return Ok(map);
    }
    let map = Precompiled::parse(charsmap(name).unwrap_or_default())?;
    Ok(MAP.get_or_init(|| Arc::new(map)))
}

/// A map with keys that begin as what may be cut does, and one that takes the letter behind it.
fn made_map() -> Result<Precompiled, NormalizerError> {
    let rules = [
        ("e\u{301}", "x"),
        ("b-", "-b"),
        (" \u{301}", "1"),
        ("\u{93C}", "2"),
    ];
    let rules = rules.map(|(key, value)| (key.to_owned(), value.to_owned()));
    Precompiled::parse(&Rules::from_pairs(rules)?.to_charsmap()?)
}

/// Cuts out each occurrence of a text.
fn isolated(text: &str) -> Cutting {
    Cutting::Split {
        pattern: Pattern::Text(text.to_owned()),
        behavior: Behavior::Isolated,
        invert: false,
    }
}

/// Kinds of pipelines.
const KINDS: usize = 25;

pub(crate) fn encoder(
    random: &mut Random,
    seed: usize,
) -> Result<Encoder, Box<dyn std::error::Error>> {
    let added = tokens(random);
    let special = added.iter().filter(|token| token.special);
    let special = special.map(|token| (token.content.clone(), token.id));
    let special = SpecialTokens::new(special.collect())?;
    let unmark = Step::Replace {
        find: Find::Text("\u{2581}".to_owned()),
        content: " ".to_owned(),
    };
    let replace = |pattern: &str, content: &str| {
        Ok::<_, Box<dyn std::error::Error>>(Step::Replace {
            find: Find::Regex(Box::new(Regex::new(pattern)?)),
            content: content.to_owned(),
        })
    };
    let quotes = Step::Replace {
        find: Find::Text("''".to_owned()),
        content: "\"".to_owned(),
    };
    let strip = |left, right| Step::Strip { left, right };
    let (prefix, marks) = match seed % KINDS {
        6 => (Prefix::Always, Marks::Nothing),
        7 => (Prefix::Always, Marks::Normalized),
        11 | 18 => (Prefix::UnlessSpace, Marks::Segments),
        12 => (Prefix::FirstUnlessSpace, Marks::Segments),
        13 | 14 | 17 => (Prefix::UnlessSpace, Marks::Words),
        _ => (Prefix::Nothing, Marks::Nothing),
    };
    let steps = match seed % KINDS {
        0 | 11..15 => vec![],
        1 | 2 | 6 | 20 => vec![Step::Nfc],
        3 => vec![Step::Nfkc],
        4 => vec![Step::Nfd],
        5 => vec![Step::Nfkd, Step::Nfc],
        8 => vec![Step::Lowercase],
        9 => vec![Step::CleanText, Step::IsolateHan],
        10 => vec![
            Step::CleanText,
            Step::IsolateHan,
            Step::Nfd,
            Step::StripNonspacing,
            Step::Lowercase,
        ],
        15 => vec![Step::Nfc, replace(r"\s+", " ")?, Step::Lowercase],
        16 => vec![strip(true, true)],
        17 => vec![quotes, Step::Nfkd, Step::StripAccents, Step::Lowercase],
        18 => vec![strip(true, true), replace(" {2,}", " ")?],
        19 => vec![replace("1[2-]+|<", "-<")?, strip(seed % 7 > 3, true)],
        21 => vec![Step::CleanText, Step::Nfkc],
        22 => vec![replace("\u{200B}", "")?, Step::Nfc, Step::Lowercase],
        23 => vec![Step::Precompiled(Arc::clone(map("nmt_nfkc")?))],
        24 => vec![Step::Precompiled(Arc::new(made_map()?))],
        _ => vec![unmark],
    };
    let pipeline = Pipeline {
        added: Some(added),
        symbols: Vec::new(),
        normalization: Normalization::Chain(Chain::new(steps)?),
        prefix,
        marks,
        fused: None,
        splitter: match seed % KINDS {
            14 => Splitter::Adjacent(Arc::new(Adjacency::whole().by_words()), Tier::current()),
            // At letters that are composed with marks, or what is replaced.
            20..25 => Splitter::from_chain(&[isolated(["e", "=", "o", " "][seed % 4])])?,
            _ => Splitter::new([R50K, CL100K, O200K][seed % 3])?,
        },
    };
    let vocabulary = Builtin::Cl100k.vocabulary()?;
    Ok(Encoder::with_pipeline(vocabulary, special, pipeline)?)
}

fn ids(encoder: &Encoder, text: &str, allowed: &Allowed) -> Result<Vec<TokenId>, EncodeError> {
    let mut ids = Vec::new();
    encoder.encode(text, allowed, &mut ids)?;
    Ok(ids)
}

#[test]
fn ids_of_both_parts_are_those_of_the_whole() -> TestResult {
    let mut cuts = [0; KINDS];
    for seed in 0..100 * KINDS {
        let mut random = Random::new(seed);
        // Two added tokens may be the same once they are normalized.
        let Ok(encoder) = encoder(&mut random, seed) else {
            continue;
        };
        for _ in 0..30 {
            let text = text(&mut random, 40);
            for allowed in [Allowed::Nothing, Allowed::All] {
                let whole = ids(&encoder, &text, &allowed)?;
                for cut in encoder.cuts(&text, 0..usize::MAX) {
                    let mut parts = ids(&encoder, &text[..cut], &allowed)?;
                    encoder.encode_after_cut(&text[cut..], &allowed, &mut parts)?;
                    assert_eq!(parts, whole, "{text:?} at {cut}, pipeline {seed}");
                    cuts[seed % KINDS] += 1;
                }
            }
            for keep in [Keep::Start, Keep::End] {
                let part = encoder.truncate(&text, &Allowed::Nothing, 5, keep)?;
                let kept = match keep {
                    Keep::Start => &text[..part.cut],
                    Keep::End => &text[part.cut..],
                };
                let count = ids(&encoder, kept, &Allowed::Nothing)?.len();
                assert_eq!(count, part.count, "{kept:?} of {text:?}, pipeline {seed}");
            }
        }
    }
    assert!(cuts.iter().all(|&count| count > 500), "{cuts:?}");
    Ok(())
}

#[test]
fn long_texts_are_divided_among_threads() -> TestResult {
    let mut random = Random::new(7);
    let mut count = 0;
    for seed in 0..2 * KINDS {
        let Ok(encoder) = encoder(&mut random, seed) else {
            continue;
        };
        let long: String = (0..20_000).map(|_| text(&mut random, 40)).collect();
        let allowed = Allowed::All;
        let whole = ids(&encoder, &long, &allowed)?;
        let disallowed = Disallowed::Nothing;
        let batch = Batch::new(
            Policy {
                allowed,
                disallowed,
            },
            2,
        );
        let divided = encoder.encode_batch::<TokenId>(&[long.as_str()], &batch)?;
        assert!(divided.ids == whole, "pipeline {seed}");
        count += usize::from(encoder.cut(&long, long.len() / 2).is_some());
    }
    // Added tokens may reach across every cut of words.
    assert!(count > KINDS, "{count}");
    Ok(())
}

#[test]
fn pipelines_that_change_the_start_of_words_are_not_cut() -> TestResult {
    let text = "some words, one after the other";
    let encoder = |prefix, marks, step| {
        let pipeline = Pipeline {
            added: Some(Vec::new()),
            symbols: Vec::new(),
            normalization: Normalization::Chain(Chain::new(vec![step])?),
            prefix,
            marks,
            fused: None,
            splitter: Splitter::new(R50K)?,
        };
        let vocabulary = Builtin::R50k.vocabulary()?;
        let special = SpecialTokens::default();
        Ok::<_, Box<dyn std::error::Error>>(Encoder::with_pipeline(
            Arc::clone(&vocabulary),
            special,
            pipeline,
        )?)
    };
    let nfc = encoder(Prefix::Nothing, Marks::Nothing, Step::Nfc)?;
    assert!(nfc.cut(text, 0).is_some());
    for other in [
        encoder(Prefix::Nothing, Marks::Words, Step::Nfc)?,
        encoder(Prefix::FirstUnlessSpace, Marks::Words, Step::Nfc)?,
        encoder(
            Prefix::Nothing,
            Marks::Nothing,
            Step::Prepend("a".to_owned()),
        )?,
        encoder(
            Prefix::Nothing,
            Marks::Nothing,
            Step::Replace {
                find: Find::Regex(Box::new(Regex::new(r"\b ")?)),
                content: " ".to_owned(),
            },
        )?,
    ] {
        assert_eq!(other.cut(text, 0), None);
    }
    Ok(())
}
