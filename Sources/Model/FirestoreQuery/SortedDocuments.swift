// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Documents in an order that the caller maintains. Copies of this value type share memory. The documents are in
/// chunks, and the chunks are in groups. A change copies one chunk, the list of one group's chunks, and the list of
/// groups. Each of these has about n^(1/3) elements.
struct SortedDocuments: Sendable {
  /// The maximum number of documents in a chunk and of chunks in a group. Larger chunks and groups are split in half,
  /// and empty ones are removed.
  private static let chunkCapacity = 32
  private static let groupCapacity = 64
  /// The number of elements in a new chunk and in a new group. Both are below the maximum, so that elements can be
  /// inserted.
  private static let (filledChunk, filledGroup) = (24, 48)

  fileprivate struct Group: Sendable {
    var chunks: [[Document]]
    var count: Int
    var last: [Document] { chunks[chunks.count - 1] }
  }

  /// The place of a document, or the place after the last document.
  struct Place {
    fileprivate let group: Int
    fileprivate let chunk: Int
    fileprivate let offset: Int
  }

  fileprivate private(set) var groups: [Group] = []
  private(set) var count = 0

  init() {}

  /// - Parameter take: returns the documents in a range, which become a chunk. Called for consecutive ranges.
  init(count: Int, _ take: (Range<Int>) -> [Document]) {
    self.count = count
    let perGroup = Self.filledChunk * Self.filledGroup
    groups.reserveCapacity((count + perGroup - 1) / perGroup)
    for start in stride(from: 0, to: count, by: perGroup) {
      let end = Swift.min(start + perGroup, count)
      let chunks = stride(from: start, to: end, by: Self.filledChunk).map {
        take($0..<Swift.min($0 + Self.filledChunk, end))
      }
      groups.append(Group(chunks: chunks, count: end - start))
    }
  }

  var first: Document? { groups.first?.chunks.first?.first }
  var last: Document? { groups.last?.chunks.last?.last }

  /// - Returns: `nil` if the place is after the last document.
  subscript(place: Place) -> Document? {
    place.group < groups.count ? groups[place.group].chunks[place.chunk][place.offset] : nil
  }

  /// Finds the first document for which `comesBefore` is false. Takes O(log n) comparisons.
  /// - Parameter comesBefore: returns whether a document comes before the place to find. It receives a pointer, because
  ///   even a temporary copy of a document changes reference counts.
  @inline(__always)
  func place(_ comesBefore: (UnsafePointer<Document>) -> Bool) -> Place {
    groups.withUnsafeBufferPointer { groups in
      if groups.count == 1, groups[0].chunks.count == 1 {
        // A single chunk is searched directly.
        let offset = Self.offset(in: groups[0].chunks[0], comesBefore)
        return offset < groups[0].count
          ? Place(group: 0, chunk: 0, offset: offset) : Place(group: 1, chunk: 0, offset: 0)
      }
      let group = groups.indices.partitioningIndex { index in
        groups[index].chunks.withUnsafeBufferPointer { !Self.ends($0[$0.count - 1], comesBefore) }
      }
      if group == groups.count { return Place(group: group, chunk: 0, offset: 0) }
      return groups[group].chunks.withUnsafeBufferPointer { chunks in
        let chunk = chunks.indices.partitioningIndex { !Self.ends(chunks[$0], comesBefore) }
        return Place(group: group, chunk: chunk, offset: Self.offset(in: chunks[chunk], comesBefore))
      }
    }
  }

  /// The offset of a place within a chunk.
  @inline(__always)
  private static func offset(in chunk: [Document], _ comesBefore: (UnsafePointer<Document>) -> Bool) -> Int {
    chunk.withUnsafeBufferPointer { documents in
      documents.indices.partitioningIndex { index in
        !(documents.baseAddress.map { comesBefore($0 + index) } ?? false)
      }
    }
  }

