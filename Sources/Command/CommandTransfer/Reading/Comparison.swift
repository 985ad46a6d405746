// SPDX-License-Identifier: Apache-2.0
import ByteCompression
package import CommandOptions
package import CommandOutput
import FirestoreBackend
import FirestoreExports
import FirestoreJSON
package import FirestoreModel
import FirestoreProtocol
import Foundation

import struct Hearth.Backend

/// Compares two sequences of documents in path order.
package struct Comparison {
  package struct Outcome: Hashable, Sendable {
    package var removed = 0
    package var added = 0
    package var modified = 0
    package var equal = 0

    package init(removed: Int = 0, added: Int = 0, modified: Int = 0, equal: Int = 0) {
      (self.removed, self.added, self.modified, self.equal) = (removed, added, modified, equal)
    }

    package var count: Int { removed + added + modified + equal }
    package var differs: Bool { removed + added + modified > 0 }
  }

  /// The number of leading segments that are removed from the paths of each side.
  package let prefixes: (before: Int, after: Int)

  package init(prefixes: (before: Int, after: Int)) {
    self.prefixes = prefixes
  }

  /// - Parameters:
  ///   - body: called with each difference, in path order.
  ///   - progress: called with the number of compared documents.
  package func run(
    _ before: consuming ComparedDocuments, _ after: consuming ComparedDocuments,
    _ body: (DocumentDifference) throws -> Void, progress: (Int) -> Void = { _ in }
  ) async throws -> Outcome {
    var outcome = Outcome()
    var (before, after) = (before, after)
    var (old, new) = (try await before.next(), try await after.next())
    while old != nil || new != nil {
      progress(outcome.count)
      let paths = (old.map { relative($0.key, prefixes.before) }, new.map { relative($0.key, prefixes.after) })
      switch Self.order(paths.0, paths.1) {
      case .ascending:
        if let path = paths.0, let data = old?.data {
          outcome.removed += 1
          try body(DocumentDifference(path: path, kind: .removed(Self.text(data, before.database))))
        }
        old = try await before.next()
      case .descending:
        if let path = paths.1, let data = new?.data {
          outcome.added += 1
          try body(DocumentDifference(path: path, kind: .added(Self.text(data, after.database))))
        }
        new = try await after.next()
      case .equal:
        if let path = paths.0, let old, let new {
          let differences = Self.differences((old.data, before.database), (new.data, after.database))
          if differences.isEmpty {
            outcome.equal += 1
          } else {
            outcome.modified += 1
            try body(DocumentDifference(path: path, kind: .modified(differences)))
          }
        }
        (old, new) = (try await before.next(), try await after.next())
      }
    }
    return outcome
  }

  private func relative(_ key: DocumentKey, _ prefix: Int) -> ResourcePath {
    prefix == 0 ? key.path : ResourcePath(segments: key.path.segments.dropFirst(prefix).map(String.init))
  }

  /// Compares two paths. If a side has no more documents, the other side comes first.
  private static func order(_ before: ResourcePath?, _ after: ResourcePath?) -> Ordering {
    guard let before else { return .descending }
    guard let after else { return .ascending }
    return before.compare(after)
  }

  private static func differences(
    _ before: (data: DocumentData, database: DatabaseID), _ after: (data: DocumentData, database: DatabaseID)
  ) -> [FieldDifference] {
    if before.data.encoded.bytes == after.data.encoded.bytes, before.database == after.database { return [] }
    return FieldDifference.between(
      FieldDifference.Side(fields: before.data.fields, database: before.database),
      FieldDifference.Side(fields: after.data.fields, database: after.database))
  }

  private static func text(_ data: DocumentData, _ database: DatabaseID) -> String {
    DocumentJSON.line(of: data.fields, relativeTo: database)
  }
}

