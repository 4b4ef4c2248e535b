//! Texts cut in two: the pieces of both halves are the pieces of the whole, wherever the splitter says so.

use std::collections::HashSet;

use bytemill::split::Splitter;
use bytemill::split::pattern::Family;
use bytemill::util::tier::Tier;

use crate::chains;
use crate::spellings::{self, SPELLERS};
use crate::support::{
    CL100K, CONTRACTION_SYMBOLS, O200K, PUBLISHED, R50K, Random, SYMBOLS, TestResult, on_all_cores,
    pieces,
};

/// Tries every cut of `text`. Returns their number, or a description of one that is wrong.
pub(crate) fn try_cuts(splitter: &Splitter, text: &str) -> Result<usize, String> {
    let split = |text| pieces(splitter, text).map_err(|error| format!("{text:?}: {error}"));
    let whole = split(text)?;
    let (mut near, mut cuts) = (0, 0);
    while let Some(cut) = splitter.cut(text, near) {
        let wrong = || format!("{splitter:?} cuts {text:?} at {cut} near {near}");
        let (left, right) = text.split_at_checked(cut).ok_or_else(wrong)?;
        let mut halves = split(left)?;
        let right = split(right)?;
        halves.extend(right.iter().map(|piece| piece.start + cut..piece.end + cut));
        if halves != whole || cut < near || cut == 0 || cut == text.len() {
            return Err(wrong());
        }
        cuts += 1;
        near = cut + 1;
    }
    Ok(cuts)
}

/// Checks a text split in some way. Returns the number of places that it looked at, or a description of a wrong one.
type Check = fn(&Splitter, &str) -> Result<usize, String>;

/// Checks all texts that begin with `text` and continue with at most `length` of the `symbols`.
fn check_all(
    check: Check,
    splitter: &Splitter,
    text: &mut String,
    symbols: &[&str],
    length: usize,
) -> Result<usize, String> {
    let mut places = check(splitter, text)?;
    if length > 0 {
        for symbol in symbols {
            let end = text.len();
            text.push_str(symbol);
            places += check_all(check, splitter, text, symbols, length - 1)?;
            text.truncate(end);
        }
    }
    Ok(places)
}

/// Checks all texts of at most `length` symbols by all families. Returns the number of places.
pub(crate) fn check_families(
    check: Check,
    families: &[Family],
    symbols: &[&str],
    length: usize,
) -> usize {
    let answers = on_all_cores(families.len() * symbols.len(), |task| {
        let family = families[task / symbols.len()];
        let splitter = Splitter::Native(family, Tier::Reference);
        let mut text = symbols[task % symbols.len()].to_owned();
        Some(check_all(check, &splitter, &mut text, symbols, length - 1))
    });
    match answers.into_iter().collect::<Result<Vec<_>, _>>() {
        Ok(places) => places.iter().sum(),
        Err(wrong) => panic!("{wrong}"),
    }
}

/// Asserts that all texts of at most `length` symbols can be cut where the splitter says.
fn assert_exact(families: &[Family], symbols: &[&str], length: usize) {
    let cuts = check_families(try_cuts, families, symbols, length);
    // Most texts have a place where they may be cut.
    assert!(cuts > families.len() * symbols.len() * (length - 2));
}

#[test]
fn published_families_on_all_texts_of_five_symbols() {
    let families = SPELLERS.map(|speller| spellings::published(speller).family);
    assert_exact(&families, &SYMBOLS, 5);
}

#[test]
fn chains_on_all_texts_of_three_symbols() -> TestResult {
    let chains = chains::chains()?;
    let families: Vec<Family> = chains.iter().map(|chain| chain.family).collect();
    assert_exact(&families, &chains::SYMBOLS, 3);
    assert_exact(&families, &chains::FEW_SYMBOLS, 4);
    Ok(())
}

