//! Sorted runs: counted pieces, in the order of their bytes, in temporary files.
//!
//! A piece is written once for each level: three times when there are thousands of runs.
//!
//! Each piece is written as: the length of the prefix it shares with the piece before, the length of the
//! rest, the rest, the count, the position of its first occurrence. Numbers are LEB128: seven bits a byte,
//! lowest first, the highest bit set in all bytes but the last.
//!
//! The file is deleted, or has no name from the start where the system allows it, so it vanishes with the
//! last clone of the run, or with the process.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::sync::Arc;

use super::super::piece_map::PieceMap;
use super::super::{CountTable, Counted};
use super::in_memory::for_each_of_map;
use super::{PieceCursor, SortOrder, kway_merge};
use crate::error::TrainError;
use crate::util::memory::Growable;

/// Number of runs of one level that are merged into one of the next.
const FAN_IN: usize = 32;

/// Bytes written or read by one system call.
const BUFFER: usize = 1 << 16;

/// Sorted runs, of which few are open at once: where there are [`FAN_IN`] of a level, they are merged into one of the next
/// before another is added.
#[derive(Clone, Debug, Default)]
pub(in crate::train::counting) struct RunStore {
    runs: Vec<LeveledRun>,
}

#[derive(Clone, Debug)]
struct LeveledRun {
    level: u32,
    run: SortedRun,
}

impl RunStore {
    /// Returns whether there are no runs.
    pub(in crate::train::counting) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The number of occurrences in each run.
    pub(in crate::train::counting) fn totals(&self) -> impl Iterator<Item = u64> {
        self.runs.iter().map(|run| run.run.total)
    }

    /// Adds sorted pieces as a run. Each has the position `start` and following, in their order.
    ///
    /// `check_total` may refuse the number of their occurrences, before anything is added.
    pub(in crate::train::counting) fn add_sorted(
        &mut self,
        sources: Vec<NextTable<'_>>,
        start: u64,
        check_total: impl FnOnce(u64) -> Result<(), TrainError>,
    ) -> Result<SortedSum, TrainError> {
        let mut sum = SortedSum::default();
        let mut writer = RunWriter::new().map_err(TrainError::TemporaryFile)?;
        let cursors = sources.into_iter().map(TableCursor::new).collect();
        kway_merge(cursors, |piece, counted| {
            let first = start + sum.pieces;
            sum.add(piece, counted.count)?;
            writer
                .push(piece, Counted { first, ..counted })
                .map_err(TrainError::TemporaryFile)
        })?;
        let run = writer.finish().map_err(TrainError::TemporaryFile)?;
        check_total(sum.total)?;
        if sum.pieces > 0 {
            self.push(LeveledRun { level: 0, run })?;
        }
        Ok(sum)
    }

    /// Adds a copy of the pieces of a map as a run.
    pub(in crate::train::counting) fn add_map(&mut self, map: &PieceMap) -> Result<(), TrainError> {
        let mut writer = RunWriter::new().map_err(TrainError::TemporaryFile)?;
        for_each_of_map(map, |piece, counted| {
            writer
                .push(piece, counted)
                .map_err(TrainError::TemporaryFile)
        })?;
        let run = writer.finish().map_err(TrainError::TemporaryFile)?;
        self.push(LeveledRun { level: 0, run })
    }

    /// Adds all runs of `other`, whose positions are shifted by `shift`.
    pub(in crate::train::counting) fn add_runs(
        &mut self,
        other: &Self,
        shift: u64,
    ) -> Result<(), TrainError> {
        for LeveledRun { level, run } in &other.runs {
            let mut run = run.clone();
            run.shift += shift;
            self.push(LeveledRun { level: *level, run })?;
        }
        Ok(())
    }

    /// Merges all runs into one and returns it, or `None` if there are none.
    pub(in crate::train::counting) fn merge_all(
        &mut self,
    ) -> Result<Option<SortedRun>, TrainError> {
        if let [_, _, ..] = &self.runs[..] {
            let level = self.runs.iter().map(|run| run.level).max().unwrap_or(0);
            let run = write_run(&self.runs)?;
            self.runs = vec![LeveledRun { level, run }];
        }
        Ok(self.runs.first().map(|run| run.run.clone()))
    }

    /// Adds a run, after the runs of its level are merged if there are enough. If that fails, the run is not added: its pieces
    /// are still elsewhere, or must not count.
    fn push(&mut self, added: LeveledRun) -> Result<(), TrainError> {
        let mut level = added.level;
        while self.runs.iter().filter(|run| run.level == level).count() >= FAN_IN {
            let is_full = |run: &LeveledRun| run.level == level;
            let full: Vec<LeveledRun> = self
                .runs
                .iter()
                .filter(|run| is_full(run))
                .cloned()
                .collect();
            let run = write_run(&full)?;
            self.runs.retain(|run| !is_full(run));
            level += 1;
            self.runs.push(LeveledRun { level, run });
        }
        self.runs.push(added);
        Ok(())
    }
}

