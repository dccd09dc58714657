//! A moment: for killing others at ever other points of what they do.

/// Spends some hundred nanoseconds of its own time, so many times. Not by giving way to others: where a machine is busy each
/// of these turns would take as long as all of what is to be killed.
pub fn spend(times: u64) {
    for _ in 0..times * 16 {
        std::hint::spin_loop();
    }
}
