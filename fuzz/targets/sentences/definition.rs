//! The definition of training SentencePiece models, executable and slow: `bytemill.reference_sentencepiece.training`,
//! and the balance between merges and characters.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use bytemill::normalize::{Flags, MARK};
use bytemill::train::sentencepiece::{Coverage, PieceRules, Reading, Sampling, WordRules};
use bytemill::unicode::property::Script;

use crate::normalize::{Rules, normalize};

/// The mark as a character.
const SPACE: char = '\u{2581}';

/// Stands for a protected string in the text.
const BOUNDARY: char = '\u{1F}';

/// Stands for a character that gets no piece.
const BARRIER: char = '\u{2585}';

/// Sentences or words, and how often each occurs.
pub(super) type Counts<T> = BTreeMap<T, u128>;

/// The sentences of some texts.
#[derive(Default)]
pub(super) struct Sentences {
    pub(super) counts: Counts<Vec<u8>>,
    pub(super) accepted: u64,
    pub(super) too_long: u64,
}

/// Returns the sentences of texts, or of their lines; `None` if a line has no count that is one.
pub(super) fn sentences(
    texts: &[Vec<u8>],
    are_lines: bool,
    reading: &Reading,
) -> Option<Sentences> {
    let mut found = Sentences::default();
    for line in texts.iter().flat_map(|text| lines(text, are_lines)) {
        if let Some(Sampling::First(most)) = reading.sampling
            && found.accepted == most as u64
        {
            break;
        }
        let (text, count) = if reading.has_counts {
            let fields: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
            let [text, count] = fields[..] else {
                return None;
            };
            let count: i128 = str::from_utf8(count).ok()?.trim_ascii().parse().ok()?;
            let is_count = (1..1 << 63).contains(&count);
            (text, is_count.then_some(count.unsigned_abs())?)
        } else {
            (line, 1)
        };
        if text.len() > reading.max_sentence_length {
            found.too_long += 1;
        } else if !text.is_empty() && !contains(text, BARRIER) {
            found.accepted += 1;
            *found.counts.entry(text.to_vec()).or_default() += count;
        }
    }
    Some(found)
}

/// Returns the lines of a text, or the text without line breaks at its end.
fn lines(text: &[u8], are_lines: bool) -> Vec<&[u8]> {
    if !are_lines {
        let end = text.iter().rposition(|byte| !b"\r\n".contains(byte));
        return vec![&text[..end.map_or(0, |last| last + 1)]];
    }
    if text.is_empty() {
        return Vec::new();
    }
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.split(|&byte| byte == b'\n').collect()
}

fn contains(text: &[u8], character: char) -> bool {
    let character = character.to_string();
    text.windows(character.len())
        .any(|window| window == character.as_bytes())
}

/// Normalizes sentences, and puts [`BOUNDARY`] in place of the longest of the protected strings, then of the delimiter.
pub(super) fn prepared(
    sentences: &Counts<Vec<u8>>,
    flags: Flags,
    rules: &Rules,
    reading: &Reading,
) -> Counts<String> {
    let mut prepared = Counts::new();
    for (sentence, count) in sentences {
        let (text, _) = normalize(sentence, flags, rules, &[], MARK);
        let text = String::from_utf8(text).expect("text");
        let (mut out, mut rest) = (String::new(), text.as_str());
        while let Some(first) = rest.chars().next() {
            let found = reading.protected.iter().map(String::as_str);
            let found = found.filter(|string| rest.starts_with(string));
            let longest = found.max_by_key(|string| string.len()).unwrap_or_default();
            let (made, length) = match longest.len() {
                0 => (first, first.len_utf8()),
                length => (BOUNDARY, length),
            };
            out.push(made);
            rest = &rest[length..];
        }
        if !reading.delimiter.is_empty() {
            out = out.replace(&reading.delimiter, &BOUNDARY.to_string());
        }
        *prepared.entry(out).or_default() += count;
    }
    prepared
}

