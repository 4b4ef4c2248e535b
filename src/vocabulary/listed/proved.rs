//! Proofs of a list of merges of bytes: which merges may be made first, and which tokens their own bytes become.
//!
//! Both hold where all merges that make a token have lower ranks than those that it is a part of. Then a merge makes no
//! pair of lower rank than its own, so that the merges of a piece are made in the order of their ranks, and of equal
//! ranks from left to right.
//!
//! **The bytes of a token become it** if those of its two parts become these, and no merge crosses the border between
//! them before theirs. At any time, the symbols at the border are on the way that the bytes of each part go alone. So
//! it is enough to undo the merges of both at the border, the last one first, and to look up each pair that is
//! adjacent in between: it is merged if it ranks before the merge that was undone last. Of the same merge on both
//! sides the left one is made first, and one that crosses the border between the two.

use crate::token::{NO_TOKEN, Pair, TokenId};
use crate::util::memory;
use crate::vocabulary::byte_pairs::{BytePairTable, Ends};
use crate::vocabulary::pair_table::PairTable;

/// Nothing is proved of lists with ids from here on: the larger ones are in no bucket of a table of pairs either.
const ID_LIMIT: usize = 1 << 20;

/// The proofs of a list.
#[derive(Debug)]
pub(super) struct Proved {
    /// The table of forced merges, by rank.
    pub(super) byte_pairs: BytePairTable,
    /// Whether the bytes of each token, by id, become it.
    pub(super) is_own: Vec<bool>,
}

impl Proved {}

/// A token, as far as the merges so far show.
#[derive(Clone, Copy, Default)]
struct Known {
    /// `None` if nothing makes it, so that no piece has it as a symbol.
    ends: Option<Ends>,
    /// Whether a merge has it as a part.
    is_part: bool,
    /// Whether its own bytes become it.
    is_own: bool,
    /// The merge by which they do; `None` for a single byte.
    last: Option<Merge>,
}

/// A pair and its rank.
#[derive(Clone, Copy)]
struct Merge {
    rank: TokenId,
    pair: Pair,
}

/// Returns what is known of a list in which each token is made before it is a part; `None` of others.
///
/// `ranked` are the different pairs in the order of their ranks, and `pairs` a table of them; `made` has the token that
/// each rank makes.
///
/// # Complexity
/// O(total bytes) look-ups, hardly more than one for each merge in published vocabularies.
pub(super) fn proved(
    byte_tokens: &[TokenId; 256],
    ranked: &[(TokenId, Pair)],
    pairs: &PairTable,
    made: &[TokenId],
) -> Option<Proved> {
    let bytes = (0..=255).zip(byte_tokens.iter().copied());
    let bytes = bytes.filter(|(_, id)| *id != NO_TOKEN);
    let parts = ranked.iter().flat_map(|(_, pair)| [pair.left, pair.right]);
    let ids = parts.chain(made.iter().copied());
    let highest = ids.chain(bytes.clone().map(|(_, id)| id)).max()? as usize;
    if highest >= ID_LIMIT {
        return None;
    }
    let mut tokens = memory::filled(Known::default(), highest + 1);
    for (byte, id) in bytes {
        let token = &mut tokens[id as usize];
        token.is_own = true;
        if token.ends.replace(Ends::of_byte(byte)).is_some() {
            return None;
        }
    }
    let mut byte_pairs = BytePairTable::new();
    for &(rank, pair) in ranked {
        let [left, right] = [pair.left, pair.right].map(|part| {
            let token = &mut tokens[part as usize];
            token.is_part = true;
            *token
        });
        let (Some(left_ends), Some(right_ends)) = (left.ends, right.ends) else {
            continue;
        };
        let joined = Ends::joined(left_ends, right_ends);
        let id = made[rank as usize] as usize;
        let token = tokens[id];
        if token.is_part || token.ends.is_some_and(|ends| ends != joined) {
            return None;
        }
        tokens[id].ends = Some(joined);
        byte_pairs.insert_ranked(left_ends, right_ends, rank);
        let merge = Merge { rank, pair };
        if !token.is_own && left.is_own && right.is_own && is_next(&tokens, pairs, merge) {
            tokens[id].is_own = true;
            tokens[id].last = Some(merge);
        }
    }
    byte_pairs.usable().then(|| Proved {
        byte_pairs,
        is_own: memory::collect(tokens.iter().map(|token| token.is_own)),
    })
}

