// SPDX-License-Identifier: Apache-2.0

/// Slash-separated segments relative to the root of a database: `rooms/r1/messages`.
/// An even, positive number of segments names a document, an odd number a collection, none the root.
///
/// Identity is by UTF-8 bytes, and numeric ids (`__id7__`) come before all others, by number.
package struct ResourcePath: Sendable {
  /// The segments joined by slashes; empty for the root.
  package let text: String

  /// - Parameter text: segments joined by single slashes, without one at either end. Not checked here:
  ///   `init(validating:)` is for text from outside.
  package init(_ text: String) { self.text = text }

  package init(segments: some Sequence<String>) { text = segments.joined(separator: "/") }

  package static let root = ResourcePath("")

  package var isRoot: Bool { text.isEmpty }

  /// Split at bytes: a combining character after a slash does not hide it.
  package var segments: [Substring] {
    if text.isEmpty { return [] }
    return text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Substring($0) }
  }

  package var count: Int { text.isEmpty ? 0 : text.utf8.reduce(into: 1) { if $1 == UInt8(ascii: "/") { $0 += 1 } } }

  /// Whether the path names a document.
  package var isDocument: Bool { !isRoot && count.isMultiple(of: 2) }

  /// Whether the path names a collection.
  package var isCollection: Bool { !count.isMultiple(of: 2) }

  /// The last segment, empty for the root.
  package var last: String {
    guard let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")) else { return text }
    return String(text[text.utf8.index(after: slash)...])
  }

  /// The path without its last segment; the root's parent is the root.
  package var parent: ResourcePath {
    guard let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")) else { return .root }
    return ResourcePath(String(text[..<slash]))
  }

  package func appending(_ segment: String) -> ResourcePath {
    ResourcePath(isRoot ? segment : text + "/" + segment)
  }

  /// Whether this path is `other` or lies above it.
  package func isPrefix(of other: ResourcePath) -> Bool {
    if isRoot { return true }
    return text.withUTF8Bytes { own in
      other.text.withUTF8Bytes { bytes in
        guard bytes.count >= own.count, bytes.count == own.count || bytes[own.count] == UInt8(ascii: "/") else {
          return false
        }
        return Ordering.lexicographic(own, UnsafeBufferPointer(rebasing: bytes[..<own.count])) == .equal
      }
    }
  }

  /// Whether `other` lies directly below this path.
  package func isParent(of other: ResourcePath) -> Bool {
    guard isPrefix(of: other) else { return false }
    let rest = other.text.utf8.dropFirst(isRoot ? 0 : text.utf8.count + 1)
    return !rest.isEmpty && !rest.contains(UInt8(ascii: "/"))
  }

  /// Whether the path names something directly inside a collection with this id, wherever that lies.
  package func isInCollection(withID id: String) -> Bool {
    text.withUTF8Bytes { bytes in
      guard let end = bytes.lastIndex(of: UInt8(ascii: "/")) else { return false }
      let start = bytes[..<end].lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
      return id.withUTF8Bytes { id in
        Ordering.lexicographic(UnsafeBufferPointer(rebasing: bytes[start..<end]), id) == .equal
      }
    }
  }
}

extension ResourcePath: Hashable {
  package static func == (left: ResourcePath, right: ResourcePath) -> Bool { left.text.equalsUTF8(right.text) }
  package func hash(into hasher: inout Hasher) { text.hashUTF8(into: &hasher) }

  /// What tables of paths ask: spares the standard hasher, which takes longer than all the rest.
  package func _rawHashValue(seed: Int) -> Int {
    text.withUTF8Bytes { ByteHash.of(UnsafeRawBufferPointer($0), seed: seed) }
  }
}

extension ResourcePath: CustomStringConvertible {
  package var description: String { text }
}
