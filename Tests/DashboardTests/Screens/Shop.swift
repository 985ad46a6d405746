// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas

@testable import Dashboard
@testable import DashboardModel

/// An example shop, as the mock-ups show it.
enum Shop {
  static let paid = stored(
    "orders/7Qf3xAzP", at: 176,
    [
      "couponId": .string("SPRING"), "geo": .geoPoint(GeoPoint(latitude: 52.3702, longitude: 4.8952)),
      "items": .array([.string("kettle × 1"), .string("teacup × 4")]), "paidAt": .timestamp(Scene.time("11:58:03.120")),
      "shipTo": .map([
        "city": .string("Amsterdam"), "name": .string("Ada"), "street": .string("Keizersgracht 1"),
        "zip": .string("1015"), "country": .string("NL"),
      ]),
      "status": .string("paid"), "total": .double(18.5), "updatedAt": .timestamp(Scene.time("11:58:03.120")),
    ])
  static let packed = stored(
    "orders/7Qf3xAzP", pending: .local, at: 176,
    [
      "geo": .geoPoint(GeoPoint(latitude: 52.3702, longitude: 4.8952)),
      "items": .array([.string("kettle × 1"), .string("teacup × 4"), .string("tray × 1")]),
      "paidAt": .timestamp(Scene.time("11:58:03.120")),
      "shipTo": .map([
        "city": .string("Amsterdam"), "name": .string("Ada"), "street": .string("Keizersgracht 1"),
        "zip": .string("1015"), "country": .string("NL"),
      ]),
      "status": .string("packed"), "total": .double(18.5),
      "updatedAt": .serverTimestamp(ServerTimestamp(localWriteTime: Scene.time("12:04:16"), previous: nil)),
    ])
  static func order(_ id: String, _ status: String, _ total: Double, pending: Document.PendingWrites = .none)
    -> Document
  {
    stored("orders/\(id)", pending: pending, ["status": .string(status), "total": .double(total)])
  }

  /// An order that only this client has yet.
  static func made(_ id: String, _ status: String, _ total: Double) -> Document {
    var order = order(id, status, total, pending: .local)
    (order.version, order.createTime) = (nil, nil)
    return order
  }

  /// How many documents the listeners of whole collections have, unless a scene says otherwise.
  static let counts = [2: 148, 3: 2]

  /// The result of a listener with a limit, in which one document has just pushed another out.
  static func showResult(_ scene: inout Scene) {
    let query = Query(
      path: ResourcePath("orders"), filters: [.field(FieldFilter(FieldPath("status"), .notEqual, .string("sent")))],
      explicitOrderBy: [OrderBy(FieldPath("total"), .descending)], limit: 4)
    scene.listen(ListenerRecord.defaultName(for: query), query)
    let tag = scene.state.listeners.last?.tag ?? ListenerTag(0)
    let orders = [
      order("8sW1bnRk", "new", 99.9), order("4hT0q9Lm", "paid", 42), order("Qk2LmZt7", "packed", 20), paid,
    ]
    scene.snapshot("12:04:18", tag.rawValue, orders.map { .init(.added, $0) }, count: 4)
    scene.change { $0.showResult(of: tag) }
    scene.snapshot(
      "12:04:19", tag.rawValue,
      [
        .init(.removed, paid, now: paid), .init(.added, order("Zt5vK10", "new", 64)),
        .init(.modified, order("4hT0q9Lm", "packed", 42), previous: order("4hT0q9Lm", "paid", 42)),
      ], count: 4)
    scene.press("j")
  }

  /// Connected, nothing written yet.
  static func start(_ size: Size, _ glyphs: Glyphs, backend: ConnectedBackend?) -> Scene {
    var scene = backend.map { Scene(size: size, glyphs: glyphs, backend: $0) } ?? Scene(size: size, glyphs: glyphs)
    scene.store["orders"] =
      [
        order("4hT0q9Lm", "paid", 42), paid, order("8sW1bnRk", "new", 99.9, pending: .local),
        order("9aaPq2Xc", "paid", 7),
      ]
      + (10..<60).map { order("Zt5vK\($0)", "new", Double($0)) }
    scene.totals = ["orders": 148, "users": 2, "products": 305, "stats": 1]
    scene.store["users"] = [
      stored("users/ada", ["name": .string("Ada Lovelace"), "age": .integer(36)]),
      stored("users/grace", ["name": .string("Grace Hopper"), "age": .integer(85)]),
    ]
    scene.collections("orders", "users", "products", "stats")
    scene.online()
    scene.listen(
      "orders/open",
      Query(
        path: ResourcePath("orders"), filters: [.field(FieldFilter(FieldPath("status"), .notEqual, .string("sent")))]))
    scene.listen("orders/all", Query(path: ResourcePath("orders")))
    scene.listen("users", Query(path: ResourcePath("users")))
    scene.listen("chat", Query(path: ResourcePath("chat/lobby/messages"), limit: 50))
    return scene
  }

