//! Globs on real directories.
