//! The map of characters in a model's file: a double array that maps keys to values.
//!
//! ```text
//! u32 size of the array in bytes | the units of the array, u32 each | values, each ended by NUL
//! ```
//!
//! The unit of a prefix of keys holds the last byte of the prefix, and where the units of longer prefixes are: at the
//! exclusive or of its own place, its offset, and the next byte. If the prefix is a key, the unit at byte 0 holds the
//! offset of its value instead. The array is used as it is: it is checked once, so that no walk leaves it.

use crate::error::NormalizerError;

/// The maximum number of bytes of a value. Rules of Unicode make far fewer of a character; more would make texts of any size.
const MOST_VALUE: usize = 1 << 10;

/// A bit that only units of values have.
const IS_VALUE: u32 = 1 << 31;

/// Units among which children are: those that differ in the last byte of their place.
const FAMILY: usize = 256;

/// Prefixes of keys, and bytes of keys, for each byte of a map, at most. The maps with names have about ten.
const STEPS_PER_BYTE: usize = 64;

/// A checked map.
pub(super) struct Charsmap {
    units: Vec<u32>,
    values: Vec<u8>,
}

/// A place in the array: the exclusive or with a byte is the unit of a child.
#[derive(Clone, Copy)]
struct Node(usize);

impl Charsmap {
    /// Reads and checks a map.
    pub(super) fn parse(blob: &[u8]) -> Result<Self, NormalizerError> {
        let (size, rest) = blob
            .split_first_chunk::<4>()
            .ok_or(NormalizerError::Truncated(blob.len()))?;
        let size = u32::from_le_bytes(*size) as usize;
        let array = rest
            .get(..size)
            .ok_or(NormalizerError::Truncated(blob.len()))?;
        if size == 0 || !size.is_multiple_of(4 * FAMILY) {
            return Err(NormalizerError::ArraySize(size));
        }
        let values = rest[size..].to_vec();
        if values.last() != Some(&0) {
            return Err(NormalizerError::UnendedValue);
        }
        let (units, _) = array.as_chunks::<4>();
        let units: Vec<u32> = units.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
        let map = Self { units, values };
        let (bytes, most) = (map.longest_value(), MOST_VALUE);
        if bytes > most {
            return Err(NormalizerError::LongValue { bytes, most });
        }
        match (0..map.units.len()).find(|&place| !map.is_sound(place)) {
            Some(place) => Err(NormalizerError::BadUnit(place)),
            None => Ok(map),
        }
    }

    /// Returns whether no walk over a unit leaves the array or the values.
    fn is_sound(&self, place: usize) -> bool {
        let unit = self.units[place];
        if place == 0 && (label(unit) != 0 || has_value(unit) || offset(unit) == 0) {
            return false;
        }
        if unit & IS_VALUE != 0 {
            return ((unit & !IS_VALUE) as usize) < self.values.len();
        }
        let children = place ^ offset(unit);
        children | (FAMILY - 1) < self.units.len()
            && (!has_value(unit) || self.units[children] & IS_VALUE != 0)
    }

    /// Returns the value of the longest key that `rest` begins with, and the length of the key.
    pub(super) fn longest(&self, rest: &[u8]) -> Option<(&[u8], usize)> {
        let mut node = self.root();
        let mut found = None;
        for (length, &byte) in (1..).zip(rest) {
            let Some((child, is_key)) = self.child(node, byte) else {
                break;
            };
            if is_key {
                found = Some((child, length));
            }
            node = child;
        }
        let (node, length) = found?;
        Some((self.value(node), length))
    }

    /// Returns the value of the shortest key that `rest` begins with. No key holds a NUL.
    pub(super) fn shortest(&self, rest: &[u8]) -> Option<&[u8]> {
        let mut node = self.root();
        for &byte in rest.iter().take_while(|&&byte| byte != 0) {
            let (child, is_key) = self.child(node, byte)?;
            if is_key {
                return Some(self.value(child));
            }
            node = child;
        }
        None
    }

