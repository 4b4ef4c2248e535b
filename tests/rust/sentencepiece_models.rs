//! Model files of `SentencePiece`: read, refused, edited and written.

use std::iter;

use bytemill::sentencepiece::{Draft, DraftPiece, Kind, Model, ModelError, ModelType, Value};

type Outcome = Result<(), ModelError>;

/// A small model that loads.
fn draft() -> Draft {
    let mut draft = Draft::default();
    for (text, kind) in [
        ("<unk>", Kind::Unknown),
        ("<s>", Kind::Control),
        ("</s>", Kind::Control),
        ("ab", Kind::Normal),
        ("a", Kind::Normal),
        ("b", Kind::Normal),
    ] {
        draft.pieces.push(DraftPiece::new(text, 0.0, kind));
    }
    let set = draft.trainer.set("model_type", vec![Value::Integer(2)]);
    set.expect("2 is BPE");
    draft
}

fn with_piece(text: &str, kind: Kind) -> Draft {
    let mut draft = draft();
    draft.pieces.push(DraftPiece::new(text, 0.0, kind));
    draft
}

fn with_bytes() -> Draft {
    let mut draft = draft();
    let set = draft.trainer.set("byte_fallback", vec![Value::Bool(true)]);
    set.expect("it is a truth value");
    for byte in 0..=u8::MAX {
        let text = format!("<0x{byte:02X}>");
        draft.pieces.push(DraftPiece::new(&text, 0.0, Kind::Byte));
    }
    draft
}

fn field(number: u32, message: &[u8]) -> Vec<u8> {
    let mut out = vec![u8::try_from(number << 3 | 2).expect("a small number")];
    out.push(u8::try_from(message.len()).expect("a short message"));
    out.extend(message);
    out
}

/// The refusal of bytes.
fn refusal(bytes: &[u8]) -> ModelError {
    Model::read(bytes.to_vec()).expect_err("it is refused")
}

#[test]
fn pieces_have_the_ids_scores_and_types_of_the_file() -> Outcome {
    let mut draft = draft();
    draft.pieces.push(DraftPiece::new("▁a", -0.0, Kind::Unused));
    let model = draft.build()?;
    let pieces: Vec<_> = model
        .pieces()
        .map(|piece| (piece.text, piece.kind))
        .collect();
    assert_eq!(pieces[0], ("<unk>", Kind::Unknown));
    assert_eq!(pieces[6], ("▁a", Kind::Unused));
    assert_eq!(
        model.piece(6).map(|piece| piece.score.to_bits()),
        Some(1 << 31)
    );
    assert_eq!(model.piece(7), None);
    assert_eq!((model.find("ab"), model.find("abc")), (Some(3), None));
    assert_eq!(model.len(), 7);
    Ok(())
}

