// SPDX-License-Identifier: Apache-2.0

/// A list that grows at its end and drops elements at its beginning, in blocks that copies share.
///
/// Copying the list copies one reference per block. The first change in a copy copies one block. So the stored states
/// of a session share their common parts with the current state.
///
/// ```
/// append       O(1), or one block if a copy shares the last block
/// subscript    O(1)
/// removeFirst  O(blocks); up to one block of removed elements stays in memory
/// ```
package struct BlockList<Element: Sendable>: Sendable {
  private static var blockSize: Int { 256 }

  /// The blocks. All blocks except the last are full.
  private(set) var blocks: [[Element]] = []
  /// The count of removed elements in the first block.
  private var removed = 0

  package init() {}

  package mutating func append(_ element: Element) {
    if blocks.last.map({ $0.count == Self.blockSize }) ?? true {
      blocks.append([])
      blocks[blocks.count - 1].reserveCapacity(Self.blockSize)
    }
    blocks[blocks.count - 1].append(element)
  }

  package mutating func removeFirst(_ count: Int) {
    precondition(count <= self.count)
    removed += count
    blocks.removeFirst(removed / Self.blockSize)
    removed %= Self.blockSize
    if isEmpty { removeAll() }
  }

  package mutating func removeAll() { self = BlockList() }
}

extension BlockList: RandomAccessCollection, MutableCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int {
    blocks.last.map { (blocks.count - 1) * Self.blockSize + $0.count - removed } ?? 0
  }

  package subscript(index: Int) -> Element {
    get {
      precondition(index >= 0)
      let place = index + removed
      return blocks[place / Self.blockSize][place % Self.blockSize]
    }
    _modify {
      precondition(index >= 0)
      let place = index + removed
      yield &blocks[place / Self.blockSize][place % Self.blockSize]
    }
  }
}