    /// The number of bytes of the longest value.
    pub(super) fn longest_value(&self) -> usize {
        let values = self.values.split(|&byte| byte == 0);
        values.map(<[u8]>::len).max().unwrap_or(0)
    }

    /// Returns whether all values are UTF-8.
    pub(super) fn makes_text(&self) -> bool {
        simdutf8::basic::from_utf8(&self.values).is_ok()
    }

    /// Returns whether no key holds a byte. False, too, if that cannot be seen from the labels alone.
    pub(super) fn lacks(&self, byte: u8) -> bool {
        self.units
            .iter()
            .all(|&unit| label(unit) != u32::from(byte))
    }

    /// Returns whether a value holds some bytes.
    pub(super) fn makes(&self, bytes: &[u8]) -> bool {
        memchr::memmem::find(&self.values, bytes).is_some()
    }

    fn root(&self) -> Node {
        Node(offset(self.units[0]))
    }

    /// Returns the child of a node for a byte, and whether it ends a key.
    fn child(&self, node: Node, byte: u8) -> Option<(Node, bool)> {
        let place = node.0 ^ usize::from(byte);
        let unit = self.units[place];
        (label(unit) == u32::from(byte)).then(|| (Node(place ^ offset(unit)), has_value(unit)))
    }

    /// Returns the value of a node that ends a key.
    fn value(&self, node: Node) -> &[u8] {
        let start = (self.units[node.0] & !IS_VALUE) as usize;
        let values = &self.values[start..];
        let end = memchr::memchr(0, values).expect("the last value is ended by NUL");
        &values[..end]
    }

    /// Calls `report` with beginnings of keys such that every key has one: a character, or the first bytes of what is
    /// none; of keys that begin with ASCII, two bytes or all.
    pub(super) fn for_each_start(&self, mut report: impl FnMut(&[u8])) {
        self.visit(self.root(), &mut Vec::new(), &mut report);
    }

    fn visit(&self, node: Node, key: &mut Vec<u8>, report: &mut impl FnMut(&[u8])) {
        for byte in 0..=u8::MAX {
            let Some((child, is_key)) = self.child(node, byte) else {
                continue;
            };
            key.push(byte);
            // More bytes make a difference while they may complete a character, or after ASCII.
            let wanted = match key[0] {
                0xF0..=0xF4 => 4,
                0xE0..=0xEF => 3,
                _ => 2,
            };
            let continues = key.len() == 1 || key[0].is_ascii() || byte & 0xC0 == 0x80;
            if is_key || key.len() == wanted || !continues {
                report(key);
            }
            if key.len() < wanted && continues {
                self.visit(child, key, report);
            }
            key.pop();
        }
    }

    /// Calls `report` with every key and its value. A map whose keys share so much that to visit them all takes more than
    /// `limit` steps, as in no map of rules, is refused.
    pub(super) fn for_each_rule(
        &self,
        limit: usize,
        mut report: impl FnMut(&[u8], &[u8]),
    ) -> Result<(), NormalizerError> {
        let mut left = vec![(0, 0, self.root())];
        let mut key = Vec::new();
        let mut steps = 0;
        while let Some((length, last, node)) = left.pop() {
            steps += 1;
            if steps > STEPS_PER_BYTE * limit {
                return Err(NormalizerError::TooManyRules);
            }
            if length > 0 {
                key.truncate(length - 1);
                key.push(last);
            }
            for byte in (0..=u8::MAX).rev() {
                if let Some((child, is_key)) = self.child(node, byte) {
                    left.push((length + 1, byte, child));
                    if is_key {
                        key.push(byte);
                        steps += key.len();
                        report(&key, self.value(child));
                        key.pop();
                    }
                }
            }
        }
        Ok(())
    }
}

/// Returns the byte of a unit; a number that is no byte if it holds a value.
fn label(unit: u32) -> u32 {
    unit & (IS_VALUE | 0xFF)
}

/// Returns whether the prefix of a unit is a key.
fn has_value(unit: u32) -> bool {
    unit >> 8 & 1 == 1
}

/// Returns the difference of the place of a unit to that of its child for byte 0. Of 31 bits.
fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & 0x200) >> 6)) as usize
}
