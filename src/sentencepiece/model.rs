//! A model file that was read and checked.

use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;

use super::ModelError;
use super::spec::{DENORMALIZER, NORMALIZER, Spec, TRAINER, int32};
use super::wire::{Fields, Payload};
use crate::token::TokenId;
use crate::util::memory::{self, Growable};

/// A piece has less than this many bytes.
const MAX_PIECE: usize = 8000;

/// The type of a model: how normalized text becomes pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelType {
    /// Pieces whose scores have the greatest sum.
    Unigram,
    /// Byte pair encoding.
    Bpe,
    /// Words.
    Word,
    /// Characters.
    Char,
}

/// The type of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Learned from text.
    Normal = 1,
    /// Stands for text that no piece has.
    Unknown = 2,
    /// A mark such as the start of a text, which is not found in texts.
    Control = 3,
    /// Found in texts as a whole, before anything merges.
    UserDefined = 4,
    /// Merges, but falls apart again at the end.
    Unused = 5,
    /// One byte of text that no other piece has.
    Byte = 6,
}

impl Kind {
    /// All types, in the order of their numbers.
    pub const ALL: [Self; 6] = [
        Self::Normal,
        Self::Unknown,
        Self::Control,
        Self::UserDefined,
        Self::Unused,
        Self::Byte,
    ];

    /// The type with this number in files.
    pub fn from_number(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as i32 == number)
    }
}

/// A piece of the vocabulary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece<'a> {
    /// The normalized text that it stands for.
    pub text: &'a str,
    /// Of the candidates in a text, the one of highest score merges first.
    pub score: f32,
    /// Its type.
    pub kind: Kind,
}

/// Where a piece stands in the file, and what it says.
#[derive(Debug)]
struct Located {
    /// The text of the piece.
    text: Range<u32>,
    /// The message of the piece.
    message: Range<u32>,
    score: f32,
    kind: Kind,
}

/// A `SentencePiece` model: the bytes of its file, its pieces by id and its options. Immutable.
///
/// # Complexity
/// Reading is O(bytes).
#[derive(Debug)]
pub struct Model {
    bytes: Vec<u8>,
    pieces: Vec<Located>,
    ids: HashTable<u32>,
    trainer: Spec,
    normalizer: Spec,
    denormalizer: Spec,
    unknown: Option<u32>,
    /// The id of each byte's piece; empty unless `byte_fallback` is true.
    byte_pieces: Vec<u32>,
}

impl Model {
    /// Reads a model file.
    ///
    /// # Errors
    /// [`ModelError`] if the bytes are no model, or one that the original refuses.
    pub fn read(bytes: Vec<u8>) -> Result<Self, ModelError> {
        if i32::try_from(bytes.len()).is_err() {
            return Err(ModelError::TooLarge(bytes.len()));
        }
        let mut model = Self {
            bytes: Vec::new(),
            pieces: Vec::new(),
            ids: HashTable::new(),
            trainer: Spec::new(&TRAINER),
            normalizer: Spec::new(&NORMALIZER),
            denormalizer: Spec::new(&DENORMALIZER),
            unknown: None,
            byte_pieces: Vec::new(),
        };
        let mut has_trainer = false;
        for field in Fields::new(&bytes) {
            let field = field.map_err(|offset| ModelError::Malformed {
                message: "model",
                offset,
            })?;
            let range = field.payload_range();
            has_trainer |= field.number == 2;
            match (field.number, field.payload) {
                (1, Payload::Bytes(_)) => {
                    let id = model.pieces.len();
                    model
                        .pieces
                        .with_room(1)
                        .push(read_piece(id, &bytes, range)?);
                }
                (2, Payload::Bytes(_)) => model.trainer.read(&bytes, range)?,
                (3, Payload::Bytes(_)) => model.normalizer.read(&bytes, range)?,
                (5, Payload::Bytes(_)) => model.denormalizer.read(&bytes, range)?,
                _ => {}
            }
        }
        model.bytes = bytes;
        if !has_trainer && !model.pieces.is_empty() {
            // A part of a file would be read as a Unigram model with fewer pieces.
            return Err(ModelError::CutOff);
        }
        model.check()?;
        Ok(model)
    }

    /// Reads nothing of a model file, of any type of model, but how texts are normalized.
    ///
    /// # Errors
    /// [`ModelError::Malformed`] if the bytes are no model.
    pub fn normalizer_in(bytes: &[u8]) -> Result<Spec, ModelError> {
        let mut spec = Spec::new(&NORMALIZER);
        for field in Fields::new(bytes) {
            let field = field.map_err(|offset| ModelError::Malformed {
                message: "model",
                offset,
            })?;
            if let (3, Payload::Bytes(_)) = (field.number, field.payload) {
                spec.read(bytes, field.payload_range())?;
            }
        }
        Ok(spec)
    }