/// Returns whether the bytes of both parts, each of which become it, become these two before this merge when they are
/// adjacent.
fn is_next(tokens: &[Known], pairs: &PairTable, merge: Merge) -> bool {
    let Pair {
        mut left,
        mut right,
    } = merge.pair;
    // Ranks below it are merged across the border.
    let mut limit = merge.rank;
    loop {
        if pairs.get(left, right) < limit {
            return false;
        }
        match (tokens[left as usize].last, tokens[right as usize].last) {
            (None, None) => return true,
            (Some(Merge { rank, pair }), other) if other.is_none_or(|other| other.rank < rank) => {
                (left, limit) = (pair.right, rank);
            }
            (_, Some(Merge { rank, pair })) => (right, limit) = (pair.left, rank + 1),
            (Some(_), None) => unreachable!("the left merge is undone then"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::{Alphabet, ListedMerges, Listing, Unknown};
    use super::{Proved, proved};
    use crate::builtin::Builtin;
    use crate::merge::agreement::merges_of;
    use crate::merge::short;
    use crate::token::{NO_TOKEN, Pair, TokenId};
    use crate::vocabulary::pair_table::PairTable;

    /// Builds a list of merges of `b"abc"`, which are the tokens 0, 1 and 2.
    fn listed(merges: &[(TokenId, TokenId, TokenId)]) -> ListedMerges {
        let mut bytes = Box::new([NO_TOKEN; 256]);
        bytes[usize::from(b'a')] = 0;
        bytes[usize::from(b'b')] = 1;
        bytes[usize::from(b'c')] = 2;
        let merges = merges.iter();
        let listing = Listing {
            spellings: Vec::new(),
            alphabet: Alphabet::Bytes(bytes),
            merges: merges
                .map(|&(left, right, made)| (made, Pair::new(left, right)))
                .collect(),
            unknown: Unknown::default(),
            whole_pieces: false,
            space: ' ',
        };
        ListedMerges::new(listing).expect("there are few merges")
    }

    fn proved_of(merges: &[(TokenId, TokenId, TokenId)]) -> Option<Proved> {
        listed(merges).proved
    }

    /// Returns whether the bytes of token 9 are known to become it.
    fn is_own(merges: &[(TokenId, TokenId, TokenId)]) -> bool {
        proved_of(merges).expect("the tokens are in order").is_own[9]
    }

    #[test]
    fn published_merges_are_proved_in_any_numbers() -> Result<(), Box<dyn std::error::Error>> {
        for builtin in Builtin::ALL {
            let vocabulary = builtin.vocabulary()?;
            let merges = vocabulary.byte_merges().expect("it merges bytes");
            // Any other ids: bytes last, all in reverse.
            let other = |id: TokenId| vocabulary.highest_id() - id;
            let listed = merges_of(&vocabulary)?;
            let pairs = listed.iter();
            let pairs: Vec<Pair> = pairs
                .map(|(_, pair)| Pair::new(other(pair.left), other(pair.right)))
                .collect();
            let made: Vec<TokenId> = listed.iter().map(|(made, _)| other(*made)).collect();
            let ranked: Vec<(TokenId, Pair)> = (0..).zip(pairs).collect();
            let table = PairTable::of(&ranked);
            let bytes = std::array::from_fn(|byte| other(merges.byte_token(byte.to_le_bytes()[0])));
            let proved =
                proved(&bytes, &ranked, &table, &made).ok_or("each part is made before")?;
            assert!(vocabulary.ids().all(|id| proved.is_own[other(id) as usize]));
        }
        Ok(())
    }

    #[test]
    fn lists_out_of_order_are_refused() {
        // "ab", "abc".
        assert!(proved_of(&[(0, 1, 3), (3, 2, 9)]).is_some());
        assert!(proved_of(&[(3, 2, 9), (0, 1, 3)]).is_none());
        // "ab" is made again, in another place, after it was a part.
        assert!(proved_of(&[(0, 1, 3), (3, 2, 9), (0, 1, 3)]).is_none());
        // Nothing makes token 4.
        assert!(proved_of(&[(4, 2, 9), (0, 1, 3), (3, 2, 9)]).is_some());
        // Two tokens of the same id.
        assert!(proved_of(&[(0, 1, 9), (1, 0, 9)]).is_none());
        assert!(proved_of(&[(0, 1, 0)]).is_none());
        let beyond = TokenId::try_from(super::ID_LIMIT).expect("it is small");
        assert!(proved_of(&[(0, 1, beyond)]).is_none());
        assert!(proved_of(&[(0, 1, beyond - 1)]).is_some());
    }

    #[test]
    fn tokens_that_their_bytes_become() {
        assert!(is_own(&[(0, 1, 3), (3, 2, 9)]));
        // "bc" is merged before "ab".
        assert!(!is_own(&[(1, 2, 4), (0, 1, 3), (3, 2, 9)]));
        assert!(is_own(&[(1, 2, 4), (0, 1, 3), (3, 2, 9), (0, 4, 9)]));
        // Of "aaa", the first two are merged.
        assert!(is_own(&[(0, 0, 3), (3, 0, 9)]));
        assert!(!is_own(&[(0, 0, 3), (0, 3, 9)]));
        assert!(is_own(&[(0, 0, 3), (3, 3, 9)]));
        // "ab" lies across the border of "aa" and "bb".
        assert!(is_own(&[(0, 0, 3), (1, 1, 4), (0, 1, 5), (3, 4, 9)]));
        assert!(!is_own(&[(0, 1, 5), (0, 0, 3), (1, 1, 4), (3, 4, 9)]));
        // A part whose bytes do not become it.
        assert!(!is_own(&[(1, 2, 4), (0, 1, 3), (3, 2, 5), (5, 0, 9)]));
    }

    /// Tokens of some bytes, and merges of them.
    type List = (Vec<Vec<u8>>, Vec<(TokenId, TokenId, TokenId)>);

    /// Returns the list with each merge of two of its tokens.
    fn longer((tokens, merges): List) -> impl Iterator<Item = List> {
        let count = TokenId::try_from(tokens.len()).expect("there are few");
        let pairs = (0..count).flat_map(move |left| (0..count).map(move |right| (left, right)));
        pairs.map(move |(left, right)| {
            let (mut tokens, mut merges) = (tokens.clone(), merges.clone());
            let joined = [&*tokens[left as usize], &*tokens[right as usize]].concat();
            let known = tokens.iter().position(|token| *token == joined);
            let made = known.unwrap_or_else(|| {
                tokens.push(joined);
                tokens.len() - 1
            });
            let made = TokenId::try_from(made).expect("there are few");
            merges.push((left, right, made));
            (tokens, merges)
        })
    }

    /// The definition: until no pair is listed, merges the pair listed first, of equals the leftmost.
    fn merged(merges: &[(TokenId, TokenId, TokenId)], piece: &[u8]) -> Vec<TokenId> {
        let ranks: HashMap<_, _> = (0..)
            .zip(merges)
            .map(|(rank, &(left, right, made))| ((left, right), (rank, made)))
            .collect();
        let mut ids: Vec<TokenId> = piece.iter().map(|byte| (byte - b'a').into()).collect();
        loop {
            let pairs = ids.windows(2).enumerate().filter_map(|(index, pair)| {
                let &(rank, made): &(u32, TokenId) = ranks.get(&(pair[0], pair[1]))?;
                Some((rank, index, made))
            });
            let Some((_, index, made)) = pairs.min() else {
                return ids;
            };
            ids.remove(index + 1);
            ids[index] = made;
        }
    }

    /// All lists of four merges of two letters, all tokens, and all pieces of up to six letters.
    #[test]
    fn short_lists_agree_with_the_definition() {
        let mut lists: Vec<List> = vec![(vec![b"a".to_vec(), b"b".to_vec()], Vec::new())];
        for _ in 0..4 {
            lists = lists.into_iter().flat_map(longer).collect();
        }
        let pieces = (1..=6).flat_map(|length| {
            let letter = |bits: u32, index: u32| b'a' + (bits >> index & 1).to_le_bytes()[0];
            (0..1 << length)
                .map(move |bits| (0..length).map(|i| letter(bits, i)).collect::<Vec<u8>>())
        });
        let pieces: Vec<Vec<u8>> = pieces.collect();
        let (all, mut known) = (lists.len(), 0);
        for (tokens, merges) in lists {
            // Token 2 is "c".
            let shifted = |id: TokenId| if id < 2 { id } else { id + 1 };
            let merges: Vec<_> = merges
                .into_iter()
                .map(|(left, right, made)| (shifted(left), shifted(right), shifted(made)))
                .collect();
            let listed = listed(&merges);
            let Some(proved) = &listed.proved else {
                continue;
            };
            known += 1;
            for (id, token) in (0..).map(shifted).zip(&tokens) {
                let is_own = merged(&merges, token) == [id];
                assert_eq!(proved.is_own[id as usize], is_own, "{id} of {merges:?}");
            }
            for piece in &pieces {
                let mut ids = Vec::new();
                assert!(short::merge(&listed, piece, &mut ids));
                assert_eq!(ids, merged(&merges, piece), "{piece:?} by {merges:?}");
            }
        }
        assert!(4 * known > 3 * all, "{known} of {all}");
    }
}
