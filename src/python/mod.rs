//! The compiled module `bytemill._core`: converts arguments, calls the library, converts results. The only files that
//! name Python.

mod arrays;
mod arrow;
mod buffer;
mod build;
mod characters;
mod core_bpe;
mod counting;
mod cutting;
mod decode;
mod error;
mod ids;
mod interned;
mod jsonl;
mod listed;
mod look_up;
mod many;
mod one;
mod places;
mod run;
mod spans;
mod special;
mod splitter;
mod string;
mod text;
mod training;

use pyo3::prelude::*;

/// The compiled core of bytemill. Private: `bytemill.Encoding` is the public face.
#[pymodule(gil_used = false)]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::arrow::EncodedColumn;
    #[pymodule_export]
    use super::core_bpe::CoreBpe;
    #[pymodule_export]
    use super::counting::PieceCounts;
    #[pymodule_export]
    use super::jsonl::{find_invalid_utf8, json_fields, last_cut, line_breaks, line_offsets};
    #[pymodule_export]
    use super::splitter::CoreSplitter;
    #[pymodule_export]
    use super::training::{LearnedMerges, train_merges};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("UNICODE_VERSION", crate::unicode::classify::UNICODE_VERSION)?;
        module.add("TIER", crate::util::tier::Tier::current().name())?;
        // Benchmarks refuse anything but a release build.
        module.add(
            "BUILD_PROFILE",
            if cfg!(debug_assertions) {
                "debug"
            } else {
                "release"
            },
        )
    }
}
