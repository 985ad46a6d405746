// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas

/// The situations whose screens are kept as goldens, played from keys and client events.
enum Scenario: String, CaseIterable {
  case online
  case offlinePaused = "offline-paused"
  case detail, help, palette, filter, empty, million, rejected, unicode
  case listenerEditor = "listener-editor"
  case confirmDelete = "confirm-delete"

  func play(_ size: Size, glyphs: Glyphs = .unicode) -> Driver {
    switch self {
    case .empty: return Self.empty(size, glyphs)
    case .million: return Self.million(size, glyphs)
    case .unicode: return Self.unicode(size, glyphs)
    default: break
    }
    var driver = Self.shop(size, glyphs)
    switch self {
    case .online: driver.press("4")
    case .offlinePaused: Self.goOffline(&driver)
    case .detail: Self.openDetail(&driver)
    case .help: driver.press("4 ?")
    case .palette:
      driver.press(":")
      driver.type("off")
    case .filter:
      driver.press("4 /")
      driver.type("orders !new")
    case .rejected:
      driver.client(
        .writeRejected(BatchID(44), RPCStatus(.permissionDenied, "Missing or insufficient permissions.")), at: 18)
      driver.press("2")
    case .listenerEditor: Self.writeListener(&driver)
    case .confirmDelete: driver.press("1 j d")
    case .empty, .million, .unicode: break
    }
    return driver
  }

  static func status(_ seconds: Double, isEnabled: Bool = true) -> ClientStatus {
    let stream = StreamStatus(isEnabled ? .open : .closed)
    return ClientStatus(
      onlineState: isEnabled ? .online : .offline, isNetworkEnabled: isEnabled, since: at(seconds), watch: stream,
      write: stream, activeTargets: isEnabled ? 3 : 0, inFlightWrites: isEnabled ? 1 : 0, lastSnapshotAt: at(seconds),
      roundTrips: [178, 181, 190, 176, 240, 184, 181, 178, 232, 184].map { .milliseconds($0) })
  }

  static let orders: [Document] = [
    document("orders/4hT0q9Lm", at: -60, ["status": "paid", "total": 42.5]),
    document(
      "orders/7Qf3xAzP", at: -30,
      [
        "status": "paid", "total": 18.5, "items": ["kettle", "teacup", "tray"], "paidAt": .timestamp(at(-377.88)),
        "shipTo": ["city": "Amsterdam", "street": "Damrak 1", "zip": "1012 LG", "country": "NL", "name": "Ada"],
      ]),
    document("orders/9aaPq2Xc", at: -10, ["status": "paid", "total": 7.25]),
  ]

  static let packed = document(
    "orders/7Qf3xAzP", at: -30, pending: .local,
    [
      "status": "packed", "total": 18.5, "items": ["kettle", "teacup", "tray"], "paidAt": .timestamp(at(-377.88)),
      "shipTo": ["city": "Amsterdam", "street": "Damrak 1", "zip": "1012 LG", "country": "NL", "name": "Ada"],
      "updatedAt": .serverTimestamp(ServerTimestamp(localWriteTime: at(16.88), previous: nil)),
    ])

  static let created = new("orders/8sW1bnRk", ["status": "new", "total": 99.9, "items": ["pot"], "note": "gift"])

  /// A document that only this client has yet.
  static func new(_ path: String, _ fields: Fields) -> Document {
    Document(key: key(path), version: nil, state: .found(DocumentData(fields)), pending: .local)
  }

  /// A shop with three listeners, one acknowledged write and two waiting ones.
  static func shop(_ size: Size, _ glyphs: Glyphs) -> Driver {
    var driver = Driver(size, glyphs: glyphs)
    driver.client(.status(status(-157)), at: 0)
    driver.client(.collections(below: .root, ["audit", "chat", "orders", "products", "users"]), at: 0.1)
    driver.answerWindow([], total: 0, at: 0.2)
    driver.press("h")
    for (name, count) in [("audit", 0), ("chat", 57), ("orders", 3), ("products", 305), ("users", 12)] {
      driver.client(.counted(ResourcePath(name), count), at: 0.3)
    }
    driver.press("j space")
    let chat = driver.listenTag
    driver.press("j space")
    let all = driver.listenTag
    driver.press("l")
    driver.answerWindow(orders, total: 3, at: 1)
    snapshot(&driver, all, orders.map { .init(.added, $0) }, count: 3, [.listenerAdded], synced: true, at: 1.2)
    let message = document("chat/m0912", at: 15, ["from": "grace", "text": "anyone packing 7Qf3?"])
    snapshot(&driver, chat, [], count: 57, [.fromServer], synced: true, at: 1.4)
    snapshot(&driver, chat, [.init(.added, message)], count: 58, [.fromServer], at: 15.731)
    let paid = document("orders/4hT0q9Lm", at: 15.1, ["status": "paid", "total": 40.0])
    snapshot(&driver, all, [.init(.modified, orders[0], previous: paid)], count: 3, [.fromServer], at: 15.12)
    driver.client(
      .pendingWrites([pendingWrite(42, .update, "orders/7Qf3xAzP", at: at(16.88), .inFlight, transforms: 1)]), at: 16.87
    )
    snapshot(
      &driver, all, [.init(.modified, packed, previous: orders[1])], count: 3, [.localWrite(BatchID(42))],
      pending: true, at: 16.88)
    snapshot(&driver, all, [.init(.added, created)], count: 4, [.localWrite(BatchID(43))], pending: true, at: 16.91)
    driver.client(
      .pendingWrites([
        pendingWrite(42, .update, "orders/7Qf3xAzP", at: at(16.88), .inFlight, tries: 1, transforms: 1),
        pendingWrite(43, .set, "orders/8sW1bnRk", at: at(16.9), .queued),
        pendingWrite(
          44, .delete, "users/grace", at: at(0.5), .backoff(until: at(20.5)), tries: 2,
          error: RPCStatus(.unavailable, "no route")),
      ]), at: 17)
    driver.client(
      .windowLoaded(WindowTag(2), [orders[0], packed, created, orders[2]], isFromCache: false, total: 4), at: 17.05)
    snapshot(
      &driver, all, [.init(.removed, document("orders/2bbXk1Ww", ["status": "done"]))], count: 3, [.fromServer],
      pending: true,
      at: 17.12)
    return driver
  }

