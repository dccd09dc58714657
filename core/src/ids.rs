//! Dense u32 ids for files and targets, and the only place that narrows a `usize` to one.

/// Narrows a count or an index to 32 bits.
///
/// # Panics
/// When the value does not fit. Tables are filled through checked functions, so this is out of reach
/// before a graph of four billion entries has exhausted the memory anyway.
#[must_use]
pub fn narrow(value: usize) -> u32 {
    u32::try_from(value).expect("more than four billion entries in one table")
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(transparent)]
        pub struct $name(u32);

        impl $name {
            /// The id of the `index`-th entry.
            #[must_use]
            pub fn new(index: usize) -> Self {
                Self(narrow(index))
            }

            /// The position in tables that are indexed by this id.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}

id! {
    /// One path of the graph: an input, an output, or both.
    FileId
}
id! {
    /// One target: the unit that is judged.
    TargetId
}
