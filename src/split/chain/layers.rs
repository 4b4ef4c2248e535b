//! Splitting by runs of classes, in one pass for all rules of a chain.
//!
//! Each rule isolates characters of a class, or runs of them, perhaps with one character of another class before the run, or
//! at the end of a piece: `[\r\n]`, `[一-龥]+`, `\s?\p{L}+`, `\s+$`, as the first models of `DeepSeek` have it. No rule joins
//! what one before it has cut, so each only adds borders. Those of a rule depend on the character before a place, on the one
//! behind it, and on whether a border follows that; only at the end of a piece do they depend on more.
//!
//! So borders behind a place inside of a piece are found from the character before it alone, and a piece that is longer than
//! a block is looked at block by block.

use fancy_regex::{Assertion, Expr};
use regex_syntax::hir::ClassUnicode;

use super::codes::{ByClasses, CODE_POINTS, Codes, Found, Planes, inside};
use super::{Behavior, Rule};
use crate::checkpoint::{self, Interrupted};
use crate::split::masks::Classify;
use crate::unicode::character::{first, last, length_of};
use crate::unicode::set;
use crate::util::block::{BLOCK_LEN, Block, Spans};
use crate::util::regex;

/// Bytes between two passes of the checkpoint.
const CHECK_INTERVAL: usize = 1 << 16;

/// The most classes: each is a bit of a code.
const MAX_CLASSES: usize = 8;

/// A bit of a code: a class of characters.
type Class = u8;

/// Returns whether a character with this code is of a class.
fn has(code: u8, class: Class) -> bool {
    code >> class & 1 != 0
}

/// The characters that a rule isolates.
#[derive(Clone, Copy, Debug)]
enum Layer {
    /// Each character of a class.
    Single(Class),
    /// Characters of a class in a row.
    Run(Class),
    /// Those, and a character of another class before them.
    Led { lead: Class, run: Class },
    /// Characters of a class in a row, at the end of a piece.
    Last(Class),
}

/// The characters that each rule isolates, in order. Every byte is in a piece.
#[derive(Debug)]
pub struct Layers {
    codes: Codes,
    layers: Vec<Layer>,
}

/// The classes of rules.
#[derive(Default)]
struct Sets(Vec<ClassUnicode>);

impl Sets {
    /// Returns the number of a class.
    fn number(&mut self, class: ClassUnicode) -> Option<Class> {
        let known = self.0.iter().position(|each| *each == class);
        let number = known.unwrap_or_else(|| {
            self.0.push(class);
            self.0.len() - 1
        });
        Class::try_from(number).ok()
    }

    /// Returns what a rule isolates; `None` if it does anything else.
    fn layer(&mut self, rule: &Rule) -> Option<Layer> {
        let expression = regex::parse(&rule.pattern).ok()?;
        if let Some(class) = set::of_expression(&expression, false) {
            let class = self.number(class)?;
            return match rule.behavior {
                Behavior::Isolated => Some(Layer::Single(class)),
                Behavior::Contiguous => Some(Layer::Run(class)),
                _ => None,
            };
        }
        if rule.behavior != Behavior::Isolated {
            return None;
        }
        let Expr::Concat(parts) = &expression else {
            return Some(Layer::Run(self.run(&expression)?));
        };
        match parts.as_slice() {
            [run, Expr::Assertion(Assertion::EndLine { crlf: false })] => {
                Some(Layer::Last(self.run(run)?))
            }
            [
                Expr::Repeat {
                    child: lead,
                    lo: 0,
                    hi: 1,
                    greedy: true,
                },
                run,
            ] => {
                let lead = self.number(set::of_expression(lead, false)?)?;
                let run = self.run(run)?;
                Some(Layer::Led { lead, run })
            }
            _ => None,
        }
    }

    /// Returns the class of which an expression matches as many characters as stand in a row, at least one.
    fn run(&mut self, expression: &Expr) -> Option<Class> {
        match set::of_run(expression)? {
            (class, 1) => self.number(class),
            _ => None,
        }
    }
}

