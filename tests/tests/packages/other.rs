//! Somebody else's archive, beside upcheck's in one program.

use std::collections::HashMap;

/// Uses what both archives bring along: the allocator, unwinding, threads, hash maps.
#[unsafe(no_mangle)]
pub extern "C" fn other_answer() -> i32 {
    let from_thread = std::thread::spawn(|| HashMap::from([("answer", 42)])["answer"]).join().unwrap_or(0);
    let caught = std::panic::catch_unwind(|| std::panic::resume_unwind(Box::new(())));
    if caught.is_err() { from_thread } else { 0 }
}
