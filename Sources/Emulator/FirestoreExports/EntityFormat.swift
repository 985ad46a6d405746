// SPDX-License-Identifier: Apache-2.0

/// The fields of Datastore's entity messages, which are the format of documents in exports. `Element`, `Point` and
/// `Reference` are groups; the fields in a group have different numbers from the fields outside it.
/// ```
/// Entity     14 property and 15 unindexed property, a message each · 13 key · 16 first element of the key's path
/// Key        13 project · 14 path { 1 Element { 2 collection · 3 number · 4 id } … } · 20 namespace · 23 database
/// Property   1 meaning · 3 name · 4 whether several have this name · 5 value
/// Value      1 integer · 2 boolean · 3 text or bytes · 4 double · 5 Point { 6 · 7 } · 12 Reference { 13 project ·
///            14 Element { 15 collection · 16 number · 17 id } … · 20 namespace · 23 database }; empty for null
/// ```
enum EntityField {
  static let key = 13
  static let property = 14
  static let unindexedProperty = 15
  static let root = 16
}

enum KeyField {
  static let project = 13
  static let path = 14
  static let namespace = 20
  static let database = 23
}

enum PropertyField {
  static let meaning = 1
  static let name = 3
  static let isRepeated = 4
  static let value = 5
}

enum EntityValueField {
  static let integer = 1
  static let boolean = 2
  static let text = 3
  static let double = 4
  static let point = 5
  static let user = 8
  static let reference = 12
}

/// The field numbers of one element of a path, which depend on the path's position.
struct PathElementFields: Sendable {
  let group, collection, number, id: Int

  static let ofKey = PathElementFields(group: 1, collection: 2, number: 3, id: 4)
  static let ofReference = PathElementFields(group: 14, collection: 15, number: 16, id: 17)
}

/// The meaning of a property's value, which refines its type.
enum Meaning: UInt64 {
  case timestamp = 7
  case geoPoint = 9
  case bytes = 14
  case text = 15
  case shortBytes = 16
  case map = 19
  case emptyArray = 24
  case vectorElement = 31
}

/// The name of a project in keys. It begins with a location, which is `dev~` for an emulator.
enum ApplicationName {
  static func of(project: String) -> String { "dev~" + project }

  static func project(of name: String) -> String {
    guard let tilde = name.utf8.lastIndex(of: UInt8(ascii: "~")) else { return name }
    return String(name[name.utf8.index(after: tilde)...])
  }
}

/// The database name that is left out of keys.
let defaultDatabase = "(default)"
