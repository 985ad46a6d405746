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

/// One expression of a program, whose parts are named by their places in it: always before the whole.
struct Expression: Sendable {
  typealias ID = Int

  enum Kind: Sendable {
    case constant(RuleConstant)
    /// A name, until it is resolved.
    case name(String)
    /// The variable of a path, by its place among those of the enclosing `match` blocks.
    case capture(Int)
    /// A parameter or a `let` of the function.
    case local(Int)
    case request
    case resource
    case requestProperty(RequestProperty)
    /// A name that nothing has.
    case undefined(String)
    case property(ID, FieldPath)
    /// `property` of the data of a document of the request.
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
    /// A call by name, until it is resolved.
    case call(String, [ID])
    case function(Int, [ID])
    case builtin(Builtin, [ID])
    case method(ID, Method, [ID])
    /// As `method`, of a name that is none.
    case unknownCall(String)
  }

  enum PathPart: Sendable {
    case segment(String)
    case expression(ID)
  }

  /// `resource.data.name` or `request.resource.data.name`.
  struct Field: Sendable {
    enum Origin {
      case stored, written
    }

    /// The expression `resource.data` in it, and `resource` in that.
    let data: ID
    let document: ID
    let origin: Origin
    let name: FieldPath
  }

  var kind: Kind
  /// In the source text.
  var range: Range<Int>
  /// Where names in it are looked up.
  var scope: Int
  /// How many expressions stand inside each other in it.
  var depth: Int
}

enum RequestProperty: String, Sendable, CaseIterable {
  case auth, method, path, time, resource, query, headers, writeFields
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

/// What `is` can ask for, in the emulator's order.
enum RuleType: String, Sendable, CaseIterable {
  case bool, bytes, constraint, duration, float, int, latlng, list, vector, set, number, map, string, timestamp, path
  case mapDiff = "map_diff"
}
