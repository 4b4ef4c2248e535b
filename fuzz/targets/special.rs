//! Special tokens that overlap, nest and repeat, against a search that tries each at every offset; and the encoding and
//! counting of the text between them.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use bytemill::encode::Encoder;
use bytemill::encode::special::SpecialTokens;
use bytemill::error::EncodeError;
use bytemill::split::Splitter;
use bytemill::train::counting::{Item, PieceCounts};
use bytemill::vocabulary::Vocabulary;

use crate::files::File;
use crate::input::{Input, floor_char_boundary};
use crate::models::{PATTERNS, PUBLISHED, Pattern};
use crate::oracle;
use crate::pieces::Definition;
use crate::support::ranks_with_bytes;

const FIRST_ID: u32 = 300_000;

/// Merges of the characters in these special tokens and texts.
static FEW: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| {
    let mut ranks = ranks_with_bytes();
    let tokens = ["ab", "ba", "aba", "<|", "|>", "é", "中", "文", "  "];
    ranks.extend(
        tokens
            .iter()
            .map(|token| token.as_bytes().to_vec())
            .zip(256..),
    );
    Arc::new(Vocabulary::from_ranks(ranks).expect("a vocabulary"))
});

/// Longer texts take the definition of a model too long.
const LONGEST: usize = 300;

/// The encoder of the texts, by where it comes from.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    File,
    Model,
    Ranks,
}

pub(crate) fn run(mut input: Input) {
    let alphabet = input.pick(&[
        &["a", "b"][..],
        &["<", "|", "a", ">"],
        &["é", "中", "文", "a"],
        &["<|a|>", "<|", "|>", " "],
    ]);
    let allowed = input.byte();
    let disallowed = input.byte();
    let count = 1 + input.below(8);
    let long = input.below(200) == 199;
    // Tables of published vocabularies take long to begin, and what is found does not depend on them.
    let (vocabulary, pattern) = match input.below(16) {
        index @ 0..2 => (&PUBLISHED[index].0, PUBLISHED[index].1),
        index => (&*FEW, index % PATTERNS.len()),
    };
    let pattern = &PATTERNS[pattern];
    let spelled = |part: &[u8]| -> String {
        let symbols = part
            .iter()
            .map(|&byte| alphabet[usize::from(byte) % alphabet.len()]);
        symbols.collect()
    };
    let kind = input.pick(&[Kind::File, Kind::Model, Kind::Ranks, Kind::Ranks]);
    let choices = if kind == Kind::Ranks { 0 } else { 160 };
    let mut choices = Input::new(input.take(choices));
    let mut parts = input.parts();
    let mut tokens: Vec<String> = Vec::new();
    for part in parts.by_ref().take(count) {
        let token = spelled(&part[..part.len().min(12)]);
        if !token.is_empty() && !tokens.contains(&token) {
            tokens.push(token);
        }
    }
    if kind == Kind::File {
        let file = File::draw(&mut choices, &tokens);
        let texts: Vec<String> = parts.map(spelled).collect();
        file.assert_encodes(&file.encoder(), &texts);
        return;
    }
    let special = SpecialTokens::new(tokens.iter().cloned().zip(FIRST_ID..).collect())
        .expect("special tokens");
    let chosen = |mask: u8| -> Vec<&str> {
        let chosen = tokens
            .iter()
            .enumerate()
            .filter(|(index, _)| mask >> index & 1 == 1);
        chosen.map(|(_, token)| token.as_str()).collect()
    };
    let (allowed, disallowed) = (chosen(allowed), chosen(disallowed));
    if kind == Kind::Model {
        let model = Definition::draw(&mut choices);
        let texts: Vec<String> = parts.map(spelled).collect();
        assert_model_encodes(&model, special, &allowed, &texts);
        return;
    }
    let splitter = Splitter::new(&pattern.source).expect("a splitter");
    let encoder = Encoder::new(Arc::clone(vocabulary), special, splitter);
    let special = encoder.special_tokens();
    let may = special.allow(allowed.iter().copied());
    let may_not = special.allow(disallowed.iter().copied()).into();
    for part in parts {
        let mut text = spelled(part);
        if long && !text.is_empty() {
            // Long enough that threads share it.
            text = text.repeat(150_000 / text.len());
            assert_counts(&encoder, pattern, &tokens, &text);
            continue;
        }
        let found = search(&allowed, &text);
        let mut expected = Vec::new();
        let mut offset = 0;
        for &(start, token) in &found {
            let between = oracle::text(vocabulary, &pattern.regex, &text[offset..start]);
            expected.extend(between.expect("pieces"));
            expected.push(special.id(token).expect("an id"));
            offset = start + token.len();
        }
        expected.extend(oracle::text(vocabulary, &pattern.regex, &text[offset..]).expect("pieces"));
        let mut ids = Vec::new();
        encoder.encode(&text, &may, &mut ids).expect("ids");
        assert_eq!(ids, expected, "{text:?} with {allowed:?}");

        let first = search(&disallowed, &text)
            .first()
            .map(|&(start, token)| (text[..start].chars().count(), token));
        match (special.refuse(&text, &may_not), first) {
            (Ok(()), None) => (),
            (Err(EncodeError::Disallowed { token, start }), Some(first)) => {
                assert_eq!(
                    (start, token.as_str()),
                    first,
                    "{text:?} with {disallowed:?}"
                );
            }
            (found, first) => panic!("{text:?} with {disallowed:?}: {found:?}, expected {first:?}"),
        }
        assert_counts(&encoder, pattern, &tokens, &text);
    }
}

