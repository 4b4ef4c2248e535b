//! Chains of patterns that a native family implements, against the chain itself: each pattern splits the pieces of the
//! one before, by the engine of regular expressions.

use std::error::Error;
use std::iter;
use std::ops::Range;

use bytemill::split::Splitter;
use bytemill::split::borders::{Borders, Numbers};
use bytemill::split::deepseek::Deepseek;
use bytemill::split::o200k::Cl100k;
use bytemill::split::o200k::R50k;
use bytemill::split::pattern::{Family, Rule};
use bytemill::split::rules::Contractions;
use bytemill::util::tier::Tier;
use fancy_regex::Regex;

use crate::support::{CL100K, O200K, Random, TestResult, is_tried, on_all_cores, pieces};

const CJK: &str = "[一-龥぀-ゟ゠-ヿ]+";
const LINE_ENDS: &str = r"(?:\r?\n)+(?!\r?\n)";
const NUMERIC: &str = r"[\p{N}\x{11DE0}-\x{11DE9}\x{16FF4}-\x{16FF6}]";
const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
const LLAMA3: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*",
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
);
const DEEPSEEK: &str = concat!(
    r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+"##,
    r"[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);

/// A chain, and the family that implements it.
#[derive(Clone)]
pub(crate) struct Chain {
    steps: Vec<Regex>,
    /// Whether a match of the first step belongs to the text after it.
    merged: bool,
    pub(crate) family: Family,
}

const NUMBERS_APART: Borders = Borders {
    numbers: Numbers::Apart,
    ..Borders::NONE
};
const QWEN2: Cl100k = Cl100k {
    contractions: Contractions::AnyCase,
    longest_number: 1,
    marks_are_letters: false,
    newlines_after_others: true,
    trailing_whitespace_first: false,
    borders: Borders::NONE,
};
const DEEPSEEK3: Deepseek = Deepseek {
    longest_number: 3,
    new_numbers: false,
    newlines_after_signs: true,
    single_newlines: false,
};

impl Chain {
    fn new(steps: &[&str], family: Family) -> Result<Self, Box<dyn Error>> {
        let rules: Vec<Rule> = steps
            .iter()
            .map(|&step| match step {
                LINE_ENDS => Rule::MergedWithNext(step),
                _ => Rule::Isolated(step),
            })
            .collect();
        assert_eq!(Family::recognise_chain(&rules), Some(family), "{steps:?}");
        Ok(Self {
            steps: steps
                .iter()
                .map(|step| Regex::new(step))
                .collect::<Result<_, _>>()?,
            merged: steps[0] == LINE_ENDS,
            family,
        })
    }

    /// Returns the pieces of `text` by all steps, one after another.
    fn pieces(&self, text: &str) -> Result<Vec<Range<usize>>, Box<dyn Error>> {
        let mut pieces: Vec<Range<usize>> = iter::once(0..text.len()).collect();
        for (index, step) in self.steps.iter().enumerate() {
            let mut found = Vec::new();
            for piece in pieces {
                let mut end = piece.start;
                for matched in step.find_iter(&text[piece.clone()]) {
                    let matched = matched?.range();
                    let matched = matched.start + piece.start..matched.end + piece.start;
                    found.push(end..matched.start);
                    if self.merged && index == 0 {
                        end = matched.start;
                    } else {
                        end = matched.end;
                        found.push(matched);
                    }
                }
                found.push(end..piece.end);
            }
            found.retain(|piece| !piece.is_empty());
            pieces = found;
        }
        Ok(pieces)
    }

    /// Compares tiers with the definition, which takes most of the time.
    fn difference(&self, tiers: &[Tier], text: &str) -> Option<String> {
        let expected = self.pieces(text).map_err(|error| error.to_string());
        tiers.iter().find_map(|&tier| {
            let splitter = Splitter::Native(self.family, tier);
            let found = pieces(&splitter, text).map_err(|error| error.to_string());
            (expected != found).then(|| {
                format!("{splitter:?} splits {text:?} into {found:?}: expected {expected:?}")
            })
        })
    }

    fn first_difference(
        &self,
        text: &mut String,
        symbols: &[&str],
        length: usize,
    ) -> Option<String> {
        let wrong = self.difference(&[Tier::Scalar, Tier::Reference], text);
        if wrong.is_some() || length == 0 {
            return wrong;
        }
        symbols.iter().find_map(|symbol| {
            let end = text.len();
            text.push_str(symbol);
            let wrong = self.first_difference(text, symbols, length - 1);
            text.truncate(end);
            wrong
        })
    }
}

/// Returns the chains of open models.
pub(crate) fn chains() -> Result<Vec<Chain>, Box<dyn Error>> {
    let qwen2 = LLAMA3.replace("{1,3}", "");
    let one_or_more = LLAMA3.replace("{1,3}", "+");
    let qwen35 = qwen2
        .replace(r"?\p{L}+", r"?[\p{L}\p{M}]+")
        .replace(r"[^\s\p{L}\p{N}]", r"[^\s\p{L}\p{M}\p{N}]");
    let seed = qwen2.replace(r"\p{N}]+[\r\n]*", "\\p{N}\r\n]+");
    let upper = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}";
    let lower = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}";
    let but = r"&&[^\p{Han}]";
    let kimi = O200K
        .replace(upper, &[upper, but].concat())
        .replace(lower, &[lower, but].concat())
        .replace(r"[\r\n/]*", r"[\r\n]*");
    let kimi = [r"[\p{Han}]+|", &kimi].concat();
    let spark = DEEPSEEK
        .replace(r"[\p{P}\p{S}]+[\r\n]*", r"[\p{P}\p{S}]+")
        .replace(r"\s*[\r\n]+", r"[\r\n]");
    let alone = |pattern: &str| {
        let family = Family::recognise(pattern).ok_or_else(|| format!("{pattern} is not native"));
        Chain::new(&[pattern], family?)
    };
    let cl100k = |longest_number: usize, borders: Borders| {
        Family::Cl100k(Cl100k {
            longest_number,
            borders,
            ..QWEN2
        })
    };
    let cjk = Borders {
        cjk: true,
        ..Borders::NONE
    };
    let line_ends = Borders {
        line_ends: true,
        ..Borders::NONE
    };
    let digits = R50k {
        contractions: Contractions::LowerCase,
        longest_number: 1,
        borders: Borders {
            numbers: Numbers::NewApart,
            ..Borders::NONE
        },
    };
    let threes = r"\p{N}{1,3}";
    Ok(vec![
        alone(&qwen35)?,
        alone(&seed)?,
        alone(&kimi)?,
        Chain::new(&[NUMERIC, GPT2], Family::R50k(digits))?,
        Chain::new(&[threes, &one_or_more], cl100k(3, NUMBERS_APART))?,
        Chain::new(&[CJK, &qwen2], cl100k(1, cjk))?,
        Chain::new(&[LINE_ENDS, &qwen2], cl100k(1, line_ends))?,
        Chain::new(&[threes, CJK, DEEPSEEK], Family::Deepseek(DEEPSEEK3))?,
        Chain::new(
            &[threes, CJK, &spark, NUMERIC],
            Family::Deepseek(Deepseek {
                longest_number: 1,
                new_numbers: true,
                newlines_after_signs: false,
                single_newlines: true,
            }),
        )?,
    ])
}

