//! Partitioning of a batch into work items of similar size.

use std::ops::{Range, RangeInclusive};

use crate::util::text::Text;

/// Bounds for the bytes of a work item: large enough that handing it out costs nothing, small enough that no
/// thread waits long for the last one.
const ITEM_BYTES: RangeInclusive<usize> = (1 << 16)..=(1 << 17);

/// Work items per thread, unless that makes them smaller or larger than [`ITEM_BYTES`].
const ITEMS_PER_THREAD: usize = 8;

/// Cost of a text besides its bytes, in bytes: even an empty text costs something.
const TEXT_OVERHEAD: usize = 32;

/// The texts `first..=last`, without the bytes of the first before `start` and those of the last from `end`
/// on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkItem {
    first: usize,
    start: usize,
    last: usize,
    end: usize,
}

impl WorkItem {
    /// Each text of the item with the span of it that belongs to the item.
    pub(crate) fn spans<'t, T: Text>(
        &self,
        texts: &'t [T],
    ) -> impl Iterator<Item = (&'t T, Range<usize>)> {
        self.numbered_spans(texts).map(|(_, span)| span)
    }

    /// As [`spans`](Self::spans), with the index of each text.
    pub(crate) fn numbered_spans<'t, T: Text>(
        &self,
        texts: &'t [T],
    ) -> impl Iterator<Item = (usize, (&'t T, Range<usize>))> {
        let item = *self;
        (item.first..=item.last).map(move |index| {
            let text = &texts[index];
            let start = if index == item.first { item.start } else { 0 };
            let end = if index == item.last {
                item.end
            } else {
                text.len()
            };
            (index, (text, start..end))
        })
    }
}

/// Partitions `texts` into work items for `threads` threads.
///
/// A text is divided only where `cut` allows it, and only if it is UTF-8. `cut` takes a text and an offset,
/// and returns an offset from there on, not far away, where a cut changes no ids.
pub(crate) fn partition(
    texts: &[impl Text],
    threads: usize,
    cut: Option<&impl Fn(&str, usize) -> Option<usize>>,
) -> Vec<WorkItem> {
    let size: usize = texts.iter().map(|text| text.len() + TEXT_OVERHEAD).sum();
    let target = (size / threads.max(1).saturating_mul(ITEMS_PER_THREAD))
        .clamp(*ITEM_BYTES.start(), *ITEM_BYTES.end());
    let target = if threads <= 1 { usize::MAX } else { target };

    let mut items = Vec::new();
    // The open item starts at byte `start` of the text `first` and takes up to `room` bytes more.
    let (mut first, mut start, mut room) = (0, 0, target);
    for (index, text) in texts.iter().enumerate() {
        let mut text_start = 0;
        let mut wanted = room;
        let cut = cut.filter(|_| wanted < text.len());
        let cut = cut.and_then(|cut| Some((cut, text.utf8(0..text.len())?)));
        while let Some((cut, text)) = cut.filter(|_| wanted < text.len()) {
            if let Some(end) = cut(text, wanted).filter(|&end| end < text.len()) {
                items.push(WorkItem {
                    first,
                    start,
                    last: index,
                    end,
                });
                (first, start, room, text_start) = (index, end, target, end);
            }
            wanted = text_start.max(wanted).saturating_add(target);
        }
        room = room.saturating_sub(text.len() - text_start + TEXT_OVERHEAD);
        if room == 0 || index + 1 == texts.len() {
            items.push(WorkItem {
                first,
                start,
                last: index,
                end: text.len(),
            });
            (first, start, room) = (index + 1, 0, target);
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::{ITEM_BYTES, WorkItem, partition};

    /// Items cover all texts in order, whether or not texts may be cut, and have about the target size if
    /// they may.
    #[test]
    fn items_cover_all_texts() {
        let long = "some words ".repeat(100_000);
        let batches: [&[&str]; 6] = [
            &[],
            &[""],
            &["", "a", "", "b", ""],
            &[&long],
            &["x", &long, "", &long, &long, "y"],
            &[&long[..70_000]; 50],
        ];
        let cut_after = |what: &str, text: &str, from: usize| match what {
            "nothing" => None,
            "the text" => Some(text.len()),
            // Some offsets have no cut.
            _ if from.is_multiple_of(7) => None,
            _ => Some(from + text.get(from..)?.find(what)?),
        };
        for (texts, threads) in batches
            .iter()
            .flat_map(|texts| [1, 2, 3, 100].map(|n| (*texts, n)))
        {
            for what in ["nothing", "the text", " "] {
                let cut = |text: &str, from| cut_after(what, text, from);
                let items = partition(texts, threads, Some(&cut));
                let spans = || items.iter().flat_map(|item| item.spans(texts));
                let joined: String = spans().map(|(text, span)| &text[span]).collect();
                assert_eq!(joined, texts.concat());
                let starts = spans().filter(|(_, span)| span.start == 0).count();
                let ends = spans().filter(|(text, span)| span.end == text.len());
                assert_eq!((starts, ends.count()), (texts.len(), texts.len()));
                assert!(threads > 1 || items.len() <= 1);
                if what == " " {
                    let most = 4 * ITEM_BYTES.end();
                    let size = |item: &WorkItem| {
                        item.spans(texts).map(|(_, span)| span.len()).sum::<usize>()
                    };
                    assert!(threads == 1 || items.iter().all(|item| size(item) <= most));
                }
            }
        }
    }
}
