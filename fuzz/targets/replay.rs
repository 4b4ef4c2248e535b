//! Replays the inputs that `minimise.py` has kept of what fuzzing found: together they reach all that it reached.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine as _};

use crate::{TARGETS, run};

/// Returns the kept inputs of a target.
pub(crate) fn kept(target: &str) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fuzz/minimised/{target}.txt"));
    let lines = fs::read_to_string(&path).expect("the kept inputs of the target");
    assert!(!lines.is_empty(), "{} has no inputs", path.display());
    let lines = lines.lines();
    lines
        .map(|line| BASE64_STANDARD.decode(line).expect("a line of base64"))
        .collect()
}

fn replay(target: &str) {
    let failed = (1..).zip(kept(target)).filter(|(_, input)| {
        let outcome = catch_unwind(|| run(target, input));
        outcome.is_err()
    });
    let failed: Vec<_> = failed.map(|(line, _)| line).collect();
    assert!(
        failed.is_empty(),
        "inputs fail in fuzz/minimised/{target}.txt, lines {failed:?}"
    );
}

macro_rules! replays {
    ($($target:ident)*) => {
        $(#[test] fn $target() { replay(stringify!($target)); })*

        #[test]
        fn no_target_is_left_out() {
            assert_eq!(TARGETS.map(|(name, _)| name).as_slice(), [$(stringify!($target)),*]);
        }
    };
}

replays! { encode split pattern decode train special fit json batch normalize chain model pieces files stored sentences words scores session growth steps rows }
