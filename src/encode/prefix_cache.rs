//! A cache of the ids that texts begin with, for programs that encode the same beginnings again and again: conversations that
//! are sent whole at every turn, prompts with long instructions.
//!
//! ```text
//! root ── segment ─┬─ segment ── segment
//!                  └─ segment
//! ```
//!
//! Texts are divided at [cuts](Encoder::cuts), each the first that is at least 8 KiB behind the one before. The segments are
//! the nodes of a tree: a text is a path from the root of its encoder and its allowed special tokens. A hash chooses among
//! the children of a node, and **the bytes decide**: a segment is used only if all of it stands in the text, with a
//! cut behind it. So no collision of hashes changes an id. The rest of the text is encoded, and its segments are added, but
//! for the last, which has no cut behind it.
//!
//! Nothing waits: a call that finds the cache in use encodes the text as if it were not there. Segments that nothing else
//! stands behind and that were not used for the longest time are removed first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::session::Segment;
use super::special::Allowed;
use super::{BYTES_PER_ID, Encoder, MIN_IDS, Passage};
use crate::checkpoint;
use crate::error::EncodeError;
use crate::token::TokenId;
use crate::util::hash::SeededState;
use crate::util::memory::{self, Growable};

/// The minimum size of a segment in bytes. Up to about as many bytes at the end of a text are encoded each time.
const SEGMENT: usize = 1 << 13;

/// The most encoders, with allowed special tokens, that have texts in the cache.
const MAX_ROOTS: usize = 64;

/// The place of a node among the children of another.
type Branch = (u64, u64);

/// When a node was used, and its number.
type Age = (u64, u64);

/// A segment in the tree.
#[derive(Debug)]
struct Node {
    segment: Arc<Segment>,
    number: u64,
    children: usize,
    /// When it was used.
    used: u64,
}

/// The segments that a text begins with.
#[derive(Debug, Default)]
struct Found {
    segments: Vec<Arc<Segment>>,
    /// Where they end.
    end: usize,
    /// The number of the last node, or of the root; `None` if the cache is in use.
    node: Option<u64>,
}

/// The root of texts that are encoded in one way.
#[derive(Debug)]
struct Root {
    encoder: Arc<Encoder>,
    allowed: Allowed,
    number: u64,
}

#[derive(Debug, Default)]
struct Tree {
    roots: Vec<Root>,
    /// By the number of their parent and a keyed hash of their text: as that is keyed, this map needs no keyed hash.
    nodes: FxHashMap<Branch, Vec<Node>>,
    /// The branch of each node, and its parent's: the way up.
    branches: FxHashMap<u64, Branch>,
    /// The next number of a node, and the number of calls.
    next: u64,
    clock: u64,
    /// Without the number of segments.
    stats: PrefixCacheStats,
}

/// The figures of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrefixCacheStats {
    /// Number of texts of which a part was found.
    pub hits: u64,
    /// Number of other texts, short ones not counted.
    pub misses: u64,
    /// Bytes of text that were found.
    pub reused_bytes: u64,
    /// Bytes that the cache takes.
    pub bytes: usize,
    /// Number of segments.
    pub entries: usize,
}

/// A cache of the ids that texts begin with.
#[derive(Debug)]
pub struct PrefixCache {
    max_bytes: usize,
    min_text: usize,
    /// Bytes of a segment, at least.
    segment: usize,
    /// Whether all hashes are the same, as tests have it.
    is_blind: bool,
    tree: Mutex<Tree>,
}

impl Node {
    /// Bytes that a segment takes, with about what the tables have for it.
    fn size(segment: &Segment) -> usize {
        let tables = size_of::<Self>() + 2 * size_of::<(u64, Branch)>() + size_of::<Segment>() + 64;
        segment.text.len() + size_of_val(&*segment.ids) + tables
    }

    fn age(&self) -> Age {
        (self.used, self.number)
    }
}

impl PrefixCache {
    /// Creates a cache that takes at most `max_bytes`. Texts of fewer than `min_text` bytes pass it by.
    pub fn new(max_bytes: usize, min_text: usize) -> Self {
        Self {
            max_bytes,
            min_text,
            segment: SEGMENT,
            is_blind: false,
            tree: Mutex::default(),
        }
    }

    /// Has segments of other sizes, as tests have them.
    #[doc(hidden)]
    #[must_use]
    pub fn with_segments_of(self, bytes: usize) -> Self {
        let segment = bytes;
        Self { segment, ..self }
    }

