// SPDX-License-Identifier: Apache-2.0

/// Names a field, possibly inside maps: segments from the outside in.
package struct FieldPath: Sendable {
  package let segments: [String]

  /// Makes a path of segments from the outside in; `init(validating:)` is for text from outside.
  /// - Precondition: at least one segment, none of them empty.
  package init(segments: [String]) { self.segments = segments }

  /// Makes a path of one segment, taken literally (a dot in it is part of the name).
  package init(_ segment: String) { segments = [segment] }

  /// The document's own name: `__name__`.
  package static let documentID = FieldPath("__name__")

  package var isDocumentID: Bool { segments.count == 1 && segments[0] == "__name__" }
  package var first: String { segments[0] }
  package var last: String { segments[segments.count - 1] }

  package func appending(_ segment: String) -> FieldPath { FieldPath(segments: segments + [segment]) }
  package var parent: FieldPath? { segments.count > 1 ? FieldPath(segments: Array(segments.dropLast())) : nil }

  /// Whether this path is `other` or contains it.
  package func isPrefix(of other: FieldPath) -> Bool {
    segments.count <= other.segments.count && zip(segments, other.segments).allSatisfy { $0.equalsUTF8($1) }
  }
}

extension FieldPath: Hashable, Comparable {
  package static func == (left: FieldPath, right: FieldPath) -> Bool {
    left.segments.count == right.segments.count && zip(left.segments, right.segments).allSatisfy { $0.equalsUTF8($1) }
  }

  package func hash(into hasher: inout Hasher) {
    for segment in segments { segment.hashUTF8(into: &hasher) }
  }

  /// The hash that tables of paths use. Spares the standard hasher, which takes longer than all the rest.
  package func _rawHashValue(seed: Int) -> Int {
    var hash = seed
    for segment in segments { hash = segment.withUTF8Bytes { ByteHash.of(UnsafeRawBufferPointer($0), seed: hash) } }
    return hash
  }

  package static func < (left: FieldPath, right: FieldPath) -> Bool {
    for (a, b) in zip(left.segments, right.segments) {
      let ordering = a.compareUTF8(b)
      if ordering != .equal { return ordering == .ascending }
    }
    return left.segments.count < right.segments.count
  }
}