/// As [`assert_exact`], for all parameters that native families have.
fn assert_parameter_sets_exact(length: usize) {
    let sets = spellings::parameter_sets();
    let families: Vec<Family> = sets.iter().map(|spelling| spelling.family).collect();
    assert_exact(&families, &SYMBOLS, length);
    assert_exact(&families, &CONTRACTION_SYMBOLS, length);
}

#[test]
fn parameter_sets_on_all_texts_of_three_symbols() {
    assert_parameter_sets_exact(3);
}

#[test]
#[ignore = "takes a minute: make test-exhaustive"]
fn parameter_sets_on_all_texts_of_four_symbols() {
    assert_parameter_sets_exact(4);
}

/// Texts of many blocks, on each tier.
#[test]
fn random_texts_on_every_tier() -> TestResult {
    let dense = [
        "\n", "/", "'", "'s", "a", "B", "中", "\u{301}", "1", " ", ".", "\r", "ſ",
    ];
    for pattern in PUBLISHED {
        let Splitter::Native(family, _) = Splitter::new(pattern)? else {
            return Err("a published pattern is not native".into());
        };
        for tier in Tier::ALL.into_iter().filter(|tier| tier.available()) {
            let splitter = Splitter::Native(family, tier);
            let answers = on_all_cores(60, |seed| {
                let mut random = Random::new(seed);
                let text = if seed % 2 == 0 {
                    random.text(300)
                } else {
                    (0..600).map(|_| *random.pick(&dense)).collect()
                };
                Some(try_cuts(&splitter, &text))
            });
            for cuts in answers.into_iter().collect::<Result<Vec<_>, _>>()? {
                assert!(cuts > 10, "only {cuts} cuts");
            }
        }
    }
    Ok(())
}

#[test]
fn offsets_of_cuts() -> TestResult {
    for pattern in PUBLISHED {
        let splitter = Splitter::new(pattern)?;
        for (text, expected) in [
            ("", [].as_slice()),
            ("a", &[]),
            ("word word", &[4]),
            ("a.b c", &[1, 3]),
            ("a1b", &[1, 2]),
            ("it's 12's", &[4, 7]),
            ("a\u{301} 中\u{3002}", &[3, 7]),
            ("\n\n  ...\t", &[7]),
            ("' x", &[1]),
        ] {
            let found: HashSet<usize> = (0..text.len() + 3)
                .filter_map(|near| splitter.cut(text, near))
                .collect();
            assert_eq!(found, expected.iter().copied().collect(), "{text:?}");
            for near in 0..text.len() + 3 {
                let first = expected.iter().copied().find(|&cut| cut >= near);
                assert_eq!(splitter.cut(text, near), first, "{text:?} near {near}");
            }
        }
    }
    Ok(())
}

/// Where newlines end a piece, and where case does, they are places to cut; the second letter of a contraction is not.
#[test]
fn cuts_of_some_families() -> TestResult {
    let cuts = |pattern, text: &str| -> Result<Vec<usize>, Box<dyn std::error::Error>> {
        Ok(Splitter::new(pattern)?.cuts(text, 0..usize::MAX).collect())
    };
    for (pattern, newline, case) in [
        (R50K, false, false),
        (CL100K, true, false),
        (O200K, true, true),
    ] {
        assert_eq!(
            cuts(pattern, "!\n\nword")?,
            if newline { vec![3] } else { vec![] }
        );
        assert_eq!(cuts(pattern, "\n/\n word")?, [0; 0]);
        assert_eq!(
            cuts(pattern, "camelCase")?,
            if case { vec![5] } else { vec![] }
        );
        assert_eq!(cuts(pattern, "x'lLx'vE")?, [0; 0]);
    }
    Ok(())
}

