//! Shared by several modules of these tests: patterns, a check of splitters, random numbers, texts and threads.

use std::error::Error;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;

pub(crate) use bytemill::{CL100K_PATTERN as CL100K, O200K_PATTERN as O200K, R50K_PATTERN as R50K};

use bytemill::checkpoint::{self, Checkpoint};
use bytemill::error::{EncodeError, VocabularyError};
use bytemill::split::Splitter;
use bytemill::token::{NO_TOKEN, Pair, TokenId};
use bytemill::vocabulary::byte_merges::ByteMerges;
use bytemill::vocabulary::listed::{Alphabet, Listing, Unknown};
use bytemill::vocabulary::{ListedToken, Vocabulary};
use fancy_regex::Regex;

pub(crate) type TestResult = Result<(), Box<dyn Error>>;

pub(crate) const PUBLISHED: [&str; 3] = [R50K, CL100K, O200K];

/// One character for each class and each role that the patterns tell apart.
pub(crate) const SYMBOLS: [&str; 19] = [
    "A", "b", "中", "\u{301}", "1", "²", " ", "\t", "\u{A0}", "\r", "\n", "\u{85}", "'", "s", "l",
    "ſ", "/", ".", "\0",
];

/// The letters of contractions, and what may stand beside them.
pub(crate) const CONTRACTION_SYMBOLS: [&str; 17] = [
    "'", "s", "t", "m", "d", "l", "r", "v", "e", "ſ", "S", "L", "R", "V", "E", "x", " ",
];

/// Longer things that have gone wrong in splitters: words, contractions, scripts, joined emoji, rare classes.
const FRAGMENTS: [&str; 40] = [
    "hello",
    "World",
    "HTTPServer",
    "don't",
    "I'LL",
    "we've",
    "'re",
    "'ſx",
    "''s",
    "x'",
    "1234567",
    "3.14",
    "Ⅷ",
    "١٢٣",
    "½",
    "  ",
    "    ",
    "\r\n",
    "\n\n",
    " \n ",
    "\t\t",
    "\u{2028}",
    "\u{3000}",
    "\u{1C}",
    "\u{200B}",
    "日本語",
    "한국어",
    "ภาษาไทย",
    "हिन्दी",
    "e\u{301}\u{302}",
    "\u{301}A",
    "ǅ",
    "ʰª",
    "ßẞ",
    "İi",
    "👩\u{200D}💻",
    "//",
    "...\r\n/",
    "<|endoftext|>",
    "\u{10FFFF}",
];

pub(crate) const MEGABYTE: usize = 1_000_000;

/// Makes a text of at most so many bytes.
type Writer = fn(usize) -> String;

/// Texts of one thing over and over, by name, and one of letters at random.
pub(crate) const MONOTONOUS: [(&str, Writer); 9] = [
    ("one letter", |length| "a".repeat(length)),
    ("one capital", |length| "A".repeat(length)),
    ("spaces", |length| " ".repeat(length)),
    ("digits", |length| "7".repeat(length)),
    ("ab", |length| "ab".repeat(length / 2)),
    ("one Chinese character", |length| "中".repeat(length / 3)),
    ("carets", |length| "^".repeat(length)),
    ("marks", |length| "\u{301}".repeat(length / 2)),
    ("random letters", |length| {
        let mut random = Random::new(1);
        (0..length)
            .map(|_| char::from(b'a' + random.number().to_le_bytes()[0] % 26))
            .collect()
    }),
];

/// All pieces of a text, through the chunks that the splitter hands out.
pub(crate) fn pieces(splitter: &Splitter, text: &str) -> Result<Vec<Range<usize>>, EncodeError> {
    let (mut all, mut chunk) = (Vec::new(), Vec::new());
    let mut pieces = splitter.pieces(text);
    while pieces.next_chunk(&mut chunk)? {
        all.append(&mut chunk);
    }
    Ok(all)
}

/// Byte `b` is token `b`.
pub(crate) fn bytes_by_value() -> [TokenId; 256] {
    std::array::from_fn(|byte| TokenId::try_from(byte).unwrap_or(TokenId::MAX))
}

/// The merges of a vocabulary that merges bytes.
pub(crate) fn byte_merges(vocabulary: &Vocabulary) -> &ByteMerges {
    match vocabulary.byte_merges() {
        Some(merges) => merges,
        None => panic!("expected a vocabulary that merges bytes"),
    }
}

/// The same as the start of a rank table.
pub(crate) fn ranks_with_bytes() -> Vec<(Vec<u8>, TokenId)> {
    (0..=255_u8)
        .map(|byte| (vec![byte], TokenId::from(byte)))
        .collect()
}

/// Compares the splitter of a pattern with the matches of that pattern by the regular-expression engine.
#[derive(Clone)]
pub(crate) struct Judge {
    regex: Regex,
    splitter: Splitter,
}

