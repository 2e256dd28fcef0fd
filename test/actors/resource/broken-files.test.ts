import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { anyNumber, anyText, containing, matching } from './matchers.js'
import { createWorkspace } from './workspace.js'

const MALFORMED: readonly (readonly [string, string, string])[] = [
  ['a syntax error', '{\n  "model": "a/b"\n  "username": "x"\n}', ':3:3: not valid JSON: comma expected'],
  ['a root that is no object', '[1]', ':1:1: the document must be an object'],
  ['a key given twice', '{ "model": "a/b",\n "model": "c/d" }', ':2:2: the key "model" appears twice'],
  ['nesting without end', `{"a":${'['.repeat(100_000)}`, ':1:69: nesting is deeper than 64 levels'],
  [
    'more keys than anybody writes',
    JSON.stringify(Object.fromEntries(Array.from({ length: 2049 }, (_, index) => [`k${index}`, 0]))),
    'there are more than 2048 values',
  ],
  ['longer lists than anybody writes', JSON.stringify({ a: Array.from({ length: 2049 }, () => 0) }), 'there are more than 2048 values'],
  [
    'more rules than anybody needs',
    JSON.stringify({ permission: Object.fromEntries(Array.from({ length: 1025 }, (_, index) => [`k${index}`, 'deny'])) }),
    '"permission" has more than 1024 entries',
  ],
  [
    'more instructions than anybody follows',
    JSON.stringify({ instructions: Array.from({ length: 1025 }, (_, index) => `${index}.md`) }),
    '"instructions" has more than 1024 entries',
  ],
  [
    'more agents than anybody has',
    JSON.stringify({ agent: Object.fromEntries(Array.from({ length: 1025 }, (_, index) => [`k${index}`, {}])) }),
    ':1:10: "agent" has more than 1024 entries',
  ],
  ['a value of the wrong type', '{\n  "model": 5\n}', ':2:12: "model" Invalid input: expected string, received number'],
  [
    'a wrong type below an alias in a group',
    '{ "keybinds": {},\n "agent": { "agent": { "x": {\n "max-steps": -1 } } } }',
    ':3:15: "agent.x.steps" Too small',
  ],
]

