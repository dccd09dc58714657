//! What is kept between checks never changes an answer, whatever becomes of it or of the build directory.

mod asking;
#[path = "../command/mod.rs"]
mod command;
mod damage;
mod depfiles;
mod folder;
mod lives;
mod places;
mod racy;
mod sources;
mod tails;
mod together;
mod unwritten;
#[cfg(unix)] // Users, modes and links.
mod whose;
