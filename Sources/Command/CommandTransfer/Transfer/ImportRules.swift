// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
package import FirestoreExports
package import FirestoreJSON
package import FirestoreModel
import FirestoreProtocol
import FirestoreText

/// The rules by which an import converts documents of an input file to mutations.
package struct ImportRules: Sendable {
  package let database: DatabaseID
  /// The collection of plain documents; `nil` if each record contains its path.
  package var collection: ResourcePath?
  /// The field that contains the id of a plain document.
  package let idField: FieldPath?
  /// The columns of rows; `nil` for JSON.
  package var columns: DelimitedColumns?
  /// The rules that change paths.
  package var paths = PathRules()
  /// The types that the user has given for fields in JSON.
  package var types: [FieldPath: ColumnType] = [:]

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

  /// The mutation for a document in an export. References into the document's own database are changed to the database
  /// of the import.
  package func mutation(for document: ExportedDocument) throws(ModelError) -> Mutation {
    let fields = document.fields.referring(to: database, insteadOf: document.database)
    let key = try DocumentKey(validating: paths.path(of: document.key.path).text)
    let mutation = Mutation(key: key, operation: .set(fields))
    try mutation.validateForWrite()
    return mutation
  }

  /// The mutations for a record, which is a document of an export, JSON or a row. A record with subcollections has
  /// several mutations.
  /// - Parameter forms: receives the formats of other tools that were recognized.
  package func mutations(
    of record: InputRecord, _ forms: inout RecognizedForms
  ) throws(Rejection.Reason) -> [Mutation] {
    guard let entity = record.entity else {
      do throws(JSONError) { return try mutations(for: record, &forms) } catch { throw .unreadable(error) }
    }
    do throws(ExportError) {
      let document = try entity.document()
      do throws(ModelError) { return [try mutation(for: document)] } catch {
        throw ExportError(.unsupported, entity.file, at: entity.offset, error.message)
      }
    } catch {
      throw .unsupported(error)
    }
  }

  /// - Throws: `JSONError` with the position in the whole file.
  package func mutations(
    for record: InputRecord, _ forms: inout RecognizedForms
  ) throws(JSONError) -> [Mutation] {
    do throws(JSONError) {
      if let columns, columns.isBlank(record) { return [] }
      let syntax: JSONSyntax
      if let columns { syntax = try columns.syntax(record) } else { syntax = try Self.json(record) }
      var mutations: [Mutation] = []
      for document in try documents(of: record, syntax, &forms) {
        mutations.append(try mutation(for: document, of: syntax, &forms))
      }
      return mutations
    } catch {
      let place = record.place
      throw JSONError(
        line: place.line + error.line - 1, column: error.line == 1 ? place.column + error.column - 1 : error.column,
        reason: error.reason)
    }
  }

  private func mutation(
    for document: PlacedDocument, of syntax: JSONSyntax, _ forms: inout RecognizedForms
  ) throws(JSONError) -> Mutation {
    var data = document.data
    if columns == nil {
      var values = ForeignValues(types: types, isOwn: document.isOwn, database: database)
      data = try values.document(data)
      forms.merge(values.recognized)
    }
    let (fields, transforms) = try DocumentJSON.fields(of: data, database: database)
    do throws(ModelError) {
      let path = document.isPlain ? document.path : try paths.path(of: document.path)
      let key = try DocumentKey(validating: path.text)
      let mutation = Mutation(key: key, operation: .set(fields), transforms: transforms)
      try mutation.validateForWrite()
      return mutation
    } catch {
      throw syntax.error(error.message)
    }
  }

  private static func json(_ record: InputRecord) throws(JSONError) -> JSONSyntax {
    guard let text = String(validating: record.bytes, as: UTF8.self) else {
      throw JSONError(line: 1, column: 1, reason: "This is not UTF-8.")
    }
    return try JSONSyntax(parsing: text)
  }

  // MARK: Places

  /// The documents of a record. Their paths are determined by the record or by the options.
  private func documents(
    of record: InputRecord, _ syntax: JSONSyntax, _ forms: inout RecognizedForms
  ) throws(JSONError) -> [PlacedDocument] {
    if record.collection != nil {
      let path = try Self.collection(of: record, syntax).appending(try id(of: record, syntax, isListed: true))
      return try PlacedDocument(path: path, data: syntax).withSubcollections()
    }
    guard let collection else {
      if let name = record.name {
        return try PlacedDocument(path: ResourcePath(try Self.text(name)), data: syntax).withSubcollections()
      }
      if DocumentEnvelope.isEmpty(syntax) { return [] }
      guard let envelope = try DocumentEnvelope(syntax, isLenient: true) else { throw Self.pathless(syntax) }
      if let form = envelope.form.text { forms.add(form, nil, at: []) }
      let document = PlacedDocument(
        path: ResourcePath(envelope.path), data: envelope.data, isOwn: envelope.form.isExact)
      return envelope.form.isExact ? [document] : try document.withSubcollections()
    }
    if columns == nil, record.name == nil, let path = Self.exportedPath(syntax) {
      let rename = CollectionRename(path.parent, collection)
      throw syntax.error(
        "With --into, this exported {path, data} object would become a document with these two fields. Remove --into, "
          + "or use \(rename.text) to import to another place.")
    }
    if record.name == nil, idField == nil, syntax["_id"]?["$oid"] == nil,
      let field = ["id", "_id", "uid"].first(where: { syntax[$0]?.string != nil })
    {
      forms.add("with derived IDs. To use the field \(field), add --id-field \(field)", nil, at: [])
    }
    let path = collection.appending(try id(of: record, syntax))
    return try PlacedDocument(path: path, data: syntax, isPlain: true).withSubcollections()
  }

  private static func pathless(_ syntax: JSONSyntax) -> JSONError {
    let id = ["id", "_id", "uid"].first { syntax[$0]?.string != nil }
    let more = id.map { " and --id-field \($0)" } ?? ""
    return syntax.error(
      "The document has no path. Expected {\"path\": …, \"data\": …}, as 'hearth export' writes it. "
        + "For plain documents, add --into COLLECTION\(more).")
  }

  private static func collection(of record: InputRecord, _ syntax: JSONSyntax) throws(JSONError) -> ResourcePath {
    let path = ResourcePath(try text(record.collection ?? ""))
    if path.isDocument || path.isRoot { throw syntax.error("\"\(path)\" is not the path of a collection.") }
    return path
  }

  /// The path of a document that `export`, `get --json` or another tool has written; `nil` for any other JSON.
  static func exportedPath(_ syntax: JSONSyntax) -> ResourcePath? {
    guard let envelope = (try? DocumentEnvelope(syntax, isLenient: false)) ?? nil,
      let key = try? DocumentKey(validating: envelope.path)
    else { return nil }
    return key.path
  }

  /// The path of a record in its export; `nil` if the record cannot be read or has no path.
  package func path(of record: InputRecord) -> ResourcePath? {
    if let entity = record.entity { return (try? entity.document())?.key.path }
    if let columns { return (try? columns.syntax(record)).flatMap(Self.exportedPath) }
    if record.collection != nil {
      let id = record.name.flatMap { try? Self.text($0) } ?? "_"
      return (try? Self.collection(of: record, JSONSyntax(.null)))?.appending(id)
    }
    if let name = record.name { return (try? Self.text(name)).map { ResourcePath($0) } }
    return (try? Self.json(record)).flatMap(Self.exportedPath)
  }

  /// The path of a document whose name precedes it in the file; `nil` for other documents.
  func outerPath(of record: InputRecord) -> ResourcePath? {
    guard let name = record.name, let id = try? Self.text(name) else { return nil }
    if record.collection != nil { return path(of: record) }
    return collection?.appending(id) ?? ResourcePath(id)
  }

  /// - Parameter isListed: whether the file lists the documents under the name of their collection. In this case the
  ///   `id` field is the document's id.
  private func id(of record: InputRecord, _ syntax: JSONSyntax, isListed: Bool = false) throws(JSONError) -> String {
    if let name = record.name { return try checked(try Self.text(name), syntax) }
    guard let idField else {
      if let id = syntax["_id"]?["$oid"]?.string { return try checked(id, syntax) }
      if isListed, let id = syntax["id"] ?? syntax["_id"] {
        if let text = id.string { return try checked(text, id) }
        if case .integer(let number) = id.kind { return String(number) }
      }
      return Self.derivedID(of: record)
    }
    var found: JSONSyntax? = syntax
    for segment in idField.segments { found = found?[segment] }
    switch found?.kind {
    case .string(let id)?: return try checked(id, found ?? syntax)
    case .integer(let number)?: return String(number)
    case .object? where found?["$oid"]?.string != nil: return try checked(found?["$oid"]?.string ?? "", syntax)
    case nil: throw syntax.error("The document has no field \(idField.canonicalText) for its id.")
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

  /// An id that is derived from the record and its line, so that a repeated import creates no duplicates. It has 20
  /// letters and digits, like automatic ids.
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

/// A document, and the path that the file has for it.
private struct PlacedDocument {
  var path: ResourcePath
  var data: JSONSyntax
  /// Whether all values are in Hearth's format.
  var isOwn = false
  /// Whether the path is determined only by the options.
  var isPlain = false

  /// The document, and the documents of its subcollections. Some tools write subcollections among the fields of a
  /// document.
  func withSubcollections() throws(JSONError) -> [PlacedDocument] {
    guard case .object(let members) = data.kind, members.contains(where: { Self.nested($0) != nil }) else {
      return [self]
    }
    var (own, inner) = ([JSONSyntax.Member](), [PlacedDocument]())
    for member in members {
      guard let collections = Self.nested(member) else {
        own.append(member)
        continue
      }
      for collection in collections { inner += try documents(in: collection) }
    }
    var document = self
    document.data.kind = .object(own)
    return [document] + inner
  }

  /// The collections in a member, which are listed by id, or by path as in the format of firestore-export-import.
  private static func nested(_ member: JSONSyntax.Member) -> [JSONSyntax.Member]? {
    guard case .object(let collections) = member.value.kind else { return nil }
    if InputLayout.markers.contains(member.name) { return collections }
    let isByPath = member.name == "subCollection" && !collections.isEmpty
    return isByPath && collections.allSatisfy { $0.name.contains("/") } ? collections : nil
  }

  private func documents(in collection: JSONSyntax.Member) throws(JSONError) -> [PlacedDocument] {
    guard case .object(let members) = collection.value.kind else {
      throw collection.value.error(
        "Expected an object with the documents of \(collection.name), keyed by id, found \(collection.value.kindName).")
    }
    let name = collection.name.split(separator: "/").last.map(String.init) ?? collection.name
    var found: [PlacedDocument] = []
    for member in members {
      if let reason = ResourcePath.objection(to: member.name, isCollectionID: false) {
        throw member.value.error("The id is invalid: \(reason)")
      }
      var document = self
      (document.path, document.data) = (path.appending(name).appending(member.name), member.value)
      found += try document.withSubcollections()
    }
    return found
  }
}

/// A rename: documents at and below a path get another path. The syntax is that of `--rename`: `cities=cities2`.
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

  /// - Returns: the new path; `nil` for a path that is neither `from` nor below it.
  package func path(of path: ResourcePath) -> ResourcePath? {
    guard from.isPrefix(of: path) else { return nil }
    let segments = to.segments + path.segments.dropFirst(from.count)
    return ResourcePath(segments: segments.map(String.init))
  }

  /// The option as you would type it.
  package var text: String { "--rename " + ShellText.typed("\(from)=\(to)") }
}

/// The rules that convert paths in a file to the paths of the imported documents.
package struct PathRules: Hashable, Sendable {
  package var renames: [CollectionRename] = []
  /// Whether every document must be in the only collection that is renamed.
  var isOnlyRenamed = false

  package init(renames: [CollectionRename] = [], isOnlyRenamed: Bool = false) {
    (self.renames, self.isOnlyRenamed) = (renames, isOnlyRenamed)
  }

  /// - Throws: for a path that is outside the only renamed collection.
  package func path(of path: ResourcePath) throws(ModelError) -> ResourcePath {
    // The innermost rename applies.
    let best = renames.filter { $0.from.isPrefix(of: path) }.max { $0.from.count < $1.from.count }
    if let found = best?.path(of: path) { return found }
    guard isOnlyRenamed, let only = renames.first else { return path }
    throw ModelError(
      "\(path) is not in \(only.from), unlike the documents before it. Replace --into with \(only.text) "
        + "and a --rename for each other collection.")
  }
}
