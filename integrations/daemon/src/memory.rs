//! How much memory this process has.

/// In bytes; 0 where nobody knows.
#[cfg(not(windows))]
pub(crate) fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}

/// In bytes; 0 where nobody knows.
#[cfg(windows)]
#[expect(unsafe_code, reason = "the call takes a pointer and a size")]
pub(crate) fn memory() -> u64 {
    use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
    use windows_sys::Win32::System::Threading::GetCurrentProcess;
    let mut counters = PROCESS_MEMORY_COUNTERS::default();
    let size = u32::try_from(size_of_val(&counters)).unwrap_or(0);
    // SAFETY: the call writes at most so many bytes to where the pointer leads, and the handle is that of the process itself.
    let is_told = unsafe { K32GetProcessMemoryInfo(GetCurrentProcess(), &raw mut counters, size) };
    if is_told == 0 { 0 } else { counters.WorkingSetSize as u64 }
}