#[test]
fn only_what_was_set_is_written() -> Outcome {
    let mut draft = Draft::default();
    draft
        .pieces
        .push(DraftPiece::new("<unk>", 0.0, Kind::Unknown));
    draft.pieces.push(DraftPiece::new("a", -0.0, Kind::Normal));
    draft.trainer.set("model_type", vec![Value::Integer(2)])?;
    draft.trainer.set("pad_id", vec![Value::Integer(-1)])?;
    draft
        .normalizer
        .set("precompiled_charsmap", vec![Value::Bytes(Vec::new())])?;
    draft
        .normalizer
        .set("name", vec![Value::Bytes("identity".into())])?;
    let mut expected = field(1, b"\x0a\x05<unk>\x15\0\0\0\0\x18\x02");
    expected.extend(field(1, b"\x0a\x01a\x15\0\0\0\x80"));
    expected.extend(field(
        2,
        b"\x18\x02\xd8\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    ));
    expected.extend(field(3, b"\x0a\x08identity\x12\x00"));
    assert_eq!(draft.to_bytes(), expected);
    let model = draft.build()?;
    assert_eq!(model.bytes(), expected);
    assert_eq!(model.trainer().integer("pad_id"), -1);
    assert_eq!(model.trainer().integer("vocab_size"), 8000);
    assert!(model.normalizer().flag("add_dummy_prefix"));
    Ok(())
}

#[test]
fn edits_keep_the_bytes_of_the_rest() -> Outcome {
    // Fields in another order, a type that is written though it is the default, a number in two bytes more than it needs.
    let odd = b"\x18\x01\x0a\x02zz\x15\0\0\x80\x3f\xc2\x0c\x03new";
    let mut bytes = draft().to_bytes();
    let spec = field(3, b"\x18\x80\x80\x00\xc2\x0c\x03new");
    bytes.extend(field(1, odd));
    bytes.extend(&spec);
    bytes.extend(field(4, b"samples"));
    bytes.extend(b"\xc2\x0c\x04more");
    let model = Model::read(bytes)?;
    assert_eq!(
        model.piece(6).map(|piece| (piece.text, piece.score)),
        Some(("zz", 1.0))
    );
    assert!(!model.normalizer().flag("add_dummy_prefix"));

    let mut edited = Draft::of(&model);
    edited.pieces[4].set("c", 0.0, Kind::Normal);
    let written = edited.build()?;
    let after = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|at| at == part);
    for part in [&field(1, odd), &spec, &field(4, b"samples")] {
        assert!(after(written.bytes(), part));
    }
    assert!(written.bytes().ends_with(b"\xc2\x0c\x04more"));
    assert_eq!(written.find("c"), Some(4));

    // What is set to what it is stays as it was written; what changes keeps its unknown fields.
    edited.pieces[6].set("zz", 1.0, Kind::Normal);
    edited
        .normalizer
        .set("add_dummy_prefix", vec![Value::Bool(false)])?;
    assert_eq!(edited.to_bytes(), written.bytes());
    edited.pieces[6].set("zz", 2.0, Kind::Normal);
    edited
        .normalizer
        .set("add_dummy_prefix", vec![Value::Bool(true)])?;
    let changed = edited.to_bytes();
    assert!(after(
        &changed,
        &field(1, b"\x0a\x02zz\x15\0\0\0\x40\x18\x01\xc2\x0c\x03new")
    ));
    assert!(after(&changed, &field(3, b"\x18\x01\xc2\x0c\x03new")));
    Ok(())
}

#[test]
fn special_ids_are_found_by_their_strings() -> Outcome {
    let model = draft().build()?;
    assert_eq!(
        (model.unk_id(), model.bos_id(), model.eos_id()),
        (Some(0), Some(1), Some(2))
    );
    assert_eq!(model.pad_id(), None);

    let mut other = draft();
    other.pieces[1].set("<s>", 0.0, Kind::UserDefined);
    other.trainer.set("bos_id", vec![Value::Integer(2)])?;
    // An empty name is the default's.
    other
        .trainer
        .set("eos_piece", vec![Value::Bytes(Vec::new())])?;
    other
        .trainer
        .set("pad_piece", vec![Value::Bytes("a".into())])?;
    other
        .trainer
        .set("unk_piece", vec![Value::Bytes("no piece".into())])?;
    let model = other.build()?;
    assert_eq!(
        (model.bos_id(), model.eos_id(), model.pad_id()),
        (None, Some(2), None)
    );
    assert_eq!(model.unk_id(), Some(0));
    other
        .trainer
        .set("unk_piece", vec![Value::Bytes("a".into())])?;
    assert_eq!(other.build()?.unk_id(), None);
    Ok(())
}

#[test]
fn models_that_the_original_refuses_are_refused() -> Outcome {
    let refused = |draft: &Draft| draft.build().expect_err("it is refused");
    assert_eq!(refused(&Draft::default()), ModelError::NoPieces);
    assert_eq!(
        refused(&with_piece("", Kind::Normal)),
        ModelError::EmptyPiece(6)
    );
    assert_eq!(
        refused(&with_piece(&"a".repeat(8000), Kind::Normal)),
        ModelError::LongPiece(6, 8000)
    );
    with_piece(&"a".repeat(7999), Kind::Normal).build()?;
    assert_eq!(
        refused(&with_piece("a\0", Kind::Normal)),
        ModelError::NulInPiece(6, "a\0".into())
    );
    assert_eq!(
        refused(&with_piece("\0", Kind::Normal)),
        ModelError::NulInPiece(6, "\0".into())
    );
    assert_eq!(
        refused(&with_piece("ab", Kind::Control)),
        ModelError::DuplicatePiece {
            piece: "ab".into(),
            ids: (3, 6)
        }
    );
    assert_eq!(
        refused(&with_piece("<u>", Kind::Unknown)),
        ModelError::TwoUnknown("<unk>".into(), "<u>".into())
    );
    assert_eq!(
        refused(&with_piece("<0x41>", Kind::Byte)),
        ModelError::UnexpectedByte(6, "<0x41>".into())
    );
    let mut known = draft();
    known.pieces.remove(0);
    assert_eq!(refused(&known), ModelError::NoUnknown);

    let mut bytes = with_bytes();
    bytes.pieces.remove(0);
    let model = bytes.build()?;
    assert_eq!(model.unk_id(), None);
    assert_eq!(model.byte_pieces().map(|pieces| pieces[65]), Some(70));
    bytes.pieces.push(DraftPiece::new("\0", 0.0, Kind::Normal));
    assert_eq!(
        bytes.build()?.piece(261).map(|piece| piece.kind),
        Some(Kind::Unused)
    );
    bytes.pieces[70].set("<0x4a>", 0.0, Kind::Byte);
    assert_eq!(refused(&bytes), ModelError::NotAByte(70, "<0x4a>".into()));
    bytes.pieces.remove(70);
    assert_eq!(refused(&bytes), ModelError::MissingByte(65));
    Ok(())
}

#[test]
fn models_say_their_type() -> Outcome {
    let types = [
        ModelType::Unigram,
        ModelType::Bpe,
        ModelType::Word,
        ModelType::Char,
    ];
    for (number, model_type) in (1..).zip(types) {
        let mut draft = draft();
        let number = vec![Value::Integer(number)];
        draft.trainer.set("model_type", number)?;
        assert_eq!(draft.build()?.model_type(), model_type);
    }
    // Absent is Unigram, and so is a number that stands for no type.
    let mut draft = draft();
    draft.trainer.set("model_type", Vec::new())?;
    assert_eq!(draft.build().err(), Some(ModelError::CutOff));
    draft.trainer.set("vocab_size", vec![Value::Integer(6)])?;
    assert_eq!(draft.build()?.model_type(), ModelType::Unigram);
    let mut bytes = draft.to_bytes();
    bytes.extend(field(2, b"\x18\x07"));
    assert_eq!(Model::read(bytes)?.model_type(), ModelType::Unigram);
    draft
        .pieces
        .push(DraftPiece::new("z", f32::NAN, Kind::Normal));
    assert!(matches!(draft.build(), Err(ModelError::NotFinite(..))));
    Ok(())
}

#[test]
fn options_are_checked_by_name_and_type() {
    let mut draft = draft();
    for (name, value) in [
        ("vocab_size", Value::Bool(true)),
        ("vocab_size", Value::Integer(1 << 31)),
        ("model_type", Value::Integer(5)),
        ("input_sentence_size", Value::Integer(-1)),
        ("byte_fallback", Value::Integer(1)),
        ("character_coverage", Value::Integer(1)),
        ("unk_piece", Value::Bool(true)),
    ] {
        let refused = draft.trainer.set(name, vec![value]);
        assert!(matches!(refused, Err(ModelError::WrongValue { field, .. }) if field == name));
    }
    let twice = vec![Value::Bool(true), Value::Bool(true)];
    assert!(draft.trainer.set("byte_fallback", twice).is_err());
    let unknown = draft.trainer.set("nbest", vec![Value::Bool(true)]);
    let Err(unknown) = unknown else {
        panic!("there is no such option")
    };
    let expected = "the trainer_spec has no field \"nbest\": expected one of its fields";
    assert_eq!(unknown.to_string(), expected);
}

#[test]
fn files_cut_off_anywhere_are_refused_or_whole() {
    let bytes = with_bytes().to_bytes();
    let mut malformed = 0;
    for end in 0..bytes.len() {
        malformed += usize::from(matches!(
            refusal(&bytes[..end]),
            ModelError::Malformed { .. }
        ));
    }
    // Only a cut between fields leaves a message, which then has no type or no bytes.
    assert!(
        malformed > bytes.len() * 9 / 10,
        "{malformed} of {}",
        bytes.len()
    );
}

#[test]
fn damaged_files_are_refused_or_read() {
    let whole = with_bytes().to_bytes();
    let mut state = 1_u64;
    let mut read = 0;
    for _ in 0..20_000 {
        let mut bytes = whole.clone();
        for _ in 0..3 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(state >> 33).expect("31 bits") % bytes.len();
            bytes[at] = state.to_le_bytes()[3];
        }
        if let Ok(model) = Model::read(bytes) {
            read += 1;
            // What was read can be written, and says the same again.
            let again = Draft::of(&model).build().expect("it was read before");
            assert!(model.pieces().eq(again.pieces()));
        }
    }
    assert!(read > 0);
}

