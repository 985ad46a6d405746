// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension Evaluator {
  mutating func call(_ method: Method, on time: Timestamp, _ ids: [Expression.ID]) throws(RuleFailure) -> RuleValue {
    let (date, secondOfDay) = time.dateAndSecondOfDay
    let result: RuleValue
    switch method {
    case .year: result = .int(date.year)
    case .month: result = .int(date.month)
    case .day: result = .int(date.day)
    case .hours: result = .int(secondOfDay / 3600)
    case .minutes: result = .int(secondOfDay / 60 % 60)
    case .seconds: result = .int(secondOfDay % 60)
    case .nanos: result = .int(Int64(time.nanoseconds))
    case .dayOfWeek: result = .int(date.dayOfWeek)
    case .dayOfYear: result = .int(date.dayOfYear)
    case .toMillis: result = .int(time.seconds * 1000 + Int64(time.nanoseconds / 1_000_000))
    case .date: result = .timestamp(Timestamp(seconds: time.seconds - secondOfDay))
    case .time: result = try duration(secondOfDay, Int64(time.nanoseconds))
    default: throw .unknownFunction(method.rawValue)
    }
    _ = try arguments(ids, 0, of: method)
    return result
  }

  mutating func call(_ method: Method, on span: RuleDuration, _ ids: [Expression.ID]) throws(RuleFailure) -> RuleValue {
    guard method == .seconds || method == .nanos else { throw .unknownFunction(method.rawValue) }
    _ = try arguments(ids, 0, of: method)
    return .int(method == .seconds ? span.seconds : span.nanoseconds)
  }
}
