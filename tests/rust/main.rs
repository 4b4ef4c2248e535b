//! The library's integration tests, as one program.

mod adversarial;
mod agreement;
mod contracts;
mod golden;
mod splitting;
mod support;
mod unicode;
