// SPDX-License-Identifier: Apache-2.0

/// The checksum beside a row whose bytes SQLite does not guard: of a pending write what would be sent, of an overlay
/// what is shown, of a target where the backend is asked to go on.
enum RowChecksum {
  static func of(_ bytes: [UInt8], _ more: [UInt8] = [], numbers: (Int64, Int64) = (0, 0)) -> Int64 {
    bytes.withUnsafeBytes { bytes in more.withUnsafeBytes { more in of(bytes, more, numbers: numbers) } }
  }

  /// - Parameter stored: `nil` beside what an earlier version of this program stored, which is trusted.
  static func holds(
    _ stored: Int64?, for bytes: UnsafeRawBufferPointer,
    _ more: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0), numbers: (Int64, Int64) = (0, 0)
  ) -> Bool {
    stored.map { $0 == of(bytes, more, numbers: numbers) } ?? true
  }

  private static func of(_ bytes: UnsafeRawBufferPointer, _ more: UnsafeRawBufferPointer, numbers: (Int64, Int64))
    -> Int64
  {
    let sums = (StoredFields.checksum(bytes), StoredFields.checksum(more), numbers.0, numbers.1)
    return withUnsafeBytes(of: sums) { StoredFields.checksum($0) }
  }
}
