//! Documents within files, for training, counting and shards alike.

pub mod cut;
pub mod json_lines;
