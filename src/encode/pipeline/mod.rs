//! Text through a `tokenizer.json` or a SentencePiece model: all that happens to it before pieces are merged.
//!
//! ```text
//! text            added tokens are found in it as it stands; each gap between them
//!   gap             is normalized, and added tokens that are normalized as well, and user-defined symbols, are found in
//!                   it; each segment between them
//!     segment         gets a space in front, where the file adds one
//!       pieces          end where the splitter says, and go through the hot loop
//! ```
//!
//! A gap that its normalizer keeps is read where it stands. Most SentencePiece models change nothing but spaces, which
//! the tables know as spaces: of such a gap only the first piece is copied, behind the space that the model adds.

pub mod added;
mod offsets;

use std::fmt;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use memchr::memmem;

use super::Encoder;
use super::hot_loop::Scratch;
use super::parts::{Gap, Origin, Part, Parts, SPACE, Segment};
use super::special::{Allowed, SpecialTokens};
use crate::checkpoint;
use crate::error::{EncodeError, VocabularyError};
use crate::normalize::chain::Chain;
use crate::normalize::{MARK, Normalizer};
use crate::split::Splitter;
use crate::token::TokenId;
use crate::util::block::BLOCK_LEN;
use crate::util::memory::{self, Growable};
use crate::vocabulary::{Vocabulary, characters};
use added::{AddedToken, AddedTokens, Search};

/// Bytes that are normalized between two passes of the checkpoint, if they can be: some hundredths of a second.
const CHUNK: usize = 1 << 20;

/// Where a space is put in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// Nowhere.
    Nothing,
    /// Before each gap, after it has been normalized, and before normalized added tokens are found in it.
    Always,
    /// As [`Always`](Self::Always), but it stands for nothing of the text, not for its first character.
    AlwaysEmpty,
    /// Before each segment that does not begin with one.
    UnlessSpace,
    /// As [`UnlessSpace`](Self::UnlessSpace), if the segment is the start of the text.
    FirstUnlessSpace,
}

impl Prefix {
    /// Returns whether a space is put before each gap.
    fn is_always(self) -> bool {
        matches!(self, Self::Always | Self::AlwaysEmpty)
    }
}

/// Where spaces stand for U+2581, as they do in vocabularies whose tables know that mark as a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// Nowhere: a mark is a character like others.
    Nothing,
    /// In normalized text, which has a space in place of each mark; that space is no blank.
    Normalized,
    /// In segments, where both a space and a mark are a space.
    Segments,
    /// In segments, whose words are behind one space each, or behind each mark: other white space is dropped.
    Words,
}

/// The normalizer of a pipeline.
pub enum Normalization {
    /// The steps of a `tokenizer.json`, or of a SentencePiece model that changes nothing but spaces.
    Chain(Chain),
    /// The normalizer of another SentencePiece model, which adds the space in front itself. It reads bytes: one that is
    /// part of no character becomes U+FFFD, whatever its map makes of a U+FFFD in the text.
    Model(Arc<Normalizer>),
}

/// The parts of a `tokenizer.json` or of a SentencePiece model besides its vocabulary.
pub struct Pipeline {
    /// The added tokens, no content twice; `None` if special tokens are found in text as they are without a pipeline.
    pub added: Option<Vec<AddedToken>>,
    /// Tokens that are found in normalized text, as they stand there, with their ids.
    pub symbols: Vec<(String, TokenId)>,
    /// Makes normalized text.
    pub normalization: Normalization,
    /// Where a space is put in front.
    pub prefix: Prefix,
    /// Where spaces stand for marks.
    pub marks: Marks,
    /// The unknown token, if one of it stands for several in a row in a segment, though that is split.
    pub fused: Option<TokenId>,
    /// Splits segments.
    pub splitter: Splitter,
}

impl Normalization {
    /// Returns whether a gap stays as it is.
    fn keeps(&self, gap: Gap<'_>) -> bool {
        match (self, gap.text) {
            (Self::Chain(chain), Some(text)) => chain.keeps(text),
            (Self::Chain(_), None) | (Self::Model(_), _) => false,
        }
    }

