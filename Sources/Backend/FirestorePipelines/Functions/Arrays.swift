// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

enum Arrays {
  static let functions: [Function] = [
    Function("array", 0...Function.many, anything: { values, _ in .array(values.map { $0 ?? .null }) }),
    Function("array_length", 1) { values, _ throws(EvaluationError) in
      .integer(Int64(try values[0].elements(of: "array_length").count))
    },
    Function("array_get", 2) { values, _ throws(EvaluationError) in try element("array_get", values) },
    Function("offset", 2) { values, _ throws(EvaluationError) in try element("offset", values) },
    Function("array_concat", 1...Function.many) { values, _ throws(EvaluationError) in
      try concatenation("array_concat", values)
    },
    Function(
      "array_contains", 2...2,
      anything: { values, _ throws(EvaluationError) in
        guard let array = values[0], let wanted = values[1] else { return .null }
        if case .null = array { return .null }
        return .boolean(try array.elements(of: "array_contains").contains { $0.equalsNumerically(wanted) })
      }),
    Function("array_contains_all", 2) { values, _ throws(EvaluationError) in
      let (elements, wanted) = try sets("array_contains_all", values)
      return .boolean(wanted.allSatisfy(elements.contains))
    },
    Function("array_contains_any", 2) { values, _ throws(EvaluationError) in
      let (elements, wanted) = try sets("array_contains_any", values)
      return .boolean(wanted.contains(where: elements.contains))
    },
    Function("array_reverse", 1) { values, _ throws(EvaluationError) in
      .array(try values[0].elements(of: "array_reverse").reversed())
    },
    Function("array_first", 1) { values, _ throws(EvaluationError) in
      try values[0].elements(of: "array_first").first
    },
    Function("array_last", 1) { values, _ throws(EvaluationError) in
      try values[0].elements(of: "array_last").last
    },
    Function("array_first_n", 2) { values, _ throws(EvaluationError) in
      .array(Array(try values[0].elements(of: "array_first_n").prefix(try count("array_first_n", values[1]))))
    },
    Function("array_last_n", 2) { values, _ throws(EvaluationError) in
      .array(Array(try values[0].elements(of: "array_last_n").suffix(try count("array_last_n", values[1]))))
    },
    Function("array_slice", 2...3) { values, _ throws(EvaluationError) in try slice(values) },
    Function("array_index_of", 2...3, anything: { values, _ throws(EvaluationError) in try index(values) }),
    Function(
      "array_index_of_all", 2...2,
      anything: { values, _ throws(EvaluationError) in
        guard let array = values[0], let wanted = values[1] else { return .null }
        if case .null = array { return .null }
        let elements = try array.elements(of: "array_index_of_all")
        let places = elements.indices.filter { elements[$0].equalsNumerically(wanted) }
        return .array(places.map { .integer(Int64($0)) })
      }),
    Function("sum", 1) { values, _ throws(EvaluationError) in
      var sum = NumberSum()
      for element in try values[0].elements(of: "sum") { sum.add(element) }
      return sum.sum
    },
    Function("join", 2...3) { values, _ throws(EvaluationError) in try joined(values) },
  ]

  /// The element at an index. Negative indices count from the end; the element is absent if the index is out of range.
  private static func element(_ function: String, _ values: [Value]) throws(EvaluationError) -> Value? {
    let elements = try values[0].elements(of: function)
    let place = try values[1].integer(of: function)
    let count = Int64(elements.count)
    let (index, isOutside) = place < 0 ? place.addingReportingOverflow(count) : (place, false)
    return isOutside || index < 0 || index >= count ? nil : elements[Int(index)]
  }

  static func concatenation(_ function: String, _ values: [Value]) throws(EvaluationError) -> Value {
    var result: [Value] = []
    for value in values {
      result += try value.elements(of: function)
      if result.count > PipelineLimits.valueBytes { throw Evaluation.tooLarge }
    }
    return .array(result)
  }