/// Returns how often each character occurs.
pub(super) fn characters(prepared: &Counts<String>) -> Counts<char> {
    let mut counts = Counts::new();
    for (sentence, count) in prepared {
        for character in sentence.chars().filter(|&character| character != '\0') {
            *counts.entry(character).or_default() += count;
        }
    }
    counts
}

/// Returns the characters that get a piece, the most frequent first, and how often each occurs.
pub(super) fn alphabet(mut counts: Counts<char>, coverage: &Coverage) -> Vec<(char, u128)> {
    let total: u128 = counts.values().sum();
    let (share, required) = match coverage {
        Coverage::Share { share, required } => (*share, required.as_str()),
        Coverage::Balanced => (f32::INFINITY, ""),
    };
    for character in required.chars().filter(|&character| character != '\0') {
        counts.entry(character).or_default();
    }
    let mut order: Vec<(char, u128)> = counts.into_iter().collect();
    order.sort_by_key(|&(character, count)| (!required.contains(character), Reverse(count)));
    let mut covered = 0;
    order.retain(|&(_, count)| {
        let before = covered;
        covered += count;
        ratio(before, total) < share
    });
    order.retain(|&(character, _)| character != BOUNDARY);
    order.sort_by_key(|&(character, count)| (Reverse(count), character));
    order
}

#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "as there"
)]
fn ratio(part: u128, total: u128) -> f32 {
    (part as f64 / total as f64) as f32
}

/// Returns the words of sentences, as characters, with a [`BARRIER`] in place of those that get no piece.
pub(super) fn words(
    prepared: &Counts<String>,
    rules: WordRules,
    alphabet: &[(char, u128)],
) -> Vec<(Vec<String>, u128)> {
    let known: BTreeSet<char> = alphabet.iter().map(|&(character, _)| character).collect();
    let mut words = Counts::<Vec<String>>::new();
    for (sentence, count) in prepared {
        let mut word = Vec::new();
        let mut before = None;
        for character in sentence.chars() {
            let end = if rules.treat_whitespace_as_suffix {
                before
            } else {
                Some(character)
            };
            let are_marks = before == Some(SPACE) && character == SPACE;
            if rules.split_by_whitespace
                && before.is_some()
                && end == Some(SPACE)
                && !(rules.allow_whitespace_only_pieces && are_marks)
            {
                *words.entry(std::mem::take(&mut word)).or_default() += count;
            }
            let is_known = known.contains(&character);
            word.push(if is_known { character } else { BARRIER }.to_string());
            before = Some(character);
        }
        *words.entry(word).or_default() += count;
    }
    words.into_iter().collect()
}

/// Returns whether a string looks like a part of a word.
fn may_be_piece(text: &str, rules: &PieceRules) -> bool {
    let characters: Vec<char> = text.chars().collect();
    let forbidden = [BARRIER, BOUNDARY, ' ', '\0'];
    if characters.len() > rules.max_length || characters.iter().any(|c| forbidden.contains(c)) {
        return false;
    }
    if rules.allow_whitespace_only_pieces && characters.iter().all(|&c| c == SPACE) {
        return true;
    }
    // Where no mark may be: in all but one end, or at the other end.
    let inner = if rules.treat_whitespace_as_suffix {
        &characters[..characters.len() - 1]
    } else {
        &characters[1..]
    };
    let far_end = if rules.treat_whitespace_as_suffix {
        inner.first()
    } else {
        inner.last()
    };
    if rules.split_by_whitespace && inner.contains(&SPACE) || far_end == Some(&SPACE) {
        return false;
    }
    // The script of the character before, if that matters.
    let mut before = None;
    for &character in characters.iter().filter(|&&c| c != SPACE) {
        let is_digit = matches!(character, '0'..='9' | '０'..='９');
        if is_digit && rules.split_digits && characters.len() > 1 {
            return false;
        }
        let script = match Script::of(character) {
            _ if is_digit => rules.split_by_number.then_some(Script::COMMON),
            _ if character == 'ー' => Some(Script::HAN),
            Script::HIRAGANA | Script::KATAKANA => Some(Script::HAN),
            Script::INHERITED => before,
            script => Some(script),
        };
        if rules.split_by_unicode_script && before.zip(script).is_some_and(|(a, b)| a != b) {
            return false;
        }
        before = script;
    }
    true
}

