// SPDX-License-Identifier: Apache-2.0
import ClientPort
import ClientTesting
import Dashboard
import DashboardModel
import FirestoreBackend
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import FirestoreTesting
import Foundation
import Glibc
import LocalSockets
import Testing

@testable import CommandOutput
@testable import CommandTransfer
@testable import DashboardHost
@testable import Hearth
@testable import HearthCommand

/// Both ends of the line between a program and who watches it.
@Suite("Inspecting a running program", .timeLimit(.minutes(10)))
struct InspectionTests {
  /// A program with one listener, in a folder of its own.
  fileprivate final class Program: Sendable {
    let folder: InspectionFolder
    let client: Client
    let mailbox = SnapshotMailbox()
    private let listener: ListenerID

    init() throws {
      folder = InspectionFolder(path: NSTemporaryDirectory() + "/hi-\(UUID().uuidString.prefix(8))")
      let backend = try LocalBackend(BackendConfiguration(location: .memory, now: { .now }))
      let faults = FaultInjector()
      let datastore = FaultyDatastore(
        InProcessDatastore(backend: backend, database: database), faults: faults, clock: ContinuousClock())
      let greeting = InspectionGreeting(
        process: getpid(), name: "shop", database: database, backend: .embedded, since: .now)
      var plan = Inspection.Plan(folder: folder, greeting: greeting, faults: faults)
      // Nothing is missed for want of time.
      plan.restingShare = nil
      client = Client(
        LocalStoreConfiguration(location: .memory, policy: .never, database: database), datastore: datastore,
        clock: HastyClock(speed: 1), inspectedAs: plan)
      listener = client.engine.listen(
        to: Query(path: ResourcePath("orders")), options: ListenerOptions(includeMetadataChanges: true), into: mailbox)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder.path) }

    func programs() throws -> InspectablePrograms { try InspectablePrograms(in: folder) }

    func watch(control: Bool = false) throws -> Watching {
      let (_, greeting, link) = try programs().entry("shop")
      link.send(InspectionWord(control: control))
      return Watching(link, greeting)
    }