/// One side of a comparison, as given on the command line.
package enum ComparedSide: Sendable {
  /// A file; `-` is standard input.
  case file(String)
  /// - Parameters:
  ///   - path: the path in the database; the root for the whole database.
  ///   - time: the read time; `nil` for now.
  case database(StorageOptions.Locations, ResourcePath, at: Timestamp?)

  /// Parses the text. If a file of documents or a data folder with this name exists, it is used. Otherwise the text is
  /// a location such as `connection:prod`.
  package init(_ text: String, in locations: StorageOptions.Locations) throws(CommandFailure) {
    let text = BackupFolder.documents(at: text)
    if text == "-" || ImportInput.isFile(text) || ExportLocation.isExport(text) {
      self = .file(text)
      return
    }
    var place = PlaceText(text)
    if place.database == nil, let folder = place.path,
      LocalBackend.exists(in: Backend.dataFolder(of: folder))
    {
      (place.database, place.path) = (.folder(folder), nil)
    }
    if case .folder(let folder) = place.database, !LocalBackend.exists(in: Backend.dataFolder(of: folder)) {
      throw CommandFailure(.noInput, "no file or data folder \(folder).")
    }
    if place.database == nil, let path = place.path,
      path.hasPrefix("~") || path.contains(".json") || CompressionFormat(fileName: path) != nil
    {
      throw CommandFailure(.noInput, "no file or data folder \(path).")
    }
    let named = try NamedPlace(place, in: locations)
    self = .database(named.locations, named.path ?? .root, at: named.time)
  }

  /// The same side at another read time.
  package func at(_ time: Timestamp) throws(CommandFailure) -> ComparedSide {
    guard case .database(let locations, let path, nil) = self else {
      throw CommandFailure(.usage, "--at needs a path without a time.")
    }
    return .database(locations, path, at: time)
  }

  /// The path in a database; `nil` for a file and for a whole database.
  package var path: ResourcePath? {
    guard case .database(_, let path, _) = self, !path.isRoot else { return nil }
    return path
  }

  /// The documents in path order.
  /// - Parameter path: the path whose descendants are compared.
  package func documents(below path: ResourcePath, in database: DatabaseID) throws -> ComparedDocuments {
    switch self {
    case .database(let locations, _, let time):
      try locations.requireData()
      let connection = try locations.connect().at(time)
      let walk = DocumentWalk(at: connection.datastore, connection.database, isRecursive: true)
      return ComparedDocuments(walk: DocumentWalk.Iterator(walk, path), connection.database)
    case .file(let name):
      return ComparedDocuments(file: try Self.read(name, database).filter { path.isPrefix(of: $0.key.path) }, database)
    }
  }

  /// All documents in a file by path. If several have the same path, the last one is used.
  private static func read(_ file: String, _ database: DatabaseID) throws -> [(key: DocumentKey, data: DocumentData)] {
    let named = TransferFormat(input: file)
    var input = try ImportInput(file, named)
    let form = try input.recognize(file, named == .google ? named : nil, into: nil)
    let format = form.format
    var rules = ImportRules(database: database, collection: form.collection, idField: nil)
    var found: [DocumentKey: DocumentData] = [:]
    var forms = RecognizedForms()
    do {
      if format.delimiter != nil { try input.part(by: nil) }
      if let delimiter = input.delimiter {
        rules.columns = try DelimitedColumns(input.sample(), delimiter, isPlain: false, types: [:], in: database)
      }
      while let batch = try input.next() {
        for (record, mutation) in try batch.records.flatMap({ record in
          try rules.mutations(of: record, &forms).map { (record, $0) }
        }) {
          guard case .set(let fields) = mutation.operation, mutation.transforms.isEmpty else {
            throw JSONError(
              line: record.place.line, column: record.place.column,
              reason: "A value that the server computes cannot be compared.")
          }
          found[mutation.key] = DocumentData(encoded: EncodedFields(fields))
        }
      }
    } catch let error as JSONError {
      throw CommandFailure(.badData, "\(input.name), \(error)")
    } catch let reason as Rejection.Reason {
      throw CommandFailure(.badData, "\(input.name), \(reason.text)")
    }
    return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}

/// The documents of one side, in order.
package struct ComparedDocuments {
  private enum Source {
    case file(ArraySlice<(key: DocumentKey, data: DocumentData)>)
    case walk(DocumentWalk.Iterator)
  }

  let database: DatabaseID
  private var source: Source

  init(file documents: [(key: DocumentKey, data: DocumentData)], _ database: DatabaseID) {
    self.database = database
    source = .file(documents[...])
  }

  init(walk: DocumentWalk.Iterator, _ database: DatabaseID) {
    self.database = database
    source = .walk(walk)
  }

  mutating func next() async throws -> (key: DocumentKey, data: DocumentData)? {
    switch source {
    case .file(var documents):
      let first = documents.popFirst()
      source = .file(documents)
      return first
    case .walk(var walk):
      let document = try await walk.next()
      source = .walk(walk)
      return document.flatMap { document in document.data.map { (document.key, $0) } }
    }
  }
}

/// A document that differs between the sides.
package struct DocumentDifference: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// The document exists only on one side. The value contains its fields as JSON.
    case removed(String)
    case added(String)
    case modified([FieldDifference])
  }

  let path: ResourcePath
  let kind: Kind

  private var name: String { path.isRoot ? "." : path.text }

  /// The difference as lines: `- path fields`, `+ path fields`, or `~ path` and a line for each field that differs.
  package var lines: [ShownText] {
    switch kind {
    case .removed(let fields): return ["- \(name)  \(json: fields)"]
    case .added(let fields): return ["+ \(name)  \(json: fields)"]
    case .modified(let differences):
      return ["~ \(name)"]
        + differences.map { difference in
          let field = difference.path.canonicalText
          switch (difference.before, difference.after) {
          case (let before?, let after?): return "    \(field): \(json: before) → \(json: after)"
          case (nil, let after?): return "    + \(field): \(json: after)"
          case (let before, nil): return "    - \(field): \(json: before ?? "")"
          }
        }
    }
  }

  package var json: String {
    let start = "{\"path\": \(DocumentLine.quoted(name)), \"type\": "
    switch kind {
    case .removed(let fields): return start + "\"removed\", \"data\": \(fields)}"
    case .added(let fields): return start + "\"added\", \"data\": \(fields)}"
    case .modified(let differences):
      let fields = differences.map { difference in
        let before = difference.before.map { ", \"before\": \($0)" } ?? ""
        let after = difference.after.map { ", \"after\": \($0)" } ?? ""
        return "{\"field\": \(DocumentLine.quoted(difference.path.canonicalText))\(before)\(after)}"
      }
      return start + "\"modified\", \"fields\": [\(fields.joined(separator: ", "))]}"
    }
  }
}

