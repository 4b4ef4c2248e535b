//! The encoder of a SentencePiece model.

use std::borrow::Cow;
use std::sync::Arc;

use super::Encoder;
use super::decode::Decoder;
use super::pipeline::{Marks, Normalization, Pipeline, Prefix};
use super::sentencepiece::SentencePiece;
use super::special::SpecialTokens;
use crate::error::VocabularyError;
use crate::normalize::chain::{Chain, Find, Step};
use crate::normalize::{Flags, Normalizer, are_found};
use crate::sentencepiece::{self, Model, ModelType, Spec};
use crate::split::Splitter;
use crate::split::adjacent::Adjacency;
use crate::token::TokenId;
use crate::util::join::join;
use crate::util::memory::{self, reserve};
use crate::util::tier::Tier;
use crate::vocabulary::Model::{Listed, Unigram, Words};
use crate::vocabulary::characters::{ByteSpelling, MARK};
use crate::vocabulary::listed::ListedMerges;
use crate::vocabulary::listed::scored::{Kind, Piece};
use crate::vocabulary::unigram::{Origin, PENALTY, ScoreList};
use crate::vocabulary::words::{Parts, WordList};
use crate::vocabulary::{self, Vocabulary};

impl Encoder {
    /// Builds the encoder of a model. Its ordinary ids are those of `SentencePieceProcessor.encode`.
    ///
    /// # Errors
    /// [`VocabularyError`] if a map of characters of the model is damaged.
    ///
    /// # Complexity
    /// O(total characters of the pieces) look-ups.
    pub fn of_model(model: &Model, special_tokens: SpecialTokens) -> Result<Self, VocabularyError> {
        let flags = flags(model);
        let escapes = flags.escape_whitespaces;
        let originals = memory::collect(model.pieces());
        let in_normalized_text = |text| in_normalized_text(text, escapes);
        let texts = originals.iter().map(|piece| in_normalized_text(piece.text));
        let texts = memory::collect(texts.inspect(|_| reserve::pass()));
        let pieces = pieces(model, &originals, &texts, escapes);
        let unknown = model.trainer().bytes("unk_surface");
        let unknown = String::from_utf8_lossy(&unknown);
        // A mark is a space in normalized text, and its bytes are those of a mark.
        let space = if escapes { MARK } else { ' ' };
        let engine = match model.model_type() {
            ModelType::Bpe => {
                let byte_fallback = model.byte_pieces().map(|_| space);
                Listed(Box::new(ListedMerges::by_scores(&pieces, byte_fallback)?))
            }
            ModelType::Unigram => Unigram(Box::new(unigram(model, &pieces, space)?)),
            ModelType::Word | ModelType::Char => Words(Box::new(words(model, &pieces, space)?)),
        };
        // Words and characters are found in whole texts, as are sums that may be too large for chunks.
        let is_divided = match &engine {
            Listed(_) => true,
            Unigram(unigram) => unigram.chunks().is_some_and(|chunks| chunks.unit.is_some()),
            _ => false,
        };
        // Those that merges make, and symbols, so that none lies across a place where nothing is joined.
        let joined = || {
            let pieces = pieces.iter();
            pieces.filter(|piece| {
                matches!(piece.kind, Kind::Normal | Kind::Unused | Kind::UserDefined)
            })
        };
        let (vocabulary, adjacency) = join(
            || Vocabulary::from_pieces(&pieces, &unknown, engine),
            || {
                if is_divided {
                    Adjacency::of(joined().map(|piece| piece.text))
                } else {
                    Adjacency::whole()
                }
            },
        );
        let vocabulary = vocabulary?;

        let user_defined = || {
            let numbered = (0..).zip(&originals);
            numbered.filter(|(_, piece)| piece.kind == sentencepiece::Kind::UserDefined)
        };
        let raw: Vec<&[u8]> = user_defined()
            .map(|(_, piece)| piece.text.as_bytes())
            .collect();
        let charsmap = model.normalizer().bytes("precompiled_charsmap");
        let normalizer = Arc::new(Normalizer::new(&charsmap, flags, &raw)?);
        // A space of a symbol is a mark in normalized text, so that the symbol does not occur there.
        let symbols = user_defined()
            .zip(are_found(&raw))
            .filter_map(|(symbol, is_found)| is_found.then_some(symbol))
            .filter(|_| matches!(model.model_type(), ModelType::Bpe | ModelType::Char))
            .filter(|(_, piece)| !(escapes && piece.text.contains(' ')))
            .map(|(id, piece)| (in_normalized_text(piece.text).into_owned(), id));
        let takes_apart = vocabulary
            .listed_merges()
            .is_some_and(ListedMerges::takes_apart);
        let adjacency = if takes_apart {
            // What the end of a text holds says how tokens at its start are taken apart.
            Adjacency::whole()
        } else {
            adjacency
        };
        let (normalization, prefix) = normalization(charsmap.is_empty(), &normalizer)?;
        let pipeline = Pipeline {
            added: None,
            symbols: symbols.collect(),
            normalization,
            prefix,
            marks: if escapes {
                Marks::Normalized
            } else {
                Marks::Nothing
            },
            fused: model.unknown().filter(|_| model.byte_pieces().is_none()),
            splitter: Splitter::Adjacent(adjacency.into(), Tier::current()),
        };
        let keep_space = (0..).zip(&originals).filter(|(_, piece)| {
            piece.text.starts_with(' ')
                || matches!(
                    piece.kind,
                    sentencepiece::Kind::Byte | sentencepiece::Kind::Unknown
                )
        });
        let decoder = SentencePiece {
            normalizer,
            denormalizer: denormalizer(model.denormalizer())?,
            keep_space: memory::collect(keep_space.map(|(id, _)| id)),
            unknown: model.unknown(),
        };
        let encoder = Self::with_pipeline(vocabulary.into(), special_tokens, pipeline)?;
        Ok(Self {
            decoder: Some(Decoder::SentencePiece(decoder.into())),
            ..encoder
        })
    }
}

