//! Searches a text for some strings at once.
//!
//! Strings that repeat one byte, such as runs of spaces, are found by comparing neighbouring bytes: an automaton, which looks
//! at each single space, took a quarter of the time that the tokenizer of GPT-NeoX needed for English. Others are
//! found by an automaton.

use std::cmp::Reverse;
use std::ops::Range;

use aho_corasick::{
    AhoCorasick, AhoCorasickKind, BuildError, Input, Match, MatchKind, PatternID, StartKind,
};
use memchr::memchr;

use crate::util::memory::{self, Growable};

/// Up to this many bytes of strings, the automaton has a table of all transitions. It is the fastest, but
/// building it takes quadratic time where the strings repeat themselves.
const MAX_TABLE: usize = 1 << 12;

/// A search for some strings at once: the leftmost, and of several that start there the longest.
#[derive(Debug)]
pub(super) struct Finder {
    /// Those that repeat one byte.
    runs: Vec<Runs>,
    others: Option<Automaton>,
}

/// Any strings, by an automaton.
#[derive(Debug)]
struct Automaton {
    strings: AhoCorasick,
    /// Their numbers among all.
    patterns: Vec<PatternID>,
    /// The first byte of all strings, if it is the same: `memchr` skips to it, which is all that most texts
    /// need.
    first_byte: Option<u8>,
    longest: usize,
}

/// The strings that repeat a byte.
#[derive(Debug)]
struct Runs {
    byte: u8,
    /// For each number of bytes, the longest string that has no more, and its length; that of two bytes is one of them.
    longest: Vec<(PatternID, usize)>,
}

/// The most bytes that strings of a search for runs repeat.
const RUNS: usize = 3;

/// Bytes in which runs and other strings are searched for in turn.
const WINDOW: usize = 1 << 10;

/// Bytes that are searched together for the start of a run. With 64, the place in them took longer to find.
const CHUNK: usize = 16;

impl Finder {
    /// Builds the search.
    ///
    /// # Complexity
    /// O(bytes of all strings).
    pub(super) fn new(strings: &[impl AsRef<[u8]>]) -> Result<Self, BuildError> {
        let mut others = Vec::new();
        let mut sorted: Vec<(PatternID, &[u8])> = Vec::new();
        for (index, string) in strings.iter().enumerate() {
            let pattern = PatternID::new(index).expect("fewer than 2^31 strings");
            sorted.push((pattern, string.as_ref()));
        }
        sorted.sort_by_key(|(_, string)| string.len());
        let mut runs: Vec<Runs> = Vec::new();
        for (pattern, string) in sorted {
            if !Runs::add(&mut runs, pattern, string) {
                others.push((pattern, string));
            }
        }
        let others = (!others.is_empty()).then(|| Automaton::new(&others));
        Ok(Self {
            runs,
            others: others.transpose()?,
        })
    }

    pub(super) fn find(&self, text: &[u8], mut from: usize) -> Option<Match> {
        let Some(others) = &self.others else {
            return Runs::find(&self.runs, text, from..text.len());
        };
        if self.runs.is_empty() {
            return others.find(text, from..text.len());
        }
        while from < text.len() {
            let end = text.len().min(from.saturating_add(WINDOW));
            let run = Runs::find(&self.runs, text, from..end);
            // Up to where another string may end that starts no later.
            let limit = run.as_ref().map_or(end, |run| run.start() + 1);
            let reached = limit.saturating_add(others.longest).min(text.len());
            let other = others.find(text, from..reached);
            let other = other.filter(|other| other.start() < limit);
            let first = [run, other].into_iter().flatten();
            let first = first.min_by_key(|found| (found.start(), Reverse(found.len())));
            if first.is_some() {
                return first;
            }
            from = end;
        }
        None
    }
}

impl Automaton {
    fn new(strings: &[(PatternID, &[u8])]) -> Result<Self, BuildError> {
        let lengths = strings.iter().map(|(_, string)| string.len());
        let bytes: usize = lengths.clone().sum();
        let automaton = AhoCorasick::builder()
            // Otherwise by the number of strings.
            .kind((bytes > MAX_TABLE).then_some(AhoCorasickKind::ContiguousNFA))
            .match_kind(MatchKind::LeftmostLongest)
            .start_kind(StartKind::Unanchored)
            .build(strings.iter().map(|(_, string)| string))?;
        let mut first_bytes = strings.iter().map(|(_, string)| string.first());
        let first = first_bytes.next().flatten().copied();
        let shared = first_bytes.all(|byte| byte.copied() == first);
        Ok(Self {
            strings: automaton,
            patterns: strings.iter().map(|(pattern, _)| *pattern).collect(),
            first_byte: first.filter(|_| shared),
            longest: lengths.max().unwrap_or(0),
        })
    }

    fn find(&self, text: &[u8], range: Range<usize>) -> Option<Match> {
        let Range { mut start, end } = range;
        if let Some(byte) = self.first_byte {
            start += memchr(byte, text.get(start..end)?)?;
        }
        let found = self.strings.find(Input::new(text).range(start..end))?;
        let pattern = self.patterns[found.pattern().as_usize()];
        Some(Match::new(pattern, found.range()))
    }
}

