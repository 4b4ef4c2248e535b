//! Comparing masks with rules one after another, for unit tests.

use std::ops::Range;
use std::sync::Arc;

use super::Rule;
use super::cascade::Cascade;
use crate::split::Splitter;
use crate::util::tier::Tier;

/// The longest text that is split on both sides of each of its cuts, which takes the square of its length.
const LONGEST_CUT: usize = 100;

/// Rules as each tier runs them, and the cascade of them.
pub(super) struct Compared {
    tiers: Vec<Splitter>,
    cascade: Splitter,
}

impl Compared {
    /// Compiles rules, `of` being how a tier runs them.
    pub(super) fn new(rules: &[Rule], of: impl Fn(&[Rule], Tier) -> Option<Splitter>) -> Self {
        let tiers = Tier::ALL.map(|tier| of(rules, tier).expect("all are classes"));
        Self {
            tiers: tiers.into(),
            cascade: Splitter::Cascade(Arc::new(Cascade::new(rules).expect("known"))),
        }
    }

    /// Compares the pieces of a text, and in a short one those on both sides of each cut.
    pub(super) fn check(&self, text: &str) {
        let expected = pieces(&self.cascade, text);
        for splitter in &self.tiers {
            assert_eq!(
                pieces(splitter, text),
                expected,
                "{text:?} by {:?} as {splitter:?}",
                self.cascade
            );
        }
        if text.len() > LONGEST_CUT {
            return;
        }
        let [first, ..] = self.tiers.as_slice() else {
            unreachable!("there are tiers")
        };
        for cut in first.cuts(text, 0..text.len()) {
            let (left, right) = text.split_at(cut);
            let mut parts = pieces(&self.cascade, left);
            let behind = pieces(&self.cascade, right);
            parts.extend(
                behind
                    .into_iter()
                    .map(|piece| piece.start + cut..piece.end + cut),
            );
            assert_eq!(
                parts, expected,
                "{text:?} cut at {cut} by {:?}",
                self.cascade
            );
        }
    }
}

fn pieces(splitter: &Splitter, text: &str) -> Vec<Range<usize>> {
    let (mut all, mut chunk) = (Vec::new(), Vec::new());
    let mut pieces = splitter.pieces(text);
    while pieces.next_chunk(&mut chunk).expect("nothing fails") {
        all.append(&mut chunk);
    }
    all
}
