//! Texts that change and that arrive in parts: their ids are those of the whole text after every step.

use std::sync::Arc;

use bytemill::builtin::Builtin;
use bytemill::encode::Encoder;
use bytemill::encode::session::{Session, Update};
use bytemill::encode::special::{Allowed, Disallowed, Policy, SpecialTokens};
use bytemill::encode::stream::StreamEncoder;
use bytemill::error::{EncodeError, SessionError};
use bytemill::split::Splitter;
use bytemill::token::TokenId;

use crate::pipeline_cuts;
use crate::support::{CL100K, O200K, R50K, Random, assert_for_seeds};

/// Special tokens of several lengths, one of which begins another, and one with blanks.
const SPECIAL: [&str; 4] = ["<|end|>", "<|end|>.", "<| a |>", "word"];

fn encoder(seed: usize) -> Result<Encoder, Box<dyn std::error::Error>> {
    let (builtin, pattern) = [
        (Builtin::R50k, R50K),
        (Builtin::Cl100k, CL100K),
        (Builtin::O200k, O200K),
        (Builtin::Cl100k, r"\w+|\W+"),
    ][seed % 4];
    let special = SPECIAL.iter().zip(300_000..);
    let special = special.map(|(text, id)| ((*text).to_owned(), id)).collect();
    let special = SpecialTokens::new(special)?;
    Ok(Encoder::new(
        builtin.vocabulary()?,
        special,
        Splitter::new(pattern)?,
    ))
}

/// Returns something to write into a text: words and signs, and runs and parts of special tokens.
fn part(random: &mut Random) -> String {
    match random.below(8) {
        0 => (*random.pick(&SPECIAL)).to_owned(),
        1 => {
            let token = *random.pick(&SPECIAL);
            token[..random.below(token.len() + 1)].to_owned()
        }
        2 => ["a", "中", " ", "\n", ".", "1", "A", "ก"][random.below(8)].repeat(random.below(1500)),
        3 => String::new(),
        _ => random.text(40),
    }
}

fn policies(encoder: &Encoder) -> Result<Vec<Policy>, Box<dyn std::error::Error>> {
    let special = encoder.special_tokens();
    let strings = ["b c".to_owned(), ".\n".to_owned()];
    Ok(vec![
        Policy::ORDINARY,
        Policy {
            allowed: Allowed::All,
            disallowed: Disallowed::Nothing,
        },
        Policy {
            allowed: special.allow(["<|end|>"]),
            disallowed: special.disallow(vec!["<| a |>".to_owned()])?,
        },
        Policy {
            allowed: special.allow(["word"]),
            disallowed: special.disallow(strings.to_vec())?,
        },
    ])
}

fn expected(encoder: &Encoder, policy: &Policy, text: &str) -> Result<Vec<TokenId>, EncodeError> {
    encoder.special_tokens().refuse(text, &policy.disallowed)?;
    let mut ids = Vec::new();
    encoder.encode(text, &policy.allowed, &mut ids)?;
    Ok(ids)
}

/// A session beside the text and the ids that it should have.
struct Mirror {
    session: Session,
    text: String,
    ids: Vec<TokenId>,
}

impl Mirror {
    /// Compares the answer of an operation that should have made a text of the one before.
    fn check(&mut self, policy: &Policy, text: String, answer: Result<Update, SessionError>) {
        let encoder = Arc::clone(self.session.encoder());
        match (expected(&encoder, policy, &text), answer) {
            (Ok(ids), Ok(update)) => {
                self.ids.splice(update.start..update.stop, update.ids);
                self.text = text;
                assert_eq!(self.ids, ids, "{:?}", self.text);
            }
            (Err(error), Err(answer)) => assert_eq!(answer.to_string(), error.to_string()),
            (expected, answer) => panic!("{answer:?} where {expected:?} was expected"),
        }
        assert_eq!(self.session.text(), self.text);
        assert_eq!(self.session.count(), self.ids.len());
        assert_eq!(self.session.len(), self.text.len());
        assert_eq!(self.session.characters(), self.text.chars().count());
        let mut ids = Vec::new();
        self.session.push_ids(0..self.ids.len(), &mut ids);
        assert_eq!(ids, self.ids);
    }

    fn boundary(&self, random: &mut Random) -> usize {
        let mut offset = random.below(self.text.len() + 1);
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }

    /// Changes the text in some way.
    fn step(&mut self, random: &mut Random, policy: &Policy) {
        let new = part(random);
        let (a, b) = (self.boundary(random), self.boundary(random));
        let range = if random.below(3) == 0 {
            // Most edits are small.
            a.min(b)..a.max(b)
        } else {
            a..a
        };
        let mut text = self.text.clone();
        match random.below(8) {
            0..3 => {
                text.push_str(&new);
                let count = self.session.count_after(&new);
                let answer = self.session.append(&new);
                assert_eq!(count.is_ok(), answer.is_ok());
                let known = answer.is_ok().then(|| self.session.count());
                assert_eq!(count.ok(), known);
                self.check(policy, text, answer);
            }
            3..6 => {
                text.replace_range(range.clone(), &new);
                let answer = self.session.edit(range, &new);
                self.check(policy, text, answer);
            }
            6 => {
                text.replace_range(range, &new);
                let answer = self.session.update(&text);
                self.check(policy, text, answer);
            }
            _ => {
                text.truncate(a);
                let answer = self.session.edit(a..self.text.len(), "");
                self.check(policy, text, answer);
            }
        }
    }
}

