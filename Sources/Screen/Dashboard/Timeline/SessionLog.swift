// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import DashboardModel
import FirestoreClientState
package import FirestoreModel

/// The actions of a dashboard, and states from which they can be replayed. The log is bounded and drops the oldest
/// actions first.
///
/// A position is a count of actions since the beginning. The state at a position is the result of these actions.
package struct SessionLog: Sendable {
  package struct Limit: Sendable {
    /// The maximum estimated size of a segment in bytes.
    package var segmentBytes: Int
    package var segmentActions: Int
    package var segments: Int

    /// The usual limit: at most 4 MB, which is some minutes of a busy database. Two segments are stored, each with the
    /// state at its beginning.
    package static let standard = Limit(segmentBytes: 2 << 20, segmentActions: 4096, segments: 2)
    /// No limit on the count of segments, for a log whose length is limited by other means.
    package static let none = Limit(segmentBytes: 3 << 20, segmentActions: 4096, segments: .max)
  }

  struct Entry: Sendable {
    var action: Action
    var isStep: Bool
    /// The count of events before this entry.
    var steps: Int
  }

  private struct Segment: Sendable {
    /// The state before the first action.
    let base: FrameState
    /// The position of `base`.
    let start: Int
    var entries = BlockList<Entry>()
    var byteCount = 0
  }

  private let limit: Limit
  private var segments: [Segment] = []
  /// The count of all events.
  private(set) var steps = 0

  init(_ limit: Limit) { self.limit = limit }

  /// The first stored position.
  package var start: Int { segments.first?.start ?? 0 }
  /// The position of the current state.
  package var end: Int { segments.last.map { $0.start + $0.entries.count } ?? 0 }
  package var byteCount: Int { segments.reduce(0) { $0 + $1.byteCount } }
  /// The whole session: its first state and all actions. Returns `nil` if the beginning was dropped.
  package var all: (base: DashboardState, actions: [Action])? {
    guard let first = segments.first, first.start == 0 else { return nil }
    return (first.base.state, segments.flatMap { $0.entries.map(\.action) })
  }

  /// - Parameter state: the state before the action.
  mutating func append(_ action: Action, to state: DashboardState) {
    let kept = action
    let cost = kept.cost
    let isFull =
      segments.last.map { $0.byteCount + cost > limit.segmentBytes || $0.entries.count >= limit.segmentActions }
      ?? true
    if isFull {
      let start = end
      if segments.count >= limit.segments { segments.removeFirst(segments.count - limit.segments + 1) }
      segments.append(Segment(base: FrameState(state), start: start))
    }
    var isStep = false
    if case .client(let event, _) = action { isStep = event.isStep(state) }
    if case .host(let event, _) = action { isStep = event.isStep }
    let last = segments.count - 1
    segments[last].entries.append(Entry(action: kept, isStep: isStep, steps: steps))
    if isStep { steps += 1 }
    segments[last].byteCount += cost
  }

  subscript(position: Int) -> Entry? {
    guard let segment = segments.last(where: { $0.start <= position }), position >= segment.start,
      position - segment.start < segment.entries.count
    else { return nil }
    return segment.entries[position - segment.start]
  }

  /// The last stored state at or before a position.
  func base(of position: Int) -> (state: DashboardState, position: Int)? {
    (segments.last { $0.start <= position } ?? segments.first).map { ($0.base.state, $0.start) }
  }

  // MARK: Places

  /// The last position at which all preceding actions have at most the given time.
  func position(at time: Timestamp) -> Int {
    var position = end
    while position > start, let entry = self[position - 1], entry.action.time > time { position -= 1 }
    return position
  }

  /// The position after the next event. Includes the client's reports that follow the event within a second.
  func later(than position: Int) -> Int? { firstStep(from: position).map { together(with: $0) } }

  /// The position that is one event earlier.
  func earlier(than position: Int) -> Int? {
    guard let last = lastStep(before: position) else { return position > start ? start : nil }
    return lastStep(before: last).map { min(last, together(with: $0)) } ?? start
  }

  /// The position after a listener's previous snapshot. The snapshot shown at the given position does not count.
  func earlier(than position: Int, of tag: ListenerTag) -> Int? {
    guard let last = snapshots(of: tag, in: start..<position).last else { return nil }
    return snapshots(of: tag, in: start..<last).last.map { min(last, together(with: $0)) }
  }

  /// The position after the next snapshot of a listener.
  func later(than position: Int, of tag: ListenerTag) -> Int? {
    snapshots(of: tag, in: position..<end).first.map { together(with: $0) }
  }

  /// The positions of a listener's snapshots.
  func snapshots(of tag: ListenerTag, in range: Range<Int>) -> [Int] {
    range.filter { position in
      guard case .client(.snapshot(let snapshot), _)? = self[position]?.action else { return false }
      return snapshot.listener == tag
    }
  }

  /// The count of events between two positions.
  func steps(in range: Range<Int>) -> Int {
    (self[range.upperBound]?.steps ?? steps) - (self[range.lowerBound]?.steps ?? steps)
  }

  /// The position after the event with the given number. The first stored event has the number 1.
  func position(ofStep number: Int) -> Int {
    var left = number
    for position in start..<end where self[position]?.isStep == true {
      left -= 1
      if left == 0 { return together(with: position) }
    }
    return end
  }

  private func firstStep(from position: Int) -> Int? {
    var position = max(position, start)
    while let entry = self[position] {
      if entry.isStep { return position }
      position += 1
    }
    return nil
  }

  private func lastStep(before position: Int) -> Int? {
    var position = position - 1
    while position >= start, let entry = self[position] {
      if entry.isStep { return position }
      position -= 1
    }
    return nil
  }

  /// The position after an event and after the client's reports that follow it within a second, such as the documents
  /// of a collection window.
  private func together(with step: Int) -> Int {
    guard let first = self[step] else { return step }
    var position = step + 1
    while let entry = self[position], !entry.isStep, case .client = entry.action,
      entry.action.time.milliseconds(since: first.action.time) < 1000
    {
      position += 1
    }
    return position
  }
}

