//! Characters: their classes and their encodings.

#[doc(hidden)]
pub(crate) mod character;
mod class;
mod classes;
pub mod classify;
mod properties;
#[doc(hidden)]
pub mod property;
#[doc(hidden)]
mod scripts;
pub(crate) mod set;
#[doc(hidden)]
pub mod utf8;
