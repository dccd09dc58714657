//! A table of plain values that was built in memory, lies in a mapped image, or is somebody else's.
//!
//! Whoever reads sees a slice in all cases. Whoever changes one that was not built here gets a copy of it first.

use bytemuck::Pod;
use memmap2::Mmap;
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A table of plain values.
pub struct Column<T: Pod> {
    place: Place<T>,
}

enum Place<T: 'static> {
    Memory(Vec<T>),
    /// Bytes whose length and alignment were checked.
    Mapped(Arc<Mmap>, Range<usize>, PhantomData<T>),
    Borrowed(&'static [T]),
}

impl<T: Pod> Column<T> {
    /// A table in a part of a mapped file; `None` where that part cannot be such a table.
    pub(crate) fn mapped(map: &Arc<Mmap>, range: Range<usize>) -> Option<Self> {
        bytemuck::try_cast_slice::<u8, T>(map.get(range.clone())?).ok()?;
        Some(Self { place: Place::Mapped(map.clone(), range, PhantomData) })
    }

    /// A table that is somebody else's.
    pub(crate) fn borrowed(values: &'static [T]) -> Self {
        Self { place: Place::Borrowed(values) }
    }

    /// Whether it lies in a file, so that changing it costs a copy.
    pub(crate) fn is_mapped(&self) -> bool {
        matches!(self.place, Place::Mapped(..))
    }

    /// The table for changing it. Costs a copy the first time, if it was not built here.
    pub fn to_mut(&mut self) -> &mut Vec<T> {
        if !matches!(self.place, Place::Memory(_)) {
            self.place = Place::Memory(self.to_vec());
        }
        match &mut self.place {
            Place::Memory(values) => values,
            Place::Mapped(..) | Place::Borrowed(_) => unreachable!("it was copied"),
        }
    }
}

impl<T: Pod> Deref for Column<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.place {
            Place::Memory(values) => values,
            Place::Mapped(map, range, _) => bytemuck::cast_slice(&map[range.clone()]),
            Place::Borrowed(values) => values,
        }
    }
}

impl<T: Pod> Default for Column<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T: Pod + PartialEq> PartialEq for Column<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Pod + Eq> Eq for Column<T> {}

impl<T: Pod> From<Vec<T>> for Column<T> {
    fn from(values: Vec<T>) -> Self {
        Self { place: Place::Memory(values) }
    }
}

impl<T: Pod> Clone for Column<T> {
    fn clone(&self) -> Self {
        let place = match &self.place {
            Place::Memory(values) => Place::Memory(values.clone()),
            Place::Mapped(map, range, _) => Place::Mapped(map.clone(), range.clone(), PhantomData),
            Place::Borrowed(values) => Place::Borrowed(values),
        };
        Self { place }
    }
}

impl<T: Pod + std::fmt::Debug> std::fmt::Debug for Column<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}
