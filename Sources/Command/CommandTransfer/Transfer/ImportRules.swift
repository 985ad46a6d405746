// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
package import FirestoreExports
package import FirestoreJSON
package import FirestoreModel
import FirestoreProtocol
import FirestoreText

/// The rules that turn the documents of an input file into mutations.
package struct ImportRules: Sendable {
  package let database: DatabaseID
  /// The collection of plain documents; `nil` for records that contain their paths.
  package var collection: ResourcePath?
  /// The field that holds a plain document's id.
  package let idField: FieldPath?
  /// The columns of rows; `nil` for JSON.
  package var columns: DelimitedColumns?
  /// The mapping of paths.
  package var paths = PathRules()

  package init(
    database: DatabaseID, collection: ResourcePath? = nil, idField: FieldPath?, columns: DelimitedColumns? = nil,
    paths: PathRules = PathRules()
  ) {
    self.database = database
    self.collection = collection
    self.idField = idField
    self.columns = columns
    self.paths = paths
  }

  /// The mutation for a document of an export. References within its own database are redirected to this one.
  package func mutation(for document: ExportedDocument) throws(ModelError) -> Mutation {
    let fields = document.fields.referring(to: database, insteadOf: document.database)
    let key = try DocumentKey(validating: paths.path(of: document.key.path).text)
    let mutation = Mutation(key: key, operation: .set(fields))
    try mutation.validateForWrite()
    return mutation
  }

  /// The mutation for a record of an export, of JSON or of a row.
  package func mutation(of record: InputRecord) throws(Rejection.Reason) -> Mutation {
    guard let entity = record.entity else {
      do throws(JSONError) { return try mutation(for: record) } catch { throw .unreadable(error) }
    }
    do throws(ExportError) {
      let document = try entity.document()
      do throws(ModelError) { return try mutation(for: document) } catch {
        throw ExportError(.unsupported, entity.file, at: entity.offset, error.message)
      }
    } catch {
      throw .unsupported(error)
    }
  }

  /// - Throws: `JSONError` with the position in the whole file.
  package func mutation(for record: InputRecord) throws(JSONError) -> Mutation {
    do throws(JSONError) {
      let syntax: JSONSyntax
      if let columns { syntax = try columns.syntax(record) } else { syntax = try Self.json(record) }
      let (key, data) = try destination(of: record, syntax)
      let (fields, transforms) = try DocumentJSON.fields(of: data, database: database)
      do throws(ModelError) {
        let key = collection == nil ? try DocumentKey(validating: paths.path(of: key.path).text) : key
        let mutation = Mutation(key: key, operation: .set(fields), transforms: transforms)
        try mutation.validateForWrite()
        return mutation
      } catch {
        throw syntax.error(error.message)
      }
    } catch {
      let place = record.place
      throw JSONError(
        line: place.line + error.line - 1, column: error.line == 1 ? place.column + error.column - 1 : error.column,
        reason: error.reason)
    }
  }

  private static func json(_ record: InputRecord) throws(JSONError) -> JSONSyntax {
    guard let text = String(validating: record.bytes, as: UTF8.self) else {
      throw JSONError(line: 1, column: 1, reason: "This is not UTF-8.")
    }
    return try JSONSyntax(parsing: text)
  }

  /// The document that a record is imported to, named by the record or the options, and its data.
  private func destination(
    of record: InputRecord, _ syntax: JSONSyntax
  ) throws(JSONError) -> (DocumentKey, JSONSyntax) {
    guard let collection else {
      let (path, data) = try named(record, syntax)
      do throws(ModelError) { return (try DocumentKey(validating: path), data) } catch {
        throw syntax.error(error.message)
      }
    }
    if columns == nil, record.name == nil, let path = Self.exportedPath(syntax) {
      let rename = CollectionRename(path.parent, collection)
      throw syntax.error(
        "This is {path, data}, as export writes it, and would become a document of that. Import it without --into, or to "
          + "another place with \(rename.text).")
    }
    return (DocumentKey(unchecked: collection.appending(try id(of: record, syntax))), syntax)
  }

  /// The path and data of a record with a path: as its name in an object, or as `{"path": …, "data": …}`.
  private func named(_ record: InputRecord, _ syntax: JSONSyntax) throws(JSONError) -> (String, JSONSyntax) {
    if let name = record.name { return (try Self.text(name), syntax) }
    guard case .string(let path)? = syntax["path"]?.kind, let data = syntax["data"] else {
      throw syntax.error(
        "Expected {\"path\": …, \"data\": …} as export writes it; say --into COLLECTION for plain documents.")
    }
    return (path, data)
  }

  /// The path of a document written by `export` or `get --json`; `nil` for any other.
  static func exportedPath(_ syntax: JSONSyntax) -> ResourcePath? {
    guard case .object(let members) = syntax.kind, members.allSatisfy({ exportedNames.contains($0.name) }),
      case .string(let text)? = syntax["path"]?.kind, case .object? = syntax["data"]?.kind,
      let key = try? DocumentKey(validating: text)
    else { return nil }
    return key.path
  }

  private static let exportedNames: Set<String> = ["path", "data", "createTime", "updateTime", "pendingWrites"]

  /// The path of a record in its export; `nil` for one that is unreadable, or has no path.
  package func path(of record: InputRecord) -> ResourcePath? {
    if let entity = record.entity { return (try? entity.document())?.key.path }
    if let columns { return (try? columns.syntax(record)).flatMap(Self.exportedPath) }
    if let name = record.name { return (try? Self.text(name)).map { ResourcePath($0) } }
    return (try? Self.json(record)).flatMap(Self.exportedPath)
  }

  private func id(of record: InputRecord, _ syntax: JSONSyntax) throws(JSONError) -> String {
    if let name = record.name { return try checked(try Self.text(name), syntax) }
    guard let idField else { return Self.derivedID(of: record) }
    var found: JSONSyntax? = syntax
    for segment in idField.segments { found = found?[segment] }
    switch found?.kind {
    case .string(let id)?: return try checked(id, found ?? syntax)
    case .integer(let number)?: return String(number)
    case nil: throw syntax.error("The document has no field \(idField.canonicalText) to take its id from.")
    default: throw (found ?? syntax).error("An id must be a string or an integer.")
    }
  }

  private func checked(_ id: String, _ syntax: JSONSyntax) throws(JSONError) -> String {
    if let reason = ResourcePath.objection(to: id, isCollectionID: false) {
      throw syntax.error("The id is invalid: \(reason)")
    }
    return id
  }

  private static func text(_ json: String) throws(JSONError) -> String {
    guard case .string(let text) = try JSONSyntax(parsing: json).kind else { return json }
    return text
  }

  /// The same id for the same record at the same line, so that a repeated import does not duplicate documents. It has
  /// 20 letters and digits, like automatic ids.
  private static func derivedID(of record: InputRecord) -> String {
    let digest = MD5(record.bytes + Array("\n\(record.place.line):\(record.place.column)".utf8))
    var id = ""
    for half in [digest.low, digest.high] {
      var rest = half
      for _ in 0..<10 {
        id.append(AutomaticID.letters[Int(rest % 62)])
        rest /= 62
      }
    }
    return id
  }
}

