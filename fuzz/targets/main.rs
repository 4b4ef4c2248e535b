//! One program for all targets, on libFuzzer; `BYTEMILL_FUZZ` names the target.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<String> =
    LazyLock::new(|| std::env::var("BYTEMILL_FUZZ").unwrap_or_default());

fuzz_target!(|input: &[u8]| bytemill_fuzz::run(&TARGET, input));
