import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { script } from './conversation.js'
import { homeApart, openHomes } from './homes.js'
import type { Home } from './program.js'

const homes = openHomes()
let home: Home
beforeEach(() => {
  home = homes.home()
})

/** What was said before a call begins stays said, and is printed. */
const LOOK = { tool: 'glob', input: { pattern: '*' } }
const GO_ON = /go on with: svc run --session (ses_\w+) "…"\n/
const sessionOf = (stderr: string) => GO_ON.exec(stderr)?.[1] ?? 'none'

async function json<T>(args: readonly string[], of = home): Promise<T> {
  const { code, stdout, stderr } = await of.run([...args, '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as T
}

interface Listed {
  readonly id: string
  readonly state: string
}

describe('svc session', () => {
  test('lists what svc run began, shows and deletes it, without a server', async () => {
    const own = homeApart()
    const id = sessionOf((await own.run(['run', script({ text: 'one' })])).stderr)
    expect(await json<Listed[]>(['session', 'list'], own)).toMatchObject([{ id }])
    expect((await own.run(['session', 'show', id])).stdout).toContain(`go on      svc run --session ${id} "…"\n`)
    expect((await own.run(['session', 'delete', id, '--yes'])).code).toBe(0)
    expect(await own.run(['session', 'show', id])).toMatchObject({
      code: 1,
      stderr: `svc: There is no session ${id}; there is none yet.\n`,
    })
  })

  test('goes on with what svc run began, shows it, forks and deletes it', async () => {
    const first = await home.run(['run', script({ text: 'one' })])
    const id = sessionOf(first.stderr)
    const continued = await home.run(['run', '--continue', script({ text: 'two' })])
    expect([continued.code, continued.stdout]).toEqual([0, 'two\n'])
    expect(continued.stderr).toContain(`going on in ${id} (`)
    const shown = await json<{ id: string; directory: string; state: string; messages: { role: string; text: string }[] }>([
      'session',
      'show',
      id,
    ])
    expect(shown).toMatchObject({ id, directory: home.workspace, state: 'idle', pending: [] })
    expect(shown.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    expect(shown.messages.at(-1)?.text).toBe('two')
    const text = await home.run(['session', 'show', id])
    expect(text.stdout).toContain(`go on      svc run --session ${id} "…"\n`)
    const copy = (await home.run(['session', 'fork', id])).stdout.trim()
    expect((await json<Listed[]>(['session', 'list'])).map((each) => each.id).toSorted()).toEqual([copy, id].toSorted())
    const refused = await home.run(['session', 'delete', id])
    const told = new RegExp(`^with it go \\(svc session export <id> keeps one, --keep-forks all forks\\):\n  ${copy}  Fork - `)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(told)])
    expect(refused.stderr).toContain('\nsvc: deleting a session needs --yes where nobody can be asked\n')
    const further = (await home.run(['session', 'fork', copy])).stdout.trim()
    const deleted = await home.run(['session', 'delete', copy, '--yes', '--json'])
    expect([JSON.parse(deleted.stdout), deleted.stderr]).toEqual([
      { id: copy, deleted: true, descendants: [further] },
      expect.stringContaining(further),
    ])
    const kept = (await home.run(['session', 'fork', id])).stdout.trim()
    const parted = await home.run(['session', 'delete', id, '--yes', '--keep-forks', '--json'])
    expect([JSON.parse(parted.stdout), parted.stderr]).toEqual([
      { id, deleted: true, forks: [kept] },
      expect.stringMatching(new RegExp(`^conversations of their own from now on:\n  ${kept}  Fork - `)),
    ])
    expect((await json<Listed[]>(['session', 'list'])).map((each) => each.id)).toEqual([kept])
    const other = (await home.run(['session', 'fork', kept])).stdout.trim()
    expect(await home.run(['session', 'delete', kept, '--yes'])).toMatchObject({
      stdout: `deleted ${kept} and the session that came from it (forks, subagents)\n`,
      stderr: expect.stringContaining(`  ${other}  Fork - `),
    })
    expect(await json<Listed[]>(['session', 'list'])).toEqual([])
  })

  test('lists page by page, with what came from a conversation below it, in the state that show says', async () => {
    const ids: string[] = []
    for (const text of ['one', 'two', 'three']) ids.push(sessionOf((await home.run(['run', script({ text })])).stderr))
    const [one = '', two = '', three = ''] = ids
    const fork = (await home.run(['session', 'fork', two])).stdout.trim()
    const further = (await home.run(['session', 'fork', fork])).stdout.trim()
    const first = await home.run(['session', 'list', '--limit', '2'])
    const places = first.stdout.split('\n').map((line) => /^ *(?:└ )?ses_\w+/.exec(line)?.[0])
    expect(places).toEqual([undefined, three, two, `└ ${fork}`, `  └ ${further}`, undefined])
    const [, cursor = ''] = /^more: svc session list --limit 2 --cursor '([^']+)'\n$/.exec(first.stderr) ?? []
    const next = await json<Listed[]>(['session', 'list', '--limit', '2', '--cursor', cursor])
    expect(next.map(({ id }) => id)).toEqual([one])
    expect(await home.run(['session', 'list', '--cursor', 'x'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cursor') as string,
    })
    for (const { id, state } of await json<Listed[]>(['session', 'list']))
      expect((await json<Listed>(['session', 'show', id])).state).toBe(state)
  })

  test('takes back the last turn with what it wrote, brings it back, and leaves what was changed by hand', async () => {
    const file = join(home.workspace, 'b.txt')
    const ran = await home.run(['run', script({ tool: 'write', input: { filePath: 'b.txt', content: 'b' } }, { text: 'done' })])
    const id = sessionOf(ran.stderr)
    const undone = await home.run(['session', 'undo', id])
    expect(undone.code).toBe(0)
    expect(undone.stdout).toMatch(/^undone: .* \(b\.txt\)\nbring back with: svc session redo ses_\w+\n$/)
    expect(await home.run(['session', 'undo', id])).toMatchObject({ code: 1, stderr: 'svc: Nothing is left to undo.\n' })
    expect(existsSync(file)).toBe(false)
    expect(await json(['session', 'redo', id])).toEqual({ id, moved: [expect.objectContaining({ files: ['b.txt'] })], undone: [] })
    expect(await home.run(['session', 'redo', id])).toMatchObject({ code: 1, stderr: 'svc: Nothing is undone.\n' })
    expect(readFileSync(file, 'utf8')).toBe('b')
    writeFileSync(file, 'by hand')
    const refused = await home.run(['session', 'undo', id])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('b.txt')
    expect(readFileSync(file, 'utf8')).toBe('by hand')
  })

  test('travels as JSON to another state directory, and goes on there', async () => {
    const id = sessionOf((await home.run(['run', script({ text: 'one' })])).stderr)
    await home.run(['run', script({ text: 'another' })])
    const exported = await home.run(['session', 'export', id, '--artifacts'])
    expect((JSON.parse(exported.stdout) as { bundles: object[] }).bundles).toMatchObject([{ session: { id }, artifacts: [] }])
    const all = await home.run(['session', 'export'])
    expect((JSON.parse(all.stdout) as { bundles: object[] }).bundles).toHaveLength(2)
    const file = join(home.workspace, 'session.json')
    writeFileSync(file, exported.stdout)
    const env = { SVC_AGENT_STATE_DIR: join(home.path, 'other') }
    const imported = await home.run(['session', 'import', file], { env })
    expect([imported.code, imported.stdout]).toEqual([0, expect.stringMatching(/^ses_\w+\n$/) as string])
    const continued = await home.run(['run', '--session', imported.stdout.trim(), script({ text: 'two' })], { env })
    expect([continued.code, continued.stdout]).toEqual([0, 'two\n'])
    const shown = await home.run(['session', 'show', imported.stdout.trim()], { env })
    expect(shown.stdout).toMatch(/one\n[^]*two\n/)
    writeFileSync(file, '{ "bundles": [] }')
    const refused = await home.run(['session', 'import', file], { env })
    expect([refused.code, refused.stderr]).toEqual([1, `svc: ${file} is not what "svc session export" has written.\n`])
    const absent = await home.run(['session', 'import', `${file}.none`], { env })
    expect([absent.code, absent.stderr]).toEqual([1, `svc: ${file}.none cannot be read.\n`])
  })

  test('tells what a session waits for, also to a run that joins it', async () => {
    writeFileSync(join(home.workspace, 'svc.json'), '{ "permission": { "edit": "ask" } }')
    const post = async (path: string, body: unknown) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`${homes.server.url}/v2/sessions${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      return answer.status === 204 ? undefined : ((await answer.json()) as { readonly id: string })
    }
    const id = (await post(`?directory=${home.workspace}`, { title: 'Long '.repeat(20) }))?.id ?? 'none'
    await post(`/${id}/prompt`, { prompt: script({ tool: 'write', input: { filePath: 'b.txt', content: 'b' } }) })
    const state = async () => (await json<Listed[]>(['session', 'list']))[0]?.state
    await expect.poll(state).toBe('waiting')
    const { pending } = await json<{ pending: unknown[] }>(['session', 'show', id])
    expect(pending).toEqual([{ type: 'permission', id: expect.stringMatching(/^per_/) as string, text: 'Write b.txt (edit: b.txt)' }])
    const joining = home.start(['run', '--session', id, 'another'])
    await joining.notes(/^pending: an answer to a permission request: Write b\.txt \(edit: b\.txt\)\na run is under way/m)
    joining.child.kill('SIGINT')
    expect((await joining.ended).code).toBe(130)
    const { stdout } = await home.run(['session', 'list'])
    expect(stdout).toContain(`waiting  ${'Long '.repeat(20).slice(0, 59)}…\n`)
  })

  test('names the latest sessions when there is none of an id', async () => {
    const id = sessionOf((await home.run(['run', 'hello'])).stderr)
    const unknown = await home.run(['run', '--session', 'ses_no', 'hello'])
    expect(unknown.code).toBe(1)
    expect(unknown.stderr).toContain(`svc: There is no session ses_no; the latest are ${id} (`)
  })
})

describe('several at once', () => {
  test('a second run joins the server of the first, which ends with it', async () => {
    const home = homeApart()
    const first = home.start(['run', script({ text: 'first' }, LOOK, { delayMs: 60_000, text: 'never' })])
    await first.prints(/first/)
    const second = home.start(['run', script({ text: 'second' }, LOOK, { delayMs: 60_000, text: 'never' })])
    await second.prints(/second/)
    first.child.kill('SIGINT')
    await first.notes(/other commands use the server of this one; it ends with them/)
    second.child.kill('SIGINT')
    const [one, other] = await Promise.all([first.ended, second.ended])
    expect([one.code, one.stdout]).toEqual([130, 'first\n'])
    expect([other.code, other.stdout, other.stderr.replace(GO_ON, '')]).toEqual([130, 'second\n', '→ glob *\ninterrupted\n'])
  })

  test('commands that start together share one server', async () => {
    const home = homeApart()
    const ended = await Promise.all([home.run(['run', 'hello']), home.run(['run', 'hello']), home.run(['run', 'hello'])])
    for (const { code, stderr } of ended) expect([code, stderr]).toEqual([0, expect.stringMatching(GO_ON) as string])
    expect(await json<Listed[]>(['session', 'list'], home)).toHaveLength(3)
  })

  test('Ctrl-C takes back a prompt that waits, and leaves the run of another alone', async () => {
    const running = home.start(['run', script({ text: 'begun' }, LOOK, { delayMs: 60_000, text: 'never' })])
    await running.prints(/begun/)
    const [listed] = await json<Listed[]>(['session', 'list'])
    const id = listed?.id ?? 'none'
    expect(listed?.state).toBe('running')
    const waiting = home.start(['run', '--session', id, 'another'])
    const queue = async () => ((await (await fetch(`${homes.server.url}/v2/sessions/${id}/queue`)).json()) as { count: number }).count
    await expect.poll(queue).toBe(1)
    waiting.child.kill('SIGINT')
    const taken = await waiting.ended
    expect([taken.code, taken.stdout]).toEqual([130, ''])
    expect(taken.stderr).toContain('a run is under way; this prompt has its turn after it\ninterrupted\n')
    expect(await queue()).toBe(0)
    expect(await (await fetch(`${homes.server.url}/v2/sessions/status`)).json()).toMatchObject({ [id]: { type: 'busy' } })
  })
})
