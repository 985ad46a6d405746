// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Hands items to a file without waiting for it: items that arrive while lines are written go with the next ones.
@MainActor
final class FileRecorder<Item: Sendable> {
  /// The most that may wait for a slow disk, estimated in bytes.
  private static var patience: Int { 32 << 20 }

  let path: String
  /// Whether so much waits that what can be left out should be.
  var isBehind: Bool { waitingCost > Self.patience / 4 }
  private let sink: LineSink<Item>
  private var waiting: [Item] = []
  private var waitingCost = 0
  private var writing: Task<Void, Never>?
  private var isEnded = false
  private let ended: @MainActor (String) -> Void

  /// - Parameter ended: called once with the reason, if the file ends before `finish`.
  init(_ path: String, _ sink: LineSink<Item>, ended: @escaping @MainActor (String) -> Void) {
    self.path = path
    self.sink = sink
    self.ended = ended
  }

  func note(_ item: Item, cost: Int) {
    guard !isEnded else { return }
    waiting.append(item)
    waitingCost += cost
    if waitingCost > Self.patience { return give(up: "the disk is slower than what happens") }
    if writing == nil { writing = Task { await write() } }
  }

  /// Writes the waiting items and the last line.
  func finish(_ reason: String) async {
    guard !isEnded else { return }
    await writing?.value
    guard !isEnded else { return }
    isEnded = true
    await sink.finish(reason)
  }

  private func write() async {
    while !waiting.isEmpty, !isEnded {
      let items = waiting
      (waiting, waitingCost) = ([], 0)
      do throws(LineSink<Item>.Ended) { try await sink.write(items) } catch { give(up: error.reason) }
    }
    writing = nil
  }

  private func give(up reason: String) {
    guard !isEnded else { return }
    isEnded = true
    (waiting, waitingCost) = ([], 0)
    Task { await sink.finish(reason) }
    ended(reason)
  }
}
