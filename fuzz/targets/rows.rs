//! Padded batches with all their columns, against rows built from the ids of each text. Explained words, whose tokens joined
//! are these ids.

use bytemill::encode::Encoder;
use bytemill::encode::batch::Batch;
use bytemill::encode::padded::{Columns, PadError, Rows, Shape, Typed};
use bytemill::encode::special::{Allowed, Policy};
use bytemill::token::TokenId;

use crate::input::Input;
use crate::models::{Ruled, WARM};

pub(crate) fn run(mut input: Input) {
    let drawn;
    let which = input.below(6);
    let encoder = if let Some(encoders) = WARM.get(which) {
        &encoders[0]
    } else {
        drawn = Ruled::draw(&mut input).encoder();
        &drawn
    };
    let typed = |input: &mut Input| Typed {
        id: 900_000 + TokenId::from(input.byte()),
        sequence: u32::from(input.byte() & 3),
    };
    let mut around = || (0..input.below(3)).map(|_| typed(&mut input)).collect();
    let (before, after): (Vec<Typed>, Vec<Typed>) = (around(), around());
    let limit = |byte: u8| (byte & 1 == 0).then_some(usize::from(byte >> 1) % 24);
    let shape = Shape {
        before,
        after,
        sequence: u32::from(input.byte() & 3),
        room: limit(input.byte()),
        keeps_end: input.below(2) == 0,
        length: limit(input.byte()),
        multiple: input.pick(&[1, 1, 2, 8]),
        pad: typed(&mut input),
        pads_start: input.below(2) == 0,
    };
    let texts = input.texts();
    assert_rows(encoder, &shape, &texts);
    for text in &texts {
        assert_words(encoder, text);
    }
}

fn ids_of(encoder: &Encoder, text: &str) -> Vec<TokenId> {
    let mut ids = Vec::new();
    encoder.encode_ordinary(text, &mut ids).expect("ids");
    ids
}

/// A value of each column: id, number of the sequence, attention, whether it is special.
type Cell = [u32; 4];

/// Returns the row of a text before it is filled up.
fn row(encoder: &Encoder, shape: &Shape, text: &str) -> Vec<Cell> {
    let special = |token: &Typed| [token.id, token.sequence, 1, 1];
    let ids = ids_of(encoder, text);
    let room = shape.room.unwrap_or(ids.len()).min(ids.len());
    let kept = if shape.keeps_end {
        &ids[ids.len() - room..]
    } else {
        &ids[..room]
    };
    let text = kept.iter().map(|&id| [id, shape.sequence, 1, 0]);
    let (before, after) = (&shape.before, &shape.after);
    before
        .iter()
        .map(special)
        .chain(text)
        .chain(after.iter().map(special))
        .collect()
}

fn assert_rows(encoder: &Encoder, shape: &Shape, texts: &[String]) {
    let mut expected: Vec<Vec<Cell>> = texts.iter().map(|text| row(encoder, shape, text)).collect();
    let longest = expected.iter().map(Vec::len).max().unwrap_or(0);
    let length = shape.length.unwrap_or(longest).div_ceil(shape.multiple) * shape.multiple;
    let all = Columns {
        sequences: true,
        attention: true,
        special: true,
    };
    let batch = Batch::new(Policy::ORDINARY, 2);
    let rows: Rows<i64> = match encoder.encode_padded(texts, batch.clone(), shape, all) {
        Ok(rows) => rows,
        Err(PadError::TooLong {
            row,
            tokens,
            length: refused,
        }) => {
            assert_eq!((tokens, refused), (longest, length));
            assert!(longest > length && expected[row].len() == longest);
            return;
        }
        Err(PadError::Encode(error)) => panic!("{error}"),
    };
    let pad = [shape.pad.id, shape.pad.sequence, 0, 1];
    for row in &mut expected {
        let fill = vec![pad; length.checked_sub(row.len()).expect("it is refused")];
        let at = if shape.pads_start { 0 } else { row.len() };
        row.splice(at..at, fill);
    }
    assert_eq!((rows.rows, rows.length), (texts.len(), length));
    let columns = [Some(rows.ids), rows.sequences, rows.attention, rows.special];
    for (number, column) in columns.into_iter().enumerate() {
        let cells = expected.iter().flatten();
        let expected: Vec<i64> = cells.map(|cell| cell[number].into()).collect();
        assert_eq!(column, Some(expected), "column {number} of {texts:?}");
    }
    let none = Columns {
        sequences: false,
        attention: false,
        special: false,
    };
    let rows: Rows<u32> = encoder
        .encode_padded(texts, batch, shape, none)
        .expect("as before");
    assert!(
        rows.ids
            .iter()
            .eq(expected.iter().flatten().map(|[id, ..]| id))
    );
    assert!(rows.sequences.is_none() && rows.attention.is_none() && rows.special.is_none());
}

fn assert_words(encoder: &Encoder, text: &str) {
    let words = encoder.explained(text).expect("words");
    let tokens = words.iter().flat_map(|word| &word.tokens);
    let ids: Vec<TokenId> = tokens.map(|token| token.id).collect();
    assert_eq!(ids, ids_of(encoder, text), "{text:?}");
    let count = encoder.count(text, &Allowed::Nothing).expect("a count");
    assert_eq!(count, ids.len());
    for word in &words {
        let mut start = 0;
        for token in &word.tokens {
            assert!(start <= token.span.start && token.span.start <= token.span.end);
            start = token.span.start;
            assert!(token.span.end <= word.piece.len());
        }
        let places: Vec<_> = word
            .candidates
            .iter()
            .map(|found| (found.span.start, found.span.end))
            .collect();
        for found in &word.candidates {
            let bytes = found.id.map(|id| encoder.vocabulary().bytes(id));
            assert!(bytes.is_none_or(|bytes| bytes == word.piece.get(found.span.clone())));
        }
        assert!(places.is_sorted(), "{places:?} of {:?}", word.piece);
        assert!(
            places
                .iter()
                .all(|&(start, end)| start < end && end <= word.piece.len())
        );
    }
}
