//! Names in `bytemill._core`.

use pyo3::prelude::*;

/// The compiled core of bytemill. Private: `bytemill.Encoding` is the public class.
#[pymodule(gil_used = false)]
mod _core {
    use pyo3::prelude::*;

    #[cfg(feature = "failing-allocator")]
    use crate::python::failing;
    use crate::python::{
        arrow, counting, documents, encoding, interpreter, normalizer, sentencepiece, splitter,
        tokenizer_json, training,
    };

    #[pymodule_export]
    use arrow::EncodedColumn;
    #[pymodule_export]
    use counting::PieceCounts;
    #[pymodule_export]
    use documents::{find_invalid_utf8, json_fields, last_cut, line_breaks, line_offsets};
    #[pymodule_export]
    use encoding::{
        CoreBpe, CorePrefixCache, CoreSession, CoreStreamEncoder, CoreTextStream,
        published_encodings, set_process_cache_limit,
    };
    #[cfg(feature = "failing-allocator")]
    #[pymodule_export]
    use failing::{allocated_bytes, fail_allocation, stop_failing, trace_allocations};
    #[pymodule_export]
    use normalizer::{
        CoreChain, CoreNormalizer, charsmap_rules, charsmap_with_name, compile_charsmap,
        compile_charsmap_tsv,
    };
    #[pymodule_export]
    use sentencepiece::{
        SentencePieceModel, encode_message, encode_pieces, read_normalizer_spec,
        sentencepiece_options, write_normalizer_spec, write_sentencepiece_text,
    };
    #[pymodule_export]
    use splitter::{CoreSplitter, from_oniguruma, matches_everything};
    #[pymodule_export]
    use tokenizer_json::read_tokenizer_json;
    #[pymodule_export]
    use training::{LearnedMerges, SentenceCounts, learn_merges};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        interpreter::claim()?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("UNICODE_VERSION", crate::unicode::classify::UNICODE_VERSION)?;
        module.add("TIER", crate::util::tier::Tier::current().name())?;
        // Benchmarks run on release builds only.
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
