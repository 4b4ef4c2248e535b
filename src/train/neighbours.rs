//! What stands beside the occurrences of the pair that is being merged: which tokens, how often, where.

use super::corpus::Place;
use crate::token::TokenId;

/// A token on one side of the pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Neighbour {
    pub(super) token: TokenId,
    /// How often it stands there.
    pub(super) count: u64,
    /// How often it then turned out to be the start of the next occurrence.
    pub(super) merged: u64,
    /// At how many places.
    pub(super) places: u32,
}

/// All tokens on one side.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    /// The number of each token among `found`, plus one; 0 if it is not.
    numbers: Vec<u32>,
    pub(super) found: Vec<Neighbour>,
    /// The pairs that they form with the merged token: whose, and where.
    pub(super) places: Vec<(u32, Place)>,
}

impl Neighbours {
    /// Nothing found, of so many tokens.
    pub(super) fn clear(&mut self, tokens: usize) {
        for neighbour in self.found.drain(..) {
            self.numbers[neighbour.token as usize] = 0;
        }
        self.places.clear();
        if self.numbers.len() < tokens {
            self.numbers.resize(tokens.next_power_of_two(), 0);
        }
    }

    /// `token` stands beside an occurrence in a piece that occurs `count` times; the pair of both starts at `place`.
    #[inline]
    pub(super) fn add(&mut self, token: TokenId, place: Place, count: u64) {
        let number = self.number(token);
        let neighbour = &mut self.found[number as usize];
        neighbour.count += count;
        neighbour.places += 1;
        self.places.push((number, place));
    }

    /// The number of a token among those found.
    #[inline]
    fn number(&mut self, token: TokenId) -> u32 {
        let number = &mut self.numbers[token as usize];
        if *number == 0 {
            self.found.push(Neighbour {
                token,
                count: 0,
                merged: 0,
                places: 0,
            });
            // No more than there are tokens.
            *number = u32::try_from(self.found.len()).unwrap_or(u32::MAX);
        }
        *number - 1
    }

    /// Adds what was found at later places.
    fn append(&mut self, later: &Self) {
        let numbers: Vec<u32> = later
            .found
            .iter()
            .map(|other| {
                let number = self.number(other.token);
                let neighbour = &mut self.found[number as usize];
                neighbour.count += other.count;
                neighbour.merged += other.merged;
                neighbour.places += other.places;
                number
            })
            .collect();
        let places = later.places.iter();
        self.places
            .extend(places.map(|&(number, place)| (numbers[number as usize], place)));
    }

    /// `token` was added for an occurrence, and has been merged itself since.
    pub(super) fn merge(&mut self, token: TokenId, count: u64) {
        if let Some(number) = self.numbers[token as usize].checked_sub(1) {
            self.found[number as usize].merged += count;
        }
    }
}

/// Both sides.
#[derive(Debug, Default)]
pub(super) struct Sides {
    pub(super) left: Neighbours,
    pub(super) right: Neighbours,
}

impl Sides {
    /// Nothing found, of so many tokens.
    pub(super) fn clear(&mut self, tokens: usize) {
        self.left.clear(tokens);
        self.right.clear(tokens);
    }

    /// Adds what was found at later places.
    pub(super) fn append(&mut self, later: &Self) {
        self.left.append(&later.left);
        self.right.append(&later.right);
    }
}