  /// Whether `comesBefore` is true for all documents of a chunk.
  @inline(__always)
  private static func ends(_ chunk: [Document], _ comesBefore: (UnsafePointer<Document>) -> Bool) -> Bool {
    chunk.withUnsafeBufferPointer { documents in
      documents.baseAddress.map { comesBefore($0 + (documents.count - 1)) } ?? true
    }
  }

  // MARK: Positions

  /// The index of a place. Takes O(number of groups and of chunks in one group) time.
  func index(of place: Place) -> Int {
    let before = groups[..<place.group].reduce(place.offset) { $0 + $1.count }
    return place.group < groups.count
      ? groups[place.group].chunks[..<place.chunk].reduce(before) { $0 + $1.count } : before
  }

  /// The document at an index. Takes O(number of groups and of chunks in one group) time.
  subscript(index: Int) -> Document {
    var index = index
    for group in groups {
      if index >= group.count {
        index -= group.count
        continue
      }
      for chunk in group.chunks {
        if index < chunk.count { return chunk[index] }
        index -= chunk.count
      }
    }
    preconditionFailure("index past the end of \(count) documents by \(index)")
  }

  // MARK: Changes

  mutating func replace(_ place: Place, with document: Document) {
    groups[place.group].chunks[place.chunk][place.offset] = document
  }

  /// Inserts a document at a place, before the document that is currently there.
  mutating func insert(_ document: Document, at place: Place) {
    count += 1
    guard !groups.isEmpty else {
      groups = [Group(chunks: [[document]], count: 1)]
      return
    }
    if place.group < groups.count { return insert(document, place.group, place.chunk, place.offset) }
    let group = groups.count - 1
    let chunk = groups[group].chunks.count - 1
    insert(document, group, chunk, groups[group].chunks[chunk].count)
  }

  private mutating func insert(_ document: Document, _ group: Int, _ chunk: Int, _ offset: Int) {
    groups[group].count += 1
    groups[group].chunks[chunk].insert(document, at: offset)
    if groups[group].chunks[chunk].count <= Self.chunkCapacity { return }
    groups[group].chunks.insert(groups[group].chunks[chunk].takeSecondHalf(), at: chunk + 1)
    if groups[group].chunks.count <= Self.groupCapacity { return }
    let chunks = groups[group].chunks.takeSecondHalf()
    let moved = chunks.reduce(0) { $0 + $1.count }
    groups[group].count -= moved
    groups.insert(Group(chunks: chunks, count: moved), at: group + 1)
  }

  /// Finds the places for inserting new documents, which are sorted in the set's order. Each search starts at the place
  /// of the previous document.
  /// - Parameter compare: compares a document in the set with the new document at the given index.
  /// - Returns: `nil` if one of the new documents is already present, or if the set is empty.
  func places(count: Int, _ compare: (UnsafePointer<Document>, Int) -> Ordering) -> [Place]? {
    if groups.isEmpty { return nil }
    var places: [Place] = []
    places.reserveCapacity(count)
    var (group, chunk) = (0, 0)
    for index in 0..<count {
      func comesBefore(_ document: UnsafePointer<Document>) -> Bool { compare(document, index) == .ascending }
      if Self.ends(groups[group].chunks[chunk], comesBefore) {
        if Self.ends(groups[group].last, comesBefore) {
          let next = (group + 1..<groups.count).partitioningIndex { !Self.ends(groups[$0].last, comesBefore) }
          (group, chunk) =
            next < groups.count ? (next, 0) : (groups.count - 1, groups[groups.count - 1].chunks.count - 1)
        }
        let chunks = groups[group].chunks
        let found = (chunk..<chunks.count).partitioningIndex { !Self.ends(chunks[$0], comesBefore) }
        chunk = Swift.min(found, chunks.count - 1)
      }
      let offset = Self.offset(in: groups[group].chunks[chunk], comesBefore)
      let isThere = groups[group].chunks[chunk].withUnsafeBufferPointer { documents in
        offset < documents.count && documents.baseAddress.map { compare($0 + offset, index) == .equal } ?? false
      }
      if isThere { return nil }
      places.append(Place(group: group, chunk: chunk, offset: offset))
    }
    return places
  }

