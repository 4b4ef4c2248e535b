//! Rules of normalization: where maps of characters come from.

mod double_array;

use std::collections::BTreeMap;

use super::charsmap::Charsmap;
use crate::error::NormalizerError;

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
        let units = double_array::build(&keys).ok_or(NormalizerError::TooManyRules)?;
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
