//! The loop over pieces, compiled for AVX2: the only `unsafe` of encoding.
#![allow(unsafe_code)]

use std::ops::Range;

use super::pieces::{self, Workspace};
use crate::checkpoint::Checkpoint;
use crate::error::EncodeError;
use crate::piece_table::avx2::{find, get};
use crate::split::native::Tier;
use crate::token::TokenId;
use crate::vocabulary::Vocabulary;

/// As [`pieces::encode`]; `None`, and nothing done, on a machine without AVX2.
pub(super) fn encode(
    vocabulary: &Vocabulary,
    workspace: &mut Workspace,
    text: &[u8],
    pieces: &[Range<usize>],
    ids: &mut Vec<TokenId>,
    checkpoint: &dyn Checkpoint,
) -> Option<Result<(), EncodeError>> {
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn compiled(
        vocabulary: &Vocabulary,
        workspace: &mut Workspace,
        text: &[u8],
        pieces: &[Range<usize>],
        ids: &mut Vec<TokenId>,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), EncodeError> {
        pieces::encode_with(
            vocabulary,
            workspace,
            text,
            pieces,
            ids,
            checkpoint,
            |view, text, start, length| find(view, text, start, length),
            |view, spot| get(view, spot),
        )
    }
    Tier::Avx2.available().then(|| {
        // SAFETY: the machine has what the function is compiled for.
        unsafe { compiled(vocabulary, workspace, text, pieces, ids, checkpoint) }
    })
}
