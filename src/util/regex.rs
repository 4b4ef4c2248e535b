//! fancy-regex, tiktoken's engine. Without the feature `general-patterns` no pattern compiles, and the engine is not part of the
//! program: the smallest module for WebAssembly has 0.9 MB, the whole one 2.9.

#[cfg(feature = "general-patterns")]
pub use fancy_regex::Regex;
use fancy_regex::{Error, Expr};
#[cfg(not(feature = "general-patterns"))]
pub use none::Regex;

/// Limits of the memory of a compiled expression, in bytes: the default of fancy-regex, and the least if a file has several.
#[cfg(feature = "general-patterns")]
const MOST_MEMORY: usize = 10 << 20;
#[cfg(feature = "general-patterns")]
const LEAST_MEMORY: usize = 1 << 18;

/// Compiles one of `expressions` of a file, which share the memory that a single one may have.
///
/// # Errors
/// It does not compile.
#[cfg(feature = "general-patterns")]
pub(crate) fn compiled(pattern: &str, expressions: usize) -> Result<Regex, Error> {
    let limit = MOST_MEMORY / expressions.max(1);
    fancy_regex::RegexBuilder::new(pattern)
        .delegate_size_limit(limit.max(LEAST_MEMORY))
        .build()
}

#[cfg(not(feature = "general-patterns"))]
pub(crate) fn compiled(_pattern: &str, _expressions: usize) -> Result<Regex, Error> {
    Err(none::missing())
}

/// Returns the syntax of a pattern.
///
/// # Errors
/// It does not parse.
#[cfg(feature = "general-patterns")]
pub(crate) fn parse(pattern: &str) -> Result<Expr, Error> {
    Ok(Expr::parse_tree(pattern)?.expr)
}

#[cfg(not(feature = "general-patterns"))]
#[inline(always)]
pub(crate) fn parse(_pattern: &str) -> Result<Expr, Error> {
    Err(none::missing())
}

#[cfg(not(feature = "general-patterns"))]
mod none {
    use std::iter::Empty;

    use fancy_regex::{Error, Match, ParseError};

    #[inline(always)]
    pub(super) fn missing() -> Error {
        let reason = "only the patterns of published encodings are known to this build";
        Error::ParseError(0, ParseError::GeneralParseError(reason.to_owned()))
    }

    /// A compiled pattern: none can exist.
    #[derive(Clone, Debug)]
    pub enum Regex {}

    impl Regex {
        pub(crate) fn as_str(&self) -> &str {
            match *self {}
        }

        pub(crate) fn is_match(&self, _text: &str) -> Result<bool, Error> {
            match *self {}
        }

        pub(crate) fn find_from_pos<'t>(
            &self,
            _text: &'t str,
            _from: usize,
        ) -> Result<Option<Match<'t>>, Error> {
            match *self {}
        }

        pub(crate) fn find_iter<'t>(&self, _text: &'t str) -> Empty<Result<Match<'t>, Error>> {
            match *self {}
        }
    }
}
