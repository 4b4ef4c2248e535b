//! Promises of the public types: threads, errors and their texts, vocabularies, batches.

use std::any::type_name;
use std::error::Error;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use bytemill::builtin::Builtin;
use bytemill::checkpoint::Interrupted;
use bytemill::encode::Encoder;
use bytemill::encode::special::{Allowed, Found, SpecialTokens};
use bytemill::error::{DecodeError, EncodeError, PatternError, VocabularyError};
use bytemill::merge::agreement::merges_of;
use bytemill::split::general::General;
use bytemill::split::pattern::Family;
use bytemill::split::{Pieces, Splitter};
use bytemill::token::{NO_TOKEN, Pair, TokenId};
use bytemill::unicode::classify::Class;
use bytemill::util::parallel;
use bytemill::vocabulary::Vocabulary;
use bytemill::vocabulary::pair_table::PairTable;

use crate::support::{Random, TestResult, byte_merges, bytes_by_value, ranks_with_bytes};

#[test]
fn public_types_are_at_home_in_any_thread() {
    fn threads<T: Send + Sync>() -> &'static str {
        type_name::<T>()
    }
    fn panics<T: Send + Sync + UnwindSafe + RefUnwindSafe>() -> &'static str {
        type_name::<T>()
    }
    let names = [
        // A splitter may be the caller's, an error may carry the caller's: neither promises anything about
        // panics.
        threads::<Splitter>(),
        threads::<Pieces>(),
        threads::<Encoder>(),
        threads::<EncodeError>(),
        panics::<Vocabulary>(),
        panics::<PairTable>(),
        panics::<SpecialTokens>(),
        panics::<Allowed>(),
        panics::<Found>(),
        panics::<Family>(),
        panics::<General>(),
        panics::<Class>(),
        panics::<Builtin>(),
        panics::<Pair>(),
        panics::<VocabularyError>(),
        panics::<PatternError>(),
        panics::<DecodeError>(),
        panics::<Interrupted>(),
    ];
    for name in names {
        assert!(name.starts_with("bytemill::"), "{name}");
    }
}

/// Asserts that the text of an error contains all of `parts`.
fn assert_says(error: &dyn Error, parts: &[&str]) {
    let said = error.to_string();
    for part in parts {
        assert!(said.contains(part), "{part:?} is missing in: {said}");
    }
    assert!(!said.ends_with('.') && !said.contains('\n'), "{said}");
}

