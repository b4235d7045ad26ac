//! Versions as programs tell them.

/// The first number with a dot in what a program says of itself: `Docker Compose version v2.26.1`.
pub(super) fn first(said: &str) -> Option<(u32, u32)> {
    let words = said.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    words.filter(|word| word.contains('.')).find_map(|word| {
        let mut numbers = word.split('.');
        let major = numbers.next()?.parse().ok()?;
        // `17.` at the end of a sentence is 17.0.
        let minor = numbers.next().and_then(|minor| minor.parse().ok());
        Some((major, minor.unwrap_or(0)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_tell_their_versions_in_many_ways() {
        for (said, version) in [
            ("rustc 1.95.0 (59807616e 2026-04-14)", Some((1, 95))),
            ("openjdk version \"17.0.18\" 2026-01-20", Some((17, 0))),
            (
                "postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)",
                Some((15, 14)),
            ),
            ("Docker Compose version v2.26.1-desktop.1", Some((2, 26))),
            (
                "docker-compose version 1.29.2, build 5becea4c",
                Some((1, 29)),
            ),
            ("no version here", None),
        ] {
            assert_eq!(first(said), version, "{said}");
        }
    }
}
