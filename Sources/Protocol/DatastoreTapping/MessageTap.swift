// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import Synchronization

/// The messages that passed by and wait to be taken. Streams never wait for their taker: of more than there is room for
/// the later ones are counted.
package final class MessageTap: Sendable {
  private struct State {
    var waiting: [TappedMessage] = []
    var cost = 0
    var missed = 0
    var numbers: [TappedMessage.Channel: Int] = [:]
  }

  /// Yields when messages wait; one signal stands for all that came since the last.
  package let signals: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation
  private let room: Int
  private let now: @Sendable () -> Timestamp
  private let state = Mutex(State())

  /// - Parameter room: the memory of the messages that may wait, estimated in bytes.
  package init(room: Int = 8 << 20, now: @escaping @Sendable () -> Timestamp) {
    (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.room = room
    self.now = now
  }

  /// The number of the next stream or call of a kind, from 1.
  func number(of channel: TappedMessage.Channel) -> Int {
    state.withLock { state in
      state.numbers[channel, default: 0] += 1
      return state.numbers[channel] ?? 1
    }
  }

  func note(
    _ channel: TappedMessage.Channel, _ number: Int, _ event: TappedMessage.Event,
    _ fill: (inout TappedMessage) -> Void = { _ in }
  ) {
    // A message that would only be counted is not even made.
    let isCounted = state.withLock { state in
      if state.missed > 0 { state.missed += 1 }
      return state.missed > 0
    }
    if isCounted {
      signal.yield()
      return
    }
    var message = TappedMessage(now(), channel, number, event)
    fill(&message)
    let cost = message.cost
    state.withLock { state in
      guard state.missed == 0, state.cost + cost <= room else {
        state.missed += 1
        return
      }
      state.waiting.append(message)
      state.cost += cost
    }
    signal.yield()
  }

  /// Takes what waits, oldest first. Where there was no room the last message tells how many are missing.
  package func take() -> [TappedMessage] {
    let time = now()
    return state.withLock { state in
      var taken = state.waiting
      if state.missed > 0 {
        var gap = TappedMessage(time, .call, 0, .missed)
        gap.count = state.missed
        taken.append(gap)
      }
      (state.waiting, state.cost, state.missed) = ([], 0, 0)
      return taken
    }
  }
}
