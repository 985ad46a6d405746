// SPDX-License-Identifier: Apache-2.0

/// Hashes bytes for a hash table, eight bytes at a time, by multiplication. This is several times faster than the
/// standard hasher. Each process has a random seed, so that an attacker cannot choose keys that collide.
enum ByteHash {
  private static let seed = UInt64.random(in: .min ... .max)
  private static let multiplier: UInt64 = 0x9e37_79b9_7f4a_7c15

  static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    let seed = seed
    let factor = factor(seed)
    var state = seed ^ (UInt64(bytes.count) &* multiplier)
    var offset = 0
    while offset + 8 <= bytes.count {
      state = mixed(state ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self), factor)
      offset += 8
    }
    guard offset < bytes.count else { return state }
    var tail: UInt64 = 0
    while offset < bytes.count {
      tail = tail << 8 | UInt64(bytes[offset])
      offset += 1
    }
    return mixed(state ^ tail, factor)
  }

  /// Hashes bytes for a table that has a separate seed.
  static func of(_ bytes: UnsafeRawBufferPointer, seed: Int) -> Int { of(of(bytes), seed: seed) }

  /// Computes the hash for a table that has a separate seed, from the seedless hash of the bytes.
  static func of(_ hash: UInt64, seed: Int) -> Int {
    Int(truncatingIfNeeded: mixed(hash ^ UInt64(truncatingIfNeeded: seed), factor(self.seed)))
  }

  private static func factor(_ seed: UInt64) -> UInt64 { multiplier ^ (seed & ~1) }

  @inline(__always)
  private static func mixed(_ value: UInt64, _ factor: UInt64) -> UInt64 {
    // A product of zero would discard the preceding bytes.
    let product = value.multipliedFullWidth(by: factor)
    return product.high ^ product.low ^ value
  }
}

/// The MD5 digest (RFC 1321), as the two little-endian numbers that bloom filters use. It must not be used for
/// security.
package struct MD5 {
  package let low: UInt64
  package let high: UInt64

  package init(_ message: some Collection<UInt8>) {
    var state: (UInt32, UInt32, UInt32, UInt32) = (0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476)
    var padded = Array(message)
    let bitCount = UInt64(padded.count) &* 8
    padded.append(0x80)
    padded += [UInt8](repeating: 0, count: (120 - padded.count % 64) % 64)
    for byte in 0..<8 { padded.append(UInt8(truncatingIfNeeded: bitCount >> (8 * byte))) }
    padded.withUnsafeBytes { bytes in
      for block in stride(from: 0, to: bytes.count, by: 64) { Self.absorb(bytes, at: block, into: &state) }
    }
    low = UInt64(state.0) | UInt64(state.1) << 32
    high = UInt64(state.2) | UInt64(state.3) << 32
  }

  /// Adds one block of 64 bytes to the state.
  /// - Parameter block: the offset of the block.
  private static func absorb(
    _ bytes: UnsafeRawBufferPointer, at block: Int, into state: inout (UInt32, UInt32, UInt32, UInt32)
  ) {
    let (sines, shifts) = (sines, shifts)
    var (a, b, c, d) = state
    for round in 0..<64 {
      let mixed: UInt32
      let word: Int
      switch round / 16 {
      case 0: (mixed, word) = ((b & c) | (~b & d), round)
      case 1: (mixed, word) = ((d & b) | (~d & c), (5 * round + 1) % 16)
      case 2: (mixed, word) = (b ^ c ^ d, (3 * round + 5) % 16)
      default: (mixed, word) = (c ^ (b | ~d), (7 * round) % 16)
      }
      let read = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: block + word * 4, as: UInt32.self))
      let sum = a &+ mixed &+ sines[round] &+ read
      let shift = shifts[round / 16 * 4 + round % 4]
      (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
    }
    state = (state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d)
  }

  /// The bit shifts. Each of the four rounds has sixteen steps and uses four of the shifts.
  private static let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]

  /// The constants `floor(2^32 * abs(sin(i + 1)))` for the 64 steps.
  private static let sines: [UInt32] = [
    0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
    0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
    0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
    0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
    0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
    0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
    0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
    0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
  ]
}

extension MD5 {
  /// The 16 bytes of the digest, in the standard order.
  package var digest: [UInt8] {
    [low, high].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (8 * UInt64($0))) } }
  }
}
