//! The spellings of the three pattern families, each with the family and parameters that it stands for.

use bytemill::split::borders::Borders;
use bytemill::split::o200k::Cl100k;
use bytemill::split::o200k::O200k;
use bytemill::split::o200k::R50k;
use bytemill::split::pattern::Family;
use bytemill::split::rules::Contractions::{self, AnyCase, LowerCase, No};
use bytemill::split::rules::Tail;

/// A pattern, and the family and parameters that it should be recognised as.
pub(crate) struct Spelling {
    pub(crate) pattern: String,
    pub(crate) family: Family,
}

impl Spelling {
    /// True if a piece has at most three numbers, or any count of them: short texts distinguish these.
    pub(crate) fn shows_in_short_texts(&self) -> bool {
        let longest_number = match self.family {
            Family::R50k(_) => return true,
            Family::Cl100k(family) => family.longest_number,
            Family::O200k(family) => family.longest_number,
            Family::Deepseek(family) => family.longest_number,
        };
        longest_number <= 3 || longest_number == usize::MAX
    }

    /// Returns whether marks and tails are those of the published pattern, or numbers and whitespace are those of Qwen:
    /// not all combinations, which would be too many.
    fn has_few_changes(&self) -> bool {
        let (usual, longest_number, trailing_whitespace_first) = match self.family {
            Family::R50k(_) | Family::Deepseek(_) => return true,
            Family::Cl100k(family) => (
                family.newlines_after_others && !family.marks_are_letters,
                family.longest_number,
                family.trailing_whitespace_first,
            ),
            Family::O200k(family) => (
                family.tail == Tail::NewlinesAndSlashes && !family.han_apart,
                family.longest_number,
                family.trailing_whitespace_first,
            ),
        };
        usual || (longest_number == 1 && !trailing_whitespace_first)
    }
}

/// Chooses among the spellings of each rule: called with their count, returns the index of one.
pub(crate) type Choice<'a> = &'a mut dyn FnMut(usize) -> usize;

/// Writes a pattern of one family.
pub(crate) type Speller = fn(Choice) -> Spelling;

/// The families. The first spelling of each rule, together, is the published pattern.
pub(crate) const SPELLERS: [Speller; 3] = [r50k, cl100k, o200k];

