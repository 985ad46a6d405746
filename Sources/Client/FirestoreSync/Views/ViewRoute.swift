// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The views of one collection or group, found by a value that their documents have: among many queries most ask for
/// another value than a document has, and are not looked at.
struct ViewRoute: Sendable {
  /// The views whose queries have no condition that tells them apart.
  private var others: [ViewID] = []
  private var byValue: [FieldPath: [Value: [ViewID]]] = [:]
  /// The views with a condition that are to be asked about other documents as well, since they show some.
  private(set) var occupied: Set<ViewID> = []

  var isEmpty: Bool { others.isEmpty && byValue.isEmpty }

  mutating func add(_ id: ViewID, _ equality: ViewTable.Equality?) {
    guard let equality else { return others.append(id) }
    byValue[equality.path, default: [:]][equality.value, default: []].append(id)
  }

  mutating func remove(_ id: ViewID, _ equality: ViewTable.Equality?) {
    occupied.remove(id)
    guard let equality else { return others.removeAll { $0 == id } }
    byValue[equality.path]?[equality.value]?.removeAll { $0 == id }
    if byValue[equality.path]?[equality.value]?.isEmpty == true { byValue[equality.path]?[equality.value] = nil }
    if byValue[equality.path]?.isEmpty == true { byValue[equality.path] = nil }
  }

  mutating func setOccupied(_ id: ViewID, _ isOccupied: Bool) {
    if isOccupied { occupied.insert(id) } else { occupied.remove(id) }
  }

  /// The views that a document may match.
  func candidates(for document: Document) -> [ViewID] {
    if byValue.isEmpty { return others }
    var ids = others
    for (path, views) in byValue {
      if let value = document[path], let equal = views[value] { ids += equal }
    }
    return ids
  }
}
