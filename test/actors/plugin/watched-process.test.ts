import { describe, expect, test } from 'vitest'
import { createEventSender } from '../../../src/actors/plugin/process/external-events.js'
import { createPluginLog } from '../../../src/actors/plugin/process/plugin-log.js'
import type { ProcessWatch } from '../../../src/actors/plugin/process/process-spec.js'
import { createInstanceIds, pluginEnvironment } from '../../../src/actors/plugin/process/process-spec.js'
import { createWatchdog } from '../../../src/actors/plugin/process/watchdog.js'
import type { PluginEvent } from '../../../src/protocol/plugin/plugin-requests.js'
import { createFakeClock } from '../../../src/simulation/clock.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { playLink } from './played-link.js'

describe('a watched process', () => {
  const watch = (limits: ProcessWatch) => {
    const clock = createFakeClock()
    const broken: string[] = []
    const memory = { bytes: 0, looks: 0 }
    const residentBytes = () => (memory.looks++, memory.bytes)
    const watchdog = createWatchdog({ clock, watch: limits, residentBytes, onBroken: (reason) => broken.push(reason) })
    return { clock, broken, memory, watchdog }
  }

  test('has to load within its budget, which begins with its first byte', () => {
    const { clock, broken, watchdog } = watch({ loadBudget: 250 })
    clock.advance(5000)
    watchdog.started()
    clock.advance(249)
    watchdog.started()
    expect(broken).toEqual([])
    clock.advance(1)
    expect(broken).toEqual(['The plugin did not load within 250 ms.'])
  })

  test('is left alone once it has loaded', () => {
    const { clock, broken, watchdog } = watch({ loadBudget: 250, callBudget: 1000 })
    watchdog.started()
    watchdog.loaded()
    clock.advance(10_000)
    expect(broken).toEqual([])
    expect(clock.pendingTimers).toBe(0)
  })

  test('has to answer some call within the budget while any waits', () => {
    const { clock, broken, watchdog } = watch({ callBudget: 1000 })
    watchdog.loaded()
    watchdog.sent(2)
    clock.advance(600)
    watchdog.sent(3)
    watchdog.replied(2)
    clock.advance(999)
    expect(broken).toEqual([])
    clock.advance(1)
    expect(broken).toEqual(['The plugin did not answer within 1000 ms.'])
  })

  test('is not timed when nothing waits', () => {
    const { clock, broken, watchdog } = watch({ callBudget: 1000 })
    watchdog.loaded()
    watchdog.sent(2)
    watchdog.replied(2)
    clock.advance(5000)
    watchdog.sent(3)
    clock.advance(999)
    expect(broken).toEqual([])
  })

  test('is measured every 250 ms while it loads or a call waits, and not otherwise', () => {
    const { clock, broken, memory, watchdog } = watch({ processBytes: 64 * 1024 * 1024 })
    watchdog.started()
    clock.advance(500)
    watchdog.loaded()
    expect(memory.looks).toBe(2)
    clock.advance(5000)
    expect(memory.looks).toBe(2)
    watchdog.sent(1)
    clock.advance(250)
    expect(memory.looks).toBe(3)
    memory.bytes = 65 * 1024 * 1024
    clock.advance(250)
    expect(broken).toEqual(['The plugin process uses 65 MiB of memory; it may use 64 MiB.'])
    expect(clock.pendingTimers).toBe(0)
  })
})

