// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The summary of a message of the protocol google.firestore.v1. Contains names and numbers, but no field values.
package struct MessageSummary: Sendable {
  /// The kind of a message on a stream, such as `addTarget` or `writes`. Empty for a call, because its method already
  /// determines the kind.
  package var kind = ""
  /// The targets that the message concerns; empty for all targets of its stream.
  package var targets: [Int] = []
  /// The path of the queried collection. For a collection group, the parent's path followed by the group's id.
  package var collection: String?
  package var isGroup = false
  /// The paths of the first documents that the message concerns.
  package var documents: [String] = []
  /// The number of documents, writes, results or missed events.
  package var count = 0
  /// The length in bytes of the message's resume token or stream token. 0 if this message has no token; `nil` if
  /// messages of its kind never have a token.
  package var tokenLength: Int?
  /// The reason why the server removed a target.
  package var cause: RPCStatus?
  package var content: MessageContent?

  private static let mostDocuments = 50

  package init() {}

  /// The estimated memory use of the summary in bytes.
  var cost: Int { documents.reduce(0) { $0 + $1.utf8.count + 32 } + (content?.cost ?? 0) }

  package mutating func setDocuments(_ keys: some Collection<DocumentKey>) {
    documents = keys.prefix(Self.mostDocuments).map(\.path.text)
    count = keys.count
  }
}

extension MessageSummary {
  /// - Parameters:
  ///   - method: the method of the message, such as `Listen`.
  ///   - content: the wire bytes of the message, which may be truncated. The summary covers only these bytes.
  package init(_ method: String, _ content: [UInt8], isRequest: Bool) {
    // Errors are ignored, because the end of a truncated message cannot be read.
    _ = try? WireReader.read(content) { (reader: inout WireReader) throws(WireError) in
      switch (method, isRequest) {
      case ("Listen", true): try listenRequest(&reader)
      case ("Listen", false): try listenResponse(&reader)
      case ("Write", true):
        kind = "handshake"
        try writeRequest(&reader, writes: 3, token: 4)
      case ("Write", false): try writeResponse(&reader)
      case ("Commit", true), ("BatchWrite", true): try writeRequest(&reader, writes: 2, token: nil)
      case ("CreateDocument", true): try reader.each(4) { reader throws(WireError) in try document(&reader) }
      case ("UpdateDocument", true): try reader.each(1) { reader throws(WireError) in try document(&reader) }
      case ("GetDocument", true), ("DeleteDocument", true): try names(1, &reader)
      case ("BatchGetDocuments", true): try names(2, &reader)
      case ("RunQuery", true): try query(&reader)
      case ("RunAggregationQuery", true): try query(&reader, isAggregated: true)
      case ("ListDocuments", true): try listRequest(&reader)
      case (_, true): break
      case (_, false): try readResponse(&reader)
      }
    }
  }

  private mutating func names(_ number: Int, _ reader: inout WireReader) throws(WireError) {
    try reader.each(number) { (reader: inout WireReader) throws(WireError) in add(try reader.string()) }
  }

