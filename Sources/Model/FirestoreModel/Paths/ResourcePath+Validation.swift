// SPDX-License-Identifier: Apache-2.0

extension ResourcePath {
  /// The most bytes of a collection or document id (PROTOCOL §3.10).
  package static let segmentByteLimit = 1500
  /// The most bytes of a whole path (PROTOCOL §3.10).
  package static let pathByteLimit = 6 * 1024
  /// The most collections below one another (PROTOCOL §3.10).
  package static let collectionDepthLimit = 100

  /// Reads text from outside.
  /// - Throws: an error that names path and reason, for empty text, a slash at either end, an empty segment, `.` and
  ///   `..`, a reserved id (`__x__`, except numeric document ids) and a path or id that is too long.
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

  /// The reason why a text cannot be the id of a collection or document; `nil` if it can.
  package static func objection(to id: String, isCollectionID: Bool) -> String? {
    let kind = isCollectionID ? "collection id" : "document id"
    if id.isEmpty { return "a \(kind) is empty, as in \"//\"." }
    if id.utf8.contains(UInt8(ascii: "/")) { return "the \(kind) \"\(id)\" contains \"/\"." }
    if id == "." || id == ".." { return "the \(kind) \"\(id)\" is not allowed." }
    if id.utf8.count > segmentByteLimit { return "a \(kind) is longer than \(segmentByteLimit) bytes." }
    if id.isReservedName, !id.isNumericID {
      return "the \(kind) \"\(id)\" is reserved, as all are that begin and end with two underscores."
    }
    return nil
  }
}

extension DocumentKey {
  /// Reads text from outside.
  /// - Throws: `invalid-argument` that names the path, unless it names a document.
  package init(validating text: String) throws(ModelError) {
    let path = try ResourcePath(validating: text)
    guard path.isDocument else {
      throw ModelError(
        "\"\(text)\" names a collection. A document path has an even number of segments, such as \"\(text)/ID\".")
    }
    self.init(unchecked: path)
  }
}
