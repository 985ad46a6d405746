// SPDX-License-Identifier: Apache-2.0

/// A path relative to the root of a database, which consists of slash-separated segments: `rooms/r1/messages`. A
/// document path has an even, positive number of segments. A collection path has an odd number of segments. The root
/// has no segments.
///
/// Paths are ordered by UTF-8 bytes, except that numeric ids (`__id7__`) come before all other ids and are ordered by
/// number.
package struct ResourcePath: Sendable {
  /// The segments joined by slashes; empty for the root.
  package let text: String
  /// The hash of the text, which dictionaries of paths need for each lookup and whenever they grow. Comparing hashes
  /// also detects most unequal paths without reading their texts, which are usually not in the CPU cache.
  private let textHash: UInt64

  /// Creates a path without checking it. Use `init(validating:)` for external text.
  /// - Parameter text: segments joined by single slashes, without a slash at the start or the end.
  package init(_ text: String) {
    self.text = text
    textHash = text.withUTF8Bytes { ByteHash.of(UnsafeRawBufferPointer($0)) }
  }

  package init(segments: some Sequence<String>) { self.init(segments.joined(separator: "/")) }

  package init(segments: ArraySlice<String>) {
    var text = segments.first ?? ""
    for segment in segments.dropFirst() {
      text += "/"
      text += segment
    }
    self.init(text)
  }

  package static let root = ResourcePath("")

  package var isRoot: Bool { text.isEmpty }

  /// The segments. The text is split at bytes and not at characters. Otherwise, a combining character after a slash
  /// would hide the slash.
  package var segments: [Substring] {
    if text.isEmpty { return [] }
    return text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Substring($0) }
  }

  /// Finds the ends of the segments, as offsets in UTF-8 bytes. Each segment begins one byte after the end of the
  /// previous segment.
  /// - Parameter ends: receives the ends. Its previous content is discarded.
  package func findSegments(_ ends: inout [Int]) {
    ends.removeAll(keepingCapacity: true)
    if text.isEmpty { return }
    text.withUTF8Bytes { bytes in
      for place in bytes.indices where bytes[place] == UInt8(ascii: "/") { ends.append(place) }
      ends.append(bytes.count)
    }
  }

  /// The segment in this byte range.
  package func segment(_ range: Range<Int>) -> String {
    text.withUTF8Bytes { String(decoding: UnsafeBufferPointer(rebasing: $0[range]), as: UTF8.self) }
  }

  /// Whether the segment in this byte range equals `other`.
  package func isSegment(_ range: Range<Int>, _ other: String) -> Bool {
    text.withUTF8Bytes { bytes in
      other.withUTF8Bytes { other in
        range.count == other.count
          && Ordering.firstDifference(UnsafeBufferPointer(rebasing: bytes[range]), other) == other.count
      }
    }
  }

  package var count: Int { text.isEmpty ? 0 : text.utf8.reduce(into: 1) { if $1 == UInt8(ascii: "/") { $0 += 1 } } }

  /// Whether the path is a document path.
  package var isDocument: Bool { !isRoot && count.isMultiple(of: 2) }

  /// Whether the path is a collection path.
  package var isCollection: Bool { !count.isMultiple(of: 2) }

  /// The last segment; empty for the root.
  package var last: String {
    text.withUTF8Bytes { bytes in
      guard let slash = Self.lastSlash(bytes) else { return text }
      return String(decoding: UnsafeBufferPointer(rebasing: bytes[(slash + 1)...]), as: UTF8.self)
    }
  }

  /// The path without its last segment. The parent of the root is the root.
  package var parent: ResourcePath {
    text.withUTF8Bytes { bytes in
      guard let slash = Self.lastSlash(bytes) else { return .root }
      return ResourcePath(String(decoding: UnsafeBufferPointer(rebasing: bytes[..<slash]), as: UTF8.self))
    }
  }

  private static func lastSlash(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    var place = bytes.count - 1
    while place >= 0, bytes[place] != UInt8(ascii: "/") { place -= 1 }
    return place < 0 ? nil : place
  }

  package func appending(_ segment: String) -> ResourcePath {
    ResourcePath(isRoot ? segment : text + "/" + segment)
  }

  /// Whether this path is equal to `other` or is an ancestor of it.
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

  /// Whether `other` is directly below this path.
  package func isParent(of other: ResourcePath) -> Bool {
    text.withUTF8Bytes { own in
      other.text.withUTF8Bytes { bytes in
        guard own.count < bytes.count, Self.lastSlash(bytes) ?? 0 == own.count else { return false }
        return Ordering.firstDifference(own, UnsafeBufferPointer(rebasing: bytes[..<own.count])) == own.count
      }
    }
  }

  /// Whether this is the path of a document directly inside a collection with this id, at any depth.
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
  package static func == (left: ResourcePath, right: ResourcePath) -> Bool {
    left.textHash == right.textHash && left.text.equalsUTF8(right.text)
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(textHash) }

  /// The hash of the path for dictionaries. Does not use the standard hasher, because the standard hasher takes longer
  /// than the rest of a lookup.
  package func _rawHashValue(seed: Int) -> Int { ByteHash.of(textHash, seed: seed) }
}

