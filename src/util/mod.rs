//! Leaf modules: memory, hashing, threads, 64-byte blocks, the machine's instructions.

pub(crate) mod block;
pub(crate) mod hash;
pub(crate) mod join;
pub(crate) mod lazy;
pub(crate) mod memory;
#[doc(hidden)]
pub mod parallel;
pub mod text;
pub mod tier;
pub(crate) mod vector;
