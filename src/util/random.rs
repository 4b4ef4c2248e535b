//! Random numbers for unit tests, the same in every run.

/// Returns a generator of numbers below a bound.
pub(crate) fn numbers(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |below| {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        usize::try_from(state >> 33).expect("it has 31 bits") % below
    }
}
