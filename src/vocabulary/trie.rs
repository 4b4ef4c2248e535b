//! A set of byte strings, to find the longest one that a text begins with: a trie in a double array.
//!
//! A node has a **base**; the child by a byte is the cell at `base ^ byte`, if that cell says that it is reached by this
//! byte. No two nodes have the same base, so a byte tells the parent. A look-up reads eight bytes of memory for each byte
//! of the text.

use crate::error::VocabularyError;
use crate::util::memory::{self, Growable, reserve};

/// Cells whose indices differ in the last eight bits only: those that the children of a node are among.
const BLOCK: usize = 1 << 8;

/// Bits of the byte in a cell, and the byte of one that is no node.
const BYTE_BITS: u32 = 9;
const NO_BYTE: u32 = (1 << BYTE_BITS) - 1;

/// The base of a node without children, in a block without nodes.
const LEAF: u32 = 0;

/// Blocks with free cells that a node is tried in.
const OPEN: usize = 16;

/// A block is no longer tried after this many nodes found no place in it.
const FAILURES: u32 = 64;

#[derive(Clone, Copy, Debug)]
struct Cell {
    base: u32,
    /// The byte by which the node is reached from its parent, and above it the number of the string that ends here, from 1 on;
    /// 0 if none does. Values have no cells of their own, as most would be empty.
    byte_and_end: u32,
}

impl Cell {
    const NONE: Self = Self {
        base: LEAF,
        byte_and_end: NO_BYTE,
    };

    #[inline]
    fn byte(self) -> u32 {
        self.byte_and_end & NO_BYTE
    }

    /// The number of the string that ends here, from 1 on, or 0.
    #[inline]
    fn end(self) -> usize {
        (self.byte_and_end >> BYTE_BITS) as usize
    }
}

/// Several sets of byte strings, each string with a value. See the module.
#[derive(Debug)]
pub(crate) struct Trie<V> {
    cells: Vec<Cell>,
    /// The value of each string, by number.
    values: Vec<V>,
    /// The base of the first node of each set.
    roots: Vec<u32>,
}

impl<V: Copy> Trie<V> {
    /// Builds a trie of sets of strings, none of them empty and none twice in a set, in any order.
    ///
    /// # Errors
    /// [`VocabularyError::TooLarge`] if there are too many nodes.
    ///
    /// # Complexity
    /// O(n log n) comparisons for n strings, then O(total bytes).
    pub(crate) fn new(sets: Vec<Vec<(&[u8], V)>>) -> Result<Self, VocabularyError> {
        let mut building = Building::new();
        let mut roots = Vec::with_capacity(sets.len());
        for mut strings in sets {
            strings.sort_unstable_by_key(|(string, _)| *string);
            roots.push(building.add(&strings)?);
        }
        let Building { cells, values, .. } = building;
        Ok(Self {
            cells,
            values,
            roots,
        })
    }

    /// Returns the length of the longest string of a set that `text` begins with, and its value.
    ///
    /// # Complexity
    /// O(length of the longest string of the set).
    #[inline]
    pub(crate) fn longest(&self, set: usize, text: &[u8]) -> Option<(usize, V)> {
        let mut base = self.roots[set];
        let mut found = None;
        for (offset, &byte) in text.iter().enumerate() {
            let cell = self.cells[(base ^ u32::from(byte)) as usize];
            if cell.byte() != u32::from(byte) {
                break;
            }
            if cell.end() != 0 {
                found = Some((offset + 1, cell.end()));
            }
            base = cell.base;
        }
        found.map(|(length, end)| (length, self.values[end - 1]))
    }

    /// Passes the length of each string of a set that `text` begins with to `each`, and its value, the shortest first.
    ///
    /// # Complexity
    /// O(length of the longest string of the set).
    #[inline]
    pub(crate) fn prefixes(&self, set: usize, text: &[u8], mut each: impl FnMut(usize, V)) {
        let mut base = self.roots[set];
        for (offset, &byte) in text.iter().enumerate() {
            let cell = self.cells[(base ^ u32::from(byte)) as usize];
            if cell.byte() != u32::from(byte) {
                break;
            }
            if cell.end() != 0 {
                each(offset + 1, self.values[cell.end() - 1]);
            }
            base = cell.base;
        }
    }

