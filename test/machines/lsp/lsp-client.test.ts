// Holds subsystems e.4.
import { describe, expect, it } from 'vitest'
import { type LspClientEvent, lspClientMachine } from '../../../src/machines/lsp/lsp-client.machine.js'
import { explore, missing } from '../paths.js'

const done = (actorId: string) => ({ type: `xstate.done.actor.${actorId}`, output: undefined, actorId })
const error = (actorId: string) => ({ type: `xstate.error.actor.${actorId}`, error: new Error('no'), actorId })
const lost: LspClientEvent = { type: 'server.lost', reason: 'it is gone' }
const explored = explore(
  lspClientMachine,
  { adapter: 'go', directory: '/srv', root: '/srv' },
  [
    { type: 'query.asked' },
    { type: 'retire.requested' },
    lost,
    ...['start', 'leave', 'break', 'retire'].flatMap((id) => [done(id), error(id)]),
    { type: 'xstate.after.idle.lsp-client.ready' },
    { type: 'xstate.after.retry.lsp-client.backingOff' },
  ],
  { key: ({ context: { reason, hasServed } }) => [reason !== undefined, hasServed] },
)

describe('the machine of a language server', () => {
  it('has every transition covered by generated paths', () => {
    expect(missing(explored)).toEqual([])
  })

  it('says why it is broken, and nothing while it runs', () => {
    const reasons = (tag: string) =>
      new Set(explored.snapshots.filter((snapshot) => snapshot.hasTag(tag)).map(({ context }) => typeof context.reason))
    expect([reasons('broken'), reasons('ready')]).toEqual([new Set(['string']), new Set(['undefined'])])
  })

  it('is not started while it backs off, however often it is asked', () => {
    const asked = explored.paths.filter((path) => path.includes('xstate.done.actor.break'))
    expect(asked.length).toBeGreaterThan(0)
    const backing = explored.snapshots.filter(({ value }) => value === 'backingOff')
    expect(backing.every((snapshot) => !snapshot.can({ type: 'query.asked' }))).toBe(true)
  })
})
