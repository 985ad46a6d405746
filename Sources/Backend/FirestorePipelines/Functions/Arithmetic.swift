// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Glibc

/// Arithmetic on 64-bit integers, which must not overflow, and on doubles.
enum Arithmetic {
  static let functions: [Function] = [
    Function("add", 2...Function.many) { values, _ throws(EvaluationError) in
      try fold("add", values, integers: { $0.addingReportingOverflow($1) }, doubles: +)
    },
    Function("subtract", 2) { values, _ throws(EvaluationError) in
      try fold("subtract", values, integers: { $0.subtractingReportingOverflow($1) }, doubles: -)
    },
    Function("multiply", 2...Function.many) { values, _ throws(EvaluationError) in
      try fold("multiply", values, integers: { $0.multipliedReportingOverflow(by: $1) }, doubles: *)
    },
    Function("divide", 2) { values, _ throws(EvaluationError) in
      try fold("divide", values, integers: { $0.dividedReportingOverflow(by: $1) }, doubles: /)
    },
    Function("mod", 2) { values, _ throws(EvaluationError) in
      try fold("mod", values, integers: { $0.remainderReportingOverflow(dividingBy: $1) }, doubles: fmod)
    },
    Function("abs", 1) { values, _ throws(EvaluationError) in
      switch try Number(values[0], of: "abs") {
      case .integer(let value):
        guard value != .min else { throw overflow("abs") }
        return .integer(abs(value))
      case .double(let value): return .double(abs(value))
      }
    },
    Function("ceil", 1) { values, _ throws(EvaluationError) in try round("ceil", values, .up) },
    Function("floor", 1) { values, _ throws(EvaluationError) in try round("floor", values, .down) },
    Function("round", 1...2) { values, _ throws(EvaluationError) in
      try round("round", values, .toNearestOrAwayFromZero)
    },
    Function("trunc", 1...2) { values, _ throws(EvaluationError) in try round("trunc", values, .towardZero) },
    Function("pow", 2) { values, _ throws(EvaluationError) in
      let (base, exponent) = (try Number(values[0], of: "pow"), try Number(values[1], of: "pow"))
      if base.double == 0, exponent.double < 0 { throw EvaluationError("pow() of 0 cannot have a negative exponent.") }
      return .double(pow(base.double, exponent.double))
    },
    Function("sqrt", 1) { values, _ throws(EvaluationError) in
      let value = try Number(values[0], of: "sqrt").double
      guard !(value < 0) else { throw EvaluationError("sqrt() cannot take a negative number.") }
      return .double(value.squareRoot())
    },
    Function("exp", 1) { values, _ throws(EvaluationError) in
      let value = try Number(values[0], of: "exp").double
      let result = exp(value)
      guard result.isFinite || !value.isFinite else { throw overflow("exp") }
      return .double(result)
    },
    Function("ln", 1) { values, _ throws(EvaluationError) in .double(try logarithm("ln", values[0])) },
    Function("log10", 1) { values, _ throws(EvaluationError) in
      let value = try Number(values[0], of: "log10").double
      guard value > 0 || value.isNaN else { throw EvaluationError("log10() takes positive numbers.") }
      return .double(log10(value))
    },
    Function("log", 1...2) { values, _ throws(EvaluationError) in
      let number = try logarithm("log", values[0])
      return .double(values.count == 1 ? number : number / (try logarithm("log", values[1])))
    },
    Function("rand", 0...0) { _, context in .double(context.randomShare()) },
  ]

  private static func overflow(_ function: String) -> EvaluationError {
    EvaluationError("The result of \(function)() is too large.")
  }

  private static func fold(
    _ function: String, _ values: [Value], integers: (Int64, Int64) -> (partialValue: Int64, overflow: Bool),
    doubles: (Double, Double) -> Double
  ) throws(EvaluationError) -> Value {
    var result = try Number(values[0], of: function)
    for value in values.dropFirst() {
      switch (result, try Number(value, of: function)) {
      case (.integer(let left), .integer(let right)):
        if right == 0, function == "divide" || function == "mod" {
          throw EvaluationError("\(function)() cannot divide by zero.")
        }
        let (sum, isTooLarge) = integers(left, right)
        if isTooLarge { throw overflow(function) }
        result = .integer(sum)
      case (let left, let right): result = .double(doubles(left.double, right.double))
      }
    }
    return result.value
  }

  /// - Parameter values: the number, and the number of decimal places to round to.
  private static func round(
    _ function: String, _ values: [Value], _ rule: FloatingPointRoundingRule
  ) throws(EvaluationError) -> Value {
    let number = try Number(values[0], of: function)
    let places = values.count > 1 ? try values[1].integer(of: function) : 0
    guard (-400...400).contains(places) else {
      throw EvaluationError("\(function)() rounds to at most 400 decimal places.")
    }
    switch number {
    case .integer(let value):
      if places >= 0 { return .integer(value) }
      guard places >= -18 else { return .integer(0) }
      let unit = (0..<(-places)).reduce(Int64(1)) { unit, _ in unit * 10 }
      let (kept, rest) = value.quotientAndRemainder(dividingBy: unit)
      let isUp = rule == .toNearestOrAwayFromZero && rest.magnitude >= unit.magnitude - rest.magnitude
      let (result, isTooLarge) = (kept + (isUp ? value.signum() : 0)).multipliedReportingOverflow(by: unit)
      if isTooLarge { throw overflow(function) }
      return .integer(result)
    case .double(let value):
      if places == 0 || !value.isFinite { return .double(value.rounded(rule)) }
      let unit = pow(10, Double(abs(places)))
      let scaled = places > 0 ? value * unit : value / unit
      // Rounding to digits beyond the precision of a double changes nothing.
      guard scaled.isFinite, unit.isFinite else { return .double(places > 0 ? value : 0) }
      let rounded = scaled.rounded(rule)
      return .double(places > 0 ? rounded / unit : rounded * unit)
    }
  }

  private static func logarithm(_ function: String, _ value: Value) throws(EvaluationError) -> Double {
    let number = try Number(value, of: function).double
    guard number > 0 || number.isNaN else { throw EvaluationError("\(function)() takes positive numbers.") }
    return log(number)
  }
}
