//! The tiers that split by blocks of 64 bytes, against the reference: at every offset of a block, with any
//! text before and after.

use bytemill::split::Splitter;
use bytemill::split::pattern::Family;
use bytemill::util::tier::Tier;

use crate::spellings::{self, SPELLERS};
use crate::support::{Random, SYMBOLS, TestResult, on_all_cores, pieces};

/// Returns the tiers that this machine has, except the reference.
fn tiers() -> Vec<Tier> {
    let in_blocks = Tier::ALL
        .into_iter()
        .filter(|&tier| tier != Tier::Reference && tier.available());
    let tiers: Vec<_> = in_blocks.collect();
    assert!(tiers.contains(&Tier::Scalar));
    tiers
}

/// Returns a description of a difference between the tiers in splitting `text`, if there is one.
fn difference(family: Family, tiers: &[Tier], text: &str) -> Option<String> {
    let expected = pieces(&Splitter::Native(family, Tier::Reference), text).ok()?;
    tiers.iter().find_map(|&tier| {
        let found = pieces(&Splitter::Native(family, tier), text).ok();
        (found.as_ref() != Some(&expected)).then(|| {
            format!("{family:?} {tier:?} splits {text:?} into {found:?}: expected {expected:?}")
        })
    })
}

/// Texts of at most three symbols, in the middle, at the end and across the end of a block, before long runs
/// of any class.
#[test]
fn all_texts_of_three_symbols_at_the_edges_of_a_block() {
    let tiers = tiers();
    let families = SPELLERS.map(|speller| spellings::published(speller).family);
    let wrong = on_all_cores(families.len() * SYMBOLS.len(), |task| {
        let family = families[task / SYMBOLS.len()];
        let first = SYMBOLS[task % SYMBOLS.len()];
        let rest = SYMBOLS.iter().chain(&[""]);
        rest.clone().find_map(|second| {
            rest.clone().find_map(|third| {
                [0, 1, 40, 58, 59, 60, 61, 62, 63, 64]
                    .iter()
                    .find_map(|&before| {
                        ["a", " ", "\n", "1", "!", "中", "A"]
                            .iter()
                            .find_map(|after| {
                                let text = format!(
                                    "{}{first}{second}{third}{}",
                                    "b".repeat(before),
                                    after.repeat(80)
                                );
                                difference(family, &tiers, &text)
                            })
                    })
            })
        })
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Long texts of all symbols with rules of their own, for all spellings.
#[test]
fn random_texts() {
    let tiers = tiers();
    let wrong = on_all_cores(64, |task| {
        let mut random = Random::new(task);
        (0..400).find_map(|_| {
            let speller = *random.pick(&SPELLERS);
            let family = speller(&mut |count| random.below(count)).family;
            let parts = random.within(20..200);
            difference(family, &tiers, &random.text(parts))
        })
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Few symbols, so that their rules interact often.
#[test]
fn random_texts_of_few_symbols() {
    let tiers = tiers();
    let wrong = on_all_cores(64, |task| {
        let mut random = Random::new(1000 + task);
        (0..2000).find_map(|_| {
            let speller = *random.pick(&SPELLERS);
            let family = speller(&mut |count| random.below(count)).family;
            let symbols: Vec<&str> = (0..random.within(2..6))
                .map(|_| *random.pick(&SYMBOLS))
                .collect();
            let text: String = (0..random.within(60..300))
                .map(|_| *random.pick(&symbols))
                .collect();
            difference(family, &tiers, &text)
        })
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Texts of every length with all endings for which the patterns have rules.
#[test]
fn texts_that_end_anywhere_in_a_block() {
    const ENDS: [&str; 40] = [
        "",
        " ",
        "  ",
        "\t",
        "\n",
        "\r\n",
        " \n",
        "\n ",
        "\n \n",
        "\u{A0}",
        "\u{3000}",
        " \u{3000}",
        "\u{2028}\n",
        "!",
        " !",
        "!\n",
        "!\n\n",
        "!\n ",
        "!\n/",
        "!/\n /",
        "'",
        "'s",
        "'l",
        "'ll",
        "'LL",
        "'\u{17F}",
        "'\u{17F}\u{301}",
        "x's'",
        "A",
        "aA",
        "中A",
        "\u{301}",
        " \u{301}",
        "1",
        "123",
        "1234",
        "²",
        "\0",
        " \0",
        "\u{10FFFF}",
    ];
    let tiers = tiers();
    let families = SPELLERS.map(|speller| spellings::published(speller).family);
    let wrong = on_all_cores(ENDS.len(), |task| {
        let before = [
            "a", "A ", "b\n", "1", "!", "中", "it's ", "\u{301}", "  ", "é", "\0a",
        ];
        families.iter().find_map(|&family| {
            before.iter().find_map(|before| {
                let most = 200 / before.len();
                (0..=most).find_map(|times| {
                    let text = format!("{}{}", before.repeat(times), ENDS[task]);
                    difference(family, &tiers, &text)
                })
            })
        })
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// With any environment, the splitter in use is one that the machine can run.
#[test]
fn the_current_tier_is_available() -> TestResult {
    assert!(Tier::current().available());
    let splitter = Splitter::new(crate::support::CL100K)?;
    assert!(matches!(splitter, Splitter::Native(_, tier) if tier == Tier::current()));
    Ok(())
}
