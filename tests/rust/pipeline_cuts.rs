//! Cuts of texts for pipelines: the ids of both parts are those of the whole, whatever is added and normalized.

use std::sync::{Arc, OnceLock};

use bytemill::builtin::Builtin;
use bytemill::documents;
use bytemill::encode::Encoder;
use bytemill::encode::batch::Batch;
use bytemill::encode::cuts::Dividing;
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

/// Returns the last place where a document is cut, whose parts have the ids of the whole.
fn document_cut(
    encoder: &Encoder,
    policy: &Policy,
    text: &str,
    block: &[u8],
) -> Result<Option<usize>, EncodeError> {
    let Dividing { starts, whole } = encoder.dividing(policy);
    let [starts, whole] =
        [starts, whole].map(|all| all.into_iter().map(str::as_bytes).collect::<Vec<_>>());
    let cut = documents::last_cut(block, &starts, &whole, None, 1 << 16);
    if let Some(cut) = cut {
        let mut parts = ids(encoder, &text[..cut], &policy.allowed)?;
        encoder.encode(&text[cut..], &policy.allowed, &mut parts)?;
        let expected = ids(encoder, text, &policy.allowed)?;
        assert_eq!(parts, expected, "{text:?} at {cut}");
    }
    Ok(cut)
}

/// Documents are cut at special tokens where these have the ids of the whole, whatever their flags are.
#[test]
fn documents_are_cut_at_tokens() -> TestResult {
    let (mut cuts, mut uncut) = ([0; 3], [0; 3]);
    for seed in 0..40 * KINDS {
        let mut random = Random::new(seed);
        let Ok(encoder) = encoder(&mut random, seed) else {
            continue;
        };
        let special = encoder.special_tokens();
        let some = CONTENTS.into_iter().filter(|_| random.within(0..2) > 0);
        let policies = [Allowed::Nothing, Allowed::All, special.allow(some)];
        for (number, allowed) in policies.into_iter().enumerate() {
            let policy = Policy {
                allowed,
                disallowed: Disallowed::Nothing,
            };
            for _ in 0..150 {
                let text = text(&mut random, 40);
                let block = &text.as_bytes()[..=random.within(0..text.len())];
                match document_cut(&encoder, &policy, &text, block)? {
                    Some(_) => cuts[number] += 1,
                    None => uncut[number] += 1,
                }
            }
        }
    }
    assert!(cuts[0] == 0 && cuts[1] > 500 && cuts[2] > 200, "{cuts:?}");
    assert!(uncut.iter().all(|&count| count > 500), "{uncut:?}");
    Ok(())
}

/// A document is cut at no token that looks at what stands before it, that one before it looks at, or that may be part of
/// another.
#[test]
fn flags_of_tokens_that_cut_documents() -> TestResult {
    type Flag = fn(&mut AddedToken);
    type Case<'a> = (&'a [(&'a str, Flag)], &'a str, Option<usize>);
    let plain: Flag = |_| ();
    let lstrip: Flag = |token| token.lstrip = true;
    let rstrip: Flag = |token| token.rstrip = true;
    let single_word: Flag = |token| token.single_word = true;
    let normalized: Flag = |token| token.normalized = true;
    let ordinary: Flag = |token| token.special = false;
    let cases: [Case; 14] = [
        (&[("<m>", plain)], "a <m> b", Some(2)),
        (&[("<m>", lstrip)], "a <m> b", None),
        (&[("<m>", rstrip)], "a <m>  b", Some(2)),
        (&[("<m>", rstrip)], "a <m>  <m> b", Some(7)),
        (&[("<m>", single_word)], "a<m> b", None),
        (&[("<m>", normalized)], "a <m> b", None),
        (&[("<m>", ordinary)], "a <m> b", None),
        (&[("<r>", rstrip), (" <m>", plain)], "a<r> <m> b", Some(4)),
        (&[("<s", single_word), ("m>", plain)], "a <sm> b", None),
        (&[("<s", single_word), ("<m>", plain)], "a <s<m> b", Some(4)),
        (&[("<m>", plain), ("<m>x", plain)], "a <m>x b", Some(2)),
        (&[("<m>", plain), ("<m>x", single_word)], "a <m>xy b", None),
        (&[("<m>", plain), ("x<m>y", ordinary)], "a x<m>y b", None),
        (&[("<m>", plain), ("x<m>y", ordinary)], "a x<m> b", Some(3)),
    ];
    for (tokens, text, expected) in cases {
        let added = (100_000..).zip(tokens).map(|(id, (content, flag))| {
            let mut token = AddedToken {
                content: (*content).to_owned(),
                id,
                special: true,
                lstrip: false,
                rstrip: false,
                single_word: false,
                normalized: false,
            };
            flag(&mut token);
            token
        });
        let added: Vec<AddedToken> = added.collect();
        let special = added.iter().filter(|token| token.special);
        let special = special.map(|token| (token.content.clone(), token.id));
        let special = SpecialTokens::new(special.collect())?;
        let pipeline = Pipeline {
            added: Some(added),
            symbols: Vec::new(),
            normalization: Normalization::Chain(Chain::new(vec![])?),
            prefix: Prefix::Nothing,
            marks: Marks::Nothing,
            fused: None,
            splitter: Splitter::new(CL100K)?,
        };
        let encoder = Encoder::with_pipeline(Builtin::Cl100k.vocabulary()?, special, pipeline)?;
        let policy = Policy {
            allowed: Allowed::All,
            disallowed: Disallowed::Nothing,
        };
        // Strings may lie across places near an end.
        let start = "before it, ";
        let long = format!("{start}{text} and more behind it");
        let cut = document_cut(&encoder, &policy, &long, long.as_bytes())?;
        assert_eq!(cut.map(|cut| cut - start.len()), expected, "{text:?}");
    }
    Ok(())
}

/// A place that a disallowed string reaches across is no place to cut, so that the string is found.
#[test]
fn documents_are_cut_at_disallowed_strings() -> TestResult {
    let vocabulary = Builtin::R50k.vocabulary()?;
    let special = SpecialTokens::new(vec![("<a>".to_owned(), 50_256)])?;
    let encoder = Encoder::new(vocabulary, special, Splitter::new(R50K)?);
    let special = encoder.special_tokens();
    let cut = |allowed: Allowed, disallowed: Disallowed, text: &str| {
        let policy = Policy {
            allowed,
            disallowed,
        };
        let Dividing { starts, whole } = encoder.dividing(&policy);
        let [starts, whole] =
            [starts, whole].map(|all| all.into_iter().map(str::as_bytes).collect::<Vec<_>>());
        documents::last_cut(text.as_bytes(), &starts, &whole, None, 1 << 16)
    };
    let text = "some x<a>, and more";
    assert_eq!(cut(Allowed::Nothing, Disallowed::Nothing, text), None);
    assert_eq!(cut(Allowed::All, Disallowed::Nothing, text), Some(6));
    let all = special.disallow_except(&Allowed::Nothing);
    assert_eq!(cut(Allowed::Nothing, all, text), Some(6));
    let across = special.disallow(vec!["x<a".to_owned()])?;
    assert_eq!(cut(Allowed::All, across, text), Some(5));
    Ok(())
}
