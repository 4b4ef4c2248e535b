//! A sorted run: counted pieces, in order, in a temporary file.
//!
//! Each piece is written as: the length of the prefix it shares with the piece before, the length of the
//! rest, the rest, the count, the position of its first occurrence. Numbers are LEB128: seven bits a byte,
//! lowest first, the highest bit set in all bytes but the last.
//!
//! The file is deleted, or has no name from the start where the system allows it, so it vanishes with the
//! last clone of the run, or with the process.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;

use super::super::counted::Counted;
use super::kway_merge::{PieceCursor, SortOrder};
use crate::error::TrainError;
use crate::util::memory::Growable;

/// Bytes written or read by one system call.
const BUFFER: usize = 1 << 16;

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
    /// Added to each position that is read.
    pub(super) shift: u64,
}

impl SortedRun {
    /// Returns a reader of all pieces. `order` is the one that they were written in.
    pub(super) fn reader(&self, order: SortOrder) -> RunReader {
        let source = SharedFile {
            file: Arc::clone(&self.file),
            offset: 0,
            remaining: self.size,
        };
        RunReader {
            source: BufReader::with_capacity(BUFFER, source),
            remaining: self.pieces,
            shift: self.shift,
            order,
            sort_key: 0,
            piece: Vec::new(),
            counted: Counted::NONE,
        }
    }
}

/// Writes a run.
#[derive(Debug)]
pub(super) struct RunWriter {
    file: BufWriter<File>,
    size: u64,
    pieces: usize,
    bytes: usize,
    /// The piece written last.
    previous: Vec<u8>,
}

impl RunWriter {
    /// Creates a temporary file in a directory.
    pub(super) fn new(directory: &Path) -> io::Result<Self> {
        Ok(Self {
            file: BufWriter::with_capacity(BUFFER, tempfile::tempfile_in(directory)?),
            size: 0,
            pieces: 0,
            bytes: 0,
            previous: Vec::new(),
        })
    }

    /// Appends a piece.
    pub(super) fn push(&mut self, piece: &[u8], counted: Counted) -> io::Result<()> {
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
    pub(super) fn finish(self) -> io::Result<SortedRun> {
        Ok(SortedRun {
            file: Arc::new(
                self.file
                    .into_inner()
                    .map_err(io::IntoInnerError::into_error)?,
            ),
            size: self.size,
            pieces: self.pieces,
            bytes: self.bytes,
            shift: 0,
        })
    }
}

/// Reads a run.
#[derive(Debug)]
pub(super) struct RunReader {
    source: BufReader<SharedFile>,
    /// Number of pieces after the current one.
    remaining: usize,
    shift: u64,
    order: SortOrder,
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
        self.sort_key = self.order.sort_key(&self.piece, self.counted);
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