    /// Number of bytes that it occupies.
    pub(crate) fn memory(&self) -> usize {
        size_of::<Cell>() * self.cells.capacity() + size_of::<V>() * self.values.capacity()
    }
}

/// The free cells and bases of a block, a bit for each.
#[derive(Clone, Copy)]
struct Free {
    cells: [u64; BLOCK / 64],
    bases: [u64; BLOCK / 64],
    failures: u32,
}

impl Free {
    const ALL: Self = Self {
        cells: [u64::MAX; BLOCK / 64],
        bases: [u64::MAX; BLOCK / 64],
        failures: 0,
    };

    fn has(bits: &[u64; BLOCK / 64], index: u8) -> bool {
        bits[usize::from(index / 64)] >> (index % 64) & 1 != 0
    }

    fn take(bits: &mut [u64; BLOCK / 64], index: u8) {
        bits[usize::from(index / 64)] &= !(1 << (index % 64));
    }

    /// Returns a free base in this block all of whose children are free.
    fn base(&self, bytes: &[u8]) -> Option<u8> {
        let fits = |base: u8| bytes.iter().all(|byte| Self::has(&self.cells, base ^ byte));
        for (word, &bits) in (0_u8..).zip(&self.cells) {
            let mut bits = bits;
            while bits != 0 {
                let bit = u8::try_from(bits.trailing_zeros()).expect("it is below 64");
                bits &= bits - 1;
                let base = (64 * word + bit) ^ bytes[0];
                if Self::has(&self.bases, base) && fits(base) {
                    return Some(base);
                }
            }
        }
        None
    }
}

/// A trie that grows.
struct Building<V> {
    cells: Vec<Cell>,
    values: Vec<V>,
    /// The blocks with free cells that are tried, by number, from the oldest to the newest.
    open: Vec<(usize, Free)>,
}

impl<V: Copy> Building<V> {
    fn new() -> Self {
        let mut building = Self {
            cells: Vec::new(),
            values: Vec::new(),
            open: Vec::new(),
        };
        building.grow();
        building
    }

    /// Adds a block of cells that are no nodes.
    fn grow(&mut self) {
        memory::extend(&mut self.cells, [Cell::NONE; BLOCK]);
        reserve::pass();
    }

    /// Adds strings, which are sorted, and returns the base of their first node.
    fn add(&mut self, strings: &[(&[u8], V)]) -> Result<u32, VocabularyError> {
        let mut root = LEAF;
        // The cell of a node, none for the first; its strings, all longer than the number of bytes that lead to it; that number.
        let mut nodes = vec![(None, strings, 0)];
        let mut next = 0;
        let mut bytes = Vec::with_capacity(BLOCK);
        while let Some(&(cell, strings, depth)) = nodes.get(next) {
            next += 1;
            if strings.is_empty() {
                continue;
            }
            bytes.clear();
            let groups = strings.chunk_by(|one, other| one.0[depth] == other.0[depth]);
            bytes.extend(groups.clone().map(|group| group[0].0[depth]));
            let base = self.place(&bytes)?;
            match cell {
                Some(cell) => self.cells[cell as usize].base = base,
                None => root = base,
            }
            for (group, &byte) in groups.zip(&bytes) {
                let at = base ^ u32::from(byte);
                let cell = &mut self.cells[at as usize];
                cell.byte_and_end = byte.into();
                let mut longer = group;
                if let [(string, value), rest @ ..] = group
                    && string.len() == depth + 1
                {
                    self.values.with_room(1).push(*value);
                    let number = u32::try_from(self.values.len()).ok();
                    let number = number.filter(|number| number.leading_zeros() >= BYTE_BITS);
                    let number = number.ok_or(VocabularyError::TooLarge)?;
                    cell.byte_and_end |= number << BYTE_BITS;
                    longer = rest;
                }
                nodes.with_room(1).push((Some(at), longer, depth + 1));
            }
            // Those that are done make room: a node for each byte of all strings would be ten times as much.
            if next > 1 << 12 {
                nodes.drain(..next);
                next = 0;
            }
        }
        Ok(root)
    }

