//! Generated texts for benchmarks: the same in every run, of the kinds that real text has.

use crate::support::Random;

/// A kind of text: its name, and a function that writes about a given number of bytes.
pub(crate) type Kind = (&'static str, fn(usize) -> String);

pub(crate) const KINDS: [Kind; 4] = [
    ("english", english),
    ("code", code),
    ("multilingual", multilingual),
    ("chinese", chinese),
];

const WORDS: &str = "the of and to in a is that it was for on are with as his they be at one have this from or had by \
    not but what some we can out other were all there when up use your how said an each she which do their time if \
    will way about many then them write would like so these her long make thing see him two has look more day could \
    go come did number sound no most people my over know water than call first who may down side been now find any \
    new work part take get place made live where after back little only round man year came show every good me give \
    our under name very through just form sentence great think say help low line differ turn cause much mean before \
    move right boy old too same tell does set three want air well also play small end put home read hand port large \
    spell add even land here must big high such follow act why ask men change went light kind off need house picture \
    try us again animal point mother world near build self earth father tokenization vocabulary characteristically \
    International McDonald California 1984 2,048 don't it's they'll we've";

const IDENTIFIERS: &str = "self value index count result buffer getItem set_value parse_args HttpRequest MAX_LENGTH \
    __init__ toString i j x data node children user_id isValid options createElement err ctx None true false null";

const FOREIGN: &str = "der die und Straße größer être français niño mañana είναι και ελληνικά это русский язык который \
    українська العربية مرحبا كتاب עברית שלום हिन्दी नमस्ते भाषा 한국어 안녕하세요 ภาษาไทย สวัสดี tiếng Việt nghĩa 👩‍💻 🎉 日本語 です";

fn one_of<'a>(random: &mut Random, parts: &[&'a str]) -> &'a str {
    parts[random.below(parts.len())]
}

/// Picks words with the frequencies of text: the first often, the last rarely.
fn word<'a>(random: &mut Random, words: &[&'a str]) -> &'a str {
    let most = random.within(1..words.len() + 1);
    words[random.below(most)]
}

fn write(length: usize, seed: usize, mut part: impl FnMut(&mut Random, &mut String)) -> String {
    let mut random = Random::new(seed);
    let mut text = String::with_capacity(length + 100);
    while text.len() < length {
        part(&mut random, &mut text);
    }
    text
}

fn english(length: usize) -> String {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    write(length, 1, |random, text| {
        text.push_str(word(random, &words));
        text.push_str(match random.below(60) {
            0..4 => ", ",
            4..7 => ". ",
            7 => ".\n\n",
            8 => "; ",
            9 => " \"",
            10 => "\n",
            _ => " ",
        });
    })
}

fn code(length: usize) -> String {
    let identifiers: Vec<&str> = IDENTIFIERS.split_whitespace().collect();
    write(length, 2, |random, text| {
        text.push('\n');
        text.push_str(&"    ".repeat(random.below(5)));
        for _ in 0..random.within(1..7) {
            text.push_str(word(random, &identifiers));
            text.push_str(one_of(
                random,
                &[
                    " = ", ".", "(", "), ", "[0]", " += 1", ": ", "->", "\");", " != ", "/* ",
                    "0x7f, ",
                ],
            ));
        }
        text.push_str(one_of(random, &["", ";", " {", "):", "\n", "// ", "\r"]));
    })
}

fn multilingual(length: usize) -> String {
    let words: Vec<&str> = FOREIGN.split_whitespace().collect();
    write(length, 3, |random, text| {
        text.push_str(one_of(random, &words));
        text.push_str(one_of(
            random,
            &[" ", " ", " ", ", ", ". ", "\n", "\u{A0}", "! "],
        ));
    })
}

fn chinese(length: usize) -> String {
    let common: Vec<char> = ('\u{4E00}'..='\u{9FA5}').step_by(13).collect();
    write(length, 4, |random, text| match random.below(12) {
        0 => text.push_str(one_of(
            random,
            &["，", "。", "、", "\n", "「", "」", " 2024 "],
        )),
        1 => text.push_str(one_of(random, &["的", "是", "了", "の", "です", "ます"])),
        _ => text.push(*random.pick(&common)),
    })
}

/// Returns the text without whitespace, cut into pieces of an exact number of bytes, perhaps inside
/// characters.
pub(crate) fn pieces_of_length(text: &str, length: usize, count: usize) -> Vec<Vec<u8>> {
    let letters: Vec<u8> = text.bytes().filter(u8::is_ascii_alphabetic).collect();
    let segments = letters.chunks_exact(length).cycle();
    segments.take(count).map(<[u8]>::to_vec).collect()
}
