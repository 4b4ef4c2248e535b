//! Places inside of pieces from which their ends are found as from their starts, and runs that grow.

use std::sync::Arc;

use bytemill::builtin::Builtin;
use bytemill::encode::Encoder;
use bytemill::encode::session::Session;
use bytemill::encode::special::{Policy, SpecialTokens};
use bytemill::split::Splitter;
use bytemill::split::pattern::Family;
use bytemill::token::{Pair, TokenId};

use crate::chains;
use crate::cuts::check_families;
use crate::spellings::{self, SPELLERS};
use crate::support::{
    CL100K, CONTRACTION_SYMBOLS, O200K, R50K, Random, SYMBOLS, TestResult, assert_for_seeds,
    listed_bytes, pieces,
};

/// The ends of the pieces of a text.
fn ends(splitter: &Splitter, text: &str) -> Result<Vec<usize>, String> {
    let pieces = pieces(splitter, text).map_err(|error| format!("{text:?}: {error}"))?;
    Ok(pieces.into_iter().map(|piece| piece.end).collect())
}

/// Checks what the module says of each seam of a text. Returns their number.
fn try_seams(splitter: &Splitter, text: &str) -> Result<usize, String> {
    let whole = ends(splitter, text)?;
    let mut count = 0;
    let places = (0..text.len()).map(|place| (place, 0));
    for (seam, _) in splitter.seams(text, places) {
        let wrong = |what| {
            Err(format!(
                "{splitter:?} has a seam in {text:?} at {seam}: {what}"
            ))
        };
        let (left, right) = text.split_at(seam);
        let behind = whole.iter().filter(|&&end| end > seam);
        let behind: Vec<usize> = behind.map(|end| end - seam).collect();
        if ends(splitter, right)? != behind {
            return wrong("ends behind it");
        }
        // The first character behind it, and the second if that is a blank.
        let mut characters = right.chars();
        let first = characters.next().ok_or("nothing is behind it")?;
        let mut start = format!("{left}{first}");
        if first.is_whitespace() {
            start.extend(characters.next());
        }
        let shorter = ends(splitter, &start)?;
        let before = |ends: &[usize]| -> Vec<usize> {
            ends.iter().copied().filter(|&end| end <= seam).collect()
        };
        if before(&shorter) != before(&whole) {
            return wrong("ends before it");
        }
        if !splitter.goes_on(right) {
            return wrong("it does not go on");
        }
        count += 1;
    }
    Ok(count)
}

fn assert_exact(families: &[Family], symbols: &[&str], length: usize) {
    let seams = check_families(try_seams, families, symbols, length);
    assert!(seams > families.len());
}

#[test]
fn published_families_on_all_texts_of_five_symbols() {
    let families = SPELLERS.map(|speller| spellings::published(speller).family);
    assert_exact(&families, &SYMBOLS, 5);
}

/// Contractions and runs of blanks, in longer texts.
#[test]
fn published_families_on_longer_texts() {
    let families = SPELLERS.map(|speller| spellings::published(speller).family);
    assert_exact(&families, &["a", "B", "'", "中", " ", "\n", "."], 6);
    assert_exact(&families, &["l", "'", "e", "r", "S", " "], 6);
    assert_exact(&families, &["a", "B", "中", "\u{301}", "!", "'", "1"], 6);
}

#[test]
fn chains_on_all_texts_of_few_symbols() -> TestResult {
    let chains = chains::chains()?;
    let families: Vec<Family> = chains.iter().map(|chain| chain.family).collect();
    assert_exact(&families, &chains::SYMBOLS, 3);
    assert_exact(&families, &chains::FEW_SYMBOLS, 4);
    Ok(())
}

#[test]
fn parameter_sets_on_all_texts_of_three_symbols() {
    let sets = spellings::parameter_sets();
    let families: Vec<Family> = sets.iter().map(|spelling| spelling.family).collect();
    assert_exact(&families, &SYMBOLS, 3);
    assert_exact(&families, &CONTRACTION_SYMBOLS, 3);
}

