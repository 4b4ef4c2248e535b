//! Any ids → bytes, against one look-up per id: few and many, with and without rows, with holes and special tokens.

use std::sync::Arc;

use bytemill::checkpoint::RunToEnd;
use bytemill::encode::Encoder;
use bytemill::encode::special::SpecialTokens;
use bytemill::error::DecodeError;
use bytemill::split::Splitter;
use bytemill::token::TokenId;

use crate::input::Input;
use crate::models::{self, PUBLISHED};
use crate::support::R50K;

pub(crate) fn run(mut input: Input) {
    let kind = input.byte();
    let vocabulary = if kind & 3 == 0 {
        Arc::clone(&PUBLISHED[input.below(PUBLISHED.len())].0)
    } else {
        models::small(&mut input)
    };
    let highest = vocabulary.highest_id();
    let special = [
        ("<|clash|>", 97),
        ("<|next|>", highest.saturating_add(1)),
        ("<|same|>", highest.saturating_add(1)),
        ("é", highest.saturating_add(40)),
        ("<|last|>", TokenId::MAX - 1),
    ];
    let special = special.map(|(text, id)| (text.to_owned(), id));
    let special = SpecialTokens::new(special.to_vec()).expect("special tokens");
    let splitter = Splitter::new(R50K).expect("a splitter");
    let encoder = Encoder::new(vocabulary, special, splitter);
    let ids: Vec<TokenId> = encoder.vocabulary().ids().collect();
    let repeat = input.pick(&[1, 3, 40, 700]);
    for part in input.parts() {
        let wanted: Vec<TokenId> = part
            .chunks(3)
            .map(|chunk| {
                let number = chunk
                    .iter()
                    .fold(0, |number, &byte| number << 8 | u32::from(byte));
                match number % 16 {
                    0 => number >> 4,
                    1 => TokenId::MAX - (number >> 4),
                    2 => highest.saturating_add(number >> 4 & 63),
                    _ => ids[number as usize / 16 % ids.len()],
                }
            })
            .collect();
        // What cannot be decoded spoils only some of the lists.
        let known: Vec<TokenId> = wanted
            .iter()
            .copied()
            .filter(|&id| encoder.token_bytes(id).is_some())
            .collect();
        for list in [wanted.repeat(repeat), known.repeat(repeat)] {
            let found = list
                .iter()
                .map(|&id| encoder.token_bytes(id).ok_or(DecodeError::UnknownToken(id)));
            let expected = found
                .collect::<Result<Vec<_>, _>>()
                .map(|parts| parts.concat());
            assert_eq!(encoder.decode(&list, &RunToEnd), expected);
        }
    }
}