/// A part of a session that can be replayed: a state, and the actions after it.
package struct SessionPart: Sendable {
  private let start: FrameState
  package let actions: [Action]

  package var state: DashboardState { start.state }

  package init(from state: DashboardState, _ actions: [Action]) {
    start = FrameState(state)
    self.actions = actions
  }

  /// The state after all actions.
  package var end: DashboardState {
    var state = state
    for action in actions { _ = update(&state, action) }
    return state
  }
}

extension DashboardSession {
  /// The part of the session since a given time, or the whole stored part if the log does not reach back that far.
  package func part(since start: Timestamp) -> SessionPart {
    let position = log.position(at: start)
    guard let base = log.base(of: position) else { return SessionPart(from: live, []) }
    return SessionPart(from: base.state, (base.position..<log.end).compactMap { log[$0]?.action })
  }
}

extension Action {
  /// The time of the action.
  package var time: Timestamp {
    switch self {
    case .input(_, let time), .tick(let time), .client(_, let time), .host(_, let time), .link(_, let time),
      .sent(_, let time),
      .listen(_, _, _, let time), .open(_, let time), .adopt(_, let time),
      .configured(_, let time), .caption(_, let time), .run(_, let time), .overwrote(_, let time),
      .clientSet(_, let time):
      time
    }
  }

  /// The approximate memory that the action uses in the log. Most documents in a collection window were listed before,
  /// so they share their storage and add little.
  package var cost: Int {
    if case .host(.notice(_, let text), _) = self { return 320 + text.utf8.count }
    if case .host = self { return 1024 }
    guard case .client(let event, _) = self else { return 160 }
    switch event {
    case .snapshot(let snapshot):
      return snapshot.changes.reduce(320) { $0 + $1.document.cost + 2 * Document.shallowCost }
    case .windowLoaded(_, let documents, _, _):
      return 320 + documents.count * Document.shallowCost + documents.reduce(0) { $0 + $1.cost } / 16
    case .searched(_, let news):
      return 320 + news.hits.reduce(0) { $0 + $1.cost + Document.shallowCost }
    case .status(let status): return 1024 + 16 * status.roundTrips.count
    case .pendingWrites(let writes, _): return 320 + writes.reduce(0) { $0 + 160 + $1.byteCount }
    case .rejectedWrites(let writes): return 320 + writes.reduce(0) { $0 + 160 + $1.byteCount }
    case .detail(_, let remote, _, let local, _): return 640 + (remote?.cost ?? 0) + (local?.cost ?? 0)
    case .missingDocuments(_, let keys): return 320 + 64 * keys.count
    default: return 1024
    }
  }
}

extension ClientEvent {
  /// Whether a user would call the action an event. Stepping from event to event stops at such actions.
  func isStep(_ state: DashboardState) -> Bool {
    switch self {
    case .snapshot(let snapshot): !snapshot.changes.isEmpty || snapshot.syncStateChanged
    case .status(let status): status.isOffline != state.network.isOffline
    case .peers(let peers): state.storage.peers.map { $0.role != peers.role } ?? false
    case .snapshotsMissed(let count, _): count > 0
    case .listenerStarted, .listenerFailed, .listenerStopped, .traffic, .closed, .attachmentEnded, .requestFailed,
      .windowFailed,
      .storage, .pendingWrites, .writeAcknowledged, .writeRejected, .writeCancelled, .outcomesMissed,
      .rejectedWritesForgotten, .conflict, .contested, .explained:
      true
    default: false
    }
  }
}

extension Document {
  /// The approximate memory of a document without its contents.
  fileprivate static let shallowCost = 128

  /// The approximate memory of the document, computed without decoding its contents.
  fileprivate var cost: Int {
    guard let data else { return Self.shallowCost }
    return switch data.storage {
    case .encoded(let bytes): Self.shallowCost + bytes.bytes.count
    case .decoded(let fields): Self.shallowCost + 2 * fields.byteSize
    }
  }
}

// Facts about a state that the redaction of a recording needs.

extension DashboardState {
  /// The purpose of the typed text; `nil` if printable keys do not type text.
  package var typedText: TypedText? {
    guard let overlay, overlay.field != nil else { return nil }
    return overlay.kind == .palette ? .command : .content
  }

  package enum TypedText: Sendable {
    /// The text is typed in the palette.
    case command
    /// The text is typed in a filter, an editor or a question.
    case content
  }

  package var hasOverlay: Bool { overlay != nil }

  /// The collection of which a window shows a part; `nil` for a closed window.
  package func path(of window: WindowTag) -> ResourcePath? { browser.path(of: window) }

  /// The collection window that receives the documents of a collection.
  package func window(of path: ResourcePath) -> WindowTag? {
    browser.windows[path].flatMap { ($0.requested ?? $0.shown)?.tag }
  }
}
