import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { OPERATION_ANSWERS } from '../../../fakes/operations.js'
import { makeWorkflowHome, type WorkflowHome } from './workflow-place.js'

let place: WorkflowHome
const servers: Server[] = []
beforeEach(() => {
  place = makeWorkflowHome()
})
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
  place.close()
})

const file = (schedule: string, more = '') => `---\nid: report\nname: Daily report\nschedule: ${schedule}\n${more}---\nWrite it.\n`

describe('svc workflow preview', () => {
  test('shows a table in UTC and in local time, and marks what the clock does', async () => {
    const path = place.write('gap.md', file('{frequency: daily, time: 02:30, timezone: America/New_York}', 'active: true\n'))
    expect(await place.run('preview', path, '--from', '2026-03-07', '--count', '3')).toEqual({
      code: 0,
      stderr: '',
      stdout: `Daily report (report): every day at 02:30, America/New_York

   UTC                   LOCAL (America/New_York)
1  2026-03-07T07:30:00Z  2026-03-07T02:30:00-05:00
2  2026-03-08T07:00:00Z  2026-03-08T03:00:00-04:00  moved: the clock skips this time; UTC offset -05:00 -> -04:00
3  2026-03-09T06:30:00Z  2026-03-09T02:30:00-04:00
`,
    })
    const fold = place.write('fold.md', file('{frequency: daily, time: 01:30, timezone: America/New_York}'))
    expect((await place.run('preview', fold, '--from', '2026-10-31T12:00:00Z', '--count', '2')).stdout).toContain(
      `
It is not active: change "active" to true to run it by schedule.

   UTC                   LOCAL (America/New_York)
1  2026-11-01T05:30:00Z  2026-11-01T01:30:00-04:00  first of two: the clock repeats this time
2  2026-11-02T06:30:00Z  2026-11-02T01:30:00-05:00  UTC offset -04:00 -> -05:00
`.slice(1),
    )
  })

  test('prints JSON for programs', async () => {
    const path = place.write('a.md', file('{frequency: daily, time: 02:30, timezone: America/New_York}'))
    const { code, stdout } = await place.run('preview', path, '--from', '2026-03-08', '--count', '1', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      file: '$W/a.md',
      from: '2026-03-08T00:00:00Z',
      definition: { id: 'report', schedule: { frequency: 'daily', interval: 1, time: '02:30', timezone: 'America/New_York' } },
      upcoming: [
        { scheduledAt: Date.parse('2026-03-08T07:00Z'), utc: '2026-03-08T07:00:00Z', local: '2026-03-08T03:00:00-04:00', shift: 'gap' },
      ],
    })
  })

  test('shows ten occurrences of a schedule that recurs, from now on', async () => {
    place.write('.svc/workflows/report.md', file('{frequency: hourly}'))
    const { stdout } = await place.run('preview', 'report', '--json')
    const { upcoming } = JSON.parse(stdout) as { upcoming: { scheduledAt: number }[] }
    expect(upcoming).toHaveLength(10)
    expect((upcoming[0]?.scheduledAt ?? 0) - Date.now()).toBeGreaterThan(0)
    expect((upcoming[0]?.scheduledAt ?? 0) - Date.now()).toBeLessThanOrEqual(3_600_000)
  })

  test('finds an id where a server finds it: below the folder, above the directory, in the installation, whatever the file is called', async () => {
    const top = dirname(place.workspace)
    mkdirSync(join(top, '.git'))
    mkdirSync(join(top, '.svc/workflow'), { recursive: true })
    const called = (id: string) => file('{frequency: hourly}').replace('id: report', `id: ${id}`)
    const below = place.write('.svc/workflows/team/other.md', called('below'))
    writeFileSync(join(top, '.svc/workflow/x.md'), called('above'))
    mkdirSync(join(place.home, '.config/svc/workflows'), { recursive: true })
    writeFileSync(join(place.home, '.config/svc/workflows/y.md'), called('everywhere'))
    place.write('.svc/workflows/broken.md', '---\nid: broken\n---\n')
    const found = async (id: string) => {
      const { stdout } = await place.run('preview', id, '--json')
      return (JSON.parse(stdout) as { file: string }).file.replace('$W', place.workspace).replace('$H', place.home)
    }
    expect(await found('below')).toBe(below)
    expect(await found('above')).toBe(join(top, '.svc/workflow/x.md'))
    expect(await found('everywhere')).toBe(join(place.home, '.config/svc/workflows/y.md'))
    const broken = await place.run('preview', 'broken')
    expect([broken.code, broken.stderr]).toEqual([1, expect.stringContaining('broken.md')])
    expect((await place.run('preview', 'other')).stdout).toContain('below')
  })

  test('says that nothing is due any more', async () => {
    const path = place.write('a.md', file('{date: 2026-01-05}'))
    const { code, stdout } = await place.run('preview', path, '--from', '2026-01-06')
    expect([code, stdout]).toEqual([
      0,
      'Daily report (report): once, on 2026-01-05 at 00:00, UTC\nIt is not active: change "active" to true to run it by schedule.\nNothing is due after 2026-01-06T00:00:00Z.\n',
    ])
  })

  test('tells every mistake by file and line, and fails', async () => {
    const path = place.write('bad.md', file('{frequency: daily, time: noon}', 'colour: red\n'))
    const { code, stdout, stderr } = await place.run('preview', path, '--json')
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr.split('\n')[0]).toBe('$W/bad.md:4: schedule.time must be HH:MM, HH:MM:SS, h:MM AM/PM or h:MM:SS AM/PM, not "noon"')
    expect(stderr.split('\n')[1]).toMatch(/^\$W\/bad\.md:5: colour is no field of a workflow/)
  })

  test('fails when there is no such file, or it is no text', async () => {
    expect(await place.run('preview', 'missing.md')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no workflow file missing.md'),
    })
    writeFileSync(join(place.workspace, 'binary.md'), Buffer.from([0xff, 0xfe, 0x00]))
    expect(await place.run('preview', join(place.workspace, 'binary.md'))).toMatchObject({
      code: 1,
      stderr: '$W/binary.md: is not valid UTF-8\n',
    })
  })
})

