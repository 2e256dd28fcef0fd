// svc run where nobody sits: runs that leave nothing, settings of one run, records, hooks and pipes.
import { execFile, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, test } from 'vitest'
import { Event } from '../../src/protocol/event/event.js'
import { RunRecord, RunResult } from '../../src/cli/commands/run/run-record.js'
import { script } from './conversation.js'
import { homeApart, openHomes } from './homes.js'
import { type Home, PROGRAM } from './program.js'

const homes = openHomes()
let home: Home
beforeEach(() => {
  home = homes.home()
})

/** Temporary directories of a run are made here. */
function temporary(of: Home): { readonly path: string; readonly env: { readonly TMPDIR: string } } {
  const path = join(of.path, 'tmp')
  mkdirSync(path, { recursive: true })
  return { path, env: { TMPDIR: path } }
}
/** Files below a directory that are no planted key. */
const filesOf = (directory: string) => readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted()

describe('svc run --ephemeral', () => {
  test('leaves nothing but what its tools wrote, beside a server and without one', async () => {
    for (const own of [homeApart(), home]) {
      const { path, env } = temporary(own)
      // A server writes its log, and notes of its own.
      const conversations = () => filesOf(own.state).filter((name) => !/^(?:log|users|server|search|store|svc)/.test(name))
      const before = conversations()
      const said = script({ tool: 'write', input: { filePath: 'kept.txt', content: 'x' } }, { text: 'nothing of this' })
      expect(await own.run(['run', '--ephemeral', '--allow', 'once', said], { env })).toMatchObject({
        code: 0,
        stdout: 'nothing of this\n',
      })
      expect(existsSync(join(own.workspace, 'kept.txt'))).toBe(true)
      expect(readdirSync(path)).toEqual([])
      expect(conversations()).toEqual(before)
      const { stdout } = await own.run(['session', 'list', '--json'])
      expect(JSON.parse(stdout)).toEqual([])
    }
  })

  test.each([1, 2])('leaves nothing after Ctrl-C, pressed %i times', async (times) => {
    const own = homeApart()
    const { path, env } = temporary(own)
    const before = filesOf(own.state)
    const running = own.start(['run', '--ephemeral', '--output', 'events', script({ text: 'begun' }, { delayMs: 60_000, text: 'never' })], {
      env,
    })
    await running.prints(/"begun"/)
    expect(readdirSync(path)).toEqual([expect.stringMatching(/^svc-apart-/)])
    for (let time = 0; time < times; time++) running.child.kill('SIGINT')
    expect((await running.ended).code).toBe(130)
    expect(readdirSync(path)).toEqual([])
    expect(filesOf(own.state)).toEqual(before)
  })

  test('is anew and of its own: no session, no server', async () => {
    for (const [args, problem] of [
      [['--session', 'ses_x'], '--ephemeral begins anew, and needs no --session'],
      [['-c'], '--ephemeral begins anew, and needs no --continue'],
      [['--server', 'localhost:1'], '--ephemeral needs no --server'],
    ] as const) {
      const { code, stderr } = await home.run(['run', '--ephemeral', ...args, 'hi'])
      expect([code, stderr]).toEqual([2, expect.stringContaining(problem)])
    }
  })
})

describe('svc run --config', () => {
  const write = script({ tool: 'write', input: { filePath: 'b.txt', content: 'b' } }, { text: 'done' })

  test('holds for one run, above the files, and is written nowhere', async () => {
    const own = homeApart()
    const file = join(own.workspace, 'svc.json')
    writeFileSync(file, '{ "compaction": { "auto": true } }')
    const denied = await own.run(['run', '--config', 'permission.edit=deny', '--config', 'compaction.auto=false', write])
    expect([denied.code, existsSync(join(own.workspace, 'b.txt'))]).toEqual([0, false])
    expect(denied.stderr).toMatch(/✗ write: /)
    expect((await own.run(['config', 'get'])).stdout).toBe('{\n  "compaction": {\n    "auto": true\n  }\n}\n')
    expect((await own.run(['run', write])).code).toBe(0)
    expect(existsSync(join(own.workspace, 'b.txt'))).toBe(true)
  })

  test('does not change a server that runs; --ephemeral goes beside it', async () => {
    const refused = await home.run(['run', '--config', 'permission.edit=deny', write])
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('--ephemeral has a server of its own')])
    const beside = await home.run(['run', '--ephemeral', '--config', 'permission.edit=deny', write])
    expect([beside.code, existsSync(join(home.workspace, 'b.txt'))]).toEqual([0, false])
  })

  test('what is no setting is refused, and what others write behind -c', async () => {
    for (const [args, problem] of [
      [['--config', 'modle=x'], 'there is no key "modle"; did you mean "model"?'],
      [['--config', 'model'], '--config takes key=value, not "model"'],
      [['-c', 'model=svc/offline'], '-c is short for --continue; write --config "model=svc/offline"'],
    ] as const) {
      const { code, stderr } = await home.run(['run', ...args, 'hi'])
      expect([code, stderr]).toEqual([2, expect.stringContaining(problem)])
    }
  })
})

