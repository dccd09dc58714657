//! Bad replies.
