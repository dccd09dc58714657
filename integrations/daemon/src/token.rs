//! Whom Windows takes this process for: what its token says, and what only the same user may open.
#![expect(unsafe_code, reason = "Windows takes pointers and sizes")]

use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::null_mut;
use upcheck::os_token::{fill, token};
use windows_sys::Win32::Foundation::{HANDLE, LUID, LocalFree};
use windows_sys::Win32::Security::Authorization::{
    ConvertStringSecurityDescriptorToSecurityDescriptorW, SDDL_REVISION_1,
};
use windows_sys::Win32::Security::{
    EqualSid, GetKernelObjectSecurity, GetLengthSid, GetSecurityDescriptorOwner, GetTokenInformation,
    OWNER_SECURITY_INFORMATION, PSID, SECURITY_ATTRIBUTES, SID_AND_ATTRIBUTES, TOKEN_GROUPS,
    TOKEN_MANDATORY_LABEL, TOKEN_QUERY, TOKEN_STATISTICS, TOKEN_USER, TokenGroups, TokenIntegrityLevel,
    TokenRestrictedSids, TokenStatistics, TokenUser,
};
use windows_sys::Win32::System::Threading::{
    OpenProcess, OpenProcessToken, PROCESS_QUERY_LIMITED_INFORMATION,
};

/// The user of this process, as text: `S-1-5-21-...`.
pub(crate) fn user() -> io::Result<String> {
    let told = token(TokenUser)?;
    // SAFETY: what was asked for is such a value, at the beginning of a buffer that is aligned for it and lives until the
    // end of this function, as does the identifier that it leads to.
    let sid = unsafe { sid_bytes((*told.as_ptr().cast::<TOKEN_USER>()).User.Sid) };
    sid_text(sid).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The logon to which it belongs: one of the same user that is elevated has another one, and other letters of drives.
pub(crate) fn logon() -> io::Result<String> {
    let told = token(TokenStatistics)?;
    // SAFETY: as in `user`.
    let LUID { LowPart, HighPart } = unsafe { (*told.as_ptr().cast::<TOKEN_STATISTICS>()).AuthenticationId };
    Ok(format!("{HighPart:x}-{LowPart:x}"))
}

/// How much it is trusted, as text: `S-1-16-8192`. Empty where the system does not say.
pub(crate) fn integrity() -> String {
    token(TokenIntegrityLevel).map_or(String::new(), |told| integrity_text(&told))
}

/// Whether another process is trusted as much as this one is. One of the same user that is not elevated may know what an elevated one
/// looks for, and be faster to take its name.
pub(crate) fn is_trusted_alike(process: u32) -> io::Result<bool> {
    let owned = |handle: HANDLE| match handle.is_null() {
        true => Err(io::Error::last_os_error()),
        // SAFETY: it was opened just now, and nobody else has it.
        false => Ok(unsafe { OwnedHandle::from_raw_handle(handle) }),
    };
    // SAFETY: nothing but numbers is given to the call.
    let process = owned(unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, process) })?;
    let mut its = null_mut();
    // SAFETY: the process is open, and the call writes a handle.
    if unsafe { OpenProcessToken(process.as_raw_handle(), TOKEN_QUERY, &raw mut its) } == 0 {
        return Err(io::Error::last_os_error());
    }
    let its = owned(its)?;
    let told = fill(|buffer, length, needed| {
        // SAFETY: the buffer has as many bytes as is said and is aligned, the token is open, and `needed` is where the call may write
        // a number.
        unsafe { GetTokenInformation(its.as_raw_handle(), TokenIntegrityLevel, buffer, length, needed) }
    })?;
    Ok(integrity_text(&told) == integrity())
}

/// What a token says about integrity, as text.
fn integrity_text(told: &[u64]) -> String {
    // SAFETY: as in `user`.
    let sid = unsafe { sid_bytes((*told.as_ptr().cast::<TOKEN_MANDATORY_LABEL>()).Label.Sid) };
    sid_text(sid).unwrap_or_default()
}

/// What stands for its groups, and for those to which it is restricted.
pub(crate) fn groups() -> u64 {
    let mut hash = Fnv::default();
    for class in [TokenGroups, TokenRestrictedSids] {
        // Where the system does not say, it does not say so to who asks either.
        let Ok(told) = token(class) else { continue };
        let all = told.as_ptr().cast::<TOKEN_GROUPS>();
        // SAFETY: as in `user`; behind the number of groups there are so many.
        let groups: &[SID_AND_ATTRIBUTES] = unsafe {
            std::slice::from_raw_parts((&raw const (*all).Groups).cast(), (*all).GroupCount as usize)
        };
        for group in groups {
            // SAFETY: it leads to an identifier in the same buffer.
            hash.add(unsafe { sid_bytes(group.Sid) });
            hash.add(&group.Attributes.to_le_bytes());
        }
        hash.add(b"|");
    }
    hash.0
}

