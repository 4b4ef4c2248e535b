//! The tables of a `tokenizer.json`.

use std::borrow::Cow;

use super::Names;
use super::decode::bytes_of;
use super::ranks;
use super::ranks::{Ids, Merges};
use crate::error::VocabularyError;
use crate::huggingface::{FileError, Merging, Model, Scores, Text, TokenizerFile};
use crate::split::adjacent::Adjacency;
use crate::token::{NO_TOKEN, Pair, TokenId};
use crate::util::memory::{self, Growable, reserve};
use crate::vocabulary::byte_alphabet;
use crate::vocabulary::characters::{ByteSpelling, CharacterTable, MARK};
use crate::vocabulary::listed::{Affixed, Alphabet, Listing, Unknown};
use crate::vocabulary::unigram::{Origin, PENALTY, ScoreList};
use crate::vocabulary::words::{Parts, WordList};
use crate::vocabulary::{ListedToken, Vocabulary};

/// A vocabulary, and what text may be cut by beside it.
pub(super) struct Tables {
    pub(super) vocabulary: Vocabulary,
    /// Between which characters text may be cut where the file does not; `None` if that could change its ids.
    pub(super) adjacency: Option<Adjacency>,
    /// The unknown token, if several of it in a row in a text that is cut so become one.
    pub(super) fused: Option<TokenId>,
}

/// Pieces with the tokens that they become.
type Spellings = Vec<(Vec<u8>, TokenId)>;

/// Builds the tables of words and their parts. With `has_marks`, marks are spaces there.
pub(super) fn of_words(
    file: &TokenizerFile<'_>,
    parts: &Parts,
    ids: &Ids<'_>,
    names: &Names,
    has_marks: bool,
) -> Result<Tables, FileError> {
    let model = &file.model;
    refuse_bytes(file, "a model of words")?;
    let has_space = |prefix: &[u8]| String::from_utf8_lossy(prefix).contains([' ', MARK]);
    if let Parts::Several { prefix, .. } = parts
        && has_marks
        && has_space(prefix)
    {
        let reason = "a prefix with a space or a mark is not supported together with Metaspace";
        return Err(FileError::new("model.continuing_subword_prefix", reason));
    }
    let (tokens, _) = tokens(file, names, has_marks, false)?;
    let pieces = model.vocabulary.iter().filter_map(|(text, id)| {
        reserve::pass();
        Some((piece_of(text, file, has_marks)?, *id))
    });
    let pieces = memory::collect(pieces);
    let unknown = model.unknown.clone().unwrap_or_default();
    let list = WordList {
        texts: memory::collect(pieces.iter().map(|(piece, id)| (&**piece, *id))),
        parts: parts.clone(),
        spelling: None,
        unknown_id: ids.get(&*unknown).copied(),
        unknown,
    };
    Ok(Tables {
        vocabulary: Vocabulary::from_words(&tokens, list).map_err(|error| refused(&error))?,
        adjacency: None,
        fused: None,
    })
}

/// Builds the tables of tokens with scores. With `has_marks`, marks are spaces there.
pub(super) fn of_scores(
    file: &TokenizerFile<'_>,
    scores: &Scores,
    ids: &Ids<'_>,
    names: &Names,
    has_marks: bool,
) -> Result<Tables, FileError> {
    refuse_bytes(file, "a Unigram model")?;
    let (mut listed, _) = tokens(file, names, has_marks, false)?;
    let mut pieces = memory::vec_with_capacity(listed.len());
    for (token, (text, id)) in listed.iter_mut().zip(&file.model.vocabulary) {
        reserve::pass();
        // Of a text that is listed twice, the last token is found.
        if ids.get(&**text) != Some(id) {
            token.is_found = false;
        } else if let Some(piece) = piece_of(text, file, has_marks)
            && !piece.is_empty()
        {
            pieces.push((piece, *id));
        }
    }
    let list = ScoreList {
        texts: memory::collect(pieces.iter().map(|(piece, id)| (&**piece, *id))),
        scores: scores.scores.clone(),
        unknown: scores.unknown_id,
        unknown_score: scores.scores.iter().copied().fold(f64::INFINITY, f64::min) - PENALTY,
        spelling: scores.byte_fallback.then(|| {
            let space = if has_marks { MARK } else { ' ' };
            ByteSpelling::new(byte_tokens(ids), space)
        }),
        origin: Origin::Tokenizers,
    };
    let vocabulary = Vocabulary::from_score_list(&listed, list);
    Ok(Tables {
        vocabulary: vocabulary.map_err(|error| refused(&error))?,
        // Sums are those of whole words.
        adjacency: Some(Adjacency::whole()),
        fused: None,
    })
}

