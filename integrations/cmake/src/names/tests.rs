//! Names, on replies that are made up.
