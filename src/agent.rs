//! The owner of one session.
