import { expect, test } from 'vitest'
import { approved } from '../../../src/programs/page/confirm.js'
import { commandsOf } from '../../../src/programs/page/plugin-moves.js'
import {
  callWords,
  grantChanges,
  grantRows,
  isFailedCall,
  leaseWords,
  offerGroups,
  quotaWords,
} from '../../../src/programs/page/plugin-words.js'
import type { InspectedPlugin } from '../../../src/protocol/system/inspector.js'

const plugin: InspectedPlugin = {
  key: 'dev.example.a@/w s',
  pluginId: 'dev.example.a',
  origin: 'package',
  workspace: '/w s',
  state: 'active',
  verdict: 'trusted',
  source: 'user',
  scope: 'workspace',
  revision: 'sha256:1',
  digest: 'sha256:2',
  runtime: 'process',
  requestedCapabilities: ['network', 'secret-use'],
  grantedCapabilities: ['network'],
  requests: [{ capability: 'network', words: 'use the network: only a.example' }],
  generations: [],
  strikes: 0,
  droppedFrames: 0,
  diagnostics: [],
}
const counts = { capability: 'network', calls: 1, denied: 0, running: 0, open: 0, bytes: 0 }

test('what is offered stands by kind, tools first, and a kind that is not known by its own name', () => {
  const offers = [
    { kind: 'route', id: 'r', detail: 'GET /x' },
    { kind: 'new-kind', id: 'n' },
    { kind: 'tool', id: 'a' },
    { kind: 'tool', id: 'b' },
  ]
  expect(offerGroups({ offers }).map(({ kind, items }) => [kind, items.map(({ id }) => id)])).toEqual([
    ['tools', ['a', 'b']],
    ['routes', ['r']],
    ['new-kind', ['n']],
  ])
  expect(offerGroups({})).toEqual([])
})

test('a grant has the lease of each generation that holds it, and what it is where none does', () => {
  const states = (changes: Partial<InspectedPlugin>) =>
    grantRows({ ...plugin, ...changes }).map(({ capability, state, generation }) => [capability, state, generation])
  expect(states({})).toEqual([
    ['network', 'granted', undefined],
    ['secret-use', 'not granted', undefined],
  ])
  expect(states({ unprovidedCapabilities: ['secret-use'] })[1]).toEqual(['secret-use', 'no broker', undefined])
  const held = (number: number, state: 'used' | 'revoked') => ({ number, actorId: 'a', state: [], brokers: [{ ...counts, state }] })
  expect(states({ generations: [held(1, 'revoked'), held(2, 'used')] }).slice(0, 2)).toEqual([
    ['network', 'revoked', 1],
    ['network', 'used', 2],
  ])
  // A trace of an earlier version has no states of leases.
  expect(states({ generations: [{ number: 1, actorId: 'a', state: [], brokers: [counts] }] })[0]).toEqual(['network', 'granted', 1])
  expect(grantRows(plugin)[0]?.words).toBe('use the network: only a.example')
  expect(leaseWords(counts)).toBe('1 call')
  expect(leaseWords({ ...counts, calls: 3, denied: 1, runningMost: 16, openMost: 32, open: 2, bytes: 2048 })).toBe(
    '3 calls, 1 refused · 0 of 16 running · 2 of 32 open · 2.0 KiB',
  )
})

test('a quota says what is used of what, and how much of it that is', () => {
  const quota = { capability: 'provider-access', unit: 'tokens', used: 1500, limit: 500_000, per: 'day' } as const
  expect(quotaWords(quota)).toEqual({ text: '1,500 of 500,000 tokens a day', part: 0.003 })
  expect(quotaWords({ ...quota, unit: 'cost', used: 0.01234, limit: 1 })).toEqual({ text: 'cost 0.0123 of 1 a day', part: 0.01234 })
  expect(quotaWords({ ...quota, unit: 'cost', used: 0, limit: 0 })).toEqual({ text: 'cost 0 of 0 a day', part: 1 })
  expect(quotaWords({ ...quota, unit: 'bytes', used: 1024, limit: 2048, per: 'minute' })).toEqual({
    text: '1.0 KiB of 2.0 KiB a minute',
    part: 0.5,
  })
  expect(quotaWords({ capability: 'x', unit: 'calls', used: 7, per: 'minute' })).toEqual({ text: '7 calls this minute', part: undefined })
  expect(quotaWords({ ...quota, used: 900_000 }).part).toBe(1)
})

test('a call says how it ended and after how long; what somebody ended is no failure', () => {
  expect([callWords({ outcome: 'ok', ms: 12 }), callWords({ outcome: 'running' })]).toEqual(['ok after 12 ms', 'running'])
  expect(['ok', 'running', 'aborted', 'plugin.failed'].map((outcome) => isFailedCall({ outcome }))).toEqual([false, false, false, true])
})

test('an approval shows the content, what serves instead, and in words what is new of what it asks for', () => {
  const update = { ...plugin, retainedRevision: 'sha256:0', retainedCapabilities: ['network', 'config-read'] }
  expect(grantChanges(update)).toEqual({ added: ['secret-use'], dropped: ['config-read'] })
  expect(grantChanges(plugin)).toEqual({ added: [], dropped: [] })
  expect(Object.fromEntries(approved(update))).toMatchObject({
    content: ['sha256:1'],
    digest: ['sha256:2'],
    'instead of': ['sha256:0'],
    grants: ['network: it may use the network: only a.example', 'new: secret-use', 'no longer: config-read'],
  })
  const native = { approved: false, words: 'everything' }
  expect(Object.fromEntries(approved({ ...plugin, requestedCapabilities: [], native }))).toMatchObject({
    grants: ['none: it asks nothing of the host'],
    'not approved': [expect.stringContaining('native part')],
  })
})

test('update, restore and logs are the exact commands, where there is something they could do', () => {
  const commands = (changes: Partial<InspectedPlugin>) => commandsOf({ ...plugin, ...changes }).map(({ command }) => command)
  const [update, logs] = ['svc plugin update dev.example.a --diff', 'svc logs --follow --plugin dev.example.a']
  expect(commands({})).toEqual([update, logs])
  const restore = "svc plugin restore dev.example.a --directory '/w s' --source user"
  expect(commands({ hasEarlier: true })).toEqual([update, restore, logs])
  expect(commands({ retainedRevision: 'sha256:0', source: 'workspace' })).toEqual([restore.replace('user', 'workspace'), logs])
  expect([commands({ origin: 'process' }), commands({ origin: 'native' })]).toEqual([[logs], [logs]])
})
