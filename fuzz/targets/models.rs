//! Vocabularies, patterns and encoders that several targets choose from.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use bytemill::builtin::Builtin;
use bytemill::encode::Encoder;
use bytemill::encode::special::SpecialTokens;
use bytemill::split::Splitter;
use bytemill::split::pattern::Family;
use bytemill::token::TokenId;
use bytemill::util::tier::Tier;
use bytemill::vocabulary::Vocabulary;
use fancy_regex::Regex;

use crate::files::File;
use crate::input::Input;
use crate::pieces::Definition;
use crate::support::{CL100K, O200K, R50K, ranks_with_bytes};

/// A pattern and the engine that defines it.
pub(crate) struct Pattern {
    pub(crate) source: String,
    pub(crate) regex: Regex,
}

impl Pattern {
    pub(crate) fn new(source: &str) -> Self {
        Self {
            source: source.to_owned(),
            regex: Regex::new(source).expect("a pattern that compiles"),
        }
    }

    /// Its splitters: one for each tier if it is native.
    pub(crate) fn splitters(&self) -> Vec<Splitter> {
        match Family::recognise(&self.source) {
            Some(family) => tiers().map(|tier| Splitter::Native(family, tier)).collect(),
            None => vec![Splitter::new(&self.source).expect("a pattern that compiles")],
        }
    }
}

fn tiers() -> impl Iterator<Item = Tier> {
    Tier::ALL.into_iter().filter(|tier| tier.available())
}

/// The published patterns, and some for the general engine: the last but one drops text, the last has only long pieces.
pub(crate) static PATTERNS: LazyLock<[Pattern; 6]> = LazyLock::new(|| {
    let general = [r"\w+|\s+|[^\w\s]", r"\p{L}+", r"(?s).{1,300}"];
    [R50K, CL100K, O200K, general[0], general[1], general[2]].map(Pattern::new)
});

/// The published vocabularies, each with the index of its pattern.
pub(crate) static PUBLISHED: LazyLock<[(Arc<Vocabulary>, usize); 4]> = LazyLock::new(|| {
    let vocabulary = |builtin: Builtin| builtin.vocabulary().expect("a published vocabulary");
    [
        (vocabulary(Builtin::R50k), 0),
        (vocabulary(Builtin::P50k), 0),
        (vocabulary(Builtin::Cl100k), 1),
        (vocabulary(Builtin::O200k), 2),
    ]
});

/// A small vocabulary. Tokens join earlier tokens or are arbitrary bytes; ranks are in order or random.
pub(crate) fn small(input: &mut Input) -> Arc<Vocabulary> {
    const ALPHABETS: [&[u8]; 4] = [b"ab ", b"'slr1 \n", "一丁乸é".as_bytes(), b"abcA. \0\x85"];
    let alphabet = input.pick(&ALPHABETS);
    let kind = input.byte();
    let mut tokens: Vec<Vec<u8>> = alphabet.iter().map(|&byte| vec![byte]).collect();
    let mut known: BTreeSet<Vec<u8>> = tokens.iter().cloned().collect();
    for _ in 0..input.below(64) {
        let [left, right] = [(); 2].map(|()| input.byte());
        let token = if kind & 1 == 0 {
            let part = |byte: u8| tokens[usize::from(byte) % tokens.len()].as_slice();
            [part(left), part(right)].concat()
        } else {
            // The digits of a number, so that most tokens have no parts that are tokens.
            let mut number = usize::from(left) << 8 | usize::from(right);
            let mut token = Vec::new();
            while number > 0 {
                token.push(alphabet[number % alphabet.len()]);
                number /= alphabet.len();
            }
            token
        };
        if token.len() > 1 && token.len() < 300 && known.insert(token.clone()) {
            tokens.push(token);
        }
    }
    let mut made = tokens.split_off(alphabet.len());
    if kind & 2 != 0 {
        input.random().shuffle(&mut made);
    }
    let first = [256, 1 << 20, 5_000_000][usize::from(kind >> 2) % 3];
    let step = if kind & 16 == 0 { 1 } else { 7 };
    let mut ranks = ranks_with_bytes();
    ranks.extend(made.into_iter().zip((first..).step_by(step)));
    if kind & 32 != 0 {
        // Bytes rank after what they make.
        let last: TokenId = 6_000_000;
        for (_, id) in &mut ranks {
            *id = last - *id;
        }
    }
    Arc::new(Vocabulary::from_ranks(ranks).expect("a vocabulary"))
}

/// Encoders of a vocabulary, one for each splitter.
pub(crate) fn encoders(
    vocabulary: &Arc<Vocabulary>,
    pattern: &Pattern,
    limit: usize,
) -> Vec<Encoder> {
    let splitters = pattern.splitters().into_iter();
    let encoders = splitters.map(|splitter| {
        let encoder = Encoder::new(Arc::clone(vocabulary), SpecialTokens::default(), splitter);
        encoder.set_cache_limit(limit);
        encoder
    });
    encoders.collect()
}

/// A SentencePiece model or a tokenizer.json, which have more rules than ranks and a pattern.
pub(crate) enum Ruled {
    Model(Definition),
    File(File),
}

impl Ruled {
    pub(crate) fn draw(input: &mut Input) -> Self {
        if input.below(2) == 0 {
            return Self::Model(Definition::draw(input));
        }
        let tokens = ["<|a|>", "a'"].map(str::to_owned);
        let count = input.below(3);
        Self::File(File::draw(input, &tokens[..count]))
    }

    pub(crate) fn encoder(&self) -> Encoder {
        match self {
            Self::Model(model) => model.encoder(SpecialTokens::default()),
            Self::File(file) => file.encoder(),
        }
    }

    /// The number of ids.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Model(model) => model.size(),
            Self::File(file) => file.size(),
        }
    }

    /// The bytes of ids.
    pub(crate) fn decode(&self, ids: &[TokenId]) -> Vec<u8> {
        match self {
            Self::Model(model) => model.decode(ids),
            Self::File(file) => file.decode(ids),
        }
    }
}

/// Encoders of the published vocabularies, each for all tiers, whose caches keep all inputs so far.
pub(crate) static WARM: LazyLock<[Vec<Encoder>; 4]> = LazyLock::new(|| {
    PUBLISHED
        .each_ref()
        .map(|(vocabulary, pattern)| encoders(vocabulary, &PATTERNS[*pattern], 4 << 20))
});
