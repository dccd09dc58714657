//! What came out of races, as rows for other programs.

use crate::race::Outcome;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

const HEAD: &str = "date,commit,case,targets,files,contender,rounds,wall_min_ms,wall_median_ms,cpu_min_ms,\
    cpu_median_ms,max_rss_kib";

/// Appends a row per contender, after a head where the file is new.
pub(crate) fn append(path: &Path, date: &str, commit: &str, outcome: &Outcome) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    let mut text = String::new();
    if file.metadata()?.len() == 0 {
        text = format!("{HEAD}\n");
    }
    for row in &outcome.rows {
        let Outcome { case, n_targets, n_files, rounds, .. } = outcome;
        let times: String = row.figures.milliseconds().map(|time| format!("{time:.3},")).concat();
        let (name, memory) = (quoted(&row.name), row.figures.memory);
        text += &format!("{date},{commit},{case},{n_targets},{n_files},{name},{rounds},{times}{memory}\n");
    }
    file.write_all(text.as_bytes())
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_commas_and_quotes_are_quoted() {
        assert_eq!(quoted("ninja -n"), "ninja -n");
        assert_eq!(quoted("a, \"b\""), "\"a, \"\"b\"\"\"");
    }
}
