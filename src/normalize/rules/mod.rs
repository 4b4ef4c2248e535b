//! Rules of normalization: where maps of characters come from.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::charsmap::Charsmap;
use crate::error::NormalizerError;
use crate::util::memory;

/// Returns the map of the rules with a name, as every SentencePiece has them: empty for `identity`, nothing for a name
/// that is none. `tools/generate_charsmaps.rs` derives them from Unicode 17.
pub fn charsmap(name: &str) -> Option<&'static [u8]> {
    match name {
        "identity" => Some(&[]),
        "nfkc" => Some(include_bytes!("nfkc.charsmap")),
        "nmt_nfkc" => Some(include_bytes!("nmt_nfkc.charsmap")),
        "nfkc_cf" => Some(include_bytes!("nfkc_cf.charsmap")),
        "nmt_nfkc_cf" => Some(include_bytes!("nmt_nfkc_cf.charsmap")),
        _ => None,
    }
}

/// Keys and their values: the longest key that a text begins with becomes its value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules(BTreeMap<String, String>);

impl Rules {
    /// Creates rules from keys and values.
    ///
    /// # Errors
    /// If a key is empty, occurs twice or is its own value, or something holds NUL.
    pub fn from_pairs(
        pairs: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, NormalizerError> {
        let mut rules = Self::default();
        for (number, (key, value)) in (1..).zip(pairs) {
            if rules.add(key, value, number)?.is_some() {
                return Err(NormalizerError::BadRule(number, "a key that occurs once"));
            }
        }
        Ok(rules)
    }

    /// Reads rules as the option `normalization_rule_tsv` names them: a line for each, code points in hexadecimal
    /// digits, with or without `U+`, separated by spaces; a tab; those of the value. Of lines with the same key the
    /// last one counts.
    ///
    /// # Errors
    /// If a line is no rule, or there is none.
    pub fn from_tsv(text: &str) -> Result<Self, NormalizerError> {
        let mut rules = Self::default();
        for (number, line) in (1..).zip(text.strip_suffix('\n').unwrap_or(text).split('\n')) {
            let mut fields = line.split('\t');
            let mut field = || characters(fields.next().unwrap_or(""), number);
            let (key, value) = (field()?, field()?);
            rules.add(key, value, number)?;
        }
        Ok(rules)
    }

    fn add(
        &mut self,
        key: String,
        value: String,
        number: usize,
    ) -> Result<Option<String>, NormalizerError> {
        let expected = if key.is_empty() {
            "code points before the tab"
        } else if key.contains('\0') || value.contains('\0') {
            "no NUL"
        } else if key == value {
            "a value other than the key"
        } else {
            return Ok(self.0.insert(key, value));
        };
        Err(NormalizerError::BadRule(number, expected))
    }

    /// Returns the rules in the map of a model's file, values and keys that are not UTF-8 with U+FFFD.
    ///
    /// # Errors
    /// If it is no map.
    pub fn from_charsmap(blob: &[u8]) -> Result<Self, NormalizerError> {
        let mut rules = Self::default();
        if blob.is_empty() {
            return Ok(rules);
        }
        let charsmap = Charsmap::parse(blob)?;
        charsmap.for_each_rule(blob.len(), |key, value| {
            let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
            rules.0.insert(text(key), text(value));
        })?;
        Ok(rules)
    }

    /// Returns the map that a model's file holds: for the same rules the bytes that SentencePiece 0.2.3 writes.
    ///
    /// # Errors
    /// If there are too many rules for a map.
    pub fn to_charsmap(&self) -> Result<Vec<u8>, NormalizerError> {
        if self.0.is_empty() {
            return Ok(Vec::new());
        }
        let mut places: BTreeMap<&str, u32> = self.0.values().map(|value| (&**value, 0)).collect();
        let mut values = Vec::new();
        for (value, place) in &mut places {
            *place = u32::try_from(values.len())
                .ok()
                .filter(|place| place >> 31 == 0)
                .ok_or(NormalizerError::TooManyRules)?;
            values.extend_from_slice(value.as_bytes());
            values.push(0);
        }
        let keys: Vec<(&[u8], u32)> = self
            .0
            .iter()
            .map(|(key, value)| (key.as_bytes(), places[&**value]))
            .collect();
        let units = build(&keys).ok_or(NormalizerError::TooManyRules)?;
        let size = u32::try_from(4 * units.len()).map_err(|_| NormalizerError::TooManyRules)?;
        let mut blob = size.to_le_bytes().to_vec();
        blob.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
        blob.append(&mut values);
        Ok(blob)
    }

    /// Returns the number of rules.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns keys and values, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
    }
}

