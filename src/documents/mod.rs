//! Documents within files, for training, counting and shards alike.

pub mod json_lines;
