// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The overlays that were written last, as they are stored: a document that is written to again, or whose write is
/// answered, has its overlay read back and decoded otherwise.
final class OverlayMemory {
  /// Names an overlay.
  struct Place: Hashable {
    private let collection: CollectionNumber
    private let user: UserNumber
    private let name: String

    init(_ collection: CollectionNumber, _ name: String, _ user: UserNumber) {
      self.collection = collection
      self.user = user
      self.name = name
    }

    static func == (left: Place, right: Place) -> Bool {
      left.collection == right.collection && left.user == right.user && left.name.equalsUTF8(right.name)
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(collection)
      name.hashUTF8(into: &hasher)
    }
  }

  /// The bound of remembered overlays; when it is reached all are forgotten.
  private static let capacity = 2048
  /// The size in bytes of the largest mutation that is remembered.
  private static let largest = 1024

  private var entries: [Place: OverlayCache.Entry] = [:]

  subscript(place: Place) -> OverlayCache.Entry? { entries.isEmpty ? nil : entries[place] }

  /// - Parameter size: of the encoded mutation.
  func set(_ entry: OverlayCache.Entry, size: Int, at place: Place) {
    guard size <= Self.largest else { return remove(place) }
    if entries.count >= Self.capacity { entries.removeAll(keepingCapacity: true) }
    entries[place] = entry
  }

  func remove(_ place: Place) {
    if !entries.isEmpty { entries[place] = nil }
  }

  func forget() { entries = [:] }
}