/// Returns the characters that hexadecimal digits name.
fn characters(field: &str, number: usize) -> Result<String, NormalizerError> {
    let mut parts = field.split(' ').filter(|part| !part.is_empty());
    let character = |part: &str| {
        let digits = part.strip_prefix("U+").unwrap_or(part).trim_ascii();
        let digits = digits
            .strip_prefix("0x")
            .or(digits.strip_prefix("0X"))
            .unwrap_or(digits);
        u32::from_str_radix(digits, 16)
            .ok()
            .and_then(char::from_u32)
    };
    let text: Option<String> = parts.try_fold(String::new(), |mut text, part| {
        text.push(character(part)?);
        Some(text)
    });
    text.ok_or(NormalizerError::BadRule(
        number,
        "code points of characters in hexadecimal digits",
    ))
}

// Builds a double array in the way of darts-clone, which SentencePiece uses, so that maps of the same
// rules are the same bytes.
//
// Keys make a tree; equal subtrees become one. Then, parents before children and children in the order
// of their bytes, each family of siblings takes the first free places that fit it, unless it is one
// that has a place already and can be reached from there. Free places are kept in a ring, of which
// those in older blocks are given up.

/// Units of a block.
const BLOCK: usize = 256;

/// Blocks whose free places are still used.
const OPEN_BLOCKS: usize = 16;

/// The lowest byte of a place.
const LOW: usize = 0xFF;

/// Offsets that must be multiples of a block, for units hold 22 bits of them.
const HIGH: usize = 0xFF << 21;

/// Offsets must be below.
const TOO_FAR: usize = 1 << 29;

const IS_VALUE: u32 = 1 << 31;
const HAS_VALUE: u32 = 1 << 8;
const IS_SHIFTED: u32 = 1 << 9;

/// Siblings: the byte and the family of its children, or byte 0 and a value.
type Family = Vec<(u8, u32)>;

/// The tree of keys, equal families stored once.
struct Tree {
    families: Vec<Family>,
    /// Whether a family has several parents.
    is_shared: Vec<bool>,
    root: usize,
}

impl Tree {
    /// The keys must be sorted, distinct, not empty and without NUL.
    fn new(keys: &[(&[u8], u32)]) -> Self {
        let mut known: FxHashMap<Family, u32> = FxHashMap::default();
        let mut is_shared = Vec::new();
        let mut close = |family: Family| {
            let new = u32::try_from(known.len()).expect("there are fewer than 2^31 values");
            let number = *known.entry(family).or_insert(new);
            if number == new {
                is_shared.push(false);
            } else {
                is_shared[number as usize] = true;
            }
            number
        };
        // The families of the beginnings of the last key.
        let mut open: Vec<Family> = vec![Family::new()];
        let mut last: &[u8] = &[];
        let ends = keys.iter().map(|&(key, value)| (key, Some(value)));
        for (key, value) in ends.chain([(&[][..], None)]) {
            let same = last.iter().zip(key).take_while(|(a, b)| a == b).count();
            while open.len() > same + 1 {
                let family = close(open.pop().expect("there is one for each byte"));
                let parent = open.len() - 1;
                open[parent].push((last[parent], family));
            }
            open.resize(key.len() + 1, Family::new());
            if let Some(value) = value {
                open[key.len()].push((0, value));
            }
            last = key;
        }
        let root = close(open.remove(0)) as usize;
        let mut families = memory::filled(Family::new(), known.len());
        for (family, number) in known {
            families[number as usize] = family;
        }
        Self {
            families,
            is_shared,
            root,
        }
    }
}

