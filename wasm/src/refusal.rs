//! Why something cannot be answered, as JavaScript reads it.

use bytemill::error::{CanonicalError, EncodeError, SessionError};
use serde_json::{Value, json};

/// Why something cannot be answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// For the reader of the page.
    pub message: String,
    /// A special token that the text must not contain, and the number of characters before it.
    pub token: Option<(String, usize)>,
}

impl Refusal {
    /// Returns one with a message alone.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            token: None,
        }
    }

    /// Returns the JSON that the page reads.
    pub fn json(&self) -> Value {
        match &self.token {
            None => json!({ "error": self.message }),
            Some((token, place)) => {
                json!({ "error": self.message, "token": token, "place": place })
            }
        }
    }
}

impl From<EncodeError> for Refusal {
    fn from(error: EncodeError) -> Self {
        match error {
            EncodeError::Disallowed { token, start } => Self {
                message: format!(
                    "The text contains the special token {token} at character {start}."
                ),
                token: Some((token, start)),
            },
            error => Self::new(error.to_string()),
        }
    }
}

/// Returns the text that bytes are.
///
/// # Errors
/// They are not UTF-8.
pub fn text_of(bytes: &[u8]) -> Result<&str, Refusal> {
    std::str::from_utf8(bytes).map_err(|error| {
        let place = error.valid_up_to();
        let byte = bytes.get(place).copied().unwrap_or_default();
        Refusal::new(format!(
            "The file is not UTF-8: byte {} is 0x{byte:02x}.",
            grouped(place)
        ))
    })
}

/// Returns a number with commas between groups of three digits.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the refusal that tells an error.
pub fn refused(error: impl std::fmt::Display) -> Refusal {
    Refusal::new(error.to_string())
}

impl From<SessionError> for Refusal {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Text(CanonicalError::Encode(error)) => error.into(),
            error => refused(error),
        }
    }
}
