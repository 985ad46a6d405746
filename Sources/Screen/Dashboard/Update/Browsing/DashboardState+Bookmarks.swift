// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreModel

extension DashboardState {
  /// Takes the letter that `m` or `'` waited for; anything else is none.
  mutating func finishBookmark(_ verb: BookmarkVerb, _ letter: Character?) -> [Effect] {
    guard let letter, letter.isLetter else { return [] }
    switch verb {
    case .set:
      guard let place = selectedPlace else {
        toast(.info, "no row is selected")
        return []
      }
      typing.mark(place, letter)
      toast(.info, "marked \(letter)")
      return []
    case .go:
      guard let place = typing.place(marked: letter) else {
        toast(.info, "nothing is marked \(letter)")
        return []
      }
      return go(to: place, letter)
    }
  }

  private var selectedPlace: Bookmark? {
    switch focus {
    case .collections: selectedItem.map { .item($0) }
    case .writes: writes.selected.map { .write($0.batch) }
    case .feed: selectedEvent.map { .feedRow($0.id) }
    case .detail: detail.map { .document($0.key, line: $0.cursor.id) }
    case .network: nil
    }
  }

  private mutating func go(to place: Bookmark, _ letter: Character) -> [Effect] {
    switch place {
    case .item(let item):
      focusPane(.collections)
      closeResult()
      if browser.rows.contains(where: { $0.item == item }) {
        browser.cursor.select(item)
        return []
      }
      return find(item)
    case .write(let batch):
      guard writes.rows.contains(where: { $0.batch == batch }) else { break }
      focusPane(.writes)
      writes.cursor.select(batch)
      return []
    case .feedRow(let id):
      guard feed.visible.contains(id) else { break }
      focusPane(.feed)
      feed.tab = .events
      pauseFeed()
      feed.cursor.select(id)
      return []
    case .document(let key, let line):
      let effects = openDetail(key)
      if let line { detail?.cursor.select(line) }
      return effects
    }
    toast(.info, "what was marked \(letter) is gone")
    return []
  }

  /// A row that is not in the tree at present: its collection is opened where it stands.
  private mutating func find(_ item: Browser.Item) -> [Effect] {
    switch item {
    case .collection(let path), .before(let path), .after(let path), .note(let path): return openCollection(path)
    case .document(let key), .field(let key, _): return locate(key)
    }
  }
}
