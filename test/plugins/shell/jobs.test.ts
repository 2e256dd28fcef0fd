import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { ProcessResult, SpawnOptions } from '../../../src/ports/effects.js'
import type { NativeHost, ToolContext } from '../../../src/ports/plugin.js'
import { createOutstanding } from '../../../src/actors/session/state/outstanding.js'
import { createRing } from '../../../src/plugins/shell/jobs/ring.js'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { noDoors } from '../../fakes/doors.js'
import { SESSION_ROWS } from '../../../src/plugins/shell/jobs/ledger.js'
import { type PlayedRows, playedRows } from '../played-rows.js'
import { shellHost, startShell } from './fixture.js'

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()))
})

/** A server with the plugin; `rows` are those an earlier one left. Commands run until `end` is called. */
function serve({ rows = playedRows(), tellFails = () => false }: { rows?: PlayedRows; tellFails?: () => boolean } = {}) {
  const effects = createFakeEffects()
  const outstanding = createOutstanding('epoch')
  const told: string[] = []
  const running = new Map<string, { readonly options: SpawnOptions; end(result?: Partial<ProcessResult>): void }>()
  effects.processes.programs.set('bash', '/usr/bin/bash')
  effects.processes.script((options) => {
    if (options.args[0] === '-l') return {}
    return new Promise((resolve) => running.set(options.args.at(-1) ?? '', { options, end: (result = {}) => resolve(result) }))
  })
  const sessions: NativeHost['sessions'] = {
    ...noDoors.sessions,
    get: (id) => (id === 'ses_gone' ? undefined : ({ id } as ReturnType<NativeHost['sessions']['get']>)),
    begin: outstanding.begin,
    endJobs: (id) => outstanding.end(id, 'job'),
    backgroundTasks: (sessionID, but) => ({
      sessionID,
      runningBackgroundTasks: outstanding
        .of(sessionID)
        .flatMap(({ id: jobID, startedAt }) => (jobID === but ? [] : [{ jobID, sessionID, startedAt }])),
      backgroundJobsEpoch: 'epoch',
      backgroundJobsRevision: outstanding.jobs.revision,
    }),
    tell(_, { text }, along) {
      if (tellFails()) throw new Error('the store is full')
      rows.commit('process', (tx) => along?.(tx))
      told.push(text)
    },
  }
  const stopping = new AbortController()
  const host = shellHost({ ...effects }, { rows, sessions, stopping: stopping.signal })
  const { contributions, stop } = startShell(host)
  const stopAll = async () => {
    stopping.abort()
    await stop()
  }
  stops.push(stopAll)
  const toolOf = (id: string) => {
    const tool = contributions.tools?.find((each) => each.id === id)
    if (tool === undefined) throw new Error(`there is no tool ${id}`)
    return tool
  }
  let calls = 0
  const call = async (id: string, input: object, more: Partial<ToolContext> = {}) => {
    const tool = toolOf(id)
    const parsed = tool.input.parse(input)
    const context: ToolContext = {
      sessionId: 'ses_1',
      messageId: 'msg_1',
      callId: `call_${++calls}`,
      agent: 'build',
      directory: effects.paths.cwd,
      signal: new AbortController().signal,
      progress: () => undefined,
      decisions: (_, patterns) => patterns.map(() => 'ask'),
      ...more,
    }
    await tool.needs(parsed, context)
    return tool.invoke(parsed, context)
  }
  const start = async (command: string, more: object = {}, context: Partial<ToolContext> = {}) => {
    const { metadata } = await call('background_task', { description: `run ${command}`, command, ...more }, context)
    await effects.clock.advanceAsync(0)
    return String(metadata?.['jobId'])
  }
  const endOf = async (command: string, result: Partial<ProcessResult> = {}) => {
    running.get(command)?.end(result)
    await effects.clock.advanceAsync(0)
  }
  const result = async (id?: string) => (await call('background_task_result', id === undefined ? {} : { job_id: id })).output
  const cancel = (id: string, sessionId = 'ses_1') =>
    contributions.operations?.['v2.sessions.jobs.cancel']?.({
      caller: TRUSTED_CALLER,
      directory: '',
      params: { session_id: sessionId, job_id: id },
      query: {},
      headers: {},
      body: undefined,
      signal: stopping.signal,
    })
  const tellPlugin = (type: string, properties: object) => contributions.events?.deliver({ id: 'evt_1', type, sequence: 1, properties })
  return { effects, outstanding, told, running, rows, toolOf, start, endOf, result, cancel, tellPlugin, stop: stopAll, call }
}

const completed = (rows: PlayedRows) =>
  rows.emitted.filter(({ type }) => type === 'session.background_task.completed').map(({ data }) => data as Record<string, unknown>)

