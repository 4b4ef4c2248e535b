//! Ids that are appended to a session as they are: they stay, and the texts between them are encoded by themselves.

use std::ops::Range;
use std::sync::Arc;

use bytemill::builtin::Builtin;
use bytemill::encode::Encoder;
use bytemill::encode::session::{Session, Update};
use bytemill::encode::special::{Allowed, Disallowed, Policy, SpecialTokens};
use bytemill::error::{DecodeError, SessionError};
use bytemill::split::Splitter;
use bytemill::token::TokenId;

use crate::support::{O200K, Random, TestResult, assert_for_seeds};

const END: TokenId = 300_000;

fn encoder() -> Result<Encoder, Box<dyn std::error::Error>> {
    let special = SpecialTokens::new(vec![("<|end|>".to_owned(), END)])?;
    let vocabulary = Builtin::O200k.vocabulary()?;
    Ok(Encoder::new(vocabulary, special, Splitter::new(O200K)?))
}

fn policy() -> Policy {
    Policy {
        allowed: Allowed::All,
        disallowed: Disallowed::Nothing,
    }
}

/// A character of a text, or ids that were appended together.
#[derive(Clone, Debug)]
enum Unit {
    Character(char),
    Pinned(Vec<TokenId>),
}

/// A text with pinned ids, by its definition.
#[derive(Clone, Debug)]
struct Defined<'e> {
    encoder: &'e Encoder,
    units: Vec<Unit>,
}

impl Defined<'_> {
    fn text_of(&self, ids: &[TokenId]) -> Result<String, DecodeError> {
        let bytes = self.encoder.decode(ids)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn text_of_unit(&self, unit: &Unit) -> Result<String, DecodeError> {
        match unit {
            Unit::Character(character) => Ok(character.to_string()),
            Unit::Pinned(ids) => self.text_of(ids),
        }
    }

    fn text(&self) -> Result<String, DecodeError> {
        let texts = self.units.iter().map(|unit| self.text_of_unit(unit));
        texts.collect()
    }

    fn ids(&self) -> Result<Vec<TokenId>, Box<dyn std::error::Error>> {
        let mut ids = Vec::new();
        let is_pinned = |unit: &Unit| matches!(unit, Unit::Pinned(_));
        for run in self.units.chunk_by(|a, b| is_pinned(a) == is_pinned(b)) {
            if is_pinned(&run[0]) {
                ids.extend(run.iter().flat_map(|unit| match unit {
                    Unit::Pinned(ids) => ids.clone(),
                    Unit::Character(_) => Vec::new(),
                }));
            } else {
                let texts = run.iter().map(|unit| self.text_of_unit(unit));
                let text = texts.collect::<Result<String, _>>()?;
                self.encoder.encode(&text, &Allowed::All, &mut ids)?;
            }
        }
        Ok(ids)
    }

    /// Returns the number of units before an offset; `None` inside of one.
    fn index(&self, offset: usize) -> Result<Option<usize>, DecodeError> {
        let mut start = 0;
        for (index, unit) in self.units.iter().enumerate() {
            if start >= offset {
                return Ok((start == offset).then_some(index));
            }
            start += self.text_of_unit(unit)?.len();
        }
        Ok((start == offset).then_some(self.units.len()))
    }

    /// Replaces some bytes by a text; false if they begin or end inside of pinned ids that cannot be cut there.
    fn edit(&mut self, range: Range<usize>, new: &str) -> Result<bool, DecodeError> {
        let is_truncation = new.is_empty() && range.end == self.text()?.len();
        if let (Some(start), Some(end)) = (self.index(range.start)?, self.index(range.end)?) {
            self.units
                .splice(start..end, new.chars().map(Unit::Character));
            return Ok(true);
        }
        if !is_truncation {
            return Ok(range.is_empty() && new.is_empty());
        }
        let mut start = 0;
        for index in 0..self.units.len() {
            let text = self.text_of_unit(&self.units[index])?;
            if start + text.len() > range.start {
                let Unit::Pinned(ids) = &self.units[index] else {
                    unreachable!("characters are whole")
                };
                let kept = &text[..range.start - start];
                for count in 1..ids.len() {
                    if self.text_of(&ids[..count])? == kept {
                        let ids = ids[..count].to_vec();
                        self.units.truncate(index);
                        self.units.push(Unit::Pinned(ids));
                        return Ok(true);
                    }
                }
                return Ok(false);
            }
            start += text.len();
        }
        unreachable!("the offset is in the text")
    }

    fn append_ids(&mut self, ids: &[TokenId]) {
        match self.units.last_mut() {
            _ if ids.is_empty() => {}
            Some(Unit::Pinned(last)) => last.extend_from_slice(ids),
            _ => self.units.push(Unit::Pinned(ids.to_vec())),
        }
    }
}

/// Returns ids as a model may sample them: of a text, of bytes, of special tokens.
fn sampled(encoder: &Encoder, random: &mut Random) -> Result<Vec<TokenId>, SessionError> {
    let mut ids = Vec::new();
    for _ in 0..random.below(4) {
        match random.below(4) {
            0 => ids.push(END),
            1 => {
                let character = *random.pick(&["中", "é", "🙂"]);
                let bytes = character
                    .bytes()
                    .map(|byte| encoder.vocabulary().token(&[byte]));
                ids.extend(bytes.flatten().take(random.below(5)));
            }
            _ => encoder.encode(&random.text(20), &Allowed::All, &mut ids)?,
        }
    }
    Ok(ids)
}