extension ResourcePath: CustomStringConvertible {
  package var description: String { text }
}

/// The order of numeric ids (`__id7__`) among path segments. In document names, they are always ordered by number. In
/// reference *values*, the server also orders them by number, but the client SDKs compare them as text.
package enum NumericIDOrder: Sendable {
  /// Numeric ids come before all other ids and are ordered by number.
  case byNumber
  /// Numeric ids are compared by UTF-8 bytes, like all other ids.
  case asText
}

extension ResourcePath: Comparable {
  package static func < (left: ResourcePath, right: ResourcePath) -> Bool { left.compare(right) == .ascending }

  /// Compares segment by segment. Numeric ids (`__id7__`) come first and are ordered by number. Other ids are compared
  /// by their UTF-8 bytes. If one path is a prefix of the other, the prefix comes first.
  package func compare(_ other: ResourcePath) -> Ordering { compare(other, .byNumber) }

  /// Compares segment by segment, with the given order of numeric ids.
  package func compare(_ other: ResourcePath, _ numericIDs: NumericIDOrder) -> Ordering {
    text.withUTF8Bytes { left in
      other.text.withUTF8Bytes { right in Self.compare(left, right, numericIDs) }
    }
  }

  private static func compare(
    _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>, _ numericIDs: NumericIDOrder
  ) -> Ordering {
    let index = Ordering.firstDifference(left, right)
    if index == left.count && index == right.count { return .equal }
    var start = index
    while start > 0, left[start - 1] != UInt8(ascii: "/") { start -= 1 }
    let a = segment(of: left, from: start)
    let b = segment(of: right, from: start)
    if numericIDs == .byNumber {
      switch (numericID(a), numericID(b)) {
      case (let x?, let y?) where x != y: return Ordering(x, y)
      case (_?, nil): return .ascending
      case (nil, _?): return .descending
      default: break
      }
    }
    // The leading segments are equal only if one path is a prefix of the other.
    return Ordering.lexicographic(a, b).then(Ordering(left.count, right.count))
  }

  private static func segment(of text: UnsafeBufferPointer<UInt8>, from start: Int) -> UnsafeBufferPointer<UInt8> {
    var end = start
    while end < text.count, text[end] != UInt8(ascii: "/") { end += 1 }
    return UnsafeBufferPointer(rebasing: text[start..<end])
  }

  /// The number in `__id<N>__`; `nil` for any other segment.
  fileprivate static func numericID(_ segment: UnsafeBufferPointer<UInt8>) -> Int64? {
    guard segment.count > 6, segment[0] == UInt8(ascii: "_"), segment[1] == UInt8(ascii: "_"),
      segment[2] == UInt8(ascii: "i"), segment[3] == UInt8(ascii: "d"),
      segment[segment.count - 1] == UInt8(ascii: "_"), segment[segment.count - 2] == UInt8(ascii: "_")
    else { return nil }
    let digits = segment[4..<(segment.count - 2)]
    guard digits.first != UInt8(ascii: "+") else { return nil }
    return Int64(String(decoding: digits, as: UTF8.self))
  }
}

