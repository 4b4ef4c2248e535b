//! Cutting a batch into shares of about one size.

use std::ops::{Range, RangeInclusive};

use crate::util::text::Text;

/// A share has about so many bytes: enough that handing it out costs nothing, few enough that no thread waits long
/// for the last one.
const SHARE_BYTES: RangeInclusive<usize> = (1 << 16)..=(1 << 17);

/// Shares a thread, if that makes them neither too small nor too large.
const SHARES: usize = 8;

/// Texts `first..=last`, but of the first only what follows byte `from`, and of the last only what comes before byte `to`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    first: usize,
    from: usize,
    last: usize,
    to: usize,
}

impl Share {
    /// Each text of the share: the whole of it, and which bytes of it are in the share.
    pub(crate) fn stretches<'t, T: Text>(
        &self,
        texts: &'t [T],
    ) -> impl Iterator<Item = (&'t T, Range<usize>)> {
        self.numbered_stretches(texts).map(|(_, stretch)| stretch)
    }

    /// As [`stretches`](Self::stretches), after the number of the text.
    pub(crate) fn numbered_stretches<'t, T: Text>(
        &self,
        texts: &'t [T],
    ) -> impl Iterator<Item = (usize, (&'t T, Range<usize>))> {
        let share = *self;
        (share.first..=share.last).map(move |number| {
            let text = &texts[number];
            let start = if number == share.first { share.from } else { 0 };
            let end = if number == share.last {
                share.to
            } else {
                text.len()
            };
            (number, (text, start..end))
        })
    }
}

/// Cuts `texts` into shares for so many threads. A text is cut only where `cut` says, and only if it is UTF-8: `cut`
/// takes a text and the place after which it is to be cut, and answers a place that changes no ids, if it finds one near.
pub(crate) fn plan(
    texts: &[impl Text],
    threads: usize,
    cut: Option<&impl Fn(&str, usize) -> Option<usize>>,
) -> Vec<Share> {
    // A text costs something even if it is empty.
    const TEXT: usize = 32;
    let size: usize = texts.iter().map(|text| text.len() + TEXT).sum();
    let wanted = (size / threads.max(1).saturating_mul(SHARES))
        .clamp(*SHARE_BYTES.start(), *SHARE_BYTES.end());
    let wanted = if threads <= 1 { usize::MAX } else { wanted };

    let mut shares = Vec::new();
    let (mut first, mut from, mut room) = (0, 0, wanted);
    for (number, text) in texts.iter().enumerate() {
        let mut start = 0;
        let mut near = room;
        let cuttable = cut.filter(|_| near < text.len());
        let cut = cuttable.and_then(|cut| Some((cut, text.utf8(0..text.len())?)));
        while let Some((cut, text)) = cut.filter(|_| near < text.len()) {
            if let Some(to) = cut(text, near).filter(|&cut| cut < text.len()) {
                let last = number;
                shares.push(Share {
                    first,
                    from,
                    last,
                    to,
                });
                (first, from, room, start) = (number, to, wanted, to);
            }
            near = start.max(near).saturating_add(wanted);
        }
        room = room.saturating_sub(text.len() - start + TEXT);
        if room == 0 || number + 1 == texts.len() {
            let (last, to) = (number, text.len());
            shares.push(Share {
                first,
                from,
                last,
                to,
            });
            (first, from, room) = (number + 1, 0, wanted);
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::{SHARE_BYTES, plan};

    /// Shares are all of the texts in order, whether or not texts may be cut, and of about the size wanted if they may.
    #[test]
    fn shares_are_all_of_the_texts() {
        let long = "some words ".repeat(100_000);
        let batches: [&[&str]; 6] = [
            &[],
            &[""],
            &["", "a", "", "b", ""],
            &[&long],
            &["x", &long, "", &long, &long, "y"],
            &[&long[..70_000]; 50],
        ];
        let cut_after = |what: &str, text: &str, near: usize| match what {
            "nothing" => None,
            "the text" => Some(text.len()),
            // Now and then there is no place.
            _ if near.is_multiple_of(7) => None,
            _ => Some(near + text.get(near..)?.find(what)?),
        };
        for (texts, threads) in batches
            .iter()
            .flat_map(|texts| [1, 2, 3, 100].map(|n| (*texts, n)))
        {
            for what in ["nothing", "the text", " "] {
                let cut = |text: &str, near| cut_after(what, text, near);
                let shares = plan(texts, threads, Some(&cut));
                let stretches = || shares.iter().flat_map(|share| share.stretches(texts));
                let joined: String = stretches().map(|(text, part)| &text[part]).collect();
                assert_eq!(joined, texts.concat());
                let starts = stretches().filter(|(_, part)| part.start == 0).count();
                let ends = stretches().filter(|(text, part)| part.end == text.len());
                assert_eq!((starts, ends.count()), (texts.len(), texts.len()));
                assert!(threads > 1 || shares.len() <= 1);
                if what == " " {
                    let most = 4 * SHARE_BYTES.end();
                    let size = |share: &super::Share| {
                        share
                            .stretches(texts)
                            .map(|(_, part)| part.len())
                            .sum::<usize>()
                    };
                    assert!(threads == 1 || shares.iter().all(|share| size(share) <= most));
                }
            }
        }
    }
}