/// Merges runs into a new one.
fn write_run(runs: &[LeveledRun]) -> Result<SortedRun, TrainError> {
    let mut writer = RunWriter::new().map_err(TrainError::TemporaryFile)?;
    let readers = runs.iter().map(|run| run.run.reader()).collect();
    kway_merge(readers, |piece, counted| {
        writer
            .push(piece, counted)
            .map_err(TrainError::TemporaryFile)
    })?;
    writer.finish().map_err(TrainError::TemporaryFile)
}

/// Sums over sorted pieces.
#[derive(Debug, Default)]
pub(in crate::train::counting) struct SortedSum {
    /// Number of distinct pieces.
    pub(in crate::train::counting) pieces: u64,
    /// Number of occurrences.
    pub(in crate::train::counting) total: u64,
    /// Bytes of all occurrences.
    pub(in crate::train::counting) text_bytes: u128,
}

impl SortedSum {
    fn add(&mut self, piece: &[u8], count: u64) -> Result<(), TrainError> {
        self.pieces += 1;
        self.total = self
            .total
            .checked_add(count)
            .ok_or(TrainError::TooManyOccurrences)?;
        self.text_bytes += piece.len() as u128 * u128::from(count);
        Ok(())
    }
}

/// Sorted pieces in a file, which clones share.
#[derive(Clone, Debug)]
pub(crate) struct SortedRun {
    file: Arc<File>,
    /// Length of the file in bytes.
    size: u64,
    /// Number of pieces.
    pub(crate) pieces: usize,
    /// Total length of the pieces in bytes.
    pub(crate) bytes: usize,
    /// Number of occurrences.
    total: u64,
    /// Added to each position that is read.
    shift: u64,
}

impl SortedRun {
    /// Calls `visit(piece, counted)` for each piece, sorted by bytes.
    pub(in crate::train::counting) fn for_each(
        &self,
        visit: impl FnMut(&[u8], Counted) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        kway_merge(vec![self.reader()], visit)
    }

    /// Returns a reader of all pieces.
    fn reader(&self) -> RunReader {
        let source = SharedFile {
            file: Arc::clone(&self.file),
            offset: 0,
            remaining: self.size,
        };
        RunReader {
            source: BufReader::with_capacity(BUFFER, source),
            remaining: self.pieces,
            shift: self.shift,
            sort_key: 0,
            piece: Vec::new(),
            counted: Counted::NONE,
        }
    }
}

/// Writes a run.
#[derive(Debug)]
struct RunWriter {
    file: BufWriter<File>,
    size: u64,
    pieces: usize,
    bytes: usize,
    total: u64,
    /// The piece written last.
    previous: Vec<u8>,
}

impl RunWriter {
    /// Creates a temporary file.
    fn new() -> io::Result<Self> {
        Ok(Self {
            file: BufWriter::with_capacity(BUFFER, tempfile::tempfile()?),
            size: 0,
            pieces: 0,
            bytes: 0,
            total: 0,
            previous: Vec::new(),
        })
    }

    /// Appends a piece.
    fn push(&mut self, piece: &[u8], counted: Counted) -> io::Result<()> {
        let pairs = piece.iter().zip(&self.previous);
        let shared = pairs
            .take_while(|(byte, previous)| byte == previous)
            .count();
        let rest = &piece[shared..];
        self.write_number(shared as u64)?;
        self.write_number(rest.len() as u64)?;
        self.file.write_all(rest)?;
        self.size += rest.len() as u64;
        self.write_number(counted.count)?;
        self.write_number(counted.first)?;
        self.previous.truncate(shared);
        self.previous.with_room(rest.len()).extend_from_slice(rest);
        self.pieces += 1;
        self.bytes += piece.len();
        self.total += counted.count;
        Ok(())
    }

    fn write_number(&mut self, mut number: u64) -> io::Result<()> {
        let mut digits = [0; 10];
        let mut used = 0;
        for digit in &mut digits {
            used += 1;
            *digit = number.to_le_bytes()[0] | 0x80;
            number >>= 7;
            if number == 0 {
                *digit &= 0x7F;
                break;
            }
        }
        self.size += used as u64;
        self.file.write_all(&digits[..used])
    }

    /// Flushes the file and returns the run.
    fn finish(self) -> io::Result<SortedRun> {
        Ok(SortedRun {
            file: Arc::new(
                self.file
                    .into_inner()
                    .map_err(io::IntoInnerError::into_error)?,
            ),
            size: self.size,
            pieces: self.pieces,
            bytes: self.bytes,
            total: self.total,
            shift: 0,
        })
    }
}

/// Reads a run.
#[derive(Debug)]
struct RunReader {
    source: BufReader<SharedFile>,
    /// Number of pieces after the current one.
    remaining: usize,
    shift: u64,
    sort_key: u128,
    piece: Vec<u8>,
    counted: Counted,
}