const LOWER_CASE: [&str; 5] = [
    "'(?:[sdmt]|ll|ve|re)|",
    "(?:'s|'t|'re|'ve|'m|'ll|'d)|",
    "'s|'t|'re|'ve|'m|'ll|'d|",
    "'d|'ll|'m|'re|'s|'t|'ve|",
    "'ve|'re|'t|'s|'m|'ll|'d|",
];
const ANY_CASE: [&str; 2] = ["'(?i:[sdmt]|ll|ve|re)|", "(?i:'s|'t|'re|'ve|'m|'ll|'d)|"];
const NUMBERS: [(&str, usize); 18] = [
    (r"\p{N}{1,3}", 3),
    (r"\p{N}{1,3}+", 3),
    (r"\p{N}{1,2}", 2),
    (r"\p{N}{1,2}+", 2),
    (r"\p{N}", 1),
    (r"\p{N}{1}", 1),
    (r"[\p{N}]", 1),
    (r"\p{N}{1,1}", 1),
    (r"\p{N}{1,1}+", 1),
    (r"\p{N}+", usize::MAX),
    (r"\p{N}++", usize::MAX),
    (r"(?:\p{N}{1,3})+", usize::MAX),
    (r"(?:\p{N}{1,1})+", usize::MAX),
    (r"\p{N}{1,4}", 4),
    (r"\p{N}{1,9}", 9),
    (r"\p{N}{1,10}", 10),
    (r"\p{N}{1,12}+", 12),
    (r"\p{N}{1,100}", 100),
];
const LEADING: &str = r"[^\r\n\p{L}\p{N}]";
const UPPER: &str = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}";
const LOWER: &str = r"\p{Ll}\p{Lm}\p{Lo}\p{M}";
/// The rule that comes first, and the exception in the classes of words.
const HAN: [(&str, &str, bool); 3] = [
    ("", "", false),
    (r"[\p{Han}]+|", r"&&[^\p{Han}]", true),
    (r"[\p{Han}]++|", r"&&[^\p{Han}]", true),
];
const OTHERS: &str = r" ?[^\s\p{L}\p{N}";
const OTHERS_WITHOUT_MARKS: &str = r" ?[^\s\p{L}\p{M}\p{N}";
/// Words of the cl100k family, and whether marks are letters in them.
const WORDS: [(&str, bool); 9] = [
    (r"[^\r\n\p{L}\p{N}]?+\p{L}++", false),
    (r"[^\r\n\p{L}\p{N}]?\p{L}++", false),
    (r"[^\r\n\p{L}\p{N}]?+\p{L}+", false),
    (r"[^\r\n\p{L}\p{N}]?\p{L}+", false),
    ("[^\r\n\\p{L}\\p{N}]?[\\p{L}]+", false),
    (r"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+", true),
    (r"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]++", true),
    (r"[^\r\n\p{L}\p{M}\p{N}]?[\p{L}\p{M}]+", true),
    (r"[^\r\n\p{L}\p{M}\p{N}]?+[\p{L}\p{M}]++", true),
];
/// The rest of the rule after the class of others.
const TAILS: [(&str, Tail); 15] = [
    (r"]++[\r\n]*+", Tail::Newlines),
    (r"]+[\r\n]*+", Tail::Newlines),
    (r"]++[\r\n]*", Tail::Newlines),
    (r"]+[\r\n]*", Tail::Newlines),
    ("]+[\r\n]*", Tail::Newlines),
    (r"]+[\r\n/]*", Tail::NewlinesAndSlashes),
    (r"]++[\r\n/]*", Tail::NewlinesAndSlashes),
    (r"]+[\r\n/]*+", Tail::NewlinesAndSlashes),
    (r"]++[\r\n/]*+", Tail::NewlinesAndSlashes),
    ("]+[\r\n/]*", Tail::NewlinesAndSlashes),
    (r"]+", Tail::Nothing),
    (r"]++", Tail::Nothing),
    (r"\r\n]+", Tail::Nothing),
    (r"\r\n]++", Tail::Nothing),
    ("\r\n]+", Tail::Nothing),
];
const NEWLINES: [&str; 3] = [r"\s*[\r\n]", r"\s*[\r\n]+", r"\s*[\r\n]++"];
const TRAILING: [(&str, bool); 3] = [(r"\s++$|", true), (r"\s+$|", true), ("", false)];
const LAST: [&str; 3] = [r"\s", r"\s+", r"\s++"];

/// Returns the pattern of the speller with the first spelling of each rule.
pub(crate) fn published(speller: Speller) -> Spelling {
    speller(&mut |_| 0)
}

/// Returns the published pattern and all patterns that spell one of its rules in another way.
pub(crate) fn one_rule_changed(speller: Speller) -> Vec<Spelling> {
    let mut choices = Vec::new();
    speller(&mut |count| {
        choices.push(count);
        0
    });
    let mut spellings = vec![published(speller)];
    for (changed, &count) in choices.iter().enumerate() {
        for other in 1..count {
            let mut rule = 0;
            spellings.push(speller(&mut |_| {
                rule += 1;
                if rule - 1 == changed { other } else { 0 }
            }));
        }
    }
    spellings
}

/// Returns one pattern for each combination of parameters that short texts distinguish.
pub(crate) fn parameter_sets() -> Vec<Spelling> {
    let mut sets: Vec<Spelling> = Vec::new();
    for speller in SPELLERS {
        // Counts through all combinations of spellings; of those with equal parameters the first is kept.
        let mut counter = 0_usize;
        loop {
            let mut rest = counter;
            let spelling = speller(&mut |count| {
                let choice = rest % count;
                rest /= count;
                choice
            });
            if rest > 0 {
                break;
            }
            counter += 1;
            if spelling.shows_in_short_texts()
                && spelling.has_few_changes()
                && sets.iter().all(|set| set.family != spelling.family)
            {
                sets.push(spelling);
            }
        }
    }
    sets
}

/// Contractions as rules of their own; the spellings in the case of the `published` pattern come first.
fn contractions(choice: Choice, published: Contractions) -> (&'static str, Contractions) {
    let lower = LOWER_CASE.map(|spelling| (spelling, LowerCase));
    let any = ANY_CASE.map(|spelling| (spelling, AnyCase));
    let mut spellings = if published == LowerCase {
        [&lower[..], &any].concat()
    } else {
        [&any[..], &lower].concat()
    };
    spellings.push(("", No));
    spellings[choice(spellings.len())]
}

