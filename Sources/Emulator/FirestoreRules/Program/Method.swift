// SPDX-License-Identifier: Apache-2.0

/// A function that is called on a value.
enum Method: String, Sendable, CaseIterable {
  case size
  // Strings.
  case lower, upper, trim, matches, replace, split, toUtf8
  // Lists and sets.
  case concat, hasAll, hasAny, hasOnly, join, removeAll, toSet, union, intersection, difference
  // Maps and what tells two of them apart.
  case diff, get, keys, values, addedKeys, affectedKeys, changedKeys, removedKeys, unchangedKeys
  // Bytes.
  case toBase64, toHexString
  // Times.
  case date, day, dayOfWeek, dayOfYear, hours, minutes, month, nanos, seconds, time, toMillis, year
  // Places on Earth.
  case distance, latitude, longitude
  // Paths.
  case bind

  /// The types that have the method, with its signature for each in the form of error messages.
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