/// Returns the tokens of bytes that spell the unknown in a model.
fn spelling(model: &Model, space: char) -> Option<ByteSpelling> {
    let ids = model.byte_pieces()?;
    Some(ByteSpelling::new(Box::new(*ids), space))
}

/// Returns the texts that are found in normalized text, with their ids. A space of a symbol is a mark there, if spaces stand
/// for marks, so that the symbol is never found.
fn found<'a>(model: &Model, pieces: &[Piece<'a>], space: char) -> Vec<(&'a [u8], TokenId)> {
    let pieces = (0..).zip(pieces.iter().zip(model.pieces()));
    let found = pieces.filter(|(_, (piece, original))| {
        let has_space = space == MARK && original.text.contains(' ');
        matches!(piece.kind, Kind::Normal | Kind::UserDefined) && !has_space
    });
    memory::collect(found.map(|(id, (piece, _))| (piece.text.as_bytes(), id)))
}

/// Returns the tables of a Unigram model.
fn unigram(
    model: &Model,
    pieces: &[Piece<'_>],
    space: char,
) -> Result<vocabulary::unigram::Unigram, VocabularyError> {
    let scores = model.pieces().map(|piece| match piece.kind {
        // Longer symbols are better, and all are better than pieces with scores below 0.
        sentencepiece::Kind::UserDefined => symbol_score(piece.text.len()),
        _ => piece.score,
    });
    let normal = sentencepiece::Kind::Normal;
    let of_normal = model.pieces().filter(|piece| piece.kind == normal);
    let least = of_normal.map(|piece| piece.score).fold(f32::MAX, f32::min);
    #[expect(clippy::cast_possible_truncation, reason = "it is 10")]
    let unknown_score = least - PENALTY as f32;
    vocabulary::unigram::Unigram::new(ScoreList {
        texts: found(model, pieces, space),
        scores: memory::collect(scores.map(f64::from)),
        unknown: model.unknown(),
        unknown_score: unknown_score.into(),
        spelling: spelling(model, space),
        origin: Origin::SentencePiece,
    })
}

/// Returns the score of a user-defined symbol of some bytes.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a piece has fewer than 8,000 bytes, and the original computes so"
)]
fn symbol_score(bytes: usize) -> f32 {
    (0.1 * (bytes as f64 - 1.0)) as f32
}

