// Holds plugin-protocol §15.
/** A plugin from nothing: `svc plugin init` with every kind in every language, `test`, `dev`, `pack` and `add` of the built program. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { inLanguages } from '../fakes/machine.js'
import { type Home, makeHome } from './program.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const KINDS = ['tool', 'hook', 'event', 'command', 'agent', 'context', 'route', 'socket', 'provider']
/** Fourteen before what the author wrote, three after it. */
const CONFORMANCE = 17

let home: Home
beforeEach(() => {
  home = makeHome()
})
afterEach(() => home.close())

const change = (path: string, from: string, to: string) => {
  const file = join(home.workspace, path)
  const text = readFileSync(file, 'utf8')
  expect(text).toContain(from)
  writeFileSync(file, text.replaceAll(from, to))
}

describe('a package of every kind', () => {
  test.for(inLanguages('lua', 'python', 'javascript', 'typescript'))(
    'in $language passes its own test at once$why',
    async ({ language, why }, { skip }) => {
      skip(why !== '', why)
      const made = await home.run(['plugin', 'init', './word-count', '--language', language, ...KINDS.flatMap((kind) => ['--with', kind])])
      expect([made.code, made.stderr]).toEqual([0, ''])
      const { code, stdout, stderr } = await home.run(['plugin', 'test', './word-count', '--json'])
      const { checks, ...rest } = JSON.parse(stdout) as {
        id: string
        ok: boolean
        revision: string
        checks: { name: string; problem?: string }[]
      }
      expect([checks.filter(({ problem }) => problem !== undefined), code, stderr]).toEqual([[], 0, ''])
      expect(rest).toEqual({ id: 'dev.example.word-count', ok: true, revision: expect.stringMatching(/^sha256:\w{64}$/) as string })
      expect(checks).toHaveLength(CONFORMANCE + KINDS.length)
      const packed = await home.run(['plugin', 'pack', './word-count', '--json'])
      expect(JSON.parse(packed.stdout)).toMatchObject({ id: 'dev.example.word-count', revision: rest.revision })
      await home.run(['plugin', 'add', './dev.example.word-count-0.1.0.tgz', '--trust', '--yes'])
      const called = await home.run(['plugin', 'test', 'dev.example.word-count', 'word_count', '{"name": "Ada"}'])
      expect([called.stdout, called.stderr]).toEqual([
        'Hello, Ada!\n',
        expect.stringContaining(`answered by ${rest.revision.slice(0, 19)}`),
      ])
    },
  )

  test('in TypeScript is what the compiler takes, strictly', async () => {
    await home.run(['plugin', 'init', './typed', '--language', 'ts', ...KINDS.flatMap((kind) => ['--with', kind])])
    const project = join(home.workspace, 'typed')
    mkdirSync(join(project, 'node_modules'))
    for (const name of ['typescript', '@types']) symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name))
    const { status, stdout } = spawnSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', project], {
      encoding: 'utf8',
    })
    expect([stdout, status]).toEqual(['', 0])
  })
})

test('svc plugin pack builds what it packs, of an id as well, and packs nothing where that fails', async () => {
  const id = 'dev.example.mine'
  await home.run(['plugin', 'init', id, '--language', 'ts'])
  const file = join(home.workspace, `.svc/plugin-sources/${id}/src/plugin.ts`)
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('Hello, ', 'Good day, '))
  const { code, stdout } = await home.run(['plugin', 'pack', id, '--json'])
  expect(code).toBe(0)
  expect(readFileSync(join(home.workspace, `.svc/plugins/${id}/plugin.js`), 'utf8')).toContain('Good day, ')
  const { file: archive } = JSON.parse(stdout) as { file: string }
  expect(archive).toBe(join(home.workspace, `${id}-0.1.0.tgz`))
  writeFileSync(file, 'this is no program (')
  const broken = await home.run(['plugin', 'pack', id, '--force'])
  expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining('the build failed; nothing was packed') as string })
})