  static func online(_ size: Size, _ glyphs: Glyphs, backend: ConnectedBackend? = nil) -> Scene {
    var scene = start(size, glyphs, backend: backend)
    let grace = stored("users/grace", ["name": .string("Grace Hopper")])
    scene.snapshot("12:04:14.010", 1, syncs: true)
    scene.snapshot("12:04:14.040", 2, syncs: true, count: 148)
    scene.snapshot("12:04:14.118", 3, syncs: true, count: 2)
    scene.snapshot("12:04:14.230", 4, syncs: true, count: 50)
    scene.snapshot("12:04:15.118", 3, [change(.added, grace)])
    scene.snapshot(
      "12:04:15.120", 1, [change(.modified, order("4hT0q9Lm", "paid", 42), from: order("4hT0q9Lm", "paid", 40))])
    scene.snapshot("12:04:15.731", 4, [change(.added, message("m0912", "anyone packing 7Qf3?"))])
    scene.snapshot("12:04:16.002", 4, [change(.removed, message("m0803", "good morning"))])
    scene.at("12:04:16.880")
    scene.queue(row(42, .update, "orders/7Qf3xAzP", .inFlight, at: "12:04:16.880", tries: 1))
    scene.browse(packed)
    scene.snapshot("12:04:16.880", 1, [change(.modified, packed, from: paid)], because: .localWrite(BatchID(42)))
    scene.snapshot("12:04:16.882", 2, [change(.modified, packed, from: paid)], because: .localWrite(BatchID(42)))
    let new = made("8sW1bnRk", "new", 99.9)
    scene.at("12:04:16.910")
    scene.queue(row(43, .set, "orders/8sW1bnRk", .queued, at: "12:04:16.910", transforms: 1))
    scene.snapshot("12:04:16.910", 2, [change(.added, new)], because: .localWrite(BatchID(43)))
    scene.at("12:04:17.002")
    scene.queue(
      row(
        44, .delete, "users/grace", .backoff(until: Scene.time("12:04:20.400")), at: "12:03:58", tries: 2,
        error: RPCStatus(.unavailable, "connection reset")))
    scene.snapshot(
      "12:04:17.002", 3, [change(.removed, grace, now: missing("users/grace", pending: .local))],
      because: .localWrite(BatchID(44)))
    scene.snapshot(
      "12:04:17.120", 4,
      [change(.modified, message("m0912", "anyone packing 7Qf3?!"), from: message("m0912", "anyone packing 7Qf3?"))])
    scene.change { state in
      state.network.inFlightWrites = 1
      state.network.activeTargets = 4
    }
    scene.press("1 g j j l")
    return scene
  }

  static func message(_ id: String, _ text: String) -> Document {
    stored("chat/lobby/messages/\(id)", ["text": .string(text)])
  }

  /// Offline by the user, the feed paused, four writes held.
  static func offline(_ size: Size, _ glyphs: Glyphs) -> Scene {
    var scene = online(size, glyphs)
    scene.at("12:04:20")
    scene.offline()
    scene.holdAll()
    scene.serveFromCache()
    scene.snapshot("12:04:20.004", 1, because: .networkDisabled, isFromCache: true, syncs: true)
    scene.snapshot("12:04:20.004", 2, because: .networkDisabled, isFromCache: true, syncs: true, count: 149)
    let shipped = order("8sW1bnRk", "shipped", 99.9, pending: .local)
    scene.at("12:04:22.010")
    scene.queue(row(45, .update, "orders/8sW1bnRk", .held, at: "12:04:22.010"))
    scene.snapshot(
      "12:04:22.010", 1, [change(.modified, shipped, from: order("8sW1bnRk", "new", 99.9))],
      because: .localWrite(BatchID(45)), isFromCache: true)
    scene.at("12:04:31.447")
    scene.queue(row(46, .increment, "stats/today", .held, at: "12:04:31.447"))
    scene.at("12:04:50.902")
    scene.queue(row(47, .set, "orders/Zt5vK77q", .held, at: "12:04:50.902", transforms: 1))
    scene.snapshot(
      "12:04:50.902", 2, [change(.added, made("Zt5vK77q", "new", 5))],
      because: .localWrite(BatchID(47)), isFromCache: true)
    scene.press("4 p")
    for second in 55...57 {
      scene.snapshot(
        "12:04:\(second).100", 2,
        [change(.modified, order("9aaPq2Xc", "held", 7, pending: .local), from: order("9aaPq2Xc", "paid", 7))],
        because: .localWrite(BatchID(47)), isFromCache: true)
    }
    scene.tick("12:05:02")
    return scene
  }

