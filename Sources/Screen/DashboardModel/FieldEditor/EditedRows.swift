// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// One line of the field editor.
package struct EditedRow: Hashable, Sendable {
  /// Empty for the line that adds a field.
  package var path: [String]
  /// Whether the row is unfolded; `nil` for a field without lines of its own.
  package var isOpen: Bool?

  package var isAddition: Bool { path.isEmpty }
  package var depth: Int { max(0, path.count - 1) }
}

/// All lines of the field editor: present fields, removed ones, and those that the server computes.
struct EditedRows {
  let edited: EditedFields
  /// The containers whose folding differs from the default for their size.
  let toggled: Set<[String]>

  private static let smallContainer = 4

  var list: [EditedRow] {
    var rows: [EditedRow] = []
    collect(edited.base, edited.fields, below: [], into: &rows)
    rows.append(EditedRow(path: []))
    return rows
  }

  private func collect(_ base: Fields, _ now: Fields, below parent: [String], into rows: inout [EditedRow]) {
    // Both are in order, so that neither has to be searched.
    var (old, new) = (base.entries[...], now.entries[...])
    while let name = [old.first?.name, new.first?.name].compactMap(\.self).min(by: { $0.compareUTF8($1) == .ascending })
    {
      var (before, after): (Value?, Value?)
      if let entry = old.first, entry.name.equalsUTF8(name) {
        before = entry.value
        old = old.dropFirst()
      }
      if let entry = new.first, entry.name.equalsUTF8(name) {
        after = entry.value
        new = new.dropFirst()
      }
      collect(before, after, parent + [name], into: &rows)
    }
    var computed: Set<String> = []
    for transform in edited.transforms {
      let path = transform.path.segments
      guard path.count > parent.count, path.starts(with: parent) else { continue }
      let name = path[parent.count]
      guard base[name] == nil, now[name] == nil, computed.insert(name).inserted else { continue }
      collect(nil, nil, parent + [name], into: &rows)
    }
  }

  private func collect(_ base: Value?, _ now: Value?, _ path: [String], into rows: inout [EditedRow]) {
    var row = EditedRow(path: path)
    switch now {
    case .map(let fields) where !fields.isEmpty || isComputedBelow(path):
      row.isOpen = isOpen(path, count: fields.count)
      rows.append(row)
      guard row.isOpen == true else { return }
      var before = Fields()
      if case .map(let old)? = base { before = old }
      collect(before, fields, below: path, into: &rows)
    case .array(let values) where !values.isEmpty:
      row.isOpen = isOpen(path, count: values.count)
      rows.append(row)
      guard row.isOpen == true else { return }
      for (index, value) in values.enumerated() {
        collect(base?.child("\(index)"), value, path + ["\(index)"], into: &rows)
      }
    case nil where isComputedBelow(path):
      row.isOpen = isOpen(path, count: 1)
      rows.append(row)
      if row.isOpen == true { collect(Fields(), Fields(), below: path, into: &rows) }
    default: rows.append(row)
    }
  }

  private func isOpen(_ path: [String], count: Int) -> Bool { (count <= Self.smallContainer) != toggled.contains(path) }

  private func isComputedBelow(_ path: [String]) -> Bool {
    edited.transforms.contains { $0.path.segments.count > path.count && $0.path.segments.starts(with: path) }
  }
}
