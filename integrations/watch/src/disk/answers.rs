//! What a disk has said of the names of one visit, as small as can be, since there are very many: 33 bytes for a name.

use upcheck::{Meta, Stat};

/// What was said of each name, by its number.
pub(super) struct Answers {
    kinds: Box<[Kind]>,
    /// Of plain ones: mtime, ctime, size, inode.
    plain: Box<[[u64; 4]]>,
    /// On which all plain ones are.
    device: u64,
    /// Of odd ones, in the order of their numbers.
    odd: Vec<(u32, Stat)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    Missing,
    /// It is there, on the file system of the others.
    Plain,
    /// All else.
    Odd,
}

impl Answers {
    pub(super) fn new(stats: &[Stat]) -> Self {
        let mut answers = Self {
            kinds: vec![Kind::Missing; stats.len()].into(),
            plain: vec![[0; 4]; stats.len()].into(),
            device: 0,
            odd: Vec::new(),
        };
        for (at, stat) in stats.iter().enumerate() {
            answers.set(at, *stat);
        }
        answers
    }

    pub(super) fn get(&self, at: usize) -> Stat {
        match self.kinds[at] {
            Kind::Missing => Stat::Missing,
            Kind::Plain => {
                let [mtime, ctime, size, inode] = self.plain[at];
                let (mtime, ctime) = (mtime.cast_signed(), ctime.cast_signed());
                Stat::Present(Meta { mtime, ctime, size, inode, device: self.device })
            }
            Kind::Odd => self.odd_at(at).map_or(Stat::Unknown, |at| self.odd[at].1),
        }
    }

    pub(super) fn set(&mut self, at: usize, stat: Stat) {
        if let (Kind::Odd, Ok(place)) = (self.kinds[at], self.odd_at(at)) {
            self.odd.remove(place);
        }
        self.kinds[at] = Kind::Missing;
        self.kinds[at] = match stat {
            Stat::Missing => Kind::Missing,
            Stat::Present(meta) if self.is_on_device(meta.device) => {
                self.device = meta.device;
                self.plain[at] =
                    [meta.mtime.cast_unsigned(), meta.ctime.cast_unsigned(), meta.size, meta.inode];
                Kind::Plain
            }
            Stat::Present(_) | Stat::Unknown | Stat::Unreadable(_) => {
                let place = self.odd_at(at).unwrap_or_else(|place| place);
                self.odd.insert(place, (upcheck::narrow(at), stat));
                Kind::Odd
            }
        };
    }

    pub(super) fn copy_to(&self, stats: &mut [Stat]) {
        stats.iter_mut().enumerate().for_each(|(at, stat)| *stat = self.get(at));
    }

    /// What it has beside itself.
    pub(super) fn bytes(&self) -> usize {
        self.kinds.len() * (size_of::<Kind>() + size_of::<[u64; 4]>())
            + self.odd.capacity() * size_of::<(u32, Stat)>()
    }

    /// Whether what is on this device may be a plain one.
    fn is_on_device(&self, device: u64) -> bool {
        self.device == device || !self.kinds.contains(&Kind::Plain)
    }

    /// Where an odd one is, or would be.
    fn odd_at(&self, at: usize) -> Result<usize, usize> {
        self.odd.binary_search_by_key(&at, |(its, _)| *its as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_stat() -> impl Strategy<Value = Stat> {
        let meta = (any::<i64>(), any::<i64>(), any::<u64>(), any::<u64>(), 0..3_u64);
        prop_oneof![
            Just(Stat::Unknown),
            Just(Stat::Missing),
            any::<i32>().prop_map(Stat::Unreadable),
            meta.prop_map(|(mtime, ctime, size, inode, device)| {
                Stat::Present(Meta { mtime, ctime, size, inode, device })
            }),
        ]
    }

    fn all(answers: &Answers) -> Vec<Stat> {
        let mut stats = vec![Stat::Unknown; answers.kinds.len()];
        answers.copy_to(&mut stats);
        stats
    }

    proptest! {
        #[test]
        fn what_was_said_last_is_what_is_remembered(
            mut stats in prop::collection::vec(any_stat(), 1..20),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any_stat()), 0..40),
        ) {
            let mut answers = Answers::new(&stats);
            prop_assert_eq!(all(&answers), &*stats);
            for (at, stat) in changes {
                let at = at.index(stats.len());
                stats[at] = stat;
                answers.set(at, stat);
                prop_assert_eq!(all(&answers), &*stats);
            }
        }
    }

    #[test]
    fn files_of_one_file_system_take_33_bytes_each_also_where_there_were_none() {
        let mut answers = Answers::new(&[Stat::Missing; 10]);
        for at in 0..10 {
            answers.set(at, Stat::Present(Meta { device: 7, ..Meta::default() }));
        }
        assert_eq!(answers.bytes(), 330);
    }
}
