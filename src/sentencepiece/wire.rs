//! The fields of a protocol buffers message, as they stand in its bytes.

use std::ops::Range;

use prost::DecodeError;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use prost::encoding::{encode_key, encode_varint};

/// The payload of one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Payload<'a> {
    Varint(u64),
    Fixed32([u8; 4]),
    Bytes(&'a [u8]),
    /// A fixed number of 64 bits or a group, which no message of a model has.
    Other,
}

/// One field of a message.
#[derive(Clone, Debug)]
pub(super) struct Field<'a> {
    pub(super) number: u32,
    pub(super) payload: Payload<'a>,
    /// Where the whole field stands in the message, its key included.
    pub(super) range: Range<usize>,
}

impl Field<'_> {
    /// Where the payload ends is where the field ends, so `length` bytes before that it begins.
    pub(super) fn payload_range(&self) -> Range<usize> {
        let length = match self.payload {
            Payload::Bytes(bytes) => bytes.len(),
            _ => 0,
        };
        self.range.end - length..self.range.end
    }
}

/// The fields of a message in the order of its bytes. Ends after the first error.
pub(super) struct Fields<'a> {
    message: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(message: &'a [u8]) -> Self {
        Self {
            message,
            rest: message,
        }
    }

    fn field(&mut self) -> Result<Field<'a>, DecodeError> {
        let start = self.offset();
        let (number, wire_type) = decode_key(&mut self.rest)?;
        let before = self.rest;
        let skip = |rest: &mut &'a [u8]| {
            // Checks that the length is within the message before anything is made of it.
            skip_field(wire_type, number, rest, DecodeContext::default())
        };
        let payload = match wire_type {
            WireType::Varint => Payload::Varint(decode_varint(&mut self.rest)?),
            WireType::LengthDelimited => {
                // Nearly all fields are pieces, shorter than that: reading them again took a third of the time.
                let length = before.first().filter(|length| length.is_ascii());
                let short = length.and_then(|&length| before[1..].split_at_checked(length.into()));
                if let Some((body, rest)) = short {
                    self.rest = rest;
                    Payload::Bytes(body)
                } else {
                    skip(&mut self.rest)?;
                    let mut body = &before[..before.len() - self.rest.len()];
                    decode_varint(&mut body)?;
                    Payload::Bytes(body)
                }
            }
            _ => {
                skip(&mut self.rest)?;
                let body = &before[..before.len() - self.rest.len()];
                match wire_type {
                    WireType::ThirtyTwoBit => {
                        body.try_into().map_or(Payload::Other, Payload::Fixed32)
                    }
                    _ => Payload::Other,
                }
            }
        };
        Ok(Field {
            number,
            payload,
            range: start..self.offset(),
        })
    }

    fn offset(&self) -> usize {
        self.message.len() - self.rest.len()
    }
}

impl<'a> Iterator for Fields<'a> {
    /// A field, or the offset in the message of one that cannot be read.
    type Item = Result<Field<'a>, usize>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let start = self.offset();
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field.map_err(|_| start))
    }
}

/// Appends a field with a number.
pub(super) fn write_varint(number: u32, value: u64, out: &mut Vec<u8>) {
    encode_key(number, WireType::Varint, out);
    encode_varint(value, out);
}

/// Appends a field with a number of 32 bits.
pub(super) fn write_fixed32(number: u32, value: [u8; 4], out: &mut Vec<u8>) {
    encode_key(number, WireType::ThirtyTwoBit, out);
    out.extend(value);
}

/// Appends a field with a string or a message.
pub(super) fn write_bytes(number: u32, value: &[u8], out: &mut Vec<u8>) {
    encode_key(number, WireType::LengthDelimited, out);
    encode_varint(value.len() as u64, out);
    out.extend_from_slice(value);
}
