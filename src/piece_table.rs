//! Pieces seen before → their ids: most pieces of a text are answered here, in one or two cache lines.
//!
//! Three tables by length, each of fixed size:
//!
//! | bytes | a look-up reads | an entry holds |
//! |---|---|---|
//! | 1–8 | one line of four keys and four answers | up to three ids |
//! | 9–16 | one line of two keys and two answers | up to three ids |
//! | any other, to [`LONGEST`] | one slot, then the bytes and ids it points to | any number of ids |
//!
//! A key is the piece itself, filled up with bytes 0xFF, which UTF-8 never has: a hit is certain and costs no look at
//! the text beyond the key. A full line gives up its entries in turn: a hostile text can empty the table of what is
//! useful, but never make a look-up longer.
//!
//! The table belongs to one call at a time (see `Encoder`), so that nothing here is shared and nothing is locked.

use crate::token::TokenId;

/// Longer pieces are not kept: they hardly ever come again.
pub(crate) const LONGEST: usize = 256;

/// The ids of a piece in one number: how many in the lowest two bits, then 20 bits for each. 0 is no answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answer(u64);

impl Answer {
    const ID_BITS: u32 = 20;
    const ID_MASK: u64 = (1 << Self::ID_BITS) - 1;

    /// The answer that holds `ids`, if they fit: one to three ids, below 2²⁰ each.
    #[inline]
    fn new(ids: &[TokenId]) -> Option<Self> {
        let fits =
            matches!(ids.len(), 1..=3) && ids.iter().all(|&id| u64::from(id) <= Self::ID_MASK);
        fits.then(|| {
            let packed = ids
                .iter()
                .rev()
                .fold(0, |packed, &id| (packed << Self::ID_BITS) | u64::from(id));
            Self((packed << 2) | ids.len() as u64)
        })
    }

    /// All three places, the first [`len`](Self::len) of which count.
    #[inline]
    pub(crate) fn ids(self) -> [TokenId; 3] {
        let place =
            |number: u32| ((self.0 >> (2 + number * Self::ID_BITS)) & Self::ID_MASK) as TokenId;
        [place(0), place(1), place(2)]
    }

    /// How many ids.
    #[inline]
    pub(crate) fn len(self) -> usize {
        (self.0 & 3) as usize
    }
}

