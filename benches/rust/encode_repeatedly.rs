//! Encodes a file with o200k some times and prints the number of ids: what `harness.instructions` counts instructions of.
//!
//! `encode_repeatedly FILE BYTES TIMES (first|replay)`: the first `BYTES` of the file; for `first`, the cache is cleared each
//! time before.

use std::error::Error;
use std::io::Write;

use bytemill::builtin::Builtin;
use bytemill::encode::Encoder;
use bytemill::encode::special::SpecialTokens;
use bytemill::split::Splitter;

#[path = "../../tests/rust/support.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod support;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, bytes, times, state] = &arguments[..] else {
        return Err("expected FILE BYTES TIMES (first|replay)".into());
    };
    let text = std::fs::read_to_string(file)?;
    let text = &text[..(0..=bytes.parse()?)
        .rfind(|&end| text.is_char_boundary(end))
        .unwrap_or(0)];
    let encoder = Encoder::new(
        Builtin::O200k.vocabulary()?,
        SpecialTokens::new(Vec::new())?,
        Splitter::new(support::O200K)?,
    );
    let mut ids = Vec::new();
    for _ in 0..times.parse::<usize>()? {
        if state == "first" {
            encoder.clear_cache();
        }
        ids.clear();
        encoder.encode_ordinary(text, &mut ids)?;
    }
    writeln!(std::io::stdout(), "{} bytes, {} ids", text.len(), ids.len())?;
    Ok(())
}
