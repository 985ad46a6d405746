// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

/// The situations whose screens are kept as goldens.
enum Situation: String, CaseIterable, CustomTestStringConvertible {
  case online, offline, detail, overlay, diff, history, help, palette, filter, empty, million, rejected, scripts,
    listener
  case confirm, failures, zoom, meta, copying, themes, messages, browsing, faults, explaining, columns, opened
  case deciding, reconnected, editing, reviewing, listeners, asking, transferring, counted, requests, request, attached
  case inside
  case result, wall
  case searching, uncached, undoing, slow, ended
  case readOnly = "read-only"

  var testDescription: String { rawValue }

  func state(size: Size, glyphs: Glyphs = .unicode) -> DashboardState {
    switch self {
    case .online: return Shop.online(size, glyphs).state
    case .offline: return Shop.offline(size, glyphs).state
    case .detail: return Shop.detail(size, glyphs).state
    case .overlay, .diff, .history, .meta:
      var scene = Shop.detail(size, glyphs)
      let steps = self == .diff ? 1 : self == .history ? 2 : self == .overlay ? 3 : 4
      for _ in 0..<steps { scene.press("]") }
      return scene.state
    case .help:
      var scene = Shop.online(size, glyphs)
      scene.press("4 ? down down")
      return scene.state
    case .palette:
      var scene = Shop.online(size, glyphs)
      scene.press(":")
      scene.type("off")
      return scene.state
    case .filter:
      var scene = Shop.online(size, glyphs)
      scene.press("4 /")
      scene.type("orders !SERVER")
      return scene.state
    case .attached:
      var scene = Shop.online(size, glyphs)
      scene.change { $0.configuration.attached = AttachedProgram(process: 4711, name: "shop", allowsControl: true) }
      scene.press("4")
      return scene.state
    case .ended:
      var scene = Shop.online(size, glyphs)
      scene.change { $0.configuration.attached = AttachedProgram(process: 4711, name: "shop", allowsControl: true) }
      scene.press("3")
      scene.at("12:04:40")
      scene.hear(.attachmentEnded("shop 4711 has ended"))
      return scene.state
    case .readOnly:
      var scene = Shop.online(size, glyphs)
      scene.change { $0.configuration.isReadOnly = true }
      scene.press("1 d")
      return scene.state
    case .slow:
      var scene = Shop.online(size, glyphs)
      scene.change { $0.screen.note(isLinkSlow: true) }
      return scene.state
    case .searching: return Shop.searching(size, glyphs).state
    case .uncached: return Shop.uncached(size, glyphs).state
    case .undoing: return Shop.undoing(size, glyphs).state
    case .result:
      var scene = Shop.online(size, glyphs)
      Shop.showResult(&scene)
      return scene.state
    case .wall: return Shop.wall(size, glyphs).state
    case .empty:
      var scene = Scene(size: size, glyphs: glyphs)
      scene.collections()
      scene.online([])
      return scene.state
    case .million: return Shop.million(size, glyphs).state
    case .rejected: return Shop.rejected(size, glyphs).state
    case .scripts: return Shop.scripts(size, glyphs).state
    case .listener:
      var scene = Shop.online(size, glyphs)
      scene.press("1 n l tab tab")
      scene.type("status")
      scene.press("tab ctrl-t tab")
      scene.type("packed")
      scene.press("tab")
      scene.type("shipTo.")
      return scene.state
    case .confirm:
      var scene = Shop.online(
        size, glyphs, backend: .init(.cloud, project: "shop-prod", host: "firestore.googleapis.com", user: "ada"))
      scene.press("1 g j j d")
      scene.type("7Qf")
      return scene.state
    case .copying:
      var scene = Shop.online(size, glyphs)
      scene.press("1 y down")
      return scene.state
    case .themes:
      var scene = Shop.online(size, glyphs)
      scene.press("T down")
      return scene.state
    case .messages:
      var scene = Shop.failures(size, glyphs)
      scene.change { $0.openMessages() }
      scene.press("down")
      return scene.state
    case .browsing:
      var scene = Shop.online(size, glyphs)
      scene.press("1 /")
      scene.type("q total:>5")
      return scene.state
    case .faults:
      var scene = Shop.online(size, glyphs)
      scene.press("3 f l l a down")
      return scene.state
    case .explaining:
      var scene = Shop.online(size, glyphs)
      let query = Query(
        path: ResourcePath("orders"), filters: [.field(FieldFilter(FieldPath(segments: ["status"]), .equal, "paid"))],
        explicitOrderBy: [OrderBy(FieldPath(segments: ["total"]), .descending)], limit: 20)
      scene.change {
        $0.overlay = .list(ListOverlay(content: .explanation(ExplanationPanel(query: query))))
        _ = $0.storage.indexes.replace(with: [
          IndexState(definition: index("orders", ("total", .descending))),
          IndexState(
            definition: index("users", ("name", .ascending)), isAutomatic: true,
            backfill: IndexProgress(documentsIndexed: 1200, documentsTotal: 10_000)),
        ])
      }
      let explanation = QueryExplanation(
        query: query, plan: .scan, documentsScanned: 12_480, documentsReturned: 20, duration: .microseconds(8_412),
        suggestedIndexes: [index("orders", ("status", .ascending), ("total", .descending))], isBuildingIndexes: true)
      scene.hear(.explained(query, .success(explanation)))
      return scene.state
    case .columns:
      var scene = Shop.online(size, glyphs)
      scene.press("1 c down space")
      return scene.state
    case .opened:
      var scene = Shop.online(size, glyphs)
      scene.press("4 w k k k k")
      return scene.state
    case .failures: return Shop.failures(size, glyphs).state
    case .deciding:
      var scene = Shop.online(size, glyphs)
      let order = Shop.packed.key
      let again = EditRequest(.document(order), text: "{}")
      scene.tell(
        .editConflict(
          EditConflict(
            key: order,
            fields: [
              .init(path: FieldPath("status"), base: "packed", mine: "sent", theirs: "cancelled"),
              .init(path: FieldPath("total"), base: 18.5, mine: 18.5, theirs: 20.0),
            ],
            isDeleted: false, overwriting: [patch("orders/7Qf3xAzP", ["status": "sent"])],
            keepingTheirs: [patch("orders/7Qf3xAzP", ["note": "x"])],
            replacing: [set("orders/7Qf3xAzP", ["status": "sent"])], again: .text(again))))
      return scene.state
    case .reconnected:
      var scene = Shop.offline(size, glyphs)
      scene.at("12:05:02")
      scene.press("4 G")
      scene.online()
      scene.hear(.writeAcknowledged(BatchID(42), after: .milliseconds(31)))
      scene.at("12:05:03.200")
      scene.hear(.writeAcknowledged(BatchID(43), after: .milliseconds(31)))
      return scene.state
    case .editing:
      var scene = Shop.detail(size, glyphs)
      scene.press("0 E G")
      scene.change { $0.overlay?.fieldEditor?.select(["items", "0"]) }
      scene.press("x")
      scene.change { $0.overlay?.fieldEditor?.select(["total"]) }
      scene.press("t t")
      return scene.state
    case .reviewing:
      var scene = Shop.detail(size, glyphs)
      scene.press("0 E")
      scene.change { $0.overlay?.fieldEditor?.select(["status"]) }
      scene.press("enter ctrl-u")
      scene.type("sent")
      scene.change { _ = $0.acceptFieldValue() }
      scene.change { $0.overlay?.fieldEditor?.select(["total"]) }
      scene.press("t")
      scene.type("+")
      scene.change { _ = $0.acceptFieldValue() }
      scene.change { $0.overlay?.fieldEditor?.select(["shipTo"]) }
      scene.press("x s")
      return scene.state
    case .listeners:
      var scene = Shop.online(size, glyphs)
      scene.press("1 W down")
      return scene.state
    case .requests, .request:
      var scene = Shop.online(size, glyphs)
      Shop.showRequests(&scene)
      if self == .request { scene.press("enter") }
      return scene.state
    case .inside:
      var scene = Shop.online(size, glyphs)
      scene.press("I")
      scene.hear(.inside(.success(InsideTests.inside)))
      return scene.state
    case .asking:
      var scene = Shop.online(size, glyphs)
      scene.change { $0.askForExport(of: [ResourcePath("orders")]) }
      return scene.state
    case .transferring:
      var scene = Shop.online(size, glyphs)
      let request = TransferRequest.importing(file: "backup.jsonl", into: nil)
      scene.tell(
        .transferring(
          TransferState(request, documents: 12_040, refused: 2, perSecond: 3210, fraction: 0.45, secondsLeft: 72)))
      return scene.state
    case .counted:
      var scene = Shop.online(
        size, glyphs, backend: .init(.cloud, project: "shop-prod", host: "firestore.googleapis.com", user: "ada"))
      scene.press("1 W e tab")
      scene.change { state in
        guard let query = state.overlay?.editor?.previewed else {
          preconditionFailure("no query is previewed in \(String(describing: state.overlay?.kind))")
        }
        state.receive(
          .success(
            QueryPreview(
              query: query, count: 17, suggestedIndexes: [index("orders", ("status", .ascending))],
              documentsToScan: 4_000)), about: query)
      }
      return scene.state
    case .zoom:
      var scene = Shop.online(size, glyphs)
      scene.press("2 +")
      return scene.state
    }
  }

  private func index(_ group: String, _ fields: (String, FieldIndex.Kind)...) -> FieldIndex {
    guard let index = try? FieldIndex(collectionGroup: group, fields: fields.map { .init(FieldPath($0), $1) }) else {
      preconditionFailure("\(group) cannot have this index")
    }
    return index
  }
}
