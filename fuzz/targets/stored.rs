//! Vocabularies as native files hold them: what is written is read as it was, and what is damaged is refused or is a sound
//! vocabulary.

use bytemill::merge::agreement::merges_of;
use bytemill::merge::encode_piece;
use bytemill::vocabulary::Vocabulary;

use crate::input::Input;
use crate::models;

/// Each part may double a file: 25 of them made one of gigabytes.
const LONGEST_FILE: usize = 1 << 20;

pub(crate) fn run(mut input: Input) {
    let vocabulary = models::small(&mut input);
    let with_pairs = input.byte() & 1 == 0;
    let merges = merges_of(&vocabulary).ok().filter(|_| with_pairs);
    let whole = vocabulary.stored(merges.as_deref());
    let read = Vocabulary::of_stored(&whole).expect("what was written");
    assert!(vocabulary.ids().eq(read.ids()));
    assert!(
        vocabulary
            .ids()
            .all(|id| vocabulary.bytes(id) == read.bytes(id))
    );
    assert_eq!(read.stored(merges.as_deref()), whole);
    let mut damaged = whole;
    for part in input.parts() {
        let mut place = part.iter().fold(0_usize, |place, &byte| {
            place.wrapping_mul(251).wrapping_add(usize::from(byte))
        });
        place %= damaged.len().max(1);
        match part.len() % 4 {
            0 => damaged.truncate(place),
            1 if damaged.len() < LONGEST_FILE => damaged.extend_from_within(place..),
            _ => damaged[place..]
                .iter_mut()
                .zip(part)
                .for_each(|(byte, other)| *byte ^= other),
        }
        if let Ok(vocabulary) = Vocabulary::of_stored(&damaged) {
            let mut ids = Vec::new();
            encode_piece(&vocabulary, part, &mut ids).expect("a short piece");
            let bytes = ids.iter().filter_map(|id| vocabulary.bytes(*id));
            assert_eq!(bytes.collect::<Vec<_>>().concat(), part);
        }
        if damaged.is_empty() {
            return;
        }
    }
}
