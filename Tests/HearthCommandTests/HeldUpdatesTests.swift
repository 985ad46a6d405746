// SPDX-License-Identifier: Apache-2.0
import Dashboard
import FirestoreModel
import Testing

@testable import DashboardHost

/// The order of news on a slow line or a slow machine, where some of it waits for a frame.
@MainActor
struct HeldUpdatesTests {
  @MainActor
  private final class Screen {
    var happened: [Int64] = []
    /// The news that an action causes.
    let consequences: [Int64: Int64]
    private(set) lazy var news = HeldUpdates<Action> { [unowned self] action in
      guard case .tick(let time) = action else { return }
      happened.append(time.seconds)
      if let next = consequences[time.seconds] { take(next) }
    }

    init(consequences: [Int64: Int64] = [:]) { self.consequences = consequences }

    func take(_ second: Int64, isHeld: Bool = false) { news.take(.tick(Timestamp(seconds: second)), isHeld: isHeld) }
  }

  @Test("Held events are applied before a later event that is not held")
  func order() {
    let screen = Screen()
    screen.take(1, isHeld: true)
    screen.take(2, isHeld: true)
    #expect(screen.happened.isEmpty && !screen.news.isEmpty)
    screen.take(3)
    #expect(screen.happened == [1, 2, 3] && screen.news.isEmpty)
    screen.take(4, isHeld: true)
    screen.news.release()
    screen.take(5)
    #expect(screen.happened == [1, 2, 3, 4, 5])
  }

  @Test("Events caused by an event are applied after those already waiting")
  func consequences() {
    let screen = Screen(consequences: [1: 10, 10: 11])
    screen.take(1, isHeld: true)
    screen.take(2, isHeld: true)
    screen.take(3)
    #expect(screen.happened == [1, 2, 3, 10, 11])
  }
}
