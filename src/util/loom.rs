//! The types by which lock-free code synchronises: the standard library's, and loom's in models of that code, where a
//! test runs in every order that the memory model allows.

#[cfg(all(loom, test))]
pub(crate) use ::loom::{hint, sync, thread};
#[cfg(not(all(loom, test)))]
pub(crate) use std::{hint, sync, thread};

/// How often code spins, which is left out in models: each round would double the orders.
pub(crate) const fn spins(count: usize) -> usize {
    if cfg!(all(loom, test)) { 0 } else { count }
}
