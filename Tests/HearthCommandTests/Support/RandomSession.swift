// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import SeededRandom
import TerminalCanvas

/// A dashboard that gets random keys and every kind of news, with all that happened to it.
struct RandomSession {
  static let start = Timestamp(seconds: 1_772_452_800, nanoseconds: 120_000_001)

  let initial: DashboardState
  private(set) var state: DashboardState
  private(set) var actions: [Action] = []
  private var random: SeededGenerator
  private var now = Self.start
  private var listeners: [(tag: ListenerTag, query: Query)] = []
  private var windows: [(tag: WindowTag, path: ResourcePath)] = []
  private var documents: [Document] = []
  private var batch: Int64 = 0
  private var keys: [Key]
  /// Put into every document that comes.
  let secret: Value?

  init(_ size: Size, seed: UInt64, secret: Value? = nil) {
    random = SeededGenerator(seed: seed)
    self.secret = secret
    let backend = ConnectedBackend(.emulator, project: "demo-shop", host: "127.0.0.1:8080", user: "ada")
    let themes = ["ember", "paper"].map { DashboardConfiguration.Theme(slug: $0, name: $0) }
    initial = DashboardState(
      DashboardConfiguration(
        database: DatabaseID(project: "demo-shop"), backend: backend, utcOffset: 3600, themes: themes, theme: "ember"),
      size: size, now: now)
    state = initial
    keys = Keymap.standard.commands.flatMap(\.keys) + [Key(.backspace), .character("é"), .character("漢")]
    documents = (0..<12).map { _ in document("orders") }
    apply(.client(.collections(below: .root, ["orders", "users"]), at: now))
    apply(
      .listen(
        Query(path: ResourcePath("orders")), name: "orders", ListenerOptions(includeMetadataChanges: true), at: now))
  }

  private mutating func document(_ collection: String) -> Document {
    var fields = random.fields(depth: 2)
    if let secret { fields["secret"] = secret }
    let id = "id\(Int.random(in: 0..<30, using: &random))"
    return Document(
      key: DocumentKey(unchecked: ResourcePath(segments: [collection, id])),
      version: SnapshotVersion(random.timestamp()), createTime: SnapshotVersion(now),
      state: random.pick([.found(DocumentData(fields)), .found(DocumentData(fields)), .missing, .unknown]),
      pending: random.pick([.none, .none, .local, .committed]))
  }

  private mutating func status() -> RPCStatus { RPCStatus(random.pick(StatusCode.allCases), random.text()) }

  private mutating func mutation() -> Mutation {
    let document = document("orders")
    var fields = random.fields(depth: 1)
    if let secret { fields["secret"] = secret }
    let path = FieldPath(segments: ["n", "é"])
    return Mutation(
      key: document.key,
      operation: random.pick([
        .set(fields), .patch(fields, FieldMask(fields.entries.map { FieldPath($0.name) })), .delete,
      ]),
      precondition: random.pick([.none, .exists(true), .updateTime(SnapshotVersion(now))]),
      transforms: random.pick([
        [], [FieldTransform(path: path, operation: .increment(.integer(1)))],
        [FieldTransform(path: path, operation: .arrayUnion([random.value(depth: 1)]))],
      ]))
  }

