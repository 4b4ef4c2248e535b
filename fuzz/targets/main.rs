//! Coverage-guided fuzzing: the library against slow executable definitions, on inputs by libFuzzer.
//!
//! One program; `BYTEMILL_FUZZ` names the target. An input is some choice bytes, then the texts (see
//! [`input`]). A target panics if the library differs from its definition.
#![no_main]

mod batch;
mod chain;
mod decode;
mod encode;
mod files;
mod fit;
mod input;
mod json;
mod model;
mod models;
mod normalize;
mod oracle;
mod pattern;
mod pieces;
mod special;
#[path = "../../tests/rust/spellings.rs"]
mod spellings;
mod split;
mod stored;
#[allow(dead_code)]
#[path = "../../tests/rust/support.rs"]
mod support;
mod train;

use std::sync::OnceLock;

use input::Input;
use libfuzzer_sys::fuzz_target;

/// All targets by name.
const TARGETS: [(&str, fn(Input)); 15] = [
    ("encode", encode::run),
    ("split", split::run),
    ("pattern", pattern::run),
    ("decode", decode::run),
    ("train", train::run),
    ("special", special::run),
    ("fit", fit::run),
    ("json", json::run),
    ("batch", batch::run),
    ("normalize", normalize::run),
    ("chain", chain::run),
    ("model", model::run),
    ("pieces", pieces::run),
    ("files", files::run),
    ("stored", stored::run),
];

/// Returns the target named by `BYTEMILL_FUZZ`.
fn target() -> fn(Input) {
    static TARGET: OnceLock<fn(Input)> = OnceLock::new();
    *TARGET.get_or_init(|| {
        let wanted = std::env::var("BYTEMILL_FUZZ").unwrap_or_default();
        let names = TARGETS.map(|(name, _)| name).join(", ");
        let found = TARGETS.into_iter().find(|(name, _)| *name == wanted);
        let (_, run) = found.unwrap_or_else(|| {
            panic!("BYTEMILL_FUZZ is {wanted:?}: expected the name of a target, {names}")
        });
        run
    })
}

fuzz_target!(|bytes: &[u8]| target()(Input::new(bytes)));
