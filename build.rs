//! Makes the images of the published vocabularies, which the library holds, of their merge tables.
//!
//! Vocabularies are made here as they are in the library, by the same modules.

#![expect(dead_code, unreachable_pub, reason = "these modules are the library's")]

#[path = "src/checkpoint.rs"]
mod checkpoint;
#[path = "src/error.rs"]
mod error;
#[path = "src/builtin/merges.rs"]
mod merges;
#[path = "src/token.rs"]
mod token;
#[path = "src/util"]
mod util {
    #[path = "hash.rs"]
    pub(crate) mod hash;
    #[path = "lazy.rs"]
    pub(crate) mod lazy;
    #[path = "memory/mod.rs"]
    pub(crate) mod memory;
    #[path = "tier.rs"]
    pub(crate) mod tier;
}
#[path = "src/vocabulary/mod.rs"]
mod vocabulary;

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    // Whatever else this depends on is compiled into it.
    println!("cargo::rerun-if-changed=build.rs");
    let here = if cfg!(target_endian = "big") {
        "big"
    } else {
        "little"
    };
    let target = env::var("CARGO_CFG_TARGET_ENDIAN")?;
    if target != here {
        let message =
            "tables are made here, in this machine's byte order: expected a target of the same";
        return Err(format!("{message}, {here}, got {target}").into());
    }
    let directory = env::var("OUT_DIR")?;
    for (name, segments) in merges::ALL {
        let path = Path::new(&directory).join(format!("{name}.image"));
        fs::write(path, merges::vocabulary(segments)?.image())?;
    }
    Ok(())
}
