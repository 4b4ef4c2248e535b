//! The loop over pieces, compiled for AVX2: the only `unsafe` of encoding.
#![allow(unsafe_code)]

use super::pieces::{LookUps, Pieces};
use crate::error::EncodeError;
use crate::piece_table::avx2::Avx2;
use crate::split::avx2::{ascii, with_high};
use crate::split::native;
use crate::split::pattern::Family;

/// As [`Pieces::encode`]; `None`, and nothing done, on a machine without AVX2.
pub(super) fn encode(
    pieces: &mut Pieces<'_>,
    family: Family,
    text: &[u8],
    place: &mut usize,
) -> Option<Result<(), EncodeError>> {
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn compiled(
        pieces: &mut Pieces<'_>,
        tier: Avx2,
        family: Family,
        text: &[u8],
        place: &mut usize,
    ) -> Result<(), EncodeError> {
        let mut sink = LookUps::new(pieces, text, tier);
        native::by_windows(
            family,
            text,
            place,
            &mut sink,
            |window| ascii(window),
            |masks, window| with_high(masks, window),
        )?;
        sink.look()
    }
    Avx2::detect().map(|tier| {
        // SAFETY: the machine has what the function is compiled for.
        unsafe { compiled(pieces, tier, family, text, place) }
    })
}
