//! The native families against the regular expressions that define them, on all short texts and at every
//! block edge.

use std::ops::RangeInclusive;

use bytemill::split::Splitter;

use crate::spellings::{self, SPELLERS, Spelling};
use crate::support::{
    CL100K, CONTRACTION_SYMBOLS, Judge, PUBLISHED, R50K, Random, SYMBOLS, TestResult, is_tried,
    on_all_cores, pieces,
};

/// Asserts that each native spelling splits all texts of at most `length` symbols as its pattern does.
fn assert_exact(spellings: &[Spelling], symbols: &[&str], length: usize) -> TestResult {
    let judges = spellings
        .iter()
        .map(|spelling| Judge::new(&spelling.pattern))
        .collect::<Result<Vec<_>, _>>()?;
    for judge in &judges {
        assert!(matches!(judge.splitter(), Splitter::Native(..)));
        assert_eq!(judge.difference(""), None);
    }
    let wrong = on_all_cores(judges.len() * symbols.len(), |task| {
        // A clone has caches of its own, for which no thread contends.
        let judge = judges[task / symbols.len()].clone();
        let first = symbols[task % symbols.len()];
        judge.first_difference(&mut first.to_owned(), symbols, length - 1)
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn published_patterns_on_all_texts_of_five_symbols() -> TestResult {
    let published = SPELLERS.map(spellings::published);
    assert_eq!(
        published.each_ref().map(|spelling| &*spelling.pattern),
        PUBLISHED
    );
    assert_exact(&published, &SYMBOLS, 5)
}

#[test]
fn parameter_sets_on_all_texts_of_three_symbols() -> TestResult {
    let sets = spellings::parameter_sets();
    // Contractions, numbers and whitespace at the end: 3, then 3 * 4 * 2, then 2 * 4 * 2. Marks, tails and Han, with
    // numbers and whitespace of one kind: 3 more for each kind of contractions, then 5.
    assert_eq!(sets.len(), 3 + (24 + 3 * 3) + (16 + 2 * 5));
    assert_exact(&sets, &SYMBOLS, 3)?;
    assert_exact(&sets, &CONTRACTION_SYMBOLS, 4)
}

#[test]
#[ignore = "takes minutes: make test-exhaustive"]
fn parameter_sets_on_all_texts_of_five_symbols() -> TestResult {
    assert_exact(&spellings::parameter_sets(), &SYMBOLS, 5)
}

/// Asserts that each spelling of one rule splits all texts of at most `length` symbols exactly.
fn assert_each_spelling_exact(length: usize) -> TestResult {
    let spellings: Vec<Spelling> = SPELLERS
        .into_iter()
        .flat_map(spellings::one_rule_changed)
        .filter(Spelling::shows_in_short_texts)
        .collect();
    assert_exact(&spellings, &SYMBOLS, length)
}

#[test]
fn each_spelling_of_a_rule_on_all_texts_of_three_symbols() -> TestResult {
    assert_each_spelling_exact(3)
}

#[test]
#[ignore = "takes a minute: make test-exhaustive"]
fn each_spelling_of_a_rule_on_all_texts_of_four_symbols() -> TestResult {
    assert_each_spelling_exact(4)
}

#[test]
fn every_code_point() -> TestResult {
    const BLOCK: u32 = 0x1000;
    let judges = PUBLISHED
        .into_iter()
        .map(Judge::new)
        .collect::<Result<Vec<_>, _>>()?;
    let wrong = on_all_cores(0x110, |block| {
        let judges = judges.clone();
        let first = u32::try_from(block).ok()? * BLOCK;
        (first..first + BLOCK)
            .filter_map(char::from_u32)
            .filter(|&c| is_tried(c))
            .flat_map(|c| {
                [
                    format!("{c}"),
                    format!("{c}{c}"),
                    format!("a{c}b"),
                    format!(" {c}"),
                ]
            })
            .find_map(|text| judges.iter().find_map(|judge| judge.difference(&text)))
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// Texts that fill the space before the offset under test.
const FILLERS: [&str; 9] = [
    "a",
    "A",
    " ",
    ".",
    "1",
    "\n",
    "ab 中, C\t",
    "\u{301}",
    "word ",
];

/// Asserts that short texts are split correctly when they start at each of the `offsets`, after each filler.
fn assert_exact_at(offsets: &[RangeInclusive<usize>], texts: &[String]) -> TestResult {
    let judges = PUBLISHED
        .into_iter()
        .map(Judge::new)
        .collect::<Result<Vec<_>, _>>()?;
    let starts: Vec<usize> = offsets.iter().cloned().flatten().collect();
    let wrong = on_all_cores(FILLERS.len() * starts.len(), |task| {
        let judges = judges.clone();
        let (filler, offset) = (FILLERS[task % FILLERS.len()], starts[task / FILLERS.len()]);
        // As many whole fillers as fit, then letters.
        let mut before = filler.repeat(offset / filler.len());
        before.extend(std::iter::repeat_n('b', offset - before.len()));
        texts.iter().find_map(|text| {
            ["", "b C"].into_iter().find_map(|tail| {
                let text = format!("{before}{text}{tail}");
                judges.iter().find_map(|judge| judge.difference(&text))
            })
        })
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// More than two symbols that belong together, or nearly.
const LONGER: [&str; 24] = [
    "'ll",
    "'LL'",
    "b'RE",
    "'ſb",
    "\r\n\r\n",
    " \n ",
    "  \n",
    "\n\n ",
    "\t \r",
    ".\r\n/",
    "//\n",
    "1234",
    "²²²²",
    "Ab\u{301}",
    "\u{301}AB",
    "\u{301}Ab",
    "中A中",
    "\u{A0}\u{A0}b",
    "😀😀",
    " 's",
    "  's",
    " 中",
    "   ",
    "<|endoftext|>",
];

/// All texts of one symbol, some longer ones, all texts of two symbols.
fn short_texts() -> Vec<String> {
    let pairs = SYMBOLS
        .iter()
        .flat_map(|first| SYMBOLS.iter().map(move |second| format!("{first}{second}")));
    SYMBOLS
        .into_iter()
        .chain(LONGER)
        .map(str::to_owned)
        .chain(pairs)
        .collect()
}

#[test]
fn edges_of_blocks() -> TestResult {
    assert_exact_at(&[61..=67, 125..=131], &short_texts())
}

#[test]
fn edges_of_pages() -> TestResult {
    // Without the pairs of symbols, which the test of block edges covers.
    assert_exact_at(
        &[4095..=4097],
        &short_texts()[..SYMBOLS.len() + LONGER.len()],
    )
}

#[test]
fn edges_of_chunks() -> TestResult {
    for pattern in PUBLISHED {
        let judge = Judge::new(pattern)?;
        for count in [1, 2047, 2048, 2049, 4095, 4096, 4097, 6144, 10_000] {
            for piece in [" a", "1 ", "a ", "'s", ".a", "中 ", "\n\ta"] {
                assert_eq!(judge.difference(&piece.repeat(count)), None);
            }
        }
    }
    Ok(())
}

#[test]
fn chunks_are_never_empty_and_the_end_is_final() -> TestResult {
    for pattern in [R50K, CL100K, r"\w+"] {
        let splitter = Splitter::new(pattern)?;
        for count in [0, 1, 2048, 4096, 5000] {
            let text = " a".repeat(count);
            let mut pieces = splitter.pieces(&text);
            let (mut chunk, mut found) = (Vec::new(), 0);
            while pieces.next_chunk(&mut chunk)? {
                assert!(!chunk.is_empty());
                found += chunk.len();
            }
            assert_eq!(found, count, "{pattern}");
            for _ in 0..3 {
                assert!(!pieces.next_chunk(&mut chunk)?);
                assert!(chunk.is_empty());
            }
        }
    }
    Ok(())
}

#[test]
fn random_texts() -> TestResult {
    for pattern in PUBLISHED {
        let judge = Judge::new(pattern)?;
        let wrong = on_all_cores(32, |seed| {
            let (judge, mut random) = (judge.clone(), Random::new(seed));
            (0..100).find_map(|_| {
                let parts = random.below(400);
                judge.difference(&random.text(parts))
            })
        });
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
    Ok(())
}

#[test]
fn native_pieces_are_the_whole_text() -> TestResult {
    let text = Random::new(7).text(20_000);
    for pattern in PUBLISHED {
        let mut offset = 0;
        for piece in pieces(&Splitter::new(pattern)?, &text)? {
            assert_eq!(piece.start, offset);
            offset = piece.end;
            assert!(text.is_char_boundary(offset));
        }
        assert_eq!(offset, text.len());
    }
    Ok(())
}