    /// Returns whether bytes begin like a model file: with a piece, as every file does that a trainer writes.
    pub fn is_likely(head: &[u8]) -> bool {
        let first = Fields::new(head).next();
        let Some(Ok(field)) = first else { return false };
        let (1, Payload::Bytes(message)) = (field.number, field.payload) else {
            return false;
        };
        let piece = Fields::new(message).next();
        matches!(piece, Some(Ok(field)) if field.number == 1 && matches!(field.payload, Payload::Bytes(_)))
    }

    /// Checks what the original checks when it loads a model, and finds the ids of strings and bytes.
    fn check(&mut self) -> Result<(), ModelError> {
        if self.pieces.is_empty() {
            return Err(ModelError::NoPieces);
        }
        if self.model_type() == ModelType::Unigram
            && let Some(id) = self
                .pieces
                .iter()
                .position(|piece| !piece.score.is_finite())
        {
            return Err(ModelError::NotFinite(id, self.text(id).to_owned()));
        }
        let byte_fallback = self.trainer.flag("byte_fallback");
        let mut bytes = [None; 256];
        self.ids = memory::hash_table(self.pieces.len());
        for id in 0..self.pieces.len() {
            if self.piece_bytes(id).contains(&0) {
                if !(byte_fallback && self.piece_bytes(id) == b"\0") {
                    return Err(ModelError::NulInPiece(id, self.text(id).to_owned()));
                }
                // The byte piece stands for it.
                self.pieces[id].kind = Kind::Unused;
            }
            self.insert(id)?;
            match self.pieces[id].kind {
                Kind::Unknown => {
                    if let Some(first) = self.unknown {
                        let [first, second] = [first as usize, id].map(|id| self.text(id));
                        return Err(ModelError::TwoUnknown(first.to_owned(), second.to_owned()));
                    }
                    self.unknown = Some(to_id(id));
                }
                Kind::Byte if !byte_fallback => {
                    return Err(ModelError::UnexpectedByte(id, self.text(id).to_owned()));
                }
                Kind::Byte => match byte_of(self.text(id)) {
                    Some(byte) => bytes[usize::from(byte)] = Some(to_id(id)),
                    None => return Err(ModelError::NotAByte(id, self.text(id).to_owned())),
                },
                _ => {}
            }
        }
        if byte_fallback {
            for (byte, id) in (0..=u8::MAX).zip(bytes) {
                self.byte_pieces
                    .push(id.ok_or(ModelError::MissingByte(byte))?);
            }
        } else if self.unknown.is_none() {
            return Err(ModelError::NoUnknown);
        }
        Ok(())
    }

    fn insert(&mut self, id: usize) -> Result<(), ModelError> {
        // As bytes: that they are UTF-8 is checked each time they are taken as text.
        let bytes = |id: u32| bytes_of(&self.bytes, &self.pieces[id as usize]);
        let entry = self.ids.entry(
            FxBuildHasher.hash_one(bytes(to_id(id))),
            |other| bytes(*other) == bytes(to_id(id)),
            |other| FxBuildHasher.hash_one(bytes(*other)),
        );
        match entry {
            Entry::Vacant(place) => {
                place.insert(to_id(id));
                Ok(())
            }
            Entry::Occupied(other) => Err(ModelError::DuplicatePiece {
                piece: String::from_utf8_lossy(bytes(*other.get())).into_owned(),
                ids: (*other.get() as usize, id),
            }),
        }
    }

    /// The type of the model.
    pub fn model_type(&self) -> ModelType {
        match self.trainer.integer("model_type") {
            1 => ModelType::Unigram,
            3 => ModelType::Word,
            4 => ModelType::Char,
            _ => ModelType::Bpe,
        }
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The pieces in the order of their ids.
    pub fn pieces(&self) -> impl ExactSizeIterator<Item = Piece<'_>> {
        (0..self.pieces.len()).map(|id| self.piece_at(id))
    }

    /// The text and id of each control piece, such as `</s>`, in the order of their ids.
    pub fn control_tokens(&self) -> impl Iterator<Item = (String, TokenId)> {
        let pieces = (0..).zip(self.pieces());
        let control = pieces.filter(|(_, piece)| piece.kind == Kind::Control);
        control.map(|(id, piece)| (piece.text.to_owned(), id))
    }

