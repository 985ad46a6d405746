// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// A map during the evaluation of rules. Its entries are created only when they are needed.
enum RuleMap {
  case fields(Fields)
  case entries(RuleEntries)
  /// A document: `data`, `id` and `__name__`.
  case document(RuleDocument)
  /// The data of a document.
  case data(RuleDocument)
  /// The user of the request: `uid` and `token`.
  case user(RulesUser)
  /// The known entries of a query's possible results. There may be other entries.
  case known(RuleEntries)
  /// The entries that a query names; its results are assumed to have no other entries.
  case view(RuleEntries, AbsentFields)

  /// Whether an entry that is not found is certainly missing, rather than unknown.
  var isComplete: Bool { if case .known = self { false } else { true } }

  /// The value of one entry.
  func value(_ name: FieldPath) -> RuleValue? {
    switch self {
    case .fields(let fields): fields[name.first].map { RuleValue($0) }
    case .entries(let entries), .known(let entries): entries[name.first]
    case .view(let entries, let absent): entries[name.first] ?? absent.noting(name.first)
    case .document(let document): document[name.first]
    case .data(let document): document.field(name)
    case .user(let user): user[name.first]
    }
  }

  func value(named name: String) -> RuleValue? { value(FieldPath(name)) }

  var count: Int {
    switch self {
    case .fields(let fields): fields.count
    case .entries(let entries), .known(let entries), .view(let entries, _): entries.sorted.count
    case .document: 3
    case .user: 2
    case .data(let document): document.fields.count
    }
  }

  /// All entries, by name.
  var entries: RuleEntries {
    switch self {
    case .fields(let fields): RuleEntries(fields)
    case .entries(let entries), .known(let entries), .view(let entries, _): entries
    case .document(let document): document.entries
    case .data(let document): RuleEntries(document.fields)
    case .user(let user): user.entries
    }
  }
}

extension RulesUser {
  fileprivate subscript(name: String) -> RuleValue? {
    switch name {
    case "uid": .string(uid)
    case "token": .map(.fields(claims))
    default: nil
    }
  }

  var entries: RuleEntries {
    RuleEntries(sorted: [
      RuleEntries.Entry(name: "token", value: .map(.fields(claims))),
      RuleEntries.Entry(name: "uid", value: .string(uid)),
    ])
  }
}

/// Records the fields that a decision assumed to be absent because the query does not name them.
final class AbsentFields {
  private(set) var names: [String] = []

  /// - Returns: `nil`, the value of an absent field.
  func noting(_ name: String) -> RuleValue? {
    if !names.contains(name) { names.append(name) }
    return nil
  }
}

/// Entries of a map, sorted by the UTF-8 bytes of their names.
struct RuleEntries {
  struct Entry {
    let name: String
    var value: RuleValue
  }

  private(set) var sorted: [Entry] = []

  init() {}

  /// - Parameter sorted: the entries sorted by the bytes of their names, without duplicates.
  init(sorted: [Entry]) { self.sorted = sorted }

  init(_ fields: Fields) { sorted = fields.entries.map { Entry(name: $0.name, value: RuleValue($0.value)) } }

  /// The value of one entry.
  subscript(name: String) -> RuleValue? {
    get {
      let (place, isFound) = position(of: name)
      return isFound ? sorted[place].value : nil
    }
    set {
      let (place, isFound) = position(of: name)
      switch (isFound, newValue) {
      case (true, let value?): sorted[place].value = value
      case (true, nil): sorted.remove(at: place)
      case (false, let value?): sorted.insert(Entry(name: name, value: value), at: place)
      case (false, nil): break
      }
    }
  }

  private func position(of name: String) -> (Int, Bool) {
    var low = 0
    var high = sorted.count
    while low < high {
      let middle = (low + high) / 2
      switch sorted[middle].name.compareUTF8(name) {
      case .ascending: low = middle + 1
      case .equal: return (middle, true)
      case .descending: high = middle
      }
    }
    return (low, false)
  }
}

/// A document that rules read. Decoded fields are cached for the rest of the evaluation.
final class RuleDocument {
  private let key: DocumentKey
  private let database: DatabaseID
  private let content: DocumentData
  private struct Decoded {
    let name: String
    let value: RuleValue?
  }

  /// The field that was decoded first. Most rules read only one field, so they need no array.
  @exclusivity(unchecked) private var first: Decoded?
  @exclusivity(unchecked) private var others: [Decoded] = []
  @exclusivity(unchecked) private var all: Fields?

  /// - Returns: `nil` for a document that does not exist.
  init?(_ document: Document?, in database: DatabaseID) {
    guard let document, let content = document.data else { return nil }
    self.content = content
    self.database = database
    key = document.key
  }

  subscript(name: String) -> RuleValue? {
    switch name {
    case "data": .map(.data(self))
    case "id": .string(key.documentID)
    case "__name__": .path(RulePath(database, key.path))
    default: nil
    }
  }

  var entries: RuleEntries {
    var entries = RuleEntries()
    for name in ["data", "id", "__name__"] { entries[name] = self[name] }
    return entries
  }

  func field(_ name: FieldPath) -> RuleValue? {
    if let first, first.name.equalsUTF8(name.first) { return first.value }
    if let found = others.first(where: { $0.name.equalsUTF8(name.first) }) { return found.value }
    let found = if let all { all[name.first] } else { content[name] }
    var value: RuleValue?
    if let found { value = RuleValue(found) }
    let decoded = Decoded(name: name.first, value: value)
    if first == nil { first = decoded } else { others.append(decoded) }
    return value
  }

  var fields: Fields {
    if let all { return all }
    let fields = content.fields
    all = fields
    return fields
  }
}
