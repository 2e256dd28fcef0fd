/** Servers that a workspace brings: listed with what they would start, and inert until somebody accepts exactly that (choice 34, W2). */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { PermissionAction } from '../../../src/protocol/interaction/interaction.js'
import type { McpCatalogEntry } from '../../../src/protocol/mcp/mcp.js'
import { hostile, openMcp } from './fixture.js'

/** A server of the workspace that leaves a mark when it is started. */
function place({ rule = 'ask', sandbox, more = {} }: { rule?: PermissionAction; sandbox?: 'on' | 'missing'; more?: object } = {}) {
  const wrapped: string[] = []
  let content: object = {}
  const mcp = openMcp(
    {},
    {
      decide: (permission) => (permission === 'bash' ? rule : 'allow'),
      brought: () => ({ theirs: content }),
      ...(sandbox !== undefined && {
        sandbox: {
          isOn: async () => true,
          whyMissing: async () => (sandbox === 'missing' ? 'gone' : undefined),
          placeOf: () => undefined,
          async wrap({ program, args }) {
            wrapped.push(program)
            return { program, args }
          },
        },
      }),
    },
  )
  const mark = join(mcp.effects.paths.home, 'mark')
  const [node = '', script = '', habit = ''] = hostile('plain').command
  const line = (word: string) => `echo ${word} >> "${mark}"; exec "${node}" "${script}" ${habit}`
  const bring = (word: string, extra: object = {}) =>
    void (content = { type: 'local', command: ['/bin/sh', '-c', line(word)], ...more, ...extra })
  bring('first')
  const entry = async () => ((await mcp.operation('v2.plugins.mcp.catalog')) as Record<string, McpCatalogEntry>)['theirs']
  const connect = async () => mcp.operation('v2.plugins.mcp.connect', { name: 'theirs' })
  const accept = async (body?: object) => mcp.operation('v2.plugins.mcp.accept', { name: 'theirs' }, body)
  return { mcp, bring, entry, connect, accept, wrapped, ran: () => existsSync(mark), line }
}

