//! Coverage-guided fuzzing: the library against slow executable definitions, on inputs by libFuzzer.
//!
//! An input is some choice bytes, then the texts (see [`input`]). A target panics if the library differs from its
//! definition.

mod batch;
mod chain;
mod decode;
mod encode;
mod files;
mod fit;
mod growth;
mod input;
mod json;
mod model;
mod models;
mod normalize;
mod oracle;
mod pattern;
mod pieces;
#[cfg(test)]
mod replay;
mod rows;
mod scores;
mod sentences;
mod session;
mod special;
#[path = "../../tests/rust/spellings.rs"]
mod spellings;
mod split;
mod steps;
mod stored;
#[allow(dead_code)]
#[path = "../../tests/rust/support.rs"]
mod support;
mod train;
mod words;

use input::Input;

/// The name of a target, and what runs it.
type Target = (&'static str, fn(Input));

/// All targets.
const TARGETS: [Target; 22] = [
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
    ("sentences", sentences::run),
    ("words", words::run),
    ("scores", scores::run),
    ("session", session::run),
    ("growth", growth::run),
    ("steps", steps::run),
    ("rows", rows::run),
];

/// Runs a target on an input.
///
/// # Panics
///
/// If there is no target of that name, or the library differs from its definition.
pub fn run(name: &str, input: &[u8]) {
    let names = TARGETS.map(|(name, _)| name).join(", ");
    let found = TARGETS.into_iter().find(|(known, _)| *known == name);
    let (_, run) = found.unwrap_or_else(|| panic!("no target {name:?}: expected one of {names}"));
    run(Input::new(input));
}
