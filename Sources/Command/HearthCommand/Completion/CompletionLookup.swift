// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOptions
import CommandTransfer
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

/// The database that provides candidates.
struct CompletionPlace: Sendable {
  let datastore: any Datastore
  let database: DatabaseID
  /// Whether requests cost nothing.
  var isEmbedded = true

  /// Opens the database that the options name. Creates nothing. A database without data has no candidates.
  static func open(_ arguments: [String]) -> CompletionPlace? {
    // The command itself reports invalid options.
    guard let locations = try? StorageOptions.parse(arguments).locations, locations.hasData,
      let connection = try? locations.connect()
    else { return nil }
    return CompletionPlace(
      datastore: connection.datastore, database: connection.database, isEmbedded: locations.backend.isEmbedded)
  }
}

/// Reads candidates for an unfinished word from the database. Reads at most one page of a collection.
struct CompletionLookup: Sendable {
  typealias Candidate = CompletionEngine.Candidate
  typealias Result = CompletionEngine.Result

  /// The maximum number of candidates.
  static let limit = 100
  /// The number of documents whose fields are read.
  static let sample = 50

  let place: CompletionPlace
  let shape: CommandLineShape

  func complete(_ word: String, _ kind: ValueKind) async -> Result {
    // A failed request yields no candidates: the command itself reports the reason.
    do {
      switch kind {
      case .path: return try await paths(word)
      case .field: return Result(candidates: try await fields(word))
      case .assignment:
        if word.contains("=") || word.hasPrefix("{") { return Result() }
        return Result(
          candidates: try await fields(word).map { Candidate($0.value + "=", note: $0.note, isFinal: false) })
      case .fields: return try await last(of: word, after: [","])
      case .order: return try await orders(word)
      case .condition: return try await condition(word)
      default: return Result()
      }
    } catch {
      return Result()
    }
  }

  // MARK: Paths

  private func paths(_ word: String) async throws -> Result {
    if shape.has("--collection-group") { return Result() }
    let typed = word.hasPrefix("/") ? word.dropFirst() : word[...]
    let lead = word.hasPrefix("/") ? "/" : ""
    let slash = typed.lastIndex(of: "/")
    let parentText = slash.map { String(typed[..<$0]) } ?? ""
    let prefix = String(slash.map { typed[typed.index(after: $0)...] } ?? typed)
    let parent = parentText.isEmpty ? ResourcePath.root : try ResourcePath(validating: parentText)
    let base = lead + (parentText.isEmpty ? "" : parentText + "/")
    if parent.isCollection { return try await documents(of: parent, base, prefix) }
    let ids = try await place.datastore.listCollectionIDs(below: parent).filter { $0.hasPrefix(prefix) }
    let shown = ids.prefix(Self.limit)
    return Result(
      candidates: shown.map { Candidate("\(base)\($0)/", label: "\($0)/", note: "collection", isFinal: false) },
      isCut: ids.count > shown.count)
  }

  /// Reads only document names, starting with the typed prefix.
  private func documents(of collection: ResourcePath, _ base: String, _ prefix: String) async throws -> Result {
    var query = Query(path: collection, limit: Self.limit + 1)
    if !prefix.isEmpty {
      query.start = bound(collection, prefix, isInclusive: true)
      query.end = bound(collection, prefix + "\u{10FFFF}", isInclusive: false)
    }
    var keys = Set(try await place.datastore.keys(of: query.target))
    // A server would read the whole collection to find missing documents.
    if place.isEmbedded, keys.count <= Self.limit {
      keys.formUnion(try await place.datastore.missingDocuments(in: collection))
    }
    let ids = keys.sorted().map(\.documentID).filter { $0.hasPrefix(prefix) }
    let shown = ids.prefix(Self.limit)
    return Result(
      candidates: shown.map { Candidate(base + $0, label: $0, note: "document") }, isCut: ids.count > shown.count)
  }

  private func bound(_ collection: ResourcePath, _ id: String, isInclusive: Bool) -> Bound {
    Bound(
      values: [.reference(place.database, DocumentKey(unchecked: collection.appending(id)))], isInclusive: isInclusive)
  }

  // MARK: Fields

  /// The query for the collection that the command names, or for the collection of the document that it names.
  private var query: Query? {
    guard let path = shape.positionals.first else { return nil }
    if shape.has("--collection-group") { return Query(path: .root, collectionGroup: path, limit: Self.sample) }
    // Unfinished words may be invalid paths, and have no candidates.
    guard let path = try? DataPath.any(path) else { return nil }
    if path.isCollection { return Query(path: path, limit: Self.sample) }
    guard let key = DocumentKey(path) else { return nil }
    return Query(path: key.path.parent, limit: Self.sample)
  }

  /// The fields of some documents, most frequent first.
  private func fields(_ prefix: String) async throws -> [Candidate] {
    guard let query else { return [] }
    var census = FieldCensus()
    for document in try await place.datastore.runQuery(query.target) { census.add(document) }
    let found = census.byFrequency.filter { $0.path.canonicalText.hasPrefix(prefix) }.prefix(Self.limit)
    return found.map { Candidate($0.path.canonicalText, note: $0.ranked.map(\.name).joined(separator: ", ")) }
  }

  private func orders(_ word: String) async throws -> Result {
    if let colon = word.lastIndex(of: ":") {
      let field = word[..<colon]
      let all = ["asc", "desc"].map { (way: String) in Candidate("\(field):\(way)", label: way) }
      return Result(candidates: all.filter { $0.value.hasPrefix(word) })
    }
    let fields = try await fields(word)
    guard fields.count == 1, fields[0].value == word else { return Result(candidates: fields) }
    return Result(candidates: fields + [Candidate(word + ":desc", note: "descending")])
  }

  /// Completes the field name after the last of the given characters.
  private func last(of word: String, after signs: Set<Character>) async throws -> Result {
    let start = word.lastIndex { signs.contains($0) }.map(word.index(after:)) ?? word.startIndex
    let head = word[..<start]
    let fields = try await fields(String(word[start...]))
    return Result(candidates: fields.map { Candidate(head + $0.value, label: $0.value, note: $0.note, isFinal: false) })
  }

  /// Completes a condition. Field names are expected at its start and after a conjunction or parenthesis. Operators are
  /// expected after a field name.
  private func condition(_ word: String) async throws -> Result {
    var words = word.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    let partial = words.removeLast()
    let before = words.filter { !$0.isEmpty }
    let parentheses = partial.prefix { $0 == "(" }
    let head = String(word.dropLast(partial.count)) + parentheses
    let rest = String(partial.dropFirst(parentheses.count))
    let isField = before.last.map { ["and", "or", "&&", "||", "("].contains($0.lowercased()) } ?? true
    if isField {
      let fields = try await fields(rest)
      return Result(
        candidates: fields.map { Candidate(head + $0.value, label: $0.value, note: $0.note, isFinal: false) })
    }
    let isOperator = before.count == 1 || ["and", "or", "&&", "||"].contains(before[before.count - 2].lowercased())
    guard isOperator else { return Result() }
    let operators = Self.operators.filter { $0.sign.hasPrefix(rest) }
    return Result(
      candidates: operators.map { Candidate(head + $0.sign, label: $0.sign, note: $0.note, isFinal: false) })
  }

  private static let operators: [(sign: String, note: String)] = [
    ("==", "equal"), ("!=", "not equal"), ("<", "less"), ("<=", "at most"), (">", "greater"), (">=", "at least"),
    ("in", "one of [a, b]"), ("not in", "none of [a, b]"), ("contains", "an array with this element"),
    ("contains-any", "an array with one of [a, b]"),
  ]
}
