// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// The pieces that one side of a stream sends to the other, in order, each after its time. Used on its event loop only.
final class Conveyor {
  private let loop: any EventLoop
  private var items: CircularBuffer<(due: NIODeadline, pass: () -> Void)> = []
  /// The time at which the last piece is through.
  private var last = NIODeadline.uptimeNanoseconds(0)
  private var timer: Scheduled<Void>?

  init(_ loop: any EventLoop) { self.loop = loop }

  /// Passes a piece on.
  /// - Parameters:
  ///   - pace: the time until it arrives; `nil` for never.
  ///   - pass: called at once if there is nothing to wait for.
  func send(_ pace: Pace?, _ pass: @escaping () -> Void) {
    if let pace, pace.isZero, items.isEmpty { return pass() }
    guard let pace else {
      items.append((.distantFuture, pass))
      last = .distantFuture
      return
    }
    if last < .distantFuture { last = max(.now() + pace.latency, last) + pace.transmission }
    items.append((last, pass))
    schedule()
  }

  /// Drops what has not arrived.
  func drop() {
    items.removeAll()
    timer?.cancel()
    timer = nil
  }

  /// The time that a piece takes: it is late by the latency, and the line is busy for the transmission.
  struct Pace {
    var latency: TimeAmount
    var transmission: TimeAmount

    var isZero: Bool { latency == .zero && transmission == .zero }
    static let none = Pace(latency: .zero, transmission: .zero)
  }

  private func schedule() {
    guard timer == nil, let first = items.first, first.due < .distantFuture else { return }
    let bound = NIOLoopBound(self, eventLoop: loop)
    timer = loop.scheduleTask(deadline: first.due) { bound.value.passDue() }
  }

  private func passDue() {
    timer = nil
    let now = NIODeadline.now()
    while let item = items.first, item.due <= now {
      items.removeFirst()
      item.pass()
    }
    schedule()
  }
}