    /// Returns whether a text may be divided between two characters of normalized text, the last of `left` and the first
    /// behind it, which stay as they are and beside each other: its parts are normalized to those of the whole.
    ///
    /// With the map of a model it may before a space, behind a letter or digit that becomes itself whatever stands before
    /// it: so the left side does not end in a space that would be removed, and the right side begins with one that is
    /// kept, as it begins no text.
    fn keeps_apart(&self, left: &str, before: char, after: char) -> bool {
        match self {
            Self::Chain(chain) => chain.keeps_apart(before, after),
            Self::Model(normalizer) => {
                let flags = normalizer.flags();
                let adds_suffix = flags.add_dummy_prefix && flags.treat_whitespace_as_suffix;
                !adds_suffix
                    && after == ' '
                    && before.is_ascii_alphanumeric()
                    && normalizer.is_word_by_word()
                    && last_word(left).is_some_and(|word| normalizer.keeps_end(word))
            }
        }
    }

    /// Returns whether the start of a text may become something else than the same behind other text.
    fn changes_start(&self) -> bool {
        match self {
            Self::Chain(chain) => chain.changes_start(),
            Self::Model(normalizer) => {
                let flags = normalizer.flags();
                flags.add_dummy_prefix || flags.remove_extra_whitespaces
            }
        }
    }
}

/// The longest word before a cut, in bytes, where normalization works word by word.
const LONGEST_WORD: usize = 64;

/// Returns what stands behind the last space of a text, unless that is long.
fn last_word(text: &str) -> Option<&[u8]> {
    let text = text.as_bytes();
    let near = &text[text.len().saturating_sub(LONGEST_WORD)..];
    match near.iter().rposition(|&byte| byte == b' ') {
        Some(space) => Some(&near[space + 1..]),
        None => Some(text).filter(|text| text.len() == near.len()),
    }
}

impl Pipeline {
    /// Writes the text that the chain makes of a gap to `out`, which is empty, with the space in front, and with the span of
    /// each byte if `spans` are wanted.
    fn normalize(
        &self,
        chain: &Chain,
        gap: Gap<'_>,
        out: &mut String,
        mut spans: Option<&mut Vec<Range<usize>>>,
    ) -> Result<(), EncodeError> {
        let text = gap.text.expect("a chain normalizes text");
        let is_divided = text.len() > CHUNK && chain.is_local();
        let mut start = 0;
        while start < text.len() {
            // The caller has passed it.
            if start > 0 {
                checkpoint::pass()?;
            }
            let end = match text.as_bytes().get(start + CHUNK..) {
                Some(rest) if is_divided => {
                    let ascii = rest.iter().position(u8::is_ascii);
                    ascii.map_or(text.len(), |ascii| start + CHUNK + ascii)
                }
                _ => text.len(),
            };
            let first = spans.as_ref().map_or(0, |spans| spans.len());
            // What is divided has no step that looks at the start.
            chain.normalize_part(&text[start..end], gap.is_start, out, spans.as_deref_mut())?;
            if let Some(spans) = &mut spans {
                for span in &mut spans[first..] {
                    *span = start + span.start..start + span.end;
                }
            }
            start = end;
        }
        if self.prefix.is_always() && gap.is_start && !out.is_empty() {
            out.with_room(1).insert(0, ' ');
            if let Some(spans) = spans {
                // It stands for what the first character stands for.
                let mut first = spans[0].clone();
                if self.prefix == Prefix::AlwaysEmpty {
                    first.end = first.start;
                }
                spans.with_room(1).insert(0, first);
            }
        }
        Ok(())
    }

    /// Returns whether a space is put before a segment.
    fn puts_space(&self, segment: &[u8], is_first: bool) -> bool {
        let is_space = segment.starts_with(SPACE)
            || self.marks == Marks::Segments && segment.starts_with(MARK);
        match self.prefix {
            Prefix::Nothing | Prefix::Always | Prefix::AlwaysEmpty => false,
            Prefix::UnlessSpace => !is_space,
            Prefix::FirstUnlessSpace => is_first && !is_space,
        }
    }

