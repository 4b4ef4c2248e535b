//! Leaf modules: memory, hashing, threads, 64-byte blocks, the machine's instructions.

pub(crate) mod block;
#[doc(hidden)]
pub mod hash;
pub(crate) mod join;
pub(crate) mod lazy;
pub(crate) mod loom;
pub(crate) mod memory;
#[cfg(any(feature = "python", all(loom, test)))]
pub(crate) mod once_pointer;
#[doc(hidden)]
pub mod parallel;
#[cfg(test)]
pub(crate) mod random;
#[doc(hidden)]
pub mod regex;
pub mod text;
pub mod tier;
pub(crate) mod vector;