    /// Returns a base for a node with children by these bytes, whose cells are taken.
    fn place(&mut self, bytes: &[u8]) -> Result<u32, VocabularyError> {
        let found = self
            .open
            .iter_mut()
            .enumerate()
            .find_map(|(index, (_, free))| {
                let base = free.base(bytes);
                free.failures += u32::from(base.is_none());
                base.map(|base| (index, base))
            });
        let (index, base) = if let Some(found) = found {
            found
        } else {
            self.open.retain(|(_, free)| free.failures < FAILURES);
            if self.open.len() == OPEN {
                self.open.remove(0);
            }
            let block = self.cells.len() / BLOCK;
            if u32::try_from(self.cells.len() + BLOCK).is_err() {
                return Err(VocabularyError::TooLarge);
            }
            self.grow();
            self.open.push((block, Free::ALL));
            (self.open.len() - 1, 0)
        };
        let (block, free) = &mut self.open[index];
        Free::take(&mut free.bases, base);
        for byte in bytes {
            Free::take(&mut free.cells, base ^ byte);
        }
        let first = u32::try_from(*block * BLOCK).expect("there are fewer cells");
        if free.cells == [0; BLOCK / 64] {
            self.open.remove(index);
        }
        Ok(first + u32::from(base))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::TokenId;

    /// The longest string that a text begins with, by trying all.
    fn longest(strings: &[(Vec<u8>, TokenId)], text: &[u8]) -> Option<(usize, TokenId)> {
        let begins = strings
            .iter()
            .filter(|(string, _)| text.starts_with(string));
        begins.map(|(string, token)| (string.len(), *token)).max()
    }

    /// A generator of numbers, the same in every run.
    fn numbers() -> impl FnMut(u16) -> u8 {
        let mut state = 1_u64;
        move |below| {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            u8::try_from((state >> 33) % u64::from(below)).expect("it is below 256 at most")
        }
    }

    fn trie(sets: &[Vec<(Vec<u8>, TokenId)>]) -> Trie<TokenId> {
        fn borrowed(set: &[(Vec<u8>, TokenId)]) -> Vec<(&[u8], TokenId)> {
            set.iter()
                .map(|(string, token)| (&**string, *token))
                .collect()
        }
        Trie::new(sets.iter().map(|set| borrowed(set)).collect()).expect("it is small")
    }

    #[test]
    fn the_longest_string_is_found() {
        let mut number = numbers();
        for alphabet in [1, 2, 3, 256] {
            for strings in [0, 1, 2, 50, 2000] {
                let mut set = || {
                    let mut seen = std::collections::HashSet::new();
                    let mut set = Vec::new();
                    for token in 0..strings {
                        let length = 1 + number(6);
                        let string: Vec<u8> = (0..length).map(|_| number(alphabet)).collect();
                        if seen.insert(string.clone()) {
                            set.push((string, token));
                        }
                    }
                    set
                };
                let sets = [set(), set()];
                let trie = trie(&sets);
                for _ in 0..500 {
                    let text: Vec<u8> = (0..number(9)).map(|_| number(alphabet)).collect();
                    for (index, set) in sets.iter().enumerate() {
                        assert_eq!(
                            trie.longest(index, &text),
                            longest(set, &text),
                            "{text:?} of {set:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn every_string_is_found_and_no_other_byte_goes_on() {
        let strings: Vec<(Vec<u8>, TokenId)> = (0..=u8::MAX)
            .flat_map(|first| {
                (0..=u8::MAX)
                    .step_by(3)
                    .map(move |second| vec![first, second, first ^ second])
            })
            .zip(0..)
            .collect();
        let trie = trie(std::slice::from_ref(&strings));
        for (string, token) in &strings {
            assert_eq!(trie.longest(0, string), Some((3, *token)));
            for byte in 0..=u8::MAX {
                let mut text = string.clone();
                text.push(byte);
                assert_eq!(trie.longest(0, &text), Some((3, *token)));
                text[2] = byte;
                let same = byte == string[2];
                assert_eq!(trie.longest(0, &text), same.then_some((3, *token)));
            }
        }
    }
}
