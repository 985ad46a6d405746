// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import DashboardView
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import TerminalTesting

/// `12:04:SS.mmm` of 2 March 2026, UTC.
func at(_ seconds: Double) -> Timestamp {
  Timestamp(microseconds: 1_772_453_040_000_000 + Int64((seconds * 1_000_000).rounded()))
}

func document(_ path: String, at seconds: Double = 0, pending: Document.PendingWrites = .none, _ fields: Fields)
  -> Document
{
  Document(
    key: key(path), version: SnapshotVersion(at(seconds)), createTime: SnapshotVersion(at(-600)),
    state: .found(DocumentData(fields)), pending: pending)
}

let database = DatabaseID(project: "demo-shop")

/// A dashboard driven by keys and client events, as a person and an engine would.
struct Driver {
  var state: DashboardState
  var effects: [Effect] = []
  private(set) var now: Timestamp

  init(
    _ size: Size = Size(width: 120, height: 36), glyphs: Glyphs = .unicode,
    kind: ConnectedBackend.Kind = .emulator,
    isDurable: Bool? = nil
  ) {
    let backend = ConnectedBackend(
      kind, project: "demo-shop", host: kind == .embedded ? nil : "127.0.0.1:8080", user: "ada")
    now = at(0)
    state = DashboardState(
      DashboardConfiguration(
        database: database, backend: backend, glyphs: glyphs,
        themes: [
          .init(slug: "ember", name: "Ember"), .init(slug: "paper", name: "Paper"), .init(slug: "nord", name: "Nord"),
        ],
        theme: "ember"),
      size: size, now: now)
    if let isDurable { client(.status(ClientStatus(since: now, isDurable: isDurable)), at: 0) }
  }

  mutating func send(_ action: Action) { effects = update(&state, action) }

  mutating func client(_ event: ClientEvent, at seconds: Double) {
    now = max(now, at(seconds))
    send(.client(event, at: now))
  }

  mutating func host(_ event: HostEvent, at seconds: Double) {
    now = max(now, at(seconds))
    send(.host(event, at: now))
  }

  /// Presses keys written as in the keymap, parted by blanks: `2 j j x ctrl-d`.
  mutating func press(_ keys: String) {
    for name in keys.split(separator: " ") {
      guard let key = Key(String(name)) else { continue }
      send(.input(.key(key), at: now))
    }
  }

  /// Types text into the focused line.
  mutating func type(_ text: String) {
    for character in text { send(.input(.key(.character(character)), at: now)) }
  }

  mutating func mouse(_ kind: MouseEvent.Kind = .press, _ x: Int, _ y: Int) {
    send(.input(.mouse(MouseEvent(kind: kind, x: x, y: y)), at: now))
  }

  mutating func tick(_ seconds: Double) {
    now = max(now, at(seconds))
    send(.tick(now))
  }

  func canvas() -> Canvas { view(state) }
  var screen: String { canvas().text }

  /// Answers the last window that was asked for.
  mutating func answerWindow(_ documents: [Document], isFromCache: Bool = false, total: Int? = nil, at seconds: Double)
  {
    for case .client(.openWindow(let tag, _)) in effects.reversed() {
      client(.windowLoaded(tag, documents, isFromCache: isFromCache, total: total), at: seconds)
      return
    }
  }

  /// The query of the last window that was asked for.
  var windowQuery: Query? {
    for case .client(.openWindow(_, let query)) in effects.reversed() { return query }
    return nil
  }

  /// The tag of the listener that was just started.
  var listenTag: ListenerTag? {
    for case .client(.listen(let tag, _, _)) in effects { return tag }
    return nil
  }
}

/// One batch with one mutation.
func pendingWrite(
  _ batch: Int64, _ operation: QueueRow.Operation, _ path: String, at time: Timestamp, _ state: PendingWrite.State,
  tries: Int = 0, transforms: Int = 0, byteCount: Int = 0, error: RPCStatus? = nil
) -> PendingWrite {
  let update = Mutation.Operation.patch(["n": 1], FieldMask([FieldPath("n")]))
  var mutation = Mutation(key: key(path), operation: operation == .set ? .set(["n": 1]) : update)
  mutation.transforms = (0..<transforms).map { FieldTransform(path: FieldPath("t\($0)"), operation: .serverTimestamp) }
  switch operation {
  case .delete: mutation.operation = .delete
  case .increment:
    mutation.operation = .patch(Fields(), FieldMask([]))
    mutation.transforms = [FieldTransform(path: FieldPath("n"), operation: .increment(1))]
  default: break
  }
  return PendingWrite(
    id: BatchID(batch), mutations: [mutation], localWriteTime: time, byteCount: byteCount, attempts: tries,
    state: state,
    lastError: error)
}

extension SnapshotCause {
  static let fromServer = SnapshotCause.server(SnapshotVersion(at(0)))
}
