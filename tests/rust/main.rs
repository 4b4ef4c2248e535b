//! The library's integration tests, as one program.

mod adversarial;
mod agreement;
mod automata;
mod batches;
mod blocks;
mod chains;
mod charsmaps;
mod contracts;
mod counting;
mod cuts;
mod decoding;
mod encoders;
mod golden;
mod interruption;
mod json_lines;
mod layers;
mod listed_merges;
mod long_pieces;
mod model_cuts;
mod normal_forms;
#[cfg(target_os = "linux")]
mod page_ends;
mod pipeline_cuts;
mod pipelines;
mod published;
mod recognition;
mod sentencepiece_models;
mod sorted_counts;
mod special_tokens;
mod spellings;
mod splitting;
mod support;
mod threads;
mod training;
mod truncation;
mod unicode;
