//! The published vocabularies as merge tables, from which their images are made when the library is built.
//!
//! `README.md` in this directory describes their origin, their format and how to derive them again.

use super::merges::Segment;

const R50K: Segment<'static> = (include_bytes!("r50k.merges"), 256);
const P50K: Segment<'static> = (include_bytes!("p50k.merges"), 50_257);
const CL100K: Segment<'static> = (include_bytes!("cl100k.merges"), 256);
const O200K: Segment<'static> = (include_bytes!("o200k.merges"), 256);

/// The vocabularies by name, each as the tables whose merges it consists of.
pub(crate) const ALL: [(&str, &[Segment<'static>]); 4] = [
    ("r50k", &[R50K]),
    ("p50k", &[R50K, P50K]),
    ("cl100k", &[CL100K]),
    ("o200k", &[O200K]),
];
