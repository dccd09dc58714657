//! The operating system's words for errors, which stand in upcheck's own, and are others on Windows.

/// What a command said, with the words that Unix has for the same causes: so tests expect one text.
#[must_use]
pub fn as_on_unix(text: String) -> String {
    if !cfg!(windows) {
        return text;
    }
    // ERROR_FILE_NOT_FOUND, ERROR_PATH_NOT_FOUND, ERROR_DIRECTORY, ERROR_ACCESS_DENIED.
    const CODES: [(i32, &str); 4] = [
        (2, "No such file or directory"),
        (3, "No such file or directory"),
        (267, "Not a directory"),
        (5, "Permission denied"),
    ];
    CODES.iter().fold(text, |text, (code, words)| {
        text.replace(&upcheck::os_message(&std::io::Error::from_raw_os_error(*code)), words)
    })
}
