// SPDX-License-Identifier: Apache-2.0
import FirestoreSimulation
import SerialExecutors
import Synchronization
import Testing

@Suite struct VirtualLoopTests {
  private let loop = VirtualLoop()

  @Test("Simulated time advances to the next sleeping task when nothing else can run")
  func time() async throws {
    let clock = loop.clock
    let order = await Task(executorPreference: loop) {
      await withTaskGroup(of: Int.self) { group in
        for hours in [3, 1, 2] {
          group.addTask {
            try? await clock.sleep(for: .seconds(hours * 3600))
            return hours
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
    }.value
    #expect(order == [1, 2, 3] && loop.now == .seconds(3 * 3600))
    loop.end()
  }

  @Test(
    "Tasks due at the same time wake in order, and a canceled task immediately")
  func ties() async {
    let clock = loop.clock
    let woken = await Task(executorPreference: loop) {
      await withTaskGroup(of: Int.self) { group in
        for number in 0..<20 {
          group.addTask {
            try? await clock.sleep(for: .seconds(5))
            return number
          }
        }
        var order: [Int] = []
        for await number in group { order.append(number) }
        return order
      }
    }.value
    #expect(woken == Array(0..<20))
    let before = loop.now
    let isCancelled = await Task(executorPreference: loop) {
      let sleeper = Task(executorPreference: loop) { (try? await clock.sleep(for: .seconds(60))) == nil }
      await Task.yield()
      sleeper.cancel()
      return await sleeper.value
    }.value
    #expect(isCancelled && loop.now == before)
    loop.end()
  }

  private actor Counter {
    private nonisolated let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private var count = 0

    init(on loop: VirtualLoop) { executor = QueueExecutor(label: "counter", on: loop) }

    func add() -> Int {
      count += 1
      return count
    }

    nonisolated func addAtOnce() { executor.async { self.assumeIsolated { _ = $0.add() } } }
  }

  @Test("An actor on the virtual event loop runs its jobs in order")
  func actors() async {
    let counter = Counter(on: loop)
    for _ in 0..<100 { counter.addAtOnce() }
    #expect(await counter.add() == 101)
    #expect(!loop.isCurrent)
    loop.end()
  }
}
