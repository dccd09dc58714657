//! `upcheck watch`: a daemon never changes an answer, whatever happens to it.
