// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// A literal.
enum RuleConstant: Sendable, Hashable {
  case null
  case bool(Bool)
  case int(Int64)
  case float(Double)
  case string(String)
  case bytes([UInt8])
}

/// One expression of a program. It refers to its parts by their indices, which are always smaller than its index.
struct Expression: Sendable {
  typealias ID = Int

  enum Kind: Sendable {
    case constant(RuleConstant)
    /// An unresolved name.
    case name(String)
    /// A variable of a path, by its index among the variables of the enclosing `match` blocks.
    case capture(Int)
    /// A parameter or a `let` of the function.
    case local(Int)
    case request
    case resource
    case requestProperty(RequestProperty)
    /// An undeclared name.
    case undefined(String)
    case property(ID, FieldPath)
    /// A data field of one of the request's documents. Replaces nested `property` expressions.
    case field(Field)
    case index(ID, ID)
    case slice(ID, ID?, ID?)
    case not(ID)
    case negated(ID)
    case and([ID])
    case or([ID])
    case operation(BinaryOperator, ID, ID)
    case isType(ID, RuleType)
    case conditional(ID, then: ID, otherwise: ID)
    case list([ID])
    case map(keys: [ID], values: [ID])
    case path([PathPart])
    /// A call with an unresolved name.
    case call(String, [ID])
    case function(Int, [ID])
    case builtin(Builtin, [ID])
    case method(ID, Method, [ID])
    /// A call with an unknown name.
    case unknownCall(String)
  }

  enum PathPart: Sendable {
    case segment(String)
    case expression(ID)
  }

  /// A field in the form `resource.data.name` or `request.resource.data.name`.
  struct Field: Sendable {
    enum Origin {
      case stored, written
    }

    /// The expression `resource.data`, and the expression `resource` within it.
    let data: ID
    let document: ID
    let origin: Origin
    let name: FieldPath
  }

  var kind: Kind
  /// The position in the source text, in UTF-8 bytes.
  var range: Range<Int>
  /// The index of the scope for the expression's names.
  var scope: Int
  /// The nesting depth of the expression.
  var depth: Int
}

enum RequestProperty: String, Sendable, CaseIterable {
  case auth, method, path, time, resource, query, headers, writeFields, fields, inTransaction
}

enum BinaryOperator: String, Sendable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case `in` = "in"
  case plus = "+"
  case minus = "-"
  case times = "*"
  case divided = "/"
  case remainder = "%"
}

/// The type names that `is` accepts, in the emulator's order.
enum RuleType: String, Sendable, CaseIterable {
  case bool, bytes, constraint, duration, float, int, latlng, list, vector, set, number, map, string, timestamp, path
  case mapDiff = "map_diff"
}