/// Characters are cut where their text is; beside a surrogate, they are not.
#[test]
fn characters_are_cut_as_their_text_is() -> TestResult {
    let splitter = Splitter::new(PUBLISHED[0])?;
    for seed in 0..200 {
        let text = Random::new(seed).text(200);
        let characters: Vec<u32> = text.chars().map(u32::from).collect();
        let starts: Vec<usize> = text.char_indices().map(|(start, _)| start).collect();
        for (near, &start) in starts.iter().enumerate() {
            let cut = splitter.cut_characters(&characters, near);
            assert_eq!(
                cut.map(|cut| starts[cut]),
                splitter.cut(&text, start),
                "{text:?}"
            );
        }
        assert_eq!(splitter.cut_characters(&characters, characters.len()), None);
    }
    let units: Vec<u16> = "a\u{10400} 1\u{1F600}b c".encode_utf16().collect();
    let cuts = (0..units.len()).filter_map(|near| splitter.cut_characters(&units, near));
    assert_eq!(cuts.collect::<HashSet<_>>(), HashSet::from([8]));
    Ok(())
}

#[test]
fn ranges_of_offsets() -> TestResult {
    let splitter = Splitter::new(PUBLISHED[0])?;
    let mut random = Random::new(1);
    for _ in 0..50 {
        let text = random.text(20);
        let all: Vec<usize> = splitter.cuts(&text, 0..usize::MAX).collect();
        for _ in 0..20 {
            let start = random.below(text.len() + 2);
            let range = start..random.within(start..text.len() + 3);
            let found: Vec<usize> = splitter.cuts(&text, range.clone()).collect();
            let mut expected = all.clone();
            expected.retain(|cut| range.contains(cut));
            assert_eq!(found, expected, "{text:?} in {range:?}");
        }
    }
    Ok(())
}

#[test]
fn cuts_backwards_are_those_forwards() -> TestResult {
    let splitter = Splitter::new(PUBLISHED[0])?;
    let mut random = Random::new(2);
    for _ in 0..200 {
        let text = random.text(40);
        let range = random.below(text.len() + 2)..random.below(text.len() + 3);
        let mut expected: Vec<usize> = splitter.cuts(&text, range.clone()).collect();
        expected.reverse();
        let found = |bytes: &[u8]| -> Vec<usize> {
            splitter.cuts_backwards(bytes, range.clone()).collect()
        };
        assert_eq!(found(text.as_bytes()), expected, "{text:?} in {range:?}");
        // What is not UTF-8 around the text adds no cut, nor does half a character at its end.
        let cut_off = &text.as_bytes()[..random.below(text.len() + 1)];
        assert!(found(cut_off).iter().all(|cut| expected.contains(cut)));
        let followed = [text.as_bytes(), b"\xE6\x97"].concat();
        assert_eq!(found(&followed), expected);
    }
    for (pattern, cuts) in OTHER_PATTERNS {
        let found = Splitter::new(pattern)?;
        let found: Vec<usize> = found.cuts_backwards(b"word word", 0..9).collect();
        assert!(found.iter().rev().eq(cuts), "{pattern}: {found:?}");
    }
    Ok(())
}

/// Patterns of no family, with the cuts of two words: by automata and by backtracking.
const OTHER_PATTERNS: [(&str, &[usize]); 4] = [
    (r"\w+|\W+", &[4, 5]),
    (r"\w+ ?|\W", &[5]),
    (r"(?:\w+ )*\w+", &[]),
    (r"(\w)\1|(?s:.)", &[]),
];

#[test]
fn no_cut_is_searched_for_too_far_or_in_other_patterns() -> TestResult {
    for pattern in PUBLISHED {
        let splitter = Splitter::new(pattern)?;
        for (letters, expected) in [(65_535, Some(65_535)), (65_536, None), (200_000, None)] {
            let text = "a".repeat(letters) + " b";
            assert_eq!(splitter.cut(&text, 0), expected);
            assert_eq!(splitter.cut(&text, letters - 10), Some(letters));
            assert_eq!(splitter.cut(&text, usize::MAX), None);
        }
    }
    for (pattern, cuts) in OTHER_PATTERNS {
        let cut = Splitter::new(pattern)?.cut("word word", 0);
        assert_eq!(cut, cuts.first().copied(), "{pattern}");
    }
    Ok(())
}