/// Whether something that is open belongs to the user of this process.
pub(crate) fn is_users(open: &impl AsHandle) -> io::Result<bool> {
    let handle = open.as_handle();
    let descriptor = fill(|buffer, length, needed| {
        // SAFETY: the buffer has as many bytes as is said and is aligned, the handle is open, and `needed` is where the call may
        // write a number.
        unsafe {
            let wanted = OWNER_SECURITY_INFORMATION;
            GetKernelObjectSecurity(handle.as_raw_handle(), wanted, buffer, length, needed)
        }
    })?;
    let user = token(TokenUser)?;
    let (mut owner, mut is_usual): (PSID, _) = (null_mut(), 0);
    // SAFETY: the buffer has the descriptor that was asked for. The owner lies in it, or is null, and the user's identifier in
    // the other one.
    unsafe {
        let descriptor = descriptor.as_ptr().cast_mut().cast();
        if GetSecurityDescriptorOwner(descriptor, &raw mut owner, &raw mut is_usual) == 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(!owner.is_null() && EqualSid(owner, (*user.as_ptr().cast::<TOKEN_USER>()).User.Sid) != 0)
    }
}

/// Who may open what this process makes: its user, and of his processes those that are trusted as much as this one.
pub(crate) struct OnlyUser {
    /// A security descriptor in one piece, in numbers so that it is aligned.
    descriptor: Vec<u64>,
}

impl OnlyUser {
    /// What says so.
    pub(crate) fn new() -> io::Result<Self> {
        let user = user()?;
        let label = match integrity() {
            level if level.is_empty() => level,
            level => format!("S:(ML;;NWNR;;;{level})"),
        };
        // He owns it, and nobody has any right to it but him; nothing is inherited.
        let text = format!("O:{user}G:{user}D:P(A;;GA;;;{user}){label}");
        let text: Vec<u16> = text.encode_utf16().chain([0]).collect();
        let (mut made, mut length) = (null_mut(), 0);
        // SAFETY: the text ends with 0, and the call writes a pointer and a number.
        let is_made = unsafe {
            let (made, length) = (&raw mut made, &raw mut length);
            ConvertStringSecurityDescriptorToSecurityDescriptorW(text.as_ptr(), SDDL_REVISION_1, made, length)
        };
        if is_made == 0 {
            return Err(io::Error::last_os_error());
        }
        let length = length as usize;
        let mut descriptor = vec![0_u64; length.div_ceil(8)];
        // SAFETY: the call has made so many bytes, of which there is room in the other place, and they are freed once.
        unsafe {
            made.cast::<u8>().copy_to_nonoverlapping(descriptor.as_mut_ptr().cast(), length);
            LocalFree(made);
        }
        Ok(Self { descriptor })
    }

    /// As calls take it, for as long as this lives.
    pub(crate) fn attributes(&self) -> SECURITY_ATTRIBUTES {
        SECURITY_ATTRIBUTES {
            nLength: u32::try_from(size_of::<SECURITY_ATTRIBUTES>()).unwrap_or(0),
            lpSecurityDescriptor: self.descriptor.as_ptr().cast_mut().cast(),
            bInheritHandle: 0,
        }
    }
}

/// A hash that is the same in all programs (FNV-1a).
pub(crate) struct Fnv(pub(crate) u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// The bytes of a security identifier.
///
/// # Safety
/// The pointer leads to one, for as long as the bytes are used.
unsafe fn sid_bytes<'a>(sid: PSID) -> &'a [u8] {
    // SAFETY: by the caller's word it is one, and so it has its length.
    unsafe { std::slice::from_raw_parts(sid.cast(), GetLengthSid(sid) as usize) }
}

/// A security identifier as it is written; `None` where the bytes are none.
fn sid_text(sid: &[u8]) -> Option<String> {
    let (&[revision, n_parts, ref authority @ ..], parts) = sid.split_first_chunk::<8>()?;
    let authority = authority.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    let (parts, rest) = parts.as_chunks::<4>();
    if parts.len() != usize::from(n_parts) || !rest.is_empty() {
        return None;
    }
    let parts = parts.iter().map(|part| format!("-{}", u32::from_le_bytes(*part)));
    Some(format!("S-{revision}-{authority}{}", parts.collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_is_written_as_everybody_writes_it() {
        let system = [1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0];
        assert_eq!(sid_text(&system).as_deref(), Some("S-1-5-18"));
        assert_eq!(sid_text(&system[..11]), None);
        assert_eq!(sid_text(&system[..8]), None);
        assert_eq!(sid_text(&[]), None);
    }

    #[test]
    fn this_process_has_a_user_and_what_he_makes_is_his() {
        assert!(user().expect("a user").starts_with("S-1-5-"));
        assert!(!logon().expect("a logon").is_empty());
        assert_eq!(groups(), groups());
        assert!(is_trusted_alike(std::process::id()).expect("a process"));
        assert!(is_trusted_alike(u32::MAX).is_err());
        let file = tempfile::tempfile().expect("a file");
        assert!(is_users(&file).expect("an owner"));
        OnlyUser::new().expect("a descriptor");
    }
}