describe('svc workflow validate', () => {
  test('looks at the workflow directories of the workspace', async () => {
    place.write('.svc/workflow/one.md', file('{frequency: daily}'))
    place.write('.svc/workflows/deep/two.md', file('{frequency: daily}').replace('report', 'two'))
    place.write('.svc/workflows/notes.txt', 'not a workflow')
    expect(await place.run('validate')).toEqual({
      code: 0,
      stderr: '',
      stdout: 'ok  $W/.svc/workflow/one.md (report)\nok  $W/.svc/workflows/deep/two.md (two)\n',
    })
  })

  test('goes into no directory that a link leads to, on every version of Node', async () => {
    place.write('.svc/workflows/one.md', file('{frequency: daily}'))
    place.write('elsewhere/two.md', file('{frequency: daily}').replace('report', 'two'))
    symlinkSync('../../elsewhere', join(place.workspace, '.svc/workflows/linked'))
    expect(await place.run('validate')).toEqual({ code: 0, stderr: '', stdout: 'ok  $W/.svc/workflows/one.md (report)\n' })
  })

  test('tells the mistakes of all files, ids that are there twice, and directories that do not exist', async () => {
    place.write('.svc/workflows/a.md', file('{frequency: daily}'))
    place.write('.svc/workflows/b.md', file('{frequency: daily}'))
    place.write('.svc/workflows/c.md', file('{}'))
    place.write('.svc/workflows/d.md', file('{frequency: daily}', 'directory: elsewhere\n'))
    const { code, stdout, stderr } = await place.run('validate', '--json')
    expect(code).toBe(1)
    expect(stderr).toBe(`$W/.svc/workflows/c.md:4: schedule needs "at", "date", or a frequency: hourly, daily, weekly or monthly
$W/.svc/workflows/d.md:5: directory must be a directory that exists, not "elsewhere"
$W/.svc/workflows/b.md: id "report" is the id of $W/.svc/workflows/a.md too
`)
    expect(JSON.parse(stdout)).toMatchObject({ valid: [{ id: 'report' }, { id: 'report' }], diagnostics: [{ line: 4 }, { line: 5 }, {}] })
    mkdirSync(join(place.workspace, 'elsewhere'))
    expect((await place.run('validate', join(place.workspace, '.svc/workflows/d.md'))).code).toBe(0)
  })

  test('says so when there is nothing to look at', async () => {
    expect(await place.run('validate')).toMatchObject({
      code: 0,
      stdout: 'no workflow files; write one with: svc workflow new daily-report\n',
    })
    expect(await place.run('validate', 'missing')).toMatchObject({ code: 1, stderr: 'svc: there is no file or directory missing\n' })
  })
})