/// Refuses a file whose model would see bytes as characters.
fn refuse_bytes(file: &TokenizerFile<'_>, model: &str) -> Result<(), FileError> {
    if file.pre_tokenizer.is_byte_level {
        let reason = format!("ByteLevel before {model} is not supported");
        return Err(FileError::new("pre_tokenizer", reason));
    }
    Ok(())
}

fn refused(error: &VocabularyError) -> FileError {
    FileError::new("model", error.to_string())
}

/// Returns the token of each byte, [`NO_TOKEN`] for one that has none.
fn byte_tokens(ids: &Ids<'_>) -> Box<[TokenId; 256]> {
    let named = |byte: usize| ids.get(&*format!("<0x{byte:02X}>")).copied();
    Box::new(std::array::from_fn(|byte| named(byte).unwrap_or(NO_TOKEN)))
}

/// Builds the tables of merges. With `has_marks`, marks are spaces there.
pub(super) fn of_merges(
    file: &TokenizerFile<'_>,
    (merging, merges): (&Merging<'_>, Merges),
    ids: &Ids<'_>,
    names: &Names,
    has_marks: bool,
) -> Result<Tables, FileError> {
    let model = &file.model;
    let bytes = file.pre_tokenizer.is_byte_level;
    let unknown = unknown(model, merging, ids, bytes)?;
    // An added token may have the id of another token, which is decoded to its name then.
    let keeps_name =
        |(text, id): &(Text<'_>, TokenId)| names.get(id).is_none_or(|name| *name == **text);
    if model.vocabulary.iter().all(keeps_name)
        && let Some(vocabulary) = ranks::vocabulary(file, &merges, merging.whole_pieces)
    {
        return Ok(Tables {
            vocabulary,
            adjacency: None,
            fused: None,
        });
    }
    let (tokens, spellings) = tokens(file, names, has_marks, merging.whole_pieces)?;
    let alphabet = alphabet(model, merging, bytes, has_marks)?;
    let is_exact =
        !bytes && !merging.whole_pieces && is_cut_exactly(model, &alphabet, &unknown, &merges);
    let adjacency = is_exact.then(|| {
        let mut made = memory::collect(merges.iter().map(|(made, _)| *made));
        made.sort_unstable();
        made.dedup();
        let is_made = |id: &TokenId| made.binary_search(id).is_ok();
        let texts = model.vocabulary.iter().filter(|(_, id)| is_made(id));
        let texts = texts.inspect(|_| reserve::pass());
        let texts = memory::collect(texts.map(|(text, _)| spaced(text, has_marks)));
        Adjacency::of(texts.iter().map(|text| &**text))
    });
    let fused = unknown.fused();
    let listing = Listing {
        alphabet,
        merges,
        unknown,
        whole_pieces: merging.whole_pieces,
        spellings,
        space: if has_marks { MARK } else { ' ' },
    };
    Ok(Tables {
        vocabulary: Vocabulary::from_list(&tokens, listing).map_err(|error| refused(&error))?,
        adjacency,
        fused,
    })
}

/// Returns the tokens in the order of their ids, with the bytes that they are decoded to; and the pieces that become
/// tokens with other bytes, if whole pieces are looked up.
fn tokens<'a>(
    file: &'a TokenizerFile<'_>,
    names: &'a Names,
    has_marks: bool,
    whole_pieces: bool,
) -> Result<(Vec<ListedToken<'a>>, Spellings), FileError> {
    let model = &file.model;
    let mut tokens: Vec<ListedToken<'a>> = memory::vec_with_capacity(model.vocabulary.len());
    let mut spellings = Spellings::new();
    for (text, id) in &model.vocabulary {
        let name = names.get(id).map_or(text.as_ref(), |name| name);
        let bytes = bytes_of(name, file, has_marks);
        let is_spelled = !bytes.is_empty() && is_piece_of(&bytes, text, file, has_marks);
        let is_found = name == text.as_ref() && is_spelled;
        if whole_pieces
            && !is_found
            && let Some(piece) = piece_of(text, file, has_marks)
            && !piece.is_empty()
        {
            spellings.with_room(1).push((piece.into_owned(), *id));
        }
        tokens.push(ListedToken {
            id: *id,
            bytes,
            is_found,
        });
    }
    if !tokens.is_sorted_by_key(|token| token.id) {
        tokens.sort_unstable_by_key(|token| token.id);
    }
    let is_same = |pair: &&[ListedToken<'_>]| pair[0].id == pair[1].id;
    if let Some(pair) = tokens.windows(2).find(is_same) {
        let [first, second] =
            [&pair[0], &pair[1]].map(|token| String::from_utf8_lossy(&token.bytes));
        let reason = format!("{first:?} and {second:?} have the same id {}", pair[0].id);
        return Err(FileError::new("model.vocab", reason));
    }
    if tokens.last().is_some_and(|last| last.id == NO_TOKEN) {
        return Err(FileError::new(
            "model.vocab",
            "expected ids below 4294967295",
        ));
    }
    Ok((tokens, spellings))
}

/// Returns the piece that is written as a text in the vocabulary; `None` if no piece is.
fn piece_of<'a>(text: &'a str, file: &TokenizerFile<'_>, has_marks: bool) -> Option<Cow<'a, [u8]>> {
    if file.pre_tokenizer.is_byte_level {
        let mut bytes = memory::vec_with_capacity(text.len());
        return byte_alphabet::push_bytes(text, &mut bytes).then_some(Cow::Owned(bytes));
    }
    if has_marks && text.contains(' ') {
        return None;
    }
    Some(match spaced(text, has_marks) {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    })
}

/// Returns whether a piece is written as a text in the vocabulary.
fn is_piece_of(piece: &[u8], text: &str, file: &TokenizerFile<'_>, has_marks: bool) -> bool {
    if !has_marks || file.pre_tokenizer.is_byte_level {
        return piece_of(text, file, has_marks).as_deref() == Some(piece);
    }
    // Compared as it stands: a copy of each text of llama.json with spaces for its marks took a twentieth of loading.
    let (mut rest, mut mark) = (text.as_bytes(), [0; 3]);
    let mark = MARK.encode_utf8(&mut mark).as_bytes();
    let is_next = |&byte: &u8| {
        let (written, length) = match rest {
            [b' ', ..] | [] => return false,
            [first, second, third, ..] if [*first, *second, *third] == *mark => (b' ', 3),
            [first, ..] => (*first, 1),
        };
        rest = &rest[length..];
        byte == written
    };
    piece.iter().all(is_next) && rest.is_empty()
}

/// Returns a text with spaces in place of marks, if these are spaces.
fn spaced(text: &str, has_marks: bool) -> Cow<'_, str> {
    if has_marks && text.contains(MARK) {
        Cow::Owned(text.replace(MARK, " "))
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns what becomes of characters without a token.
fn unknown(
    model: &Model<'_>,
    merging: &Merging<'_>,
    ids: &Ids<'_>,
    bytes: bool,
) -> Result<Unknown, FileError> {
    let byte_tokens = merging.byte_fallback.then(|| byte_tokens(ids));
    let token = match &model.unknown {
        None => None,
        Some(text) => match ids.get(&**text) {
            Some(&id) => Some(id),
            // The library fails where it needs the token: here it never does.
            None if bytes && knows_all_text(merging, ids) => None,
            None => {
                let reason = format!("{text:?} is no token in model.vocab");
                return Err(FileError::new("model.unk_token", reason));
            }
        },
    };
    Ok(Unknown {
        byte_tokens,
        token,
        is_fused: merging.fuse_unknown,
    })
}

/// Returns whether each byte of text in UTF-8 has a token, wherever it stands in a word.
fn knows_all_text(merging: &Merging<'_>, ids: &Ids<'_>) -> bool {
    let Merging { prefix, suffix, .. } = merging;
    let of_text = (0..=0xF4).filter(|byte| !matches!(byte, 0xC0 | 0xC1));
    of_text.into_iter().all(|byte: usize| {
        let character = byte_alphabet::CHARACTERS[byte];
        let with = |prefix: &str, suffix: &str| format!("{prefix}{character}{suffix}");
        [("", ""), (prefix, ""), ("", suffix), (prefix, suffix)]
            .map(|(prefix, suffix)| with(prefix, suffix))
            .iter()
            .all(|token| ids.contains_key(&**token))
    })
}

/// Returns the tokens of bytes, or of characters.
fn alphabet(
    model: &Model<'_>,
    merging: &Merging<'_>,
    bytes: bool,
    has_marks: bool,
) -> Result<Alphabet, FileError> {
    let Merging { prefix, suffix, .. } = merging;
    let is_affixed = !prefix.is_empty() || !suffix.is_empty();
    if is_affixed && (has_marks || merging.whole_pieces) {
        return Err(FileError::new(
            "model.end_of_word_suffix",
            "words with a suffix or a prefix are not supported together with Metaspace or ignore_merges",
        ));
    }
    if is_affixed {
        let mut affixed = Affixed {
            prefix: prefix.clone(),
            suffix: suffix.clone(),
            is_of_bytes: bytes,
            ..Affixed::default()
        };
        let single = |text: &str, prefix: &str, suffix: &str| {
            let mut rest = text.strip_prefix(prefix)?.strip_suffix(suffix)?.chars();
            rest.next().filter(|_| rest.next().is_none())
        };
        for (text, id) in &model.vocabulary {
            for (table, prefix, suffix) in [
                (&mut affixed.first, "", ""),
                (&mut affixed.middle, &**prefix, ""),
                (&mut affixed.last, &**prefix, &**suffix),
                (&mut affixed.only, "", &**suffix),
            ] {
                if let Some(character) = single(text, prefix, suffix) {
                    table.set(character, *id);
                }
            }
        }
        return Ok(Alphabet::Affixed(Box::new(affixed)));
    }
    let mut table = CharacterTable::new();
    let mut byte_tokens = Box::new([NO_TOKEN; 256]);
    for (text, id) in &model.vocabulary {
        let mut characters = text.chars();
        let (Some(character), None) = (characters.next(), characters.next()) else {
            continue;
        };
        if bytes {
            if let Some(byte) = byte_alphabet::byte_of(character) {
                byte_tokens[usize::from(byte)] = *id;
            }
        } else if !has_marks {
            table.set(character, *id);
        } else if character != ' ' {
            table.set(if character == MARK { ' ' } else { character }, *id);
        }
    }
    Ok(if bytes {
        Alphabet::Bytes(byte_tokens)
    } else {
        Alphabet::Characters(table.into())
    })
}

/// Returns whether a token is the token of a character.
fn is_character(token: Option<&str>) -> bool {
    token.is_some_and(|token| token.chars().nth(1).is_none())
}

/// Returns whether a text may be cut between characters that no token joins without changing its ids.
///
/// It may not where something else reaches across such a place: the look-up of the whole text, a character that is left out
/// so that its neighbours merge, an unknown token that bytes overtake, or unknown tokens that are fused beside characters
/// of the same id, which are not.
fn is_cut_exactly(
    model: &Model<'_>,
    alphabet: &Alphabet,
    unknown: &Unknown,
    merges: &[(TokenId, Pair)],
) -> bool {
    let Alphabet::Characters(table) = alphabet else {
        return false;
    };
    let mut spelling: Vec<TokenId> = match (&unknown.byte_tokens, unknown.token) {
        (Some(byte_tokens), _) => {
            let is_spelt = |byte: usize| byte_tokens[byte] != NO_TOKEN;
            let ascii = (0..0x80_u8)
                .all(|byte| table.get(byte.into()) != NO_TOKEN || is_spelt(byte.into()));
            let others = (0x80..0xF5).all(|byte| matches!(byte, 0xC0 | 0xC1) || is_spelt(byte));
            if !ascii || !others {
                return false;
            }
            byte_tokens.to_vec()
        }
        (None, Some(_)) if unknown.is_fused && is_character(model.unknown.as_deref()) => {
            return false;
        }
        (None, Some(token)) => vec![token],
        (None, None) => return false,
    };
    // Not a table of all ids: a short file may have the largest.
    spelling.retain(|&id| id != NO_TOKEN);
    spelling.sort_unstable();
    let spells = |id: TokenId| spelling.binary_search(&id).is_ok();
    // What spells a character takes part in no merge.
    !merges
        .iter()
        .any(|(made, pair)| spells(*made) || spells(pair.left) || spells(pair.right))
}
