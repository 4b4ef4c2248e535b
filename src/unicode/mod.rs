//! Characters: their classes and their encodings.

mod classes;
pub mod classify;
pub mod utf8;
