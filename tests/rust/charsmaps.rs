//! The rules of normalization with names: derived from Unicode again, and as SentencePiece has them.

use std::error::Error;

use bytemill::error::NormalizerError;
use bytemill::normalize::rules::{Rules, charsmap};
use bytemill::normalize::{Flags, MARK, Normalizer};

#[path = "../../tools/generate_charsmaps.rs"]
#[expect(dead_code, reason = "its `main` belongs to the example")]
mod generate_charsmaps;

/// Asserts that a committed map is what is derived from Unicode's tables.
fn assert_derived(name: &str) -> Result<(), Box<dyn Error>> {
    let derived = generate_charsmaps::derive(name)?.to_charsmap()?;
    assert!(Some(&*derived) == charsmap(name), "{name} differs");
    Ok(())
}

/// The rules of this map are those of all others, together.
#[test]
fn the_largest_committed_map_is_that_of_unicode() -> Result<(), Box<dyn Error>> {
    assert_derived("nmt_nfkc_cf")
}

#[test]
#[ignore = "takes a minute: make test-exhaustive"]
fn committed_maps_are_those_of_unicode() -> Result<(), Box<dyn Error>> {
    generate_charsmaps::NAMES
        .into_iter()
        .try_for_each(assert_derived)
}

/// FNV-1a of the sorted rules, each as its key, NUL, its value, NUL.
fn hash_of(rules: &Rules) -> u64 {
    let texts = rules.iter().flat_map(|(key, value)| [key, value]);
    let bytes = texts.flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

/// Every name has as many rules as the map that SentencePiece 0.2.3 writes for it, and the same.
#[test]
fn rules_are_those_of_sentencepiece() -> Result<(), NormalizerError> {
    let published = [
        ("nfkc", 225_232, 0x8CD3_CA27_3E20_5317),
        ("nmt_nfkc", 225_276, 0x0397_F268_A719_5B4F),
        ("nfkc_cf", 226_640, 0xBEEC_0C59_CFDD_4ED4),
        ("nmt_nfkc_cf", 226_684, 0x2BD9_4B54_20AC_0480),
    ];
    for (name, count, hash) in published {
        let rules = Rules::from_charsmap(charsmap(name).unwrap_or_default())?;
        assert_eq!((rules.len(), hash_of(&rules)), (count, hash), "{name}");
        assert_eq!(rules.iter().count(), count);
    }
    assert_eq!(charsmap("identity"), Some(&[][..]));
    assert_eq!(charsmap("nmt"), None);
    Ok(())
}

/// Every bit of a map changed by itself: a map is refused or normalizes, without a panic.
#[test]
fn damaged_maps_do_no_harm() -> Result<(), NormalizerError> {
    let pairs = [
        ("a", "b"),
        ("ab", " "),
        ("\u{e9}", "e"),
        ("\u{e9}\u{301}x", ""),
    ];
    let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let map = Rules::from_pairs(pairs)?.to_charsmap()?;
    let (mut refused, mut accepted) = (0, 0);
    for bit in 0..8 * map.len() {
        let mut damaged = map.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let Ok(normalizer) = Normalizer::new(&damaged, Flags::default(), &[]) else {
            refused += 1;
            continue;
        };
        accepted += 1;
        let (mut out, mut offsets) = (Vec::new(), Vec::new());
        let text = "\0aab a\u{e9}\u{301}x \u{e9}b\u{301}".as_bytes();
        normalizer.normalize(text, MARK, &mut out, Some(&mut offsets));
        assert_eq!(offsets.len(), out.len() + 1);
        assert!(offsets.is_sorted() && offsets.iter().all(|offset| *offset <= text.len()));
        drop(Rules::from_charsmap(&damaged));
    }
    assert!(refused > 100 && accepted > 100, "{refused} and {accepted}");
    Ok(())
}