  static func detail(_ size: Size, _ glyphs: Glyphs) -> Scene {
    var scene = online(size, glyphs)
    scene.press("enter")
    let mask = FieldMask([FieldPath("status"), FieldPath("items"), FieldPath("couponId")])
    let mutation = Mutation(
      key: packed.key, operation: .patch(packed.data?.fields ?? Fields(), mask),
      transforms: [FieldTransform(path: FieldPath("updatedAt"), operation: .serverTimestamp)])
    scene.hear(.detail(packed.key, remote: paid, overlay: mutation, local: packed))
    scene.press("j j j")
    return scene
  }

  /// A collection of a million documents, read in windows, the cursor half-way down.
  static func million(_ size: Size, _ glyphs: Glyphs) -> Scene {
    var scene = Scene(size: size, glyphs: glyphs)
    scene.totals["events"] = 1_000_000
    scene.store["events"] = (499_980..<500_120).map { event($0) }
    scene.collections("events")
    scene.online()
    scene.change { state in
      let path = ResourcePath("events")
      state.browser.windows[path]?.offset = 499_980
      state.browser.windows[path]?.shown?.place = .from(event(499_980).key)
      state.browser.cursor.select(.document(event(499_990).key))
    }
    scene.press("1")
    return scene
  }

  private static func event(_ number: Int) -> Document {
    stored(
      "events/e\(number)",
      ["count": .integer(Int64(number * 7 % 1000)), "type": .string(number.isMultiple(of: 3) ? "view" : "click")])
  }

  /// The server refused a write; its local effect is undone.
  static func rejected(_ size: Size, _ glyphs: Glyphs) -> Scene {
    var scene = online(size, glyphs)
    let denied = RPCStatus(.permissionDenied, "only admins may delete users")
    scene.at("12:04:21.300")
    scene.hear(.writeAcknowledged(BatchID(42), after: .milliseconds(184)))
    scene.hear(.writeRejected(BatchID(44), denied))
    let kept = RejectedWrite(
      id: BatchID(44),
      mutations: [Mutation(key: DocumentKey(unchecked: ResourcePath("users/grace")), operation: .delete)],
      localWriteTime: Scene.time("12:03:58"),
      rejection: Rejection(status: denied, time: Scene.time("12:04:21.300"), attempts: 3), byteCount: 61)
    scene.hear(.rejectedWrites([kept]))
    let grace = stored("users/grace", ["name": .string("Grace Hopper")])
    scene.snapshot("12:04:21.302", 3, [change(.added, grace)], because: .rejected(BatchID(44), denied))
    scene.press("2 j j")
    return scene
  }

  /// Documents in many scripts, and texts that try to break the screen.
  static func scripts(_ size: Size, _ glyphs: Glyphs) -> Scene {
    var scene = Scene(size: size, glyphs: glyphs)
    let texts = [
      ("arabic", "مرحبا بالعالم"), ("control", "a\u{1B}[31mred\nline two\tend"), ("emoji", "👩‍👩‍👧 family 👍🏽 🇯🇵 ✈️"),
      ("hebrew", "שלום עולם"), ("japanese", "漢字とかなの長い文章は幅が二倍です"), ("korean", "안녕하세요 세계"),
      ("marks", "e\u{301}a\u{308}\u{323} n\u{303}"),
      ("trojan", "user\u{202E}nimda\u{2066}"), ("日本語", "キーも日本語"),
    ]
    let documents = texts.map { stored("texts/\($0)", ["text": .string($1)]) }
    scene.store["texts"] = documents
    scene.collections("texts")
    scene.online()
    scene.listen("texts", Query(path: ResourcePath("texts")))
    for (index, document) in documents.enumerated() {
      scene.snapshot("12:04:0\(index).500", 1, [change(.added, document)], count: index + 1)
    }
    scene.press("1 j j j l j")
    return scene
  }

  /// A denied collection, an ended listener, streams that retry, a broken cache.
  static func failures(_ size: Size, _ glyphs: Glyphs) -> Scene {
    var scene = online(size, glyphs)
    scene.at("12:04:30")
    scene.hear(.listenerFailed(ListenerTag(4), RPCStatus(.permissionDenied, "no access to chat/lobby/messages")))
    var status = scene.state.network
    status.onlineState = .offline
    status.reason = .failed(RPCStatus(.unavailable, "connection refused"))
    status.nextRetry = Scene.time("12:04:38.500")
    status.watch = .init(
      .backoff(until: Scene.time("12:04:38.500")), lastError: RPCStatus(.unavailable, "connection refused"))
    status.write = .init(.closed, lastError: RPCStatus(.unavailable, "connection refused"))
    scene.hear(.status(status))
    scene.hear(.storage(StorageNotice(message: "the disk is full: reads work, writes do not")))
    scene.press("1 g h j l")
    if let request = scene.state.browser.windows[ResourcePath("products")]?.shown {
      scene.hear(.windowFailed(request.tag, RPCStatus(.permissionDenied, "products are closed to you")))
    }
    scene.tick("12:04:31")
    return scene
  }
}
