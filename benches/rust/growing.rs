//! Text that grows: behind 4 MB of text, and text that arrives in parts.

use std::sync::Arc;
use std::time::Duration;

use bytemill::builtin::Builtin;
use bytemill::encode::Encoder;
use bytemill::encode::session::Session;
use bytemill::encode::special::{Allowed, Disallowed, Policy, SpecialTokens};
use bytemill::encode::stream::StreamEncoder;
use bytemill::split::Splitter;
use bytemill::token::TokenId;
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};

use crate::support::O200K;
use crate::texts::KINDS;
use crate::{Outcome, TEXT_LENGTH, group};

/// Bytes of the text that is there.
const KNOWN: usize = 4 << 20;

/// Bytes of what is appended.
const ADDED: usize = 256;

const PARTS: [usize; 3] = [16, 256, 4096];

fn ids(encoder: &Encoder, text: &str) -> Result<Vec<TokenId>, Box<dyn std::error::Error>> {
    let mut ids = Vec::new();
    encoder.encode_ordinary(text, &mut ids)?;
    Ok(ids)
}

/// Returns the first boundary of characters at an offset or behind it.
fn boundary(text: &str, offset: usize) -> usize {
    let mut behind = offset..text.len();
    let first = behind.find(|&place| text.is_char_boundary(place));
    first.unwrap_or(text.len())
}

/// Cuts a text into parts of some bytes, and a few more where a character would be cut.
fn parts(text: &str, size: usize) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let (part, behind) = rest.split_at(boundary(rest, size));
        parts.push(part);
        rest = behind;
    }
    parts
}

/// Appends to a session, and pushes to a stream.
pub(crate) fn grow(criterion: &mut Criterion) -> Outcome {
    let mut group = group(criterion, "grow", Duration::from_millis(900));
    let special_tokens = SpecialTokens::default();
    let vocabulary = Builtin::O200k.vocabulary()?;
    let encoder = Encoder::new(vocabulary, special_tokens, Splitter::new(O200K)?);
    let encoder = Arc::new(encoder);
    let policy = || Policy {
        allowed: Allowed::Nothing,
        disallowed: Disallowed::Nothing,
    };
    for (kind, text) in KINDS {
        let text = text(KNOWN + TEXT_LENGTH);
        let (known, more) = text.split_at(boundary(&text, KNOWN));
        let added = parts(more, ADDED);
        let mut session = Session::new(Arc::clone(&encoder), policy());
        session.append(known)?;
        let mut grown = session.clone();
        let mut expected = String::from(known);
        for part in &added[..64] {
            grown.append(part)?;
            expected.push_str(part);
        }
        let mut made = Vec::new();
        grown.push_ids(0..grown.count(), &mut made);
        if made != ids(&encoder, &expected)? {
            return Err(format!("wrong ids of a session of {kind}").into());
        }
        // 64 calls are timed at once, each behind the text of the last.
        group.throughput(Throughput::Elements(64));
        group.bench_function(BenchmarkId::new("append", kind), |bencher| {
            bencher.iter_batched_ref(
                || session.clone(),
                |session| {
                    added[..64]
                        .iter()
                        .try_for_each(|part| session.append(part).map(drop))
                },
                BatchSize::SmallInput,
            );
        });
        for size in PARTS {
            let parts = parts(more, size);
            let push = |out: &mut Vec<TokenId>| {
                let mut stream = StreamEncoder::new(Arc::clone(&encoder), policy());
                parts.iter().try_for_each(|part| stream.push(part, out))?;
                stream.flush(out)
            };
            let mut made = Vec::new();
            push(&mut made)?;
            if made != ids(&encoder, more)? {
                return Err(format!("wrong ids of a stream of {kind}").into());
            }
            group.throughput(Throughput::Bytes(more.len() as u64));
            group.bench_function(BenchmarkId::new(format!("push {size}"), kind), |bencher| {
                bencher.iter(|| {
                    made.clear();
                    push(&mut made)
                });
            });
        }
    }
    group.finish();
    Ok(())
}