/// Learns at most `most` pieces from words, each with how often it occurred when it was made: the pair of neighbours
/// that occurs most often is joined, again and again; of equals the shortest, then the first by code points.
///
/// A pair remains a candidate after its last occurrence is gone, with a count of 0.
pub(super) fn learn(
    mut words: Vec<(Vec<String>, u128)>,
    most: usize,
    rules: &PieceRules,
) -> Vec<(String, u128)> {
    // Whether it is a candidate, of all that was adjacent.
    let mut seen: HashMap<String, bool> = HashMap::new();
    let see = |text: String, seen: &mut HashMap<String, bool>| {
        seen.entry(text)
            .or_insert_with_key(|text| may_be_piece(text, rules));
    };
    let mut learned: Vec<(String, u128)> = Vec::new();
    while learned.len() < most {
        let mut counts = HashMap::<String, u128>::new();
        for (symbols, count) in &words {
            for pair in symbols.windows(2) {
                *counts.entry(pair.concat()).or_default() += count;
            }
        }
        for text in counts.keys() {
            see(text.clone(), &mut seen);
        }
        let count = |text: &String| counts.get(text).copied().unwrap_or_default();
        let candidates = seen.iter().filter(|(_, is_candidate)| **is_candidate);
        let best = candidates.map(|(text, _)| text);
        let Some(best) =
            best.min_by_key(|text| (Reverse(count(text)), text.chars().count(), *text))
        else {
            break;
        };
        let (best, count) = (best.clone(), count(best));
        seen.insert(best.clone(), false);
        for (symbols, _) in &mut words {
            // From left to right; a joined pair and what is behind it are adjacent for a moment.
            let mut at = 0;
            while at + 1 < symbols.len() {
                if symbols[at..at + 2].concat() == best {
                    symbols.splice(at..at + 2, [best.clone()]);
                    if let Some(next) = symbols.get(at + 1) {
                        see(format!("{best}{next}"), &mut seen);
                    }
                }
                at += 1;
            }
        }
        learned.push((best, count));
    }
    learned
}

/// Chooses at most `room` pieces of merges and characters, by what each is worth: the first merges with their
/// characters, and other characters for the rest of the room, as many merges as are worth most together, the most of
/// several.
pub(super) fn balanced(
    merges: &[(String, u128)],
    alphabet: &[(char, u128)],
    room: usize,
) -> Vec<String> {
    let worth = |(character, count): (char, u128)| count * (character.len_utf8() as u128 - 1);
    let mut best = (0, Vec::new());
    for number in 0..=merges.len() {
        let texts = merges[..number].iter().map(|(text, _)| text.as_str());
        let needed: BTreeSet<char> = texts.clone().flat_map(str::chars).collect();
        let Some(left) = room.checked_sub(number + needed.len()) else {
            break;
        };
        let is_needed = |(character, _): &&(char, u128)| needed.contains(character);
        let (with, mut others): (Vec<_>, Vec<_>) = alphabet.iter().partition(is_needed);
        others.retain(|(character, _)| character.len_utf8() > 1);
        others.sort_by_key(|&other| (Reverse((worth(other), other.1)), other.0));
        others.truncate(left);
        let gains: u128 = merges[..number].iter().map(|&(_, gain)| gain).sum();
        let kept = with.into_iter().chain(others.iter().copied());
        let total = gains + kept.map(worth).sum::<u128>();
        if total >= best.0 {
            let others = others.iter().map(|(character, _)| character);
            let characters = needed.iter().chain(others).map(char::to_string);
            best = (total, texts.map(str::to_owned).chain(characters).collect());
        }
    }
    best.1
}
