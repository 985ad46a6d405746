// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreProtoJSON

/// The account of a message of google.firestore.v1 by its wire bytes: names, no contents.
package struct MessageAccount: Sendable {
  /// The name of what it does, such as `addTarget` or `writes`.
  package var kind = ""
  package var target: Int?
  /// The targets of an answer that listeners get; empty where it is about all of its stream.
  package var targets: [Int] = []
  /// The path of the collection that is watched or asked for.
  package var collection: String?
  /// The paths of the first documents that it is about.
  package var documents: [String] = []
  /// The number of writes or documents.
  package var count = 0
  /// Whether it carries a resume token or stream token; `nil` where none is expected.
  package var hasToken: Bool?
  /// The message as JSON of the protocol; `nil` unless values are asked for.
  package var content: String?

  static let mostDocuments = 20

  package init() {}
}

extension MessageAccount {
  /// - Parameters:
  ///   - method: the method to which the message belongs.
  ///   - content: the beginning of the message; what is cut off is not told.
  init(_ method: ProxiedMethod, _ content: [UInt8], isRequest: Bool) {
    // The end of a message that is cut off cannot be read; what stood before it is told.
    _ = try? WireReader.read(content) { (reader: inout WireReader) throws(WireError) in
      switch (method.kind, isRequest) {
      case (.listen, true): try listenRequest(&reader)
      case (.listen, false): try listenResponse(&reader)
      case (.writes, true): try writeRequest(&reader, writes: 3, token: 4)
      case (.writes, false): try writeResponse(&reader)
      case (.commit, true): try writeRequest(&reader, writes: 2, token: nil)
      case (.commit, false): kind = "results"
      case (.read, true): try readRequest(&reader, method.name)
      case (.other, true): kind = "request"
      case (.read, false), (.other, false): try readResponse(&reader)
      }
    }
  }

