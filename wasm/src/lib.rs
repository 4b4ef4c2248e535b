//! The library for WebAssembly: [`engine`] has the answers, [`face`] the functions that JavaScript calls.

pub mod engine;
pub mod face;
pub mod packed;
pub mod units;
