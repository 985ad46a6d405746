// SPDX-License-Identifier: Apache-2.0
package import CommandOptions
package import CommandOutput
import FirestoreJSON
package import FirestoreModel
import FirestoreProtocol
package import FirestoreQuery

/// Groups of documents that have the same values in some fields, with their document counts. Values are compared by the
/// backend's rules. For example, 1 and 1.0 are in the same group, which is shown with the first of these values that
/// was read.
package struct FieldGroups: Sendable {
  package struct Group: Sendable {
    /// The values in the order of the fields; `nil` for a field that the documents do not have.
    package let values: [Value?]
    package fileprivate(set) var documents = 0

    /// Whether the documents of this group have none of the fields.
    package var isAbsent: Bool { values.allSatisfy { $0 == nil } }

    /// Whether this group precedes another in value order. A missing field is last.
    fileprivate func precedes(_ other: Group) -> Bool {
      for (mine, theirs) in zip(values, other.values) {
        switch (mine, theirs) {
        case (nil, nil): continue
        case (nil, _?): return false
        case (_?, nil): return true
        case (let mine?, let theirs?):
          let order = mine.compare(theirs)
          if order != .equal { return order == .ascending }
        }
      }
      return false
    }
  }

  package let fields: FieldSelection
  private var groups: [[UInt8]: Group] = [:]

  package init(by fields: FieldSelection) { self.fields = fields }

  package mutating func add(_ document: Document) {
    let values = fields.paths.map { document[$0] }
    groups[Self.key(of: values), default: Group(values: values)].documents += 1
  }

  /// A group's key as bytes. Two keys are equal if all values are equal in Firestore's total order.
  private static func key(of values: [Value?]) -> [UInt8] {
    var code = OrderedCode()
    for value in values {
      code.append(value == nil ? 0.0 : 1.0)
      if let value { code.append(value) }
    }
    return code.bytes
  }

  /// The groups, largest first.
  package var ranked: [Group] {
    groups.values.sorted { left, right in
      left.documents == right.documents ? left.precedes(right) : left.documents > right.documents
    }
  }

  /// The groups in value order.
  package var sorted: [Group] { groups.values.sorted { $0.precedes($1) } }

  /// The fields that no document has.
  package var unseen: [FieldPath] {
    fields.paths.enumerated().filter { index, _ in groups.values.allSatisfy { $0.values[index] == nil } }.map(\.element)
  }

  // MARK: Reading

  /// Counts the documents in a query's result. The server sends only the grouped fields.
  package mutating func read(_ query: Query, at connection: BackendConnection) async throws(RPCStatus) {
    let projection = FieldMask(outermost: Set(fields.paths.filter { !$0.isDocumentID }))
    var pages = DocumentPages(of: query, at: connection.datastore, connection.database, projection: projection)
    while let page = try await pages.next() { for document in page { add(document) } }
  }

  // MARK: Rows

  /// The names of the cells in each row.
  /// - Parameter isCounted: whether each row has a document count.
  package func names(isCounted: Bool) -> [String] {
    let names = fields.paths.map { isCounted && $0 == FieldPath("count") ? "`count`" : $0.canonicalText }
    return names + (isCounted ? ["count"] : [])
  }

  package func row(_ group: Group, isCounted: Bool, in database: DatabaseID) -> ListedRow {
    let texts = group.values.map { value in value.map { CellText.text($0, in: database) } }
    var cells = zip(names(isCounted: isCounted), texts).map { ListedRow.Cell($0, $1) }
    var found = Fields()
    for (path, value) in zip(fields.paths, group.values) { if let value { found[path] = value } }
    let json = DocumentJSON.line(of: found, relativeTo: database)
    let line = texts.map { $0 ?? "(none)" }.joined(separator: "  ")
    guard isCounted else { return ListedRow(cells: cells, json: json, line: ShownText(line)) }
    cells.append(ListedRow.Cell("count", group.documents))
    return ListedRow(
      cells: cells, json: "{\"by\": \(json), \"count\": \(group.documents)}",
      line: "\(String(group.documents))  \(line)")
  }
}
