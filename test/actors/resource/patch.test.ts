import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ConfigPatch } from '../../../src/protocol/resource/config.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { containing } from './matchers.js'
import { createWorkspace } from './workspace.js'

type Workspace = ReturnType<typeof createWorkspace>

const read = (workspace: Workspace, path: string) => readFileSync(workspace.at(path), 'utf8')
const patch = async (workspace: Workspace, body: Record<string, unknown>, directory = workspace.work) =>
  workspace.configs.update(directory, body)

describe('a patch', () => {
  it('waits for those before it, and is refused where too many wait', async () => {
    const workspace = createWorkspace()
    const most = LIMITS.config.waiting
    const all = await Promise.allSettled(Array.from({ length: most + 2 }, (_, at) => patch(workspace, { username: `me ${at}` })))
    expect(all.map(({ status }) => status)).toEqual(Array.from({ length: most + 2 }, (_, at) => (at < most ? 'fulfilled' : 'rejected')))
    expect(all.at(-1)).toMatchObject({ reason: { code: 'quota.exceeded' } })
    expect(JSON.parse(read(workspace, 'work/svc.json'))).toEqual({ username: `me ${most - 1}` })
    await patch(workspace, { username: 'later' })
  })

  it('creates svc.json at the worktree top and answers the effective document', async () => {
    const updated: string[] = []
    const workspace = createWorkspace({ onUpdated: (directory) => updated.push(directory) })
    workspace.write('config/config.json', { username: 'me' })
    mkdirSync(workspace.at('work/app'))
    const directory = workspace.at('work/app')
    expect(await patch(workspace, { model: 'a/b', compaction: { auto: false } }, directory)).toEqual({
      username: 'me',
      model: 'a/b',
      compaction: { auto: false },
    })
    expect(read(workspace, 'work/svc.json')).toBe('{\n  "model": "a/b",\n  "compaction": {\n    "auto": false\n  }\n}\n')
    expect(updated).toEqual([directory])
  })

  it('writes the directory itself outside a worktree', async () => {
    const workspace = createWorkspace({ git: false })
    await patch(workspace, { username: 'me' })
    expect(existsSync(workspace.at('work/svc.json'))).toBe(true)
  })

  it('prefers .svc/config.json, then svc.jsonc, when they exist', async () => {
    const workspace = createWorkspace()
    workspace.write('work/svc.jsonc', '{}')
    await patch(workspace, { username: 'commented' })
    expect(JSON.parse(read(workspace, 'work/svc.jsonc'))).toEqual({ username: 'commented' })
    workspace.write('work/.svc/config.json', '{}')
    await patch(workspace, { username: 'nested' })
    expect(JSON.parse(read(workspace, 'work/.svc/config.json'))).toEqual({ username: 'nested' })
    expect(existsSync(workspace.at('work/svc.json'))).toBe(false)
  })

  it('keeps comments, order, indentation and what it does not name', async () => {
    const workspace = createWorkspace()
    workspace.write(
      'work/svc.jsonc',
      `// ours
{
    // which model
    "small-model": "a/small", // cheap
    "model": "a/b",
    /* limits */
    "compaction": { "auto": true, "buffer": 10 }, // end
}
`,
    )
    await patch(workspace, { smallModel: 'a/tiny', model: null, compaction: { buffer: null, prune: false }, username: 'me' })
    expect(read(workspace, 'work/svc.jsonc')).toBe(`// ours
{
    // which model
    "small-model": "a/tiny", // cheap
    /* limits */
    "compaction": { "auto": true, "prune": false }, // end
    "username": "me",
}
`)
  })

  it('removes a key in whatever spelling the file has it', async () => {
    const workspace = createWorkspace()
    workspace.write('work/svc.json', { thinking: 'high', agent: { a: { maxSteps: 2, color: 'red' } } })
    expect(await patch(workspace, { variant: null, agent: { a: { steps: null } } })).toEqual({ agent: { a: { color: 'red' } } })
  })

  it('writes into the agent group of a grouped file', async () => {
    const workspace = createWorkspace()
    workspace.write('work/svc.json', { keybinds: { quit: 'q' }, agent: { model: 'a/b' } })
    await patch(workspace, { model: 'c/d', username: 'me', keybinds: { open: 'o' }, agent: { agent: { x: { color: 'red' } } } })
    expect(JSON.parse(read(workspace, 'work/svc.json'))).toEqual({
      keybinds: { quit: 'q', open: 'o' },
      agent: { model: 'c/d', username: 'me', agent: { x: { color: 'red' } } },
    })
  })

  it('moves a flat file into the agent group when a group of a client is added', async () => {
    const workspace = createWorkspace()
    workspace.write('work/svc.jsonc', '{\n  // agents\n  "agent": { "x": { "color": "red" } }\n}\n')
    expect(await patch(workspace, { keybinds: { quit: 'q' } })).toEqual({ keybinds: { quit: 'q' }, agent: { x: { color: 'red' } } })
    expect(read(workspace, 'work/svc.jsonc')).toContain('// agents')
  })

  it('that is empty writes nothing', async () => {
    const workspace = createWorkspace()
    expect(await patch(workspace, {})).toEqual({})
    expect(existsSync(workspace.at('work/svc.json'))).toBe(false)
  })

  it('after another patch sees what the other wrote', async () => {
    const workspace = createWorkspace()
    await Promise.all(Array.from({ length: 8 }, async (_, index) => patch(workspace, { [`key${index}`]: index })))
    expect(Object.keys(await workspace.load())).toHaveLength(8)
  })
})

