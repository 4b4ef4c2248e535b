//! Trains a tokenizer on a file and shows how it splits a text into tokens:
//! `cargo run --release --example train -- FILE VOCAB_SIZE TEXT`

#![expect(clippy::print_stdout, reason = "a program prints")]

use std::error::Error;
use std::{env, fs};

use bytemill::{CL100K_PATTERN, Encoding};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [name, vocab_size, text] = arguments.as_slice() else {
        return Err("usage: train FILE VOCAB_SIZE TEXT".into());
    };
    let corpus = fs::read_to_string(name)?;
    let encoding = Encoding::train([corpus.as_str()], vocab_size.parse()?, CL100K_PATTERN)?;
    for id in encoding.encode(text)? {
        println!("{id:>6}  {:?}", encoding.decode(&[id])?);
    }
    Ok(())
}
