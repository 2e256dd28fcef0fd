// Holds sessions-events §11.3.
import { describe, expect, it } from 'vitest'
import { createAudiences } from '../../../src/actors/events/audiences.js'
import type { BusRecord } from '../../../src/actors/events/bus.js'
import { type Caller, TRUSTED_CALLER } from '../../../src/protocol/caller.js'

const record = (sessionId: string | undefined): BusRecord => ({ sessionId }) as BusRecord

/** Sessions `a1`, `a2` of the family `a`, and so on; a caller hears what its tenant is the last letter of. */
function audiences() {
  const asked: string[] = []
  const all = createAudiences({
    families: { rootOf: (id) => id[0] },
    owners: {
      mayHear(caller, id) {
        asked.push(`${caller.tenantId} ${id}`)
        return caller.tenantId === 'local' || id?.endsWith(caller.tenantId) === true
      },
    },
  })
  return { all, asked }
}

const tenant = (tenantId: string, more: Partial<Caller> = {}): Caller => ({ ...TRUSTED_CALLER, tenantId, ...more })

describe('an audience', () => {
  it('is asked once for every event, however many readers of equal rights there are', () => {
    const { all, asked } = audiences()
    const callers = [tenant('local'), tenant('1'), tenant('1', { directoryPrefixes: ['/x'] })]
    const readers = callers.flatMap((caller) => Array.from({ length: 50 }, () => all.join({ ...caller }, undefined).audience))
    const heard = ['a1', 'a2', undefined].map((id) => {
      const told = record(id)
      return readers.filter((reader) => reader.hears(told)).length
    })
    expect(heard).toEqual([150, 50, 50])
    expect(asked).toHaveLength(9)
  })

  it('of a family hears of that family alone, and of its own session where no family is known', () => {
    const { all } = audiences()
    const { audience } = all.join(tenant('local'), 'a1')
    expect(['a1', 'a2', 'b1', undefined].map((id) => audience.hears(record(id)))).toEqual([true, true, false, false])
  })

  it('is asked anew for the next event of the same session', () => {
    const rights = { mayHear: true }
    const all = createAudiences({ families: { rootOf: (id) => id }, owners: { mayHear: () => rights.mayHear } })
    const { audience } = all.join(tenant('local'), undefined)
    expect(audience.hears(record('a'))).toBe(true)
    rights.mayHear = false
    expect(audience.hears(record('a'))).toBe(false)
  })

  it('is shared until the last of its readers has left', () => {
    const { all } = audiences()
    const [first, second] = [all.join(tenant('1'), 'a1'), all.join(tenant('1'), 'a1')]
    expect(second.audience).toBe(first.audience)
    first.leave()
    expect(all.join(tenant('1'), 'a1').audience).toBe(first.audience)
    for (const reader of [second, second]) reader.leave()
    expect(all.join(tenant('1'), 'a1').audience).not.toBe(first.audience)
    expect(all.of(tenant('1'), 'a1')).not.toBe(all.of(tenant('1'), 'a1'))
  })
})