#[test]
fn chains_of_other_rules_are_not_native() {
    let qwen2 = LLAMA3.replace("{1,3}", "");
    let threes = Rule::Isolated(r"\p{N}{1,3}");
    let cjk = Rule::Isolated(CJK);
    let possessive = CL100K.replace("{1,3}+", "++");
    for rules in [
        vec![],
        vec![threes],
        vec![Rule::Isolated(NUMERIC)],
        vec![Rule::MergedWithNext(LLAMA3)],
        // Gaps are dropped, or are not.
        vec![threes, cjk, Rule::Kept(DEEPSEEK)],
        vec![Rule::Kept(CJK), Rule::Isolated(&qwen2)],
        vec![Rule::Isolated(LINE_ENDS), Rule::Isolated(&qwen2)],
        vec![Rule::MergedWithNext(CJK), Rule::Isolated(&qwen2)],
        // Not all of the borders.
        vec![cjk, Rule::Isolated(DEEPSEEK)],
        vec![threes, Rule::Isolated(DEEPSEEK)],
        vec![Rule::Isolated(DEEPSEEK)],
        vec![Rule::Isolated(NUMERIC), cjk, Rule::Isolated(DEEPSEEK)],
        // Numbers are split twice.
        vec![threes, Rule::Isolated(&qwen2)],
        vec![threes, threes, Rule::Isolated(LLAMA3)],
        vec![Rule::Isolated(GPT2), Rule::Isolated(NUMERIC)],
        // Newlines at the end of a text are part of whitespace.
        vec![threes, Rule::Isolated(&possessive)],
        vec![Rule::Isolated(NUMERIC), Rule::Isolated(O200K)],
        vec![Rule::Isolated(LLAMA3), Rule::Isolated(LLAMA3)],
    ] {
        assert_eq!(Family::recognise_chain(&rules), None, "{rules:?}");
    }
    // A pattern alone, where nothing is between matches.
    for rule in [Rule::Isolated(LLAMA3), Rule::Kept(LLAMA3)] {
        assert_eq!(
            Family::recognise_chain(&[rule]),
            Family::recognise(LLAMA3),
            "{rule:?}"
        );
    }
}