  static func snapshot(
    _ driver: inout Driver, _ tag: ListenerTag?, _ changes: [ListenerSnapshot.Change], count: Int,
    _ causes: [SnapshotCause],
    synced: Bool = false, cache: Bool = false, pending: Bool = false, at seconds: Double
  ) {
    guard let tag else { return }
    driver.client(
      .snapshot(
        ListenerSnapshot(
          listener: tag, changes: changes, isFromCache: cache, syncStateChanged: synced, hasPendingWrites: pending,
          count: count,
          causes: causes)), at: seconds)
  }

  private static func goOffline(_ driver: inout Driver) {
    driver.press("o")
    driver.client(.status(status(20, isEnabled: false)), at: 20)
    driver.client(
      .pendingWrites([
        pendingWrite(45, .update, "orders/9aaPq2Xc", at: at(22), .held),
        pendingWrite(46, .increment, "stats/today", at: at(31), .held),
        pendingWrite(47, .set, "orders/Zt5mm0Kp", at: at(50), .held),
      ]), at: 50.9)
    let shipped = document("orders/9aaPq2Xc", at: -10, pending: .local, ["status": "shipped", "total": 7.25])
    snapshot(
      &driver, ListenerTag(2), [.init(.modified, shipped, previous: orders[2])], count: 3, [.localWrite(BatchID(45))],
      synced: true, cache: true, pending: true, at: 51)
    driver.press("4 p")
    let new = new("orders/Zt5mm0Kp", ["status": "new", "total": 12.0])
    snapshot(
      &driver, ListenerTag(2), [.init(.added, new)], count: 4, [.localWrite(BatchID(47))], cache: true, pending: true,
      at: 52)
    driver.tick(62)
  }

  private static func openDetail(_ driver: inout Driver) {
    driver.press("1 j j enter")
    let overlay = Mutation(
      key: packed.key, operation: .patch(["status": "packed"], FieldMask([FieldPath("status")])),
      transforms: [FieldTransform(path: FieldPath("updatedAt"), operation: .serverTimestamp)])
    driver.client(.detail(packed.key, remote: orders[1], overlay: overlay, local: packed), at: 17.5)
  }

  private static func writeListener(_ driver: inout Driver) {
    driver.press("1 n l tab tab")
    driver.type("status")
    driver.press("tab tab")
    driver.type("paid")
    driver.press("tab")
    driver.type("total")
    driver.press("ctrl-t tab tab")
    driver.type("10")
    driver.press("tab tab tab tab")
    driver.type("total desc")
    driver.press("tab")
    driver.type("many")
  }

  private static func empty(_ size: Size, _ glyphs: Glyphs) -> Driver {
    var driver = Driver(size, glyphs: glyphs, kind: .embedded)
    driver.client(.collections(below: .root, []), at: 0.1)
    return driver
  }

  /// A collection of a million documents, scrolled to its end.
  static func million(_ size: Size, _ glyphs: Glyphs) -> Driver {
    var driver = Driver(size, glyphs: glyphs, kind: .embedded)
    driver.client(.status(status(0)), at: 0)
    driver.client(.collections(below: .root, ["events"]), at: 0.1)
    let limit = driver.windowQuery?.limit ?? 0
    driver.answerWindow(events(0..<limit), total: 1_000_000, at: 0.2)
    driver.press("j G")
    driver.answerWindow(events(1_000_000 - limit..<1_000_000), total: 1_000_000, at: 0.4)
    return driver
  }

  static func events(_ range: Range<Int>) -> [Document] {
    range.map { number in
      let id = String(repeating: "0", count: 7 - "\(number)".count) + "\(number)"
      return document(
        "events/e\(id)", ["type": .string(["click", "view", "buy"][number % 3]), "value": .integer(Int64(number))])
    }
  }

  private static func unicode(_ size: Size, _ glyphs: Glyphs) -> Driver {
    var driver = Driver(size, glyphs: glyphs)
    driver.client(.status(status(0)), at: 0)
    driver.client(.collections(below: .root, ["商品"]), at: 0.1)
    let documents = [
      document("商品/湯沸かし", ["name": "電気ケトル 1.2リットル", "total": 4980]),
      document("商品/emoji-👩‍👩‍👧-🇯🇵", ["name": "👍🏽 thumbs ✈️", "total": 1]),
      document("商品/عربى", ["name": "مرحبا بالعالم", "total": 2]),
      document("商品/evil-\u{202E}txt.exe", ["name": "esc\u{1B}[31m\nnew line", "total": 3]),
      document("商品/e\u{301}tude", ["name": "combining e\u{301}", "total": 4]),
    ]
    driver.answerWindow(documents, total: 5, at: 0.5)
    driver.press("space")
    snapshot(
      &driver, driver.listenTag, documents.map { .init(.added, $0) }, count: 5, [.fromServer], synced: true, at: 1)
    driver.press("j l")
    return driver
  }
}