  /// Inserts sorted documents, each before the document that is currently at its place.
  /// - Parameter places: the places that `places(count:_:)` returned.
  mutating func insert(_ documents: [Document], at places: [Place]) {
    count += documents.count
    // Inserts from the end to the start, so that earlier places remain valid.
    var end = documents.count
    while end > 0 {
      let (group, chunk) = (places[end - 1].group, places[end - 1].chunk)
      var start = end - 1
      while start > 0, places[start - 1].group == group, places[start - 1].chunk == chunk { start -= 1 }
      insert(documents[start..<end], at: places[start..<end], group, chunk)
      if start == 0 || places[start - 1].group != group { divide(group) }
      end = start
    }
  }

  private mutating func insert(
    _ documents: ArraySlice<Document>, at places: ArraySlice<Place>, _ group: Int, _ chunk: Int
  ) {
    groups[group].count += documents.count
    if documents.count < 4 {
      for index in documents.indices.reversed() {
        groups[group].chunks[chunk].insert(documents[index], at: places[index].offset)
      }
    } else {
      let old = groups[group].chunks[chunk]
      var merged: [Document] = []
      merged.reserveCapacity(old.count + documents.count)
      var next = 0
      for index in documents.indices {
        merged += old[next..<places[index].offset]
        merged.append(documents[index])
        next = places[index].offset
      }
      merged += old[next...]
      groups[group].chunks[chunk] = merged
    }
    let count = groups[group].chunks[chunk].count
    if count > Self.chunkCapacity {
      let pieces = groups[group].chunks[chunk].pieces(of: Self.filledChunk)
      groups[group].chunks.replaceSubrange(chunk...chunk, with: pieces)
    }
  }

  /// Splits a group that has become too large.
  private mutating func divide(_ group: Int) {
    guard groups[group].chunks.count > Self.groupCapacity else { return }
    let pieces = groups[group].chunks.pieces(of: Self.filledGroup).map { chunks in
      Group(chunks: chunks, count: chunks.reduce(0) { $0 + $1.count })
    }
    groups.replaceSubrange(group...group, with: pieces)
  }

  /// - Precondition: there is a document at this place.
  mutating func remove(_ place: Place) -> Document {
    count -= 1
    groups[place.group].count -= 1
    let document = groups[place.group].chunks[place.chunk].remove(at: place.offset)
    if groups[place.group].chunks[place.chunk].isEmpty { groups[place.group].chunks.remove(at: place.chunk) }
    if groups[place.group].chunks.isEmpty { groups.remove(at: place.group) }
    return document
  }

  /// Calls `body` with the chunks, one after the other.
  func forEachChunk(_ body: ([Document]) -> Void) {
    for group in groups { for chunk in group.chunks { body(chunk) } }
  }
}

extension Array {
  /// The elements, split into parts that have about the given size.
  fileprivate func pieces(of size: Int) -> [[Element]] {
    let number = (count + size - 1) / size
    return (0..<number).map { Array(self[count * $0 / number..<count * ($0 + 1) / number]) }
  }

  fileprivate mutating func takeSecondHalf() -> [Element] {
    let half = count / 2
    let taken = Array(self[half...])
    removeSubrange(half...)
    return taken
  }
}

extension SortedDocuments: Sequence {
  struct Iterator: IteratorProtocol {
    private let groups: [Group]
    private var group = 0
    private var chunk = 0
    private var documents: [Document] = []
    private var offset = 0

    fileprivate init(_ groups: [Group]) { self.groups = groups }

    mutating func next() -> Document? {
      if offset == documents.count {
        while group < groups.count, chunk == groups[group].chunks.count { (group, chunk) = (group + 1, 0) }
        guard group < groups.count else { return nil }
        documents = groups[group].chunks[chunk]
        (chunk, offset) = (chunk + 1, 0)
      }
      offset += 1
      return documents[offset - 1]
    }
  }

  func makeIterator() -> Iterator { Iterator(groups) }
}
