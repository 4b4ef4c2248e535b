//! A run: counted pieces in order, in a temporary file.
//!
//! A piece is written as four numbers, and bytes: how many bytes at its beginning are those of the piece before, how
//! many follow; those; how often it occurs; its first place. A number is written seven bits a byte, lowest first, all
//! but the last byte marked by the highest bit.
//!
//! The file has no name where the system can do without, and vanishes with the last one that holds it, or the process.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;

use super::ordered::{Cursor, Order};
use super::table::Counted;
use crate::error::TrainError;

/// What is written, and read, at once.
const BUFFER: usize = 1 << 16;

/// Pieces in a file. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Run {
    file: Arc<File>,
    /// How many bytes the file has.
    size: u64,
    /// How many pieces there are.
    pub(super) pieces: usize,
    /// How many bytes they have in all.
    pub(super) bytes: usize,
    /// How much later the places are than they are written.
    pub(super) later: u64,
}

impl Run {
    /// Reads the pieces from the first on.
    pub(super) fn reader(&self, order: Order) -> Reader {
        let source = Source {
            file: Arc::clone(&self.file),
            place: 0,
            left: self.size,
        };
        Reader {
            source: BufReader::with_capacity(BUFFER, source),
            left: self.pieces,
            later: self.later,
            order,
            number: 0,
            piece: Vec::new(),
            counted: Counted { count: 0, first: 0 },
        }
    }
}

/// Writes a run.
#[derive(Debug)]
pub(super) struct Writer {
    file: BufWriter<File>,
    size: u64,
    pieces: usize,
    bytes: usize,
    /// The piece before.
    before: Vec<u8>,
}

impl Writer {
    /// Writes to a new file in a directory.
    pub(super) fn new(directory: &Path) -> io::Result<Self> {
        Ok(Self {
            file: BufWriter::with_capacity(BUFFER, tempfile::tempfile_in(directory)?),
            size: 0,
            pieces: 0,
            bytes: 0,
            before: Vec::new(),
        })
    }

    /// Adds a piece.
    pub(super) fn push(&mut self, piece: &[u8], counted: Counted) -> io::Result<()> {
        let pairs = piece.iter().zip(&self.before);
        let shared = pairs.take_while(|(byte, before)| byte == before).count();
        let rest = &piece[shared..];
        self.number(shared as u64)?;
        self.number(rest.len() as u64)?;
        self.file.write_all(rest)?;
        self.size += rest.len() as u64;
        self.number(counted.count)?;
        self.number(counted.first)?;
        self.before.truncate(shared);
        self.before.extend_from_slice(rest);
        self.pieces += 1;
        self.bytes += piece.len();
        Ok(())
    }

    fn number(&mut self, mut number: u64) -> io::Result<()> {
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

    /// What was written.
    pub(super) fn finish(self) -> io::Result<Run> {
        Ok(Run {
            file: Arc::new(
                self.file
                    .into_inner()
                    .map_err(io::IntoInnerError::into_error)?,
            ),
            size: self.size,
            pieces: self.pieces,
            bytes: self.bytes,
            later: 0,
        })
    }
}

/// Reads a run.
#[derive(Debug)]
pub(super) struct Reader {
    source: BufReader<Source>,
    /// How many pieces come after this one.
    left: usize,
    later: u64,
    order: Order,
    number: u128,
    piece: Vec<u8>,
    counted: Counted,
}

impl Reader {
    fn read(&mut self) -> io::Result<()> {
        let shared = self.length()?;
        let rest = self.length()?;
        self.piece.resize(shared + rest, 0);
        self.source.read_exact(&mut self.piece[shared..])?;
        self.counted = Counted {
            count: self.digits()?,
            first: self.digits()? + self.later,
        };
        self.number = self.order.number(&self.piece, self.counted);
        Ok(())
    }

    fn length(&mut self) -> io::Result<usize> {
        usize::try_from(self.digits()?).map_err(io::Error::other)
    }

    #[inline]
    fn digits(&mut self) -> io::Result<u64> {
        let mut number = 0;
        let mut shift = 0;
        loop {
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
            shift += 7;
        }
    }
}

impl Cursor for Reader {
    fn number(&self) -> u128 {
        self.number
    }

    fn piece(&self) -> &[u8] {
        &self.piece
    }

    fn counted(&self) -> Counted {
        self.counted
    }

    fn advance(&mut self) -> Result<bool, TrainError> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        self.read().map_err(TrainError::TemporaryFile)?;
        Ok(true)
    }
}

/// What is left of a file, whoever else reads it.
#[derive(Debug)]
struct Source {
    file: Arc<File>,
    place: u64,
    left: u64,
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = usize::try_from(self.left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let read = read_at(&self.file, &mut buffer[..wanted], self.place)?;
        self.place += read as u64;
        self.left -= read as u64;
        Ok(read)
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, place)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, place)
}
