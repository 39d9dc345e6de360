//! The rules of the house that no other tool checks.