/// Returns the tables of a model of words or characters.
fn words(
    model: &Model,
    pieces: &[Piece<'_>],
    space: char,
) -> Result<vocabulary::words::Words, VocabularyError> {
    let mark = if space == MARK { ' ' } else { MARK };
    vocabulary::words::Words::new(WordList {
        texts: found(model, pieces, space),
        parts: match model.model_type() {
            ModelType::Char => Parts::Characters,
            _ => Parts::Words {
                mark: mark.to_string().into_bytes(),
            },
        },
        unknown: String::new(),
        unknown_id: model.unknown(),
        spelling: spelling(model, space),
    })
}

/// Returns what makes normalized text, and where a space is put in front besides: without a map, and where no spaces are
/// removed or added behind, a model does what a `tokenizer.json` says in steps.
fn normalization(
    has_no_map: bool,
    normalizer: &Arc<Normalizer>,
) -> Result<(Normalization, Prefix), VocabularyError> {
    let Flags {
        add_dummy_prefix,
        remove_extra_whitespaces,
        escape_whitespaces,
        treat_whitespace_as_suffix,
    } = normalizer.flags();
    let adds_suffix = add_dummy_prefix && treat_whitespace_as_suffix;
    if !has_no_map || remove_extra_whitespaces || !escape_whitespaces || adds_suffix {
        return Ok((
            Normalization::Model(Arc::clone(normalizer)),
            Prefix::Nothing,
        ));
    }
    let prefix = if add_dummy_prefix {
        Prefix::Always
    } else {
        Prefix::Nothing
    };
    let unmark = Step::Replace {
        find: Find::Text(MARK.to_string()),
        content: " ".to_owned(),
    };
    Ok((Normalization::Chain(Chain::new(vec![unmark])?), prefix))
}

/// Returns the pieces of a model with their `texts` in normalized text, where spaces are marks if they are escaped.
fn pieces<'a>(
    model: &Model,
    originals: &[sentencepiece::Piece<'_>],
    texts: &'a [Cow<'_, str>],
    escapes: bool,
) -> Vec<Piece<'a>> {
    let byte_pieces = model.byte_pieces();
    let byte_of = |id: TokenId| {
        let byte = byte_pieces.and_then(|ids| ids.iter().position(|&other| other == id));
        let byte = byte.and_then(|byte| u8::try_from(byte).ok());
        byte.expect("a byte piece has the id of a byte")
    };
    let pieces = (0..).zip(originals).zip(texts);
    memory::collect(pieces.map(|((id, piece), text)| Piece {
        text,
        score: piece.score,
        kind: match piece.kind {
            sentencepiece::Kind::Normal | sentencepiece::Kind::Unused
                if escapes && piece.text.contains(' ') =>
            {
                Kind::Unreachable
            }
            sentencepiece::Kind::Normal => Kind::Normal,
            sentencepiece::Kind::Unused => Kind::Unused,
            sentencepiece::Kind::Unknown => Kind::Unknown,
            sentencepiece::Kind::Control => Kind::Control,
            sentencepiece::Kind::UserDefined => Kind::UserDefined,
            sentencepiece::Kind::Byte => Kind::Byte(byte_of(id)),
        },
    }))
}

/// Returns the text of a piece as it is in normalized text, where spaces are marks if they are escaped.
fn in_normalized_text(text: &str, escapes: bool) -> Cow<'_, str> {
    if escapes && text.contains(MARK) {
        Cow::Owned(text.replace(MARK, " "))
    } else {
        Cow::Borrowed(text)
    }
}

fn flags(model: &Model) -> Flags {
    let (normalizer, trainer) = (model.normalizer(), model.trainer());
    Flags {
        add_dummy_prefix: normalizer.flag("add_dummy_prefix"),
        remove_extra_whitespaces: normalizer.flag("remove_extra_whitespaces"),
        escape_whitespaces: normalizer.flag("escape_whitespaces"),
        treat_whitespace_as_suffix: trainer.flag("treat_whitespace_as_suffix"),
    }
}

/// Returns what is applied to decoded text, if the model has a map for that.
fn denormalizer(spec: &Spec) -> Result<Option<Normalizer>, VocabularyError> {
    let charsmap = spec.bytes("precompiled_charsmap");
    if charsmap.is_empty() {
        return Ok(None);
    }
    let flags = Flags {
        add_dummy_prefix: spec.flag("add_dummy_prefix"),
        remove_extra_whitespaces: spec.flag("remove_extra_whitespaces"),
        escape_whitespaces: spec.flag("escape_whitespaces"),
        treat_whitespace_as_suffix: false,
    };
    Ok(Some(Normalizer::new(&charsmap, flags, &[])?))
}
