// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Functions on maps, and functions that accept several types.
enum Maps {
  static let functions: [Function] = [
    Function(
      "map", 0...Function.many,
      anything: { values, _ throws(EvaluationError) in
        Value(map: try setting(Fields(), values[...], "map"))
      }),
    Function("map_get", 2...2, anything: { values, _ throws(EvaluationError) in try entry("map_get", values) }),
    Function("get_field", 2...2, anything: { values, _ throws(EvaluationError) in try entry("get_field", values) }),
    Function(
      "map_set", 3...Function.many,
      anything: { values, _ throws(EvaluationError) in
        guard let map = values[0] else { return nil }
        if case .null = map { return .null }
        return Value(map: try setting(map.fields(of: "map_set"), values.dropFirst(), "map_set"))
      }),
    Function("map_remove", 2...Function.many) { values, _ throws(EvaluationError) in
      var fields = try values[0].fields(of: "map_remove")
      for name in values.dropFirst() { fields[try name.text(of: "map_remove")] = nil }
      return .map(fields)
    },
    Function("map_merge", 1...Function.many) { values, _ throws(EvaluationError) in
      var fields = try values[0].fields(of: "map_merge")
      for map in values.dropFirst() {
        for entry in try map.fields(of: "map_merge").entries { fields[entry.name] = entry.value }
      }
      return .map(fields)
    },
    Function("map_keys", 1) { values, _ throws(EvaluationError) in
      .array(try values[0].fields(of: "map_keys").entries.map { .string($0.name) })
    },
    Function("map_values", 1) { values, _ throws(EvaluationError) in
      .array(try values[0].fields(of: "map_values").entries.map(\.value))
    },
    Function("map_entries", 1) { values, _ throws(EvaluationError) in
      .array(
        try values[0].fields(of: "map_entries").entries.map { .map(["k": .string($0.name), "v": $0.value]) })
    },
    Function("concat", 1...Function.many) { values, _ throws(EvaluationError) in
      if case .array = values[0] { return try Arrays.concatenation("concat", values) }
      return try Strings.concatenation("concat", values)
    },
    Function("length", 1) { values, _ throws(EvaluationError) in
      switch values[0] {
      case .array(let elements): .integer(Int64(elements.count))
      case .map(let fields): .integer(Int64(fields.count))
      case .vector(let elements): .integer(Int64(elements.count))
      default: .integer(Int64(try StringOrBytes(values[0], "length").length))
      }
    },
    Function("reverse", 1) { values, _ throws(EvaluationError) in
      if case .array(let elements) = values[0] { return .array(elements.reversed()) }
      return try StringOrBytes(values[0], "reverse").reversed
    },
    Function("type", 1...1, anything: { values, _ in values[0].map { .string($0.pipelineType) } }),
    Function(
      "is_type", 2...2,
      anything: { values, _ throws(EvaluationError) in
        guard let name = values[1] else { return .null }
        if case .null = name { return .null }
        let type = try name.text(of: "is_type")
        guard Value.pipelineTypes.contains(type) else {
          let names = Value.pipelineTypes.sorted().joined(separator: ", ")
          throw EvaluationError("is_type(): unknown type '\(type)'. Types: \(names).")
        }
        guard let own = values[0]?.pipelineType else { return .null }
        return .boolean(type == "number" ? Value.numberTypes.contains(own) : own == type)
      }),
    Function("storage_size", 1...1, anything: { values, _ in values[0].map { .integer(Int64($0.byteSize)) } }),
    Function("document_id", 1) { values, _ throws(EvaluationError) in
      .string(try key("document_id", values[0]).documentID)
    },
    Function("collection_id", 1) { values, _ throws(EvaluationError) in
      .string(try key("collection_id", values[0]).collectionGroup)
    },
    Function("parent", 1) { values, _ throws(EvaluationError) in
      guard case .reference(let database, let key) = values[0] else { throw .type("parent", "a reference", values[0]) }
      return DocumentKey(key.collection.parent).map { .reference(database, $0) }
    },
    Function("error", 1) { values, _ throws(EvaluationError) in
      throw EvaluationError(try values[0].text(of: "error"))
    },
  ]

  private static func key(_ function: String, _ value: Value) throws(EvaluationError) -> DocumentKey {
    guard case .reference(_, let key) = value else { throw .type(function, "a reference", value) }
    return key
  }

  /// The value for a name in a map; absent if the map does not contain the name.
  private static func entry(_ function: String, _ values: [Value?]) throws(EvaluationError) -> Value? {
    guard let map = values[0], let name = values[1] else { return nil }
    if case .null = map { return nil }
    return try map.fields(of: function)[name.text(of: function)]
  }

  /// - Parameter pairs: alternating names and values; an absent value removes the name.
  private static func setting(
    _ fields: Fields, _ pairs: ArraySlice<Value?>, _ function: String
  ) throws(EvaluationError) -> Fields {
    guard pairs.count.isMultiple(of: 2) else { throw EvaluationError("\(function)() takes name-value pairs.") }
    var (fields, rest) = (fields, pairs)
    while let name = rest.popFirst(), let value = rest.popFirst() {
      guard let name else { throw EvaluationError("\(function)() needs a name for each value, but a name is absent.") }
      let text = try name.text(of: function)
      fields[text] = value
    }
    return fields
  }
}
