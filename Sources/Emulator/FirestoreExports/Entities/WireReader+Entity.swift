// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension WireReader {
  private static let maximumGroups = 16

  /// Skips a field, or a group to its end.
  mutating func skipField(_ tag: (field: Int, type: WireType), depth: Int = 0) throws(WireError) {
    guard tag.type == .startGroup else {
      if tag.type == .endGroup { throw WireError("a group ends that has not begun") }
      return try skip(tag.type)
    }
    guard depth < Self.maximumGroups else { throw WireError("groups are nested more than \(Self.maximumGroups) deep") }
    while let inner = try nextField(inGroup: tag.field) { try skipField(inner, depth: depth + 1) }
  }

  /// - Returns: the next field of a group; `nil` at its end.
  private mutating func nextField(inGroup number: Int) throws(WireError) -> (field: Int, type: WireType)? {
    guard let tag = try tag() else { throw WireError("a group has no end") }
    if tag.type != .endGroup { return tag }
    guard tag.field == number else { throw WireError("a group ends that has not begun") }
    return nil
  }

  /// Reads the name of the document from an entity's key.
  mutating func entityKey() throws(WireError) -> (DatabaseID, DocumentKey)? {
    var parts = KeyParts()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (KeyField.path, .lengthDelimited):
        var path = try message()
        while let tag = try path.tag() {
          if tag.field == PathElementFields.ofKey.group, tag.type == .startGroup {
            try path.element(.ofKey, into: &parts)
          } else {
            try path.skipField(tag)
          }
        }
      default: try keyField(tag, &parts)
      }
    }
    return try parts.names()
  }

  /// Reads the rest of a reference's group.
  mutating func reference() throws(WireError) -> (DatabaseID, DocumentKey)? {
    var parts = KeyParts()
    while let tag = try nextField(inGroup: EntityValueField.reference) {
      if tag.field == PathElementFields.ofReference.group, tag.type == .startGroup {
        try element(.ofReference, into: &parts)
      } else {
        try keyField(tag, &parts)
      }
    }
    return try parts.names()
  }

  /// Reads the rest of a point's group.
  mutating func point() throws(WireError) -> GeoPoint {
    var point = GeoPoint(latitude: 0, longitude: 0)
    while let tag = try nextField(inGroup: EntityValueField.point) {
      switch (tag.field, tag.type) {
      case (6, .fixed64): point.latitude = try double()
      case (7, .fixed64): point.longitude = try double()
      default: try skipField(tag)
      }
    }
    return point
  }

  private mutating func keyField(_ tag: (field: Int, type: WireType), _ parts: inout KeyParts) throws(WireError) {
    switch (tag.field, tag.type) {
    case (KeyField.project, .lengthDelimited): parts.project = ApplicationName.project(of: try string())
    case (KeyField.database, .lengthDelimited): parts.database = try string()
    case (KeyField.namespace, .lengthDelimited):
      let namespace = try string()
      if !namespace.isEmpty {
        throw WireError(
          "it lies in the namespace \"\(namespace.prefix(100))\", which only databases in Datastore mode have")
      }
    default: try skipField(tag)
    }
  }

  private mutating func element(_ fields: PathElementFields, into parts: inout KeyParts) throws(WireError) {
    var collection: String?
    var id: String?
    while let tag = try nextField(inGroup: fields.group) {
      switch (tag.field, tag.type) {
      case (fields.collection, .lengthDelimited): collection = try string()
      case (fields.id, .lengthDelimited): id = try string()
      case (fields.number, .varint): id = PathElement.id(of: try integer())
      default: try skipField(tag)
      }
    }
    guard let collection, let id else { throw WireError("a key has a part without a collection or an id") }
    parts.segments += [collection, id]
    guard parts.segments.count <= 2 * ResourcePath.collectionDepthLimit else {
      throw WireError("a key is deeper than \(ResourcePath.collectionDepthLimit) collections")
    }
  }
}

/// The parts of a key that have been read.
private struct KeyParts {
  var project = ""
  var database = ""
  var segments: [String] = []

  /// - Returns: `nil` for a key without a path.
  func names() throws(WireError) -> (DatabaseID, DocumentKey)? {
    if segments.isEmpty { return nil }
    if project.isEmpty { throw WireError("a key names no project") }
    if (project + database).utf8.contains(UInt8(ascii: "/")) { throw WireError("a key names no database") }
    for (index, segment) in segments.enumerated() {
      if let reason = ResourcePath.objection(to: segment, isCollectionID: index.isMultiple(of: 2)) {
        throw WireError("a key is no path: \(reason.dropLast())")
      }
    }
    let id = DatabaseID(project: project, database: database.isEmpty ? defaultDatabase : database)
    return (id, DocumentKey(unchecked: ResourcePath(segments: segments)))
  }
}
