// SPDX-License-Identifier: Apache-2.0

/// A list that never changes, in memory that never moves: looking at a part of an element counts no references to the
/// rest.
///
/// Sending it to another thread is safe, which the compiler cannot see for a pointer: the memory is written once, by
/// `init`, before another thread can have the list; after that it is only read, and its elements are `Sendable`. The
/// list cannot be copied, so it has one owner, and `deinit` frees the memory when no reader is left.
struct FixedList<Element: Sendable>: ~Copyable, @unchecked Sendable {
  private let elements: UnsafeMutableBufferPointer<Element>

  init(_ list: [Element]) {
    elements = .allocate(capacity: list.count)
    _ = elements.initialize(from: list)
  }

  deinit {
    elements.deinitialize()
    elements.deallocate()
  }

  var indices: Range<Int> { elements.indices }

  subscript(place: Int) -> Element {
    @inline(__always) _read { yield elements[place] }
  }
}
