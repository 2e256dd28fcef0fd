import type { AnyActorRef } from 'xstate'
import { describe, expect, it } from 'vitest'
import { createAttempts } from '../../../src/plugins/mcp/oauth/attempts.js'
import { createFakeEffects } from '../../fakes/effects.js'

const place = { server: 'tracker', key: 'tracker\0https://tracker.example' }

function opened() {
  const refs: AnyActorRef[] = []
  const attempts = createAttempts({ effects: createFakeEffects(), actors: { add: (ref) => void refs.push(ref) } })
  /** Where each of them is. */
  const states = () =>
    refs.map((ref) => {
      const snapshot: unknown = ref.getSnapshot()
      return typeof snapshot === 'object' && snapshot !== null && 'value' in snapshot ? snapshot.value : undefined
    })
  return { attempts, states }
}

const offer = (address: string) => () => Promise.resolve(address)
const WAITING = { open: 'waiting' }

describe('an attempt to sign in to an MCP server', () => {
  it('goes from its address by its answer to tokens', async () => {
    const { attempts, states } = opened()
    expect(await attempts.begin(place, offer('https://a.example/'))).toBe('https://a.example/')
    expect(states()).toEqual([WAITING])
    let exchanged = 0
    await attempts.take(place).finish(async () => void exchanged++)
    expect([exchanged, states()]).toEqual([1, ['connected']])
  })

  it('gives way to the next once that is stored, and not to one that fails', async () => {
    const { attempts, states } = opened()
    await attempts.begin(place, offer('https://a.example/'))
    const fault = new Error('no such server')
    await expect(attempts.begin(place, () => Promise.reject(fault))).rejects.toBe(fault)
    expect(states()).toEqual([WAITING, 'refused'])
    await attempts.begin(place, offer('https://b.example/'))
    expect(states()).toEqual(['cancelled', 'refused', WAITING])
    await attempts.begin({ server: 'other', key: 'other' }, offer('https://c.example/'))
    expect(states().slice(2)).toEqual([WAITING, WAITING])
  })

  it('ends where its code is refused, its user is, or its answer comes late', async () => {
    const { attempts, states } = opened()
    const fault = new Error('the code is none')
    await attempts.begin(place, offer('https://a.example/'))
    await expect(attempts.take(place).finish(() => Promise.reject(fault))).rejects.toBe(fault)
    await attempts.begin(place, offer('https://a.example/'))
    attempts.take(place).refuse('access_denied')
    await attempts.begin(place, offer('https://a.example/'))
    attempts.take(place).late()
    expect(states()).toEqual(['refused', 'refused', 'expired'])
  })

  it('that was begun before a restart ends as any other', async () => {
    const { attempts, states } = opened()
    await attempts.take(place).finish(() => Promise.resolve())
    expect(states()).toEqual(['connected'])
  })

  it('is cancelled by whoever forgets the server, and by the end of the service; a code that is being exchanged is not', async () => {
    const { attempts, states } = opened()
    await attempts.begin(place, offer('https://a.example/'))
    attempts.forget(place)
    await attempts.begin(place, offer('https://b.example/'))
    let exchanged = (): void => undefined
    const finished = attempts.take(place).finish(() => new Promise((resolve) => (exchanged = resolve)))
    attempts.forget(place)
    await attempts.begin(place, offer('https://c.example/'))
    attempts.stop()
    expect(states()).toEqual(['cancelled', { open: 'exchanging' }, 'cancelled'])
    exchanged()
    await finished
    await expect(attempts.begin(place, offer('https://d.example/'))).rejects.toMatchObject({ code: 'lifecycle.closed' })
  })
})
