// Holds sessions-events §1, §1.5.
import { describe, expect, it } from 'vitest'
import { createIds } from '../../src/protocol/ids.js'

const AT = 1_767_614_400_000
const zeros = (size: number) => new Uint8Array(size)

describe('ids', () => {
  it('are a prefix, twelve hex digits of time and fourteen base62 characters', () => {
    let byte = 0
    const ids = createIds({ now: () => AT, randomBytes: (size) => Uint8Array.from({ length: size }, () => byte++) })
    expect(ids.next('msg')).toBe('msg_b8e0746000010123456789ABCD')
    expect(ids.next('evt')).toMatch(/^evt_[0-9a-f]{12}[0-9A-Za-z]{14}$/)
  })

  it('carry 48 bits of milliseconds and counter, exactly as big integers would', () => {
    for (const ms of [0, 1, 4095, 4096, 2 ** 36 - 1, 2 ** 36, AT, 8_640_000_000_000_000 / 4096]) {
      const at = Math.floor(ms)
      const ids = createIds({ now: () => at, randomBytes: zeros })
      expect(ids.next('prt')).toBe(`prt_${timeOf(at, 1)}${'0'.repeat(14)}`)
      expect(ids.next('ses')).toBe(`ses_${complement(timeOf(at, 2))}${'0'.repeat(14)}`)
    }
  })

  it('ascend within a millisecond, across milliseconds and beyond four thousand in one', () => {
    let now = AT
    const ids = createIds({ now: () => now, randomBytes: zeros })
    const made = Array.from({ length: 10_000 }, (_, index) => {
      if (index % 3000 === 0) now += 1
      return ids.next('prt')
    })
    expect(made.toSorted()).toEqual(made)
    expect(new Set(made).size).toBe(made.length)
  })

  it('descend for sessions, so that the newest sorts first', () => {
    let now = AT
    const ids = createIds({ now: () => now++, randomBytes: zeros })
    const made = Array.from({ length: 100 }, () => ids.next('ses'))
    expect(made.toSorted()).toEqual(made.toReversed())
  })

  it('start the counter at one in every new millisecond', () => {
    let now = AT
    const ids = createIds({ now: () => now, randomBytes: zeros })
    ids.next('msg')
    ids.next('msg')
    now += 1
    expect(ids.next('msg').slice(4, 16)).toBe(timeOf(AT + 1, 1))
  })

  it('keep ascending when the clock steps back', () => {
    let now = AT
    const ids = createIds({ now: () => now, randomBytes: zeros })
    const before = ids.next('evt')
    now -= 3_600_000
    const after = ids.next('evt')
    expect(after.slice(4, 16)).toBe(timeOf(AT, 2))
    expect(after > before).toBe(true)
  })
})

function timeOf(ms: number, counter: number): string {
  return BigInt.asUintN(48, BigInt(ms) * 4096n + BigInt(counter))
    .toString(16)
    .padStart(12, '0')
}

function complement(hex: string): string {
  return BigInt.asUintN(48, ~BigInt(`0x${hex}`))
    .toString(16)
    .padStart(12, '0')
}