impl Layers {
    /// Returns the layers of rules; `None` if one isolates anything else.
    pub(super) fn of(rules: &[Rule]) -> Option<Self> {
        let mut sets = Sets::default();
        let layers = rules
            .iter()
            .map(|rule| sets.layer(rule))
            .collect::<Option<Vec<_>>>()?;
        let mut has_lines = true;
        for layer in &layers {
            match *layer {
                // The ends of lines are those of pieces, once newlines are apart.
                Layer::Single(class) => {
                    has_lines &= !set::holds(&sets.0[usize::from(class)], '\n');
                }
                Layer::Last(_) if has_lines => return None,
                _ => {}
            }
        }
        if layers.is_empty() || sets.0.len() > MAX_CLASSES {
            return None;
        }
        let mut codes = vec![0; CODE_POINTS];
        for (number, class) in sets.0.iter().enumerate() {
            for range in class.ranges() {
                let range = range.start() as usize..=range.end() as usize;
                codes[range]
                    .iter_mut()
                    .for_each(|code| *code |= 1 << number);
            }
        }
        let codes = Codes::of(&codes)?;
        Some(Self { codes, layers })
    }

    /// Returns whether a text can be cut between two characters, wherever they stand beside each other: a piece ends there by
    /// a rule, and no rule before it looks across.
    pub(in crate::split) fn separates(&self, before: u32, after: u32) -> bool {
        let [before, after] = [before, after].map(|point| self.codes.code(point));
        for layer in &self.layers {
            let (joins, parts) = match *layer {
                Layer::Single(class) => (false, has(before | after, class)),
                Layer::Run(class) => (false, has(before ^ after, class)),
                Layer::Led { lead, run } => {
                    let differ = has(before ^ after, run);
                    (differ && has(after, run) && has(before, lead), differ)
                }
                Layer::Last(class) => (has(before, class), false),
            };
            if joins || parts {
                return parts && !joins;
            }
        }
        false
    }

    /// Returns the end of the piece that begins at an offset of a text.
    ///
    /// # Errors
    /// [`Interrupted`] from the checkpoint.
    pub(in crate::split) fn piece_end(
        &self,
        text: &[u8],
        offset: usize,
    ) -> Result<usize, Interrupted> {
        let mut at = offset + length_of(text[offset]);
        let mut check = at + CHECK_INTERVAL;
        while at < text.len() && !self.is_border(self.layers.len(), &text[offset..], at - offset)? {
            at += length_of(text[at]);
            if at >= check {
                check = at + CHECK_INTERVAL;
                checkpoint::pass()?;
            }
        }
        Ok(at)
    }

    /// Returns whether a piece ends at a place inside of a text, which begins with a piece, by the first `count` rules.
    fn is_border(&self, count: usize, text: &[u8], at: usize) -> Result<bool, Interrupted> {
        let Some(above) = count.checked_sub(1) else {
            return Ok(false);
        };
        if self.is_border(above, text, at)? {
            return Ok(true);
        }
        let code = |point: Option<u32>| self.codes.code(point.expect("it is UTF-8"));
        let behind = |at: usize| (at < text.len()).then(|| code(first(&text[at..])));
        let before = code(last(&text[..at]));
        let after = code(first(&text[at..]));
        match self.layers[above] {
            Layer::Single(class) => Ok(has(before | after, class)),
            Layer::Run(class) => Ok(has(before ^ after, class)),
            Layer::Led { lead, run } => {
                if has(before, run) != has(after, run) {
                    return Ok(has(before, run) || !has(before, lead));
                }
                let next = at + length_of(text[at]);
                let is_led = behind(next).is_some_and(|next| has(next, run));
                let leads = is_led && has(after, lead) && !has(after, run);
                Ok(leads && !self.is_border(above, text, next)?)
            }
            Layer::Last(class) => {
                if has(before, class) || !has(after, class) {
                    return Ok(false);
                }
                let mut at = at;
                let mut check = at + CHECK_INTERVAL;
                loop {
                    at += length_of(text[at]);
                    match behind(at) {
                        None => return Ok(true),
                        Some(_) if self.is_border(above, text, at)? => return Ok(true),
                        Some(code) if !has(code, class) => return Ok(false),
                        Some(_) => {}
                    }
                    if at >= check {
                        check = at + CHECK_INTERVAL;
                        checkpoint::pass()?;
                    }
                }
            }
        }
    }
}