    /// Hashes all segments to the same, as tests have it.
    #[doc(hidden)]
    #[must_use]
    pub fn with_equal_hashes(self) -> Self {
        Self {
            is_blind: true,
            ..self
        }
    }

    /// Removes all segments; false if the cache stays in use.
    pub fn clear(&self) -> bool {
        let tree = self.lock_soon();
        tree.map(|mut tree| tree.clear()).is_some()
    }

    /// Returns the figures of the cache since it was created or cleared; `None` if it stays in use.
    pub fn stats(&self) -> Option<PrefixCacheStats> {
        let tree = self.lock_soon()?;
        Some(PrefixCacheStats {
            entries: tree.branches.len(),
            ..tree.stats
        })
    }

    /// Waits a second at most. Others have it for less than a millisecond; but in a forked process it may have been in use by
    /// a thread that is not there any more.
    fn lock_soon(&self) -> Option<MutexGuard<'_, Tree>> {
        (0..1_000).find_map(|tried| {
            if tried > 0 {
                thread::sleep(Duration::from_millis(1));
            }
            self.lock()
        })
    }

    /// Never waits.
    fn lock(&self) -> Option<MutexGuard<'_, Tree>> {
        match self.tree.try_lock() {
            Ok(tree) => Some(tree),
            Err(TryLockError::WouldBlock) => None,
            Err(TryLockError::Poisoned(poisoned)) => {
                // Memory was refused halfway.
                let mut tree = poisoned.into_inner();
                tree.clear();
                self.tree.clear_poison();
                Some(tree)
            }
        }
    }

    /// Returns the hash of the segment that a text is or begins with: of as many bytes as each has. With fewer, requests whose
    /// instructions begin alike, but for the date in them, would all be children to compare.
    fn hash(&self, text: &str) -> u64 {
        if self.is_blind {
            return 0;
        }
        SeededState.hash_one(&text.as_bytes()[..text.len().min(self.segment)])
    }

    /// Appends the ids of a text, as [`Encoder::encode`] does.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    ///
    /// # Complexity
    /// That of comparing what is found, and of encoding the rest.
    pub fn encode(
        &self,
        encoder: &Arc<Encoder>,
        text: &str,
        allowed: &Allowed,
        ids: &mut Vec<TokenId>,
    ) -> Result<(), EncodeError> {
        if text.len() < self.min_text {
            return encoder.encode(text, allowed, ids);
        }
        let Found {
            segments,
            mut end,
            node,
        } = self.find(encoder, allowed, text);
        let count: usize = segments.iter().map(|segment| segment.ids.len()).sum();
        // With those of the rest: to grow for these copied all.
        let rest = (text.len() - end) / BYTES_PER_ID + MIN_IDS;
        memory::try_reserve(ids, count.saturating_add(rest))?;
        for segment in &segments {
            ids.extend_from_slice(&segment.ids);
        }
        let mut fresh = Vec::new();
        encoder.with_workspace(|workspace| {
            loop {
                checkpoint::pass()?;
                let start = end;
                let cuts = encoder.cuts(text, start.saturating_add(self.segment)..text.len());
                let cut = { cuts }.next();
                let part = &text[start..cut.unwrap_or(text.len())];
                let first = ids.len();
                let passage = Passage::part(part, start == 0);
                encoder.append(workspace, passage, allowed, ids, usize::MAX)?;
                let Some(cut) = cut else {
                    return Ok(());
                };
                fresh.with_room(1).push(Segment::new(part, &ids[first..]));
                end = cut;
            }
        })?;
        if let Some(node) = node {
            self.add(node, fresh);
        }
        Ok(())
    }

    /// Returns what a text begins with.
    fn find(&self, encoder: &Arc<Encoder>, allowed: &Allowed, text: &str) -> Found {
        let mut found = Found::default();
        let Some(mut tree) = self.lock() else {
            return found;
        };
        tree.clock += 1;
        let clock = tree.clock;
        let mut parent = tree.root(encoder, allowed);
        loop {
            let rest = &text[found.end..];
            let children = tree.nodes.get_mut(&(parent, self.hash(rest)));
            let child = children.and_then(|children| {
                children.iter_mut().find(|node| {
                    let end = found.end + node.segment.text.len();
                    rest.starts_with(&*node.segment.text)
                        && encoder.cuts(text, end..end + 1).next().is_some()
                })
            });
            let Some(node) = child else {
                break;
            };
            node.used = clock;
            parent = node.number;
            found.end += node.segment.text.len();
            let segment = Arc::clone(&node.segment);
            found.segments.with_room(1).push(segment);
        }
        found.node = Some(parent);
        if found.segments.is_empty() {
            tree.stats.misses += 1;
        } else {
            tree.stats.hits += 1;
            tree.stats.reused_bytes += found.end as u64;
        }
        found
    }

    /// Adds segments behind a node, if that is still there.
    fn add(&self, node: u64, fresh: Vec<Arc<Segment>>) {
        let Some(mut tree) = self.lock().filter(|tree| tree.has(node)) else {
            return;
        };
        let mut parent = node;
        for segment in fresh {
            let branch = (parent, self.hash(&segment.text));
            parent = tree.child(branch, segment);
        }
        if tree.stats.bytes > self.max_bytes {
            tree.evict(self.max_bytes);
        }
    }
}