/// A place while the array grows.
#[derive(Clone, Copy, Default)]
struct Place {
    /// Its neighbours in the ring of free places.
    previous: usize,
    next: usize,
    is_taken: bool,
    /// Whether children of some unit begin here.
    is_base: bool,
}

#[derive(Default)]
struct Builder {
    units: Vec<u32>,
    places: Vec<Place>,
    /// A free place; the number of units if there is none.
    first_free: usize,
}

/// Returns the units of the array for sorted keys and their values; nothing if it would be too large.
pub(super) fn build(keys: &[(&[u8], u32)]) -> Option<Vec<u32>> {
    let tree = Tree::new(keys);
    let mut bases = memory::filled(0, tree.families.len());
    let mut builder = Builder::default();
    builder.take(0);
    builder.places[0].is_base = true;
    builder.units[0] = 1 << 10;
    let mut left = vec![(tree.root, 0)];
    while let Some((family, parent)) = left.pop() {
        let members = &tree.families[family];
        if tree.is_shared[family] && bases[family] != 0 {
            let offset = bases[family] ^ parent;
            if is_reachable(offset) {
                builder.units[parent] |= has_value(members);
                builder.set_offset(parent, offset)?;
                continue;
            }
        }
        let base = builder.place(parent, members)?;
        bases[family] = base;
        let children = members.iter().rev().filter(|(byte, _)| *byte != 0);
        left.extend(children.map(|&(byte, child)| (child as usize, base ^ usize::from(byte))));
    }
    let blocks = builder.units.len() / BLOCK;
    for block in blocks.saturating_sub(OPEN_BLOCKS)..blocks {
        builder.close(block);
    }
    Some(builder.units)
}

/// Returns whether a unit can hold an offset.
fn is_reachable(offset: usize) -> bool {
    offset & HIGH == 0 || offset & LOW == 0
}

fn has_value(family: &Family) -> u32 {
    if family[0].0 == 0 { HAS_VALUE } else { 0 }
}

impl Builder {
    /// Places a family and returns where it begins.
    fn place(&mut self, parent: usize, family: &Family) -> Option<usize> {
        let base = self.find_base(parent, family);
        self.units[parent] |= has_value(family);
        self.set_offset(parent, parent ^ base)?;
        for &(byte, value) in family {
            let place = base ^ usize::from(byte);
            self.take(place);
            self.units[place] = match byte {
                0 => value | IS_VALUE,
                byte => u32::from(byte),
            };
        }
        self.places[base].is_base = true;
        Some(base)
    }

    fn find_base(&self, parent: usize, family: &Family) -> usize {
        let count = self.units.len();
        let mut free = self.first_free;
        if free < count {
            loop {
                let base = free ^ usize::from(family[0].0);
                let fits = |&(byte, _): &(u8, u32)| !self.places[base ^ usize::from(byte)].is_taken;
                if !self.places[base].is_base
                    && is_reachable(parent ^ base)
                    && family[1..].iter().all(fits)
                {
                    return base;
                }
                free = self.places[free].next;
                if free == self.first_free {
                    break;
                }
            }
        }
        count | (parent & LOW)
    }

    fn set_offset(&mut self, unit: usize, offset: usize) -> Option<()> {
        if offset >= TOO_FAR {
            return None;
        }
        let kept = self.units[unit] & (IS_VALUE | HAS_VALUE | 0xFF);
        let offset = u32::try_from(offset).ok()?;
        self.units[unit] = kept
            | if offset < 1 << 21 {
                offset << 10
            } else {
                offset << 2 | IS_SHIFTED
            };
        Some(())
    }

    /// Takes a place out of the ring.
    fn take(&mut self, place: usize) {
        if place >= self.units.len() {
            self.grow();
        }
        let Place { previous, next, .. } = self.places[place];
        if place == self.first_free {
            self.first_free = if next == place {
                self.units.len()
            } else {
                next
            };
        }
        self.places[previous].next = next;
        self.places[next].previous = previous;
        self.places[place].is_taken = true;
    }

