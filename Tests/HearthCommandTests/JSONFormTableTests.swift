// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardHost
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import Foundation
import Testing

@testable import HearthCommand

/// The tables of events and objects in the manual, beside what the program writes.
@Suite struct JSONFormTableTests {
  private static let time = Timestamp(seconds: 1_772_453_040, nanoseconds: 5)
  private static let error = RPCStatus(.unavailable, "no answer", isForeign: true)
  private static let result = ListenerState.Result(count: 4, isFromCache: false)
  private static let write = PendingWrite(
    id: BatchID(1), mutations: [set("orders/a", ["n": 1])], localWriteTime: time, byteCount: 10, attempts: 1,
    state: .backoff(until: time), lastError: error)
  private static let query = Query(
    path: ResourcePath("shops/1"), collectionGroup: "orders", filters: [.field(FieldFilter(FieldPath("n"), .equal, 1))],
    explicitOrderBy: [OrderBy(FieldPath("n"))], limit: 3, limitType: .last,
    start: Bound(values: [1], isInclusive: true), end: Bound(values: [2], isInclusive: false))

  private static var faults: FaultSettings {
    var settings = FaultSettings()
    (settings.bandwidth, settings.readingRate, settings.flap) = (1, 2, .seconds(3))
    for lane in FaultLane.allCases { settings.lanes[lane] = FaultSettings.Lane() }
    return settings
  }

  private static var listener: ListenerState {
    var listener = ListenerState(id: 1, query: query, options: ListenerOptions(), result: result)
    listener.client = "client-1"
    return listener
  }

  private static var traffic: ProtocolEvent {
    var event = ProtocolEvent(.ended, at: time, connection: 1, stream: 1, method: "Commit")
    (event.transport, event.status, event.httpStatus, event.bytes) = (.grpc, error, 503, 1)
    (event.duration, event.address, event.remark) = (.seconds(1), "127.0.0.1:1", "lost")
    var message = MessageSummary()
    (message.kind, message.targets, message.collection, message.isGroup) = ("writes", [1], "orders", true)
    (message.documents, message.count, message.tokenLength, message.cause) = (["orders/a"], 1, 1, error)
    event.message = message
    return event
  }

  private static var status: ClientStatus {
    ClientStatus(
      onlineState: .offline, isNetworkEnabled: false, isDisabledByWatcher: true, reason: .noAnswer, nextRetry: time,
      since: time, lastSnapshotAt: time, cacheByteCount: 7,
      cacheLimit: 8, storeFailure: error)
  }

  /// One of each line, with every member.
  private static func lines() -> [ClientEvent] {
    let rejected = RejectedWrite(
      id: BatchID(1), mutations: [], localWriteTime: time, rejection: Rejection(status: error, time: time, attempts: 1),
      byteCount: 1)
    let snapshot = ListenerSnapshot(
      listener: ListenerTag(1), changes: [], isFromCache: true, syncStateChanged: true, hasPendingWrites: true,
      count: 1,
      causes: [], omitted: 1, wasAsked: true, time: time)
    let tag = ListenerTag(1)
    return [
      .listenerStarted(listener), .traffic(traffic),
      .snapshot(snapshot), .listenerStopped(tag), .listenerFailed(tag, error), .snapshotsMissed(3, [tag: result]),
      .storage(StorageNotice(badge: "CACHE NOT IN USE", message: "damaged")),
      .faults(faults, waiting: [.write(.dropAcknowledgement), .read(.aborted)]), .outcomesMissed(1),
      .reads([]),
      .writeAcknowledged(BatchID(1), after: .seconds(1), of: WrittenDocuments(of: [])),
      .writeRejected(BatchID(1), error),
      .writeCancelled(BatchID(1)), .pendingWrites([], of: QueueSize()), .rejectedWrites([rejected]),
      .rejectedWritesForgotten([]), .indexes([]), .retentions([]), .status(status),
    ]
  }

