//! Documents within files, for training, counting and shards alike.

#[doc(hidden)]
pub mod cut;
pub mod json_lines;
