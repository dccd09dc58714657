//! Scripts as CMake writes them, and others.