    /// Returns a segment with spaces for its marks, and white space between its words as [`Marks`] says, with the span of
    /// each byte; `None` if it stays as it is.
    fn without_marks(
        &self,
        text: &[u8],
        origin: Origin<'_>,
    ) -> Option<(String, Vec<Range<usize>>)> {
        let by_words = self.marks == Marks::Words;
        let stays = match self.marks {
            Marks::Nothing | Marks::Normalized => true,
            Marks::Segments => memmem::find(text, MARK).is_none(),
            Marks::Words => false,
        };
        if stays {
            return None;
        }
        let text = simdutf8::basic::from_utf8(text).expect("a chain makes text");
        // A space between words stands for the character after it.
        if by_words && matches!(origin, Origin::Unknown) && has_spaces_only(text) {
            return with_single_spaces(text).map(|text| (text, Vec::new()));
        }
        let (mut plain, mut spans) = (String::new(), Vec::new());
        plain.with_room(text.len() + 1);
        let mut push = |plain: &mut String, written: &str, source: Range<usize>| {
            plain.with_room(written.len()).push_str(written);
            if source.is_empty() || matches!(origin, Origin::Unknown) {
                return;
            }
            if written.len() == source.len() {
                let spans_of = source.filter_map(|at| origin.span(at..at + 1));
                memory::extend(&mut spans, spans_of);
            } else {
                let span = origin.span(source);
                memory::extend(&mut spans, span.into_iter().cycle().take(written.len()));
            }
        };
        // The start of what is copied next, and whether white space stands before it.
        let (mut start, mut is_behind_blank) = (0, false);
        for (at, character) in text.char_indices() {
            let is_mark = character == characters::MARK;
            let is_blank = by_words && character.is_whitespace();
            let end = at + character.len_utf8();
            if !is_mark && !is_blank {
                if std::mem::take(&mut is_behind_blank) && !plain.is_empty() {
                    // As a space that is put in front, it stands for the character after it.
                    push(&mut plain, " ", at..end);
                }
                continue;
            }
            push(&mut plain, &text[start..at], start..at);
            if is_mark {
                push(&mut plain, " ", at..end);
            }
            (start, is_behind_blank) = (end, is_blank);
        }
        push(&mut plain, &text[start..], start..text.len());
        Some((plain, spans))
    }
}

/// Returns whether a text has no white space but spaces, and no mark. Most have no byte that such characters begin with.
fn has_spaces_only(text: &str) -> bool {
    let may_begin = |byte: u8| matches!(byte, b'\t'..=b'\r' | 0xC2 | 0xE1..=0xE3);
    let is_other = |at: usize| {
        let c = text[at..].chars().next();
        c.is_some_and(|c| c.is_whitespace() || c == characters::MARK)
    };
    let has_other = |(number, block): (usize, &[u8])| {
        // Without a branch: the compiler makes vectors of it.
        let any = block.iter().fold(false, |any, &byte| any | may_begin(byte));
        let mut places = (0..block.len()).filter(|&place| may_begin(block[place]));
        any && places.any(|place| is_other(BLOCK_LEN * number + place))
    };
    !text.as_bytes().chunks(BLOCK_LEN).enumerate().any(has_other)
}

/// Returns a text with one space for each run of spaces, and none at its ends; `None` if it is such a text.
fn with_single_spaces(text: &str) -> Option<String> {
    let mut rest = text.trim_matches(' ');
    let finder = memmem::Finder::new(b"  ");
    let mut next = finder.find(rest.as_bytes());
    if next.is_none() && rest.len() == text.len() {
        return None;
    }
    let mut out = String::new();
    out.with_room(rest.len());
    while let Some(at) = next {
        out.push_str(&rest[..=at]);
        rest = rest[at..].trim_start_matches(' ');
        next = finder.find(rest.as_bytes());
    }
    out.push_str(rest);
    Some(out)
}

/// A pipeline with its searches for added tokens.
pub struct Prepared {
    pipeline: Arc<Pipeline>,
    added: AddedTokens,
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Pipeline {
            added,
            symbols,
            normalization,
            prefix,
            marks,
            fused,
            splitter,
        } = &*self.pipeline;
        let mut debug = f.debug_struct("Pipeline");
        match normalization {
            Normalization::Chain(chain) => debug.field("normalization", chain),
            Normalization::Model(normalizer) => debug.field("normalization", &normalizer.flags()),
        };
        debug
            .field("added", &added.as_ref().map(Vec::len))
            .field("symbols", &symbols.len())
            .field("prefix", prefix)
            .field("marks", marks)
            .field("fused", fused)
            .field("splitter", splitter)
            .finish()
    }
}

impl Prepared {
    fn new(pipeline: Arc<Pipeline>, special: &SpecialTokens) -> Result<Self, VocabularyError> {
        let normalize = |content: &str| {
            let mut normalized = String::new();
            let Normalization::Chain(chain) = &pipeline.normalization else {
                unreachable!("the symbols of a model are written as in normalized text");
            };
            let content_as_gap = Gap::of(content);
            let done = pipeline.normalize(chain, content_as_gap, &mut normalized, None);
            done.map_err(|error| VocabularyError::AddedToken {
                content: content.to_owned(),
                reason: error.to_string(),
            })?;
            Ok(normalized)
        };
        let has_marks = pipeline.marks == Marks::Normalized;
        let Pipeline { added, symbols, .. } = &*pipeline;
        let added = AddedTokens::new(added.as_deref(), symbols, special, has_marks, normalize)?;
        Ok(Self { pipeline, added })
    }

