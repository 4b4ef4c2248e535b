//! The library for WebAssembly: [`engine`] has the answers, [`files`] what is opened, [`face`] the functions that JavaScript calls.

pub mod engine;
pub mod explained;
pub mod face;
pub mod files;
pub mod packed;
pub mod refusal;
pub mod units;
