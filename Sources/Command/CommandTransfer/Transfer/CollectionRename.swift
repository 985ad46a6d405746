// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
package import FirestoreModel
import FirestoreText

/// Another place for the documents that an export has at a path and below it: `cities=cities2`, as `--rename` takes it.
package struct CollectionRename: Codable, Hashable, Sendable {
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

  /// The option as it is typed.
  package var text: String { "--rename " + ShellText.typed("\(from)=\(to)") }
}

/// The rules that map the paths in a file to the paths of imported documents.
package struct PathRules: Hashable, Sendable {
  package var renames: [CollectionRename] = []
  /// Whether all documents must lie in the one renamed collection.
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