/// Mixes a key so that its high bits pick a line.
#[inline]
fn mix(key: u64) -> u64 {
    (key ^ (key >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// A table of cache lines of eight numbers.
#[derive(Debug)]
struct Lines {
    cells: Vec<u64>,
    /// The first cell that starts a cache line.
    first: usize,
    /// Shifts a mixed key down to a line number.
    shift: u32,
    /// Which entry of a full line goes next.
    turn: usize,
}

impl Lines {
    fn new(lines_log2: u32) -> Self {
        // Zeroed memory is not touched before it is used.
        let cells = vec![0_u64; (8 << lines_log2) + 8];
        let first = cells.as_ptr().align_offset(64).min(8);
        Self {
            cells,
            first,
            shift: 64 - lines_log2,
            turn: 0,
        }
    }

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "shifted down to a line number"
    )]
    fn line_start(&self, mixed: u64) -> usize {
        self.first + 8 * (mixed >> self.shift) as usize
    }

    #[inline]
    fn line(&self, mixed: u64) -> &[u64; 8] {
        const NO_LINE: [u64; 8] = [0; 8];
        let start = self.line_start(mixed);
        self.cells
            .get(start..start + 8)
            .and_then(|line| line.try_into().ok())
            .unwrap_or(&NO_LINE)
    }

    /// The line to write an entry to and the entry's place in it, of `ways`: an empty one, else the next in turn.
    fn place(&mut self, mixed: u64, ways: usize, answers: usize) -> (&mut [u64], usize) {
        let start = self.line_start(mixed);
        let line = &mut self.cells[start..start + 8];
        let way = (0..ways)
            .find(|way| line[answers + way] == 0)
            .unwrap_or_else(|| {
                self.turn = self.turn.wrapping_add(1);
                self.turn % ways
            });
        (line, way)
    }
}

/// Where a long piece and its ids lie.
#[derive(Clone, Copy, Debug, Default)]
struct LongEntry {
    hash: u64,
    bytes: (u32, u32),
    ids: (u32, u32),
}

/// Long pieces: slots by hash, the rest in two stores. All grow with what is kept and are emptied together when full.
#[derive(Debug, Default)]
struct LongPieces {
    slots: Vec<LongEntry>,
    filled: usize,
    bytes: Vec<u8>,
    ids: Vec<TokenId>,
}

const FIRST_LONG_SLOTS: usize = 1 << 10;
/// What is kept at most: slots, bytes of pieces, ids.
const MOST_LONG_SLOTS: usize = 1 << 19;
const MOST_LONG_BYTES: usize = 12 << 20;
const MOST_LONG_IDS: usize = 4 << 20;

impl LongPieces {
    /// The two slots that may hold a piece: neighbours.
    #[inline]
    fn slots_of(&self, hash: u64) -> [usize; 2] {
        let slot = (hash >> 32) as usize & self.slots.len().wrapping_sub(1);
        [slot, slot ^ 1]
    }

    fn hash(piece: &[u8]) -> u64 {
        let mut hash = piece.len() as u64;
        let (words, rest) = piece.as_chunks::<8>();
        for word in words {
            hash = mix(hash.rotate_left(23) ^ u64::from_le_bytes(*word));
        }
        let rest = rest
            .iter()
            .fold(0, |rest, &byte| (rest << 8) | u64::from(byte));
        // 0 marks an empty slot.
        mix(hash.rotate_left(23) ^ rest) | 1
    }

    fn get(&self, piece: &[u8]) -> Option<&[TokenId]> {
        let hash = Self::hash(piece);
        let entry = self
            .slots_of(hash)
            .into_iter()
            .find_map(|slot| self.slots.get(slot).filter(|entry| entry.hash == hash))?;
        let range = |(start, end): (u32, u32)| start as usize..end as usize;
        let same = self.bytes.get(range(entry.bytes)) == Some(piece);
        if same {
            self.ids.get(range(entry.ids))
        } else {
            None
        }
    }

    fn insert(&mut self, piece: &[u8], ids: &[TokenId]) {
        if self.bytes.len() + piece.len() > MOST_LONG_BYTES
            || self.ids.len() + ids.len() > MOST_LONG_IDS
        {
            *self = Self::default();
        }
        if 2 * self.filled >= self.slots.len() && self.slots.len() < MOST_LONG_SLOTS {
            let larger = (2 * self.slots.len()).max(FIRST_LONG_SLOTS);
            let entries = std::mem::replace(&mut self.slots, vec![LongEntry::default(); larger]);
            self.filled = 0;
            for entry in entries.into_iter().filter(|entry| entry.hash != 0) {
                self.place(entry);
            }
        }
        // The stores hold some millions each.
        let end = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let before = (end(self.bytes.len()), end(self.ids.len()));
        self.bytes.extend_from_slice(piece);
        self.ids.extend_from_slice(ids);
        let bytes = (before.0, end(self.bytes.len()));
        let ids = (before.1, end(self.ids.len()));
        self.place(LongEntry {
            hash: Self::hash(piece),
            bytes,
            ids,
        });
    }

    /// Puts an entry into one of its slots, over another if both are taken.
    fn place(&mut self, entry: LongEntry) {
        let [first, second] = self.slots_of(entry.hash);
        let slot = if self.slots[first].hash != 0 && self.slots[second].hash == 0 {
            second
        } else {
            first
        };
        self.filled += usize::from(self.slots[slot].hash == 0);
        self.slots[slot] = entry;
    }
}

/// The three tables.
#[derive(Debug)]
pub(crate) struct PieceTable {
    short: Lines,
    middle: Lines,
    long: LongPieces,
}

const SHORT_WAYS: usize = 4;
const MIDDLE_WAYS: usize = 2;
/// Where in a line of the middle table the answers start: after two keys of two numbers.
const MIDDLE_ANSWERS: usize = 4;

impl PieceTable {
    /// An empty table for a vocabulary of `tokens` tokens.
    pub(crate) fn new(tokens: usize) -> Self {
        let lines = tokens.max(1 << 14).next_power_of_two().ilog2() - 1;
        let lines = lines.min(17);
        Self {
            short: Lines::new(lines),
            middle: Lines::new(lines),
            long: LongPieces::default(),
        }
    }

    /// How many bytes it takes when every line is in use.
    pub(crate) fn memory(&self) -> usize {
        let long = self.long.slots.capacity() * size_of::<LongEntry>()
            + self.long.bytes.capacity()
            + 4 * self.long.ids.capacity();
        8 * (self.short.cells.capacity() + self.middle.cells.capacity()) + long
    }

    /// The answer for a piece of at most 8 bytes.
    #[inline]
    pub(crate) fn short(&self, key: u64) -> Option<Answer> {
        let line = self.short.line(mix(key));
        let way = usize::from(line[1] == key)
            | usize::from(line[2] == key) << 1
            | (usize::from(line[3] == key) * 3);
        let answer = line[SHORT_WAYS + (way & 3)];
        (line[way & 3] == key && answer != 0).then_some(Answer(answer))
    }

    /// Remembers the ids of a piece of at most 8 bytes; false if they do not fit.
    pub(crate) fn insert_short(&mut self, key: u64, ids: &[TokenId]) -> bool {
        let Some(answer) = Answer::new(ids) else {
            return false;
        };
        let (line, way) = self.short.place(mix(key), SHORT_WAYS, SHORT_WAYS);
        line[way] = key;
        line[SHORT_WAYS + way] = answer.0;
        true
    }

    /// The answer for a piece of 9 to 16 bytes.
    #[inline]
    pub(crate) fn middle(&self, key: [u64; 2]) -> Option<Answer> {
        let line = self.middle.line(mix(key[0] ^ mix(key[1])));
        let way = usize::from(line[2] == key[0] && line[3] == key[1]);
        let answer = line[MIDDLE_ANSWERS + way];
        let same = line[2 * way] == key[0] && line[2 * way + 1] == key[1];
        (same && answer != 0).then_some(Answer(answer))
    }

    /// Remembers the ids of a piece of 9 to 16 bytes; false if they do not fit.
    pub(crate) fn insert_middle(&mut self, key: [u64; 2], ids: &[TokenId]) -> bool {
        let Some(answer) = Answer::new(ids) else {
            return false;
        };
        let (line, way) = self
            .middle
            .place(mix(key[0] ^ mix(key[1])), MIDDLE_WAYS, MIDDLE_ANSWERS);
        line[2 * way..2 * way + 2].copy_from_slice(&key);
        line[MIDDLE_ANSWERS + way] = answer.0;
        true
    }

    /// The ids of a piece that has no answer in the other tables, of at most [`LONGEST`] bytes.
    pub(crate) fn long(&self, piece: &[u8]) -> Option<&[TokenId]> {
        self.long.get(piece)
    }

    /// Remembers the ids of a piece that has no place in the other tables, of at most [`LONGEST`] bytes.
    pub(crate) fn insert_long(&mut self, piece: &[u8], ids: &[TokenId]) {
        self.long.insert(piece, ids);
    }
}
