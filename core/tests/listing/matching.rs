//! What is wanted and what is listed, brought together.

use proptest::prelude::*;
use upcheck::collect::listing::{Answer, Folding, Matcher, Unit};

use Answer::{Doubtful, Listed, Missing};

fn bytes(folding: Folding, wanted: &[&str], listed: &[(&str, u32)]) -> Vec<Answer<u32>> {
    let mut matcher = Matcher::<u8, u32>::default();
    ask(
        &mut matcher,
        folding,
        wanted.iter().map(|name| name.bytes()),
        listed.iter().map(|(name, n)| (name.as_bytes().to_vec(), *n)),
    )
}

fn units(folding: Folding, wanted: &[&str], listed: &[(&str, u32)]) -> Vec<Answer<u32>> {
    let mut matcher = Matcher::<u16, u32>::default();
    ask(
        &mut matcher,
        folding,
        wanted.iter().map(|name| name.encode_utf16()),
        listed.iter().map(|(name, n)| (utf16(name), *n)),
    )
}

fn utf16(name: &str) -> Vec<u8> {
    name.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn ask<U: Unit>(
    matcher: &mut Matcher<U, u32>,
    folding: Folding,
    wanted: impl IntoIterator<Item = impl IntoIterator<Item = U>>,
    listed: impl IntoIterator<Item = (Vec<u8>, u32)>,
) -> Vec<Answer<u32>> {
    matcher.clear(folding);
    for name in wanted {
        matcher.want(name);
    }
    for (name, value) in listed {
        matcher.list(&name, value);
    }
    matcher.answers().collect()
}

/// The same of bytes and of UTF-16.
#[track_caller]
fn check(folding: Folding, wanted: &[&str], listed: &[(&str, u32)], expected: &[Answer<u32>]) {
    assert_eq!(bytes(folding, wanted, listed), expected, "bytes, {folding:?}");
    assert_eq!(units(folding, wanted, listed), expected, "UTF-16, {folding:?}");
}

#[test]
fn each_wanted_name_gets_what_was_listed_of_it() {
    let listed = [("c", 3), ("b", 2), ("x", 9), ("a", 1)];
    for folding in [Folding::None, Folding::Form, Folding::Case] {
        check(folding, &["a", "no", "c", "a"], &listed, &[Listed(1), Missing, Listed(3), Listed(1)]);
        check(folding, &[], &listed, &[]);
        check(folding, &["a"], &[], &[Missing]);
    }
}

#[test]
fn case_does_not_matter_where_the_directory_says_so() {
    let listed = [("Readme.TXT", 1), ("[", 2), ("a{", 3)];
    check(Folding::Case, &["readme.txt", "{", "A["], &listed, &[Listed(1), Missing, Missing]);
    check(Folding::Form, &["readme.txt"], &listed, &[Missing]);
    check(Folding::None, &["readme.txt"], &listed, &[Missing]);
}

#[test]
fn names_that_differ_in_case_only_are_all_answered_by_the_one_that_is_listed() {
    check(Folding::Case, &["a.h", "A.h", "A.H"], &[("A.h", 1)], &[Listed(1), Listed(1), Listed(1)]);
}

#[test]
fn the_very_name_counts_more_than_one_that_is_alike() {
    let both_ways = [[("Foo", 1), ("foo", 2)], [("foo", 2), ("Foo", 1)]];
    for listed in both_ways {
        check(Folding::Case, &["foo", "Foo", "FOO"], &listed, &[Listed(2), Listed(1), Doubtful]);
    }
}

#[test]
fn a_name_that_is_listed_twice_with_different_words_is_doubtful() {
    check(Folding::None, &["a"], &[("a", 1), ("a", 1)], &[Listed(1)]);
    check(Folding::None, &["a"], &[("a", 1), ("a", 2)], &[Doubtful]);
    check(Folding::None, &["a"], &[("a", 1), ("a", 2), ("a", 1)], &[Doubtful]);
    check(Folding::Case, &["a"], &[("A", 1), ("A", 2), ("a", 3)], &[Listed(3)]);
}

/// A Kelvin sign is a K for some file systems, and a sharp s may be two of the other kind.
#[test]
fn nothing_is_missing_where_letters_beyond_ascii_are_about() {
    for folding in [Folding::Form, Folding::Case] {
        check(folding, &["k", "x"], &[("\u{212a}", 1), ("x", 2)], &[Doubtful, Listed(2)]);
        check(folding, &["é", "x"], &[("e", 1)], &[Doubtful, Missing]);
        check(folding, &["é"], &[("é", 1)], &[Listed(1)]);
        check(folding, &["é"], &[("e\u{301}", 1)], &[Doubtful]);
    }
    check(Folding::None, &["k", "é"], &[("\u{212a}", 1), ("e\u{301}", 2)], &[Missing, Missing]);
    // In UTF-16, the low byte of this letter is that of an `a`.
    check(Folding::Case, &["a"], &[("š", 1), ("Ł", 2)], &[Doubtful]);
}

#[test]
fn a_matcher_forgets_what_it_knew_when_it_is_used_again() {
    let mut matcher = Matcher::<u8, u32>::default();
    let name = |name: &str| [name.bytes().collect::<Vec<_>>()];
    ask(&mut matcher, Folding::Case, name("a"), [("é".into(), 1), ("a".into(), 2)]);
    assert_eq!(ask(&mut matcher, Folding::None, name("A"), [("a".into(), 1)]), [Missing]);
    assert_eq!(ask(&mut matcher, Folding::Case, name("b"), [("a".into(), 1)]), [Missing]);
    assert_eq!(ask(&mut matcher, Folding::Case, name("b"), []), [Missing]);
}

#[test]
fn what_was_not_met_before_the_listing_was_left_off_is_doubtful() {
    let mut matcher = Matcher::<u8, u32>::default();
    matcher.clear(Folding::Case);
    for name in ["met", "alike", "twice", "not"] {
        matcher.want(name.bytes());
    }
    for (name, value) in [("met", 1), ("Alike", 2), ("twice", 3), ("twice", 4)] {
        assert!(!matcher.is_done());
        matcher.list(name.as_bytes(), value);
    }
    assert!(!matcher.is_done(), "a better name could come");
    matcher.leave_off();
    assert_eq!(matcher.answers().collect::<Vec<_>>(), [Listed(1), Doubtful, Doubtful, Doubtful]);

    matcher.forget();
    assert!(!matcher.is_done());
    for (name, value) in [("twice", 5), ("alike", 6), ("met", 7), ("not", 8)] {
        assert!(!matcher.is_done());
        matcher.list(name.as_bytes(), value);
    }
    assert!(matcher.is_done());
    matcher.leave_off();
    assert_eq!(matcher.answers().collect::<Vec<_>>(), [Listed(7), Listed(6), Listed(5), Listed(8)]);
}

/// What the matcher is about, said with two loops.
fn naive(folding: Folding, wanted: &[String], listed: &[(String, u32)]) -> Vec<Answer<u32>> {
    let all_ascii = listed.iter().all(|(name, _)| name.is_ascii());
    let one = |found: Vec<u32>| match found.as_slice() {
        [] => None,
        [first, rest @ ..] if rest.iter().all(|other| other == first) => Some(Listed(*first)),
        _ => Some(Doubtful),
    };
    let of = |is_it: &dyn Fn(&str) -> bool| {
        one(listed.iter().filter(|(name, _)| is_it(name)).map(|(_, value)| *value).collect())
    };
    let answer = |name: &String| {
        let itself = of(&|other| other == name);
        let alike = || of(&|other| folding == Folding::Case && other.eq_ignore_ascii_case(name));
        let is_certain = folding == Folding::None || all_ascii && name.is_ascii();
        itself.or_else(alike).unwrap_or(if is_certain { Missing } else { Doubtful })
    };
    wanted.iter().map(answer).collect()
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![8 => "[aAbB.]{1,3}", 1 => "[aAéÉ]{1,3}", 1 => "[kK\u{212a}ß😀]{1,2}"]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: crate::cases(), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn answers_are_those_of_two_loops(
        folding in prop::sample::select(vec![Folding::None, Folding::Form, Folding::Case]),
        wanted in prop::collection::vec(name(), 0..20),
        listed in prop::collection::vec((name(), 0_u32..3), 0..20),
    ) {
        let expected = naive(folding, &wanted, &listed);
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        let listed: Vec<(&str, u32)> = listed.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        prop_assert_eq!(&bytes(folding, &wanted, &listed), &expected);
        prop_assert_eq!(&units(folding, &wanted, &listed), &expected);

        // If more might have come, only the very names count, and it is done where all of these were met.
        let mut matcher = Matcher::<u8, u32>::default();
        let names = listed.iter().map(|(name, value)| (name.as_bytes().to_vec(), *value));
        ask(&mut matcher, folding, wanted.iter().map(|name| name.bytes()), names);
        let is_met = |name: &&str| listed.iter().any(|(other, _)| other == name);
        prop_assert_eq!(matcher.is_done(), wanted.iter().all(is_met));
        matcher.leave_off();
        let certain = wanted.iter().zip(expected).map(|(name, answer)| if is_met(name) { answer } else { Doubtful });
        prop_assert_eq!(matcher.answers().collect::<Vec<_>>(), certain.collect::<Vec<_>>());
    }
}
