// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The fields of a document as lines that can be folded, the backend's value beside the local one.
struct FieldTree {
  struct Line: Hashable {
    var path: [String]
    var depth: Int
    var name: String
    var server: Value?
    var local: Value?
    /// `nil` for a leaf.
    var isOpen: Bool?

    enum Change: Hashable { case none, added, modified, removed }
    var change: Change
  }

  var folding: Detail.Folding
  var toggled: Set<[String]>

  /// Containers with more entries start folded, unless something in them changed.
  private static let smallContainer = 4

  func lines(server: Fields?, local: Fields?) -> [Line] {
    var lines: [Line] = []
    collectMap(server ?? Fields(), local ?? Fields(), below: [], into: &lines)
    return lines
  }

  private func collectMap(_ server: Fields, _ local: Fields, below path: [String], into lines: inout [Line]) {
    for name in FieldChange.mergedNames(server, local) {
      collect(name, server[name], local[name], below: path, into: &lines)
    }
  }

  private func collect(
    _ name: String, _ server: Value?, _ local: Value?, below parent: [String], into lines: inout [Line]
  ) {
    let path = parent + [name]
    let change: Line.Change =
      server == nil ? .added : local == nil ? .removed : server == local ? .none : .modified
    let count = max(Self.count(server) ?? 0, Self.count(local) ?? 0)
    var line = Line(
      path: path, depth: parent.count, name: name, server: server, local: local, isOpen: nil, change: change)
    guard count > 0, Self.sameShape(server, local) else {
      lines.append(line)
      return
    }
    let isOpen = isOpen(path, count: count, isChanged: change != .none)
    line.isOpen = isOpen
    lines.append(line)
    guard isOpen else { return }
    switch (server, local) {
    case (.map(let a)?, .map(let b)?): collectMap(a, b, below: path, into: &lines)
    case (.map(let a)?, nil): collectMap(a, Fields(), below: path, into: &lines)
    case (nil, .map(let b)?): collectMap(Fields(), b, below: path, into: &lines)
    default:
      let (a, b) = (Self.elements(server), Self.elements(local))
      for index in 0..<max(a.count, b.count) {
        collect(
          "\(index)", index < a.count ? a[index] : nil, index < b.count ? b[index] : nil, below: path, into: &lines)
      }
    }
  }

  private func isOpen(_ path: [String], count: Int, isChanged: Bool) -> Bool {
    let byDefault =
      switch folding {
      case .open: true
      case .folded: false
      case .automatic: count <= Self.smallContainer || (isChanged && count <= 40)
      }
    return byDefault != toggled.contains(path)
  }

  private static func count(_ value: Value?) -> Int? {
    switch value {
    case .map(let fields)?: fields.count
    case .array(let values)?: values.count
    default: nil
    }
  }

  private static func elements(_ value: Value?) -> [Value] {
    if case .array(let values)? = value { values } else { [] }
  }

  /// Whether both sides are maps, both arrays, or one of them is absent.
  private static func sameShape(_ left: Value?, _ right: Value?) -> Bool {
    switch (left, right) {
    case (.map?, .map?), (.array?, .array?), (.map?, nil), (nil, .map?), (.array?, nil), (nil, .array?): true
    default: false
    }
  }
}