describe('the log of a plugin', () => {
  const start = () => {
    const effects = createFakeEffects()
    const problems: unknown[] = []
    const log = createPluginLog({
      clock: effects.clock,
      log: effects.log,
      pluginId: 'dev.example.x',
      instanceId: 'plugin-instance-1',
      onProblem: (problem) => problems.push(problem),
      shown: { from: '/copies/1/', to: '/home/ada/x/' },
    })
    return { effects, problems, write: (text: string) => log.receive(Buffer.from(text)), log }
  }

  test('has one record per line, with the plugin it comes from', () => {
    const { effects, write, log } = start()
    write('one\ntwo')
    log.end()
    const ids = { pluginId: 'dev.example.x', instanceId: 'plugin-instance-1' }
    expect(effects.logs.map(({ fields }) => fields)).toEqual([
      { ...ids, line: 'one' },
      { ...ids, line: 'two' },
    ])
    expect(log.lastWords).toBe('two')
  })

  test('names files where their author has them', () => {
    const { effects, write, log } = start()
    write('File "/copies/1/plugin.py", line 3')
    log.end()
    expect(effects.logs.map(({ fields }) => fields?.['line'])).toEqual(['File "/home/ada/x/plugin.py", line 3'])
  })

  test('has at most 50 lines a second and counts the rest', () => {
    const { effects, problems, write } = start()
    write('x\n'.repeat(60))
    expect(effects.logs).toHaveLength(50)
    expect(problems).toEqual([expect.objectContaining({ code: 'log' })])
    effects.clock.advance(1000)
    write('y\n')
    expect(effects.logs.at(-1)?.fields).toMatchObject({ line: 'y', droppedBefore: 10 })
  })

  test.each([
    [
      'of Node',
      'Error: no licence\n    at main (file:///x/plugin.mjs:1:7)\n    at run (file:///x/other.mjs:2:3)\n\nNode.js v20.20.2\n',
      'Error: no licence (/x/plugin.mjs:1)',
    ],
    [
      'of Node that does not parse',
      '/copies/1/plugin.js:3\n  let = \n      ^\n\nSyntaxError: let\n    at wrapSafe (node:internal:1:2)\n',
      'SyntaxError: let (/home/ada/x/plugin.js:3)',
    ],
    [
      'of Python',
      'Traceback (most recent call last):\n  File "/x/a.py", line 9, in <module>\n    main()\n  File "/x/b.py", line 3, in main\n    raise ValueError("no")\nValueError: no\n',
      'ValueError: no (/x/b.py:3)',
    ],
    [
      'of Python that does not parse',
      '  File "/x/a.py", line 2\n    def (\n        ^\nSyntaxError: invalid syntax\n',
      'SyntaxError: invalid syntax (/x/a.py:2)',
    ],
    ['that names its place itself', '/x/a.js:1\nmissing\n^\nTypeError: at /x/a.js:1\n', 'TypeError: at /x/a.js:1'],
    ['without a place', 'gone\n    at nowhere\n', 'gone'],
  ])('quotes the error of a program that fell over and where it was: %s', (_name, text, expected) => {
    const { write, log } = start()
    write(text)
    expect(log.lastWords).toBe(expected)
  })

  test('drops lines over 64 KiB with a warning', () => {
    const { effects, problems, write } = start()
    write(`${'x'.repeat(65_536)}\n${'y'.repeat(65_537)}\nz\n`)
    expect(effects.logs.map(({ level }) => level)).toEqual(['info', 'warn', 'info'])
    expect(problems).toEqual([expect.objectContaining({ code: 'log' })])
  })
})

describe('events for a plugin', () => {
  const event = (number: number): PluginEvent => ({ id: `evt_${number}`, type: 'session.x', sequence: number, properties: {} })

  test('wait while it does not read, the oldest are dropped, which is told once, and the rest come in order', () => {
    const { link, sent, clock, setWaiting } = playLink()
    const problems: string[] = []
    const sender = createEventSender({ link, clock, onProblem: ({ code }) => void problems.push(code) })
    sender.deliver(event(0))
    setWaiting(300_000)
    for (let number = 1; number <= 300; number++) sender.deliver(event(number))
    expect(sent).toEqual([{ method: 'event', params: event(0) }])
    expect(problems).toEqual(['flood'])
    setWaiting(0)
    clock.advance(100)
    expect(sent.slice(1)).toEqual(Array.from({ length: 256 }, (_, index) => ({ method: 'event', params: event(index + 45) })))
    expect(clock.pendingTimers).toBe(0)
  })

  test('that do not fit one frame are dropped, and the plugin lives on', () => {
    const { link, sent, clock, failures } = playLink()
    const problems: string[] = []
    const sender = createEventSender({ link, clock, onProblem: ({ message }) => void problems.push(message) })
    sender.deliver({ ...event(1), properties: 'x'.repeat(1024 * 1024) })
    sender.deliver(event(2))
    expect(sent).toHaveLength(1)
    expect(problems).toEqual([expect.stringContaining('do not fit in a frame')])
    expect(failures).toEqual([])
  })
})

describe('the environment of a plugin', () => {
  test('is the allow-listed one, what tells it who it is, and the overrides of the installation last', () => {
    const effects = createFakeEffects({ childEnv: { PATH: '/bin', LANG: 'C' } })
    const options = { pluginId: 'dev.example.x', directory: '/place', serverUrl: 'http://127.0.0.1:4000' }
    expect(pluginEnvironment(effects, { ...options, overrides: { LANG: 'de', KEY: '1' } })).toEqual({
      PATH: '/bin',
      LANG: 'de',
      KEY: '1',
      SVC_PLUGIN_ID: 'dev.example.x',
      SVC_PLUGIN_PROTOCOL: 'svc-plugin/2',
      SVC_WORKSPACE_DIR: '/place',
      SVC_AGENT_SERVER_URL: 'http://127.0.0.1:4000',
    })
  })

  test('names every instance once', () => {
    const next = createInstanceIds()
    expect([next(), next()]).toEqual(['plugin-instance-1', 'plugin-instance-2'])
  })
})
