// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas

@testable import Dashboard
@testable import DashboardModel

/// What the shop shows of documents that are not here, or not here any more.
extension Shop {
  /// A search through the whole collection, under way, with its first hits.
  static func searching(_ size: Size, _ glyphs: Glyphs) -> Scene {
    var scene = online(size, glyphs)
    scene.press("1 g /")
    scene.type("kettle")
    scene.press("enter")
    guard let tag = scene.state.browser.windows[ResourcePath("orders")]?.search?.tag else {
      preconditionFailure("nothing is searched")
    }
    let hits = ["Km2cW0aa", "Rr81mKe5"].map { id in
      stored(
        "orders/\(id)", ["items": .array([.string("kettle × 1")]), "status": .string("sent"), "total": .double(12)])
    }
    scene.hear(
      .searched(tag, SearchUpdate(hits: hits, looked: 96, found: 2, isDone: false, isFromCache: false)))
    return scene
  }

  /// Offline, in a collection that was never loaded, beside one of which the cache has a part.
  static func uncached(_ size: Size, _ glyphs: Glyphs) -> Scene {
    var scene = online(size, glyphs)
    scene.at("12:05:00")
    scene.offline()
    scene.store["users"] = []
    scene.hear(.counted(ResourcePath("products"), 1, isFromCache: true))
    scene.press("1")
    scene.change { $0.browser.cursor.select(.collection(ResourcePath("users"))) }
    scene.press("l j")
    scene.tick("12:07:00")
    return scene
  }

  /// The question before an undo that would overwrite what others wrote since.
  static func undoing(_ size: Size, _ glyphs: Glyphs) -> Scene {
    var scene = online(size, glyphs)
    scene.tell(
      .undoConflict(
        UndoConflict(
          batch: BatchID(42), isRedo: false,
          documents: [
            UndoConflict.Document(
              key: packed.key, left: ["status": "packed", "note": "ring twice"],
              now: ["status": "cancelled", "note": "ring twice"],
              writing: UndoConflict.Writing(
                Mutation(
                  key: packed.key,
                  operation: .patch(["status": "paid"], FieldMask([FieldPath("status"), FieldPath("note")]))),
                left: ["status": "packed", "note": "ring twice"], now: ["status": "cancelled", "note": "ring twice"]))
          ])))
    return scene
  }
}