/// One character for each class and role that any of the chains tells apart.
pub(crate) const SYMBOLS: [&str; 33] = [
    "A",
    "b",
    "é",
    "中",
    "ア",
    "々",
    "\u{301}",
    "\u{3099}",
    "1",
    "²",
    "〇",
    "\u{11DE0}",
    " ",
    "\t",
    "\u{3000}",
    "\r",
    "\n",
    "\u{85}",
    "'",
    "s",
    "ſ",
    "/",
    "!",
    "。",
    "・",
    "\u{3040}",
    "\0",
    "\u{200D}",
    "\u{16FF0}",
    "⺀",
    "한",
    "😀",
    "豈",
];

/// Those that interact most.
/// Those that interact.
pub(crate) const FEW_SYMBOLS: [&str; 14] = [
    "A", "b", "中", "\u{301}", "1", "〇", " ", "\r", "\n", "'", "!", "・", "\0", "\u{3000}",
];

fn assert_exact(symbols: &[&str], length: usize) -> TestResult {
    let chains = chains()?;
    let wrong = on_all_cores(chains.len() * symbols.len(), |task| {
        let chain = chains[task / symbols.len()].clone();
        let mut text = symbols[task % symbols.len()].to_owned();
        chain.first_difference(&mut text, symbols, length - 1)
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn all_texts_of_three_symbols() -> TestResult {
    assert_exact(&SYMBOLS, 3)
}

#[test]
fn all_texts_of_four_symbols_that_interact() -> TestResult {
    assert_exact(&FEW_SYMBOLS, 4)
}

#[test]
#[ignore = "takes minutes: make test-exhaustive"]
fn all_texts_of_four_symbols_and_of_six_that_interact() -> TestResult {
    assert_exact(&SYMBOLS, 4)?;
    assert_exact(&FEW_SYMBOLS, 6)
}

#[test]
fn every_code_point() -> TestResult {
    const BLOCK: u32 = 0x1000;
    let chains = chains()?;
    let wrong = on_all_cores(0x110, |block| {
        let chains = chains.clone();
        let first = u32::try_from(block).ok()? * BLOCK;
        (first..first + BLOCK)
            .filter_map(char::from_u32)
            .filter(|&c| is_tried(c))
            .map(|c| format!("{c}{c} {c}b{c} !{c}1{c}  {c}中{c}'{c}\0{c}a\n{c}"))
            .find_map(|text| {
                chains
                    .iter()
                    .find_map(|chain| chain.difference(&[Tier::current()], &text))
            })
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// Texts of few symbols, long enough for many blocks, on every tier.
#[test]
fn random_texts_on_every_tier() -> TestResult {
    let chains = chains()?;
    let wrong = on_all_cores(64, |seed| {
        let (chains, mut random) = (chains.clone(), Random::new(seed));
        let tiers: Vec<Tier> = Tier::ALL
            .into_iter()
            .filter(|tier| tier.available())
            .collect();
        (0..200).find_map(|_| {
            let few: Vec<&str> = (0..random.within(2..6))
                .map(|_| *random.pick(&SYMBOLS))
                .collect();
            let text: String = (0..random.within(40..250))
                .map(|_| match random.below(12) {
                    0 => *random.pick(&SYMBOLS),
                    1 => "word",
                    _ => *random.pick(&few),
                })
                .collect();
            let chain = random.pick(&chains);
            chain.difference(&tiers, &text)
        })
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// Each pair of symbols at the end and across the end of a block, before long runs of one class.
#[test]
fn edges_of_blocks() -> TestResult {
    let chains = chains()?;
    let wrong = on_all_cores(SYMBOLS.len(), |task| {
        let chains = chains.clone();
        let first = SYMBOLS[task];
        SYMBOLS.iter().find_map(|second| {
            (57..=64).find_map(|before| {
                ["a", " ", "\n", "1", "中", "\0", "!"]
                    .iter()
                    .find_map(|after| {
                        let text =
                            format!("{}{first}{second}{}", "b".repeat(before), after.repeat(70));
                        chains
                            .iter()
                            .find_map(|chain| chain.difference(&[Tier::current()], &text))
                    })
            })
        })
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}