/// Encodes texts by a model: what is between special tokens is a text by itself.
fn assert_model_encodes(
    model: &Definition,
    special: SpecialTokens,
    allowed: &[&str],
    texts: &[String],
) {
    let encoder = model.encoder(special);
    let special = encoder.special_tokens();
    let may = special.allow(allowed.iter().copied());
    for text in texts {
        let text = &text[..floor_char_boundary(text, LONGEST)];
        let (mut expected, mut offset) = (Vec::new(), 0);
        for (start, token) in search(allowed, text) {
            expected.extend(model.encode(&text.as_bytes()[offset..start]));
            expected.push(special.id(token).expect("an id"));
            offset = start + token.len();
        }
        expected.extend(model.encode(&text.as_bytes()[offset..]));
        let mut ids = Vec::new();
        encoder.encode(text, &may, &mut ids).expect("ids");
        assert_eq!(ids, expected, "{text:?} with {allowed:?}");
    }
}

/// Returns the longest token at the first offset where one starts, and repeats after it.
fn search<'a>(tokens: &[&'a str], text: &str) -> Vec<(usize, &'a str)> {
    let (mut found, mut offset) = (Vec::new(), 0);
    while offset < text.len() {
        let here = tokens
            .iter()
            .filter(|token| text.as_bytes()[offset..].starts_with(token.as_bytes()));
        if let Some(token) = here.max_by_key(|token| token.len()) {
            found.push((offset, *token));
            offset += token.len();
        } else {
            offset += 1;
        }
    }
    found
}

/// Counts pieces on several threads: special tokens cut texts and are not counted.
fn assert_counts(encoder: &Encoder, pattern: &Pattern, tokens: &[String], text: &str) {
    let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
    let mut expected: HashMap<&[u8], u64> = HashMap::new();
    let mut count = |text| {
        for piece in oracle::pieces(&pattern.regex, text).expect("pieces") {
            *expected.entry(piece.as_bytes()).or_default() += 1;
        }
    };
    let mut offset = 0;
    for (start, token) in search(&tokens, text) {
        count(&text[offset..start]);
        offset = start + token.len();
    }
    count(&text[offset..]);
    let mut counts = PieceCounts::new();
    let items = [Item::Text(text)];
    let added = counts.add(
        &items,
        Some(encoder.splitter()),
        encoder.special_tokens(),
        2,
    );
    added.expect("counts");
    let columns = counts.columns().expect("columns");
    assert_eq!(
        columns.iter().collect::<HashMap<_, _>>(),
        expected,
        "{tokens:?}"
    );
}
