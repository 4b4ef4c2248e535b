//! Characters: their classes and their encodings.

mod class;
mod classes;
pub mod classify;
pub mod utf8;