/// A vocabulary of bytes and random merges of few letters, in which changes may reach far.
fn hostile(random: &mut Random) -> Result<Encoder, Box<dyn std::error::Error>> {
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let mut merges = Vec::new();
    for _ in 0..random.below(60) {
        let part = |random: &mut Random| {
            let index = match random.below(3) {
                0 => usize::from(*random.pick(b"ab ")),
                _ => (255 + random.below(tokens.len() - 254)).min(tokens.len() - 1),
            };
            TokenId::try_from(index)
        };
        let (left, right) = (part(random)?, part(random)?);
        let token = [left, right].map(|id| &*tokens[id as usize]).concat();
        let is_new = !tokens.contains(&token);
        if is_new && token.len() < 40 && token.is_ascii() {
            merges.push((TokenId::try_from(tokens.len())?, Pair::new(left, right)));
            tokens.push(token);
        }
    }
    // Merges that another one precedes may come in any order.
    for index in 1..merges.len() {
        merges.swap(index, random.below(index + 1));
    }
    let vocabulary = Arc::new(listed_bytes(&tokens, merges)?);
    let pattern = *random.pick(&[R50K, CL100K, O200K]);
    let special = SpecialTokens::new(Vec::new())?;
    Ok(Encoder::new(vocabulary, special, Splitter::new(pattern)?))
}

fn published(random: &mut Random) -> Result<Encoder, Box<dyn std::error::Error>> {
    let (builtin, pattern) = *random.pick(&[
        (Builtin::R50k, R50K),
        (Builtin::Cl100k, CL100K),
        (Builtin::O200k, O200K),
    ]);
    let special = SpecialTokens::new(Vec::new())?;
    let vocabulary = builtin.vocabulary()?;
    Ok(Encoder::new(vocabulary, special, Splitter::new(pattern)?))
}

/// A run that goes on, of few kinds of characters.
fn run(random: &mut Random, symbols: &[&str], most: usize) -> String {
    let length = random.below(most);
    (0..length).map(|_| *random.pick(symbols)).collect()
}

#[test]
fn runs_that_grow() {
    assert_for_seeds(90, |seed| {
        let mut random = Random::new(seed);
        let encoder = Arc::new(if seed % 2 == 0 {
            published(&mut random)?
        } else {
            hostile(&mut random)?
        });
        let size = *random.pick(&[1, 4, 32, 200]);
        let mut session = Session::with_segments_of(size, Arc::clone(&encoder), Policy::ORDINARY);
        let kinds: [&[&str]; 6] = [
            &["a"],
            &["a", "b"],
            &[" "],
            &["A", "a", "中"],
            &[" ", "\t"],
            &["ก", "ข", "a"],
        ];
        let symbols = *random.pick(&kinds);
        // White space that begins with a newline is one piece up to its last newline.
        let start = *random.pick(&["", "x\n", "x"]);
        let mut text = format!("{start}{}", run(&mut random, symbols, 3000));
        session.append(&text)?;
        for _ in 0..60 {
            let mut part = run(&mut random, symbols, 12);
            if random.below(5) == 0 {
                part += *random.pick(&["\n", "x", " ", "'", "ll", "A", "1"]);
            }
            let length = text.len();
            let boundary = |mut offset: usize| {
                while !text.is_char_boundary(offset) {
                    offset -= 1;
                }
                offset
            };
            let near = boundary(length.saturating_sub(random.below(400)));
            let far = boundary(random.below(length + 1));
            let (range, part) = match random.below(8) {
                0..4 => (length..length, part),
                4 => (near..near, part),
                5 => (near..length, String::new()),
                6 => (far..far, part),
                _ => (near..length, part),
            };
            text.replace_range(range.clone(), &part);
            session.edit(range, &part)?;
            let (mut expected, mut ids) = (Vec::new(), Vec::new());
            encoder.encode_ordinary(&text, &mut expected)?;
            session.push_ids(0..session.count(), &mut ids);
            assert!(ids == expected, "{text:?}");
            assert_eq!(session.text(), text);
        }
        Ok(())
    });
}
