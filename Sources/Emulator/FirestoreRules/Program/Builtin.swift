// SPDX-License-Identifier: Apache-2.0

/// A function of the language.
enum Builtin: String, Sendable, CaseIterable {
  case debug, exists, existsAfter, get, getAfter
  case int, float, string, path
  case mathAbs = "math.abs"
  case mathCeil = "math.ceil"
  case mathFloor = "math.floor"
  case mathIsInfinite = "math.isInfinite"
  case mathIsInfinity = "math.isInfinity"
  case mathIsNaN = "math.isNaN"
  case mathPow = "math.pow"
  case mathRound = "math.round"
  case mathSqrt = "math.sqrt"
  case hashingCRC32 = "hashing.crc32"
  case hashingCRC32C = "hashing.crc32c"
  case hashingMD5 = "hashing.md5"
  case hashingSHA256 = "hashing.sha256"
  case durationAbs = "duration.abs"
  case durationTime = "duration.time"
  case durationValue = "duration.value"
  case latlngValue = "latlng.value"
  case timestampDate = "timestamp.date"
  case timestampValue = "timestamp.value"

  /// The package names that stand before a dot and are no variables.
  static let packages: Set<String> = ["math", "hashing", "duration", "latlng", "timestamp"]

  /// The types of arguments that the function takes, in the form of error messages.
  var signatures: [String] {
    switch self {
    case .debug: ["debug(any)"]
    case .exists, .existsAfter, .get, .getAfter: ["\(rawValue)(path)"]
    case .int: ["int(int)", "int(float)", "int(string)"]
    case .float: ["float(int)", "float(float)", "float(string)"]
    case .string:
      ["string(int)", "string(float)", "string(null)", "string(string)", "string(bool)", "string(path)"]
    case .path: ["path(string)"]
    case .mathAbs: ["math.abs(int)", "math.abs(float)"]
    case .mathCeil, .mathFloor, .mathRound, .mathSqrt, .mathIsNaN, .mathIsInfinite, .mathIsInfinity:
      ["\(rawValue)(float)"]
    case .mathPow: ["math.pow(float, float)"]
    case .hashingCRC32, .hashingCRC32C, .hashingMD5, .hashingSHA256: ["\(rawValue)(string)", "\(rawValue)(bytes)"]
    case .durationAbs: ["duration.abs(duration)"]
    case .durationTime: ["duration.time(int, int, int, int)"]
    case .durationValue: ["duration.value(int, string)"]
    case .latlngValue: ["latlng.value(float, float)"]
    case .timestampDate: ["timestamp.date(int, int, int)"]
    case .timestampValue: ["timestamp.value(int)", "timestamp.value(string)"]
    }
  }
}