describe('a patch is refused', () => {
  /** What the refused patch threw, and whether the file is as it was. */
  const refusal = async (body: Record<string, unknown> | string, before?: string) => {
    const workspace = createWorkspace()
    workspace.write('config/config.json', { provider: { local: { options: { baseURL: 'http://127.0.0.1:1/v1' } } } })
    if (before !== undefined) workspace.write('work/svc.json', before)
    const error: unknown = await patch(workspace, typeof body === 'string' ? ConfigPatch.parse(JSON.parse(body)) : body).catch(
      (thrown: unknown) => thrown,
    )
    const after = existsSync(workspace.at('work/svc.json')) ? read(workspace, 'work/svc.json') : undefined
    return { error, isUntouched: after === before }
  }

  it.each([
    ['model', { model: 5 }],
    ['agent.x.mode', { agent: { x: { mode: 'boss' } } }],
    ['agent.x.steps', { agent: { x: { maxSteps: 1.5 } } }],
    ['permission.bash', { permission: { bash: 'perhaps' } }],
    ['agent.x.permission.read.*.env', { agent: { x: { permission: { read: { '*.env': 'no' } } } } }],
    ['agent.constructor', { agent: { constructor: {} } }],
  ])('when %s has the wrong type', async (path, body) => {
    expect(await refusal(body)).toMatchObject({ error: { code: 'config.invalid', details: { path } }, isUntouched: true })
  })

  it('when it would reach a prototype', async () => {
    expect(await refusal('{"agent":{"x":{"__proto__":{"a":1}}}}')).toMatchObject({
      error: { code: 'config.invalid' },
      isUntouched: true,
    })
  })

  it('when it is nested without end', async () => {
    expect(await refusal(`{"a":${'{"a":'.repeat(100)}1${'}'.repeat(100)}}`)).toMatchObject({
      error: { code: 'config.invalid' },
      isUntouched: true,
    })
  })

  it.each([
    [['shell'], { shell: '/bin/zsh' }],
    [['dangerouslySkipPermissions'], { dangerouslySkipPermissions: true }],
    [
      ['provider.mine', 'mcp.server'],
      { model: 'a/b', provider: { mine: { options: { baseURL: 'http://x/v1' } } }, mcp: { server: { command: ['x'] } } },
    ],
    [['provider.local.options'], { provider: { local: { options: { baseURL: 'http://x/v1' } } } }],
  ])('when %j would widen from a workspace', async (keys, body) => {
    expect(await refusal(body)).toMatchObject({ error: { code: 'request.unprocessable', details: { keys } }, isUntouched: true })
  })

  it('when the file is malformed', async () => {
    expect(await refusal({ username: 'me' }, '{ "model": }')).toMatchObject({ error: { code: 'config.invalid' }, isUntouched: true })
  })

  it('when the file is read-only', async () => {
    const workspace = createWorkspace()
    workspace.write('work/svc.json', '{}')
    chmodSync(workspace.at('work/svc.json'), 0o444)
    await expect(patch(workspace, { username: 'me' })).rejects.toMatchObject({
      code: 'config.invalid',
      message: containing('read-only'),
    })
  })

  it.each(['work/svc.json', 'work/.svc'])('when %s is a link', async (link) => {
    const workspace = createWorkspace()
    workspace.write('work/real/config.json', '{}')
    symlinkSync(workspace.at(link === 'work/.svc' ? 'work/real' : 'work/real/config.json'), workspace.at(link))
    await expect(patch(workspace, { username: 'me' })).rejects.toMatchObject({
      code: 'request.unprocessable',
      message: containing('not written through links'),
    })
    expect(read(workspace, 'work/real/config.json')).toBe('{}')
  })

  it('when a dangling link waits at the place of the file', async () => {
    const workspace = createWorkspace()
    symlinkSync(workspace.at('outside.json'), workspace.at('work/svc.json'))
    await expect(patch(workspace, { username: 'me' })).rejects.toMatchObject({ code: 'request.unprocessable' })
    expect(existsSync(workspace.at('outside.json'))).toBe(false)
  })

  it('when project configuration is switched off', async () => {
    const workspace = createWorkspace({ env: { SVC_AGENT_DISABLE_PROJECT_CONFIG: '1' } })
    await expect(patch(workspace, { username: 'me' })).rejects.toMatchObject({ code: 'config.invalid' })
  })
})

describe('a patch of the installation', () => {
  it.each(['home', 'config'])('is what a patch of the %s directory is, and may set anything', async (name) => {
    const workspace = createWorkspace()
    const body = { shell: '/bin/zsh', provider: { mine: { options: { baseURL: 'http://127.0.0.1:1/v1' } } } }
    await patch(workspace, body, workspace.at(name))
    expect(JSON.parse(read(workspace, 'config/config.json'))).toEqual(body)
    expect(statSync(workspace.at('config/config.json')).mode & 0o777).toBe(0o600)
    expect(await workspace.load()).toEqual(body)
  })

  it('goes to config.jsonc when that exists', async () => {
    const workspace = createWorkspace()
    workspace.write('config/config.jsonc', '{ /* mine */ }')
    await patch(workspace, { username: 'me' }, workspace.at('home'))
    expect(read(workspace, 'config/config.jsonc')).toContain('/* mine */')
    expect(existsSync(workspace.at('config/config.json'))).toBe(false)
  })
})