test('every record of every run is one of the schema, and the last one says what the program ends with', async () => {
  writeFileSync(join(home.workspace, 'svc.json'), '{ "permission": { "edit": "ask" } }')
  writeFileSync(join(home.workspace, 'a.txt'), 'content')
  const corpus: readonly (readonly [args: readonly string[], code: number])[] = [
    [[script({ text: 'one' }, { tool: 'read', input: { filePath: 'a.txt' } }, { text: 'two' })], 0],
    [[script({ tool: 'read', input: { filePath: 'none.txt' } }, { text: 'gone' })], 0],
    [[script({ tool: 'write', input: { filePath: 'b.txt', content: 'b' } }, { text: 'done' })], 3],
    [['--allow', 'once', script({ tool: 'write', input: { filePath: 'b.txt', content: 'b' } }, { text: 'done' })], 0],
    [[script({ tool: 'bash', input: { command: 'echo out; echo err >&2; exit 3', description: 'fails' } }, { text: 'seen' })], 0],
    [[script({ tool: 'question', input: { questions: [{ question: 'which?', header: 'W', options: [] }] } }, { text: 'so' })], 3],
    [[script({ text: 'so far' }, { error: { message: 'the model is gone' } })], 1],
    [['--ephemeral', 'hello'], 0],
    [['--session', 'ses_nope', 'hello'], 1],
  ]
  for (const [args, code] of corpus) {
    const run = await home.run(['run', '--output', 'events', ...args])
    const records = run.stdout
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line))
    const events = records.slice(0, -1)
    for (const record of records) expect(RunRecord.parse(record)).toMatchObject({ version: 1 })
    for (const event of events) Event.parse(event)
    const result = RunResult.parse(records.at(-1))
    expect([run.code, result.exitCode, events.length > 0]).toEqual([code, code, !args.includes('ses_nope')])
    const alone = await home.run(['run', '--json', ...args])
    expect(RunResult.parse(JSON.parse(alone.stdout))).toMatchObject({ exitCode: code, status: result.status, answer: result.answer })
  }
})

describe('without a terminal', () => {
  const environment = (of: Home) => ({ PATH: process.env['PATH'] ?? '', HOME: of.path, SVC_AGENT_STATE_DIR: of.state })
  const program = `'${process.execPath}' '${PROGRAM}'`

  test('a hook of git asks, and its exit code decides', async () => {
    const own = homeApart()
    const env = environment(own)
    const git = (...args: readonly string[]) =>
      promisify(execFile)('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: own.workspace, env })
    await git('init', '-q')
    const hook = join(own.workspace, '.git/hooks/pre-commit')
    const asks = (answer: string) =>
      writeFileSync(
        hook,
        `#!/bin/sh\nanswer=$(git diff --cached | ${program} run --ephemeral --quiet --allow reject '${script({ text: answer })}') || exit 1\n[ "$answer" = fine ]\n`,
      )
    asks('fine')
    chmodSync(hook, 0o755)
    writeFileSync(join(own.workspace, 'a.txt'), 'a')
    await git('add', '.')
    await git('commit', '-q', '-m', 'one')
    asks('not like this')
    writeFileSync(join(own.workspace, 'a.txt'), 'b')
    await expect(git('commit', '-q', '-a', '-m', 'two')).rejects.toMatchObject({ code: 1 })
    expect((await git('log', '--format=%s')).stdout).toBe('one\n')
  })

  test('in xargs, four at once, lines of one do not end up within those of another', async () => {
    const words = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta']
    const steps = (word: string) => JSON.stringify(Array.from({ length: 20 }, (_, index) => ({ text: `${word}${index} `, delayMs: 1 })))
    for (const word of words) writeFileSync(join(home.workspace, word), `\`\`\`svc-script\n${steps(word)}\n\`\`\``)
    const command = `printf '%s\\n' ${words.join(' ')} | xargs -P 4 -I{} sh -c '${program.replaceAll("'", '"')} run --quiet - < {}'`
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: home.workspace, env: environment(home) })
    const whole = (word: string) => Array.from({ length: 20 }, (_, index) => `${word}${index}`).join(' ')
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.trimEnd())
        .toSorted(),
    ).toEqual(words.map(whole).toSorted())
  })

  test('with everything closed but standard output, and with all of it in one file', async () => {
    const { stdout } = await promisify(execFile)('sh', ['-c', `${program} run --quiet hello <&- 2>&-`], {
      cwd: home.workspace,
      env: environment(home),
    })
    expect(stdout).toMatch(/\S\n$/)
    const both = spawn(
      'sh',
      ['-c', `exec ${program} run '${script({ text: 'one' }, { tool: 'glob', input: { pattern: '*' } }, { text: 'two' })}' 2>&1`],
      {
        cwd: home.workspace,
        env: environment(home),
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    let text = ''
    for await (const chunk of both.stdout.setEncoding('utf8')) text += String(chunk)
    const lines = text.split('\n').filter((line) => !line.startsWith('first use of'))
    expect(lines).toEqual(['one', '→ glob *', 'two', expect.stringMatching(/^go on with: svc run --session ses_/), ''])
  })
})