impl RunReader {
    fn read_piece(&mut self) -> io::Result<()> {
        let shared = self.read_length()?;
        let rest = self.read_length()?;
        if shared > self.piece.len() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.piece.resize(shared + rest, 0);
        self.source.read_exact(&mut self.piece[shared..])?;
        self.counted = Counted {
            count: self.read_number()?,
            first: self.read_number()? + self.shift,
        };
        self.sort_key = SortOrder::Bytes.sort_key(&self.piece, self.counted);
        Ok(())
    }

    fn read_length(&mut self) -> io::Result<usize> {
        usize::try_from(self.read_number()?).map_err(io::Error::other)
    }

    #[inline]
    fn read_number(&mut self) -> io::Result<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let &digit = self
                .source
                .fill_buf()?
                .first()
                .ok_or(io::ErrorKind::UnexpectedEof)?;
            self.source.consume(1);
            number |= u64::from(digit & 0x7F) << shift;
            if digit < 0x80 {
                return Ok(number);
            }
        }
        Err(io::ErrorKind::InvalidData.into())
    }
}

impl PieceCursor for RunReader {
    fn sort_key(&self) -> u128 {
        self.sort_key
    }

    fn piece(&self) -> &[u8] {
        &self.piece
    }

    fn counted(&self) -> Counted {
        self.counted
    }

    fn advance(&mut self) -> Result<bool, TrainError> {
        if self.remaining == 0 {
            return Ok(false);
        }
        self.remaining -= 1;
        self.read_piece().map_err(TrainError::TemporaryFile)?;
        Ok(true)
    }
}

/// The rest of a file, read at its own offset, as several readers share the file.
#[derive(Debug)]
struct SharedFile {
    file: Arc<File>,
    offset: u64,
    remaining: u64,
}

impl Read for SharedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = usize::try_from(self.remaining)
            .map_or(buffer.len(), |remaining| remaining.min(buffer.len()));
        let read = read_at(&self.file, &mut buffer[..wanted], self.offset)?;
        self.offset += read as u64;
        self.remaining -= read as u64;
        Ok(read)
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// One thread reads at a time where there is neither: WebAssembly, which has no files.
#[cfg(not(any(unix, windows)))]
fn read_at(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    io::Seek::seek(&mut file, io::SeekFrom::Start(offset))?;
    file.read(buffer)
}

// Sorted counts from elsewhere, a table at a time: what other processes have counted and sorted.

/// Returns the next rows of a source, or `None` at its end.
pub type NextTable<'a> = Box<dyn FnMut() -> Result<Option<CountTable>, TrainError> + Send + 'a>;

/// Reads a source, and checks that each piece is greater than the one before it.
pub(super) struct TableCursor<'a> {
    next_table: NextTable<'a>,
    table: CountTable,
    /// The current row, and where its piece starts.
    row: usize,
    start: usize,
    sort_key: u128,
    /// The last piece of the table before.
    previous: Vec<u8>,
    /// Number of rows before the current one, which stands for the position of its first occurrence.
    rows: u64,
}

impl<'a> TableCursor<'a> {
    /// A cursor before the first row of a source.
    pub(super) fn new(next_table: NextTable<'a>) -> Self {
        Self {
            next_table,
            table: CountTable::default(),
            row: 0,
            start: 0,
            sort_key: 0,
            previous: Vec::new(),
            rows: 0,
        }
    }

    /// Moves to the next row of the table; false if there is none.
    fn next_row(&mut self) -> bool {
        let next = self.row + 1;
        let has_next = next < self.table.ends.len();
        if has_next {
            self.start = self.table.ends[self.row];
            self.row = next;
        }
        has_next
    }

    /// Moves to the first row of the next table that has rows; false at the end of the source.
    fn next_table(&mut self) -> Result<bool, TrainError> {
        if !self.table.ends.is_empty() {
            self.previous.clear();
            self.previous
                .extend_from_slice(&self.table.bytes[self.start..]);
        }
        while let Some(table) = (self.next_table)()? {
            if !table.ends.is_empty() {
                self.table = table;
                (self.row, self.start) = (0, 0);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl PieceCursor for TableCursor<'_> {
    fn sort_key(&self) -> u128 {
        self.sort_key
    }

    fn piece(&self) -> &[u8] {
        &self.table.bytes[self.start..self.table.ends[self.row]]
    }

    fn counted(&self) -> Counted {
        Counted {
            count: self.table.counts[self.row],
            first: self.rows - 1,
        }
    }

    fn advance(&mut self) -> Result<bool, TrainError> {
        let before = self.start;
        let is_sorted = if self.next_row() {
            self.table.bytes[before..self.start] < *self.piece()
        } else if self.next_table()? {
            self.rows == 0 || *self.previous < *self.piece()
        } else {
            return Ok(false);
        };
        if !is_sorted {
            return Err(TrainError::NotSorted(self.piece().to_vec()));
        }
        if self.table.counts[self.row] == 0 || self.piece().is_empty() {
            return Err(TrainError::NotCounted(self.piece().to_vec()));
        }
        self.rows += 1;
        self.sort_key = SortOrder::Bytes.sort_key(self.piece(), Counted::NONE);
        Ok(true)
    }
}
