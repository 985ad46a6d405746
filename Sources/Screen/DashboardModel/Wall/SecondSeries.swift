// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// Numbers of the last seconds, one for each: what is older than `capacity` is forgotten.
package struct SecondSeries: Sendable {
  /// The seconds that are kept: a minute, and as many before it as the order of the wall lags behind.
  package static let capacity = 80

  private var numbers: [UInt32] = []
  /// The newest second with a number.
  private var newest: Int64?

  package init() {}

  /// Adds to the number of a second; one before all that are kept is passed over.
  package mutating func add(_ number: Int, at time: Timestamp) {
    guard number > 0, let place = place(of: time.seconds) else { return }
    numbers[place] = UInt32(clamping: Int(numbers[place]) + min(number, Int(UInt32.max)))
  }

  /// Raises the number of a second to another one, if that is larger.
  package mutating func raise(to number: Int, at time: Timestamp) {
    guard number > 0, let place = place(of: time.seconds) else { return }
    numbers[place] = max(numbers[place], UInt32(clamping: number))
  }

  private mutating func place(of second: Int64) -> Int? {
    if numbers.isEmpty { numbers = Array(repeating: 0, count: Self.capacity) }
    let last = newest ?? second
    if second > last {
      let passed = Int(clamping: second.subtractingReportingOverflow(last).partialValue)
      for step in 0..<min(max(0, passed), Self.capacity) { numbers[index(second &- Int64(step))] = 0 }
    }
    newest = max(last, second)
    return last &- second < Int64(Self.capacity) ? index(second) : nil
  }

  private func index(_ second: Int64) -> Int {
    let index = Int(second % Int64(Self.capacity))
    return index < 0 ? index + Self.capacity : index
  }

  /// The number of one second.
  package subscript(second: Int64) -> Int {
    guard let newest, second <= newest, newest &- second < Int64(Self.capacity) else { return 0 }
    return Int(numbers[index(second)])
  }

  /// The numbers of the seconds before `end`, oldest first.
  package func last(_ count: Int, before end: Int64) -> [Int] {
    (0..<max(0, count)).map { self[end &- Int64(count - $0)] }
  }

  /// The sum of the numbers of the seconds before `end`.
  package func sum(_ count: Int, before end: Int64) -> Int { last(count, before: end).reduce(0, +) }

  /// Moves all seconds, after the clock was set back.
  package mutating func move(_ moved: (Timestamp) -> Timestamp) {
    guard let newest else { return }
    let values = last(Self.capacity, before: newest &+ 1)
    let end = moved(Timestamp(seconds: newest)).seconds
    self = SecondSeries()
    for (step, value) in values.enumerated() {
      add(value, at: Timestamp(seconds: end &- Int64(values.count - 1 - step)))
    }
  }
}
