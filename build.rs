//! Builds the images of the published vocabularies from their merge tables; the library includes them.
//!
//! The images are made by the library's own modules, compiled a second time here (about 2 s) instead of in a
//! crate of their own: so there is one crate to publish and to audit.

#![expect(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "the library uses the rest of these modules"
)]

#[path = "src/checkpoint.rs"]
mod checkpoint;
#[path = "src/error.rs"]
mod error;
#[path = "src/builtin/merges.rs"]
mod merges;
#[path = "src/builtin/tables.rs"]
mod tables;
#[path = "src/token.rs"]
mod token;
#[path = "src/unicode"]
mod unicode {
    #[path = "character.rs"]
    pub(crate) mod character;
}
#[path = "src/util"]
mod util {
    #[path = "hash.rs"]
    pub(crate) mod hash;
    #[path = "join.rs"]
    pub(crate) mod join;
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

/// Returns whether the target has an instruction set of `src/util/vector`.
fn has_vectors() -> bool {
    let of_target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    match of_target("ARCH").as_str() {
        "x86_64" | "aarch64" => true,
        "wasm32" => of_target("FEATURE")
            .split(',')
            .any(|name| name == "simd128"),
        _ => false,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    if has_vectors() {
        println!("cargo::rustc-cfg=vectors");
    }
    // All other inputs are compiled into this program.
    println!("cargo::rerun-if-changed=build.rs");
    let here = if cfg!(target_endian = "big") {
        "big"
    } else {
        "little"
    };
    let target = env::var("CARGO_CFG_TARGET_ENDIAN")?;
    if target != here {
        let message =
            "tables are built in the byte order of this machine: expected a target of the same";
        return Err(format!("{message}, {here}, got {target}").into());
    }
    let directory = env::var("OUT_DIR")?;
    for (name, segments) in tables::ALL {
        let path = Path::new(&directory).join(format!("{name}.image"));
        fs::write(path, merges::vocabulary(segments)?.image())?;
    }
    Ok(())
}
