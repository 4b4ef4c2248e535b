//! Strings and lists of the interpreter, in two forms with the same names.
//!
//! [`version`] uses the structures of the exact Python version that the module is compiled for. `stable` uses the stable
//! ABI, which is the same in every version from 3.11 on, and does without these structures: its wheel is for versions
//! that have no wheel of their own. Everything else in this module is the same for both.

#[cfg(feature = "stable-abi")]
mod stable;
#[cfg(not(feature = "stable-abi"))]
mod version;

#[cfg(feature = "stable-abi")]
pub(super) use stable::{characters, item, new_string, set_item, transcoded};
#[cfg(not(feature = "stable-abi"))]
pub(super) use version::{characters, item, new_string, set_item, transcoded};
