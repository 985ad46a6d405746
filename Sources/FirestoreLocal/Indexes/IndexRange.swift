// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel

/// The entries of one index whose keys lie between two bounds.
struct IndexRange: Hashable {
  let index: IndexNumber
  let lower: [UInt8]
  /// The first key that is not in the range.
  let upper: [UInt8]

  var isEmpty: Bool { !lower.lexicographicallyPrecedes(upper) }
}

/// One end of a range of keys: those that begin with `code` are inside, or outside.
///
/// Keys that were cut may differ from what they stand for, so that an end that would be cut takes in all that begin
/// with what is left of it; documents are compared with the query in any case.
struct IndexEdge {
  let code: [UInt8]
  let isInside: Bool

  init(_ code: [UInt8], isInside: Bool) {
    self.code = Array(code.prefix(FieldIndex.keyLimit))
    self.isInside = isInside || code.count > FieldIndex.keyLimit
  }

  /// The first key inside, if this is a lower end.
  var lower: [UInt8] { isInside ? code : Self.successor(code) }
  /// The first key outside, if this is an upper end.
  var upper: [UInt8] { isInside ? Self.successor(code) : code }

  /// The least key that is greater than all that begin with this code. No key begins with 0xFF.
  private static func successor(_ code: [UInt8]) -> [UInt8] {
    var code = code
    while code.last == 0xff { code.removeLast() }
    guard let last = code.popLast() else { return [0xff] }
    code.append(last + 1)
    return code
  }
}
