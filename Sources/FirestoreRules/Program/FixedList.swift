// SPDX-License-Identifier: Apache-2.0

/// A list that never changes, in memory that never moves: reading a part of an element counts no references to the
/// rest. The owner frees the memory.
struct FixedList<Element: Sendable>: @unchecked Sendable {
  private let elements: UnsafeMutableBufferPointer<Element>

  init(_ list: [Element]) {
    elements = .allocate(capacity: list.count)
    _ = elements.initialize(from: list)
  }

  func free() {
    elements.deinitialize()
    elements.deallocate()
  }

  var indices: Range<Int> { elements.indices }

  subscript(place: Int) -> Element {
    @inline(__always) _read { yield elements[place] }
  }
}
