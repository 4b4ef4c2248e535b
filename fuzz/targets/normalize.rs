//! Any bytes → normalized text with offsets, against the definition; any bytes as a map of characters.

use bytemill::normalize::{Flags, MARK, Normalizer};

use crate::input::Input;

/// The keys and values of a map of characters.
pub(crate) type Rules = Vec<(Vec<u8>, Vec<u8>)>;

/// Parts of texts, keys, values and symbols: what rules change, what looks like it, and what is not UTF-8.
pub(crate) const PARTS: [&str; 16] = [
    " ", "  ", "\u{2581}", "a", "b", "ab", "\u{3000}", "\u{a8}", "\u{301}", "é", "e", "\0", "一",
    "\u{fffd}", "😀", "x",
];

pub(crate) fn run(mut input: Input) {
    if input.below(8) == 0 {
        let blob = input.rest();
        let _ = Normalizer::new(blob, Flags::default(), &[]);
        return;
    }
    let flags = flags(&mut input);
    let rules = rules(&mut input);
    let symbols: Vec<String> = (0..input.below(4)).map(|_| word(&mut input)).collect();
    let symbols: Vec<&[u8]> = symbols.iter().map(String::as_bytes).collect();
    let mark = input.pick(&[MARK, b" "]);
    let normalizer = Normalizer::new(&charsmap(&rules), flags, &symbols).expect("a normalizer");
    let raw = input.below(2) == 0;
    for part in input.parts() {
        let text: Vec<u8> = if raw {
            part.to_vec()
        } else {
            let parts = part.iter().map(|&byte| PARTS[usize::from(byte) % 16]);
            parts.flat_map(str::bytes).collect()
        };
        for text in [text.clone(), [&text, &b"\xE3\x80"[..], &text].concat()] {
            let (expected, origins) = normalize(&text, flags, &rules, &symbols, mark);
            let (mut out, mut offsets) = (b"before".to_vec(), vec![7]);
            normalizer.normalize(&text, mark, &mut out, Some(&mut offsets));
            assert_eq!(out[6..], expected, "{text:?}");
            assert_eq!(offsets[1..], origins, "{text:?}");
            out.clear();
            normalizer.normalize(&text, mark, &mut out, None);
            assert_eq!(out, expected);
        }
    }
}

pub(crate) fn flags(input: &mut Input) -> Flags {
    let bits = input.byte();
    Flags {
        add_dummy_prefix: bits & 1 > 0,
        remove_extra_whitespaces: bits & 2 > 0,
        escape_whitespaces: bits & 0b1100 > 0,
        treat_whitespace_as_suffix: bits & 0b11_0000 == 0,
    }
}

fn word(input: &mut Input) -> String {
    (0..=input.below(3)).map(|_| input.pick(&PARTS)).collect()
}

pub(crate) fn rules(input: &mut Input) -> Rules {
    let rules = (0..input.below(6)).map(|_| {
        let key = word(input).replace('\0', "0").into_bytes();
        let value = (0..input.below(3)).map(|_| input.pick(&PARTS));
        (key, value.collect::<String>().replace('\0', "").into())
    });
    let mut rules: Rules = rules.collect();
    rules.sort();
    rules.dedup_by(|one, other| one.0 == other.0);
    rules
}

/// Writes a map of characters, with 256 units of the trie for each of its nodes.
pub(crate) fn charsmap(rules: &Rules) -> Vec<u8> {
    if rules.is_empty() {
        return Vec::new();
    }
    let mut prefixes: Vec<&[u8]> = rules
        .iter()
        .flat_map(|(key, _)| (0..=key.len()).map(|end| &key[..end]))
        .collect();
    prefixes.sort_unstable();
    prefixes.dedup();
    let base = |prefix: &[u8]| {
        let node = prefixes.binary_search(&prefix).expect("a node");
        256 * (node + 1)
    };
    // A unit in use has the label of its place among 256, all others have another one.
    let unused = (0..=255_u32).map(|label| label ^ 1);
    let mut units: Vec<u32> = unused.cycle().take(256 * (prefixes.len() + 1)).collect();
    let mut values = Vec::new();
    for prefix in &prefixes {
        let at = match prefix.split_last() {
            Some((&byte, parent)) => base(parent) ^ usize::from(byte),
            None => 0,
        };
        let label = prefix.last().map_or(0, |&byte| u32::from(byte));
        units[at] = u32::try_from(at ^ base(prefix)).expect("small") << 10 | label;
        if let Some((_, value)) = rules.iter().find(|(key, _)| key == prefix) {
            units[at] |= 1 << 8;
            units[base(prefix)] = 1 << 31 | u32::try_from(values.len()).expect("small");
            values.extend_from_slice(value);
            values.push(0);
        }
    }
    let size = u32::try_from(4 * units.len()).expect("small");
    let units = units.iter().flat_map(|unit| unit.to_le_bytes());
    size.to_le_bytes()
        .into_iter()
        .chain(units)
        .chain(values)
        .collect()
}

