// svc mcp add, remove, login and logout on the built program, with a real server and a real authorization server.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startEverything } from '../fixtures/everything-server.js'
import { signInAt, startAuthorizationServer, startResource } from '../fixtures/oauth-server.js'
import { type Home, makeHome } from './program.js'

const home: Home = makeHome()
const ends: (() => unknown)[] = []
let open: string
let guarded: string
beforeAll(async () => {
  const everything = await startEverything()
  const tokens = await startAuthorizationServer()
  const resource = await startResource(everything.origin, tokens, tokens.issuer)
  ends.push(resource.close, tokens.close, everything.close)
  open = `${everything.origin}/mcp`
  guarded = resource.url
  await home.serve()
})
afterAll(async () => {
  await home.close()
  for (const end of ends) await end()
})

const config = () => JSON.parse(readFileSync(join(home.path, '.config/svc/config.json'), 'utf8')) as { mcp?: Record<string, unknown> }

describe('svc mcp add and remove', () => {
  test('write and take out what is used at once', async () => {
    const added = await home.run(['mcp', 'add', 'open', open, '--header', 'X-Team=blue'])
    expect(added).toMatchObject({ code: 0, stdout: 'added open for every workspace; svc mcp open --connect tries it\n' })
    expect(config().mcp).toEqual({ open: { type: 'remote', url: open, headers: { 'X-Team': 'blue' } } })
    expect((await home.run(['mcp', 'open', '--connect'])).stdout).toMatch(/^open +connected[^]*^tool +echo /m)
    const again = await home.run(['mcp', 'add', 'open', open])
    expect(again).toMatchObject({ code: 1, stderr: 'svc: there is an MCP server "open" already; svc mcp remove open takes it out\n' })
    expect(await home.run(['mcp', 'remove', 'open'])).toMatchObject({ code: 0, stdout: 'removed open\n' })
    expect(config().mcp ?? {}).toEqual({})
    expect(await home.run(['mcp', 'remove', 'open'])).toMatchObject({ code: 1, stderr: 'svc: there is no MCP server "open"\n' })
  })

  test('a program with its own options and variables; what a workspace brings is taken out by hand', async () => {
    expect(await home.run(['mcp', 'add', 'files', '--env', 'LEVEL=1', '--', 'npx', '-y', 'server', '/srv'])).toMatchObject({ code: 0 })
    expect(config().mcp?.['files']).toEqual({ type: 'local', command: ['npx', '-y', 'server', '/srv'], environment: { LEVEL: '1' } })
    expect(await home.run(['mcp', 'remove', 'files'])).toMatchObject({ code: 0 })
    expect((await home.run(['mcp'])).stdout).toBe('no MCP servers; svc mcp add configures one (docs/mcp.md)\n')
    const file = join(home.workspace, 'svc.json')
    writeFileSync(file, '{ "mcp": { "theirs": { "type": "local", "command": ["x"] } } }')
    const refused = await home.run(['mcp', 'remove', 'theirs'])
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('"theirs" stands in a file that is not written here')])
    rmSync(file)
  })

  test('what cannot be used is refused, and nothing is written', async () => {
    for (const [args, problem] of [
      [['a/b', open], 'its name must have'],
      [['x', 'https://user:secret@host.example/mcp'], 'without a login'],
      [['x', open, 'more'], 'does not know what to do with "more" after an address'],
      [['x', open, '--env', 'A=1'], '--env is for a program'],
      [['x', 'npx', '--header', 'A=1'], '--header is for an address'],
      [['x', open, '--header', 'A'], '"A" is not NAME=value'],
    ] as const) {
      const { code, stderr } = await home.run(['mcp', 'add', ...args])
      expect([code, stderr]).toEqual([2, expect.stringContaining(problem)])
    }
    expect(config().mcp ?? {}).toEqual({})
  })
})

test('svc mcp login waits until the browser has come back, and logout forgets it', async () => {
  await home.run(['mcp', 'add', 'tracker', guarded])
  const login = home.start(['mcp', 'login', 'tracker', '--print'])
  const [address] = await login.notes(/http\S+/)
  await fetch(await signInAt(address))
  expect(await login.ended).toMatchObject({ code: 0, stdout: 'tracker is signed in; svc mcp tracker lists what it offers\n' })
  expect((await home.run(['mcp', 'tracker', '--connect'])).stdout).toMatch(/^tracker +connected/m)
  expect(await home.run(['mcp', 'login', 'tracker'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^tracker is signed in already;/) as string,
  })
  expect(await home.run(['mcp', 'logout', 'tracker'])).toMatchObject({ code: 0, stdout: 'signed out of tracker\n' })
  expect(await home.run(['mcp', 'logout', 'tracker'])).toMatchObject({ code: 1, stdout: 'nobody was signed in to tracker\n', stderr: '' })
  const left = home.start(['mcp', 'login', 'tracker', '--print'])
  await left.notes(/http\S+/)
  left.child.kill('SIGINT')
  expect(await left.ended).toMatchObject({ code: 130, stdout: '' })
})