/// Another path for the documents of an export at and below a path: `cities=cities2`, in the syntax of `--rename`.
package struct CollectionRename: Hashable, Sendable {
  package let from: ResourcePath
  package let to: ResourcePath

  package init(_ from: ResourcePath, _ to: ResourcePath) { (self.from, self.to) = (from, to) }

  package init(parsing text: String) throws {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2 else { throw TextError("Expected FROM=TO as in cities=cities2.") }
    do throws(CommandFailure) { (from, to) = (try DataPath.any(parts[0]), try DataPath.any(parts[1])) } catch {
      throw TextError(error.message)
    }
    guard from.isDocument == to.isDocument else {
      throw TextError("\(from) and \(to) must both be collections, or both documents.")
    }
  }

  /// - Returns: the new path; `nil` for a path that is not below `from`.
  package func path(of path: ResourcePath) -> ResourcePath? {
    guard from.isPrefix(of: path) else { return nil }
    let segments = to.segments + path.segments.dropFirst(from.count)
    return ResourcePath(segments: segments.map(String.init))
  }

  /// The option in its typed form.
  package var text: String { "--rename " + ShellText.typed("\(from)=\(to)") }
}

/// The rules that map the paths in a file to the paths of imported documents.
package struct PathRules: Hashable, Sendable {
  package var renames: [CollectionRename] = []
  /// Whether all documents must be in the one renamed collection.
  var isOnlyRenamed = false

  package init(renames: [CollectionRename] = [], isOnlyRenamed: Bool = false) {
    (self.renames, self.isOnlyRenamed) = (renames, isOnlyRenamed)
  }

  /// - Throws: for a path outside of the only renamed collection.
  package func path(of path: ResourcePath) throws(ModelError) -> ResourcePath {
    // The innermost rename applies.
    let best = renames.filter { $0.from.isPrefix(of: path) }.max { $0.from.count < $1.from.count }
    if let found = best?.path(of: path) { return found }
    guard isOnlyRenamed, let only = renames.first else { return path }
    throw ModelError(
      "\(path) does not lie in \(only.from), as the documents before it do: say which goes where, in place of --into, "
        + "with \(only.text) and a --rename for each other collection.")
  }
}
