//! Any ids → bytes: few and many, with and without rows, with holes and special tokens, by rules of models and files.

use std::sync::Arc;

use bytemill::encode::Encoder;
use bytemill::encode::special::SpecialTokens;
use bytemill::error::DecodeError;
use bytemill::split::Splitter;
use bytemill::token::TokenId;

use crate::files::decoded;
use crate::input::Input;
use crate::models::{self, PUBLISHED, Ruled};
use crate::support::R50K;

pub(crate) fn run(mut input: Input) {
    match input.below(3) {
        0 => of_rules(input),
        _ => of_ranks(input),
    }
}

/// By a SentencePiece model or a tokenizer.json, whose bytes depend on the ids beside them: against the definition.
fn of_rules(mut input: Input) {
    let ruled = Ruled::draw(&mut input);
    let encoder = ruled.encoder();
    let size = ruled.size();
    let ids: Vec<TokenId> = (0..TokenId::try_from(size).expect("few ids")).collect();
    let decode = |list: &[TokenId]| match list.iter().find(|&&id| id as usize >= size) {
        Some(&id) => Err(DecodeError::UnknownToken(id)),
        None => Ok(ruled.decode(list)),
    };
    let is_known = |id: TokenId| (id as usize) < size;
    assert_decodes(&encoder, &ids, input, is_known, decode);
}

/// By ranks: against one look-up for each id.
fn of_ranks(mut input: Input) {
    let kind = input.byte();
    let vocabulary = if kind.is_multiple_of(4) {
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
    let bytes_of = |id| encoder.token_bytes(id);
    let decode = |list: &[TokenId]| {
        let found = list
            .iter()
            .map(|&id| bytes_of(id).ok_or(DecodeError::UnknownToken(id)));
        found
            .collect::<Result<Vec<_>, _>>()
            .map(|parts| parts.concat())
    };
    let is_known = |id| bytes_of(id).is_some();
    assert_decodes(&encoder, &ids, input, is_known, decode);
}

/// Decodes lists of ids, with ids that are no tokens among them and without these.
fn assert_decodes(
    encoder: &Encoder,
    ids: &[TokenId],
    mut input: Input,
    is_known: impl Fn(TokenId) -> bool,
    decode: impl Fn(&[TokenId]) -> Result<Vec<u8>, DecodeError>,
) {
    let highest = ids.last().copied().unwrap_or_default();
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
        let known: Vec<TokenId> = wanted.iter().copied().filter(|&id| is_known(id)).collect();
        for list in [wanted.repeat(repeat), known.repeat(repeat)] {
            assert_eq!(decoded(encoder, &list), decode(&list), "{list:?}");
        }
    }
}
