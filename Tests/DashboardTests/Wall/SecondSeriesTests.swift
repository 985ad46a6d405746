// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import SeededRandom
import Testing

@testable import DashboardModel

@Suite("Per-second series")
struct SecondSeriesTests {
  @Test("A per-second series sums the numbers of each second and drops old seconds")
  func sums() {
    var series = SecondSeries()
    series.add(2, at: at(0.1))
    series.add(3, at: at(0.9))
    series.add(1, at: at(3))

    let start = at(0).seconds
    #expect(series.last(4, before: start + 4) == [5, 0, 0, 1])
    #expect(series.sum(10, before: start + 3) == 5)

    series.add(7, at: at(Double(SecondSeries.capacity)))
    #expect(series[start] == 0 && series[start + 3] == 1)
    series.add(9, at: at(0))
    #expect(series[start] == 0, "A second before all that are kept is passed over")
  }

  @Test(
    "A per-second series equals a table of all seconds for any order of input", arguments: 1...8 as ClosedRange<UInt64>
  )
  func likeTable(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var series = SecondSeries()
    var table: [Int64: Int] = [:]
    var newest = Int64.min
    var now: Int64 = Int64.random(in: -300...300, using: &random)
    for _ in 0..<500 {
      now += [0, 0, 0, 1, 1, 2, 7, 79, 80, 81, 400, -3].randomElement(using: &random) ?? 0
      let number = Int.random(in: 0...5, using: &random)
      series.add(number, at: Timestamp(seconds: now))
      if number > 0 {
        newest = max(newest, now)
        if newest - now < Int64(SecondSeries.capacity) { table[now, default: 0] += number }
      }
      for second in now - 100...now + 3 {
        let isKept = newest != .min && newest - second < Int64(SecondSeries.capacity)
        #expect(series[second] == (isKept ? table[second] ?? 0 : 0), "second \(second) of \(now)")
      }
    }
  }

  @Test("If the clock is set back, the whole per-second series moves with it")
  func moved() {
    var series = SecondSeries()
    series.add(2, at: at(10))
    series.add(4, at: at(12))
    series.move { Timestamp(seconds: $0.seconds - 3600) }
    #expect(series.last(3, before: at(13).seconds - 3600) == [2, 0, 4])
    #expect(series.sum(60, before: at(13).seconds) == 0)
  }
}
