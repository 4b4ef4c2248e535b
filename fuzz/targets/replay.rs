//! Replays the inputs that `minimise.py` has kept of what fuzzing found: together they reach all that it reached.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine as _};

use crate::{TARGETS, run};

fn replay(target: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fuzz/minimised/{target}.txt"));
    let lines = fs::read_to_string(&path).expect("the kept inputs of the target");
    assert!(!lines.is_empty(), "{} has no inputs", path.display());
    let failed = lines.lines().enumerate().filter(|(_, line)| {
        let input = BASE64_STANDARD.decode(line).expect("a line of base64");
        catch_unwind(|| run(target, &input)).is_err()
    });
    let failed: Vec<_> = failed.map(|(index, _)| index + 1).collect();
    assert!(
        failed.is_empty(),
        "inputs fail in {}, lines {failed:?}",
        path.display()
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

replays! { encode split pattern decode train special fit json batch normalize chain model pieces files stored }