    /// Builds the same for other special tokens.
    pub(super) fn with_special(&self, special: &SpecialTokens) -> Result<Self, VocabularyError> {
        Self::new(Arc::clone(&self.pipeline), special)
    }

    /// The parts of a text: its added tokens, and gaps.
    pub(super) fn parts<'a>(
        &'a self,
        special: &'a SpecialTokens,
        text: &'a str,
        allowed: &'a Allowed,
    ) -> Parts<'a> {
        match &self.added.raw {
            Some(raw) => Parts::added(raw, text.as_bytes(), allowed),
            None => Parts::special(special, text.as_bytes(), allowed),
        }
    }

    /// The search for added tokens in text as it stands; `None` if special tokens are found as without a pipeline.
    pub(super) fn raw(&self) -> Option<&Search> {
        self.added.raw.as_ref()
    }

    /// The parts of normalized text: symbols, and text between them.
    pub(super) fn symbols<'a>(&'a self, normalized: &'a [u8]) -> Parts<'a> {
        Parts::added(&self.added.normalized, normalized, &Allowed::All)
    }

    /// Returns whether a text can be cut between two characters, the last of `left` and the first behind it, where the
    /// splitter says so of normalized text, and nothing else that the pipeline does reaches across. What follows the cut
    /// does not [start](Gap::is_start) a text then. `is_behind_token` says whether a special token may end there.
    ///
    /// Nothing does if the characters stay as they are and beside each other, and no added token has them beside each other
    /// or looks at what stands beside it there; if they are no marks, which become spaces; and if no space is put before
    /// what follows the cut, neither because a segment begins there, which no space does, nor, as a gap does, behind a
    /// token. White space between words is nothing but that, and a space is put before each of them.
    pub(super) fn keeps_apart(
        &self,
        left: &str,
        before: char,
        after: char,
        is_behind_token: bool,
    ) -> bool {
        let Self { pipeline, added } = self;
        let raw = added.raw.as_ref();
        let stays = match pipeline.marks {
            Marks::Nothing => true,
            Marks::Normalized | Marks::Segments => ![before, after].contains(&characters::MARK),
            Marks::Words => {
                pipeline.prefix == Prefix::UnlessSpace
                    && after == ' '
                    && before != characters::MARK
                    && !before.is_whitespace()
            }
        };
        let starts_no_gap = || !is_behind_token && !raw.is_some_and(|raw| raw.may_end_in(before));
        let starts_no_segment = match pipeline.prefix {
            Prefix::Nothing => true,
            Prefix::Always | Prefix::AlwaysEmpty => starts_no_gap(),
            Prefix::UnlessSpace | Prefix::FirstUnlessSpace => after == ' ',
        };
        let starts_nothing =
            starts_no_segment && (!pipeline.normalization.changes_start() || starts_no_gap());
        stays
            && starts_nothing
            && pipeline.normalization.keeps_apart(left, before, after)
            && !raw.is_some_and(|raw| raw.reaches_across(before, after))
            && !added.normalized.reaches_across(before, after)
    }

    /// Returns whether the start of a text may become other ids than the same behind other text.
    pub(super) fn changes_start(&self) -> bool {
        let Pipeline {
            prefix,
            normalization,
            ..
        } = &*self.pipeline;
        *prefix != Prefix::Nothing || normalization.changes_start()
    }

    /// Returns whether the spans of tokens may be those of other characters, as in the library.
    pub(super) fn shifts_spans(&self) -> bool {
        matches!(&self.pipeline.normalization, Normalization::Chain(chain) if chain.shifts_spans())
    }

    /// Returns whether each gap may start with a space that stands for nothing, and not the first one alone.
    pub(super) fn starts_each_gap(&self) -> bool {
        self.changes_start() && self.pipeline.prefix != Prefix::FirstUnlessSpace
    }

    /// Returns whether text need not be UTF-8.
    pub(super) fn reads_bytes(&self) -> bool {
        matches!(self.pipeline.normalization, Normalization::Model(_))
    }

    /// The unknown token, if one of it stands for several in a row in a segment, though that is split.
    pub(super) fn fused(&self) -> Option<TokenId> {
        self.pipeline.fused
    }

    /// Returns whether the space that is put before a gap stands for nothing.
    pub(super) fn has_empty_prefix(&self) -> bool {
        self.pipeline.prefix == Prefix::AlwaysEmpty
    }

    /// Returns a part of a segment with marks where spaces stand for them.
    fn with_marks(&self, part: &str) -> String {
        match self.pipeline.marks {
            Marks::Nothing => part.to_owned(),
            Marks::Normalized | Marks::Segments | Marks::Words => {
                part.replace(' ', str::from_utf8(MARK).expect("it is a character"))
            }
        }
    }

    /// The added tokens that are not special.
    pub(super) fn added(&self) -> &AddedTokens {
        &self.added
    }

    /// Makes segments of a gap. They say where they come from if that is `traced`.
    pub(super) fn segments(
        &self,
        gap: Gap<'_>,
        allowed: &Allowed,
        scratch: &mut Scratch,
        traced: bool,
        mut each: impl FnMut(Segment<'_>) -> Result<ControlFlow<()>, EncodeError>,
    ) -> Result<ControlFlow<()>, EncodeError> {
        let Self { pipeline, added } = self;
        let may_be_first = gap.is_first && pipeline.prefix == Prefix::FirstUnlessSpace;
        let is_always = pipeline.prefix.is_always() && gap.is_start;
        // A token of normalized text may begin with the space that is put in front.
        let has_space_before = is_always && added.normalized.is_empty();
        let is_kept = pipeline.normalization.keeps(gap) && (!is_always || has_space_before);
        let Scratch {
            bytes,
            normalized,
            spans,
        } = scratch;
        let (text, origin) = match &pipeline.normalization {
            Normalization::Chain(_) if is_kept => (gap.bytes, Origin::Gap(0)),
            Normalization::Chain(chain) => {
                normalized.clear();
                spans.clear();
                let is_traced = traced || may_be_first;
                let wanted = is_traced.then_some(&mut *spans);
                pipeline.normalize(chain, gap, normalized, wanted)?;
                let traced = Origin::Spans(spans);
                let origin = if is_traced { traced } else { Origin::Unknown };
                (normalized.as_bytes(), origin)
            }
            Normalization::Model(normalizer) => {
                bytes.clear();
                normalizer.normalize_part(gap.bytes, gap.is_start, SPACE, bytes, None);
                (bytes.as_slice(), Origin::Unknown)
            }
        };
        let mut pass = |part: Part| match part {
            Part::Token(id, span) => each(Segment::Token(id, origin.span(span))),
            Part::Text(span) => {
                let (text, origin) = (&text[span.clone()], origin.part(span));
                let is_first = may_be_first && origin.is_start();
                let plain = if traced {
                    pipeline.without_marks(text, origin)
                } else {
                    pipeline.without_marks(text, Origin::Unknown)
                };
                let start = match &plain {
                    Some((plain, _)) if pipeline.marks == Marks::Words => plain.as_bytes(),
                    _ => text,
                };
                if start.is_empty() {
                    // Nothing but white space, between words.
                    return Ok(ControlFlow::Continue(()));
                }
                let behind_space =
                    is_kept && has_space_before || pipeline.puts_space(start, is_first);
                let (text, origin) = match &plain {
                    Some((plain, spans)) if traced => (plain.as_bytes(), Origin::Spans(spans)),
                    Some((plain, _)) => (plain.as_bytes(), Origin::Unknown),
                    None => (text, origin),
                };
                each(Segment::Text {
                    text,
                    behind_space,
                    origin,
                })
            }
        };
        // Most files have no such tokens, and texts of 100 bytes take 0.5 µs.
        if added.normalized.is_empty() && !text.is_empty() {
            return pass(Part::Text(0..text.len()));
        }
        for part in Parts::added(&added.normalized, text, allowed) {
            if pass(part)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl Encoder {
    /// Builds the encoder of a pipeline. `special_tokens` are the special ones among its added tokens, by which their ids
    /// are found; others among them have no flags.
    ///
    /// # Errors
    /// [`VocabularyError`] if the added tokens of a text may depend on chance in `tokenizers`, or make it panic.
    pub fn with_pipeline(
        vocabulary: Arc<Vocabulary>,
        special_tokens: SpecialTokens,
        pipeline: Pipeline,
    ) -> Result<Self, VocabularyError> {
        let splitter = pipeline.splitter.clone();
        let prepared = Prepared::new(pipeline.into(), &special_tokens)?;
        let mut encoder = Self::new(vocabulary, special_tokens, splitter);
        encoder.pipeline = Some(Arc::new(prepared));
        Ok(encoder)
    }
}