describe('a malformed file', () => {
  it.each(MALFORMED)('with %s is reported with its place', async (_what, text, expected) => {
    const workspace = createWorkspace()
    workspace.write('work/svc.json', text)
    const place = expected.startsWith(':') ? `${workspace.at('work/svc.json')}${expected}` : expected
    await expect(workspace.load()).rejects.toMatchObject({ code: 'config.invalid', message: containing(place) })
    const validation = await workspace.configs.validate(workspace.work)
    expect(validation).toEqual({
      ok: false,
      diagnostics: [{ level: 'error', path: 'config', message: containing(place), file: anyText, line: anyNumber, column: anyNumber }],
    })
  })

  it('that is too large or not UTF-8 is refused', async () => {
    const workspace = createWorkspace()
    workspace.write('work/svc.json', `{}${' '.repeat(128 * 1024)}`)
    await expect(workspace.load()).rejects.toMatchObject({ message: containing('is larger than 131072 bytes') })
    writeFileSync(workspace.at('work/svc.json'), Uint8Array.of(0x7b, 0xff, 0x7d))
    await expect(workspace.load()).rejects.toMatchObject({ message: containing('is not valid UTF-8') })
  })

  it('of the installation may be larger than one of a workspace, and has its bounds too', async () => {
    const workspace = createWorkspace()
    const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'x'.repeat(20)]))
    workspace.write('config/config.json', { ...keys(10_000), username: 'one' })
    expect(await workspace.load()).toMatchObject({ username: 'one' })
    workspace.write('config/config.json', keys(16_385))
    expect(await workspace.messages()).toContainEqual(containing('there are more than 16384 values'))
    workspace.write('config/config.json', `{}${' '.repeat(1024 * 1024)}`)
    expect(await workspace.messages()).toContainEqual(containing('is larger than 1048576 bytes'))
  })

  it('of a workspace is not used once the files of the workspace together say more than is merged', async () => {
    const workspace = createWorkspace()
    const some = JSON.stringify({ experimental: Object.fromEntries(Array.from({ length: 2040 }, (_, index) => [`k${index}`, 0])) })
    const folders = Array.from({ length: 9 }, (_, depth) => ['work', ...Array.from({ length: depth }, () => 'd')].join('/'))
    for (const folder of folders) workspace.write(`${folder}/svc.json`, some)
    const deepest = workspace.at(folders.at(-1) ?? '')
    const { diagnostics } = await workspace.configs.validate(deepest)
    expect(diagnostics.filter(({ level }) => level === 'error')).toMatchObject([
      {
        path: 'config',
        message: `${deepest}/svc.json is not used: the files of the workspace say more than 16384 values together`,
        file: `${deepest}/svc.json`,
        line: 1,
        column: 1,
      },
    ])
  })

  it('given as text in the environment is named by its variable', async () => {
    const workspace = createWorkspace({ env: { SVC_AGENT_CONFIG_CONTENT: '{' } })
    await expect(workspace.load()).rejects.toMatchObject({ message: matching(/^SVC_AGENT_CONFIG_CONTENT:1:2: /) })
  })

  it('leaves its last good content serving, while other files stay current', async () => {
    const workspace = createWorkspace()
    workspace.write('config/config.json', { username: 'one', permission: { bash: 'ask' } })
    workspace.write('work/svc.json', { model: 'a/b' })
    expect(await workspace.load()).toEqual({ username: 'one', model: 'a/b', permission: { bash: 'ask' } })

    workspace.write('work/svc.json', '{ "model": ')
    workspace.write('config/config.json', { username: 'two', permission: { bash: 'deny' } })
    expect(await workspace.load()).toEqual({ username: 'two', model: 'a/b', permission: { bash: 'deny' } })
    expect((await workspace.configs.validate(workspace.work)).ok).toBe(false)

    workspace.write('work/svc.json', { model: 'c/d' })
    expect(await workspace.load()).toMatchObject({ model: 'c/d' })
    expect(await workspace.configs.validate(workspace.work)).toEqual({ ok: true, diagnostics: [] })
  })

  it('that has become empty, as one does while it is rewritten, leaves what it said before; {} means nothing', async () => {
    const workspace = createWorkspace()
    workspace.write('config/config.json', { username: 'one' })
    expect(await workspace.load()).toEqual({ username: 'one' })
    workspace.write('config/config.json', '')
    expect(await workspace.load()).toEqual({ username: 'one' })
    workspace.write('config/config.json', '{}')
    expect(await workspace.load()).toEqual({})
  })

  it('that was never good contributes nothing to a directory that was', async () => {
    const workspace = createWorkspace()
    workspace.write('config/config.json', { username: 'one' })
    await workspace.load()
    workspace.write('work/svc.json', 'oops')
    expect(await workspace.load()).toEqual({ username: 'one' })
  })

  it('is logged once, however often it is looked at', async () => {
    const workspace = createWorkspace()
    await workspace.load()
    workspace.write('work/svc.json', 'oops')
    for (let look = 0; look < 3; look++) await workspace.load()
    expect(workspace.effects.logs).toEqual([
      {
        level: 'warn',
        message: 'configuration problem',
        fields: { severity: 'error', path: 'config', problem: containing('work/svc.json:1:1: not valid JSON') },
      },
    ])
  })
})

describe('names that reach a prototype', () => {
  it('do not survive in JSON or in Markdown', async () => {
    const workspace = createWorkspace()
    workspace.write(
      'config/config.json',
      '{ "__proto__": { "polluted": 1 }, "colour": { "constructor": { "prototype": { "polluted": 1 } }, "a": 1 } }',
    )
    workspace.write('config/agents/a.md', '---\noptions:\n  __proto__:\n    polluted: 1\n  b: 2\n---\n')
    workspace.write('config/agents/__proto__.md', 'x')
    const document = await workspace.load()
    expect(document).toEqual({ colour: { a: 1 }, agent: { a: { options: { b: 2 } } } })
    expect(Object.getPrototypeOf(document)).toBe(Object.prototype)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  it('are told, with their places', async () => {
    const workspace = createWorkspace()
    workspace.write(
      'config/config.json',
      '{ "__proto__": {},\n"colour": { "constructor": { "prototype": 1 }, "a": [{ "prototype": 1 }] } }',
    )
    workspace.write('config/agents/a.md', '---\noptions:\n  __proto__:\n    polluted: 1\n  b: 2\n---\n')
    const { ok, diagnostics } = await workspace.configs.validate(workspace.work)
    const file = workspace.at('config/config.json')
    const why = 'has no effect: it is a name that every object has'
    const at = (path: string, line: number, column: number) => {
      const message = `${file}:${line}:${column}: "${path}" ${why}`
      return { level: 'warning', code: 'unsupported', path, message, file, line, column }
    }
    const agent = workspace.at('config/agents/a.md')
    expect({ ok, diagnostics: diagnostics.filter(({ message }) => message.includes(why)) }).toEqual({
      ok: true,
      diagnostics: [
        at('__proto__', 1, 3),
        at('colour.constructor', 2, 13),
        at('colour.constructor.prototype', 2, 30),
        at('colour.a.0.prototype', 2, 56),
        {
          level: 'warning',
          code: 'unsupported',
          path: 'agent.a.options.__proto__',
          message: `${agent}: "options.__proto__" ${why}`,
          file: agent,
          line: 2,
          column: 1,
        },
      ],
    })
  })
})
