//! A pointer that is written once, by whichever thread is first.

use std::ptr;

use crate::util::loom::sync::atomic::{AtomicPtr, Ordering};

/// Null until it is set. What it points to is seen by everyone who sees the pointer.
pub(crate) struct OncePointer<T>(AtomicPtr<T>);

impl<T> Default for OncePointer<T> {
    fn default() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }
}

impl<T> OncePointer<T> {
    /// Returns the pointer, or null.
    pub(crate) fn get(&self) -> *mut T {
        self.0.load(Ordering::Acquire)
    }

    /// Sets the pointer, unless it is set; returns whether it did.
    pub(crate) fn set(&self, pointer: *mut T) -> bool {
        self.0
            .compare_exchange(
                ptr::null_mut(),
                pointer,
                Ordering::AcqRel,
                Ordering::Relaxed,
            )
            .is_ok()
    }

    /// Empties it, and returns what it was.
    pub(crate) fn take(&mut self) -> *mut T {
        self.0.swap(ptr::null_mut(), Ordering::AcqRel)
    }
}

#[cfg(all(loom, test))]
mod models {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    use super::OncePointer;

    /// Two threads make a value each, and one reads: one value is kept, and whole where its pointer is seen.
    #[test]
    fn one_value_is_kept() {
        loom::model(|| {
            // Values that outlive the model, and a cell that notices reading without an order.
            let values: &'static [UnsafeCell<u32>; 2] =
                Box::leak(Box::new([UnsafeCell::new(0), UnsafeCell::new(0)]));
            let mut pointer = Arc::new(OncePointer::default());
            let writers = [0, 1].map(|number| {
                let pointer = Arc::clone(&pointer);
                thread::spawn(move || {
                    #[expect(unsafe_code, reason = "the cell of a model")]
                    // SAFETY: no other thread writes to this value, and none reads it before it is published.
                    values[number].with_mut(|value| unsafe { *value = 7 });
                    pointer.set((&raw const values[number]).cast_mut())
                })
            });
            let read = |found: *mut UnsafeCell<u32>| {
                let value = values.iter().find(|value| std::ptr::eq(*value, found))?;
                #[expect(unsafe_code, reason = "the cell of a model")]
                // SAFETY: published after it was written.
                Some(value.with(|value| unsafe { *value }))
            };
            assert!(read(pointer.get()).is_none_or(|value| value == 7));
            let kept = writers.map(|writer| writer.join().expect("a writer that ends"));
            assert_eq!(kept.into_iter().filter(|&kept| kept).count(), 1);
            let winner = kept.iter().position(|&kept| kept).expect("one is kept");
            let left = Arc::get_mut(&mut pointer)
                .expect("the writers have ended")
                .take();
            assert!(std::ptr::eq(left, &raw const values[winner]));
        });
    }
}
