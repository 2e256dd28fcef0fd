import { expect, it } from 'vitest'
import { createFakeEffects } from './effects.js'

it('fires timers in order at their own time, and lets promises run between them', async () => {
  const { clock } = createFakeEffects()
  const seen: [string, number][] = []
  const mark = (name: string) => () => {
    seen.push([name, clock.monotonic()])
  }
  clock.setTimeout(mark('late'), 50)
  clock.setTimeout(mark('early'), 10)
  clock.setTimeout(() => void Promise.resolve().then(() => clock.setTimeout(mark('chained'), 5)), 20)
  clock.clearTimeout(clock.setTimeout(mark('never'), 1))
  await clock.advanceAsync(100)
  expect(seen).toEqual([
    ['early', 10],
    ['chained', 25],
    ['late', 50],
  ])
  expect([clock.monotonic(), clock.pendingTimers]).toEqual([100, 0])
})

it('repeats ids from run to run', () => {
  expect(createFakeEffects().ids.next('msg')).toBe(createFakeEffects().ids.next('msg'))
})

it('plays scripted processes and refuses others', async () => {
  const { processes } = createFakeEffects()
  processes.script(({ command }) => (command === '/bin/git' ? { stdout: 'clean' } : undefined))
  const options = { args: [], cwd: '/', env: {}, signal: new AbortController().signal, timeoutMs: 1, captureBytes: 1 }
  expect(await processes.run({ ...options, command: '/bin/git' })).toMatchObject({ exitCode: 0, stdout: 'clean' })
  await expect(processes.run({ ...options, command: '/bin/rm' })).rejects.toThrow('no script for: /bin/rm')
  expect(processes.calls.map((call) => call.command)).toEqual(['/bin/git', '/bin/rm'])
})

it('settles a scripted process that never ends when its signal aborts', async () => {
  const { processes } = createFakeEffects()
  processes.script(() => new Promise(() => undefined))
  const controller = new AbortController()
  const run = processes.run({
    command: '/bin/x',
    args: [],
    cwd: '/',
    env: {},
    signal: controller.signal,
    timeoutMs: 1,
    captureBytes: 1,
  })
  controller.abort()
  expect(await run).toMatchObject({ aborted: true, exitCode: null })
  expect(processes.alive).toBe(0)
})

it('lets the test play the child of a pipe', async () => {
  const { processes } = createFakeEffects()
  const heard: string[] = []
  const options = { args: [], cwd: '/', env: {}, inputBacklog: 10, onStderr: () => undefined }
  const onStdout = (chunk: Uint8Array) => void heard.push(Buffer.from(chunk).toString())
  processes.pipe(({ command }) => (command === '/bin/echo' ? (child) => child.onInput((text) => child.stdout(`got ${text}`)) : undefined))
  const pipe = await processes.open({ ...options, command: '/bin/echo', onStdout })
  await expect(processes.open({ ...options, command: '/bin/rm', onStdout })).rejects.toThrow('no pipe script for: /bin/rm')
  const [child] = processes.children
  expect([pipe.write('one'), heard]).toEqual([true, []])
  await Promise.resolve()
  expect(heard).toEqual(['got one'])
  child?.stopReading()
  expect([pipe.write('123456789'), pipe.write('12'), pipe.waiting]).toEqual([true, false, 9])
  pipe.pause()
  child?.stdout('last')
  expect([heard.length, processes.alive]).toEqual([1, 1])
  child?.end({ exitCode: 3 })
  expect(await pipe.ended).toEqual({ exitCode: 3, signal: null })
  await pipe.gone
  expect([heard, child?.input, processes.alive, pipe.write('x')]).toEqual([['got one', 'last'], 'one', 0, false])
})

it('kills the children of pipes with all others', async () => {
  const { processes } = createFakeEffects()
  processes.pipe(() => () => undefined)
  const listener = () => undefined
  const pipe = await processes.open({ command: 'x', args: [], cwd: '/', env: {}, inputBacklog: 1, onStdout: listener, onStderr: listener })
  await processes.killAll()
  expect(await pipe.ended).toEqual({ exitCode: null, signal: 'SIGKILL' })
})
