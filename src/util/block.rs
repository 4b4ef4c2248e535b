//! A block: 64 bytes of text, which splitting classifies and the cache hashes at once, one bit for each byte.

/// Bytes in a block.
pub(crate) const BLOCK_LEN: usize = 64;

/// Bytes readable after a block: its last character may reach into them, and a reader of its pieces loads up to 32 bytes
/// from the start of any of them.
pub(crate) const OVERHANG: usize = 31;

/// The bytes of a block and its overhang.
pub(crate) type Block = [u8; BLOCK_LEN + OVERHANG];
