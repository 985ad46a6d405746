// SPDX-License-Identifier: Apache-2.0

/// Compiled statements, indexed by the addresses of their string literals. A lookup takes about twenty instructions. A
/// dictionary lookup would take hundreds, which is up to a tenth of the time to find a row.
@usableFromInline struct StatementTable: ~Copyable {
  @usableFromInline typealias Slot = (sql: UnsafePointer<UInt8>?, statement: OpaquePointer?)

  /// The number of slots: a power of two that is several times the number of SQL literals in a store.
  @usableFromInline static var capacity: Int { 1024 }

  @usableFromInline let slots: UnsafeMutablePointer<Slot>

  init() {
    slots = .allocate(capacity: Self.capacity)
    slots.initialize(repeating: (nil, nil), count: Self.capacity)
  }

  deinit { slots.deallocate() }

  /// The statement; `nil` if this SQL has not been compiled yet.
  @inlinable subscript(sql: StaticString) -> OpaquePointer? { slots[place(of: sql.utf8Start)].statement }

  func insert(_ statement: OpaquePointer, for sql: StaticString) {
    slots[place(of: sql.utf8Start)] = (sql.utf8Start, statement)
  }

  var all: [OpaquePointer] { (0..<Self.capacity).compactMap { slots[$0].statement } }

  /// Empties the table.
  func removeAll(_ finalize: (OpaquePointer) -> Void) {
    for slot in 0..<Self.capacity {
      if let statement = slots[slot].statement { finalize(statement) }
      slots[slot] = (nil, nil)
    }
  }

  /// The slot of a statement, or a free slot for it. The search starts at the slot given by the upper ten bits of the
  /// address times the golden ratio, and continues until it finds the statement or a free slot.
  @inlinable func place(of sql: UnsafePointer<UInt8>) -> Int {
    var place = Int(truncatingIfNeeded: (UInt64(UInt(bitPattern: sql)) &* 0x9e37_79b9_7f4a_7c15) >> 54)
    while let other = slots[place].sql, other != sql { place = (place + 1) & (Self.capacity - 1) }
    return place
  }
}