describe('a server that a workspace brings', () => {
  it('is shown as disabled with what it would start, is not connected by anything, and asks again when it is another', async () => {
    const { mcp, bring, entry, connect, accept, ran, line } = place()
    await mcp.prepare()
    expect(await connect()).toBe(false)
    expect(await entry()).toMatchObject({ status: { status: 'disabled' }, runtimeConnected: false, acceptance: { state: 'waiting' } })
    expect((await entry())?.acceptance).toMatchObject({
      commands: [['/bin/sh', '-c', line('first')]],
      message: expect.stringMatching('svc mcp accept theirs'),
    })
    for (const name of ['tools', 'prompts', 'resources'])
      await expect(mcp.operation(`v2.plugins.mcp.${name}`, { name: 'theirs' })).rejects.toMatchObject({ code: 'request.unprocessable' })
    expect([ran(), mcp.tools()]).toEqual([false, []])

    await expect(accept({ revision: 'sha256:0' })).rejects.toMatchObject({ code: 'management.revision_conflict' })
    const revision = (await entry())?.acceptance?.revision
    expect(await accept({ revision })).toMatchObject({ name: 'theirs', revision })
    await mcp.prepare()
    expect(await entry()).toMatchObject({ status: { status: 'connected' }, acceptance: { state: 'accepted', message: null } })
    expect([ran(), mcp.tools().length > 0]).toEqual([true, true])

    bring('second') // a pull
    await mcp.prepare()
    expect(await entry()).toMatchObject({ status: { status: 'disabled' }, acceptance: { state: 'waiting' } })
    await expect.poll(() => [mcp.alive(), mcp.tools()]).toEqual([0, []])
    bring('first')
    await mcp.prepare()
    expect(await entry()).toMatchObject({ status: { status: 'connected' } })
    expect(await mcp.operation('v2.plugins.mcp.takeBack', { name: 'theirs' })).toEqual({ removed: true })
    expect([mcp.alive(), await connect()]).toEqual([0, false])
  })

  it.each([
    ['an argument', { args: ['x'] }],
    ['a variable', { environment: { NODE_OPTIONS: '--require=./evil.cjs' } }],
    ['what it may ask of a model', { sampling: true }],
  ])('asks again when %s is added to it', async (_what, extra) => {
    const { bring, entry, accept } = place()
    await accept()
    expect((await entry())?.acceptance?.state).toBe('accepted')
    bring('first', extra)
    expect((await entry())?.acceptance?.state).toBe('waiting')
  })

  it('tells what else would be accepted with its line, a line each, and nothing that is named like a secret', async () => {
    const more = {
      environment: { NODE_OPTIONS: '--require=./evil.cjs', API_KEY: 'hidden' },
      sampling: true,
      timeout: 9000,
      enabled: true,
      note: 'kept',
    }
    const { entry } = place({ more })
    expect((await entry())?.acceptance?.also).toEqual([
      'variable NODE_OPTIONS=--require=./evil.cjs',
      'variable API_KEY=…',
      'sampling: true',
      'timeout: 9000',
      'note: "kept"',
    ])
    const remote = { type: 'remote', url: 'http://127.0.0.1:9/mcp', headers: { Authorization: 'hidden', 'X-Team': 'theirs' } }
    const mcp = openMcp({}, { brought: () => ({ web: { ...remote, oauth: { clientId: 'c', clientSecret: 'hidden' } } }) })
    const { web } = (await mcp.operation('v2.plugins.mcp.catalog')) as Record<string, McpCatalogEntry>
    expect(web?.acceptance?.also).toEqual(['header Authorization=…', 'header X-Team=theirs', 'oauth: {"clientId":"c"}'])
  })

  it('stays accepted when it is switched off and on', async () => {
    const { bring, entry, accept } = place()
    await accept()
    bring('first', { enabled: false })
    expect(await entry()).toMatchObject({ enabled: false, acceptance: null })
    bring('first', { enabled: true })
    expect((await entry())?.acceptance?.state).toBe('accepted')
  })

  it('names no variable of the environment', async () => {
    const { entry, accept } = place({ more: { environment: { KEY: '{env:HOME}' } } })
    expect(await entry()).toMatchObject({ status: { status: 'failed', error: expect.stringMatching('environment') } })
    await expect(accept()).rejects.toMatchObject({ code: 'request.unprocessable' })
  })

  it('is not started in a run whose rules deny its line, and is in another', async () => {
    const { mcp, accept, ran } = place({ rule: 'deny' })
    await accept()
    await mcp.prepare(true)
    expect([ran(), mcp.tools()]).toEqual([false, []])
    await mcp.prepare()
    expect(ran()).toBe(true)
  })

  it.each([
    ['on', true],
    ['missing', false],
  ] as const)('takes an act where the sandbox is %s, and runs there', async (sandbox, starts) => {
    const { mcp, connect, accept, ran, wrapped } = place({ sandbox })
    expect([await connect(), ran()]).toEqual([false, false])
    await accept()
    await mcp.prepare()
    expect([ran(), wrapped.length > 0]).toEqual([starts, starts])
  })

  it('that is reached by the network is not connected before it is accepted', async () => {
    const mcp = openMcp({}, { brought: () => ({ web: { type: 'remote', url: 'http://127.0.0.1:9/mcp' } }) })
    const entries = (await mcp.operation('v2.plugins.mcp.catalog')) as Record<string, McpCatalogEntry>
    expect(entries['web']).toMatchObject({
      status: { status: 'disabled' },
      acceptance: { commands: [['http://127.0.0.1:9/mcp']], state: 'waiting' },
    })
    await expect(mcp.operation('v2.plugins.mcp.auth.start', { name: 'web' })).rejects.toMatchObject({ code: 'request.unprocessable' })
  })
})

it('a server of the installation needs no act, and there is none for it', async () => {
  const mcp = openMcp({ ours: hostile('plain') })
  await expect(mcp.operation('v2.plugins.mcp.accept', { name: 'ours' })).rejects.toMatchObject({ code: 'request.unprocessable' })
  await expect(mcp.operation('v2.plugins.mcp.accept', { name: 'none' })).rejects.toMatchObject({ code: 'resource.not_found' })
  await mcp.prepare()
  expect(mcp.alive()).toBe(1)
})
