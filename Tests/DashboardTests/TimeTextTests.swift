// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite struct TimeTextTests {
  @Test(
    "Any timestamp in a document can be shown as text",
    arguments: [Int64.min, .min + 1, -62_135_596_801, -1, 253_402_300_800, .max - 1, .max], [Int32.min, 0, .max])
  func anyTime(_ seconds: Int64, _ nanoseconds: Int32) {
    let time = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
    #expect(TimeText.date(time).hasSuffix("Z"))
    #expect(time.rfc3339Text.hasSuffix("Z"))
    for offset in [-43_200, 0, 50_400] {
      #expect(TimeText.clock(time, offset: offset).count == 8)
      #expect(!TimeText.milliseconds(time, offset: offset, from: .hours).isEmpty)
    }
  }

  @Test("Days before the Unix epoch also start at midnight")
  func beforeEpoch() {
    #expect(TimeText.date(Timestamp(seconds: -1)) == "1969-12-31 23:59:59Z")
    #expect(TimeText.date(.earliest) == "0001-01-01 00:00:00Z")
    #expect(TimeText.clock(Timestamp(seconds: 30), offset: -60) == "23:59:30")
  }
}
