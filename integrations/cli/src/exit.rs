//! Exit statuses, which scripts rely on.

use std::process::{ExitCode, ExitStatus};

/// How the command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything asked for is fresh.
    Fresh = 0,
    /// Something is stale, or pending.
    Stale = 1,
    /// There is no answer: a broken manifest, an unknown target, wrong usage.
    Trouble = 2,
}

/// What a process ends with, be it this one or one that it ran: a number of 8 bits, on Windows of 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status(u32);

impl From<Exit> for Status {
    fn from(exit: Exit) -> Self {
        Self(exit as u32)
    }
}

impl From<u8> for Status {
    fn from(number: u8) -> Self {
        Self(number.into())
    }
}

impl Status {
    /// The largest there is.
    const MOST: u32 = if cfg!(windows) { u32::MAX } else { 255 };

    /// What a process ended with. One that died of a signal has 128 more than the signal's number, as in shells.
    pub(crate) fn of(status: ExitStatus) -> Self {
        #[cfg(unix)]
        let code = {
            use std::os::unix::process::ExitStatusExt;
            status.code().or_else(|| status.signal().map(|signal| 128 + signal))
        };
        #[cfg(not(unix))]
        let code = status.code();
        Self::new(code, Self::MOST)
    }

    /// A code as the operating system has it, of which `most` is the largest. What cannot be told is a failure.
    fn new(code: Option<i32>, most: u32) -> Self {
        Self(code.map(i32::cast_unsigned).filter(|&code| code <= most).unwrap_or(1))
    }

    /// The number.
    pub(crate) fn number(self) -> u32 {
        self.0
    }

    /// What Windows calls the end of a process that it has ended itself, as after an access violation: 0xC0000005.
    ///
    /// Such a number has the highest bit, which says that something went wrong, and not the fourth, which no `NTSTATUS` has;
    /// so -1, with which programs like to end, is none.
    pub(crate) fn as_nt_status(self) -> Option<String> {
        (self.0 >> 28 & 0b1001 == 0b1000).then(|| format!("0x{:08X}", self.0))
    }

    /// Reads one that somebody has typed: a number without a sign, also in hexadecimal digits.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        Self::parse_up_to(text, Self::MOST)
    }

    fn parse_up_to(text: &str, most: u32) -> Result<Self, String> {
        let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            // Nothing but digits: these take a sign, too.
            Some(digits) if !digits.starts_with('+') => u32::from_str_radix(digits, 16),
            _ => text.parse(),
        };
        let number = number.ok().filter(|&number| number <= most);
        number.map(Self).ok_or_else(|| format!("it is a number from 0 to {most}"))
    }

    /// Ends the process.
    pub(crate) fn end(self) -> ExitCode {
        match u8::try_from(self.0) {
            Ok(number) => number.into(),
            // Of such a number, which there is on Windows only, no `ExitCode` can be made.
            Err(_) => std::process::exit(self.0.cast_signed()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_passed_on_as_far_as_the_system_has_room_for_it() {
        for (code, unix, windows) in [
            (Some(0), 0, 0),
            (Some(255), 255, 255),
            (Some(256), 1, 256),
            (Some(0xC000_0005_u32.cast_signed()), 1, 0xC000_0005),
            (Some(-1), 1, u32::MAX),
            (None, 1, 1),
        ] {
            assert_eq!(Status::new(code, 255).number(), unix, "{code:?}");
            assert_eq!(Status::new(code, u32::MAX).number(), windows, "{code:?}");
        }
    }

    #[test]
    fn only_what_windows_says_is_shown_as_it_says_it() {
        for (number, expected) in [
            (0xC000_0005, Some("0xC0000005")),
            (0xC000_013A, Some("0xC000013A")),
            (0x8000_0003, Some("0x80000003")),
            (0xE06D_7363, Some("0xE06D7363")),
            (u32::MAX, None),
            (0, None),
            (3, None),
            (0x4000_0015, None),
            (300, None),
        ] {
            assert_eq!(Status(number).as_nt_status().as_deref(), expected, "{number:#x}");
        }
    }

    #[test]
    fn statuses_are_typed_as_numbers() {
        for (text, most, expected) in [
            ("0", 255, Some(0)),
            ("255", 255, Some(255)),
            ("256", 255, None),
            ("0x2a", 255, Some(42)),
            ("3221225477", u32::MAX, Some(0xC000_0005)),
            ("0xC0000005", u32::MAX, Some(0xC000_0005)),
            ("0XFFFFFFFF", u32::MAX, Some(u32::MAX)),
            ("4294967296", u32::MAX, None),
            ("-1", u32::MAX, None),
            ("0x", u32::MAX, None),
            ("0x+1", u32::MAX, None),
            ("", u32::MAX, None),
            ("x", 255, None),
        ] {
            assert_eq!(Status::parse_up_to(text, most).ok().map(Status::number), expected, "{text}");
        }
        assert_eq!(Status::parse_up_to("x", 255), Err("it is a number from 0 to 255".into()));
    }
}