#[test]
fn absurd_lengths_numbers_and_groups_are_refused() {
    let valid = draft().to_bytes();
    let absurd: [&[u8]; 10] = [
        b"\x0a\xff\xff\xff\xff\x0f",
        b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\x0a\x7f",
        b"\x0a",
        b"\x10\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
        b"\x10\xff",
        b"\x00\x00",
        b"\x0c",
        b"\x0f",
        b"\xff\xff\xff\xff\xff\x01",
    ];
    for tail in absurd {
        let bytes = [&valid, tail].concat();
        assert!(
            matches!(refusal(&bytes), ModelError::Malformed { offset, .. } if offset == valid.len()),
            "{tail:x?}"
        );
    }
    // Groups in groups, deeper than any message is.
    let deep: Vec<u8> = valid
        .iter()
        .copied()
        .chain(iter::repeat_n(0x53, 100_000))
        .collect();
    assert!(matches!(refusal(&deep), ModelError::Malformed { .. }));
    assert!(matches!(
        refusal(b"hello world, no model"),
        ModelError::Malformed { .. }
    ));
    assert_eq!(refusal(b""), ModelError::NoPieces);
    // A group that ends is an unknown field.
    let group = [valid.as_slice(), b"\x53\x08\x01\x54"].concat();
    assert!(Model::read(group).is_ok());
}

#[test]
fn damage_within_a_message_is_found_where_it_stands() {
    let valid = draft().to_bytes();
    for (number, message) in [
        (1, "message of a piece"),
        (2, "trainer_spec"),
        (3, "normalizer_spec"),
    ] {
        let bytes = [valid.clone(), field(number, b"\x0a\x01z\x0a\x09z")].concat();
        let offset = valid.len() + 5;
        assert_eq!(refusal(&bytes), ModelError::Malformed { message, offset });
    }
    let invalid = [valid, field(1, b"\x0a\x01\xff")].concat();
    assert_eq!(refusal(&invalid), ModelError::NotUtf8(6, vec![0xff]));
}

#[test]
fn model_files_are_recognised_by_their_first_piece() {
    assert!(Model::is_likely(&draft().to_bytes()));
    for other in [
        &b"IQ== 0\nIg== 1\n"[..],
        b"{\"version\": \"1.0\"}",
        b"#version: 0.2\n",
        b"\n",
        b"\n\n\n\n\n\n\n\n\n\n\n\n\n",
        b"",
    ] {
        assert!(!Model::is_likely(other), "{other:?}");
    }
}
