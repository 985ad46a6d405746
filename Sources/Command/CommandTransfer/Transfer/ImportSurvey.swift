// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreModel

/// The collections that the documents of an input come from, found before any of them is written.
struct ImportSurvey {
  /// The collections at the root, each with the innermost collection in which all of its documents lie.
  private(set) var collections: [String: ResourcePath] = [:]
  /// The renamed paths at which the input has documents.
  private(set) var found: Set<ResourcePath> = []

  /// Reads a whole input. Documents that cannot be read are left for the import to report.
  init(_ input: consuming ImportInput, _ rules: ImportRules) {
    var input = input
    while let batch = try? input.next() {
      for record in batch.records { if let path = rules.path(of: record) { add(path, rules) } }
    }
  }

  /// Makes the survey of one document.
  init(_ path: ResourcePath) { add(path, nil) }

  private mutating func add(_ path: ResourcePath, _ rules: ImportRules?) {
    for rename in rules?.paths.renames ?? [] where rename.from.isPrefix(of: path) { found.insert(rename.from) }
    let root = path.segments.first.map(String.init) ?? ""
    collections[root] = collections[root].map { $0.common(with: path.parent) } ?? path.parent
  }

  /// The rename for the collection that holds all documents that go into another one; `nil` if there are no documents.
  /// - Throws: if it is not one collection, with the options to type.
  func only(into target: ResourcePath, of name: String) throws(CommandFailure) -> CollectionRename? {
    guard let (root, inner) = collections.first else { return nil }
    if collections.count > 1 {
      let names = collections.keys.sorted()
      let shown = names.prefix(3).joined(separator: ", ") + (names.count > 3 ? " and \(names.count - 3) more" : "")
      throw CommandFailure(
        .usage,
        "\(name) is an export of several collections (\(shown)). Say what goes where in place of --into, as in "
          + "\(CollectionRename(ResourcePath(names[0]), target).text); others stay where they were.")
    }
    if inner.count > 1 {
      let outer = CollectionRename(ResourcePath(root), target)
      throw CommandFailure(
        .usage,
        "all documents of \(name) lie in \(inner). Say which is meant in place of --into: "
          + "\(CollectionRename(inner, target).text), or with what is above it \(outer.text).")
    }
    return CollectionRename(inner, target)
  }

  /// - Throws: for a renamed path without documents, which would otherwise keep their paths.
  func check(_ renames: [CollectionRename], of name: String) throws(CommandFailure) {
    if collections.isEmpty { return }
    for rename in renames where !found.contains(rename.from) {
      let names = collections.keys.sorted().prefix(8).joined(separator: ", ")
      throw CommandFailure(
        .usage, "nothing in \(name) lies at \(rename.from), of which \(rename.text) speaks. It has \(names).")
    }
  }
}

extension ResourcePath {
  /// The innermost collection that two collections are or lie below.
  fileprivate func common(with other: ResourcePath) -> ResourcePath {
    let shared = zip(segments, other.segments).prefix { $0 == $1 }.map { String($0.0) }
    return ResourcePath(segments: shared.count % 2 == 0 ? Array(shared.dropLast()) : shared)
  }
}
