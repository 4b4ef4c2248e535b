//! Decoding by rows returns what looking up each id returns, for every id and every error.

use std::error::Error;
use std::sync::Arc;
use std::thread;

use bytemill::builtin::Builtin;
use bytemill::encode::Encoder;
use bytemill::encode::special::SpecialTokens;
use bytemill::error::DecodeError;
use bytemill::split::Splitter;
use bytemill::token::{NO_TOKEN, TokenId};
use bytemill::vocabulary::Vocabulary;

use crate::support::{R50K, Random, TestResult, ranks_with_bytes};

fn encoder(
    vocabulary: Arc<Vocabulary>,
    special: &[(&str, TokenId)],
) -> Result<Encoder, Box<dyn Error>> {
    let special = special.iter().map(|(text, id)| ((*text).to_owned(), *id));
    let special = SpecialTokens::new(special.collect())?;
    Ok(Encoder::new(vocabulary, special, Splitter::new(R50K)?))
}

fn one_by_one(encoder: &Encoder, ids: &[TokenId]) -> Result<Vec<u8>, DecodeError> {
    let mut bytes = Vec::new();
    for &id in ids {
        bytes.extend_from_slice(
            encoder
                .token_bytes(id)
                .ok_or(DecodeError::UnknownToken(id))?,
        );
    }
    Ok(bytes)
}

/// Decodes until the rows are built, which take at most 32 bytes a token.
fn warm_up(encoder: &Encoder) -> TestResult {
    let before = encoder.memory();
    let known: Vec<TokenId> = encoder.vocabulary().ids().collect();
    assert_eq!(encoder.decode(&known)?, one_by_one(encoder, &known)?);
    let more = encoder.memory() - before;
    assert!(more > 0 && more <= 32 * known.len(), "{more} bytes");
    Ok(())
}

fn assert_same(encoder: &Encoder, ids: &[TokenId]) {
    let found = encoder.decode(ids);
    assert!(found == one_by_one(encoder, ids), "{} ids", ids.len());
}

#[test]
fn every_id_of_the_published_vocabularies() -> TestResult {
    for builtin in Builtin::ALL {
        let special = [
            ("<|endoftext|>", 50_256),
            ("<|clash|>", 97),
            ("<|far|>", 4_000_000_000),
        ];
        let encoder = encoder(builtin.vocabulary()?, &special)?;
        let mut ids: Vec<TokenId> = encoder.vocabulary().ids().collect();
        ids.extend(special.map(|(_, id)| id));
        // Without rows, then with them.
        for few in ids.chunks(31) {
            assert_same(&encoder, few);
        }
        warm_up(&encoder)?;
        Random::new(1).shuffle(&mut ids);
        assert_same(&encoder, &ids);
        for length in [0, 1, 31, 32, 33, 1023, 1024, 1025, 32_767, 32_768, 32_769] {
            assert_same(&encoder, &ids[..length]);
        }
        for id in ids {
            let repeated = [id; 40];
            assert_same(&encoder, &repeated);
        }
    }
    Ok(())
}

/// No rows are built before enough ids have been decoded.
#[test]
fn rows_are_built_when_they_are_worth_it() -> TestResult {
    let encoder = encoder(Builtin::R50k.vocabulary()?, &[])?;
    let before = encoder.memory();
    for _ in 0..1000 {
        assert_eq!(encoder.decode(&[97; 31])?.len(), 31);
    }
    assert_eq!(encoder.decode(&vec![97; 40_000])?.len(), 40_000);
    assert_eq!(encoder.memory(), before);
    assert_eq!(encoder.decode(&vec![97; 11_000])?.len(), 11_000);
    assert!(encoder.memory() > before + 16 * 50_000);
    Ok(())
}

/// Tokens of all lengths around that of a row, gaps between ids, ids up to the largest possible.
#[test]
fn holes_and_large_ids() -> TestResult {
    let mut random = Random::new(5);
    let mut ranks = ranks_with_bytes();
    for length in 2..40 {
        let id = 300 + 7 * TokenId::try_from(length)?;
        ranks.push((random.bytes(b"ab", length), id));
        ranks.push((random.bytes(b"cd", length), NO_TOKEN - 1 - id));
    }
    let special = [
        ("<|hole|>", 301),
        ("<|clash|>", 314),
        ("a special text beyond any row", 302),
    ];
    let encoder = encoder(Arc::new(Vocabulary::from_ranks(ranks)?), &special)?;
    warm_up(&encoder)?;
    let known: Vec<TokenId> = encoder.vocabulary().ids().chain([301, 302]).collect();
    for _ in 0..300 {
        let length = random.within(32..3000);
        let mut ids: Vec<TokenId> = (0..length).map(|_| *random.pick(&known)).collect();
        assert_same(&encoder, &ids);
        // Any of the ids may be unknown; the error names the first one.
        for _ in 0..random.within(1..4) {
            let index = random.below(length);
            ids[index] = TokenId::try_from(random.number() >> random.within(32..60))?;
        }
        assert_same(&encoder, &ids);
    }
    Ok(())
}

#[test]
fn an_unknown_id_at_every_index() -> TestResult {
    let encoder = encoder(Builtin::P50k.vocabulary()?, &[("<|x|>", 60_000)])?;
    warm_up(&encoder)?;
    // A gap, the id after the last token, one beyond the rows, the largest number.
    for unknown in [50_256, 50_281, 200_000, NO_TOKEN] {
        let mut ids = vec![97; 2100];
        ids[7] = 60_000;
        for index in 0..ids.len() {
            let known = std::mem::replace(&mut ids[index], unknown);
            let outcome = encoder.decode(&ids);
            assert_eq!(outcome, Err(DecodeError::UnknownToken(unknown)));
            ids[index] = known;
        }
        assert_same(&encoder, &ids);
    }
    Ok(())
}

#[test]
fn threads_build_the_rows_at_once() -> TestResult {
    let encoder = encoder(Builtin::Cl100k.vocabulary()?, &[])?;
    let before = encoder.memory();
    let ids: Vec<TokenId> = encoder.vocabulary().ids().collect();
    let expected = one_by_one(&encoder, &ids)?;
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..3 {
                    let found = encoder.decode(&ids);
                    assert!(found.as_ref() == Ok(&expected));
                }
            });
        }
    });
    assert!(encoder.memory() > before);
    Ok(())
}