/// A field whose values differ between two versions of a document.
package struct FieldDifference: Hashable, Sendable {
  let path: FieldPath
  /// The value as JSON; `nil` if this side does not have the field. References are relative to the database of the
  /// side.
  let before: String?
  let after: String?

  /// The fields of one version of a document, and the database of the document.
  struct Side {
    var fields: Fields
    var database: DatabaseID
  }

  /// The differences in field order. If both values are maps, their fields are compared.
  static func between(_ before: Side, _ after: Side, below parent: FieldPath? = nil) -> [FieldDifference] {
    let names = Fields(before.fields.entries + after.fields.entries).entries.map(\.name)
    return names.flatMap { name -> [FieldDifference] in
      let path = parent?.appending(name) ?? FieldPath(name)
      let (old, new) = (before.fields[name], after.fields[name])
      if case .map(let old)? = old, case .map(let new)? = new {
        return between(
          Side(fields: old, database: before.database), Side(fields: new, database: after.database), below: path)
      }
      let texts = (
        old.map { DocumentJSON.line(of: $0, relativeTo: before.database) },
        new.map { DocumentJSON.line(of: $0, relativeTo: after.database) }
      )
      return texts.0 == texts.1 ? [] : [FieldDifference(path: path, before: texts.0, after: texts.1)]
    }
  }
}
