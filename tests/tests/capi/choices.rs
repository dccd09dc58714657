//! Random choices that a test runner can make simpler: zeros are the plainest case, and so is the end.

/// Numbers, taken one after the other; zeros when they are used up.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    numbers: Vec<u16>,
    at: usize,
}

impl Choices {
    pub(crate) fn new(numbers: Vec<u16>) -> Self {
        Self { numbers, at: 0 }
    }

    pub(crate) fn is_used_up(&self) -> bool {
        self.at >= self.numbers.len()
    }

    /// Below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        let number = self.numbers.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(number) % n.max(1)
    }

    /// Once in `n` times; never for zeros.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    pub(crate) fn of<T: Copy>(&mut self, some: &[T]) -> T {
        some[self.below(some.len())]
    }
}

/// How many cases to run: `UPCHECK_CASES`, or the usual number.
pub(crate) fn cases(usual: u32) -> u32 {
    std::env::var("UPCHECK_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}