impl Judge {
    pub(crate) fn new(pattern: &str) -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            regex: Regex::new(pattern)?,
            splitter: Splitter::new(pattern)?,
        })
    }

    pub(crate) fn splitter(&self) -> &Splitter {
        &self.splitter
    }

    /// Returns how the pieces of `text` differ from the matches of the regular expression, if they do.
    pub(crate) fn difference(&self, text: &str) -> Option<String> {
        let mut expected = self.regex.find_iter(text);
        let mut pieces = self.splitter.pieces(text);
        let mut chunk = Vec::new();
        let same = loop {
            match pieces.next_chunk(&mut chunk) {
                Ok(true) => {
                    let found = expected.by_ref().take(chunk.len());
                    let found = found.map(|found| found.ok().map(|found| found.range()));
                    if chunk.is_empty() || !chunk.drain(..).map(Some).eq(found) {
                        break false;
                    }
                }
                Ok(false) => break expected.next().is_none(),
                Err(_) => break false,
            }
        };
        (!same).then(|| {
            let expected: Vec<_> = self
                .regex
                .find_iter(text)
                .map(|found| found.map(|found| found.range()))
                .collect();
            let pieces = pieces_of(&self.splitter, text);
            format!(
                "{:?} splits {text:?} into {pieces:?}: expected {expected:?} by {}",
                self.splitter,
                self.regex.as_str()
            )
        })
    }

    /// The first wrong one of all texts that begin with `text` and go on with at most `length` of the `symbols`.
    pub(crate) fn first_difference(
        &self,
        text: &mut String,
        symbols: &[&str],
        length: usize,
    ) -> Option<String> {
        let wrong = self.difference(text);
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

fn pieces_of(splitter: &Splitter, text: &str) -> String {
    format!("{:?}", pieces(splitter, text))
}

/// Numbers that look random and are the same at every run (the generator is known as `SplitMix64`).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: usize) -> Self {
        Self(seed as u64)
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.number() >> 33) as usize % bound
    }

    /// A number in `range`, which is not empty.
    pub(crate) fn within(&mut self, range: Range<usize>) -> usize {
        range.start + self.below(range.end - range.start)
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Puts `items` in any order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for place in (1..items.len()).rev() {
            items.swap(place, self.below(place + 1));
        }
    }

    /// Bytes of the `alphabet`, sometimes in long runs.
    pub(crate) fn bytes(&mut self, alphabet: &[u8], length: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            let run = if self.below(8) == 0 {
                self.below(20)
            } else {
                1
            };
            bytes.resize((bytes.len() + run).min(length), *self.pick(alphabet));
        }
        bytes
    }

    /// A text of all that splitters find hard, in `parts` parts, sometimes in long runs.
    pub(crate) fn text(&mut self, parts: usize) -> String {
        let mut text = String::new();
        for _ in 0..parts {
            let part = if self.below(3) == 0 {
                self.pick(&FRAGMENTS)
            } else {
                self.pick(&SYMBOLS)
            };
            let run = match self.below(40) {
                0 => self.within(5..140),
                1..8 => self.within(2..5),
                _ => 1,
            };
            text.push_str(&part.repeat(run));
        }
        text
    }
}

/// Returns whether a test of all characters tries this one: of the blocks of ideographs and syllables, and of what is
/// beyond the planes of scripts, two in 16, unless `BYTEMILL_FULL` is set.
pub(crate) fn is_tried(character: char) -> bool {
    static IS_FULL: LazyLock<bool> = LazyLock::new(|| std::env::var_os("BYTEMILL_FULL").is_some());
    let is_alike = matches!(
        character,
        '\u{3400}'..'\u{A000}' | '\u{AC00}'..'\u{F900}' | '\u{17000}'..'\u{18D00}' | '\u{20000}'..
    );
    *IS_FULL || !is_alike || matches!(u32::from(character) % 16, 0 | 15)
}

/// Does `work` for each number below `count`, on all cores, and collects its answers in no particular order.
pub(crate) fn on_all_cores<R: Send>(
    count: usize,
    work: impl Fn(usize) -> Option<R> + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let answers = Mutex::new(Vec::new());
    let work_on = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            if let Some(answer) = work(number) {
                let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
                answers.push(answer);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZeroUsize::get) {
            scope.spawn(work_on);
        }
    });
    answers.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a test with each number below `count`, on all cores.
pub(crate) fn assert_for_seeds(count: usize, test: impl Fn(usize) -> TestResult + Sync) {
    let failures = on_all_cores(count, |seed| {
        let failure = test(seed).err();
        failure.map(|error| format!("seed {seed}: {error}"))
    });
    assert_eq!(failures, [""; 0]);
}

/// Says stop when it has been asked `patience` times, and counts.
pub(crate) struct Patience {
    patience: usize,
    asked: AtomicUsize,
}

impl Patience {
    pub(crate) fn new(patience: usize) -> Self {
        Self {
            patience,
            asked: AtomicUsize::new(0),
        }
    }

    /// Runs `work`, which this may stop.
    pub(crate) fn during<R>(&self, work: impl FnOnce() -> R) -> R {
        checkpoint::with(self, work)
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Checkpoint for Patience {
    fn should_stop(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.patience
    }
}

/// Returns a vocabulary whose first tokens are all bytes, and the merges of others in the order of their ranks.
pub(crate) fn listed_bytes(
    tokens: &[Vec<u8>],
    merges: Vec<(TokenId, Pair)>,
) -> Result<Vocabulary, VocabularyError> {
    let mut bytes = Box::new([NO_TOKEN; 256]);
    for (id, byte) in (0..).zip(bytes.iter_mut()) {
        *byte = id;
    }
    let tokens: Vec<ListedToken<'_>> = (0..)
        .zip(tokens)
        .map(|(id, bytes)| ListedToken {
            id,
            bytes: bytes.into(),
            is_found: true,
        })
        .collect();
    let listing = Listing {
        alphabet: Alphabet::Bytes(bytes),
        merges,
        unknown: Unknown::default(),
        whole_pieces: false,
        spellings: Vec::new(),
        space: ' ',
    };
    Vocabulary::from_list(&tokens, listing)
}
