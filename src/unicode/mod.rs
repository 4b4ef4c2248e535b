//! Characters: their classes and their encodings.

mod class;
mod classes;
#[doc(hidden)]
pub mod classify;
#[doc(hidden)]
pub mod script;
mod scripts;
#[doc(hidden)]
pub mod utf8;
