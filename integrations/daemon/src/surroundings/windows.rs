//! What a process sees on Windows.
#![expect(unsafe_code, reason = "the calls take pointers and sizes")]

use crate::token;
use windows_sys::Win32::Storage::FileSystem::{GetLogicalDrives, QueryDosDeviceW};
use windows_sys::Win32::System::Time::{DYNAMIC_TIME_ZONE_INFORMATION, GetDynamicTimeZoneInformation};

/// Variables that say where images are kept.
pub(super) const VARIABLES: &[&str] =
    &["LOCALAPPDATA", "APPDATA", "USERPROFILE", "HOME", "XDG_CACHE_HOME", "UPCHECK_CACHE_DIR"];
/// Keys of what says which files there are.
pub(super) const FILES: &[&str] = &["drives"];
/// Keys of what says what a process may read.
pub(super) const RIGHTS: &[&str] = &["user", "logon", "integrity", "groups"];

/// Says all that has to do with files and rights. `None` where the system does not say.
pub(super) fn look(put: &mut impl FnMut(&str, String)) -> Option<()> {
    put("user", token::user().ok()?);
    put("logon", token::logon().ok()?);
    put("integrity", token::integrity());
    put("groups", format!("{:x}", token::groups()));
    // SAFETY: the call takes nothing.
    let present = unsafe { GetLogicalDrives() };
    let drives = ('A'..='Z').enumerate().filter(|(n, _)| present >> n & 1 == 1);
    put("drives", drives.map(|(_, letter)| format!("{letter}:{};", drive(letter))).collect());
    Some(())
}

/// What the letter of a drive stands for; empty where the system does not say.
fn drive(letter: char) -> String {
    let name: Vec<u16> = format!("{letter}:\0").encode_utf16().collect();
    let mut target = [0; 1024];
    let most = u32::try_from(target.len()).unwrap_or(0);
    // SAFETY: the name ends with 0, and there is room for so many numbers.
    let length = unsafe { QueryDosDeviceW(name.as_ptr(), target.as_mut_ptr(), most) };
    // Behind it may be what it stood for before.
    let target = target.get(..length as usize).unwrap_or_default();
    let first = target.split(|unit| *unit == 0).next().unwrap_or_default();
    String::from_utf16_lossy(first)
}

/// What stands for the local time.
pub(super) fn local_time() -> String {
    let mut zone = DYNAMIC_TIME_ZONE_INFORMATION::default();
    // SAFETY: the call writes to where the pointer leads.
    unsafe { GetDynamicTimeZoneInformation(&raw mut zone) };
    let key = zone.TimeZoneKeyName.split(|unit| *unit == 0).next().unwrap_or_default();
    let key = String::from_utf16_lossy(key);
    let (bias, standard, daylight) = (zone.Bias, zone.StandardBias, zone.DaylightBias);
    format!("{key} {bias} {standard} {daylight} {}", zone.DynamicDaylightTimeDisabled)
}
