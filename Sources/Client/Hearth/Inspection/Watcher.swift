// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dispatch
import FirestoreClientState
import Glibc

/// The connection of one watcher. Used by `Inspection` alone.
struct Watcher {
  /// The most bytes that wait for a watcher that does not read.
  static let mostWaiting = 1 << 20
  /// The most requests that may be under way.
  static let mostRequests = 32

  private let descriptor: CInt
  private let reading: any DispatchSourceRead
  private let writing: any DispatchSourceWrite
  private var isWriting = false
  private var waiting: [UInt8] = []
  private var sent = 0

  var received = ReceivedLines()
  /// The watcher's first message; `nil` until it has come.
  var word: InspectionWord?
  var requests = 0
  /// The number of snapshots that the watcher was not told, because it does not read or for want of time.
  var missed = 0
  /// The number of outcomes of writes that the watcher was not told.
  var missedOutcomes = 0
  /// Whether the watcher's knowledge of listeners is out of date.
  var isBehind = false
  var hasSwitchedOff = false
  var hasSetFaults = false

  /// Takes over a connection.
  /// - Parameters:
  ///   - descriptor: the connection, which does not block; closed with the watcher.
  ///   - readable: called on the queue when there is something to read.
  ///   - writable: called on the queue when more can be sent, after not all could.
  init(
    _ descriptor: CInt, on queue: DispatchQueue, readable: @escaping @Sendable () -> Void,
    writable: @escaping @Sendable () -> Void
  ) {
    self.descriptor = descriptor
    reading = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    // A descriptor of its own, so that each source closes the descriptor that it watches.
    let writableDescriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    writing = DispatchSource.makeWriteSource(fileDescriptor: writableDescriptor, queue: queue)
    reading.setEventHandler(handler: readable)
    writing.setEventHandler(handler: writable)
    reading.setCancelHandler { close(descriptor) }
    writing.setCancelHandler { close(writableDescriptor) }
    reading.activate()
  }

  /// Whether there is room for more news.
  var hasRoom: Bool { waiting.count - sent < Self.mostWaiting }
  var isEmpty: Bool { waiting.isEmpty }

  /// Counts an event for which there is no room.
  mutating func miss(_ event: ClientEvent) {
    isBehind = true
    switch event {
    case .snapshot: missed += 1
    case .writeAcknowledged, .writeRejected, .writeCancelled: missedOutcomes += 1
    case .outcomesMissed(let count): missedOutcomes += count
    default: break
    }
  }

  /// Reads from the connection without blocking.
  /// - Returns: the bytes that have come; `nil` when the other end is gone.
  func read() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 16 << 10)
    let count = recv(descriptor, &bytes, bytes.count, CInt(MSG_DONTWAIT))
    if count < 0, errno == EAGAIN || errno == EINTR { return [] }
    return count > 0 ? Array(bytes[..<count]) : nil
  }

  /// Sends as much as the connection takes, and keeps the rest.
  /// - Returns: false when the other end is gone.
  mutating func send(_ bytes: [UInt8]) -> Bool {
    if waiting.isEmpty { waiting = bytes } else { waiting += bytes }
    return isWriting || sendWaiting()
  }

  mutating func sendWaiting() -> Bool {
    while sent < waiting.count {
      let count = waiting[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN {
        setWriting(true)
        if sent > Self.mostWaiting / 2 {
          waiting.removeFirst(sent)
          sent = 0
        }
        return true
      }
      if count <= 0 { return false }
      sent += count
    }
    (waiting, sent) = ([], 0)
    setWriting(false)
    return true
  }

  private mutating func setWriting(_ isWanted: Bool) {
    guard isWanted != isWriting else { return }
    isWriting = isWanted
    if isWanted { writing.resume() } else { writing.suspend() }
  }

  /// Closes the connection, once.
  mutating func end() {
    // A source must not be let go while it is suspended.
    writing.cancel()
    setWriting(true)
    reading.cancel()
  }
}

/// The parts that are left out of a status, because they are long and were told a moment ago.
struct StatusOmissions {
  /// The least time between two statuses with the figures of reads, which change all the time.
  private static let readsPace = Duration.seconds(2)
  /// The least time between two statuses with a long queue, since every write makes a new list of it.
  private static let queuePace = Duration.seconds(1)
  static let longestPace = DispatchTimeInterval.milliseconds(2_100)
  private static let shortQueue = 20

  private var lastReads: ContinuousClock.Instant?
  private var lastQueue: ContinuousClock.Instant?

  mutating func next(_ status: ClientStatus, at now: ContinuousClock.Instant) -> Set<StatusChanges.Part> {
    var omitted: Set<StatusChanges.Part> = []
    if let lastReads, now - lastReads < Self.readsPace { omitted.insert(.reads) } else { lastReads = now }
    let isShort = status.pendingWrites.count <= Self.shortQueue
    if !isShort, let lastQueue, now - lastQueue < Self.queuePace {
      omitted.insert(.pendingWrites)
    } else {
      lastQueue = now
    }
    return omitted
  }
}

/// The processor time that a program may spend on telling watchers what its client does: one part in a hundred of its
/// own, or five milliseconds of each second for a program that rests. News beyond that is not told.
package struct InspectionBudget {
  private static let share = 100
  /// The most that is saved up: enough for the first news, and for the answer to a key.
  private static let mostSaved = Duration.milliseconds(40)
  /// The most that is owed, so that after one large piece of news the next is not far.
  private static let mostOwed = Duration.milliseconds(20)

  /// The usual resting share: one part of real time in so many is granted in any case.
  package static let usualRestingShare = 200

  /// The part of real time that is granted in any case, one in so many; `nil` for a program without a budget.
  private let restingShare: Int?
  private var lastProcess: Duration
  private var lastTime: Duration
  /// The time that may be spent now.
  private(set) var saved = Self.mostSaved

  init(restingShare: Int?) {
    self.restingShare = restingShare
    lastProcess = Self.time(CLOCK_PROCESS_CPUTIME_ID)
    lastTime = Self.time(CLOCK_MONOTONIC)
  }

  /// Whether there is time to spend now, beyond a part that is kept for others.
  mutating func hasTime(beyond kept: Duration = .zero) -> Bool {
    guard let restingShare else { return true }
    let (process, time) = (Self.time(CLOCK_PROCESS_CPUTIME_ID), Self.time(CLOCK_MONOTONIC))
    saved = max(saved, .zero - Self.mostOwed)
    saved += max((process - lastProcess) / Self.share, (time - lastTime) / restingShare)
    saved = min(saved, Self.mostSaved)
    (lastProcess, lastTime) = (process, time)
    return saved > kept
  }

  /// Runs a closure and takes its processor time from the budget.
  mutating func pay<Result>(_ body: () throws -> Result) rethrows -> Result {
    let start = Self.time(CLOCK_THREAD_CPUTIME_ID)
    defer { saved -= Self.time(CLOCK_THREAD_CPUTIME_ID) - start }
    return try body()
  }

  /// Takes time that was spent elsewhere from the budget.
  mutating func charge(_ cost: Duration) { saved -= cost }

  private static func time(_ clock: clockid_t) -> Duration {
    // The time is read as two words: the module of the members of `timespec` depends on other compiled modules.
    withUnsafeTemporaryAllocation(of: Int.self, capacity: 2) { words in
      words.initialize(repeating: 0)
      words.withMemoryRebound(to: timespec.self) { if let time = $0.baseAddress { clock_gettime(clock, time) } }
      return .seconds(words[0]) + .nanoseconds(words[1])
    }
  }
}