fn pick<T: Copy>(choice: Choice, spellings: &[T]) -> T {
    spellings[choice(spellings.len())]
}

fn r50k(choice: Choice) -> Spelling {
    let (suffixes, contractions) = contractions(choice, LowerCase);
    let letters = pick(
        choice,
        &[r" ?\p{L}++", r" ?\p{L}+", r" ?[\p{L}]+", r" ?[\p{L}]++"],
    );
    let numbers = pick(
        choice,
        &[r" ?\p{N}++", r" ?\p{N}+", r" ?[\p{N}]+", r" ?[\p{N}]++"],
    );
    let others = pick(choice, &["]++", "]+"]);
    let (trailing, _) = pick(choice, &TRAILING);
    let last = pick(choice, &LAST);
    Spelling {
        pattern: format!(
            r"{suffixes}{letters}|{numbers}|{OTHERS}{others}|{trailing}\s+(?!\S)|{last}"
        ),
        family: Family::R50k(R50k {
            contractions,
            longest_number: usize::MAX,
            borders: Borders::NONE,
        }),
    }
}

fn cl100k(choice: Choice) -> Spelling {
    let (suffixes, contractions) = contractions(choice, AnyCase);
    let (words, marks_are_letters) = pick(choice, &WORDS);
    // The published spelling of this family is the possessive one.
    let mut number_spellings = NUMBERS;
    number_spellings.swap(0, 1);
    let (numbers, longest_number) = pick(choice, &number_spellings);
    let others = if marks_are_letters {
        OTHERS_WITHOUT_MARKS
    } else {
        OTHERS
    };
    // Without those with slashes.
    let tails = [&TAILS[..5], &TAILS[10..]].concat();
    let (rest_of_others, tail) = pick(choice, &tails);
    let (trailing, trailing_whitespace_first) = pick(choice, &TRAILING);
    let newlines = pick(choice, &NEWLINES);
    let last = pick(choice, &LAST);
    let rest = [trailing, newlines, r"|\s+(?!\S)|", last].concat();
    Spelling {
        pattern: format!("{suffixes}{words}|{numbers}|{others}{rest_of_others}|{rest}"),
        family: Family::Cl100k(Cl100k {
            contractions,
            longest_number,
            marks_are_letters,
            newlines_after_others: tail == Tail::Newlines,
            trailing_whitespace_first,
            borders: Borders::NONE,
        }),
    }
}

fn o200k(choice: Choice) -> Spelling {
    let (suffix, contractions) = pick(
        choice,
        &[
            ("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", AnyCase),
            ("('(?i:[sdmt]|ll|ve|re))?", AnyCase),
            ("", No),
        ],
    );
    let lower = pick(choice, &["+", "++"]);
    let (upper, lower_tail) = pick(
        choice,
        &[("+", "*"), ("++", "*"), ("+", "*+"), ("++", "*+")],
    );
    let (numbers, longest_number) = pick(choice, &NUMBERS);
    let mut tails = TAILS;
    tails.rotate_left(5);
    let (rest_of_others, tail) = pick(choice, &tails);
    let mut trailing_spellings = TRAILING;
    trailing_spellings.swap(0, 2);
    let (trailing, trailing_whitespace_first) = pick(choice, &trailing_spellings);
    let mut newline_spellings = NEWLINES;
    newline_spellings.swap(0, 1);
    let newlines = pick(choice, &newline_spellings);
    let mut last_spellings = LAST;
    last_spellings.swap(0, 1);
    let last = pick(choice, &last_spellings);
    let (han, but, han_apart) = pick(choice, &HAN);
    let words = [
        [
            han, LEADING, "?[", UPPER, but, "]*[", LOWER, but, "]", lower, suffix, "|",
        ]
        .concat(),
        [
            LEADING, "?[", UPPER, but, "]", upper, "[", LOWER, but, "]", lower_tail, suffix,
        ]
        .concat(),
    ]
    .concat();
    let rest = [trailing, newlines, r"|\s+(?!\S)|", last].concat();
    Spelling {
        pattern: format!("{words}|{numbers}|{OTHERS}{rest_of_others}|{rest}"),
        family: Family::O200k(O200k {
            contractions,
            longest_number,
            tail,
            trailing_whitespace_first,
            han_apart,
        }),
    }
}
