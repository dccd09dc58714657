//! What targets are called in CMake: which of them a file belongs to.