impl Tree {
    /// Removes all, and goes on with the numbers: a call under way has one, which must not become that of the root of another
    /// encoder.
    fn clear(&mut self) {
        *self = Self {
            next: self.next,
            ..Self::default()
        };
    }

    /// Returns the number of the root of an encoder with allowed special tokens, which is made if there is none.
    fn root(&mut self, encoder: &Arc<Encoder>, allowed: &Allowed) -> u64 {
        let is_root =
            |root: &&Root| Arc::ptr_eq(&root.encoder, encoder) && root.allowed == *allowed;
        if let Some(root) = self.roots.iter().find(is_root) {
            return root.number;
        }
        if self.roots.len() == MAX_ROOTS {
            let (clock, stats) = (self.clock, self.stats);
            self.clear();
            self.clock = clock;
            self.stats = PrefixCacheStats { bytes: 0, ..stats };
        }
        let number = self.new_number();
        self.roots.with_room(1).push(Root {
            encoder: Arc::clone(encoder),
            allowed: allowed.clone(),
            number,
        });
        number
    }

    /// Returns whether a node or root is there. No number is given twice.
    fn has(&self, number: u64) -> bool {
        self.branches.contains_key(&number) || self.roots.iter().any(|root| root.number == number)
    }

    fn new_number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Returns the number of the child with a segment, which is added if it is not there.
    fn child(&mut self, branch: Branch, segment: Arc<Segment>) -> u64 {
        let (clock, number) = (self.clock, self.new_number());
        let children = self.nodes.entry(branch).or_default();
        // Another thread may have added it meanwhile.
        if let Some(node) = children
            .iter_mut()
            .find(|node| node.segment.text == segment.text)
        {
            node.used = clock;
            return node.number;
        }
        self.stats.bytes += Node::size(&segment);
        children.with_room(1).push(Node {
            segment,
            number,
            children: 0,
            used: clock,
        });
        self.branches.insert(number, branch);
        if let Some(parent) = self.node(branch.0) {
            parent.children += 1;
        }
        number
    }

    fn node(&mut self, number: u64) -> Option<&mut Node> {
        let branch = self.branches.get(&number)?;
        let children = self.nodes.get_mut(branch)?;
        children.iter_mut().find(|node| node.number == number)
    }

    /// Removes leaves, those that were not used for the longest time first, until an eighth of the limit is free.
    ///
    /// # Complexity
    /// O(n log n) for n nodes.
    fn evict(&mut self, max_bytes: usize) {
        let goal = max_bytes - max_bytes / 8;
        let leaves = self.nodes.values().flatten();
        let leaves = leaves.filter(|node| node.children == 0);
        let leaves: Vec<_> = leaves.map(|leaf| Reverse(leaf.age())).collect();
        let mut leaves = BinaryHeap::from(leaves);
        while self.stats.bytes > goal
            && let Some(Reverse((_, number))) = leaves.pop()
        {
            // In the room of the one that was removed.
            leaves.extend(self.remove(number).map(Reverse));
        }
    }

    /// Removes a leaf, and returns the age of its parent if that becomes one.
    fn remove(&mut self, number: u64) -> Option<Age> {
        let branch = self.branches.remove(&number)?;
        if let Some(children) = self.nodes.get_mut(&branch) {
            if let Some(place) = children.iter().position(|node| node.number == number) {
                let removed = children.swap_remove(place);
                self.stats.bytes -= Node::size(&removed.segment);
            }
            if children.is_empty() {
                self.nodes.remove(&branch);
            }
        }
        let parent = self.node(branch.0)?;
        parent.children -= 1;
        (parent.children == 0).then(|| parent.age())
    }
}