  mutating func step() {
    now = Timestamp(microseconds: now.microseconds + Int64.random(in: 1_000...900_000, using: &random))
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<8: apply(.input(.key(random.pick(keys)), at: now))
    case 8: apply(.tick(now))
    case 9: apply(.input(.paste(random.text()), at: now))
    case 10:
      apply(.input(.resize(Size(width: random.pick([120, 80, 40]), height: random.pick([36, 24, 10]))), at: now))
    case 11..<15: change()
    default: apply(Action(news(), at: now))
    }
  }

  private mutating func change() {
    let index = Int.random(in: documents.indices, using: &random)
    let (old, new) = (documents[index], document("orders"))
    documents[index] = new
    for listener in listeners {
      let snapshot = ListenerSnapshot(
        listener: listener.tag,
        changes: [
          .init(
            random.pick([.added, .modified, .removed, .metadata]), new, previous: old, now: random.pick([nil, new]))
        ],
        isFromCache: .random(using: &random), syncStateChanged: .random(using: &random),
        hasPendingWrites: .random(using: &random), count: documents.count,
        causes: random.pick([
          [.server(SnapshotVersion(now))], [.localWrite(BatchID(batch))], [.limboResolved(new.key), .existenceFilter],
          [.rejected(BatchID(batch), RPCStatus(.aborted, "no"))], [.bundleLoaded("b")],
        ]))
      apply(.client(.snapshot(snapshot), at: now))
    }
    for window in windows { load(window.tag, window.path) }
  }

  private mutating func load(_ tag: WindowTag, _ path: ResourcePath) {
    let found = path.text == "orders" ? documents : []
    apply(.client(.windowLoaded(tag, found, isFromCache: false, total: random.pick([nil, found.count])), at: now))
  }

  private mutating func news() -> ScreenEvent {
    batch += 1
    let (id, key) = (BatchID(batch), documents[0].key)
    let waiting = PendingWrite(
      id: id, mutations: [mutation()], localWriteTime: now, byteCount: 96, attempts: 1,
      state: random.pick([.held, .queued, .inFlight, .backoff(until: now.advanced(seconds: 9))]),
      lastError: random.pick([nil, status()]))
    let field = WriteConflict.Field(
      path: FieldPath("secret"), base: random.value(depth: 1), mine: secret ?? random.value(depth: 1), theirs: nil)
    let query = Query(
      path: ResourcePath("orders"),
      filters: [.or([.field(FieldFilter(FieldPath("secret"), .greaterThan, secret ?? .double(.nan))), .and([])])],
      explicitOrderBy: [OrderBy(FieldPath("secret"), .descending)], limit: 3, limitType: .last,
      start: Bound(values: [secret ?? .null], isInclusive: false))
    let request = EditRequest(.document(key), text: "{\"secret\": \(secret.map { "\($0)" } ?? "1")}")
    let index = try? FieldIndex(collectionGroup: "orders", fields: [.init(FieldPath("a"), .contains)])
    switch Int.random(in: 0..<25, using: &random) {
    case 0: return .client(.listenerFailed(ListenerTag(9), status()))
    case 1: return .client(.windowFailed(WindowTag(1), status()))
    case 2: return .client(.located(WindowTag(2), random.pick([nil, key]), cachedCount: 4))
    case 3: return .client(.collections(below: random.pick([.root, key.path]), ["orders", "é", "users"]))
    case 4: return .client(.missingDocuments(in: ResourcePath("orders"), [key]))
    case 5: return .client(.counted(ResourcePath("orders"), 42))
    case 6: return .client(.reads([ReadMeter(target: query.target, sent: 3, kept: 1)]))
    case 7:
      let status = ClientStatus(
        onlineState: random.pick([.online, .offline, .unknown]), isNetworkEnabled: .random(using: &random),
        reason: random.pick([nil, .idle, .failed(status()), .noAnswer]), nextRetry: random.pick([nil, now]), since: now,
        watch: StreamStatus(.backoff(until: now), lastError: status()), activeTargets: 2,
        roundTrips: [.milliseconds(3), .seconds(12)], cacheByteCount: 1 << 20, isDurable: .random(using: &random))
      return .client(.status(status))
    case 8: return .client(.storage(StorageNotice(badge: "IN MEMORY: x", message: random.text())))
    case 9, 10: return .client(.pendingWrites([waiting], of: QueueSize(count: 1, total: 3, byteCount: 96)))
    case 11: return .client(.writeAcknowledged(BatchID(batch - 1), after: random.pick([nil, .milliseconds(184)])))
    case 12: return .client(.writeRejected(BatchID(batch - 1), status()))
    case 13: return .client(.writeCancelled(BatchID(batch - 1)))
    case 14:
      let rejection = Rejection(status: status(), time: now, attempts: 2)
      return .client(
        .rejectedWrites([
          RejectedWrite(id: id, mutations: [mutation()], localWriteTime: now, rejection: rejection, byteCount: 9)
        ]))
    case 15: return .client(.rejectedWritesForgotten([BatchID(batch - 2)]))
    case 16: return .client(.detail(key, remote: document("orders"), overlay: mutation(), local: documents[0]))
    case 17:
      return .client(.conflict(WriteConflict(batch: id, key: key, fields: [field], commitTime: SnapshotVersion(now))))
    case 18:
      return .host(
        .editConflict(
          EditConflict(
            key: key, fields: [field], isDeleted: false, overwriting: [mutation()], keepingTheirs: [],
            replacing: [mutation()], again: random.pick([.text(request), .fields(over: documents[0].data?.fields)]))))
    case 19:
      return .host(
        .undoConflict(
          UndoConflict(
            batch: id, isRedo: true,
            documents: [
              .init(key: key, left: nil, now: documents[0].data?.fields, writing: .init(.fields, [field]))
            ])))
    case 20: return .host(.editorFailed(request, line: 3, column: 4, reason: "no comma"))
    case 21:
      let explanation = QueryExplanation(
        query: query, plan: .index,
        indexes: index.map {
          [
            IndexUse(
              index: $0, servedFilters: [FieldFilter(FieldPath("secret"), .equal, secret ?? .null)], servesOrder: true)
          ]
        } ?? [], documentsScanned: 1, documentsReturned: 2, duration: .microseconds(1234))
      return .client(.explained(query, random.pick([.success(explanation), .failure(status())])))
    case 22: return .host(.editorGaveUp(random.text()))
    case 23: return .client(.indexes(index.map { [IndexState(definition: $0, isAutomatic: true)] } ?? []))
    default: return .host(.notice(random.pick([.info, .warning, .error]), random.text()))
    }
  }

  mutating func apply(_ action: Action) {
    actions.append(action)
    for effect in update(&state, action) {
      switch effect {
      case .client(.listen(let tag, let query, _)): listeners.append((tag, query))
      case .client(.unlisten(let tag)): listeners.removeAll { $0.tag == tag }
      case .client(.openWindow(let tag, let query)):
        windows = (windows + [(tag, query.path)]).suffix(3)
        load(tag, query.path)
      case .client(.openDetail(let key)):
        let document = documents.first { $0.key == key }
        apply(.client(.detail(key, remote: document, overlay: nil, local: document), at: now))
      default: break
      }
    }
  }
}
