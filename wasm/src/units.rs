//! Offsets in the units of JavaScript's strings, those of UTF-16.

/// The number of units before each byte of a text.
#[derive(Debug)]
pub struct Units {
    /// Of each byte, and of the end; `None` for a text of ASCII, where both are the same.
    before: Option<Vec<usize>>,
    starts_character: Vec<bool>,
}

impl Units {
    /// Counts the units of a text.
    pub fn of(text: &str) -> Self {
        if text.is_ascii() {
            return Self {
                before: None,
                starts_character: Vec::new(),
            };
        }
        let (mut before, mut starts, mut units) = (Vec::new(), Vec::new(), 0);
        for character in text.chars() {
            for byte in 0..character.len_utf8() {
                before.push(units);
                starts.push(byte == 0);
            }
            units += character.len_utf16();
        }
        before.push(units);
        starts.push(true);
        Self {
            before: Some(before),
            starts_character: starts,
        }
    }

    /// Returns the units before a byte; before its character, if the byte is inside of one.
    pub fn before(&self, byte: usize) -> usize {
        self.before.as_ref().map_or(byte, |before| before[byte])
    }

    /// As [`before`](Self::before), but behind the character.
    pub fn behind(&self, byte: usize) -> usize {
        let rest = self.starts_character.get(byte..).unwrap_or_default();
        let inside = rest.iter().take_while(|starts| !**starts).count();
        self.before(byte + inside)
    }
}

#[cfg(test)]
mod tests {
    use super::Units;

    #[test]
    fn characters_have_one_unit_or_two() {
        let units = Units::of("aé😀b");
        let before: Vec<usize> = (0..=8).map(|byte| units.before(byte)).collect();
        assert_eq!(before, [0, 1, 1, 2, 2, 2, 2, 4, 5]);
        let behind: Vec<usize> = (0..=8).map(|byte| units.behind(byte)).collect();
        assert_eq!(behind, [0, 1, 2, 2, 4, 4, 4, 4, 5]);
        assert_eq!(Units::of("abc").behind(2), 2);
    }
}