/// The result of the first step on a text, and the number of bytes that it takes.
fn step(text: &[u8], rules: &Rules, symbols: &[&[u8]]) -> (Vec<u8>, usize) {
    let symbol = symbols.iter().filter(|symbol| text.starts_with(symbol));
    if let Some(symbol) = symbol.max_by_key(|symbol| symbol.len()) {
        return (symbol.to_vec(), symbol.len());
    }
    let rule = rules.iter().filter(|(key, _)| text.starts_with(key));
    if let Some((key, value)) = rule.max_by_key(|(key, _)| key.len()) {
        return (value.clone(), key.len());
    }
    let lengths = 1..=text.len().min(4);
    let character = lengths
        .into_iter()
        .find(|&end| std::str::from_utf8(&text[..end]).is_ok());
    match character {
        Some(length) => (text[..length].to_vec(), length),
        None => ("\u{FFFD}".into(), 1),
    }
}

/// Normalizes a text as SentencePiece's definition says; see `bytemill.reference_sentencepiece`.
pub(crate) fn normalize(
    text: &[u8],
    flags: Flags,
    rules: &Rules,
    symbols: &[&[u8]],
    mark: &[u8],
) -> (Vec<u8>, Vec<usize>) {
    let space = if flags.escape_whitespaces { mark } else { b" " };
    let trims = flags.remove_extra_whitespaces;
    let (mut steps, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let (made, length) = step(&text[at..], rules, symbols);
        if !(trims && steps.is_empty() && made == b" ") {
            steps.push((made, at));
        }
        at += length;
    }
    let Some(&(_, first)) = steps.first() else {
        return (Vec::new(), vec![0]);
    };
    // A space that is escaped, or a mark in the text, is `None` until the end.
    let mut out: Vec<(Option<u8>, usize)> = Vec::new();
    let append = |out: &mut Vec<(Option<u8>, usize)>, made: &[u8], origin: usize| {
        let mut rest = made;
        while let Some((&byte, after)) = rest.split_first() {
            if byte == b' ' {
                out.push((None, origin));
                rest = after;
            } else if let Some(after) = rest.strip_prefix(MARK).filter(|_| flags.escape_whitespaces)
            {
                out.push((None, origin));
                rest = after;
            } else {
                out.push((Some(byte), origin));
                rest = after;
            }
        }
    };
    if flags.add_dummy_prefix && !flags.treat_whitespace_as_suffix {
        append(&mut out, b" ", first);
    }
    let mut after_space = trims;
    for (made, origin) in &steps {
        let spaces = made.iter().take_while(|&&byte| byte == b' ').count();
        let kept = &made[if after_space { spaces } else { 0 }..];
        append(&mut out, kept, *origin);
        if let Some(&last) = kept.last() {
            after_space = trims && last == b' ';
        }
    }
    let mut end = text.len();
    while trims && out.last().is_some_and(|(byte, _)| byte.is_none()) {
        end = out.pop().expect("there is one").1;
    }
    if flags.add_dummy_prefix && flags.treat_whitespace_as_suffix {
        append(&mut out, b" ", end);
    }
    let (mut bytes, mut origins) = (Vec::new(), Vec::new());
    for (byte, origin) in out {
        let made = byte.as_ref().map_or(space, std::slice::from_ref);
        bytes.extend_from_slice(made);
        origins.extend(made.iter().map(|_| origin));
    }
    origins.push(end);
    (bytes, origins)
}
