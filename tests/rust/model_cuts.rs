//! Cuts of texts for SentencePiece models: the ids of both parts are those of the whole, and truncation counts rightly.

use bytemill::encode::Encoder;
use bytemill::encode::special::{Allowed, SpecialTokens};
use bytemill::encode::truncate::Keep;
use bytemill::error::EncodeError;
use bytemill::normalize::rules::Rules;
use bytemill::sentencepiece::{Draft, DraftPiece, Kind, Model, Value};

use crate::support::{Random, TestResult};

/// Characters of pieces and texts, marks and spaces more often than others.
const ALPHABET: [&str; 16] = [
    " ", " ", " ", "\u{2581}", "a", "b", "c", "A", "1", "\t", "é", "e\u{301}", "中", "ﬁ",
    "\u{200B}", "😀",
];

/// Characters become others, spaces and nothing; keys have several characters, and end in a letter.
const RULES: [(&str, &str); 8] = [
    ("\t", " "),
    ("\u{200B}", ""),
    ("é", "e"),
    ("e\u{301}", "e"),
    ("ﬁ", "fi"),
    ("A", "a"),
    ("ca", " "),
    ("中b", "ab"),
];

fn word(random: &mut Random, longest: usize) -> String {
    let length = random.within(1..longest);
    (0..length).map(|_| *random.pick(&ALPHABET)).collect()
}

/// A model with pieces at random. `options` has a bit for each option.
fn model(random: &mut Random, options: usize) -> Result<Model, Box<dyn std::error::Error>> {
    let is_set = |bit: usize| options >> bit & 1 == 1;
    let truth = |bit: usize| vec![Value::Bool(is_set(bit))];
    let mut draft = Draft::default();
    let mut add = |text: &str, score: usize, kind| {
        let score = -f32::from(u16::try_from(score).expect("a small number"));
        draft.pieces.push(DraftPiece::new(text, score, kind));
    };
    add("<unk>", 0, Kind::Unknown);
    let mut known = std::collections::HashSet::new();
    for (number, character) in ALPHABET.into_iter().skip(3).enumerate() {
        if known.insert(character.to_owned()) && !(number + options).is_multiple_of(5) {
            add(character, 0, Kind::Normal);
        }
    }
    for _ in 0..40 {
        let text = word(random, 4).replace(' ', "\u{2581}");
        let is_symbol = is_set(5) && random.within(0..8) == 0;
        let kind = if is_symbol {
            Kind::UserDefined
        } else {
            Kind::Normal
        };
        if known.insert(text.clone()) {
            add(&text, random.within(0..30), kind);
        }
    }
    if is_set(4) {
        for byte in 0..=u8::MAX {
            add(&format!("<0x{byte:02X}>"), 0, Kind::Byte);
        }
    }
    draft.trainer.set("model_type", vec![Value::Integer(2)])?;
    draft.trainer.set("byte_fallback", truth(4))?;
    draft.trainer.set(
        "treat_whitespace_as_suffix",
        vec![Value::Bool(options.is_multiple_of(11))],
    )?;
    draft.normalizer.set("add_dummy_prefix", truth(0))?;
    draft.normalizer.set("remove_extra_whitespaces", truth(1))?;
    draft.normalizer.set(
        "escape_whitespaces",
        vec![Value::Bool(!options.is_multiple_of(7))],
    )?;
    if is_set(2) {
        let rules = RULES.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let rules = rules.into_iter().filter(|_| random.within(0..3) > 0);
        let charsmap = Rules::from_pairs(rules)?.to_charsmap()?;
        let charsmap = vec![Value::Bytes(charsmap)];
        draft.normalizer.set("precompiled_charsmap", charsmap)?;
    }
    Ok(draft.build()?)
}

fn ids(encoder: &Encoder, text: &str, allowed: &Allowed) -> Result<Vec<u32>, EncodeError> {
    let mut ids = Vec::new();
    encoder.encode(text, allowed, &mut ids)?;
    Ok(ids)
}

#[test]
fn ids_of_both_parts_are_those_of_the_whole() -> TestResult {
    let mut cuts = [0; 2];
    for seed in 0..640 {
        let mut random = Random::new(seed);
        let model = model(&mut random, seed)?;
        let special = (0..random.below(4)).map(|_| word(&mut random, 3));
        let special = special.filter(|text| !text.is_empty()).zip(100_000..);
        let special = SpecialTokens::new(special.collect())?;
        let encoder = Encoder::of_model(&model, special)?;
        for turn in 0..20 {
            let text = word(&mut random, 40);
            let allowed = [Allowed::Nothing, Allowed::All][turn % 2].clone();
            let whole = ids(&encoder, &text, &allowed)?;
            for cut in encoder.cuts(&text, 0..usize::MAX) {
                let mut parts = ids(&encoder, &text[..cut], &allowed)?;
                encoder.encode_after_cut(&text[cut..], &allowed, &mut parts)?;
                assert_eq!(parts, whole, "{text:?} at {cut}, model {seed}");
                cuts[usize::from(
                    encoder
                        .sentencepiece()
                        .is_some_and(|rules| rules.normalizer.is_identity()),
                )] += 1;
            }
        }
    }
    assert!(cuts.iter().all(|&count| count > 1000), "{cuts:?}");
    Ok(())
}

#[test]
fn truncation_counts_what_is_kept() -> TestResult {
    for seed in 0..320 {
        let mut random = Random::new(seed);
        let model = model(&mut random, seed)?;
        let encoder = Encoder::of_model(&model, SpecialTokens::default())?;
        for _ in 0..10 {
            let text = word(&mut random, 60);
            for limit in [0, 1, 2, 5, 9] {
                for keep in [Keep::Start, Keep::End] {
                    let part = encoder.truncate(&text, &Allowed::Nothing, limit, keep)?;
                    let kept = match keep {
                        Keep::Start => &text[..part.cut],
                        Keep::End => &text[part.cut..],
                    };
                    let count = ids(&encoder, kept, &Allowed::Nothing)?.len();
                    assert_eq!(count, part.count, "{kept:?} of {text:?}, model {seed}");
                    assert!(count <= limit, "{kept:?} of {text:?}, model {seed}");
                }
            }
        }
    }
    Ok(())
}