fn try_script(encoder: Encoder, policy: &Policy, random: &mut Random, steps: usize) {
    let size = *random.pick(&[1, 16, 100, 1024]);
    let session = Session::with_segments_of(size, Arc::new(encoder), policy.clone());
    let (text, ids) = (String::new(), Vec::new());
    let mut mirror = Mirror { session, text, ids };
    let mut forks = Vec::new();
    for _ in 0..steps {
        if random.below(5) == 0 {
            let fork = Mirror {
                session: mirror.session.clone(),
                text: mirror.text.clone(),
                ids: mirror.ids.clone(),
            };
            forks.push(std::mem::replace(&mut mirror, fork));
        }
        mirror.step(random, policy);
        let at = random.below(mirror.text.chars().count() + 2);
        let offset = mirror.text.char_indices().nth(at).map(|(offset, _)| offset);
        let offset = offset.unwrap_or(mirror.text.len());
        assert_eq!(mirror.session.byte_range(at..at), offset..offset);
        if let Some(fork) = forks.last_mut() {
            fork.step(random, policy);
        }
    }
}

#[test]
fn scripts_of_edits_have_the_ids_of_the_whole() {
    assert_for_seeds(120, |seed| {
        let mut random = Random::new(seed);
        let encoder = encoder(seed)?;
        let policy = policies(&encoder)?.swap_remove(seed / 4 % 4);
        try_script(encoder, &policy, &mut random, 60);
        Ok(())
    });
}

#[test]
fn scripts_for_pipelines() {
    assert_for_seeds(150, |seed| {
        let mut random = Random::new(seed);
        let Ok(encoder) = pipeline_cuts::encoder(&mut random, seed) else {
            return Ok(());
        };
        for policy in policies(&encoder)? {
            let text = pipeline_cuts::text(&mut random, 2000);
            let session = Session::with_segments_of(
                *random.pick(&[1, 16, 100, 1024]),
                Arc::new(pipeline_cuts::encoder(&mut Random::new(seed), seed)?),
                policy.clone(),
            );
            let mut mirror = Mirror {
                session,
                text: String::new(),
                ids: Vec::new(),
            };
            let answer = mirror.session.append(&text);
            mirror.check(&policy, text, answer);
            for _ in 0..20 {
                let at = mirror.boundary(&mut random);
                let new = pipeline_cuts::text(&mut random, 20);
                let mut text = mirror.text.clone();
                text.insert_str(at, &new);
                let answer = mirror.session.edit(at..at, &new);
                mirror.check(&policy, text, answer);
            }
        }
        Ok(())
    });
}

/// The ids that a stream has emitted are always the first ids of the text, and all of them at its end.
#[test]
fn streams_emit_the_ids_of_the_whole() {
    assert_for_seeds(200, |seed| {
        let mut random = Random::new(seed);
        let encoder = if seed % 2 == 0 {
            encoder(seed / 2)?
        } else {
            match pipeline_cuts::encoder(&mut random, seed / 2) {
                Ok(encoder) => encoder,
                Err(_) => return Ok(()),
            }
        };
        let encoder = Arc::new(encoder);
        for policy in policies(&encoder)? {
            let mut stream = StreamEncoder::new(Arc::clone(&encoder), policy.clone());
            for _ in 0..6 {
                let (mut text, mut ids, mut refused) = (String::new(), Vec::new(), false);
                for _ in 0..random.below(40) {
                    let part = if seed % 2 == 0 {
                        part(&mut random)
                    } else {
                        pipeline_cuts::text(&mut random, 20)
                    };
                    let known = (ids.clone(), stream.held().to_owned());
                    if stream.push(&part, &mut ids).is_err() {
                        assert_eq!((ids.clone(), stream.held().to_owned()), known);
                        refused = true;
                        continue;
                    }
                    text.push_str(&part);
                    assert!(text.ends_with(stream.held()));
                    assert_eq!(stream.count(), ids.len());
                }
                let whole = expected(&encoder, &policy, &text);
                match (whole, stream.flush(&mut ids)) {
                    (Ok(whole), Ok(())) => assert_eq!(ids, whole, "{text:?}"),
                    (Err(error), Err(answer)) => {
                        assert_eq!(answer.to_string(), error.to_string());
                        stream = StreamEncoder::new(Arc::clone(&encoder), policy.clone());
                    }
                    (whole, answer) => {
                        panic!("{answer:?} where {whole:?} was expected, {refused}")
                    }
                }
            }
        }
        Ok(())
    });
}