extension StringProtocol {
  /// Whether the name has the form `__…__`, with text between the underscores. Firestore reserves such names.
  @inlinable package var isReservedName: Bool {
    utf8.count > 4 && utf8.starts(with: "__".utf8) && utf8.suffix(2).elementsEqual("__".utf8)
  }
}

extension String {
  /// Whether this is a numeric document id, `__id<int64>__`. Such an id is valid although it has the form of a reserved
  /// name.
  package var isNumericID: Bool { withUTF8Bytes { ResourcePath.numericID($0) != nil } }
}

extension ResourcePath {
  /// The maximum size of a collection or document id in bytes (PROTOCOL §3.10).
  package static let segmentByteLimit = 1500
  /// The maximum size of a whole path in bytes (PROTOCOL §3.10).
  package static let pathByteLimit = 6 * 1024
  /// The maximum nesting of collections (PROTOCOL §3.10).
  package static let collectionDepthLimit = 100

  /// Creates a path from external text, and checks it.
  /// - Throws: an error with the path and the reason. The following are invalid: empty text, a slash at the start or
  ///   end, an empty segment, `.` and `..`, a reserved id (`__x__`, except numeric document ids), and a path or id that
  ///   is too long.
  package init(validating text: String) throws(ModelError) {
    func fail(_ reason: String) -> ModelError { ModelError("The path \"\(text)\" is invalid: \(reason)") }

    if text.isEmpty {
      throw ModelError("The path is empty. Name a collection such as \"cities\" or a document such as \"cities/SF\".")
    }
    let bytes = text.utf8
    if bytes.first == UInt8(ascii: "/") { throw fail("omit the \"/\" at its start.") }
    if bytes.last == UInt8(ascii: "/") { throw fail("omit the \"/\" at its end.") }
    if bytes.count > Self.pathByteLimit { throw fail("it is longer than \(Self.pathByteLimit) bytes.") }
    self.init(text)

    let segments = self.segments
    if segments.count > 2 * Self.collectionDepthLimit {
      throw fail("it is deeper than \(Self.collectionDepthLimit) collections.")
    }
    for (index, segment) in segments.enumerated() {
      let isCollectionID = index.isMultiple(of: 2)
      if let reason = Self.objection(to: String(segment), isCollectionID: isCollectionID) { throw fail(reason) }
    }
  }

  /// The reason why a text is not a valid collection or document id; `nil` if it is valid.
  package static func objection(to id: String, isCollectionID: Bool) -> String? {
    let kind = isCollectionID ? "collection id" : "document id"
    if id.isEmpty { return "a \(kind) is empty, as in \"//\"." }
    if id.utf8.contains(UInt8(ascii: "/")) { return "the \(kind) \"\(id)\" contains \"/\"." }
    if id == "." || id == ".." { return "the \(kind) \"\(id)\" is not allowed." }
    if id.utf8.count > segmentByteLimit { return "a \(kind) is longer than \(segmentByteLimit) bytes." }
    if id.isReservedName, !id.isNumericID {
      return "the \(kind) \"\(id)\" is reserved. Ids must not begin and end with two underscores."
    }
    return nil
  }
}

extension DocumentKey {
  /// Creates a key from external text, and checks it.
  /// - Throws: `invalid-argument`, with the path, if the text is not a document path.
  package init(validating text: String) throws(ModelError) {
    let path = try ResourcePath(validating: text)
    guard path.isDocument else {
      throw ModelError(
        "\"\(text)\" names a collection. A document path has an even number of segments, such as \"\(text)/ID\".")
    }
    self.init(unchecked: path)
  }
}
