//! Which of the machine's instructions the hot loops are compiled for, and used.

use std::sync::OnceLock;

use crate::util::lazy::made;

/// Which instructions of the machine are used; a machine that has those of one has those of all before it. All tiers give the
/// same ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Character by character: the arbiter of the others.
    Scanner,
    /// By windows, in plain code.
    Plain,
    /// By windows, with AVX2.
    Avx2,
    /// The same, but windows are classified, their pieces located, and UTF-8 is made of characters and characters of it
    /// with AVX-512.
    Avx512,
}

impl Tier {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Scanner, Self::Plain, Self::Avx2, Self::Avx512];

    /// Its name in the environment variable.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scanner => "scanner",
            Self::Plain => "plain",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// Whether it has the instructions of AVX2.
    pub(crate) fn has_avx2(self) -> bool {
        matches!(self, Self::Avx2 | Self::Avx512)
    }

    /// Whether this machine can run it.
    #[inline]
    pub fn available(self) -> bool {
        self as u8 <= Self::fastest() as u8
    }

    /// The last that this machine can run.
    #[inline]
    fn fastest() -> Self {
        // Asked in each call: to ask for each of the instructions took as long as to split some words.
        static FASTEST: OnceLock<Tier> = OnceLock::new();
        *made(&FASTEST, || match (has_avx2(), has_avx512()) {
            (true, true) => Self::Avx512,
            (true, false) => Self::Avx2,
            (false, _) => Self::Plain,
        })
    }

    /// The tier that the environment variable `BYTEMILL_TIER` names, if this machine has it; else its fastest.
    pub fn current() -> Self {
        static CURRENT: OnceLock<Tier> = OnceLock::new();
        *made(&CURRENT, || {
            let wanted = std::env::var("BYTEMILL_TIER").ok();
            let named = Self::ALL
                .into_iter()
                .find(|tier| wanted.as_deref() == Some(tier.name()));
            named
                .filter(|tier| tier.available())
                .unwrap_or_else(Self::fastest)
        })
    }
}

/// Whether the machine has what the AVX2 tier is compiled for.
#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt")
}

/// Whether it has what the AVX-512 tier is compiled for besides.
#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx512f")
        && has!("avx512bw")
        && has!("avx512dq")
        && has!("avx512vl")
        && has!("avx512vbmi")
        && has!("avx512vbmi2")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx512() -> bool {
    false
}