    /// The number of pieces.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Never: a model without pieces is refused.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The piece of an id.
    pub fn piece(&self, id: u32) -> Option<Piece<'_>> {
        ((id as usize) < self.pieces.len()).then(|| self.piece_at(id as usize))
    }

    /// The id of a piece with exactly this text.
    pub fn find(&self, piece: &str) -> Option<u32> {
        let piece = piece.as_bytes();
        let hash = FxBuildHasher.hash_one(piece);
        let found = self
            .ids
            .find(hash, |id| self.piece_bytes(*id as usize) == piece);
        found.copied()
    }

    /// How the model was trained.
    pub fn trainer(&self) -> &Spec {
        &self.trainer
    }

    /// How texts are normalized.
    pub fn normalizer(&self) -> &Spec {
        &self.normalizer
    }

    /// How decoded texts are normalized: not at all, unless it has a map of characters.
    pub fn denormalizer(&self) -> &Spec {
        &self.denormalizer
    }

    /// The id of each byte's piece, if `byte_fallback` is true.
    pub fn byte_pieces(&self) -> Option<&[u32; 256]> {
        self.byte_pieces.as_slice().try_into().ok()
    }

    /// The id of the only piece of type UNKNOWN, which encoding gives to text that no piece has.
    pub fn unknown(&self) -> Option<u32> {
        self.unknown
    }

    /// The id of the piece that the file calls unknown; `None` if that is of another type.
    pub fn unk_id(&self) -> Option<u32> {
        let named = self.find(&self.special_piece("unk_piece")).or(self.unknown);
        named.filter(|id| Some(*id) == self.unknown)
    }

    /// The id of the control piece that begins a text.
    pub fn bos_id(&self) -> Option<u32> {
        self.control("bos_piece")
    }

    /// The id of the control piece that ends a text.
    pub fn eos_id(&self) -> Option<u32> {
        self.control("eos_piece")
    }

    /// The id of the control piece that pads a text.
    pub fn pad_id(&self) -> Option<u32> {
        self.control("pad_piece")
    }

    fn control(&self, option: &str) -> Option<u32> {
        let id = self.find(&self.special_piece(option))?;
        (self.pieces[id as usize].kind == Kind::Control).then_some(id)
    }

    /// The string of a special piece: the default's, if the file has an empty one.
    pub fn special_piece(&self, option: &str) -> String {
        let mut piece = self.trainer.bytes(option);
        if piece.is_empty() {
            piece = Spec::new(&TRAINER).bytes(option);
        }
        String::from_utf8_lossy(&piece).into_owned()
    }

    /// The message of each piece in the order of their ids.
    pub(super) fn piece_messages(&self) -> impl Iterator<Item = &[u8]> {
        let pieces = self.pieces.iter();
        pieces.map(|piece| &self.bytes[range(&piece.message)])
    }

    fn piece_at(&self, id: usize) -> Piece<'_> {
        let entry = &self.pieces[id];
        Piece {
            text: self.text(id),
            score: entry.score,
            kind: entry.kind,
        }
    }

    fn text(&self, id: usize) -> &str {
        str::from_utf8(self.piece_bytes(id)).expect("checked when the piece was read")
    }

    fn piece_bytes(&self, id: usize) -> &[u8] {
        bytes_of(&self.bytes, &self.pieces[id])
    }
}

fn bytes_of<'a>(bytes: &'a [u8], entry: &Located) -> &'a [u8] {
    &bytes[range(&entry.text)]
}

fn range(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

fn to_id(index: usize) -> u32 {
    u32::try_from(index).expect("a piece takes bytes, of which there are less than 2 GiB")
}

/// The byte that a piece is written for, with upper-case digits alone.
fn byte_of(piece: &str) -> Option<u8> {
    let digits = piece.strip_prefix("<0x")?.strip_suffix('>')?;
    let written = digits.len() == 2
        && digits
            .bytes()
            .all(|digit| matches!(digit, b'0'..=b'9' | b'A'..=b'F'));
    written.then(|| u8::from_str_radix(digits, 16).ok())?
}

/// Reads the message of piece `id`, which stands at `message` of the file.
fn read_piece(id: usize, file: &[u8], message: Range<usize>) -> Result<Located, ModelError> {
    let mut entry = Located {
        text: 0..0,
        message: offsets(&message),
        score: 0.0,
        kind: Kind::Normal,
    };
    for field in Fields::new(&file[message.clone()]) {
        let field = field.map_err(|offset| ModelError::Malformed {
            message: "message of a piece",
            offset: message.start + offset,
        })?;
        match (field.number, field.payload) {
            (1, Payload::Bytes(_)) => {
                let at = field.payload_range();
                entry.text = offsets(&(message.start + at.start..message.start + at.end));
            }
            (2, Payload::Fixed32(bits)) => entry.score = f32::from_le_bytes(bits),
            (3, Payload::Varint(number)) => {
                entry.kind = Kind::from_number(int32(number)).unwrap_or(entry.kind);
            }
            _ => {}
        }
    }
    let text = &file[range(&entry.text)];
    if text.is_empty() {
        return Err(ModelError::EmptyPiece(id));
    }
    if text.len() >= MAX_PIECE {
        return Err(ModelError::LongPiece(id, text.len()));
    }
    if str::from_utf8(text).is_err() {
        return Err(ModelError::NotUtf8(id, text.to_vec()));
    }
    Ok(entry)
}

fn offsets(range: &Range<usize>) -> Range<u32> {
    to_id(range.start)..to_id(range.end)
}
