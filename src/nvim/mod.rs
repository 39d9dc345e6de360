//! nvim.
