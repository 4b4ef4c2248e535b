//! A model to be written: a new one, or an edited one.

use super::ModelError;
use super::model::{Kind, Model};
use super::spec::{DENORMALIZER, NORMALIZER, Spec, TRAINER, int32};
use super::wire::{Fields, Payload, write_bytes, write_fixed32, write_varint};
use crate::util::memory::Growable;

/// A piece to be written, with what its message says: a field is written if it is present.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DraftPiece {
    text: Vec<u8>,
    score: Option<f32>,
    kind: Option<Kind>,
    unknown: Vec<u8>,
    /// The message as it was read, until it is changed.
    source: Option<Vec<u8>>,
}

impl DraftPiece {
    /// A new piece. The type NORMAL is not written, because it is the default.
    pub fn new(text: &str, score: f32, kind: Kind) -> Self {
        Self {
            text: text.into(),
            score: Some(score),
            kind: Some(kind).filter(|kind| *kind != Kind::Normal),
            ..Self::default()
        }
    }

    fn read(message: &[u8]) -> Self {
        let mut piece = Self {
            source: Some(message.to_vec()),
            ..Self::default()
        };
        for field in Fields::new(message).flatten() {
            let kind = match field.payload {
                Payload::Varint(number) if field.number == 3 => Kind::from_number(int32(number)),
                _ => None,
            };
            match (field.number, field.payload) {
                (1, Payload::Bytes(text)) => piece.text = text.to_vec(),
                (2, Payload::Fixed32(bits)) => piece.score = Some(f32::from_le_bytes(bits)),
                (3, _) if kind.is_some() => piece.kind = kind,
                _ => piece.unknown.extend(&message[field.range]),
            }
        }
        piece
    }

    /// Changes what the piece says. What is already so keeps its bytes, and unknown fields stay.
    pub fn set(&mut self, text: &str, score: f32, kind: Kind) {
        if self.text != text.as_bytes() {
            self.text = text.into();
            self.source = None;
        }
        if self.score.unwrap_or_default().to_bits() != score.to_bits() {
            self.score = Some(score);
            self.source = None;
        }
        if self.kind.unwrap_or(Kind::Normal) != kind {
            self.kind = Some(kind);
            self.source = None;
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        if let Some(source) = &self.source {
            return source.clone();
        }
        let mut out = Vec::with_capacity(self.text.len() + 9);
        write_bytes(1, &self.text, &mut out);
        if let Some(score) = self.score {
            write_fixed32(2, score.to_le_bytes(), &mut out);
        }
        if let Some(kind) = self.kind {
            write_varint(3, kind as u64, &mut out);
        }
        out.extend(&self.unknown);
        out
    }
}

/// A model to be written. Parts that were read from a file and not changed keep their bytes.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The pieces in the order of their ids.
    pub pieces: Vec<DraftPiece>,
    /// How the model was trained.
    pub trainer: Spec,
    /// How texts are normalized.
    pub normalizer: Spec,
    /// How decoded texts are normalized.
    pub denormalizer: Spec,
    /// The fields with samples that older versions tested themselves with.
    self_test: Vec<u8>,
    unknown: Vec<u8>,
}

impl Default for Draft {
    fn default() -> Self {
        Self {
            pieces: Vec::new(),
            trainer: Spec::new(&TRAINER),
            normalizer: Spec::new(&NORMALIZER),
            denormalizer: Spec::new(&DENORMALIZER),
            self_test: Vec::new(),
            unknown: Vec::new(),
        }
    }
}

impl Draft {
    /// A model as a draft, whose parts keep their bytes until they are changed.
    pub fn of(model: &Model) -> Self {
        let mut draft = Self {
            pieces: model.piece_messages().map(DraftPiece::read).collect(),
            trainer: model.trainer().clone(),
            normalizer: model.normalizer().clone(),
            denormalizer: model.denormalizer().clone(),
            ..Self::default()
        };
        for field in Fields::new(model.bytes()).flatten() {
            let known = matches!((field.number, field.payload), (1..=5, Payload::Bytes(_)));
            if !known {
                draft.unknown.extend(&model.bytes()[field.range]);
            } else if field.number == 4 {
                draft.self_test.extend(&model.bytes()[field.range]);
            }
        }
        draft
    }

    /// The bytes of the model's file: fields in ascending order, then unknown ones.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for piece in &self.pieces {
            let piece = piece.to_bytes();
            write_bytes(1, &piece, out.with_room(piece.len() + MAX_HEADER));
        }
        write_spec(2, &self.trainer, &mut out);
        write_spec(3, &self.normalizer, &mut out);
        out.extend(&self.self_test);
        write_spec(5, &self.denormalizer, &mut out);
        out.extend(&self.unknown);
        out
    }

    /// The model, checked.
    ///
    /// # Errors
    /// [`ModelError`] if it is none that can be loaded.
    pub fn build(&self) -> Result<Model, ModelError> {
        Model::read(self.to_bytes())
    }
}

/// Bytes of the number and the length of a field at most.
const MAX_HEADER: usize = 20;

fn write_spec(number: u32, spec: &Spec, out: &mut Vec<u8>) {
    if spec.is_present() {
        let bytes = spec.to_bytes();
        write_bytes(number, &bytes, out.with_room(bytes.len() + MAX_HEADER));
    }
}
