//! The library's integration tests, as one program.

mod adversarial;
mod agreement;
mod contracts;
mod counting;
mod cuts;
mod decoding;
mod encoders;
mod fit;
mod golden;
mod interruption;
mod json_lines;
mod layers;
mod long_pieces;
#[cfg(target_os = "linux")]
mod page_ends;
mod published;
mod ragged;
mod recognition;
mod special_tokens;
mod spellings;
mod spilling;
mod splitting;
mod support;
mod threads;
mod training;
mod unicode;
mod windows;
