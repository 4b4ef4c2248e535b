//! Any bytes as the file of a SentencePiece model, and real files with changes: read or refused, and written alike.

use bytemill::sentencepiece::{Draft, DraftPiece, Kind, Model, Value};

use crate::input::Input;

pub(crate) fn run(mut input: Input) {
    let choice = input.byte();
    let cuts = [input.byte(), input.byte(), input.byte()].map(usize::from);
    let mut bytes = if choice & 1 == 0 {
        small(choice & 2 > 0).to_bytes()
    } else {
        Vec::new()
    };
    let at = (cuts[0] * 256 + cuts[1]) % (bytes.len() + 1);
    let until = (at + cuts[2] % 16).min(bytes.len());
    bytes.splice(at..until, input.rest().iter().copied());
    let Ok(model) = Model::read(bytes.clone()) else {
        return;
    };
    assert_eq!(model.bytes(), bytes);
    for (id, piece) in (0..).zip(model.pieces()) {
        assert_eq!(model.find(piece.text), Some(id));
        assert_eq!(model.piece(id).map(|piece| piece.text), Some(piece.text));
    }
    // What is written holds the same, and is written so again.
    let written = Draft::of(&model).to_bytes();
    let again = Model::read(written.clone()).expect("a model that was written");
    let seen = |model: &Model| -> Vec<(String, u32, Kind)> {
        let pieces = model.pieces();
        pieces
            .map(|piece| (piece.text.to_owned(), piece.score.to_bits(), piece.kind))
            .collect()
    };
    assert_eq!(seen(&model), seen(&again));
    assert_eq!(Draft::of(&again).to_bytes(), written);
}

fn small(has_bytes: bool) -> Draft {
    let mut draft = Draft::default();
    draft
        .pieces
        .push(DraftPiece::new("<unk>", 0.0, Kind::Unknown));
    draft
        .pieces
        .push(DraftPiece::new("<s>", 0.0, Kind::Control));
    for (number, text) in ["ab", "\u{2581}a", "a", "b", "\u{2581}"]
        .into_iter()
        .enumerate()
    {
        let score = -f32::from(u8::try_from(number).expect("small"));
        draft
            .pieces
            .push(DraftPiece::new(text, score, Kind::Normal));
    }
    if has_bytes {
        for byte in 0..=u8::MAX {
            draft
                .pieces
                .push(DraftPiece::new(&format!("<0x{byte:02X}>"), 0.0, Kind::Byte));
        }
        let set = draft.trainer.set("byte_fallback", vec![Value::Bool(true)]);
        set.expect("an option");
    }
    let set = draft.trainer.set("model_type", vec![Value::Integer(2)]);
    set.expect("an option");
    draft
}
