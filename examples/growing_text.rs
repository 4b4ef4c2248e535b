//! Counts the tokens of a text that grows line by line, each time in the time of the new line:
//! `cargo run --release --example growing_text < FILE`

#![expect(clippy::print_stdout, reason = "a program prints")]

use std::error::Error;
use std::io;

use bytemill::Encoding;

fn main() -> Result<(), Box<dyn Error>> {
    let mut session = Encoding::builtin("o200k_base")?.session();
    for line in io::stdin().lines() {
        session.append(&line?)?;
        session.append("\n")?;
        println!("{}", session.count());
    }
    Ok(())
}