  private mutating func listenRequest(_ reader: inout WireReader) throws(WireError) {
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (2, .lengthDelimited):
        (kind, tokenLength) = ("addTarget", 0)
        var target = try reader.message()
        try addTarget(&target)
      case (3, .varint):
        kind = "removeTarget"
        try addTargets(&reader, tag.type)
      default: try reader.skip(tag.type)
      }
    }
  }

  private mutating func addTarget(_ reader: inout WireReader) throws(WireError) {
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (2, .lengthDelimited):
        var query = try reader.message()
        try self.query(&query)
      case (3, .lengthDelimited):
        var documents = try reader.message()
        try names(2, &documents)
      // The target's resume token or read time.
      case (4, .lengthDelimited), (11, .lengthDelimited): tokenLength = try reader.lengthDelimited().count
      case (5, .varint): try addTargets(&reader, tag.type)
      default: try reader.skip(tag.type)
      }
    }
  }

  /// Reads a message with the parent in field 1 and the query in field 2. In an aggregation, the query is nested in
  /// another message.
  private mutating func query(_ reader: inout WireReader, isAggregated: Bool = false) throws(WireError) {
    var (parent, id) = ("", "")
    func selector(_ query: inout WireReader, _ isGroup: inout Bool) throws(WireError) {
      try query.each(2) { (reader: inout WireReader) throws(WireError) in
        var selector = try reader.message()
        while let tag = try selector.tag() {
          switch (tag.field, tag.type) {
          case (2, .lengthDelimited): id = try selector.string()
          case (3, .varint): isGroup = try selector.varint() != 0
          default: try selector.skip(tag.type)
          }
        }
      }
    }
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): parent = Self.path(try reader.string())
      case (2, .lengthDelimited):
        var query = try reader.message()
        if isAggregated {
          try query.each(1) { (reader: inout WireReader) throws(WireError) in
            var inner = try reader.message()
            try selector(&inner, &isGroup)
          }
        } else {
          try selector(&query, &isGroup)
        }
      default: try reader.skip(tag.type)
      }
    }
    collection = Self.path(parent, id)
  }

  private mutating func listRequest(_ reader: inout WireReader) throws(WireError) {
    var (parent, id) = ("", "")
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): parent = Self.path(try reader.string())
      case (2, .lengthDelimited): id = try reader.string()
      default: try reader.skip(tag.type)
      }
    }
    collection = Self.path(parent, id)
  }

  private mutating func listenResponse(_ reader: inout WireReader) throws(WireError) {
    while let tag = try reader.tag() {
      guard tag.type == .lengthDelimited, (2...6).contains(tag.field) else {
        try reader.skip(tag.type)
        continue
      }
      var change = try reader.message()
      switch tag.field {
      case 2: try targetChange(&change)
      case 3:
        kind = "documentChange"
        while let tag = try change.tag() {
          switch (tag.field, tag.type) {
          case (1, .lengthDelimited): try document(&change)
          case (5, _), (6, _): try addTargets(&change, tag.type)
          default: try change.skip(tag.type)
          }
        }
      case 5:
        kind = "filter"
        while let tag = try change.tag() {
          switch (tag.field, tag.type) {
          case (1, _): try addTargets(&change, tag.type)
          case (2, .varint): count = Int(Int32(truncatingIfNeeded: try change.varint()))
          default: try change.skip(tag.type)
          }
        }
      default:
        kind = tag.field == 4 ? "documentDelete" : "documentRemove"
        let targets = tag.field == 4 ? 6 : 2
        while let tag = try change.tag() {
          switch (tag.field, tag.type) {
          case (1, .lengthDelimited): add(try change.string())
          case (targets, _): try addTargets(&change, tag.type)
          default: try change.skip(tag.type)
          }
        }
      }
    }
  }

  private static let targetChanges = ["token", "added", "removed", "current", "reset"]

  private mutating func targetChange(_ reader: inout WireReader) throws(WireError) {
    var (type, hasReadTime) = (0, false)
    tokenLength = 0
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .varint): type = Int(truncatingIfNeeded: try reader.varint())
      case (2, _): try addTargets(&reader, tag.type)
      case (3, .lengthDelimited): cause = try reader.status()
      case (4, .lengthDelimited): tokenLength = try reader.lengthDelimited().count
      case (6, .lengthDelimited):
        hasReadTime = true
        try reader.skip(tag.type)
      default: try reader.skip(tag.type)
      }
    }
    // A read time for all targets completes a consistent snapshot.
    kind =
      type == 0 && targets.isEmpty && hasReadTime
      ? "snapshot" : Self.targetChanges.indices.contains(type) ? Self.targetChanges[type] : ""
  }

  /// Reads the target ids of a repeated field, which may be packed.
  private mutating func addTargets(_ reader: inout WireReader, _ type: WireType) throws(WireError) {
    switch type {
    case .varint: targets.append(Int(Int32(truncatingIfNeeded: try reader.varint())))
    case .lengthDelimited:
      var ids = try reader.message()
      while !ids.isAtEnd { targets.append(Int(Int32(truncatingIfNeeded: try ids.varint()))) }
    default: try reader.skip(type)
    }
  }

  private mutating func writeRequest(_ reader: inout WireReader, writes: Int, token: Int?) throws(WireError) {
    if token != nil { tokenLength = 0 }
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (writes, .lengthDelimited):
        if token != nil { kind = "writes" }
        var write = try reader.message()
        try self.write(&write)
      case (4, .lengthDelimited) where token != nil: tokenLength = try reader.lengthDelimited().count
      default: try reader.skip(tag.type)
      }
    }
  }

  private mutating func write(_ reader: inout WireReader) throws(WireError) {
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): try document(&reader)
      case (2, .lengthDelimited): add(try reader.string())
      case (6, .lengthDelimited):
        var transform = try reader.message()
        try names(1, &transform)
      default: try reader.skip(tag.type)
      }
    }
  }

  private mutating func writeResponse(_ reader: inout WireReader) throws(WireError) {
    (kind, tokenLength) = ("handshake", 0)
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (2, .lengthDelimited): tokenLength = try reader.lengthDelimited().count
      case (3, .lengthDelimited):
        kind = "writeResults"
        count += 1
        try reader.skip(tag.type)
      default: try reader.skip(tag.type)
      }
    }
  }

  private mutating func readResponse(_ reader: inout WireReader) throws(WireError) {
    try reader.each(1) { (reader: inout WireReader) throws(WireError) in
      // Field 1 of a query's response is its document. In other messages it is a name or a token, which is ignored.
      let field = try reader.lengthDelimited()
      var document = WireReader(field)
      if let first = try? document.tag(), first.field == 1, first.type == .lengthDelimited,
        let name = try? document.string(), name.hasPrefix("projects/")
      {
        add(name)
      }
    }
  }

  /// Reads a field that contains a document.
  private mutating func document(_ reader: inout WireReader) throws(WireError) {
    var document = try reader.message()
    try names(1, &document)
  }

  private mutating func add(_ name: String) {
    count += 1
    if documents.count < Self.mostDocuments { documents.append(Self.path(name)) }
  }

  private static func path(_ parent: String, _ id: String) -> String { parent.isEmpty ? id : "\(parent)/\(id)" }

  /// The path below the database, such as `cities/SF` for the name `projects/P/databases/D/documents/cities/SF`.
  package static func path(_ name: String) -> String {
    let parts = name.split(separator: "/", maxSplits: 5, omittingEmptySubsequences: false)
    return parts.count > 5 ? String(parts[5]) : parts.count == 5 ? "" : name
  }
}

extension WireReader {
  /// Reads the length-delimited fields that have this number, and skips all others.
  package mutating func each(
    _ number: Int, _ read: (inout WireReader) throws(WireError) -> Void
  ) throws(WireError) {
    while let tag = try tag() {
      if tag.field == number, tag.type == .lengthDelimited { try read(&self) } else { try skip(tag.type) }
    }
  }

  /// Reads a field that contains a `google.rpc.Status`.
  fileprivate mutating func status() throws(WireError) -> RPCStatus {
    var (code, text) = (StatusCode.unknown, "")
    var status = try message()
    while let tag = try status.tag() {
      switch (tag.field, tag.type) {
      case (1, .varint): code = StatusCode(rawValue: Int(truncatingIfNeeded: try status.varint())) ?? .unknown
      case (2, .lengthDelimited): text = try status.string()
      default: try status.skip(tag.type)
      }
    }
    return RPCStatus(code, text)
  }
}
