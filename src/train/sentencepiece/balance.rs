//! Choosing between merges and characters where bytes stand for all other characters.
//!
//! A merge is worth as many tokens as it saved when it was made; a character of n bytes, n - 1 for each time it
//! occurs. The first k merges need their characters; what room is left goes to the characters that are worth most.
//! The k of the highest worth is taken, the greatest of several.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

/// The pieces that are kept.
pub(super) struct Kept {
    /// The number of merges.
    pub(super) merges: usize,
    /// The characters: those that merges need, ascending, then others, the best first.
    pub(super) characters: Vec<char>,
}

/// Chooses at most `room` pieces, given the text and the gain of each merge, and how often each character occurs.
pub(super) fn choose(
    merges: &[String],
    gains: &[u64],
    counts: impl Iterator<Item = (char, u64)>,
    room: usize,
) -> Kept {
    let mut singles: Vec<(u128, u64, char)> = counts
        .filter(|(character, _)| character.len_utf8() > 1)
        .map(|(character, count)| (worth(character, count), count, character))
        .collect();
    singles.sort_by_key(|&(gain, count, character)| (Reverse((gain, count)), character));
    let rank_of: HashMap<char, usize> = singles
        .iter()
        .enumerate()
        .map(|(rank, &(.., character))| (character, rank))
        .collect();
    let mut rest = Rest::new(singles.iter().map(|&(gain, ..)| gain));
    let mut needed = BTreeSet::new();
    let mut gained = 0;
    // The worth, the number of merges, and of characters that they need.
    let mut best = (rest.sum_of_first(room), 0);
    for (index, (text, &gain)) in merges.iter().zip(gains).enumerate() {
        gained += u128::from(gain);
        for character in text.chars() {
            if needed.insert(character)
                && let Some(&rank) = rank_of.get(&character)
            {
                gained += singles[rank].0;
                rest.remove(rank);
            }
        }
        let Some(left) = room.checked_sub(index + 1 + needed.len()) else {
            // The next merge needs no less room.
            break;
        };
        let total = gained + rest.sum_of_first(left);
        if total >= best.0 {
            best = (total, index + 1);
        }
    }
    let kept = best.1;
    let needed: BTreeSet<char> = merges[..kept]
        .iter()
        .flat_map(|text| text.chars())
        .collect();
    let left = room - kept - needed.len();
    let others = singles.iter().map(|&(.., character)| character);
    let others = others.filter(|character| !needed.contains(character));
    Kept {
        merges: kept,
        characters: needed.iter().copied().chain(others.take(left)).collect(),
    }
}

fn worth(character: char, count: u64) -> u128 {
    u128::from(count) * (character.len_utf8() as u128 - 1)
}

/// Gains in descending order, of which some were removed (a Fenwick tree).
struct Rest {
    gains: Vec<u128>,
    /// Number and sum of the gains in the range that ends at each index.
    tree: Vec<(usize, u128)>,
}

impl Rest {
    fn new(gains: impl Iterator<Item = u128>) -> Self {
        let gains: Vec<u128> = gains.collect();
        let mut tree = vec![(0, 0); gains.len() + 1];
        for index in 1..tree.len() {
            tree[index].0 += 1;
            tree[index].1 += gains[index - 1];
            let parent = index + (index & index.wrapping_neg());
            if parent < tree.len() {
                let (number, sum) = tree[index];
                tree[parent].0 += number;
                tree[parent].1 += sum;
            }
        }
        Self { gains, tree }
    }

    fn remove(&mut self, index: usize) {
        let mut at = index + 1;
        while at < self.tree.len() {
            self.tree[at].0 -= 1;
            self.tree[at].1 -= self.gains[index];
            at += at & at.wrapping_neg();
        }
    }

    /// The sum of the first `number` gains that are left.
    fn sum_of_first(&self, number: usize) -> u128 {
        let (mut at, mut left, mut sum) = (0, number, 0);
        let mut step = self.tree.len().next_power_of_two();
        while step > 0 {
            if let Some(&(count, gain)) = self.tree.get(at + step)
                && count <= left
            {
                at += step;
                left -= count;
                sum += gain;
            }
            step /= 2;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::choose;

    #[test]
    fn room_goes_to_what_is_worth_most() {
        let merges = ["ab", "éa", "中é"].map(str::to_owned);
        let counts = [('a', 50), ('b', 9), ('é', 7), ('中', 3)];
        let kept = choose(&merges, &[9, 6, 1], counts.into_iter(), 5);
        // With one merge, `é` and `中` have room, which are worth 13 as are the next merge and its `é`.
        assert_eq!((kept.merges, kept.characters), (2, vec!['a', 'b', 'é']));
        let kept = choose(&merges, &[9, 0, 0], counts.into_iter(), 5);
        assert_eq!(
            (kept.merges, kept.characters),
            (1, vec!['a', 'b', 'é', '中'])
        );
        let kept = choose(&merges, &[9, 5, 1], counts.into_iter(), 2);
        assert_eq!((kept.merges, kept.characters), (0, vec!['é', '中']));
    }
}