describe('svc workflow new', () => {
  test('writes a file that is valid as it is, and nothing over it', async () => {
    const written = await place.run('new', 'daily-report')
    expect(written).toEqual({
      code: 0,
      stderr: '',
      stdout: 'wrote $W/.svc/workflows/daily-report.md\nnext: svc workflow preview $W/.svc/workflows/daily-report.md\n',
    })
    expect(readFileSync(join(place.workspace, '.svc/workflows/daily-report.md'), 'utf8')).toContain(
      'id: daily-report\nname: Daily report\n',
    )
    expect((await place.run('validate')).code).toBe(0)
    expect(await place.run('new', 'daily-report')).toMatchObject({
      code: 1,
      stderr: 'svc: $W/.svc/workflows/daily-report.md exists already; nothing was written\n',
    })
  })

  test('writes one for every workspace beside the configuration', async () => {
    expect((await place.run('new', 'null', '--global', '--json')).stdout).toContain('$H/.config/svc/workflows/null.md')
    const path = join(place.home, '.config/svc/workflows/null.md')
    expect(existsSync(path)).toBe(true)
    expect((await place.run('validate', path)).code).toBe(0)
  })

  test('refuses an id that is no name of a file', async () => {
    for (const id of ['../up', 'Upper', '1st', 'a/b']) expect(await place.run('new', id)).toMatchObject({ code: 1 })
  })
})

interface Refusal {
  readonly status: number
  readonly code: string
  /** Of requests whose method and path have this in them. */
  readonly of: string
}

const NEVER_RUN: Refusal = { status: 404, code: 'resource.not_found', of: '/runs' }

function refuse(response: ServerResponse, { status, code }: Refusal): void {
  const envelope = { code, message: 'It is refused.', retryable: false, details: {}, requestId: 'r1' }
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(envelope))
}

describe('svc workflow on a running server', () => {
  const asked: string[] = []

  async function serve(refusal?: Refusal): Promise<string> {
    asked.length = 0
    const server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://h')
      asked.push(
        `${request.method} ${pathname} ${searchParams.get('directory') === place.workspace} ${searchParams.get('limit') ?? ''}`.trim(),
      )
      const isRefused = refusal !== undefined && `${request.method} ${pathname}`.includes(refusal.of)
      if (isRefused) return refuse(response, refusal)
      const [, , , , of] = pathname.split('/')
      const one = of === undefined ? 'list' : 'get'
      const id = `v2.plugins.workflows.${pathname.endsWith('/runs') ? 'history' : pathname.endsWith('/run') ? 'run' : one}`
      response.setHeader('content-type', 'application/json').end(JSON.stringify(OPERATION_ANSWERS[id]))
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
    const address = server.address()
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  }

  test('lists workflows, and tells what is wrong with files', async () => {
    const { code, stdout, stderr } = await place.run('list', '--server', await serve())
    expect(code).toBe(0)
    expect(stderr).toBe('/srv/here/.svc/workflows/bad.md:2: needs the field "id"\n')
    expect(stdout).toMatch(/^ID +STATE +NEXT +SCHEDULE +NAME\nreport +active +\S+T09:00:00\+00:00 +every day at 09:00, UTC +Report\n$/)
    expect(asked).toEqual(['GET /v2/plugins/dev.svc.workflows true'])
  })

  test('starts a run and shows those so far', async () => {
    const url = await serve()
    expect(await place.run('run', 'report', '--server', url)).toMatchObject({
      code: 0,
      stdout: 'wfr_1_a is queued; see how it goes with: svc workflow runs report\n',
    })
    expect((await place.run('runs', 'report', '--server', url, '--limit', '7')).stdout).toBe(
      'RUN      STATE   BECAUSE  DUE                       TOOK  SESSION\nwfr_1_a  queued  manual   1970-01-01T00:00:00.001Z  -     -\n',
    )
    expect(asked).toEqual(['POST /v2/plugins/dev.svc.workflows/report/run true', 'GET /v2/plugins/dev.svc.workflows/report/runs true 7'])
  })

  test('shows one that was never active and has never run', async () => {
    const { code, stdout } = await place.run('show', 'report', '--server', await serve(NEVER_RUN))
    expect([code, stdout]).toEqual([0, expect.stringContaining('\nno runs so far\n')])
  })

  test('says whose the file is to remove where the server deletes none', async () => {
    const url = await serve({ status: 401, code: 'management.authentication_required', of: 'DELETE' })
    const { code, stderr } = await place.run('delete', 'report', '--yes', '--server', url)
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^svc: a server without a token deletes no files: remove \/\S+\.md yourself\n$/),
    ])
  })

  test('says what to do when none runs', async () => {
    expect(await place.run('list')).toMatchObject({
      code: 1,
      stderr: 'svc: no server runs; start one with "svc serve", or name one with --server\n',
    })
  })
})
