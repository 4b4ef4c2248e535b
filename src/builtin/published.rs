//! The published encodings: names, patterns and special tokens around the published vocabularies.
//!
//! Some IDs belong to no token: 50256 among the mergeable tokens of p50k, 100256 and 100261 to 100275 in `cl100k_base`, 199998
//! and 200000 to 200017 in `o200k_base`.

use super::Builtin;
use crate::token::TokenId;

/// The pattern of gpt2, `r50k_base`, `p50k_base` and `p50k_edit`.
pub const R50K_PATTERN: &str =
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s";

/// The pattern of `cl100k_base`.
pub const CL100K_PATTERN: &str = concat!(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+",
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
);

/// The pattern of `o200k_base` and `o200k_harmony`.
pub const O200K_PATTERN: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);

const ENDOFTEXT: &str = "<|endoftext|>";
const ENDOFPROMPT: &str = "<|endofprompt|>";

/// A published encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// Its name in tiktoken.
    pub name: &'static str,
    /// Its vocabulary.
    pub vocabulary: Builtin,
    /// The regular expression whose matches are the pieces.
    pub pattern: &'static str,
    /// The special tokens that have names of their own.
    named: &'static [(&'static str, TokenId)],
    /// Whether all IDs between those of the named ones, and up to the last, are reserved.
    is_reserved: bool,
}

const R50K_SPECIAL: &[(&str, TokenId)] = &[(ENDOFTEXT, 50_256)];
const P50K_EDIT_SPECIAL: &[(&str, TokenId)] = &[
    (ENDOFTEXT, 50_256),
    ("<|fim_prefix|>", 50_281),
    ("<|fim_middle|>", 50_282),
    ("<|fim_suffix|>", 50_283),
];
const CL100K_SPECIAL: &[(&str, TokenId)] = &[
    (ENDOFTEXT, 100_257),
    ("<|fim_prefix|>", 100_258),
    ("<|fim_middle|>", 100_259),
    ("<|fim_suffix|>", 100_260),
    (ENDOFPROMPT, 100_276),
];
const O200K_SPECIAL: &[(&str, TokenId)] = &[(ENDOFTEXT, 199_999), (ENDOFPROMPT, 200_018)];
// The ID 200018 has two names; it decodes to that of o200k_base.
const HARMONY_SPECIAL: &[(&str, TokenId)] = &[
    (ENDOFTEXT, 199_999),
    (ENDOFPROMPT, 200_018),
    ("<|startoftext|>", 199_998),
    ("<|return|>", 200_002),
    ("<|constrain|>", 200_003),
    ("<|channel|>", 200_005),
    ("<|start|>", 200_006),
    ("<|end|>", 200_007),
    ("<|message|>", 200_008),
    ("<|call|>", 200_012),
];
/// The reserved IDs of `o200k_harmony`, but for those that have a name that is no mark of the end of a prompt.
const HARMONY_RESERVED: std::ops::Range<TokenId> = 200_000..201_088;

const fn published(
    name: &'static str,
    vocabulary: Builtin,
    pattern: &'static str,
    named: &'static [(&'static str, TokenId)],
) -> Published {
    Published {
        name,
        vocabulary,
        pattern,
        named,
        is_reserved: false,
    }
}

impl Published {
    /// All of them.
    pub const ALL: [Self; 7] = [
        published("gpt2", Builtin::R50k, R50K_PATTERN, R50K_SPECIAL),
        published("r50k_base", Builtin::R50k, R50K_PATTERN, R50K_SPECIAL),
        published("p50k_base", Builtin::P50k, R50K_PATTERN, R50K_SPECIAL),
        published("p50k_edit", Builtin::P50k, R50K_PATTERN, P50K_EDIT_SPECIAL),
        published(
            "cl100k_base",
            Builtin::Cl100k,
            CL100K_PATTERN,
            CL100K_SPECIAL,
        ),
        published("o200k_base", Builtin::O200k, O200K_PATTERN, O200K_SPECIAL),
        Self {
            is_reserved: true,
            ..published(
                "o200k_harmony",
                Builtin::O200k,
                O200K_PATTERN,
                HARMONY_SPECIAL,
            )
        },
    ];

    /// Returns the encoding of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|published| published.name == name)
    }

    /// Returns the special tokens with their IDs, in tiktoken's order.
    pub fn special_tokens(self) -> Vec<(String, TokenId)> {
        let named = self.named.iter().map(|&(text, id)| (text.to_owned(), id));
        let mut tokens: Vec<(String, TokenId)> = named.collect();
        if self.is_reserved {
            let is_free = |id: &TokenId| {
                let mut others = self.named.iter().filter(|(text, _)| *text != ENDOFPROMPT);
                others.all(|(_, other)| other != id)
            };
            let reserved = HARMONY_RESERVED.filter(is_free);
            tokens.extend(reserved.map(|id| (format!("<|reserved_{id}|>"), id)));
            // Those for texts as a whole come first, the others by ID.
            tokens[3..].sort_by_key(|&(_, id)| id);
        }
        tokens
    }
}
