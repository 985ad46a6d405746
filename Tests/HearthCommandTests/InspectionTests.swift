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
@Suite("Inspection", .timeLimit(.minutes(2)))
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
    private var unread: [InspectionNews] = []

    init(_ link: InspectionLink, _ greeting: InspectionGreeting) { (self.link, self.greeting) = (link, greeting) }

    /// What the next news says that says something wanted; `nil` at the end.
    func next<Found>(_ wanted: (InspectionNews) -> Found?) async throws -> Found {
      while true {
        while !unread.isEmpty {
          let news = unread.removeFirst()
          if let found = wanted(news) { return found }
          if case .refused(let reason) = news { throw RPCStatus(.cancelled, reason) }
        }
        guard let lines = await link.next() else { throw RPCStatus(.cancelled, "The program has ended.") }
        unread = try lines.map { try InspectionLine.value(InspectionNews.self, of: $0) }
      }
    }

    func answer(to number: Int, _ request: InspectionRequest) async throws -> InspectionAnswer {
      link.send(NumberedRequest(number, request))
      return try await next { if case .answer(number, let answer) = $0 { answer } else { nil } }
    }
  }

  @Test("A watcher is told the listeners that are there, each snapshot with why it fired, and what waits")
  func told() async throws {
    let program = try Program()
    let watcher = try program.watch()
    #expect(watcher.greeting.name == "shop" && watcher.greeting.database == database)
    let id = try await watcher.next { if case .listener(let state) = $0 { state.id } else { nil } }
    await program.client.engine.disableNetwork()
    try await program.write("orders/a", ["n": 1])

    // What waits may be told before the snapshot or after it.
    var pending: Int?
    func queued(_ news: InspectionNews) -> Int? {
      guard case .status(let told) = news else { return nil }
      let size = told.completed(with: nil).queue.count
      return size > 0 ? size : nil
    }
    let snapshot = try await watcher.next { news -> ListenerSnapshot? in
      pending = pending ?? queued(news)
      return if case .snapshot(let snapshot) = news, snapshot.changes.isEmpty == false { snapshot } else { nil }
    }
    #expect(snapshot.listener.rawValue == id && snapshot.changes.map(\.document.key.path.text) == ["orders/a"])
    #expect(snapshot.causes.map(\.words.name) == ["local-write"] && snapshot.count == 1)
    if pending == nil { pending = try await watcher.next(queued) }
    #expect(pending == 1)
    let answer = try await watcher.answer(to: 7, .layers(key("orders/a")))
    guard case .layers(nil, .some, .some) = answer else {
      Issue.record("\(answer)")
      return
    }
    await program.client.terminate()
    try await watcher.next { if case .closed = $0 { () } else { nil } }
    #expect(try program.programs().entries.isEmpty)
  }

  @Test("Who only looks changes nothing; who controls switches the network, which is on again when it is gone")
  func control() async throws {
    let program = try Program()
    let looker = try program.watch()
    guard case .failed(let status) = try await looker.answer(to: 1, .setNetwork(false)) else {
      Issue.record("It was done.")
      return
    }
    #expect(status.code == .permissionDenied && status.message.contains("--control"))

    let controller = try program.watch(control: true)
    guard case .done = try await controller.answer(to: 1, .setNetwork(false)) else {
      Issue.record("It was refused.")
      return
    }
    for await status in program.client.engine.status() where !status.isNetworkEnabled { break }
    controller.link.cut()
    for await status in program.client.engine.status() where status.isNetworkEnabled { break }
    await program.client.terminate()
  }

  @Test("Whatever numbers and texts stand in a request, the program answers it and goes on")
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
    let requests: [InspectionRequest] = [
      .documents(query), .locate(query, offset: 1), .collections(below: ResourcePath("orders/a")),
      .count(ResourcePath("orders")), .layers(key("orders/a")), .explain(query), .preview(query), .retryNow,
      .cancelWrite(BatchID(1)), .resend(BatchID(1)), .dropRejected([BatchID(1)]), .setFaults(settings),
      .injectFault(.reject(.aborted)), .setNetwork(true), .inside, .survey, .restart(.write),
    ]
    let extremes = ["9223372036854775807", "-9223372036854775808", "-1", "0", "2147483648", "1e308", "null"]
    var (number, refused) = (0, 0)
    for request in requests {
      let plain = String(decoding: InspectionLine.bytes(NumberedRequest(0, request)), as: UTF8.self)
      // Every number, list and text in turn, but the request's own number.
      let parts = plain.matches(of: /-?[0-9]+(\.[0-9]+)?|\[[^\[\]]*\]|: "[^"]*"/).map(\.range)
      for part in parts {
        for other in extremes + ["[]", ": \"\"", ": \"a//b\"", ": \"a\""] {
          let text = plain.replacingCharacters(in: part, with: other)
          guard let changed = try? InspectionLine.value(NumberedRequest.self, of: text.utf8) else { continue }
          number += 1
          if case .failed = try await watcher.answer(to: number, changed.request) { refused += 1 }
        }
      }
    }
    // Waits would make this long.
    _ = try await watcher.answer(to: number + 1, .setFaults(FaultSettings()))
    #expect(number > 150 && refused > 50, "\(number) requests, \(refused) refused")
    guard
      case .located(let found, 1) = try await watcher.answer(
        to: -1, .locate(Query(path: ResourcePath("orders")), offset: 0))
    else {
      Issue.record("It does not answer as before.")
      return
    }
    #expect(found == key("orders/a"))
    await program.client.terminate()
  }

  @Test("A watcher is told what the client has inside; to begin its streams anew takes control")
  func inside() async throws {
    let program = try Program()
    try await program.write("orders/a", ["n": 1])
    let looking = try program.watch()
    guard case .inside(let inside) = try await looking.answer(to: 1, .inside),
      case .survey(let survey) = try await looking.answer(to: 2, .survey),
      case .failed(let refused) = try await looking.answer(to: 3, .restart(.watch))
    else {
      Issue.record("It does not answer.")
      return
    }
    #expect(inside.targets.map(\.target) == [Query(path: ResourcePath("orders")).target])
    #expect(inside.streams.map(\.kind) == [.watch, .write] && inside.streams.allSatisfy { $0.bytes == nil })
    #expect(inside.queries.map(\.query.path.text) == ["orders"])
    #expect(survey.policy == .never && survey.targets == 1)
    #expect(refused.code == .permissionDenied)
    await program.client.terminate()
  }

  @Test("A collection that is larger than one answer is looked through to its end, and its fields are counted whole")
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
    let filter = try #require(try BrowserFilter(RowFilter("o179", in: database)))
    bridge.perform(.search(WindowTag(1), SearchRequest(Query(path: orders), filter, in: database)))
    var found: SearchNews?
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

  @Test("A watcher of another version is told which versions differ")
  func version() async throws {
    let program = try Program()
    let (_, _, link) = try program.programs().entry("shop")
    var word = InspectionWord(control: false)
    word.hearth = 99
    link.send(word)
    let watcher = Watching(link, program.greetingOfTest)
    let reason = try await watcher.next { if case .refused(let reason) = $0 { reason } else { nil } }
    #expect(reason.contains("version 1, not 99"))
    await program.client.terminate()
  }

  @Test("One who does not read is told what it missed, when it reads again; the program's listeners go on")
  func silence() async throws {
    let program = try Program()
    let watcher = try program.watch()
    _ = try await watcher.next { if case .listener(let state) = $0 { state.id } else { nil } }
    let text = Value.string(String(repeating: "x", count: 30_000))
    for number in 0..<100 { try await program.write("orders/\(number)", ["text": text, "n": .integer(Int64(number))]) }
    // Each is delivered whether or not somebody reads.
    var count = 0
    while count < 100, case .snapshot(let snapshot)? = await program.mailbox.next() { count = snapshot.documents.count }
    #expect(count == 100)

    let (missed, results) = try await watcher.next { news -> (Int, [Int: ListenerState.Result])? in
      if case .missed(let missed, let results) = news, missed > 0 { (missed, results) } else { nil }
    }
    #expect(missed > 0 && results.values.allSatisfy { $0.count ?? 0 > 0 })
    await program.client.terminate()
  }

  @Test("The list leaves out, and removes, what is left of programs that are gone; who does not answer is named")
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

  @Test("Two clients of one name are told apart by their numbers")
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

  @Test("A folder that others may use is refused by both ends, with the way out")
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

  @Test("The environment counts more than the settings")
  func permission() {
    let settings = FirestoreSettings()
    #expect(!InspectionPermission.isGiven(unlessSaid: settings.values.isInspectable, [:]))
    #expect(InspectionPermission.isGiven(unlessSaid: settings.values.isInspectable, ["HEARTH_INSPECT": "1"]))
    settings.isInspectable = true
    #expect(InspectionPermission.isGiven(unlessSaid: settings.values.isInspectable, [:]))
    #expect(!InspectionPermission.isGiven(unlessSaid: settings.values.isInspectable, ["HEARTH_INSPECT": "0"]))
  }
}

extension InspectionTests.Program {
  fileprivate var greetingOfTest: InspectionGreeting {
    InspectionGreeting(process: getpid(), name: "shop", database: database, backend: .embedded, since: .now)
  }
}