    /// Adds a block, its places at the end of the ring.
    fn grow(&mut self) {
        let (start, end) = (self.units.len(), self.units.len() + BLOCK);
        if start / BLOCK >= OPEN_BLOCKS {
            self.close(start / BLOCK - OPEN_BLOCKS);
        }
        self.units.resize(end, 0);
        self.places.extend((start..end).map(|place| Place {
            previous: place.wrapping_sub(1),
            next: place + 1,
            ..Place::default()
        }));
        let first = self.first_free;
        // The ring was empty, or it is cut open before its first place.
        let last = if first == start {
            end - 1
        } else {
            self.places[first].previous
        };
        self.places[start].previous = last;
        self.places[last].next = start;
        self.places[end - 1].next = first;
        self.places[first].previous = end - 1;
    }

    /// Closes a block: the units of its free places get labels that no walk matches.
    fn close(&mut self, block: usize) {
        let range = block * BLOCK..(block + 1) * BLOCK;
        let unused = range.clone().find(|&place| !self.places[place].is_base);
        for place in range {
            if !self.places[place].is_taken {
                self.take(place);
                let label = (place ^ unused.unwrap_or(0)) & LOW;
                self.units[place] |= u32::try_from(label).expect("it is a byte");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Rules;
    use crate::error::NormalizerError;

    #[test]
    fn lines_are_rules() -> Result<(), NormalizerError> {
        let text = "41\t42\nU+41 0x42\t43  44\tnote\n1F600\n41\t44\n";
        let rules = Rules::from_tsv(text)?;
        let expected = [("A", "D"), ("AB", "CD"), ("\u{1F600}", "")];
        assert_eq!(rules.iter().collect::<Vec<_>>(), expected);
        assert_eq!(Rules::from_charsmap(&rules.to_charsmap()?)?, rules);
        Ok(())
    }

    #[test]
    fn lines_that_are_no_rules_are_refused() {
        for line in [
            "", "\t41", "x\t41", "41\tx", "D800", "110000", "U+", "0\t41", "41\t0", "41\t41", "-1",
        ] {
            let error = Rules::from_tsv(&format!("43\t44\n{line}\n")).err();
            assert!(
                matches!(error, Some(NormalizerError::BadRule(2, _))),
                "{line:?}: {error:?}"
            );
        }
        let twice = ["a", "a"].map(|key| (key.to_owned(), "b".to_owned()));
        assert!(Rules::from_pairs(twice).is_err());
    }

    #[test]
    fn maps_hold_long_keys_and_many_children() -> Result<(), NormalizerError> {
        let long = "x".repeat(100_000);
        let pairs = ('\u{1}'..'\u{3000}').map(|c| (format!("a{c}"), c.to_string()));
        let more = [
            (long.clone(), "y".to_owned()),
            (format!("{long}z"), String::new()),
        ];
        let rules = Rules::from_pairs(pairs.chain(more))?;
        assert_eq!(Rules::from_charsmap(&rules.to_charsmap()?)?, rules);
        Ok(())
    }

    /// A family of which every unit leads back to it.
    #[test]
    fn maps_of_endlessly_many_keys_are_refused() {
        let family = (0..256_u32).map(|byte| byte | byte << 10);
        let unused = [0xFF; 255];
        let units: Vec<u32> = [256 << 10]
            .into_iter()
            .chain(unused)
            .chain(family)
            .collect();
        let mut blob = 2048_u32.to_le_bytes().to_vec();
        blob.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
        blob.extend(b"\0");
        assert!(Rules::from_charsmap(&blob).is_err());
    }
}

#[cfg(test)]
mod double_array_tests {
    use super::{Tree, build};

    #[test]
    fn equal_families_are_one() {
        let keys: [(&[u8], u32); 4] = [(b"ab", 1), (b"ac", 2), (b"xb", 1), (b"xc", 2)];
        let tree = Tree::new(&keys);
        // Two ends, the pair of b and c, and the root; each but the root has two parents.
        assert_eq!(tree.is_shared, [true, true, true, false]);
        assert_eq!(build(&keys).map(|units| units.len()), Some(256));
    }
}
