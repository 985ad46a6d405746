// SPDX-License-Identifier: Apache-2.0

/// The path of a field, which may be inside maps. The segments are ordered from the outermost map inward.
package struct FieldPath: Sendable {
  package let segments: [String]

  /// Creates a path from segments, outermost first. Use `init(validating:)` for external text.
  /// - Precondition: there is at least one segment, and no segment is empty.
  package init(segments: [String]) { self.segments = segments }

  /// Creates a path that consists of one segment. A dot in this segment is part of the name.
  package init(_ segment: String) { segments = [segment] }

  /// The document's own name: `__name__`.
  package static let documentID = FieldPath("__name__")

  package var isDocumentID: Bool { segments.count == 1 && segments[0] == "__name__" }
  package var first: String { segments[0] }
  package var last: String { segments[segments.count - 1] }

  package func appending(_ segment: String) -> FieldPath { FieldPath(segments: segments + [segment]) }
  package var parent: FieldPath? { segments.count > 1 ? FieldPath(segments: Array(segments.dropLast())) : nil }

  /// Whether this path is equal to `other` or contains it.
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

  /// The hash of the path for dictionaries. Does not use the standard hasher, because the standard hasher takes longer
  /// than the rest of a lookup.
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

extension FieldPath {
  /// The maximum size in bytes, both of a field name and of a whole field path (PROTOCOL §3.10).
  package static let byteLimit = 1500

  /// Parses dotted text that a user entered. A segment that contains a dot, a back-quote or one of `~*/[]` needs
  /// back-quotes. Within back-quotes, a backslash escapes a back-quote or a backslash.
  /// - Throws: an error for an empty path or segment, one of `~*/[]` outside of back-quotes, invalid quoting, or a path
  ///   or name that is too long. Also for a reserved name (`__x__`), unless the whole path is `__name__`.
  package init(validating text: String) throws(ModelError) {
    self = try Self.parse(text) { segment in
      segment.utf8.contains(where: "~*/[]".utf8.contains)
        ? "\"\(segment)\" contains one of ~*/[]; put it in back-quotes." : nil
    }
  }

  /// Parses text in a message, with the backend's rules. These rules are stricter than the rules for user input: an
  /// unquoted segment consists of ASCII letters, digits and underscores, and does not start with a digit.
  package init(wireText text: String) throws(ModelError) {
    self = try Self.parse(text) { segment in
      segment.isPlainName ? nil : "\"\(segment)\" is neither a plain name ([A-Za-z_][A-Za-z0-9_]*) nor in back-quotes."
    }
  }

  /// Parses text that `canonicalText` returned, such as stored text. Does not check the names.
  /// - Throws: an error only if the quoting is invalid or a segment is empty.
  package init(canonicalText text: String) throws(ModelError) {
    self.init(segments: text.isPlainName ? [text] : try Self.split(text) { _ in nil })
  }

  /// The path as dotted text, with back-quotes where necessary. Messages contain field paths in this form.
  package var canonicalText: String {
    if segments.count == 1, first.isPlainName { return first }
    return segments.map { segment in
      if segment.isPlainName { return segment }
      var quoted = "`"
      for character in segment.unicodeScalars {
        if character == "`" || character == "\\" { quoted.append("\\") }
        quoted.unicodeScalars.append(character)
      }
      return quoted + "`"
    }
    .joined(separator: ".")
  }

  /// The reason why the path cannot identify a field in a write or a query; `nil` if it can.
  package var objection: String? {
    if isDocumentID { return nil }
    var total = segments.count - 1
    for segment in segments {
      if segment.isEmpty { return "a segment is empty." }
      if segment.isReservedName { return "the name \"\(segment)\" is reserved." }
      total += segment.utf8.count
    }
    return total > Self.byteLimit ? "it is longer than \(Self.byteLimit) bytes." : nil
  }

  private static func parse(
    _ text: String, objectionToUnquoted: (String) -> String?
  ) throws(ModelError) -> FieldPath {
    let path = FieldPath(segments: try split(text, objectionToUnquoted: objectionToUnquoted))
    if let objection = path.objection { throw ModelError("The field path \"\(text)\" is invalid: \(objection)") }
    return path
  }

  private static func split(
    _ text: String, objectionToUnquoted: (String) -> String?
  ) throws(ModelError) -> [String] {
    func fail(_ reason: String) -> ModelError { ModelError("The field path \"\(text)\" is invalid: \(reason)") }

    if text.isEmpty { throw ModelError("A field path must not be empty.") }
    var segments: [String] = []
    var rest = text.unicodeScalars[...]
    while true {
      var segment = ""
      if rest.first == "`" {
        rest.removeFirst()
        var isClosed = false
        while let scalar = rest.popFirst() {
          if scalar == "`" {
            isClosed = true
            break
          }
          if scalar == "\\" {
            guard let escaped = rest.popFirst() else { throw fail("it ends after a backslash.") }
            guard escaped == "`" || escaped == "\\" else {
              throw fail("only a back-quote or a backslash may follow a backslash.")
            }
            segment.unicodeScalars.append(escaped)
          } else {
            segment.unicodeScalars.append(scalar)
          }
        }
        if !isClosed { throw fail("a back-quote is not closed.") }
        if segment.isEmpty { throw fail("a segment is empty.") }
        if let next = rest.first, next != "." { throw fail("a dot must follow a closing back-quote.") }
      } else {
        while let scalar = rest.first, scalar != "." {
          if scalar == "`" { throw fail("a back-quote is in the middle of a segment.") }
          segment.unicodeScalars.append(scalar)
          rest.removeFirst()
        }
        if segment.isEmpty {
          throw fail("a segment is empty; a path must not begin or end with a dot or contain \"..\".")
        }
        if let objection = objectionToUnquoted(segment) { throw fail(objection) }
      }
      segments.append(segment)
      if rest.popFirst() == nil { return segments }
    }
  }
}

extension String {
  /// Whether the name needs no back-quotes because it matches `[A-Za-z_][A-Za-z0-9_]*`.
  fileprivate var isPlainName: Bool {
    withUTF8Bytes { bytes in
      guard let first = bytes.first, !(48...57).contains(first) else { return false }
      for byte in bytes {
        switch byte {
        case 48...57, 65...90, 95, 97...122: break
        default: return false
        }
      }
      return true
    }
  }
}

extension FieldPath: CustomStringConvertible {
  package var description: String { canonicalText }
}
