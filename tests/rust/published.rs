//! The properties of the published vocabularies that loading assumes without checking them.

use bytemill::builtin::Builtin;
use bytemill::merge;
use bytemill::merge::agreement::merges_of;
use bytemill::vocabulary::Vocabulary;

use crate::support::{TestResult, byte_merges};

/// A piece that is a token need not be looked up as a whole: its merges yield that token.
#[test]
fn merges_make_every_token_of_its_own_bytes() -> TestResult {
    for builtin in Builtin::ALL {
        let vocabulary = builtin.vocabulary()?;
        let mut ids = Vec::new();
        for id in vocabulary.ids() {
            ids.clear();
            let token = vocabulary.bytes(id).ok_or("a token without bytes")?;
            merge::merge(&vocabulary, token, &mut ids)?;
            assert_eq!(ids, [id], "{} {token:?}", builtin.name());
        }
    }
    Ok(())
}

/// Tokens are distinct and parts precede their merges: the merges pass the checks that loading omits.
#[test]
fn merges_are_a_vocabulary() -> TestResult {
    for builtin in Builtin::ALL {
        let vocabulary = builtin.vocabulary()?;
        let mut byte_tokens = [0; 256];
        for (byte, token) in (0..=255).zip(&mut byte_tokens) {
            *token = byte_merges(&vocabulary).byte_token(byte);
        }
        let merges = merges_of(&vocabulary)?;
        let checked = Vocabulary::from_merges(&byte_tokens, merges.iter().copied())?;
        assert!(checked.ids().eq(vocabulary.ids()));
        for id in checked.ids() {
            assert_eq!(checked.bytes(id), vocabulary.bytes(id));
        }
        for (id, pair) in merges {
            assert_eq!(byte_merges(&vocabulary).merged(pair.left, pair.right), id);
        }
    }
    Ok(())
}
