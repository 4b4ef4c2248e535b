//! The loop over pieces, compiled for AVX2: the only `unsafe` of encoding.
#![allow(unsafe_code)]

use super::pieces::{LookUps, Pieces};
use crate::error::EncodeError;
use crate::piece_table::avx2::get;
use crate::split::avx2::masks;
use crate::split::native;
use crate::split::pattern::Family;
use crate::tier::Tier;

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
        family: Family,
        text: &[u8],
        place: &mut usize,
    ) -> Result<(), EncodeError> {
        let mut sink = LookUps::new(pieces, |view, bytes, length, room| {
            get(view, bytes, length, room)
        });
        native::by_windows(family, text, place, &mut sink, |bytes| masks(bytes))?;
        sink.append();
        Ok(())
    }
    Tier::Avx2.available().then(|| {
        // SAFETY: the machine has what the function is compiled for.
        unsafe { compiled(pieces, family, text, place) }
    })
}