  /// One of each answer to a request, with every member; of answers that fail, the failure.
  private static func answers() -> [ClientEvent] {
    let (window, orders) = (WindowTag(1), ResourcePath("orders"))
    let document = Document(key: key("orders/a"), version: nil, state: .missing)
    return [
      .windowLoaded(window, [], isFromCache: true, total: 1), .windowFailed(window, error),
      .detailFailed(key("orders/a"), error),
      .searched(window, SearchUpdate(hits: [], looked: 1, found: 0, isDone: true, isFromCache: true)),
      .located(window, key("orders/a"), cachedCount: 1), .collections(below: .root, ["orders"]),
      .collectionsUnlisted(below: .root, error), .missingDocuments(in: orders, []), .counted(orders, 1),
      .committed(.collections([])), .commitsUnheard("offline"), .peers(DataPeers(.owner)),
      .detail(
        key("orders/a"), remote: document, overlay: set("orders/a", ["n": 1]), local: document, isFromCache: true),
      .conflict(
        WriteConflict(batch: BatchID(1), key: key("orders/a"), fields: [], commitTime: SnapshotVersion(time))),
      .answered(
        AnsweredWrite(
          batch: BatchID(1), mutations: [], commitTime: SnapshotVersion(time), refusal: .aborted, existed: [:])),
      .contested(
        ClientConflict(
          key: key("orders/a"), other: "bob", batch: BatchID(1), isLater: true,
          outcome: .replaced([], after: .seconds(1)))),
      .explained(query, .failure(error)), .previewed(query, .failure(error)), .decisions(.failure(error)),
      .inside(.failure(error)), .surveyed(.failure(error)), .fieldTypes(in: orders, .failure(error)),
      .requestFailed(error), .attachmentEnded("shop has ended"), .closed,
    ]
  }

  /// The members that an answer has in place of `error`.
  private static let results = [
    "explained": "explanation", "previewed": "preview", "decisions": "decisions", "inside": "inside",
    "surveyed": "survey", "field-types": "types",
  ]

  private static func members(_ value: some JSONFormed) throws -> Set<String> {
    guard case .object(let members) = value.json(JSONContext()).kind else { return [] }
    return Set(members.map(\.name))
  }

  /// The rows of the manual's tables: the names in the second cell by the first.
  private static func rows() throws -> [String: Set<String>] {
    let page = try #require(ManualPage.named("testing")).source
    let part = try #require(page.components(separatedBy: "### Events").last).components(separatedBy: "\n`document`")[0]
    var rows: [String: Set<String>] = [:]
    for line in part.split(separator: "\n") where line.hasPrefix("| ") && !line.hasPrefix("| `type`") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      let names = cells.count < 2 ? [] : cells[1].split(separator: " ").map { $0.trimmingCharacters(in: ["`"]) }
      rows[cells[0].trimmingCharacters(in: ["`"])] = Set(names)
    }
    return rows
  }

  @Test("The manual lists the members of each event that attach prints")
  func events() throws {
    var told: [String: Set<String>] = [:]
    for line in Self.lines() {
      guard case .object(let members) = line.json(JSONContext()).kind, let type = try members.first?.value.text() else {
        continue
      }
      told[type] = Set(members.dropFirst().map(\.name))
    }
    let rows = try Self.rows()
    for (type, members) in told { #expect(rows[type] == members, "\(type)") }
    #expect(told.count == 19)
    #expect(Set(EventPattern.Kind.lines.map(\.rawValue)) == Set(told.keys))
  }

  @Test("The manual lists every event and its members")
  func answers() throws {
    let rows = try Self.rows()
    var listed: Set<String> = []
    for event in Self.lines() + Self.answers() {
      let type = try #require(event.json(JSONContext())["type"]).text()
      listed.insert(type)
      let members = try Self.members(event).subtracting(["type"])
      #expect(rows[type] == members.union([Self.results[type]].compactMap(\.self)), "\(type)")
    }
    // Each type that can be read has a sample here.
    let forms = try Page("Sources/Client/ClientPort/Forms/EventForms.swift").text
    let read = try #require(forms.components(separatedBy: "extension ClientEvent: JSONUnion").last)
    let types = read.matches(of: /case "([a-z-]+)":/).map { String($0.1) }
    #expect(Set(types) == listed && types.count > 40)
  }

  @Test("The manual lists the members of queries, documents, changes, writes and errors")
  func objects() throws {
    let rows = try Self.rows()
    let found = Document(
      key: key("orders/a"), version: SnapshotVersion(Self.time), createTime: SnapshotVersion(Self.time),
      state: .found(DocumentData(["n": 1])), pending: .local)
    let missing = Document(key: key("orders/a"), version: nil, state: .missing)
    #expect(try rows["a query"] == Self.members(Self.query))
    #expect(try rows["a document"] == Self.members(found).union(Self.members(missing)))
    let change = ListenerSnapshot.Change(.modified, found, previous: found, now: missing)
    #expect(try rows["a change"] == Self.members(change))
    #expect(try rows["a pending write"] == Self.members(Self.write))
    #expect(try rows["an error"] == Self.members(Self.error))
  }

  @Test("A written JSON form parses to the same value")
  func again() throws {
    let context = JSONContext()
    #expect(try Query(json: Self.query.json(context), context) == Self.query)
    #expect(try PendingWrite(json: Self.write.json(context), context) == Self.write)
    #expect(try FaultSettings(json: Self.faults.json(context), context) == Self.faults)
    let status = Self.status.json(context)
    #expect(try ClientStatus(json: status, context).json(context).lineText == status.lineText)
  }
}