describe('a command in the background', () => {
  it('runs on after its call, is listed meanwhile, and is told once with what it printed', async () => {
    const { start, endOf, running, told, result, outstanding, rows, effects } = serve()
    const id = await start('npm test', { timeout: 5000 })
    expect(running.get('npm test')?.options).toMatchObject({ command: '/usr/bin/bash', args: ['-c', 'npm test'], timeoutMs: 5000 })
    expect(outstanding.of('ses_1')).toMatchObject([{ kind: 'job', id, startedAt: effects.clock.now() }])
    running.get('npm test')?.options.onStdout?.('first line\n')
    expect(await result(id)).toContain('status: running')
    expect(await result(id)).toContain('first line')
    expect(told).toEqual([])
    await endOf('npm test', { exitCode: 0, stderr: 'a warning' })
    expect(told).toHaveLength(1)
    expect(told[0]).toBe(
      `A command you started in the background has ended.\n\njob_id: ${id}\ndescription: run npm test\nstatus: completed\nexit_code: 0\n` +
        `cwd: ${effects.paths.cwd}\ncommand: npm test\n<background_task_result>\nfirst line\na warning\n</background_task_result>`,
    )
    expect(outstanding.has('ses_1')).toBe(false)
    expect(await result(id)).toContain('first line\na warning')
    expect(completed(rows)).toMatchObject([{ sessionID: 'ses_1', jobID: id, taskID: id, status: 'completed', exitCode: 0 }])
    expect(rows.emitted.filter(({ type }) => type === 'session.background_tasks.updated').map(({ data }) => data)).toMatchObject([
      { runningBackgroundTasks: [{ jobID: id, sessionID: 'ses_1' }] },
      { runningBackgroundTasks: [] },
    ])
  })

  it('is judged as the same line of the tool bash is, and nothing runs that was not', async () => {
    const { toolOf, effects, running } = serve()
    mkdirSync(join(effects.paths.cwd, 'sub'))
    const context = {
      sessionId: 'ses_1',
      callId: 'call_x',
      directory: effects.paths.cwd,
      signal: new AbortController().signal,
      decisions: () => [],
    } as unknown as ToolContext
    const [bash, background] = [toolOf('bash'), toolOf('background_task')]
    expect(background.permission).toBe(bash.permission)
    for (const command of ['make all', 'cat /etc/passwd > x', 'eval "$y"', 'git log | sh']) {
      const as = await bash.needs({ command, workdir: 'sub' }, context)
      const needs = await background.needs({ command, description: 'd', cwd: 'sub' }, context)
      expect(JSON.stringify(needs)).toBe(JSON.stringify(as))
    }
    await expect(background.invoke({ command: 'rm x', description: 'd' }, { ...context, callId: 'another' })).rejects.toThrow(
      'was not checked for this call',
    )
    expect([...running.keys()]).toEqual([])
  })

  it.each([
    [{ exitCode: 3, stdout: 'no rule' }, 'error', 'has failed', 3],
    [{ exitCode: null, timedOut: true, signal: 'SIGTERM' }, 'timed_out', 'was stopped because it took too long', null],
  ])('tells how it ended: %j', async (ending, status, words, exitCode) => {
    const { start, endOf, told, rows } = serve()
    await start('make')
    await endOf('make', ending)
    expect(told[0]).toContain(`in the background ${words}.`)
    expect(told[0]).toContain('<background_task_error>')
    expect(completed(rows)).toMatchObject([{ status, exitCode }])
  })

  it('is stopped by its route, told as cancelled, and no other session reaches it', async () => {
    const { start, cancel, told, effects, rows, running } = serve()
    const id = await start('sleep 100')
    await expect(cancel(id, 'ses_2')).rejects.toMatchObject({ code: 'resource.not_found' })
    await expect(cancel('job_none')).rejects.toMatchObject({ code: 'resource.not_found' })
    expect(await cancel(id)).toEqual({ jobId: id, status: 'stopping' })
    await effects.clock.advanceAsync(0)
    expect(running.get('sleep 100')?.options.signal.aborted).toBe(true)
    expect(told[0]).toContain('was stopped by the user.')
    expect(completed(rows)).toMatchObject([{ status: 'cancelled', exitCode: null }])
    await expect(cancel(id)).rejects.toMatchObject({ code: 'resource.conflict' })
  })

  it('ends in silence with its session: deleted, archived, or stopped by what delegated it', async () => {
    const { start, tellPlugin, told, effects, running, rows, outstanding, result } = serve()
    await start('a')
    tellPlugin('session.updated', { sessionID: 'ses_1', info: { time: { updated: 1 } } })
    expect(running.get('a')?.options.signal.aborted).toBe(false)
    tellPlugin('session.updated', { sessionID: 'ses_1', info: { time: { updated: 1, archived: 1 } } })
    await effects.clock.advanceAsync(0)
    expect(running.get('a')?.options.signal.aborted).toBe(true)
    await start('b')
    await outstanding.end('ses_1', 'job')
    expect(running.get('b')?.options.signal.aborted).toBe(true)
    expect(await result()).toMatch(/cancelled run a\njob_\w+ cancelled run b$/)
    await start('c')
    rows.part(SESSION_ROWS, 'ses_1')
    tellPlugin('session.deleted', { sessionID: 'ses_1' })
    await effects.clock.advanceAsync(0)
    expect(running.get('c')?.options.signal.aborted).toBe(true)
    expect(await result()).toBe('No command was started in the background.')
    expect(told).toEqual([])
    expect(outstanding.has('ses_1')).toBe(false)
  })

  it('is told as interrupted by the next start, exactly once, and not started again', async () => {
    const rows = playedRows()
    const first = serve({ rows })
    const id = await first.start('server')
    await first.stop()
    expect(first.running.get('server')?.options.signal.aborted).toBe(true)
    expect(first.told).toEqual([])
    let isFull = true
    const second = serve({ rows, tellFails: () => isFull })
    await second.effects.clock.advanceAsync(0)
    expect(second.told).toEqual([])
    isFull = false
    await second.effects.clock.advanceAsync(LIMITS.jobs.retry.first)
    expect(second.told).toHaveLength(1)
    expect(second.told[0]).toContain(`job_id: ${id}`)
    expect(second.told[0]).toContain('because the server stopped; it was not started again')
    expect([...second.running.keys()]).toEqual([])
    const third = serve({ rows })
    await third.effects.clock.advanceAsync(LIMITS.jobs.retry.first)
    expect(third.told).toEqual([])
    expect(completed(rows)).toMatchObject([{ jobID: id, status: 'interrupted' }])
  })

  it('keeps what it has printed and its process where a killed server leaves them', async () => {
    const rows = playedRows()
    const killed = serve({ rows })
    const id = await killed.start('server')
    const { options } = killed.running.get('server') ?? {}
    options?.onStart?.(4711)
    options?.onStdout?.('listening\n')
    options?.onStderr?.('and warned\n')
    await killed.effects.clock.advanceAsync(LIMITS.jobs.kept)
    options?.onStdout?.('never kept\n')
    const next = serve({ rows })
    await next.effects.clock.advanceAsync(0)
    expect(next.told).toHaveLength(1)
    expect(next.told[0]).toContain(`job_id: ${id}`)
    expect(next.told[0]).not.toContain('4711')
    expect(next.told[0]).toContain('<background_task_error>\nlistening\nand warned\n</background_task_error>')
    expect(await next.result(id)).toContain('listening\nand warned')
    expect(completed(rows)).toMatchObject([{ jobID: id, status: 'interrupted', result: 'listening\nand warned' }])
  })

  it('keeps all that it had printed when the server was stopped, beginning where too much of it was', async () => {
    const rows = playedRows()
    const first = serve({ rows })
    await first.start('server')
    first.running.get('server')?.options.onStdout?.(`${'x'.repeat(LIMITS.jobs.told)}last words\n`)
    await first.stop()
    const next = serve({ rows })
    await next.effects.clock.advanceAsync(0)
    expect(next.told[0]).toContain('(the beginning was dropped)')
    expect(next.told[0]).toContain('last words')
  })

  it('has a bound for a session, and waits for its turn on a server that runs many', async () => {
    const { start, endOf, result, running, told } = serve()
    const { perSession, atOnce } = LIMITS.jobs
    for (let index = 0; index < perSession; index++) await start(`a${index}`)
    await expect(start('one more')).rejects.toThrow(`at most ${perSession} commands`)
    for (let index = perSession; index < atOnce; index++) await start(`b${index}`, {}, { sessionId: 'ses_2' })
    const id = await start('late', {}, { sessionId: 'ses_3' })
    expect(running.has('late')).toBe(false)
    await endOf('a0')
    expect(running.has('late')).toBe(true)
    await endOf('late')
    expect(told.filter((text) => text.includes(id))).toHaveLength(1)
    expect(await result()).toContain('completed (exit code 0) run a0')
  })

  it('is remembered with others of its session up to a bound', async () => {
    const { start, endOf, result } = serve()
    for (let index = 0; index < LIMITS.jobs.remembered + 3; index++) {
      await start(`c${index}`)
      await endOf(`c${index}`)
    }
    const lines = (await result()).split('\n')
    expect(lines).toHaveLength(LIMITS.jobs.remembered + 1)
    expect(lines.at(-1)).toContain(`run c${LIMITS.jobs.remembered + 2}`)
  })
})

describe('the latest of a stream', () => {
  it('is all of it within the limit, and its end beyond', () => {
    const ring = createRing(10)
    ring.add('abc')
    ring.add('def')
    expect([ring.text(), ring.isCut]).toEqual(['abcdef', false])
    ring.add('ghijkl')
    expect([ring.text(), ring.isCut]).toEqual(['cdefghijkl', true])
    ring.add('x'.repeat(100))
    expect(ring.text()).toBe('x'.repeat(10))
  })

  it('does not begin inside a character, and stays small however much comes', () => {
    const ring = createRing(7)
    ring.add('ääää')
    expect(ring.text()).toBe('äää')
    for (let index = 0; index < 10_000; index++) ring.add(`${index % 10}`)
    expect(ring.text()).toBe('3456789')
  })
})