#[test]
fn vocabulary_errors_say_what_came_and_what_was_expected() {
    let (token, id) = (b"a\xFF\"\n".to_vec(), 300);
    let shown = r#"b"a\xff\"\n""#;
    for (error, parts) in [
        (
            VocabularyError::MissingByte(0xFF),
            &[r#"b"\xff""#, "256"][..],
        ),
        (
            VocabularyError::DuplicateId {
                id,
                first: token.clone(),
                second: b"x".to_vec(),
            },
            &["300", shown, r#"b"x""#, "expected"],
        ),
        (
            VocabularyError::DuplicateToken {
                token: token.clone(),
                ids: (id, 301),
            },
            &["300", "301", shown, "expected"],
        ),
        (
            VocabularyError::EmptyToken(id),
            &["300", "empty", "expected"],
        ),
        (
            VocabularyError::IdTooLarge(token.clone()),
            &["4294967295", shown, "expected"],
        ),
        (
            VocabularyError::UnknownPart { id, part: 299 },
            &["300", "299", "expected"],
        ),
        (VocabularyError::TooLarge, &["4 GiB", "expected"]),
        (
            VocabularyError::BadTable("too short"),
            &["too short", "table of a vocabulary"],
        ),
        (
            VocabularyError::NotTwoParts { token, parts: 3 },
            &["3 parts", shown, "expected"],
        ),
        (
            VocabularyError::EmptySpecialToken(id),
            &["300", "empty", "expected"],
        ),
    ] {
        assert_says(&error, parts);
    }
    let long = VocabularyError::IdTooLarge(vec![b'z'; 1000]).to_string();
    assert!(long.contains("zzz...") && long.len() < 200, "{long}");
}

#[test]
fn other_errors_say_what_came_and_what_was_expected() {
    let pattern = || "(a".to_owned();
    assert_says(
        &PatternError::Unsupported {
            pattern: pattern(),
            reason: "it is open".to_owned(),
        },
        &["\"(a\"", "it is open"],
    );
    assert_says(
        &PatternError::MatchesEmpty(pattern()),
        &["\"(a\"", "empty", "expected"],
    );
    assert_says(&EncodeError::Interrupted, &["interrupted"]);
    assert_says(
        &EncodeError::Pattern("too hard".to_owned()),
        &["pattern", "too hard"],
    );
    assert_says(
        &EncodeError::Splitter("it broke".into()),
        &["splitter", "it broke"],
    );
    assert_says(
        &EncodeError::PieceTooLong(usize::MAX),
        &[&usize::MAX.to_string(), "expected"],
    );
    assert_says(&DecodeError::Interrupted, &["interrupted"]);
    assert_eq!(
        DecodeError::UnknownToken(7).to_string(),
        "Invalid token for decoding: 7"
    );
}

fn from_ranks(more: &[(&[u8], TokenId)]) -> Result<Vocabulary, VocabularyError> {
    let more = more.iter().map(|(token, id)| (token.to_vec(), *id));
    Vocabulary::from_ranks(ranks_with_bytes().into_iter().chain(more).collect())
}

#[test]
fn rank_tables_that_are_no_vocabulary() {
    for missing in [0, 7, 255_u8] {
        let mut ranks = ranks_with_bytes();
        ranks.remove(usize::from(missing));
        ranks.push((vec![missing; 2], 256));
        let error = Vocabulary::from_ranks(ranks).err();
        assert_eq!(error, Some(VocabularyError::MissingByte(missing)));
    }
    assert_eq!(
        Vocabulary::from_ranks(Vec::new()).err(),
        Some(VocabularyError::MissingByte(0))
    );
    assert_eq!(
        from_ranks(&[(b"", 256)]).err(),
        Some(VocabularyError::EmptyToken(256))
    );
    assert_eq!(
        from_ranks(&[(b"ab", NO_TOKEN)]).err(),
        Some(VocabularyError::IdTooLarge(b"ab".to_vec()))
    );
    assert_eq!(
        from_ranks(&[(b"ab", 256), (b"cd", 257), (b"ab", 258)]).err(),
        Some(VocabularyError::DuplicateToken {
            token: b"ab".to_vec(),
            ids: (256, 258)
        })
    );
    let Err(VocabularyError::DuplicateId {
        id: 256,
        first,
        second,
    }) = from_ranks(&[(b"ab", 256), (b"cd", 256)])
    else {
        panic!("two tokens with one id");
    };
    let mut both = [first, second];
    both.sort_unstable();
    assert_eq!(both, [b"ab", b"cd"]);
}

#[test]
fn rank_tables_that_are_vocabularies() -> TestResult {
    assert_eq!(from_ranks(&[])?.len(), 256);
    let vocabulary = from_ranks(&[(b"ab", NO_TOKEN - 1), (b"abcd", 1000)])?;
    assert_eq!(vocabulary.len(), 258);
    assert!(!vocabulary.is_empty());
    assert_eq!(
        vocabulary.ids().skip(255).collect::<Vec<_>>(),
        [255, 1000, NO_TOKEN - 1]
    );
    assert_eq!(vocabulary.bytes(1000), Some(&b"abcd"[..]));
    assert_eq!(vocabulary.bytes(999), None);
    assert_eq!(vocabulary.bytes(NO_TOKEN), None);
    assert_eq!(vocabulary.token(b"ab"), Some(NO_TOKEN - 1));
    assert_eq!(vocabulary.token(b""), None);
    assert_eq!(vocabulary.token(b"abc"), None);
    assert_eq!(byte_merges(&vocabulary).merged(97, 98), NO_TOKEN - 1);
    assert_eq!(byte_merges(&vocabulary).merged(98, 97), NO_TOKEN);
    let sorted = vocabulary.sorted_by_bytes();
    assert_eq!(sorted.len(), 258);
    assert!(sorted.is_sorted_by_key(|&id| vocabulary.bytes(id)));
    assert_eq!(
        merges_of(&vocabulary).err(),
        Some(VocabularyError::NotTwoParts {
            token: b"abcd".to_vec(),
            parts: 4
        })
    );
    Ok(())
}

fn from_merges(merges: &[(TokenId, [TokenId; 2])]) -> Result<Vocabulary, VocabularyError> {
    let merges = merges
        .iter()
        .map(|(id, [left, right])| (*id, Pair::new(*left, *right)));
    Vocabulary::from_merges(&bytes_by_value(), merges)
}

#[test]
fn merge_lists_that_are_no_vocabulary() {
    let unknown = |id, part| Some(VocabularyError::UnknownPart { id, part });
    assert_eq!(from_merges(&[(256, [97, 300])]).err(), unknown(256, 300));
    assert_eq!(from_merges(&[(256, [300, 97])]).err(), unknown(256, 300));
    assert_eq!(from_merges(&[(256, [256, 97])]).err(), unknown(256, 256));
    assert_eq!(
        from_merges(&[(256, [97, 257]), (257, [97, 98])]).err(),
        unknown(256, 257)
    );
    assert_eq!(
        from_merges(&[(256, [97, 98]), (256, [98, 99])]).err(),
        Some(VocabularyError::DuplicateId {
            id: 256,
            first: b"ab".to_vec(),
            second: b"bc".to_vec()
        })
    );
    assert_eq!(
        from_merges(&[(97, [97, 98])]).err(),
        Some(VocabularyError::DuplicateId {
            id: 97,
            first: b"a".to_vec(),
            second: b"ab".to_vec()
        })
    );
    let duplicate = Some(VocabularyError::DuplicateToken {
        token: b"abc".to_vec(),
        ids: (258, 259),
    });
    assert_eq!(
        from_merges(&[
            (256, [97, 98]),
            (257, [98, 99]),
            (258, [256, 99]),
            (259, [97, 257])
        ])
        .err(),
        duplicate
    );
    assert_eq!(
        from_merges(&[(NO_TOKEN, [97, 98])]).err(),
        Some(VocabularyError::IdTooLarge(b"ab".to_vec()))
    );
}

#[test]
fn byte_tokens_of_merge_lists_have_ids_of_their_own() {
    let mut bytes = bytes_by_value();
    bytes[2] = 1;
    assert_eq!(
        Vocabulary::from_merges(&bytes, std::iter::empty()).err(),
        Some(VocabularyError::DuplicateId {
            id: 1,
            first: vec![1],
            second: vec![2]
        })
    );
    bytes[2] = NO_TOKEN;
    assert_eq!(
        Vocabulary::from_merges(&bytes, std::iter::empty()).err(),
        Some(VocabularyError::IdTooLarge(vec![2]))
    );
}

/// Ids that decrease are refused with an error that is true: the id is no duplicate.
#[test]
fn merges_out_of_order_are_refused_as_that() {
    let error = from_merges(&[(300, [97, 98]), (299, [98, 99])]).err();
    assert!(error.is_some());
    assert!(
        !matches!(error, Some(VocabularyError::DuplicateId { .. })),
        "{error:?}"
    );
}

#[test]
fn builtin_vocabularies_are_shared_and_have_the_published_sizes() -> TestResult {
    let sizes = [50_256, 50_280, 100_256, 199_998];
    for (builtin, size) in Builtin::ALL.into_iter().zip(sizes) {
        let vocabulary = builtin.vocabulary()?;
        assert_eq!(vocabulary.len(), size);
        assert!(Arc::ptr_eq(&vocabulary, &builtin.vocabulary()?));
        assert_eq!(Builtin::from_name(builtin.name()), Some(builtin));
    }
    assert_eq!(Builtin::P50k.vocabulary()?.bytes(50_256), None);
    assert_eq!(Builtin::from_name("cl100k_base"), None);
    Ok(())
}

#[test]
fn batches_keep_the_order() {
    for threads in [0, 1, 2, 3, 64, usize::MAX] {
        for count in [0, 1, 2, 31, 32, 33, 1000, 5000] {
            let items: Vec<usize> = (0..count).collect();
            let done = parallel::map(&items, threads, |item| {
                if item % 97 == 0 {
                    thread::yield_now();
                }
                Ok::<usize, Interrupted>(item * 2)
            });
            let expected: Vec<usize> = items.iter().map(|item| item * 2).collect();
            assert_eq!(done, Ok(expected), "{count} items, {threads} threads");
        }
    }
}

#[derive(Debug, PartialEq)]
struct Failed(usize);

impl From<Interrupted> for Failed {
    fn from(_: Interrupted) -> Self {
        Self(usize::MAX)
    }
}

#[test]
fn batches_answer_with_the_first_failing_item() {
    for round in 0..50 {
        for threads in [0, 1, 2, 64] {
            let items: Vec<usize> = (0..2000).collect();
            let mut random = Random::new(round);
            let failing = [random.below(2000), random.below(2000), random.below(2000)];
            let worked = AtomicUsize::new(0);
            let outcome = parallel::map(&items, threads, |item| {
                worked.fetch_add(1, Ordering::Relaxed);
                if failing.contains(item) {
                    Err(Failed(*item))
                } else {
                    Ok(())
                }
            });
            let first = failing.into_iter().min().unwrap_or(0);
            assert_eq!(outcome, Err(Failed(first)), "{threads} threads");
            // All items before the failing one were tried.
            assert!(worked.into_inner() > first);
        }
    }
}

/// When an item fails, items that no thread has started are skipped.
#[test]
fn batches_end_early_when_an_item_fails() {
    let items: Vec<usize> = (0..20_000).collect();
    for threads in [1, 2, 64] {
        let worked = AtomicUsize::new(0);
        let outcome = parallel::map(&items, threads, |item| {
            worked.fetch_add(1, Ordering::Relaxed);
            if *item == 10 {
                return Err(Failed(*item));
            }
            // All items would take a second.
            thread::sleep(Duration::from_micros(50));
            Ok(())
        });
        assert_eq!(outcome, Err(Failed(10)));
        assert!(worked.into_inner() < items.len() / 2, "{threads} threads");
    }
}

#[test]
fn pair_tables_keep_the_lowest_rank() {
    let (pair, other) = (Pair::new(1, 2), Pair::new(2, 1));
    let mut table = PairTable::with_capacity(2);
    assert!(table.is_empty());
    for token in [300, 299, 301] {
        table.insert(pair, token);
    }
    table.insert(other, 302);
    assert_eq!(
        (table.get(1, 2), table.get(2, 1), table.get(1, 1)),
        (299, 302, NO_TOKEN)
    );
    assert_eq!((table.len(), table.is_empty()), (2, false));
}
