// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOutput
import DashboardHost
import DashboardModel
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreProtoJSON
import FirestoreProtocol
import FirestoreQuery
import FirestoreService
import FirestoreText
import Foundation
import Scenarios

/// Reads the story of clients from the lines that `hearth proxy --json` prints: each connection is a client, unless it takes
/// the place of one that broke.
struct TrafficStory {
  private struct Watched {
    var tag: Int
    var query: Query?
    /// The documents that the server has told, with what it has not made visible yet.
    var known: Set<DocumentKey> = []
    var changes: [StorySnapshot.Change] = []
    var isCurrent = false
  }

  private struct Stream {
    var client: String
    var method = ""
    var database: DatabaseID?
    var targets: [TargetID: Watched] = [:]
    /// The writes that were sent here and are not answered.
    var sent: [Int] = []
    var isOver = false
  }

  private let name: String
  private var story: Story?
  private let summary: String
  private var streams: [Int: Stream] = [:]
  private var clients: [Int: String] = [:]
  private var written: [Int: (client: String, mutations: [Mutation])] = [:]
  private var unanswered: Set<Int> = []
  private var lastTag = 0
  private var time = Timestamp(seconds: 0)
  private var lacksContents = false
  private var hasReads = false

  /// - Throws: `bad-data` with the number of a line that is none of the proxy's, or for lines that no step says.
  static func read(_ data: Data, name: String) throws(CommandFailure) -> Story {
    var reader = TrafficStory(name: name, summary: "What passed the proxy, by \(name).")
    for (number, line) in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      if line.isEmpty { continue }
      let event: ProtocolEvent
      do throws(JSONError) { event = try RecordingLine.value(ProtocolEvent.self, of: line, numbers: .ofAnySize) } catch
      {
        throw CommandFailure(.badData, "\(name):\(number + 1), column \(error.column): \(error.reason)")
      }
      let distance = Duration.milliseconds(reader.time.milliseconds(since: event.time))
      if distance > Recording.clockSlack {
        throw CommandFailure(
          .badData,
          "\(name):\(number + 1), column 1: The time of this line is \(DurationText.text(distance)) before that of an "
            + "earlier line. Restore the order in which the lines were printed.")
      }
      reader.read(event)
    }
    return try reader.finished()
  }

  private init(name: String, summary: String) { (self.name, self.summary) = (name, summary) }

  private func finished() throws(CommandFailure) -> Story {
    guard var story, !story.clients.isEmpty, story.moments.contains(where: { $0.client != nil }) else {
      let hint = lacksContents ? "; its messages have no contents, which hearth proxy --json --values tells" : ""
      throw CommandFailure(.badData, "\(name): nothing in it is a step\(hint).")
    }
    let start = story.moments[0].time
    if hasReads {
      story.moments.insert(Story.Moment(start, nil, .untold("reads, and other calls that are no step")), at: 0)
    }
    if lacksContents {
      story.moments.insert(
        Story.Moment(start, nil, .untold("messages without contents; --values of the proxy tells them")),
        at: 0)
    }
    return story
  }

  // MARK: Lines

  private mutating func read(_ event: ProtocolEvent) {
    time = max(time, event.time)
    switch event.kind {
    case .faults: faults(event.remark ?? "")
    case .missed: tell(.untold("events that the proxy missed"), nil)
    default:
      guard let connection = event.connection, let number = event.stream else { return }
      if streams[number] == nil {
        let client = client(of: connection)
        streams[number] = Stream(client: client, method: event.method)
        if !isTold(number) { hasReads = true }
      }
      let content = event.message?.content?.json
      if content == nil, event.kind == .request || event.kind == .response, isTold(number) { lacksContents = true }
      switch event.kind {
      case .request: if let content { request(content, number) }
      case .response: if let content { answer(content, number) }
      case .ended: ended(event.status?.code ?? .ok, number)
      case .fault: fault(event.remark ?? "", number)
      default: break
      }
    }
  }

  /// Whether the messages of a stream are of a kind that steps say.
  private func isTold(_ number: Int) -> Bool { ["Listen", "Write", "Commit"].contains(streams[number]?.method) }

  /// The client of a connection: a new one, or one all of whose streams have ended.
  private mutating func client(of connection: Int) -> String {
    if let client = clients[connection] { return client }
    let busy = Set(streams.values.filter { !$0.isOver }.map(\.client))
    let idle = Set(clients.values).subtracting(busy).min()
    let client = idle ?? "client-\(Set(clients.values).count + 1)"
    clients[connection] = client
    return client
  }

  private mutating func tell(_ event: Story.Event, _ client: String?) {
    if story == nil { story = Story(summary, in: DatabaseID(project: "p")) }
    if let client, story?.clients.contains(where: { $0.name == client }) != true {
      story?.clients.append((client, nil))
    }
    story?.add(event, at: time, of: client)
  }

  private mutating func note(_ database: DatabaseID, _ number: Int) {
    streams[number]?.database = database
    if story == nil { story = Story(summary, in: database) }
    story?.database = database
  }

  private func bytes(_ content: JSONSyntax, _ schema: MessageSchema) -> [UInt8]? {
    // A message that cannot be read is one of another program, and told as such.
    try? MessageReader.bytes(of: content, schema, .lenient)
  }

  // MARK: Requests

  private mutating func request(_ content: JSONSyntax, _ number: Int) {
    guard let stream = streams[number] else { return }
    do throws(RPCStatus) {
      switch stream.method {
      case "Listen":
        guard let bytes = bytes(content, Schema.listenRequest) else { return }
        let (database, watch) = try RecordedRequest.watch(bytes)
        note(database, number)
        self.watch(watch, number)
      case "Write":
        guard let bytes = bytes(content, Schema.writeRequest) else { return }
        let (database, mutations) = try RecordedRequest.writes(ofStream: bytes, in: stream.database)
        note(database, number)
        if !mutations.isEmpty { write(mutations, number) }
      case "Commit":
        guard let bytes = bytes(content, Schema.commitRequest) else { return }
        let (database, mutations) = try RecordedRequest.writes(ofCommit: bytes)
        note(database, number)
        if !mutations.isEmpty { write(mutations, number) }
      default: return
      }
    } catch { tell(.untold("a request of \(stream.method) that cannot be read: \(error.message)"), nil) }
  }

  private mutating func watch(_ watch: RecordedRequest.Watch, _ number: Int) {
    guard let client = streams[number]?.client else { return }
    switch watch {
    case .remove(let id):
      if let watched = streams[number]?.targets.removeValue(forKey: id) { tell(.stop(tag: watched.tag), client) }
    case .other(_, let reason): tell(.untold("a listener that no step says: \(reason)"), client)
    case .add(let id, let query):
      // A stream that takes the place of one that broke begins with the same targets.
      for (other, stream) in streams where stream.client == client && stream.isOver {
        guard let same = stream.targets.first(where: { $0.value.query == query }) else { continue }
        streams[number]?.targets[id] = same.value
        streams[number]?.targets[id]?.isCurrent = false
        streams[other]?.targets[same.key] = nil
        return
      }
      lastTag += 1
      streams[number]?.targets[id] = Watched(tag: lastTag, query: query)
      let name = query.collectionGroup ?? query.path.last
      tell(.listen(tag: lastTag, name: name, query, ListenerOptions(includeMetadataChanges: true)), client)
    }
  }

  private mutating func write(_ mutations: [Mutation], _ number: Int) {
    guard let client = streams[number]?.client else { return }
    let inFlight = Set(streams.values.flatMap(\.sent))
    let again = unanswered.sorted().first { id in
      !inFlight.contains(id) && written[id]?.client == client && written[id]?.mutations == mutations
    }
    let id = again ?? written.count + 1
    streams[number]?.sent.append(id)
    if again != nil { return }
    written[id] = (client, mutations)
    unanswered.insert(id)
    tell(.write(id, mutations), client)
  }

  // MARK: Answers

  private mutating func answer(_ content: JSONSyntax, _ number: Int) {
    guard let stream = streams[number] else { return }
    switch stream.method {
    case "Listen":
      guard let database = stream.database, let bytes = bytes(content, Schema.listenResponse) else { return }
      let names = DocumentNames(database)
      // A change that cannot be read is of a newer protocol, and passed over as clients do.
      let change = try? WireReader.read(bytes) { reader throws(WireError) in try reader.watchChange(names) }
      if let change = change ?? nil { told(change, number) }
    case "Write": if content["writeResults"] != nil || content["commitTime"] != nil { answered(nil, number) }
    case "Commit": answered(nil, number)
    default: return
    }
  }

  private mutating func answered(_ code: StatusCode?, _ number: Int) {
    guard let stream = streams[number], let id = stream.sent.first else { return }
    streams[number]?.sent.removeFirst()
    if unanswered.remove(id) != nil { tell(.answer(id, code), stream.client) }
  }

  private mutating func told(_ change: WatchChange, _ number: Int) {
    switch change {
    case .document(let document, let targets, let removed):
      let fields = document.data?.fields
      for id in targets where document.exists { put(document.key, fields, id, number) }
      for id in removed { remove(document.key, fields, isDeleted: !document.exists, id, number) }
    case .documentRemoved(let key, let targets):
      for id in targets { remove(key, nil, isDeleted: nil, id, number) }
    case .current(let ids, _):
      for id in ids.isEmpty ? streams[number].map({ Array($0.targets.keys) }) ?? [] : ids {
        streams[number]?.targets[id]?.isCurrent = true
      }
      show(number)
    case .snapshot: show(number)
    case .removed(let ids, let cause):
      guard let cause, let client = streams[number]?.client else { return }
      for id in ids {
        guard let watched = streams[number]?.targets.removeValue(forKey: id) else { continue }
        tell(.listenerFailed(tag: watched.tag, cause.code), client)
      }
    case .added, .token, .reset, .filter: return
    }
  }

  private mutating func put(_ key: DocumentKey, _ fields: Fields?, _ id: TargetID, _ number: Int) {
    guard var watched = streams[number]?.targets[id] else { return }
    let kind: FirestoreQuery.DocumentChange.Kind = watched.known.insert(key).inserted ? .added : .modified
    watched.changes.append(StorySnapshot.Change(kind, key, fields, hasOwnWrite: false))
    streams[number]?.targets[id] = watched
  }

  private mutating func remove(
    _ key: DocumentKey, _ fields: Fields?, isDeleted: Bool?, _ id: TargetID, _ number: Int
  ) {
    guard var watched = streams[number]?.targets[id], watched.known.remove(key) != nil else { return }
    watched.changes.append(StorySnapshot.Change(.removed, key, fields, isDeleted: isDeleted, hasOwnWrite: false))
    streams[number]?.targets[id] = watched
  }

  /// Tells what a consistent moment of the server makes visible.
  private mutating func show(_ number: Int) {
    guard let stream = streams[number] else { return }
    for (id, watched) in stream.targets.sorted(by: { $0.key < $1.key }) where watched.isCurrent {
      streams[number]?.targets[id]?.changes = []
      tell(
        .snapshot(StorySnapshot(tag: watched.tag, watched.changes, isFromCache: false, isOfServer: true)),
        stream.client)
    }
  }

  // MARK: Ends and faults

  private mutating func ended(_ code: StatusCode, _ number: Int) {
    guard let stream = streams[number] else { return }
    // A client sends again, on another stream, after an error that may pass.
    let isFinal = ![.ok, .unavailable, .cancelled, .unknown, .internal, .deadlineExceeded, .resourceExhausted].contains(
      code)
    if isFinal, !stream.sent.isEmpty { answered(code, number) }
    streams[number]?.sent = []
    streams[number]?.isOver = true
    // Its targets stay until a stream of the client takes its place.
    if streams[number]?.targets.isEmpty ?? true { streams[number] = nil }
  }

  private mutating func fault(_ remark: String, _ number: Int) {
    guard let stream = streams[number] else { return }
    let codes = StatusCode.allCases.first { remark.hasSuffix(": \($0.name)") }
    let event: FaultEvent?
    switch remark {
    case "the write is passed on, its answer will be lost": event = .write(.dropAcknowledgement)
    case "the write is lost": event = .write(.dropRequest)
    case "the answer is lost": return
    case _ where remark.hasPrefix("the write is refused"): event = codes.map { .write(.reject($0)) }
    case _ where remark.hasPrefix("the listener is refused"): event = codes.map { .listen($0) }
    default: event = nil
    }
    guard let event else { return tell(.untold("a fault: \(remark)"), stream.client) }
    // The fault waited for the write or the listener that it hit.
    let place = story?.moments.lastIndex { moment in
      guard moment.client == stream.client else { return false }
      return switch moment.event {
      case .write, .listen: true
      default: false
      }
    }
    if let place, let hit = story?.moments[place] {
      story?.moments.insert(Story.Moment(hit.time, hit.client, .fault(.event(event))), at: place)
    } else {
      tell(.fault(.event(event)), stream.client)
    }
  }

  /// Takes the words in which the proxy told a change of its faults.
  private mutating func faults(_ words: String) {
    let plain: [FaultChange] = [
      .up, .calm, .silent, .down(nil), .down(.watch), .down(.write), .down(.read),
      .event(.restart(withoutTokens: false)), .event(.restart(withoutTokens: true)),
    ]
    guard let change = plain.first(where: { FaultText.account(of: $0) == words }) else {
      // Faults of one call are told by the call that they hit.
      if !words.hasPrefix("the next ") { tell(.untold("faults of the proxy: \(words)"), nil) }
      return
    }
    for client in Set(clients.values).sorted() { tell(.fault(change), client) }
  }
}