impl Runs {
    /// Adds a string, of those in the order of their lengths, if it repeats one of few bytes, of which two are a string as well.
    fn add(all: &mut Vec<Self>, pattern: PatternID, string: &[u8]) -> bool {
        let Some((&byte, rest)) = string.split_first() else {
            return false;
        };
        if rest.is_empty() || rest.iter().any(|&other| other != byte) {
            return false;
        }
        let place = all.iter().position(|runs| runs.byte == byte);
        let runs = match place {
            Some(place) => &mut all[place],
            None if string.len() == 2 && all.len() < RUNS => {
                let longest = memory::filled((pattern, 0), 2);
                all.with_room(1).push(Self { byte, longest });
                all.last_mut().expect("it was added")
            }
            None => return false,
        };
        let shorter = runs.longest[runs.longest.len() - 1];
        runs.longest.resize(string.len(), shorter);
        runs.longest.push((pattern, string.len()));
        true
    }

    /// Returns the first run that starts in a range; it may end behind that.
    fn find(all: &[Self], text: &[u8], range: Range<usize>) -> Option<Match> {
        // Two bytes of a run.
        let reached = range.end.saturating_add(1).min(text.len());
        let start = range.start + Self::first(all, text.get(range.start..reached)?)?;
        let runs = all.iter().find(|runs| runs.byte == text[start]);
        let (pattern, length) = runs.expect("it starts there").longest(&text[start..]);
        Some(Match::new(pattern, start..start + length))
    }

    /// Returns where the first run of two bytes or more starts.
    fn first(all: &[Self], text: &[u8]) -> Option<usize> {
        let starts_at = |at: usize| {
            let mut runs = all.iter();
            runs.any(|runs| text[at..].starts_with(&[runs.byte; 2]))
        };
        let mut start = 0;
        while let Some(chunk) = text[start..].first_chunk::<{ CHUNK + 1 }>() {
            // Without a branch: the compiler makes vectors of it.
            let mut any = 0;
            for runs in all {
                for at in 0..CHUNK {
                    let are_both =
                        [chunk[at], chunk[at + 1]].map(|byte| u8::from(byte == runs.byte));
                    any |= are_both[0] & are_both[1];
                }
            }
            if any != 0 {
                return (start..start + CHUNK).find(|&at| starts_at(at));
            }
            start += CHUNK;
        }
        (start..text.len()).find(|&at| starts_at(at))
    }

    /// Returns the longest string that a text begins with.
    fn longest(&self, text: &[u8]) -> (PatternID, usize) {
        let most = &text[..text.len().min(self.longest.len() - 1)];
        let end = most.iter().position(|&byte| byte != self.byte);
        self.longest[end.unwrap_or(most.len())]
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::Finder;
    use crate::util::random::numbers;

    #[test]
    fn runs_of_a_few_bytes_are_searched_for_as_runs() -> Result<(), Box<dyn Error>> {
        let of = |strings: &[&str]| {
            let finder = Finder::new(strings)?;
            let others = finder.others.map_or(0, |others| others.patterns.len());
            Ok::<_, Box<dyn Error>>((finder.runs.len(), others))
        };
        assert_eq!(of(&["    ", "  ", "\t\t"])?, (2, 0));
        assert_eq!(of(&["    ", "a  ", "  "])?, (1, 1));
        assert_eq!(of(&["   ", "\t\t", "x"])?, (1, 2));
        assert_eq!(of(&["aa", "bb", "cc", "dd", "ddd"])?, (3, 2));
        Ok(())
    }

    /// Texts with strings at, before and across the ends of what is searched together, from each offset.
    #[test]
    fn runs_and_others_are_found_as_all_strings_are() -> Result<(), Box<dyn Error>> {
        let runs = ["  ", "     ", "\t\t\t", "\t\t", "\n\n"];
        let others = [" <y>", "\t\tz", "<", "<y", "x\n\n", "\n\nyz", "|x|"];
        let parts = [
            " ",
            " ",
            "\t",
            "\n",
            "<",
            "<y>",
            "x",
            "yz",
            "|x|",
            "some more letters",
        ];
        let mut below = numbers(1);
        for round in 0..400 {
            let strings: Vec<&str> = match round % 3 {
                0 => runs.to_vec(),
                1 => others.to_vec(),
                _ => [&others[..], &runs[..]].concat(),
            };
            let finder = Finder::new(&strings)?;
            let length = if round % 20 == 0 { 2000 } else { 40 };
            let mut text = String::new();
            while text.len() < length {
                let part = parts[below(parts.len())];
                text.push_str(&part.repeat(1 + below(8) * below(2)));
                // Strings that are rare, and far from the next.
                if length > 40 && below(3) == 0 {
                    text.push_str(&"abc ".repeat(below(400)));
                }
            }
            let text = text.as_bytes();
            let at = |at: usize| {
                let found = |string: &&&str| text[at..].starts_with(string.as_bytes());
                strings
                    .iter()
                    .filter(found)
                    .max_by_key(|string| string.len())
            };
            for from in 0..=text.len() {
                let mut starts = from..text.len();
                let expected = starts.find_map(|start| Some((start, *at(start)?)));
                let found = finder.find(text, from);
                let found = found.map(|found| (found.start(), strings[found.pattern().as_usize()]));
                assert_eq!(found, expected, "{text:?} from {from}");
            }
        }
        Ok(())
    }
}
