//! Merges of a list against their definition, on vocabularies and pieces drawn at random.

use std::collections::HashMap;
use std::sync::Arc;

use bytemill::encode::Encoder;
use bytemill::encode::special::SpecialTokens;
use bytemill::merge::{self, Placed};
use bytemill::split::Splitter;
use bytemill::token::{NO_TOKEN, Pair, TokenId};
use bytemill::vocabulary::characters::CharacterTable;
use bytemill::vocabulary::listed::{Alphabet, Listing, Unknown};
use bytemill::vocabulary::{ListedToken, Vocabulary};

use crate::support::{Random, on_all_cores};

const LETTERS: [char; 5] = ['a', 'b', 'c', 'é', '中'];

/// The bytes that the first letters stand for where pieces consist of bytes: themselves, or those of characters.
const BYTES: [[u8; 3]; 2] = [*b"abc", [0xE4, 0xB8, 0x80]];

/// A vocabulary as it is written: tokens by their texts, and merges of texts.
struct Written {
    ids: HashMap<String, TokenId>,
    merges: Vec<(String, String)>,
    unknown: Unknown,
    whole_pieces: bool,
    /// The bytes of the first letters, if pieces consist of bytes.
    of_bytes: Option<[u8; 3]>,
}

impl Written {
    /// Draws a vocabulary, some of whose merges are listed twice, and several for some tokens: in any order, or each token
    /// before those that it is a part of.
    fn draw(random: &mut Random) -> Self {
        let of_bytes = (random.within(0..3) > 0).then(|| *random.pick(&BYTES));
        let in_order = random.within(0..2) == 0;
        let letters = match of_bytes {
            Some(_) => &LETTERS[..3],
            None => &LETTERS[..],
        };
        let known = random.within(1..letters.len() + 1);
        let mut texts: Vec<String> = letters[..known].iter().map(char::to_string).collect();
        let mut merges = Vec::new();
        for _ in 0..random.within(0..30) {
            let (left, right) = (random.pick(&texts).clone(), random.pick(&texts).clone());
            let made = format!("{left}{right}");
            if made.len() > 24 {
                continue;
            }
            if !texts.contains(&made) {
                texts.push(made);
            }
            let place = if in_order {
                merges.len()
            } else {
                random.within(0..merges.len() + 1)
            };
            merges.insert(place, (left, right));
        }
        let ids = texts.iter().cloned().zip((0..).map(|index| index * 3 + 2));
        let mut ids: HashMap<String, TokenId> = ids.collect();
        let token = (random.within(0..2) == 0).then_some(1);
        if token.is_some() {
            ids.insert("?".to_owned(), 1);
        }
        Self {
            ids,
            merges,
            unknown: Unknown {
                byte_tokens: None,
                token,
                is_fused: random.within(0..2) == 0,
            },
            whole_pieces: random.within(0..3) == 0,
            of_bytes,
        }
    }

    fn build(&self) -> Result<Vocabulary, Box<dyn std::error::Error>> {
        let mut tokens: Vec<ListedToken<'_>> = self
            .ids
            .iter()
            .map(|(text, &id)| ListedToken {
                id,
                bytes: self.bytes(text).into(),
                is_found: true,
            })
            .collect();
        tokens.sort_by_key(|token| token.id);
        let letter = |letter: &char| self.ids.get(&letter.to_string()).copied();
        let alphabet = if let Some(of_bytes) = self.of_bytes {
            let mut bytes = Box::new([NO_TOKEN; 256]);
            for (byte, each) in of_bytes.iter().zip(&LETTERS) {
                bytes[usize::from(*byte)] = letter(each).unwrap_or(NO_TOKEN);
            }
            Alphabet::Bytes(bytes)
        } else {
            let mut table = CharacterTable::new();
            for each in LETTERS.iter().chain(['?'].iter()) {
                if let Some(id) = letter(each) {
                    table.set(*each, id);
                }
            }
            Alphabet::Characters(table.into())
        };
        let merges = self.merges.iter().map(|(left, right)| {
            let pair = Pair::new(self.ids[left], self.ids[right]);
            (self.ids[&format!("{left}{right}")], pair)
        });
        let unknown = Unknown {
            byte_tokens: None,
            ..self.unknown
        };
        let listing = Listing {
            spellings: Vec::new(),
            alphabet,
            merges: merges.collect(),
            unknown,
            whole_pieces: self.whole_pieces,
            space: ' ',
        };
        Ok(Vocabulary::from_list(&tokens, listing)?)
    }

    /// Returns a text as it stands in pieces.
    fn bytes(&self, text: &str) -> Vec<u8> {
        let Some(of_bytes) = self.of_bytes else {
            return text.as_bytes().to_vec();
        };
        let byte = |letter| match LETTERS[..3].iter().position(|each| *each == letter) {
            Some(index) => of_bytes[index],
            None => b'?',
        };
        text.chars().map(byte).collect()
    }

