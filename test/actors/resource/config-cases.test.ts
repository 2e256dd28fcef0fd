/**
 * Configuration as people write it, case by case: what the layers amount to, what is said of broken and hostile ones. What each key
 * does is seen from outside in `test/e2e/resource/config-keys.test.ts`.
 */
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { createWorkspace } from './workspace.js'

interface Case {
  readonly files: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  /** Directory that is asked about, below the root. */
  readonly at?: string
  /** More than files. */
  readonly prepare?: (place: ReturnType<typeof createWorkspace>) => void
  /** Members of the effective document; undefined = absent. */
  readonly is?: Readonly<Record<string, unknown>>
  /** Every diagnostic, by a part of its message; none unless told. */
  readonly says?: readonly (string | RegExp)[]
  /** Nothing can be served: the code of the error. */
  readonly fails?: string
}

const WIDENS = /^"[^"]+" in .*svc\.json has no effect: /

const INSTRUCTIONS = { 'work/a.md': 'A', 'work/b.md': 'B', 'work/c.md': 'C' }

const CASES: Readonly<Record<string, Case>> = {
  // Layers
  'nothing at all': { files: {}, is: { username: undefined } },
  'an empty file': { files: { 'work/svc.json': '' }, is: {} },
  'an empty object': { files: { 'work/svc.json': '{}' }, is: {} },
  'the workspace over the installation': {
    files: { 'config/config.json': '{"username":"a"}', 'work/svc.json': '{"username":"b"}' },
    is: { username: 'b' },
  },
  'a folder below over the worktree': {
    files: { 'work/svc.json': '{"username":"a"}', 'work/app/svc.json': '{"username":"b"}' },
    at: 'work/app',
    is: { username: 'b' },
  },
  'a folder beside is not asked': {
    files: { 'work/app/svc.json': '{"username":"a"}', 'work/lib/x': '' },
    at: 'work/lib',
    is: { username: undefined },
  },
  'nothing above the worktree': { files: { 'svc.json': '{"username":"a"}' }, is: { username: undefined } },
  '.svc over svc.json': {
    files: { 'work/svc.json': '{"username":"a"}', 'work/.svc/config.json': '{"username":"b"}' },
    is: { username: 'b' },
  },
  '.jsonc over .json': { files: { 'work/svc.json': '{"username":"a"}', 'work/svc.jsonc': '{"username":"b"}' }, is: { username: 'b' } },
  'the home over the workspace': {
    files: { 'work/.svc/config.json': '{"username":"a"}', 'home/.svc/config.json': '{"username":"b"}' },
    is: { username: 'b' },
  },
  'a named directory': {
    files: { 'extra/config.json': '{"username":"a"}' },
    env: { SVC_AGENT_CONFIG_DIR: '../extra' },
    is: { username: 'a' },
  },
  'a named file': { files: { 'named.json': '{"username":"a"}' }, env: { SVC_AGENT_CONFIG: '../named.json' }, is: { username: 'a' } },
  'a named file that is missing': {
    files: {},
    env: { SVC_AGENT_CONFIG: '../named.json' },
    says: ['named by SVC_AGENT_CONFIG, does not exist'],
  },
  'text in the environment': {
    files: { 'named.json': '{"username":"a"}' },
    env: { SVC_AGENT_CONFIG: '../named.json', SVC_AGENT_CONFIG_CONTENT: '{"username":"b"}' },
    is: { username: 'b' },
  },
  'no project files, by a variable': {
    files: { 'work/svc.json': '{"username":"a"}', 'work/.svc/agents/x.md': 'X' },
    env: { SVC_AGENT_DISABLE_PROJECT_CONFIG: '1' },
    is: { username: undefined, agent: undefined },
  },
  // Conflicts
  'maps are joined': {
    files: { 'config/config.json': '{"compaction":{"auto":false}}', 'work/svc.json': '{"compaction":{"buffer":1}}' },
    is: { compaction: { auto: false, buffer: 1 } },
  },
  'lists are replaced': {
    files: { 'config/config.json': '{"skills":{"paths":["a"]}}', 'work/svc.json': '{"skills":{"paths":["b"]}}', 'work/b/x': '' },
    is: { skills: { paths: ['b'] } },
  },
  'providers switched off are collected': {
    files: { 'config/config.json': '{"disabledProviders":["a"]}', 'work/svc.json': '{"disabledProviders":["b"]}' },
    is: { disabledProviders: ['a', 'b'] },
  },
  'instructions are collected once each': {
    files: {
      'config/config.json': '{"instructions":["a.md","b.md"]}',
      'work/svc.json': '{"instructions":["b.md","c.md"]}',
      ...INSTRUCTIONS,
    },
    is: { instructions: ['a.md', 'b.md', 'c.md'] },
  },
  'Markdown replaces an entry whole': {
    files: { 'work/svc.json': '{"agent":{"x":{"description":"a","steps":3}}}', 'work/.svc/agents/x.md': 'X' },
    is: { agent: { x: { prompt: 'X' } } },
  },
  'mcp.json over mcp': {
    files: {
      'config/config.json': '{"mcp":{"a":{"type":"local","command":["x"]}}}',
      'config/mcp.json': '{"a":{"type":"local","command":["y"]}}',
    },
    is: { mcp: { a: { command: ['y'] } } },
  },
  'a provider that is on and off': {
    files: { 'config/config.json': '{"enabledProviders":["a"],"disabledProviders":["a"]}' },
    says: ['"a" is both enabled and disabled'],
  },
  'an explicit permission over tools': {
    files: { 'config/config.json': '{"permission":{"bash":"ask"},"tools":{"bash":true,"webfetch":false}}' },
    is: { permission: { bash: 'ask', webfetch: 'deny' } },
  },
  'a mode is a primary agent': {
    files: { 'config/config.json': '{"mode":{"x":{"prompt":"X"}}}' },
    is: { agent: { x: { mode: 'primary', prompt: 'X' } }, mode: undefined },
  },
  // Spelling
  'comments and trailing commas': { files: { 'work/svc.json': '// a\n{ /* b */ "username": "a", }' }, is: { username: 'a' } },
  'a slash in a text is no comment': { files: { 'work/svc.json': '{"username":"a//b/*c*/"}' }, is: { username: 'a//b/*c*/' } },
  'kebab-case': {
    files: { 'work/svc.json': '{"small-model":"a/b","default-agent":"build"}' },
    is: { smallModel: 'a/b', defaultAgent: 'build' },
  },
  'grouped with an editor': {
    files: { 'config/svc.json': '{"editor":{"font":1},"agent":{"username":"a"}}' },
    is: { username: 'a', editor: { font: 1 } },
  },
  'a byte order mark': { files: { 'work/svc.json': '\u{feff}{"username":"a"}' }, is: { username: 'a' } },
  'an unknown key is kept and told': {
    files: { 'work/svc.json': '{"usrname":"a"}' },
    is: { usrname: 'a' },
    says: ['the key "usrname" is not known'],
  },
  // Broken files
  'no JSON': { files: { 'work/svc.json': '{\n  "username": oops }' }, fails: 'config.invalid', says: [/svc\.json:2:15: /] },
  'cut short': { files: { 'work/svc.json': '{"username":' }, fails: 'config.invalid', says: [/svc\.json:1:/] },
  'a list': { files: { 'work/svc.json': '[]' }, fails: 'config.invalid', says: [/svc\.json:1:1: /] },
  'a value of another type': {
    files: { 'work/svc.json': '{"username": 1}' },
    fails: 'config.invalid',
    says: [/svc\.json:1:14: "username" /],
  },
  'no UTF-8': {
    files: {},
    prepare: ({ write }) => write('work/svc.json', Buffer.from([0x22, 0xff]).toString('latin1')),
    fails: 'config.invalid',
    says: [/svc\.json/],
  },
  'larger than a file may be': {
    files: { 'work/svc.json': `{"username":"${'x'.repeat(1024 * 1024)}"}` },
    fails: 'config.invalid',
    says: ['is larger than'],
  },
  'a directory in its place': { files: {}, prepare: ({ at }) => mkdirSync(at('work/svc.json')), says: ['is not a regular file'] },
  'an agent whose front matter is broken': {
    files: { 'work/.svc/agents/x.md': '---\na: [\n---\nX' },
    is: { agent: undefined },
    says: [/agents\/x\.md is not used: line \d/],
  },
  'an agent whose key has another type': {
    files: { 'work/.svc/agents/x.md': '---\nsteps: many\n---\nX' },
    is: { agent: undefined },
    says: [/x\.md is not used: "steps"/],
  },
  'a key of an agent that nobody reads': {
    files: { 'work/.svc/agents/x.md': '---\nstep: 3\n---\nX' },
    says: [/x\.md: "step" has no effect: .*did you mean "steps"/],
  },
  'front matter that is never closed is text': {
    files: { 'work/.svc/agents/x.md': '---\nsteps: 3' },
    is: { agent: { x: { prompt: '---\nsteps: 3' } } },
  },
  // Substitutions
  'a variable in a header of a server': {
    files: { 'config/mcp.json': '{"a":{"type":"remote","url":"http://127.0.0.1/","headers":{"X-A":"{env:WHO}"}}}' },
    env: { WHO: 'me' },
    is: { mcp: { a: { headers: { 'X-A': '{env:WHO}' } } } },
  },
  'nowhere else': { files: { 'work/svc.json': '{"username":"{env:WHO}"}' }, env: { WHO: 'me' }, is: { username: '{env:WHO}' } },
  'no file is put in': { files: { 'work/svc.json': '{"username":"{file:/etc/hostname}"}' }, is: { username: '{file:/etc/hostname}' } },
  // Hostile workspaces
  'it allows itself everything': {
    files: { 'config/config.json': '{"permission":{"bash":"ask"}}', 'work/svc.json': '{"permission":{"bash":"allow"}}' },
    is: { permission: { bash: 'ask' } },
    says: ['cannot loosen'],
  },
  'it skips permissions': {
    files: { 'work/svc.json': '{"dangerouslySkipPermissions":true}' },
    is: { dangerouslySkipPermissions: undefined },
    says: [WIDENS],
  },
  'it names another address of a provider': {
    files: {
      'config/config.json': '{"provider":{"a":{"options":{"baseURL":"http://127.0.0.1:1"}}}}',
      'work/svc.json': '{"provider":{"a":{"options":{"baseURL":"http://127.0.0.2:2"}}}}',
    },
    is: { provider: { a: { options: { baseURL: 'http://127.0.0.1:1' } } } },
    says: [WIDENS],
  },
  'it starts a server': {
    files: { 'work/svc.json': '{"mcp":{"a":{"type":"local","command":["run"]}}}' },
    is: { mcp: undefined },
    says: [WIDENS],
  },
  'it loads a plugin': {
    files: { 'work/svc.json': '{"plugin":["dev.example.x"],"plugins":{"dev.example.y":true}}' },
    is: { plugin: undefined },
    says: [WIDENS, WIDENS],
  },
  'it switches a provider on again': {
    files: { 'config/config.json': '{"enabledProviders":["a"]}', 'work/svc.json': '{"enabledProviders":["a","b"]}' },
    is: { enabledProviders: ['a'] },
    says: [WIDENS],
  },
  'it reads outside by instructions': {
    files: { 'work/svc.json': '{"instructions":["../secret.md","/etc/passwd","~/x.md"]}' },
    says: ['is outside the worktree', 'is outside the worktree', 'is not expanded'],
  },
  'it reads outside by skills': {
    files: { 'work/svc.json': '{"skills":{"paths":["../elsewhere"]}}', 'elsewhere/x/SKILL.md': 'X' },
    says: ['is outside the worktree'],
  },
  'its file is a link that leads outside': {
    files: { 'outside.json': '{"username":"a"}' },
    prepare: ({ at }) => symlinkSync(at('outside.json'), at('work/svc.json')),
    is: { username: undefined },
    says: ['leads to a file outside'],
  },
  'its directory is a link that leads outside': {
    files: { 'outside/agents/x.md': 'X' },
    prepare: ({ at }) => symlinkSync(at('outside'), at('work/.svc')),
    is: { agent: undefined },
    says: ['it leads outside'],
  },
  'others may write its file': {
    files: { 'work/svc.json': '{"username":"a"}' },
    prepare: ({ at }) => chmodSync(at('work/svc.json'), 0o666),
    is: { username: undefined },
    says: ['can be written by everybody'],
  },
  'it enables what the installation disabled': {
    files: { 'config/config.json': '{"agent":{"x":{"disable":true,"prompt":"X"}}}', 'work/svc.json': '{"agent":{"x":{"disable":false}}}' },
    is: { agent: { x: { prompt: 'X' } } },
  },
  'it names a key of every object': {
    files: { 'work/svc.json': '{"agent":{"__proto__":{"prompt":"X"},"constructor":{"prompt":"X"}}}' },
    says: ['"agent.__proto__" has no effect', '"agent.constructor" has no effect'],
  },
  'it sets the shell': {
    files: { 'work/svc.json': '{"shell":"/tmp/x"}' },
    is: { shell: undefined },
    says: [WIDENS],
  },
  'it has more agents than are read': {
    files: { 'work/.svc/agents/x.md': 'X' },
    prepare: ({ write }) => deep(write),
    is: { agent: { x: { prompt: 'X' } } },
    says: ['the rest is not read'],
  },
}

function deep(write: (path: string, content: string) => void): void {
  write(`work/.svc/agents/${'d/'.repeat(20)}y.md`, 'Y')
}

test.each(Object.entries(CASES))('%s', async (_name, { files, env = {}, at = 'work', prepare, is = {}, says = [], fails }) => {
  const place = createWorkspace({ env })
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(place.at(path)), { recursive: true })
    place.write(path, text)
  }
  prepare?.(place)
  const documents = Promise.all([place.load(place.at(at)), place.effective(place.at(at))])
  const outcome = await documents.then(
    ([shown, effective]) => Object.fromEntries(Object.keys(is).map((key) => [key, effective[key] ?? shown[key]])),
    (error: unknown) => error,
  )
  expect(outcome).toMatchObject(fails === undefined ? is : { code: fails })
  const messages = await place.messages(place.at(at))
  expect(messages).toEqual(says.map((each) => expect.stringMatching(patternOf(each)) as string))
})

function patternOf(text: string | RegExp): RegExp {
  return typeof text === 'string' ? new RegExp(text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)) : text
}

test('there are cases enough', () => {
  expect(Object.keys(CASES).length).toBeGreaterThanOrEqual(55)
})