fn check(
    session: &Session,
    defined: &Defined<'_>,
    mirror: &mut Vec<TokenId>,
    update: Update,
) -> TestResult {
    mirror.splice(update.start..update.stop, update.ids);
    let (text, ids) = (defined.text()?, defined.ids()?);
    assert_eq!(session.text(), text);
    assert_eq!(*mirror, ids, "{text:?}");
    assert_eq!(session.count(), ids.len());
    assert_eq!(session.len(), text.len());
    assert_eq!(session.characters(), text.chars().count());
    let mut pushed = Vec::new();
    session.push_ids(0..ids.len(), &mut pushed);
    assert_eq!(pushed, ids);
    let mut whole = Vec::new();
    session.encoder().encode(&text, &Allowed::All, &mut whole)?;
    let same = whole.iter().zip(&ids).take_while(|(a, b)| a == b).count();
    let drift = (whole != ids).then_some(same);
    assert_eq!(session.first_drift()?, drift, "{text:?}");
    Ok(())
}

#[test]
fn scripts_with_pinned_ids() {
    assert_for_seeds(60, |seed| {
        let mut random = Random::new(seed);
        let encoder = Arc::new(encoder()?);
        let size = *random.pick(&[1, 16, 1024]);
        let mut session = Session::with_segments_of(size, Arc::clone(&encoder), policy());
        let (encoder, units) = (&*encoder, Vec::new());
        let mut defined = Defined { encoder, units };
        let mut mirror = Vec::new();
        let mut refused = 0;
        for _ in 0..60 {
            let text = defined.text()?;
            let boundaries: Vec<usize> = text.char_indices().map(|(start, _)| start).collect();
            let boundary = |random: &mut Random| match boundaries.len() {
                0 => 0,
                count => boundaries[random.below(count)],
            };
            let new = random.text(12);
            let before = session.clone();
            let (range, new) = match random.below(6) {
                0 | 1 => {
                    let ids = sampled(encoder, &mut random)?;
                    let update = session.append_ids(&ids)?;
                    defined.append_ids(&ids);
                    check(&session, &defined, &mut mirror, update)?;
                    continue;
                }
                2 => (text.len()..text.len(), new),
                3 => (boundary(&mut random)..text.len(), String::new()),
                4 => {
                    let (a, b) = (boundary(&mut random), boundary(&mut random));
                    (a.min(b)..a.max(b), new)
                }
                _ => {
                    let at = boundary(&mut random);
                    (at..at, new)
                }
            };
            let is_made = defined.edit(range.clone(), &new)?;
            match session.edit(range.clone(), &new) {
                Ok(update) => {
                    assert!(is_made, "{range:?} {new:?} {:?}", defined.units);
                    check(&session, &defined, &mut mirror, update)?;
                }
                Err(SessionError::Pinned { .. }) => {
                    assert!(!is_made, "{range:?} {new:?} {text:?}");
                    assert_eq!(session.text(), before.text());
                    refused += 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
        assert!(refused < 50, "hardly any edit was made");
        Ok(())
    });
}

/// A text that is rendered anew keeps the ids of what it has as before.
#[test]
fn updates_around_pinned_ids() -> TestResult {
    let encoder = Arc::new(encoder()?);
    let mut session = Session::new(Arc::clone(&encoder), policy());
    session.append("user: hi\n")?;
    let mut hello = Vec::new();
    for part in ["h", "ello"] {
        encoder.encode(part, &Allowed::All, &mut hello)?;
    }
    session.append_ids(&hello)?;
    session.append_ids(&[END])?;
    session.append(" more")?;

    let update = session.update("user: hi\nhello<|end|> more text")?;
    assert_eq!(update.ids.len(), 1);
    let update = session.update("User: hi\nhello<|end|> more text")?;
    assert_eq!(update.start, 0);
    // A letter that is equal to the one behind it stands before the pinned ids.
    session.update("User: hi\nhhello<|end|> more text")?;
    assert_eq!(session.first_drift()?, Some(5));
    let error = session
        .update("User: hi\nhhallo<|end|>")
        .expect_err("it is inside");
    let expected = "characters 10 to 22 are the text of appended token IDs, which are kept as they are, so characters 11 to 32 \
        cannot be replaced: expected a range with all of them or none; to end the text inside, expected the end of one of \
        these tokens";
    assert_eq!(error.to_string(), expected);
    session.update("User: hi\nhh")?;
    assert_eq!(session.text(), "User: hi\nhh");
    session.append_ids(&hello[1..])?;
    let pinned: Vec<_> = session
        .pinned()
        .map(|(text, _, ids)| (text, ids.to_vec()))
        .collect();
    assert_eq!(
        pinned,
        [
            ("User: hi\nh".to_owned(), hello),
            (String::new(), Vec::new())
        ]
    );
    Ok(())
}

/// Neither copy sees what is appended to the other.
#[test]
fn copies_with_pinned_ids() -> TestResult {
    let encoder = Arc::new(encoder()?);
    let mut session = Session::new(Arc::clone(&encoder), policy());
    session.append("a")?;
    session.append_ids(&[END])?;
    let mut copy = session.clone();
    copy.append_ids(&[END])?;
    session.append("b")?;
    assert_eq!(copy.text(), "a<|end|><|end|>");
    assert_eq!(session.text(), "a<|end|>b");
    assert_eq!(
        session.append_ids(&[u32::MAX]).expect_err("it is none"),
        DecodeError::UnknownToken(u32::MAX)
    );
    assert_eq!(session.text(), "a<|end|>b");
    Ok(())
}
