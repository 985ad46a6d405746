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

  /// The names of packages, which are written before a dot and are not variables.
  static let packages: Set<String> = ["math", "hashing", "duration", "latlng", "timestamp"]

  /// The argument types of the function, in the format of error messages.
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

/// A function that is called on a value.
enum Method: String, Sendable, CaseIterable {
  case size
  // Strings.
  case lower, upper, trim, matches, replace, split, toUtf8
  // Lists and sets.
  case concat, hasAll, hasAny, hasOnly, join, removeAll, toSet, union, intersection, difference
  // Maps, and the differences between two maps.
  case diff, get, keys, values, addedKeys, affectedKeys, changedKeys, removedKeys, unchangedKeys
  // Bytes.
  case toBase64, toHexString
  // Times.
  case date, day, dayOfWeek, dayOfYear, hours, minutes, month, nanos, seconds, time, toMillis, year
  // Geographical points.
  case distance, latitude, longitude
  // Paths.
  case bind

  /// The types with this method, each with its signature in the format of error messages.
  var signatures: [String] {
    switch self {
    case .size: ["string.size()", "list.size()", "map.size()", "set.size()", "bytes.size()"]
    case .lower, .upper, .trim, .toUtf8: ["string.\(rawValue)()"]
    case .matches, .split: ["string.\(rawValue)(string)"]
    case .replace: ["string.replace(string, string)"]
    case .concat, .removeAll: ["list.\(rawValue)(list)"]
    case .hasAll, .hasAny, .hasOnly: ["list.\(rawValue)(list)", "set.\(rawValue)(list)", "set.\(rawValue)(set)"]
    case .join: ["list.join(string)"]
    case .toSet: ["list.toSet()"]
    case .union, .intersection, .difference: ["set.\(rawValue)(set)"]
    case .diff: ["map.diff(map)"]
    case .get: ["map.get(string, any)", "map.get(list, any)"]
    case .keys, .values: ["map.\(rawValue)()"]
    case .addedKeys, .affectedKeys, .changedKeys, .removedKeys, .unchangedKeys: ["map_diff.\(rawValue)()"]
    case .toBase64, .toHexString: ["bytes.\(rawValue)()"]
    case .date, .day, .dayOfWeek, .dayOfYear, .hours, .minutes, .month, .time, .toMillis, .year:
      ["timestamp.\(rawValue)()"]
    case .nanos, .seconds: ["timestamp.\(rawValue)()", "duration.\(rawValue)()"]
    case .distance: ["latlng.distance(latlng)"]
    case .latitude, .longitude: ["latlng.\(rawValue)()"]
    case .bind: ["path.bind(map)"]
    }
  }
}
