//! Which patterns are native, which are refused, and the general engine for all others.

use bytemill::error::PatternError;
use bytemill::split::Splitter;
use bytemill::split::pattern::Family;

use crate::spellings::{self, SPELLERS};
use crate::support::{
    CL100K, Judge, O200K, PUBLISHED, R50K, Random, SYMBOLS, TestResult, on_all_cores, pieces,
};

#[test]
fn every_spelling_is_recognised() {
    for speller in SPELLERS {
        for spelling in spellings::one_rule_changed(speller) {
            assert_eq!(
                Family::recognise(&spelling.pattern),
                Some(spelling.family),
                "{}",
                spelling.pattern
            );
        }
    }
}

#[test]
fn spellings_mixed_at_random_are_recognised_and_exact() {
    let wrong = on_all_cores(150, |seed| {
        let mut random = Random::new(seed);
        let spelling = SPELLERS[seed % 3](&mut |count| random.below(count));
        let Ok(judge) = Judge::new(&spelling.pattern) else {
            return Some(format!("{} does not compile", spelling.pattern));
        };
        if Family::recognise(&spelling.pattern) != Some(spelling.family) {
            return Some(format!("{} is not recognised", spelling.pattern));
        }
        (0..60).find_map(|_| {
            let parts = random.below(100);
            judge.difference(&random.text(parts))
        })
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Replacements in a published pattern, each of which yields one with another meaning or not known to have
/// the same.
const NEAR_MISSES: [(&str, &str, &str); 77] = [
    // Whitespace
    (CL100K, r"\s*[\r\n]", r"\s*+[\r\n]"),
    (CL100K, r"\s*[\r\n]", r"\s*?[\r\n]"),
    (CL100K, r"\s*[\r\n]", r"\s*[\r\n]*"),
    (CL100K, r"\s*[\r\n]", r"\s*[\n\r]"),
    (CL100K, r"\s*[\r\n]", r"\s*[\n]"),
    (CL100K, r"\s*[\r\n]", r"\s+[\r\n]"),
    (CL100K, r"\s*[\r\n]", r"\s*[^\r\n]"),
    (CL100K, r"\s*[\r\n]|", ""),
    (CL100K, r"\s++$|\s*[\r\n]", r"\s*[\r\n]|\s++$"),
    (CL100K, r"\s*[\r\n]|\s+(?!\S)", r"\s+(?!\S)|\s*[\r\n]"),
    (O200K, r"\s*[\r\n]+", r"\s*+[\r\n]+"),
    (O200K, r"\s*[\r\n]+", r"\s*[\r\n]+?"),
    (R50K, r"\s++$", r"\s++\z"),
    (R50K, r"\s++$", r"\s*$"),
    (R50K, r"\s++$", r"\s+?$"),
    (R50K, r"\s++$", r"(?m:\s++$)"),
    (R50K, r"\s+(?!\S)", r"\s++(?!\S)"),
    (R50K, r"\s+(?!\S)", r"\s+?(?!\S)"),
    (R50K, r"\s+(?!\S)", r"\s*(?!\S)"),
    (R50K, r"\s+(?!\S)", r"\s+(?=\S)"),
    (R50K, r"\s+(?!\S)", r"\s+(?!\s)"),
    (R50K, r"|\s+(?!\S)", ""),
    (R50K, r"(?!\S)|\s", r"(?!\S)"),
    (R50K, r"(?!\S)|\s", r"(?!\S)|\s+?"),
    (R50K, r"(?!\S)|\s", r"(?!\S)|\S"),
    (R50K, r"(?!\S)|\s", r"(?!\S)|\s|."),
    (R50K, r"(?!\S)|\s", r"(?!\S)|\s|"),
    // Numbers
    (CL100K, r"\p{N}{1,3}+", r"\p{N}{1,3}?"),
    (CL100K, r"\p{N}{1,3}+", r"\p{N}{1,3}++"),
    (CL100K, r"\p{N}{1,3}+", r"\p{N}{2,3}"),
    (CL100K, r"\p{N}{1,3}+", r"(?:\p{N}{2,3})+"),
    (CL100K, r"\p{N}{1,3}+", r"(?:\p{N}{1,3})+?"),
    (CL100K, r"\p{N}{1,3}+", r"(?:\p{N}{1,3})*"),
    (CL100K, r"\p{N}{1,3}+", r"(?:\p{N}{1,3}a)+"),
    (CL100K, r"\p{N}{1,3}+", r"\p{N}{0,3}"),
    (CL100K, r"\p{N}{1,3}+", r"\p{N}{,3}"),
    (CL100K, r"\p{N}{1,3}+", r"\p{N}{1,}"),
    (CL100K, r"\p{N}{1,3}+", r"\p{N}{3}"),
    (CL100K, r"\p{N}{1,3}+", r"\p{N}{1,03}"),
    (CL100K, r"\p{N}{1,3}+", r"\p{N}{1,+3}"),
    (CL100K, r"\p{N}{1,3}+", r"\p{N}{1, 3}"),
    (CL100K, r"\p{N}{1,3}+", r"\p{N}{1,0}"),
    (CL100K, r"\p{N}{1,3}+", r"\p{N}{1,99999999999999999999}"),
    (CL100K, r"\p{N}{1,3}+", r"\p{N}*"),
    (CL100K, r"\p{N}{1,3}+", r"\p{Nd}{1,3}"),
    (CL100K, r"\p{N}{1,3}+", r"\d{1,3}"),
    (CL100K, r"\p{N}{1,3}+", r" ?\p{N}{1,3}"),
    (R50K, r" ?\p{N}++", r" ?\p{N}{1,3}"),
    (R50K, r" ?\p{N}++", r"\p{N}++"),
    // Letters and others
    (R50K, r" ?\p{L}++", r" *\p{L}++"),
    (R50K, r" ?\p{L}++", r" ?\p{L}*"),
    (R50K, r" ?\p{L}++", r" ?\p{L}+?"),
    (R50K, r" ?\p{L}++", r" ?\p{Lu}++"),
    (R50K, r" ?\p{L}++| ?\p{N}++", r" ?\p{N}++| ?\p{L}++"),
    (R50K, r" ?[^\s\p{L}\p{N}]++", r" ?[^\s\p{L}\p{N}]++[\r\n]*"),
    (R50K, r" ?[^\s\p{L}\p{N}]++", r" ?[\s\p{L}\p{N}]++"),
    (R50K, r" ?[^\s\p{L}\p{N}]++", r" ?[^\s\p{L}\p{N}]"),
    (CL100K, r"]?+\p{L}++", r"]*\p{L}++"),
    (CL100K, r"]?+\p{L}++", r"]??\p{L}++"),
    (CL100K, r"]?+\p{L}++", r"]\p{L}++"),
    (CL100K, r"++[\r\n]*+", r"++[\r\n/]*+"),
    (O200K, r"+[\r\n/]*", r"+[\r\n]"),
    // Marks are not letters in both rules
    (CL100K, r"\p{L}++|", r"[\p{L}\p{M}]++|"),
    (CL100K, r"[^\s\p{L}\p{N}]", r"[^\s\p{L}\p{M}\p{N}]"),
    (O200K, r"\p{M}]*[\p{Ll}", r"\p{M}]*+[\p{Ll}"),
    (O200K, r"\p{M}]*[\p{Ll}", r"\p{M}]+[\p{Ll}"),
    (
        O200K,
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}",
        r"[^\r\n\p{L}\p{N}]?+[\p{Lu}",
    ),
    (O200K, r"\p{Lt}", ""),
    // Contractions
    (R50K, "'(?:[sdmt]|ll|ve|re)", "'(?:[sdmt]|ll|ve|re)?"),
    (R50K, "'(?:[sdmt]|ll|ve|re)", "'(?:[sdmt]|ll|ve)"),
    (R50K, "'(?:[sdmt]|ll|ve|re)", "'s|'t|'re|'ve|'m|'ll"),
    (R50K, "'(?:[sdmt]|ll|ve|re)", "'s|'t|'re|'ve|'m|'ll|'l"),
    (R50K, "'(?:[sdmt]|ll|ve|re)", "'s|'t|'re|'ve|'m|'ll|'ll"),
    (R50K, "'(?:[sdmt]|ll|ve|re)", "’(?:[sdmt]|ll|ve|re)"),
    (
        O200K,
        "(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        "(?:'s|'t|'re|'ve|'m|'ll|'d)?",
    ),
    (
        O200K,
        "(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        "(?i:'s|'t|'re|'ve|'m|'ll|'d)",
    ),
    (
        O200K,
        "(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        "(?i:'s|'t|'re|'ve|'m|'ll|'d)??",
    ),
];

#[test]
fn near_misses_are_not_native() {
    for (pattern, part, other) in NEAR_MISSES {
        let miss = pattern.replace(part, other);
        assert_ne!(miss, pattern, "{part} is not in the pattern");
        assert_eq!(Family::recognise(&miss), None, "{miss}");
    }
}

#[test]
fn families_do_not_mix() {
    let lower = "'(?:[sdmt]|ll|ve|re)|";
    let any = "'(?i:[sdmt]|ll|ve|re)|";
    let suffix = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?";
    let mut rules: Vec<&str> = O200K.split(suffix).collect();
    rules.swap(0, 1);
    let mixed = [
        // Contractions before cased words; one of the two with a suffix; upper before lower case.
        format!("{lower}{O200K}"),
        format!("{any}{O200K}"),
        O200K.replacen(suffix, "", 1),
        O200K.replacen(suffix, "('(?i:[sdmt]|ll|ve|re))?", 1),
        rules.join(suffix),
        // Contractions twice or late.
        format!("{lower}{R50K}"),
        format!("{}|'(?:[sdmt]|ll|ve|re)", R50K.replace(lower, "")),
    ];
    for pattern in mixed {
        assert_eq!(Family::recognise(&pattern), None, "{pattern}");
    }
}

#[test]
fn wrappings_are_not_native() {
    for pattern in PUBLISHED {
        for wrapped in [
            format!("(?i){pattern}"),
            format!("(?s){pattern}"),
            format!("(?x){pattern}"),
            format!("(?U){pattern}"),
            format!("(?:{pattern})+"),
            format!("(?i:{pattern})"),
            format!("(?:{pattern}"),
            format!("(?:(?:(?:{pattern})))"),
            format!("({pattern})"),
            format!("^{pattern}"),
            format!("{pattern}$"),
            format!("|{pattern}"),
            format!("{pattern}|"),
            format!(" {pattern}"),
            format!("{pattern} "),
            format!("{pattern}\n"),
            format!("{pattern}|{pattern}"),
            format!("[{pattern}"),
            format!("{pattern})"),
            pattern.replace('|', "||"),
            pattern.to_uppercase(),
            pattern.chars().rev().collect(),
            String::new(),
        ] {
            assert_eq!(Family::recognise(&wrapped), None, "{wrapped}");
        }
    }
}

/// A group around the pattern or a rule means nothing, wherever it is.
#[test]
fn groups_around_rules_are_native() {
    for pattern in PUBLISHED {
        let family = Family::recognise(pattern);
        assert!(family.is_some());
        let last = pattern.rfind('|').map(|index| index + 1);
        let (before, last) = pattern.split_at(last.unwrap_or(0));
        for grouped in [
            format!("(?:{pattern})"),
            format!("{before}(?:{last})"),
            format!("(?:{before}(?:{last}))"),
        ] {
            assert_eq!(Family::recognise(&grouped), family, "{grouped}");
        }
        for ungrouped in [
            format!("(?:{before}x)(?:x|{last})"),
            format!("(?:{before}{last})(?:)"),
        ] {
            assert_eq!(Family::recognise(&ungrouped), None, "{ungrouped}");
        }
    }
}

/// Any pattern that is recognised as native splits exactly as its regular expression.
#[test]
fn no_small_change_of_a_pattern_is_mistaken() {
    const INSERTED: &str = r"+*?|\[](){}^$.,:!'/ 0123sSN~";
    let mut changed: Vec<String> = Vec::new();
    for pattern in PUBLISHED {
        for (offset, character) in pattern.char_indices() {
            let (before, after) = (&pattern[..offset], &pattern[offset..]);
            let rest = &after[character.len_utf8()..];
            changed.push(format!("{before}{rest}"));
            changed.extend(
                INSERTED
                    .chars()
                    .map(|other| format!("{before}{other}{after}")),
            );
            changed.extend(
                INSERTED
                    .chars()
                    .map(|other| format!("{before}{other}{rest}")),
            );
        }
    }
    changed.retain(|pattern| {
        !PUBLISHED.contains(&pattern.as_str()) && Family::recognise(pattern).is_some()
    });
    changed.sort_unstable();
    changed.dedup();
    // Dropped or added possessive signs, and other numbers of digits.
    assert!(changed.len() > 20, "{changed:?}");
    let wrong = on_all_cores(changed.len(), |index| match Judge::new(&changed[index]) {
        Ok(judge) => judge.first_difference(&mut String::new(), &SYMBOLS, 3),
        Err(error) => Some(error.to_string()),
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_general_engine_finds_what_the_regular_expression_finds() {
    let near_misses = NEAR_MISSES
        .into_iter()
        .map(|(pattern, part, other)| pattern.replace(part, other));
    let others = [
        r"\w+",
        r"\p{L}+",
        r"\w+|[^\w\s]+",
        r".",
        r"(?s).",
        r"(?s).{1,7}",
        r"\b\w",
        r"\w\b",
        r"(?<=a)b+",
        r"(?<!\s)\S+",
        r"(?=\S)\w+",
        r"^\S+",
        r"\S+$",
        r"(?m)^\S+",
        r"(\w)\1",
        r"(?<c>\w)\k<c>?",
        r"\Gb?\s",
        r"\G\w",
        r"\A.",
        r"\s\K\S+",
        r"(?>a+|b+)\S",
        r"\R",
        r"\n|\r\n?",
        r"(?i)straße|ſ+",
        r"[[:alpha:]]+|[[:digit:]]+",
        r"\X",
        r"(?:(a)|b)(?(1)b|c)|\s",
    ]
    .map(str::to_owned);
    let patterns: Vec<String> = near_misses.chain(others).collect();
    let general = |pattern: &String| match Splitter::new(pattern) {
        Ok(Splitter::General(_)) => true,
        Ok(splitter) => panic!("{pattern} became {splitter:?}"),
        Err(_) => false,
    };
    let accepted: Vec<&String> = patterns.iter().filter(|pattern| general(pattern)).collect();
    assert!(accepted.len() > 80, "only {} are accepted", accepted.len());
    let wrong = on_all_cores(accepted.len(), |index| {
        let judge = Judge::new(accepted[index]).ok()?;
        let mut random = Random::new(index);
        let short = judge.first_difference(&mut String::new(), &SYMBOLS, 2);
        short.or_else(|| {
            (0..20).find_map(|_| {
                let parts = random.below(60);
                judge.difference(&random.text(parts))
            })
        })
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn text_that_the_pattern_does_not_match_is_in_no_piece() -> TestResult {
    let splitter = Splitter::new(r"\p{L}+")?;
    assert_eq!(pieces(&splitter, "ab 12 cd")?, [0..2, 6..8]);
    assert!(pieces(&splitter, "12")?.is_empty());
    Ok(())
}

/// Returns the patterns of `list`, separated by whitespace, for which `expected` does not hold.
fn unexpected(
    list: &str,
    expected: impl Fn(&str, Result<Splitter, PatternError>) -> bool,
) -> Vec<&str> {
    let patterns = list.split_whitespace();
    patterns
        .filter(|pattern| !expected(pattern, Splitter::new(pattern)))
        .collect()
}

#[test]
fn patterns_that_can_match_nothing_are_refused() {
    let list = r"
        a* a? a*? a?? a*+ a{0} a{0,3} a{,3} (?:ab){0} a*b* (a*)+ (?:a*){3} (?:a?b?) (a)? (?<n>a)? (a?)\1
        | |a a| a||b (a|) (a|b?) (?:a|b*)+ (?i) (?#c) (?i)a* (?m) 's|\p{L}+|\s*
        ^ $ \b \B \A \z \Z \G ^$ (?m)^ (?m)$ \b{start} a*$ ^a*
        (?=a) (?!a) (?<=a) (?<!a) (?=\S) (?=a)b* (?>a*) (?>a?|b) (?((?=a))a|) (?:(a)|b)?(?(1)c|)
        a\K ab\K a\Kb? (?:a\K) (?:a\K)* ab(?:\K) ab(?:\K|c) ab(?>\K)
        x(?:b\K) x(b\K)|c (?:x(?:b\K)){1,2} a(?=b\K)
        [^\s\S]? \s* \R? (?s).* .* \p{L}* (?<n>a*)\g<n> (?~b)
    ";
    let refused = |pattern: &str, splitter| match splitter {
        Err(PatternError::MatchesEmpty(given)) => given == pattern,
        _ => false,
    };
    assert!(refused("", Splitter::new("")));
    assert_eq!(unexpected(list, refused), [""; 0]);
    // These cannot match the empty string, but counting characters does not show it.
    let too_rich = r"(?=b)b? (?=[ab])a*b* (?(DEFINE)(?<n>a))\g<n>";
    assert_eq!(unexpected(too_rich, refused), [""; 0]);
}

#[test]
fn patterns_that_always_match_something_are_accepted() {
    let list = r"
        a a+ a+? a++ ab a?b a*b ab? a{1} a{2,} a{1,3}? a{1,3}+ (a?)b\1 (a)\1 (?:a?){2}b
        a|b (a|b) (?:ab|c)+ (?:a|b)(?:|c) (?>a|b) (?>a*)b (?((?=a))a|b) (?:(a)|b)(?(1)c|)
        ^a a$ \ba a\b \Ga (?m)^a (?=a)a (?!a)b (?<=a)b (?<!a)b (?<=a*)b (?<=ab)[cd]
        a\Kb (?:a\K)b a|b\Kc (?:a*\Kb)+ a\Kb|\Kc
        . (?s). \R [^a] [\s\S] \s+ \S \d \h \p{L} \P{L} \x41 \u0041 [[:alpha:]] [a&&a] (?i)a (?i:ß) (?x)a
        (?<n>a) (?<n>a)\k<n> (?<n>a|b)\g<n> (?~b)a 中 \. \| [|] [*]
    ";
    let accepted = |_: &str, splitter| matches!(splitter, Ok(Splitter::General(_)));
    assert_eq!(unexpected(list, accepted), [""; 0]);
}

#[test]
fn patterns_that_do_not_compile_are_refused() {
    let list = r"
        ( ) (a a) [ [a * +a \ \X \Q \p{Nonsense} (?P<n \k<n> (?z) [z-a] \g<n>
    ";
    let refused = |pattern: &str, splitter| match splitter {
        Err(PatternError::Unsupported { pattern: given, .. }) => given == pattern,
        _ => false,
    };
    assert_eq!(unexpected(list, refused), [""; 0]);
}

/// Returns a pattern of any syntax that may or may not match characters, nested up to `depth`.
fn random_pattern(random: &mut Random, depth: usize) -> String {
    let atoms = [
        "a", "b", ".", r"\s", "[^a]", "", "^", "$", r"\b", r"\G", r"\K", r"\R", "(?=a)", "(?!b)",
    ];
    if depth == 0 {
        return (*random.pick(&atoms)).to_owned();
    }
    let mut inner = || random_pattern(random, depth - 1);
    let (first, second) = (inner(), inner());
    match random.below(12) {
        0 => format!("{first}|{second}"),
        1 => format!("(?:{first}|{second})"),
        2 => format!("({first}){second}"),
        3 => format!("(?>{first}){second}"),
        4 => format!("(?:{first})*{second}"),
        5 => format!("(?:{first})+?{second}"),
        6 => format!("(?:{first})?+{second}"),
        7 => format!("(?:{first}){{2,3}}{second}"),
        8 => format!("(?<={first}){second}"),
        9 => format!("(?(?={first}){second}|b)"),
        10 => format!("({first}){second}\\1"),
        _ => format!("{first}{second}"),
    }
}

#[test]
fn no_accepted_pattern_ever_matches_nothing() {
    let texts: Vec<String> = (0..4_u32.pow(3))
        .map(|number| {
            (0..3)
                .map(|offset| ['a', 'b', ' ', '\n'][(number >> (2 * offset)) as usize & 3])
                .collect()
        })
        .collect();
    let outcomes = on_all_cores(2000, |seed| {
        let pattern = random_pattern(&mut Random::new(seed), 1 + seed % 3);
        let splitter = Splitter::new(&pattern).ok()?;
        // A backtracking limit would be an error, but the texts are too short for it.
        let failed = texts.iter().find_map(|text| pieces(&splitter, text).err());
        Some(failed.map(|error| format!("{pattern}: {error}")))
    });
    // Not everything is refused.
    assert!(outcomes.len() > 300, "only {} accepted", outcomes.len());
    let wrong: Vec<String> = outcomes.into_iter().flatten().collect();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
