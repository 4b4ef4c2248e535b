//! Counts the tokens of files, as `wc` counts words: `cargo run --release --example count_tokens -- FILE...`

#![expect(clippy::print_stdout, reason = "a program prints")]

use std::error::Error;
use std::{env, fs};

use bytemill::Encoding;

fn main() -> Result<(), Box<dyn Error>> {
    let encoding = Encoding::builtin("o200k_base")?;
    for name in env::args().skip(1) {
        let text = fs::read_to_string(&name)?;
        println!("{:>10}  {name}", encoding.count(&text)?);
    }
    Ok(())
}
