//! The loop over pieces, compiled for AVX2, and for AVX-512 where windows are classified and their pieces located by that:
//! the only `unsafe` of encoding.
#![allow(unsafe_code)]
#![expect(
    clippy::inline_always,
    reason = "compiled anew for each tier, with its instructions"
)]

use super::pieces::{LookUps, PieceEncoder};
use crate::cache::Locate;
use crate::cache::avx2::Avx2;
use crate::cache::avx512::Avx512;
use crate::error::EncodeError;
use crate::split::masks::Masks;
use crate::split::native;
use crate::split::pattern::Family;
use crate::split::{avx2, avx512};
use crate::util::block::Block;
use crate::util::tier::Tier;

/// As [`PieceEncoder::encode_chunk`]; `None`, and nothing done, if that is neither tier, or the machine does not have it.
pub(super) fn encode(
    pieces: &mut PieceEncoder<'_>,
    family: Family,
    tier: Tier,
    text: &[u8],
    place: &mut usize,
) -> Option<Result<(), EncodeError>> {
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn by_avx2(work: Work<'_, '_>, place: &mut usize) -> Result<(), EncodeError> {
        let locate = work.look_up;
        work.run(
            place,
            locate,
            |window| avx2::ascii(window),
            |masks, window| avx2::with_high(masks, window),
        )
    }
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2"
    )]
    fn by_avx512(work: Work<'_, '_>, place: &mut usize, locate: Avx512) -> Result<(), EncodeError> {
        work.run(
            place,
            locate,
            |window| avx512::ascii(window),
            |masks, window| avx512::with_high(masks, window),
        )
    }
    if !tier.has_avx2() || !tier.available() {
        return None;
    }
    let work = Work {
        pieces,
        look_up: Avx2::detect()?,
        family,
        text,
    };
    // SAFETY: the machine has what the functions are compiled for.
    Some(unsafe {
        match (tier == Tier::Avx512).then(Avx512::detect).flatten() {
            Some(locate) => by_avx512(work, place, locate),
            None => by_avx2(work, place),
        }
    })
}

/// What is the same for both.
struct Work<'p, 'a> {
    pieces: &'p mut PieceEncoder<'a>,
    look_up: Avx2,
    family: Family,
    text: &'p [u8],
}

impl Work<'_, '_> {
    #[inline(always)]
    fn run(
        self,
        place: &mut usize,
        locate: impl Locate,
        ascii: impl Fn(&Block) -> Masks,
        high: impl Fn(Masks, &Block) -> Masks,
    ) -> Result<(), EncodeError> {
        let mut sink = LookUps::new(self.pieces, self.text, locate, self.look_up);
        native::by_blocks(self.family, self.text, place, &mut sink, ascii, high)?;
        sink.look()
    }
}