  private static func sets(
    _ function: String, _ values: [Value]
  ) throws(EvaluationError) -> (Set<GroupKey>, [GroupKey]) {
    let (elements, wanted) = (try values[0].elements(of: function), try values[1].elements(of: function))
    return (Set(elements.map { GroupKey($0) }), wanted.map { GroupKey($0) })
  }

  private static func count(_ function: String, _ value: Value) throws(EvaluationError) -> Int {
    let count = try value.integer(of: function)
    guard count >= 0 else { throw EvaluationError("\(function)() does not accept a negative number.") }
    return Int(clamping: count)
  }

  private static func slice(_ values: [Value]) throws(EvaluationError) -> Value {
    let elements = try values[0].elements(of: "array_slice")
    let place = try values[1].integer(of: "array_slice")
    let length = values.count > 2 ? try sliceLength(values[2]) : .max
    let size = Int64(elements.count)
    let start = Int(place < 0 ? max(0, size + max(place, -size)) : min(place, size))
    return .array(Array(elements[start...].prefix(length)))
  }

  private static func sliceLength(_ value: Value) throws(EvaluationError) -> Int {
    let length = try value.integer(of: "array_slice")
    guard length >= 0 else { throw EvaluationError("array_slice(): length must be non-negative.") }
    return Int(clamping: length)
  }

  /// - Parameter values: the array, the value to search for (null is allowed), and `first` or `last`.
  private static func index(_ values: [Value?]) throws(EvaluationError) -> Value {
    guard let array = values[0], let wanted = values[1] else { return .null }
    if case .null = array { return .null }
    let elements = try array.elements(of: "array_index_of")
    var which = "first"
    if values.count > 2 {
      guard let last = values[2] else { return .null }
      if case .null = last { return .null }
      which = try last.text(of: "array_index_of")
    }
    let index: Int?
    switch which {
    case "first": index = elements.firstIndex { $0.equalsNumerically(wanted) }
    case "last": index = elements.lastIndex { $0.equalsNumerically(wanted) }
    default: throw EvaluationError("array_index_of() takes \"first\" or \"last\", not \"\(which)\".")
    }
    return .integer(Int64(index ?? -1))
  }

  /// - Parameter values: the array, the separator, and optionally the text for null elements. Without this text, null
  ///   elements are omitted.
  private static func joined(_ values: [Value]) throws(EvaluationError) -> Value {
    let separator = try StringOrBytes(values[1], "join")
    var (result, isFirst) = (separator.with([]), true)
    for element in try values[0].elements(of: "join") {
      var part = element
      if case .null = element {
        guard values.count > 2 else { continue }
        part = values[2]
      }
      let text = try StringOrBytes(part, "join")
      guard text.isText == separator.isText else { throw .type("join", "an array of strings", element) }
      if !isFirst { result.bytes += separator.bytes }
      result.bytes += text.bytes
      isFirst = false
      if result.bytes.count > PipelineLimits.valueBytes { throw Evaluation.tooLarge }
    }
    return result.value
  }
}

/// The sum of numbers: an integer if all are integers and the sum fits into 64 bits.
struct NumberSum {
  private(set) var count: Int64 = 0
  /// The sum of the integers. 128 bits are enough for as many integers as fit into memory.
  private var integers: Int128 = 0
  private var doubles: Double?

  /// Adds a value to the sum, if it is a number.
  mutating func add(_ value: Value) {
    switch Number(value) {
    case .integer(let number)?: integers += Int128(number)
    case .double(let number)?: doubles = (doubles ?? 0) + number
    case nil: return
    }
    count += 1
  }

  private var total: Double { Double(integers) + (doubles ?? 0) }
  var sum: Value { doubles == nil ? Int64(exactly: integers).map { .integer($0) } ?? .double(total) : .double(total) }
  var average: Value { count == 0 ? .null : .double(total / Double(count)) }
}
