//! Recognising regular expressions that the native families implement, with their parameters.
//!
//! A pattern is cut into its top-level alternatives, and into those of a group that stands alone. Each must be a known
//! spelling of a rule, and the rules must be in the order of a family; any other pattern is left to the general engine.
//! Two spellings of a rule are listed together only if they match the same at every offset of every text.

use super::borders::{Borders, Numbers};
use super::deepseek::{self, Deepseek};
use super::o200k::Cl100k;
use super::o200k::O200k;
use super::o200k::R50k;
use super::rules::{Contractions, Tail};
use crate::checkpoint::Interrupted;

/// A pattern with native code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// gpt2, r50k, p50k.
    R50k(R50k),
    /// cl100k, Llama 3, Qwen.
    Cl100k(Cl100k),
    /// o200k, Kimi.
    O200k(O200k),
    /// `DeepSeek` V3.
    Deepseek(Deepseek),
}

/// A rule of a chain: a pattern, and what becomes of its matches and of the text between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule<'a> {
    /// Each is a piece.
    Isolated(&'a str),
    /// Each match is a piece, the text between them is dropped.
    Kept(&'a str),
    /// A match belongs to the text after it.
    MergedWithNext(&'a str),
}

impl Family {
    /// Returns the family and parameters of `pattern`, if it is a known spelling.
    pub fn recognise(pattern: &str) -> Option<Self> {
        let pattern = canonical(pattern);
        let alternatives = alternatives(&pattern, NESTED_GROUPS);
        let mut rest = Alternatives {
            rest: &alternatives,
        };
        let contractions = rest.contractions();
        let family = if rest.take(&[r" ?\p{L}+~"]) {
            let numbers = rest.take(&[r" ?\p{N}+~"]);
            let others = rest.take(&[r" ?[^\s\p{L}\p{N}]+~"]);
            // Trailing whitespace is one piece in this family with or without an alternative of its own.
            rest.take(TRAILING_WHITESPACE);
            (numbers && others).then_some(Self::R50k(R50k {
                contractions,
                longest_number: usize::MAX,
                borders: Borders::NONE,
            }))
        } else if let Some(marks_are_letters) = rest.words() {
            let longest_number = rest.numbers()?;
            let newlines_after_others = match rest.others(marks_are_letters)? {
                Tail::Nothing => false,
                Tail::Newlines => true,
                Tail::NewlinesAndSlashes => return None,
            };
            let trailing_whitespace_first = rest.take(TRAILING_WHITESPACE);
            rest.take(NEWLINES).then_some(Self::Cl100k(Cl100k {
                contractions,
                longest_number,
                marks_are_letters,
                newlines_after_others,
                trailing_whitespace_first,
                borders: Borders::NONE,
            }))
        } else if contractions == Contractions::No {
            let han_apart = rest.take(&[r"[\p{Han}]+~"]);
            let contractions = rest.cased_words(han_apart)?;
            let longest_number = rest.numbers()?;
            let tail = rest.others(false)?;
            let trailing_whitespace_first = rest.take(TRAILING_WHITESPACE);
            rest.take(NEWLINES).then_some(Self::O200k(O200k {
                contractions,
                longest_number,
                tail,
                trailing_whitespace_first,
                han_apart,
            }))
        } else {
            None
        };
        family.filter(|_| rest.whitespace())
    }

    /// Returns the family that splits as all `rules` of a chain do, one after another, if there is one.
    ///
    /// All rules but the last make [borders](Borders). A number that they split must not be split by the last as well.
    pub fn recognise_chain(rules: &[Rule<'_>]) -> Option<Self> {
        let (rules, numbers_last) = match rules {
            [rules @ .., Rule::Isolated(NUMERIC)] if !rules.is_empty() => (rules, true),
            _ => (rules, false),
        };
        let (last, before) = rules.split_last()?;
        let (mut borders, mut longest) = (Borders::NONE, usize::MAX);
        for rule in before {
            match *rule {
                Rule::MergedWithNext(LINE_ENDS) => borders.line_ends = true,
                Rule::Isolated(CJK) => borders.cjk = true,
                Rule::Isolated(pattern) if borders.numbers == Numbers::Joined => {
                    (borders.numbers, longest) = apart(pattern)?;
                }
                _ => return None,
            }
        }
        match *last {
            Rule::Isolated(pattern) if borders == deepseek::BORDERS => {
                let longest = if numbers_last { 1 } else { longest };
                deepseek(pattern, longest, numbers_last).map(Self::Deepseek)
            }
            Rule::Isolated(pattern) | Rule::Kept(pattern) if !numbers_last => {
                Self::recognise(pattern)?.with_borders(borders, longest)
            }
            _ => None,
        }
    }

    /// Returns the family with borders, and the longest number where these are around numbers.
    fn with_borders(self, borders: Borders, longest: usize) -> Option<Self> {
        match self {
            family if borders == Borders::NONE => Some(family),
            Self::R50k(family) => Some(Self::R50k(R50k {
                longest_number: longest,
                borders,
                ..family
            })),
            Self::Cl100k(family) if !family.trailing_whitespace_first => {
                let longest_number = if borders.numbers == Numbers::Joined {
                    family.longest_number
                } else {
                    Some(longest).filter(|&longest| longest <= family.longest_number)?
                };
                Some(Self::Cl100k(Cl100k {
                    longest_number,
                    borders,
                    ..family
                }))
            }
            Self::Cl100k(_) | Self::O200k(_) | Self::Deepseek(_) => None,
        }
    }

    /// Returns the end of the piece that starts at `offset`.
    ///
    /// # Errors
    /// [`Interrupted`] from the checkpoint, passed during long pieces.
    pub(super) fn piece_end(self, text: &[u8], offset: usize) -> Result<usize, Interrupted> {
        match self {
            Self::R50k(family) => family.piece_end(text, offset),
            Self::Cl100k(family) => family.piece_end(text, offset),
            Self::O200k(family) => family.piece_end(text, offset),
            Self::Deepseek(family) => family.piece_end(text, offset),
        }
    }
}

// In a spelling, `~` stands for an optional `+` that makes the quantifier before it possessive. It is written
// only where backtracking into the quantifier could never lead to a match, so that both mean the same.
const TRAILING_WHITESPACE: &[&str] = &[r"\s+~$"];
const NEWLINES: &[&str] = &[r"\s*[\r\n]", r"\s*[\r\n]+~"];

const UPPER: &str = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}";
const LOWER: &str = r"\p{Ll}\p{Lm}\p{Lo}\p{M}";
const LEADING: &str = r"[^\r\n\p{L}\p{N}]?";
const WORD_CONTRACTIONS: &[&str] = &["(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "('(?i:[sdmt]|ll|ve|re))?"];

/// The characters that `Digits` splits off: those of `char::is_numeric` in the Rust that `tokenizers` 0.23.3 is built
/// with, which has 13 more than `\p{N}` of Unicode 16.
pub const NUMERIC: &str = r"[\p{N}\x{11DE0}-\x{11DE9}\x{16FF4}-\x{16FF6}]";

/// Other rules that make borders.
const CJK: &str = "[一-龥぀-ゟ゠-ヿ]+";
const LINE_ENDS: &str = r"(?:\r?\n)+(?!\r?\n)";

/// Returns which numbers a rule for numbers alone keeps apart from all else, and the most characters in a piece.
fn apart(pattern: &str) -> Option<(Numbers, usize)> {
    if pattern == NUMERIC {
        return Some((Numbers::NewApart, 1));
    }
    let pattern = canonical(pattern);
    let mut rest = Alternatives { rest: &[&pattern] };
    let longest = rest.numbers()?;
    Some((Numbers::Apart, longest))
}

/// Letters after punctuation or a symbol, all of ASCII.
const ASCII_WORD: &str = r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"##;

/// Returns the parameters of the last pattern of the deepseek family, if it is a known spelling.
fn deepseek(pattern: &str, longest_number: usize, new_numbers: bool) -> Option<Deepseek> {
    let pattern = canonical(pattern);
    let alternatives = alternatives(&pattern, NESTED_GROUPS);
    let mut rest = Alternatives {
        rest: &alternatives,
    };
    let words =
        rest.take_verbatim(ASCII_WORD) && rest.take(&[r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+~"]);
    let newlines_after_signs = rest.take(&[r" ?[\p{P}\p{S}]+~[\r\n]*~"]);
    let signs = newlines_after_signs || rest.take(&[r" ?[\p{P}\p{S}]+~"]);
    let single_newlines = rest.take(&[r"[\r\n]"]);
    let newlines = single_newlines || rest.take(NEWLINES);
    (words && signs && newlines && rest.whitespace()).then_some(Deepseek {
        longest_number,
        new_numbers,
        newlines_after_signs,
        single_newlines,
    })
}

/// Returns the most characters of `\p{N}{1,3}`, which ends in one of `ends`.
fn few_numbers(pattern: &str, ends: &[&str]) -> Option<usize> {
    let bounds = pattern.strip_prefix(r"\p{N}{1,")?;
    let most = ends.iter().find_map(|end| bounds.strip_suffix(end))?;
    let canonical = !most.is_empty()
        && most.bytes().all(|byte| byte.is_ascii_digit())
        && !most.starts_with('0');
    most.parse().ok().filter(|_| canonical)
}

/// Groups that are opened within one another: one around the pattern, one around an alternative.
const NESTED_GROUPS: usize = 2;

/// Alternatives that are not yet recognised, in order.
struct Alternatives<'a> {
    rest: &'a [&'a str],
}

impl Alternatives<'_> {
    /// Consumes the next alternative if it has one of the `spellings`.
    fn take(&mut self, spellings: &[&str]) -> bool {
        match self.rest {
            [first, rest @ ..] if spellings.iter().any(|spelling| spelled(first, spelling)) => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// Consumes the next alternative if it is `spelling`, in which `~` is a character.
    fn take_verbatim(&mut self, spelling: &str) -> bool {
        let is_next = self.rest.first() == Some(&spelling);
        self.rest = &self.rest[usize::from(is_next)..];
        is_next
    }

    /// Consumes the contractions if they come next.
    fn contractions(&mut self) -> Contractions {
        if self.take(&["'(?:[sdmt]|ll|ve|re)"]) {
            return Contractions::LowerCase;
        }
        if self.take(&["'(?i:[sdmt]|ll|ve|re)", "(?i:'s|'t|'re|'ve|'m|'ll|'d)"]) {
            return Contractions::AnyCase;
        }
        let mut each = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"];
        each.sort_unstable();
        if let Some((first, rest)) = self.rest.split_at_checked(each.len()) {
            let mut first = first.to_vec();
            first.sort_unstable();
            if first == each {
                self.rest = rest;
                return Contractions::LowerCase;
            }
        }
        Contractions::No
    }

    /// Consumes the rule for words of any case if it comes next. Returns whether marks count as letters.
    ///
    /// A leading character may be possessive where it cannot be one of the letters itself.
    fn words(&mut self) -> Option<bool> {
        if self.take(&[r"[^\r\n\p{L}\p{N}]?~\p{L}+~"]) {
            return Some(false);
        }
        let marks = [
            r"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+~",
            r"[^\r\n\p{L}\p{M}\p{N}]?~[\p{L}\p{M}]+~",
        ];
        self.take(&marks).then_some(true)
    }

    /// Consumes the rule for other characters if it comes next. Returns what belongs to them after them.
    fn others(&mut self, marks_are_letters: bool) -> Option<Tail> {
        let class = if marks_are_letters {
            r" ?[^\s\p{L}\p{M}\p{N}]+~"
        } else {
            r" ?[^\s\p{L}\p{N}]+~"
        };
        let with_newlines = class.replace("]+~", r"\r\n]+~");
        if self.take(&[class, &with_newlines]) {
            return Some(Tail::Nothing);
        }
        if self.take(&[&[class, r"[\r\n]*~"].concat()]) {
            return Some(Tail::Newlines);
        }
        let slashes = [class, r"[\r\n/]*~"].concat();
        self.take(&[&slashes]).then_some(Tail::NewlinesAndSlashes)
    }

    /// Returns whether the rules for whitespace without newlines are all that is left.
    fn whitespace(&mut self) -> bool {
        self.take(&[r"\s+(?!\S)"]) && self.take(&[r"\s", r"\s+~"]) && self.rest.is_empty()
    }

    /// Consumes the rule for numbers if it comes next. Returns the most characters in a piece.
    fn numbers(&mut self) -> Option<usize> {
        if self.take(&[r"\p{N}+~"]) {
            return Some(usize::MAX);
        }
        if self.take(&[r"\p{N}", r"\p{N}{1}"]) {
            return Some(1);
        }
        let (first, rest) = self.rest.split_first()?;
        let repeated = first
            .strip_prefix("(?:")
            .and_then(|it| it.strip_suffix(")+"));
        let most = match repeated {
            // As often as there are numbers: what Oniguruma takes `\p{N}{1,3}+` for.
            Some(group) => few_numbers(group, &["}"]).map(|_| usize::MAX),
            None => few_numbers(first, &["}+", "}"]),
        };
        self.rest = rest;
        most
    }

    /// Consumes the two alternatives for cased words of the o200k family if they come next, in which `han_apart` says
    /// whether the script Han is left out.
    fn cased_words(&mut self, han_apart: bool) -> Option<Contractions> {
        let but = if han_apart { r"&&[^\p{Han}]" } else { "" };
        let [upper, lower] = [UPPER, LOWER].map(|classes| format!("[{classes}{but}]"));
        for suffix in WORD_CONTRACTIONS.iter().chain(&[""]) {
            let [lower, upper] = [
                format!("{LEADING}{upper}*{lower}+~{suffix}"),
                format!("{LEADING}{upper}+~{lower}*~{suffix}"),
            ];
            if let [first, second, rest @ ..] = self.rest
                && spelled(first, &lower)
                && spelled(second, &upper)
            {
                self.rest = rest;
                return Some(if suffix.is_empty() {
                    Contractions::No
                } else {
                    Contractions::AnyCase
                });
            }
        }
        None
    }
}

/// Returns whether `alternative` is `spelling`, in which `~` is an optional `+`.
fn spelled(alternative: &str, spelling: &str) -> bool {
    let mut rest = alternative;
    for (index, part) in spelling.split('~').enumerate() {
        if index > 0 {
            rest = rest.strip_prefix('+').unwrap_or(rest);
        }
        match rest.strip_prefix(part) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    rest.is_empty()
}

/// Returns `pattern` with one spelling for newlines and for a class of one property. What this turns an escaped
/// character into contains `\\` before a letter, as no spelling of a rule does.
fn canonical(pattern: &str) -> String {
    let spellings = [
        ("\r", r"\r"),
        ("\n", r"\n"),
        (r"[\p{L}]", r"\p{L}"),
        (r"[\p{N}]", r"\p{N}"),
    ];
    let replace = |pattern: String, (from, to)| pattern.replace(from, to);
    spellings.into_iter().fold(pattern.to_owned(), replace)
}

/// Returns the top-level alternatives of `pattern`, cut at each `|` outside groups, classes and escapes; and those of
/// `(?:...)` alone, up to `nested` groups deep, in its place.
fn alternatives(pattern: &str, nested: usize) -> Vec<&str> {
    let mut found = Vec::new();
    let mut push = |alternative| match group(alternative) {
        Some(inner) if nested > 0 => found.extend(alternatives(inner, nested - 1)),
        _ => found.push(alternative),
    };
    let (mut start, mut depth, mut in_class, mut escaped) = (0, 0_usize, false, false);
    for (index, byte) in pattern.bytes().enumerate() {
        if escaped {
            escaped = false;
            continue;
        }
        match byte {
            b'\\' => escaped = true,
            b'[' => in_class = true,
            b']' => in_class = false,
            _ if in_class => {}
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b'|' if depth == 0 => {
                push(&pattern[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    push(&pattern[start..]);
    found
}

/// Returns what is inside of `(?:...)`. Where the first and the last parenthesis are those of two groups, the result is no
/// list of rules.
fn group(alternative: &str) -> Option<&str> {
    alternative.strip_prefix("(?:")?.strip_suffix(')')
}
