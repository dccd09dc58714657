//! A bar chart as SVG: one bar per row, its length the value, the value beside it.

/// One bar.
pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) value: f64,
    pub(crate) color: Color,
}

/// What a bar stands for.
#[derive(Clone, Copy)]
pub(crate) enum Color {
    Ours,
    Other,
    /// What no program can be faster than.
    Limit,
}

/// About as wide as a character is on average.
const CHARACTER: f64 = 7.0;
const LONGEST: f64 = 380.0;
const ROW: f64 = 26.0;
const TOP: f64 = 44.0;

/// `unit` follows each value.
pub(crate) fn bars(title: &str, bars: &[Bar], unit: &str) -> String {
    let most = bars.iter().map(|bar| bar.value).fold(f64::MIN_POSITIVE, f64::max);
    let characters = bars.iter().map(|bar| bar.label.chars().count()).max().unwrap_or(0);
    let labels = CHARACTER * characters as f64 + 24.0;
    let (width, height) = (labels + LONGEST + 110.0, TOP + ROW * bars.len() as f64 + 10.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text x=\"12\" y=\"24\" font-size=\"15\" font-weight=\"bold\">{}</text>\n",
        escaped(title)
    );
    for (position, bar) in bars.iter().enumerate() {
        let top = TOP + ROW * position as f64;
        let (length, base) = (bar.value / most * LONGEST, top + 16.0);
        let (label, color) = (escaped(&bar.label), color(bar.color));
        svg += &format!(
            "<text x=\"{:.0}\" y=\"{base}\" text-anchor=\"end\">{label}</text>\n\
             <rect x=\"{labels}\" y=\"{}\" width=\"{length:.1}\" height=\"18\" fill=\"{color}\"/>\n\
             <text x=\"{:.1}\" y=\"{base}\">{} {}</text>\n",
            labels - 8.0,
            top + 2.0,
            labels + length + 6.0,
            short(bar.value),
            escaped(unit),
        );
    }
    svg + "</svg>\n"
}

fn color(color: Color) -> &'static str {
    match color {
        Color::Ours => "#2f6fb3",
        Color::Other => "#8a8f98",
        Color::Limit => "#c9ccd1",
    }
}

/// With three digits, more before the point than after it.
fn short(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_value_has_the_longest_bar_and_text_is_escaped() {
        let bar = |label: &str, value| Bar { label: label.into(), value, color: Color::Ours };
        let svg = bars("a < b", &[bar("x & y", 50.0), bar("z", 100.0)], "ms");
        assert!(svg.contains("a &lt; b") && svg.contains("x &amp; y"), "{svg}");
        assert!(svg.contains("width=\"190.0\"") && svg.contains("width=\"380.0\""), "{svg}");
        assert!(svg.contains(">50.0 ms<") && svg.contains(">100 ms<"), "{svg}");
    }

    #[test]
    fn no_bars_and_nothing_but_zeros_are_charts_too() {
        assert!(bars("none", &[], "ms").ends_with("</svg>\n"));
        let zero = Bar { label: "zero".into(), value: 0.0, color: Color::Limit };
        assert!(bars("zero", &[zero], "ms").contains("width=\"0.0\""));
    }
}