impl ByClasses<false> for Layers {
    #[expect(
        clippy::inline_always,
        reason = "compiled anew for each tier, with its instructions"
    )]
    #[inline(always)]
    fn spans(&self, classify: impl Classify, block: &Block, rest: &[u8]) -> Found<false> {
        let inside = inside(rest.len());
        let Planes { bits, continuation } = self.codes.planes(classify, block, inside);
        // The first bytes behind borders, and places where there may be one. Behind the block nothing is known.
        let mut borders = 1 | (inside.wrapping_add(1) & !inside);
        let (mut doubt, beyond) = (0, if inside == u64::MAX { 1 << 63 } else { 0 });
        for layer in &self.layers {
            match *layer {
                Layer::Single(class) => {
                    let class = bits[usize::from(class)];
                    borders |= (class | class << 1) & !continuation;
                }
                Layer::Run(class) => {
                    let class = bits[usize::from(class)];
                    borders |= class ^ class << 1;
                }
                Layer::Led { lead, run } => {
                    let run = bits[usize::from(run)];
                    let may_lead = bits[usize::from(lead)] & !run;
                    let firsts = run & !continuation & !borders;
                    let whole = |lasts: u64| {
                        // From the last byte of a character to its first.
                        let mut bytes = lasts;
                        for _ in 0..3 {
                            bytes |= (bytes & continuation) >> 1;
                        }
                        bytes
                    };
                    let leads = whole(may_lead & firsts >> 1);
                    let unsure = whole(may_lead & ((firsts & doubt) >> 1 | beyond)) & !continuation;
                    let matches = run | leads;
                    let found = leads & !continuation | (matches ^ matches << 1);
                    borders |= found & !unsure;
                    doubt |= unsure;
                }
                Layer::Last(class) => {
                    let class = bits[usize::from(class)];
                    // Where a run may begin: behind another character, or a border.
                    let starts = !(class << 1) | borders;
                    let start_of = |last: u64| {
                        let before = starts & (last | (last - 1));
                        1_u64 << (before | 1).ilog2()
                    };
                    let mut lasts = class & borders >> 1;
                    while lasts != 0 {
                        borders |= start_of(lasts & lasts.wrapping_neg());
                        lasts &= lasts - 1;
                    }
                    let mut lasts = class & (doubt >> 1 | beyond);
                    while lasts != 0 {
                        doubt |= start_of(lasts & lasts.wrapping_neg());
                        lasts &= lasts - 1;
                    }
                }
            }
        }
        doubt &= !borders;
        let known = (doubt & doubt.wrapping_neg()).wrapping_sub(1);
        let ends = borders & known & !1;
        if ends != 0 {
            let end = BLOCK_LEN - 1 - ends.leading_zeros() as usize;
            return Found::Pieces(Spans::adjacent(ends), end);
        }
        match BLOCK_LEN - 1 - ((known & !continuation) | 1).leading_zeros() as usize {
            0 => Found::Unsure,
            // The last place at which there is none.
            last => Found::Open(last),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::split::Splitter;
    use crate::split::chain::compared::Compared;
    use crate::split::chain::{Pattern, Step};
    use crate::util::random::numbers;
    use crate::util::tier::Tier;

    fn by_layers(rules: &[Rule], tier: Tier) -> Option<Splitter> {
        Some(Splitter::Layers(Arc::new(Layers::of(rules)?), tier))
    }

    fn isolated(pattern: &str) -> Rule {
        let step = Step::Split {
            pattern: Pattern::Regex(pattern.to_owned()),
            behavior: Behavior::Isolated,
            invert: false,
        };
        step.rule().expect("known").expect("it splits")
    }

    const PARTS: [&str; 25] = [
        "a",
        "the",
        " ",
        "  ",
        ".",
        "!?",
        "7",
        "42",
        "\n",
        "\t",
        "\r\n",
        "x.y",
        "  .",
        "   ",
        "\u{7f}",
        "\u{85}",
        "\u{3000}",
        "\u{3000}\u{3000}.",
        "é",
        "中",
        "中文字符",
        "。",
        "☃",
        "\u{2003}",
        "😀",
    ];

    /// Checks random texts, one with long runs, and parts at each place of a block.
    fn check(rules: &[Rule], number: &mut impl FnMut(usize) -> usize) {
        let compared = Compared::new(rules, by_layers);
        for size in [0, 1, 5, 20, 60, 300] {
            let few = [9, 16, PARTS.len()][number(3)];
            let text: String = (0..size).map(|_| PARTS[number(few)]).collect();
            compared.check(&text);
        }
        for long in [
            "word",
            " ",
            "\u{3000}",
            "中",
            "☃",
            "\u{2003}",
            ".",
            " ☃",
            "    \u{3000}",
        ] {
            let (first, last) = (PARTS[number(PARTS.len())], PARTS[number(PARTS.len())]);
            for count in [20, 64, 2000] {
                compared.check(&format!("{first}{}{last}", long.repeat(count)));
            }
        }
        for filler in ["☃", "a", " "] {
            for before in 50..70 {
                let (first, last) = (PARTS[number(PARTS.len())], PARTS[number(PARTS.len())]);
                compared.check(&format!("{}{first}{last}.", filler.repeat(before)));
            }
        }
    }

    #[test]
    fn pieces_are_those_of_rules_one_after_another() {
        let mut number = numbers(11);
        let newline = r"[\r\n]";
        let all = [
            r"\s?\p{L}+",
            r" ?[^\s\p{L}]+",
            r"\s?[!-/:-~！-／：-～‘-‟　-。]+",
            r"\s+$",
            r"[一-龥ࠀ-一가-퟿]+",
            r"\p{N}",
            r"\p{P}+",
            r"\s?[ \x{3000}]+",
            r"\s",
        ];
        for _ in 0..150 {
            let mut rules = vec![isolated(newline)];
            // More may have too many classes.
            for _ in 0..number(4) {
                rules.push(isolated(all[number(all.len())]));
            }
            rules.push(isolated(all[number(2)]));
            check(&rules, &mut number);
        }
    }

    #[test]
    fn pieces_are_those_of_published_chains() {
        let mut number = numbers(12);
        let bloom = r" ?[^(\s|[.,!?…。，、।۔،])]+";
        let llm = [
            r"[\r\n]",
            r"\s?[A-Za-zµÀ-ÖØ-öø-ƺ]+",
            r"\s?[!-/:-~！-／：-～‘-‟　-。]+",
            r"\s+$",
            r"[一-龥ࠀ-一가-퟿]+",
            r"\p{N}",
        ];
        let coder = [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", llm[4], r"\p{N}"];
        for chain in [&[bloom][..], &[bloom, r"\p{N}"], &llm, &coder] {
            let rules: Vec<Rule> = chain.iter().map(|pattern| isolated(pattern)).collect();
            for _ in 0..20 {
                check(&rules, &mut number);
            }
        }
    }

    #[test]
    fn others_are_left_to_the_cascade() {
        for pattern in [
            r"\s+$",
            r"\p{N}{1,3}",
            r"a|\p{L}+",
            r"\s*\p{L}+",
            r"\s??\p{L}+",
            r"\p{L}+?",
            r"\s?\p{L}",
            r"\s?\p{L}+\s",
            r"\p{L}+\b",
            r"^\p{L}+",
        ] {
            let rules = [isolated(r"\r"), isolated(pattern)];
            assert!(Layers::of(&rules).is_none(), "{pattern}");
        }
    }
}