    /// The definition: until no pair is listed, merges the pair listed first, of equals the leftmost.
    fn encode(&self, piece: &str) -> Vec<Placed> {
        let placed = |span, id| Placed { id, span };
        if let (true, Some(&id)) = (self.whole_pieces, self.ids.get(piece)) {
            return vec![placed(0..piece.len(), id)];
        }
        let mut ranks = HashMap::new();
        for (rank, pair) in self.merges.iter().enumerate() {
            ranks.insert(pair.clone(), rank);
        }
        let mut symbols: Vec<(String, usize)> = Vec::new();
        let mut was_unknown = false;
        for letter in piece.chars() {
            let is_known = self.ids.contains_key(&letter.to_string());
            match (is_known, self.unknown.token) {
                (true, _) => symbols.push((letter.to_string(), letter.len_utf8())),
                (false, Some(_)) if was_unknown && self.unknown.is_fused => {
                    if let Some(last) = symbols.last_mut() {
                        last.1 += letter.len_utf8();
                    }
                }
                (false, Some(_)) => symbols.push(("?".to_owned(), letter.len_utf8())),
                (false, None) => {}
            }
            was_unknown = !is_known;
        }
        loop {
            let pairs = symbols.windows(2).enumerate().filter_map(|(index, pair)| {
                let rank = ranks.get(&(pair[0].0.clone(), pair[1].0.clone()))?;
                Some((rank, index))
            });
            let Some((_, index)) = pairs.min() else { break };
            let (right, length) = symbols.remove(index + 1);
            symbols[index].0 += &right;
            symbols[index].1 += length;
        }
        let mut start = 0;
        let tokens = symbols.into_iter().map(|(text, length)| {
            let (mut first, mut end) = (start, start + length);
            start = end;
            // Where letters have been left out, spans may begin and end inside of others.
            while !piece.is_char_boundary(first) {
                first -= 1;
            }
            while !piece.is_char_boundary(end) {
                end += 1;
            }
            placed(first..end, self.ids[&text])
        });
        tokens.collect()
    }
}

#[test]
fn engines_agree_with_the_definition() {
    on_all_cores(150, |seed| {
        let random = &mut Random::new(seed);
        let written = Written::draw(random);
        let vocabulary = written
            .build()
            .expect("the parts of every merge are tokens");
        let vocabulary = Arc::new(vocabulary);
        let merges = vocabulary.listed_merges().expect("merges are listed");
        let splitter = Splitter::new("[^\n]+").expect("it is a pattern");
        let encoder = Encoder::new(vocabulary.clone(), SpecialTokens::default(), splitter);
        // The cache knows some of these from the start.
        let own = written.ids.keys().filter(|text| *text != "?");
        for piece in own {
            let (mut ids, mut expected) = (Vec::new(), Vec::new());
            expected.extend(written.encode(piece).into_iter().map(|token| token.id));
            if let Ok(text) = str::from_utf8(&written.bytes(piece)) {
                encoder
                    .encode_ordinary(text, &mut ids)
                    .expect("nothing interrupts it");
                assert_eq!(ids, expected, "{piece:?} by {:?}", written.merges);
            }
        }
        for _ in 0..40 {
            let letters = match written.of_bytes {
                Some(_) => 3,
                None => LETTERS.len(),
            };
            let letters = random.within(1..letters + 1);
            let length = *random.pick(&[3, 8, 20, 60, 300]);
            let mut piece: String = (0..random.within(1..length))
                .map(|_| LETTERS[random.within(0..letters)])
                .collect();
            if random.within(0..3) == 0 {
                piece = piece.repeat(random.within(1..4));
            }
            let expected = written.encode(&piece);
            let expected_ids: Vec<TokenId> = expected.iter().map(|token| token.id).collect();
            let bytes = written.bytes(&piece);
            let mut ids = Vec::new();
            merge::encode_piece(&vocabulary, &bytes, &mut ids).expect("nothing interrupts it");
            assert_eq!(ids, expected_ids, "{piece:?} by {:?}", written.merges);
            let mut tokens = Vec::new();
            merge::placed(&vocabulary, &bytes, &mut tokens).expect("nothing interrupts it");
            assert_eq!(tokens, expected, "{piece:?} by {:?}", written.merges);
            let is_known = piece
                .chars()
                .all(|letter| written.ids.contains_key(&letter.to_string()));
            if is_known && !(written.whole_pieces && written.ids.contains_key(&piece)) {
                let length = random.within(1..9);
                ids.clear();
                merge::long::merge(merges, &bytes, length, &mut ids)
                    .expect("nothing interrupts it");
                assert_eq!(ids, expected_ids, "{piece:?} in windows of {length}");
            }
        }
        None::<()>
    });
}