    func write(_ path: String, _ fields: Fields) async throws {
      _ = try await client.engine.write([set(path, fields)]).local
    }
  }

  fileprivate final class Watching {
    let link: InspectionLink
    let greeting: InspectionGreeting
    private var unread: [ClientEvent] = []

    init(_ link: InspectionLink, _ greeting: InspectionGreeting) { (self.link, self.greeting) = (link, greeting) }

    /// What the next news says that says something wanted; `nil` at the end.
    func next<Found>(_ wanted: (ClientEvent) -> Found?) async throws -> Found {
      while true {
        while !unread.isEmpty {
          let event = unread.removeFirst()
          if let found = wanted(event) { return found }
          if case .attachmentEnded(let reason) = event { throw RPCStatus(.cancelled, reason) }
        }
        guard let lines = await link.next() else { throw RPCStatus(.cancelled, "The program has ended.") }
        unread = try lines.map { try InspectionLine.value(ClientEvent.self, of: $0) }
      }
    }

    /// Sends a request, and waits for the event that is wanted.
    func answer<Found>(_ request: ClientRequest, _ wanted: (ClientEvent) -> Found?) async throws -> Found {
      link.send(request)
      return try await next(wanted)
    }

    func refusal(of request: ClientRequest) async throws -> RPCStatus {
      try await answer(request) { if case .requestFailed(let status) = $0 { status } else { nil } }
    }
  }

  @Test("A watcher receives listeners, snapshots with causes and pending writes")
  func told() async throws {
    let program = try Program()
    let watcher = try program.watch()
    #expect(watcher.greeting.name == "shop" && watcher.greeting.database == database)
    let id = try await watcher.next { if case .listenerStarted(let state) = $0 { state.id } else { nil } }
    await program.client.engine.disableNetwork()
    try await program.write("orders/a", ["n": 1])

    // What waits may be told before the snapshot or after it.
    var pending: Int?
    func queued(_ event: ClientEvent) -> Int? {
      if case .pendingWrites(let writes, _) = event, !writes.isEmpty { writes.count } else { nil }
    }
    let snapshot = try await watcher.next { event -> ListenerSnapshot? in
      pending = pending ?? queued(event)
      return if case .snapshot(let snapshot) = event, snapshot.changes.isEmpty == false { snapshot } else { nil }
    }
    #expect(snapshot.listener.rawValue == id && snapshot.changes.map(\.document.key.path.text) == ["orders/a"])
    #expect(snapshot.causes.map(\.words.name) == ["local-write"] && snapshot.count == 1)
    if pending == nil { pending = try await watcher.next(queued) }
    #expect(pending == 1)
    try await watcher.answer(.openDetail(key("orders/a"))) {
      if case .detail(key("orders/a"), nil, .some, .some, _) = $0 { () } else { nil }
    }
    await program.client.terminate()
    try await watcher.next { if case .closed = $0 { () } else { nil } }
    #expect(try program.programs().entries.isEmpty)
  }

  @Test("A viewer cannot change a program, and a controller's exit restores its network")
  func control() async throws {
    let program = try Program()
    let looker = try program.watch()
    let status = try await looker.refusal(of: .setNetwork(enabled: false))
    #expect(status.code == .permissionDenied && status.message.contains("--control"))

    let controller = try program.watch(control: true)
    controller.link.send(ClientRequest.setNetwork(enabled: false))
    for await status in program.client.engine.status() where !status.isNetworkEnabled {
      #expect(status.isDisabledByWatcher)
      break
    }
    controller.link.cut()
    for await status in program.client.engine.status() where status.isNetworkEnabled { break }
    await program.client.engine.disableNetwork()
    for await status in program.client.engine.status() where !status.isNetworkEnabled {
      #expect(!status.isDisabledByWatcher)
      break
    }
    await program.client.terminate()
  }

  @Test("A watcher's request with extreme numbers and text is answered safely")
  func extremeRequests() async throws {
    let program = try Program()
    try await program.write("orders/a", ["n": 1])
    let watcher = try program.watch(control: true)
    var query = Query(path: ResourcePath("orders"))
    query.filters = [.field(FieldFilter(FieldPath("n"), .in, .array([.integer(1), .double(0.5)])))]
    query.explicitOrderBy = [OrderBy(FieldPath("n"))]
    query.limit = 5
    query.start = Bound(values: [.integer(0)], isInclusive: true)
    var settings = FaultSettings()
    (settings.latency, settings.jitter, settings.lostAcknowledgements) = (.milliseconds(1), .milliseconds(1), 1)
    let requests: [ClientRequest] = [
      .ask(WindowTag(1), query), .locate(WindowTag(1), query, offset: 1),
      .listCollections(below: ResourcePath("orders/a")),
      .count(ResourcePath("orders")), .openDetail(key("orders/a")), .explain(query), .preview(query), .retryNow,
      .cancelWrite(BatchID(1)), .resend(BatchID(1)), .dropRejected([BatchID(1)]), .setFaults(settings),
      .causeFault(.write(.reject(.aborted))), .setNetwork(enabled: true), .lookInside, .surveyCache,
      .restartStream(.write), .write([set("orders/b", ["n": 1])]), .undo(), .evict(.path(ResourcePath("orders"))),
    ]
    let extremes = [
      "9223372036854775807", "-9223372036854775808", "-1", "0", "65536", "2147483648", "4398046511104", "1e308", "null",
    ]
    var (number, refused) = (0, 0)
    for request in requests {
      let plain = String(decoding: InspectionLine.bytes(request), as: UTF8.self)
      // Every number, list and text in turn.
      let parts = plain.matches(of: /-?[0-9]+(\.[0-9]+)?|\[[^\[\]]*\]|: "[^"]*"/).map(\.range)
      for part in parts {
        for other in extremes + ["[]", ": \"\"", ": \"a//b\"", ": \"a\""] {
          let text = plain.replacingCharacters(in: part, with: other)
          guard let changed = try? InspectionLine.value(ClientRequest.self, of: text.utf8) else { continue }
          number += 1
          watcher.link.send(changed)
          // The program answers in the order of the requests.
          let last = WindowTag(1_000_000 + number)
          try await watcher.answer(.ask(last, Query(path: ResourcePath("orders")))) { event in
            if event.isFailure { refused += 1 }
            return if case .windowLoaded(last, _, _, _) = event { () } else { nil }
          }
        }
      }
    }
    // Waits would make this long.
    watcher.link.send(ClientRequest.setFaults(FaultSettings()))
    #expect(number > 150 && refused > 50, "\(number) requests, \(refused) refused")
    let found = try await watcher.answer(.locate(WindowTag(7), Query(path: ResourcePath("orders")), offset: 0)) {
      if case .located(WindowTag(7), let key, cachedCount: 1) = $0 { key } else { nil }
    }
    #expect(found == key("orders/a"))
    await program.client.terminate()
  }

  @Test("A watcher sees the client's internals, and restarting streams requires control")
  func inside() async throws {
    let program = try Program()
    try await program.write("orders/a", ["n": 1])
    let looking = try program.watch()
    let inside = try await looking.answer(.lookInside) {
      if case .inside(.success(let inside)) = $0 { inside } else { nil }
    }
    let survey = try await looking.answer(.surveyCache) {
      if case .surveyed(.success(let survey)) = $0 { survey } else { nil }
    }
    let refused = try await looking.refusal(of: .restartStream(.watch))
    #expect(inside.targets.map(\.target) == [Query(path: ResourcePath("orders")).target])
    #expect(inside.streams.map(\.kind) == [.watch, .write] && inside.streams.allSatisfy { $0.bytes == nil })
    #expect(inside.queries.map(\.query.path.text) == ["orders"])
    #expect(survey.policy == .never && survey.targets == 1)
    #expect(refused.code == .permissionDenied)
    await program.client.terminate()
  }

  @Test("A watched collection larger than one response is read completely")
  @MainActor
  func pages() async throws {
    let program = try Program()
    for half in 0..<2 {
      let mutations = (0..<400).map { set("orders/o\(1000 + half * 400 + $0)", ["n": .integer(Int64($0))]) }
      _ = try await program.client.engine.write(mutations).local
    }
    let (_, greeting, link) = try program.programs().entry("shop")
    let (events, continuation) = AsyncStream.makeStream(of: ClientEvent.self)
    let attached = AttachedProgram(process: getpid(), name: "shop", allowsControl: false)
    let bridge = AttachedBridge(link, attached, greeting) { action in
      if case .client(let event, _) = action { continuation.yield(event) }
    }
    bridge.begin()
    let following = Task { await bridge.follow() }
    let orders = ResourcePath("orders")
    bridge.perform(.search(WindowTag(1), SearchRequest(Query(path: orders), "o179", in: database)))
    var found: SearchUpdate?
    for await case .searched(_, let news) in events where news.isDone {
      found = news
      break
    }
    #expect(found?.looked == 800 && found?.found == 10)

    bridge.perform(.countFieldTypes(in: orders))
    var types: FieldTypes?
    for await case .fieldTypes(orders, .success(let counted)) in events {
      types = counted
      break
    }
    #expect(types?.documents == 800 && types?.fields[FieldPath("n")]?.kinds["integer"]?.count == 800)
    bridge.close()
    await following.value
    await program.client.terminate()
  }

  @Test("A program counts 200 collections for a watcher at the same time")
  func manyRequests() async throws {
    let program = try Program()
    let watcher = try program.watch()
    let paths = (0..<200).map { ResourcePath("c\($0)") }
    for path in paths { watcher.link.send(ClientRequest.count(path)) }
    var counted: Set<ResourcePath> = []
    while counted.count < paths.count {
      let path = try await watcher.next { event -> ResourcePath? in
        #expect(!event.isFailure)
        return if case .counted(let path, 0, isFromCache: true) = event { path } else { nil }
      }
      counted.insert(path)
    }
    #expect(counted == Set(paths))
    await program.client.terminate()
  }

  @Test("A watcher with another version gets an error with both versions")
  func version() async throws {
    let program = try Program()
    let (_, _, link) = try program.programs().entry("shop")
    var word = InspectionWord(control: false)
    word.hearth = 99
    link.send(word)
    let watcher = Watching(link, program.greetingOfTest)
    let reason = try await watcher.next { if case .attachmentEnded(let reason) = $0 { reason } else { nil } }
    #expect(reason.contains("format 1, not 99"))
    await program.client.terminate()
  }

  @Test("A slow watcher receives a count of what it missed, and listeners continue")
  func silence() async throws {
    let program = try Program()
    let watcher = try program.watch()
    _ = try await watcher.next { if case .listenerStarted(let state) = $0 { state.id } else { nil } }
    let text = Value.string(String(repeating: "x", count: 30_000))
    for number in 0..<100 { try await program.write("orders/\(number)", ["text": text, "n": .integer(Int64(number))]) }
    // Each is delivered whether or not somebody reads.
    var count = 0
    while count < 100, case .snapshot(let snapshot)? = await program.mailbox.next() { count = snapshot.documents.count }
    #expect(count == 100)

    let (missed, results) = try await watcher.next { event -> (Int, [ListenerTag: ListenerState.Result])? in
      if case .snapshotsMissed(let missed, let results) = event, missed > 0 { (missed, results) } else { nil }
    }
    #expect(missed > 0 && results.values.allSatisfy { $0.count ?? 0 > 0 })
    await program.client.terminate()
  }

  @Test("Listing programs removes files of ended programs and names unresponsive ones")
  func list() async throws {
    let program = try Program()
    // No process has the number: it is above what the system gives.
    let left = try LocalSocket("\(Int32.max).sock", in: program.folder.path)
    close(try left.listen())
    let mute = try LocalSocket("1.sock", in: program.folder.path)
    let descriptor = try mute.listen()
    defer { close(descriptor) }

    let programs = try program.programs()
    #expect(programs.entries.map(\.address.process) == [1, getpid()])
    let address = try #require(programs.entries.last?.address)
    #expect(!FileManager.default.fileExists(atPath: left.path))
    let table = programs.table(now: .now)
    #expect(table.count == 3 && table[1].text.contains("does not answer") && table[2].text.contains("\(address)"))
    #expect(throws: CommandFailure.self) { try programs.entry("1") }
    let name = try #require(programs.entries.first?.name)
    #expect(name == InspectionAddress(process: 1).programName)
    do throws(CommandFailure) { _ = try programs.entry(name) } catch { #expect(error.status == .unavailable) }
    do throws(CommandFailure) { _ = try programs.entry("nothing") } catch {
      #expect(error.status == .noInput && error.message.contains("\(address) (shop)"))
    }
    await program.client.terminate()
  }

  @Test("Two clients with the same name are distinguished by number")
  func ambiguous() async throws {
    let program = try Program()
    let greeting = program.greetingOfTest
    let second = Client(
      LocalStoreConfiguration(location: .memory, policy: .never, database: database),
      datastore: UnavailableDatastore(because: "It is a test."),
      inspectedAs: Inspection.Plan(folder: program.folder, greeting: greeting, faults: FaultInjector()))
    let programs = try program.programs()
    do throws(CommandFailure) {
      _ = try programs.entry("shop")
      Issue.record("One was chosen.")
    } catch {
      #expect(error.status == .usage)
      for entry in programs.entries { #expect(error.message.contains("\(entry.address) (")) }
    }
    #expect(programs.entries.count == 2)
    for entry in programs.entries { #expect(try programs.entry("\(entry.address)").0 == entry.address) }
    await second.terminate()
    await program.client.terminate()
  }

  @Test("A folder that other users can access is rejected by client and watcher")
  func folder() throws {
    let folder = InspectionFolder(path: NSTemporaryDirectory() + "/hi-\(UUID().uuidString.prefix(8))")
    #expect(mkdir(folder.path, 0o755) == 0 && chmod(folder.path, 0o777) == 0)
    defer { rmdir(folder.path) }
    #expect(throws: InspectionFolder.Failure.self) { try folder.prepare() }
    do throws(CommandFailure) {
      _ = try InspectablePrograms(in: folder)
      Issue.record("It was used.")
    } catch {
      #expect(error.status == .permissionDenied && error.message.contains("chmod 700"))
    }
  }

  @Test("HEARTH_INSPECT in the environment overrides the program's settings")
  func permission() {
    let settings = FirestoreSettings()
    #expect(!InspectionPermission.isGiven(unlessSaid: settings.values.isInspectable, [:]))
    #expect(InspectionPermission.isGiven(unlessSaid: settings.values.isInspectable, ["HEARTH_INSPECT": "1"]))
    settings.isInspectable = true
    #expect(InspectionPermission.isGiven(unlessSaid: settings.values.isInspectable, [:]))
    #expect(!InspectionPermission.isGiven(unlessSaid: settings.values.isInspectable, ["HEARTH_INSPECT": "0"]))
  }
}

extension ClientEvent {
  fileprivate var isFailure: Bool {
    switch self {
    case .requestFailed, .windowFailed, .detailFailed, .collectionsUnlisted, .explained(_, .failure),
      .previewed(_, .failure):
      true
    default: false
    }
  }
}

extension InspectionTests.Program {
  fileprivate var greetingOfTest: InspectionGreeting {
    InspectionGreeting(process: getpid(), name: "shop", database: database, backend: .embedded, since: .now)
  }
}