  private mutating func listenRequest(_ reader: inout WireReader) throws(WireError) {
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (2, .lengthDelimited):
        (kind, hasToken) = ("addTarget", false)
        var target = try reader.message()
        try addTarget(&target)
      case (3, .varint): (kind, target) = ("removeTarget", Int(Int32(truncatingIfNeeded: try reader.varint())))
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
        var names = try reader.message()
        try names.each(2) { (reader: inout WireReader) throws(WireError) in note(try reader.string()) }
      case (4, .lengthDelimited): hasToken = try !reader.lengthDelimited().isEmpty
      case (11, .lengthDelimited):
        try reader.skip(tag.type)
        hasToken = true
      case (5, .varint): target = Int(Int32(truncatingIfNeeded: try reader.varint()))
      default: try reader.skip(tag.type)
      }
    }
  }

  /// A `QueryTarget`: its parent, and the collection of its query.
  private mutating func query(_ reader: inout WireReader) throws(WireError) {
    var (parent, id, isGroup) = ("", "", false)
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): parent = Self.path(try reader.string())
      case (2, .lengthDelimited):
        var query = try reader.message()
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
      default: try reader.skip(tag.type)
      }
    }
    collection = (parent.isEmpty ? "" : parent + "/") + (isGroup ? "**/" : "") + id
  }

  private static let changes = ["noChange", "add", "remove", "current", "reset"]

  private mutating func listenResponse(_ reader: inout WireReader) throws(WireError) {
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (2, .lengthDelimited):
        kind = "targetChange noChange"
        hasToken = false
        var change = try reader.message()
        while let tag = try change.tag() {
          switch (tag.field, tag.type) {
          case (1, .varint):
            let number = Int(truncatingIfNeeded: try change.varint())
            if Self.changes.indices.contains(number) { kind = "targetChange \(Self.changes[number])" }
          case (2, _): try noteTargets(&change, tag.type)
          case (4, .lengthDelimited): hasToken = try !change.lengthDelimited().isEmpty
          default: try change.skip(tag.type)
          }
        }
      case (3, .lengthDelimited):
        kind = "documentChange"
        var change = try reader.message()
        while let tag = try change.tag() {
          switch (tag.field, tag.type) {
          case (1, .lengthDelimited): try document(&change)
          case (5, _), (6, _): try noteTargets(&change, tag.type)
          default: try change.skip(tag.type)
          }
        }
      case (4, .lengthDelimited), (6, .lengthDelimited):
        kind = tag.field == 4 ? "documentDelete" : "documentRemove"
        let removed = tag.field == 4 ? 6 : 2
        var change = try reader.message()
        while let tag = try change.tag() {
          switch (tag.field, tag.type) {
          case (1, .lengthDelimited): note(try change.string())
          case (removed, _): try noteTargets(&change, tag.type)
          default: try change.skip(tag.type)
          }
        }
      case (5, .lengthDelimited):
        kind = "filter"
        var filter = try reader.message()
        while let tag = try filter.tag() {
          if tag.field == 1 { try noteTargets(&filter, tag.type) } else { try filter.skip(tag.type) }
        }
      default: try reader.skip(tag.type)
      }
    }
    target = targets.first
  }

  /// The numbers of targets of a field, packed or not.
  private mutating func noteTargets(_ reader: inout WireReader, _ type: WireType) throws(WireError) {
    guard type == .lengthDelimited else {
      if type == .varint {
        targets.append(Int(Int32(truncatingIfNeeded: try reader.varint())))
      } else {
        try reader.skip(type)
      }
      return
    }
    var ids = try reader.message()
    while !ids.isAtEnd { targets.append(Int(Int32(truncatingIfNeeded: try ids.varint()))) }
  }

  private mutating func writeRequest(_ reader: inout WireReader, writes: Int, token: Int?) throws(WireError) {
    kind = token == nil ? "commit" : "handshake"
    if token != nil { hasToken = false }
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (writes, .lengthDelimited):
        if token != nil { kind = "writes" }
        var write = try reader.message()
        try self.write(&write)
      case (4, .lengthDelimited) where token != nil: hasToken = try !reader.lengthDelimited().isEmpty
      default: try reader.skip(tag.type)
      }
    }
  }

  private mutating func write(_ reader: inout WireReader) throws(WireError) {
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): try document(&reader)
      case (2, .lengthDelimited): note(try reader.string())
      case (6, .lengthDelimited):
        var transform = try reader.message()
        try transform.each(1) { (reader: inout WireReader) throws(WireError) in note(try reader.string()) }
      default: try reader.skip(tag.type)
      }
    }
  }

  private mutating func writeResponse(_ reader: inout WireReader) throws(WireError) {
    kind = "handshake"
    hasToken = false
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (2, .lengthDelimited): hasToken = try !reader.lengthDelimited().isEmpty
      case (3, .lengthDelimited):
        kind = "results"
        count += 1
        try reader.skip(tag.type)
      default: try reader.skip(tag.type)
      }
    }
  }

  /// A request that reads: the documents or the collection that it names.
  private mutating func readRequest(_ reader: inout WireReader, _ method: String) throws(WireError) {
    kind = "request"
    switch method {
    case "GetDocument": try reader.each(1) { (reader: inout WireReader) throws(WireError) in note(try reader.string()) }
    case "BatchGetDocuments":
      try reader.each(2) { (reader: inout WireReader) throws(WireError) in note(try reader.string()) }
    case "RunQuery": try query(&reader)
    case "ListDocuments":
      var (parent, id) = ("", "")
      while let tag = try reader.tag() {
        switch (tag.field, tag.type) {
        case (1, .lengthDelimited): parent = Self.path(try reader.string())
        case (2, .lengthDelimited): id = try reader.string()
        default: try reader.skip(tag.type)
        }
      }
      collection = (parent.isEmpty ? "" : parent + "/") + id
    default: break
    }
  }

  private mutating func readResponse(_ reader: inout WireReader) throws(WireError) {
    kind = "answer"
    while let tag = try reader.tag() {
      if tag.field == 1, tag.type == .lengthDelimited {
        // A query's answer has its document here; of other messages it is a name or token, which is no document.
        let field = try reader.lengthDelimited()
        var document = WireReader(field)
        if let first = try? document.tag(), first.field == 1, first.type == .lengthDelimited,
          let name = try? document.string(), name.hasPrefix("projects/")
        {
          note(name)
        }
      } else {
        try reader.skip(tag.type)
      }
    }
  }

  /// A field that holds a document.
  private mutating func document(_ reader: inout WireReader) throws(WireError) {
    var document = try reader.message()
    try document.each(1) { (reader: inout WireReader) throws(WireError) in note(try reader.string()) }
  }

  private mutating func note(_ name: String) {
    count += 1
    if documents.count < Self.mostDocuments { documents.append(Self.path(name)) }
  }

  /// The path below the database: `cities/SF` of `projects/P/databases/D/documents/cities/SF`.
  static func path(_ name: String) -> String {
    let parts = name.split(separator: "/", maxSplits: 5, omittingEmptySubsequences: false)
    return parts.count > 5 ? String(parts[5]) : parts.count == 5 ? "" : name
  }
}

extension WireReader {
  /// Reads the fields of a number that have a length, and passes over others.
  mutating func each(
    _ number: Int, _ read: (inout WireReader) throws(WireError) -> Void
  ) throws(WireError) {
    while let tag = try tag() {
      if tag.field == number, tag.type == .lengthDelimited { try read(&self) } else { try skip(tag.type) }
    }
  }
}