describe('svc plugin test', () => {
  test.for(inLanguages('lua', 'python', 'javascript'))(
    'of a package in $language tells what is wrong with it, and where$why',
    async ({ language, why }, { skip }) => {
      skip(why !== '', why)
      await home.run(['plugin', 'init', './mine', '--language', language])
      const file = { lua: 'agent.lua', python: 'plugin.py', javascript: 'plugin.js' }[language] ?? ''
      change(`mine/package/${file}`, 'Hello, ', 'Bye, ')
      const { code, stdout, stderr } = await home.run(['plugin', 'test', './mine'])
      expect([code, stdout]).toEqual([
        1,
        expect.stringMatching(/^ok {4}initialize\n[^]*^FAIL {2}tool mine\n[^]*: 17 of 18 checks passed\n/m),
      ])
      expect(stderr).toContain('the answer.output is "Bye, Ada!", not "Hello, Ada!"')
      writeFileSync(join(home.workspace, 'mine/package', file), 'this is no program (')
      const broken = await home.run(['plugin', 'test', './mine'])
      expect([broken.code, broken.stdout]).toEqual([1, expect.stringMatching(/^FAIL {2}initialize\n.*: 0 of 1 checks passed\n/)])
    },
  )

  test('answers in a check as brokers do or says so, and tells of a failed check no log of the others', async () => {
    await home.run(['plugin', 'init', './mine', '--language', 'js'])
    change(
      'mine/package/plugin.js',
      'execute(input) {',
      'async execute(input, { host }) {\n        await host.network.call("fetch", { url: "https://a" })',
    )
    const file = join(home.workspace, 'mine/svc-plugin.test.json')
    const checks = JSON.parse(readFileSync(file, 'utf8')) as object
    writeFileSync(file, JSON.stringify({ ...checks, host: { 'host.network.request': { status: 200 } } }))
    const undeclared = await home.run(['plugin', 'test', './mine'])
    expect([undeclared.code, undeclared.stderr]).toEqual([1, expect.stringContaining('the manifest does not ask for "network"')])
    change('mine/package/svc-plugin.json', '"capabilities": []', '"capabilities": ["network"]')
    const { code, stderr } = await home.run(['plugin', 'test', './mine'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('none of a broker, which answers { "output": … }')])
    expect(stderr).toMatch(/\n +at .*mine\/package\/plugin\.js:\d+/)
    expect(stderr).not.toMatch(/svc-test-no-such-thing|svc-plugin\.js:|node:internal/)
    expect(stderr).toContain(`svc: its own checks are in ${file}\n`)
    writeFileSync(file, JSON.stringify({ ...checks, host: { 'host.network.request': { output: { status: 200 } } } }))
    expect(await home.run(['plugin', 'test', './mine'])).toMatchObject({ code: 0, stderr: '' })
    change(
      'mine/package/svc-plugin.json',
      '"capabilities": ["network"]',
      '"settings": { "type": "object", "required": ["url"] }, "capabilities": ["network"]',
    )
    expect((await home.run(['plugin', 'test', './mine'])).stderr).toMatch(
      /^svc: the "config" of \S+ does not fit agent\.settings: .*"url"\n$/,
    )
  })

  test('finds what a program does that svc would only notice later', async () => {
    await home.run(['plugin', 'init', './mine', '--language', 'js'])
    writeFileSync(
      join(home.workspace, 'mine/package/main.js'),
      `import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
writeSync(1, 'starting\\n')
for await (const line of createInterface({ input: process.stdin })) {
  let frame
  try { frame = JSON.parse(line) } catch { process.exit(3) }
  if (frame.method === 'initialize') console.log(JSON.stringify({ id: frame.id, result: { protocol: 'svc-plugin/2', hooks: ['shel.env'] } }))
  else if (frame.method === 'tool.invoke') console.log(JSON.stringify({ id: frame.id, result: { output: '' } }))
  else if (frame.id !== null && frame.id !== undefined) console.log(JSON.stringify({ id: frame.id, error: 'no' }))
}
`,
    )
    const { code, stdout } = await home.run(['plugin', 'test', './mine', '--json'])
    const { checks } = JSON.parse(stdout) as { checks: { name: string; problem?: string }[] }
    const problems = Object.fromEntries(checks.flatMap(({ name, problem }) => (problem === undefined ? [] : [[name, problem]])))
    expect(code).toBe(1)
    expect(problems).toMatchObject({
      'offers something': expect.stringContaining('did you mean "shell.env"') as string,
      'unknown tool': expect.stringContaining('not an error') as string,
      'lines that are no frames': expect.stringContaining('it has ended, with 3') as string,
      'clean streams': expect.stringContaining('"starting"') as string,
      shutdown: expect.stringContaining('it has ended') as string,
    })
  })

  test('of checks that are none says so', async () => {
    await home.run(['plugin', 'init', './mine'])
    writeFileSync(join(home.workspace, 'mine/svc-plugin.test.json'), '{"checks": [{"tol": "mine"}]}')
    expect((await home.run(['plugin', 'test', './mine'])).stderr).toContain(
      'a check has one of tool, hook, event, service, route, socket, provider',
    )
    expect((await home.run(['plugin', 'test', './none'])).stderr).toContain('a new package is made by: svc plugin init ./none')
  })
})

test('a package in a folder of its own is built, installed and served at every change, without a compiler', async () => {
  await home.run(['plugin', 'init', './mine', '--language', 'ts'])
  const work = home.start(['plugin', 'dev', './mine'])
  await work.prints(/^dev\.example\.mine sha256:\w{12} serves\n/)
  const call = ['plugin', 'test', 'dev.example.mine', 'mine', '{"name": "Ada"}']
  expect((await home.run(call)).stdout).toBe('Hello, Ada!\n')
  change('mine/src/plugin.ts', 'Hello, ', 'Welcome, ')
  await work.prints(/(^dev\.example\.mine sha256:\w{12} serves$[^]*){2}/m)
  expect((await home.run(call)).stdout).toBe('Welcome, Ada!\n')
  change('mine/src/plugin.ts', 'definePlugin({', 'definePlugin({{')
  await work.notes(/src\/plugin\.ts[^]*the build failed; what served before still does/)
  expect((await home.run(call)).stdout).toBe('Welcome, Ada!\n')
  work.child.kill('SIGINT')
  expect(await work.ended).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('stays installed; svc plugin remove dev.example.mine') as string,
  })
})

test('what the configuration names and nobody has is told, and how a package of npm is installed', async () => {
  const folder = join(home.path, '.config/svc')
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'config.json'),
    '{"plugin": ["left-pad", "@example/svc-plugin"], "plugins": {"dev.example.served": {"options": {"serve": ["no-such-program"]}}}}',
  )
  const told = /left-pad.*svc plugin add npm:left-pad/
  const listed = await home.run(['plugin', 'list'])
  expect(listed.stdout).toMatch(told)
  expect(listed.stdout).toMatch(/@example\/svc-plugin.*svc plugin add npm:@example\/svc-plugin/)
  expect(listed.stdout).toMatch(/dev\.example\.served +configuration, no-such-program/)
  const validated = await home.run(['config', 'validate'])
  expect(validated.stderr).toMatch(told)
  expect(validated.stderr).toMatch(/dev\.example\.served.*no-such-program/)
  expect((await home.run(['plugin', 'doctor'])).stdout).toMatch(told)
  expect((await home.run(['doctor'])).stdout).toMatch(told)
})
