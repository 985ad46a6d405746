// SPDX-License-Identifier: Apache-2.0

/// The encoded fields of one collection's documents, close together in memory: what a scan of a memory cache reads
/// instead of SQLite's pages, from which it takes three times as long to get at a value.
///
/// A copy that is made when a collection is first scanned and kept up with each change. It is dropped whenever it might
/// not agree with the table, and when much of it is out of use.
final class FieldArena {
  private static let chunkSize = 1 << 20

  /// Where a document's fields are; a document without fields has a slot of no bytes.
  private struct Slot {
    var start: UnsafeMutableRawPointer?
    var count = 0
    var isFound = false
  }

  /// By the documents' numbers within the collection.
  private var slots: [Slot] = []
  private var chunks: [UnsafeMutableRawPointer] = []
  private var free: UnsafeMutableRawBufferPointer.SubSequence = UnsafeMutableRawBufferPointer(start: nil, count: 0)[...]
  private var liveBytes = 0
  private var wastedBytes = 0

  deinit { for chunk in chunks { chunk.deallocate() } }

  /// More than half of it is not used any more.
  var isWorn: Bool { wastedBytes > liveBytes + Self.chunkSize }

  /// - Parameter bytes: copied; empty for a document without fields.
  func set(_ index: Int, _ bytes: UnsafeRawBufferPointer) {
    if index >= slots.count { slots.append(contentsOf: repeatElement(Slot(), count: index - slots.count + 1)) }
    let old = slots[index]
    liveBytes += bytes.count - old.count
    let start: UnsafeMutableRawPointer?
    if bytes.count <= old.count {
      start = old.start
      wastedBytes += old.count - bytes.count
    } else {
      start = allocate(bytes.count)
      wastedBytes += old.count
    }
    if let source = bytes.baseAddress { start?.copyMemory(from: source, byteCount: bytes.count) }
    slots[index] = Slot(start: start, count: bytes.count, isFound: true)
  }

  func remove(_ index: Int) {
    guard index < slots.count else { return }
    liveBytes -= slots[index].count
    wastedBytes += slots[index].count
    slots[index] = Slot()
  }

  /// Calls `body` for every document that exists, by number.
  func forEach<Failure: Error>(
    _ body: (Int, UnsafeRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    for (index, slot) in slots.enumerated() {
      if slot.isFound { try body(index, UnsafeRawBufferPointer(start: slot.start, count: slot.count)) }
    }
  }

  private func allocate(_ count: Int) -> UnsafeMutableRawPointer {
    if free.count < count {
      wastedBytes += free.count
      let size = max(Self.chunkSize, count)
      let chunk = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
      chunks.append(chunk)
      free = UnsafeMutableRawBufferPointer(start: chunk, count: size)[...]
    }
    let taken = UnsafeMutableRawBufferPointer(rebasing: free.prefix(count))
    free = free.dropFirst(count)
    // A chunk has a base address, and so has every part of it.
    return taken.baseAddress ?? chunks[chunks.count - 1]
  }
}
