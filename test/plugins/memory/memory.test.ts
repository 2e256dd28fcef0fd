// Holds sessions-events §12.1.
/** Notes on a project: kept, found again, shown to later conversations, under permission rules and within bounds. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { memoryPlugin } from '../../../src/plugins/memory/memory.plugin.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { calls, says, startTestService, type TestService } from '../../fakes/service.js'

const start = (config: Record<string, unknown> = { permission: { '*': 'allow' } }) => {
  const effects = createFakeEffects()
  return startTestService({ effects, plugins: [memoryPlugin()], config })
}

/** What the tool answers, or the error it gives. */
async function memory(service: TestService, input: object, sessionId?: string): Promise<string> {
  const id = sessionId ?? (await service.session())
  service.steps.push(calls({ callId: `c${service.requests.length}`, tool: 'memory', input }), says('done'))
  await service.prompt(id, 'go')
  await service.idle(id)
  const part = service
    .messages(id)
    .flatMap(({ parts }) => parts)
    .findLast(({ type }) => type === 'tool')
  if (part?.type !== 'tool') throw new Error('nothing was called')
  return part.state.status === 'completed' ? part.state.output : part.state.status === 'error' ? part.state.error : part.state.status
}

const placeOf = ({ effects }: TestService) => {
  const all = join(effects.paths.state, 'memory')
  return join(all, readdirSync(all)[0] ?? '')
}
const systemOf = ({ requests }: TestService) =>
  (requests.at(-1)?.messages ?? []).flatMap((message) => (message.role === 'system' ? [message.text] : []))

test('a note is kept in a private file, read, replaced and removed', async () => {
  const service = await start()
  const note = {
    operation: 'write',
    name: 'Test runner',
    description: 'How tests\nare run',
    type: 'reference',
    body: 'Use `npm test`.\nNever jest.',
  }
  expect(await memory(service, note)).toBe('The note was kept as test-runner.md.')
  const file = join(placeOf(service), 'test-runner.md')
  const text = '---\nname: "Test runner"\ndescription: "How tests are run"\ntype: "reference"\n---\nUse `npm test`.\nNever jest.\n'
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual([text, 0o600])
  expect(await memory(service, { operation: 'list' })).toBe('- test-runner.md (reference): Test runner - How tests are run')
  expect(await memory(service, { operation: 'read', name: 'Test runner' })).toBe(text)
  expect(await memory(service, { operation: 'search', query: 'JEST' })).toBe('test-runner.md:7: Never jest.')
  expect(await memory(service, { operation: 'recall', query: 'which runner' })).toContain('Never jest.')
  expect(await memory(service, { operation: 'write', path: 'test-runner.md', content: 'Use vitest.' })).toBe(
    'The note was replaced in test-runner.md.',
  )
  expect(await memory(service, { operation: 'recall' })).toContain('description: "How tests are run"\ntype: "reference"\n---\nUse vitest.')
  expect(await memory(service, { operation: 'write', name: 'Test runner', body: ' ' })).toBe('The note test-runner.md was removed.')
  expect(await memory(service, { operation: 'list' })).toBe('There are no notes yet.')
})

test('later conversations are shown a line for each, in one place of what they are told first; the same conversation is told what changed', async () => {
  const service = await start()
  const first = await service.session()
  await memory(service, { operation: 'write', name: 'Ports', description: 'Tests listen on loopback', body: 'Always 127.0.0.1.' }, first)
  expect(systemOf(service).join('\n')).not.toContain('Ports')
  expect(await memory(service, { operation: 'list' })).toContain('ports.md')
  const line = '- ports.md (project): Ports - Tests listen on loopback'
  const told = systemOf(service)
  expect(told.findIndex((text) => text.includes(line))).toBe(1)
  expect(told[1]).toContain('dev.svc.memory/memory/memory')
  expect(told[1]).not.toContain('Always 127.0.0.1.')
  await memory(service, { operation: 'list' }, first)
  expect(systemOf(service).join('\n')).toMatch(/Since this conversation began:[^]*now reads:[^]*ports\.md/)
})

test('rules decide by operation; names lead nowhere else; what is no note is still shown', async () => {
  const service = await start({ permission: { '*': 'allow', memory: { '*': 'allow', write: 'deny' } } })
  expect(await memory(service, { operation: 'write', name: 'a', body: 'b' })).toContain('memory')
  expect(await memory(service, { operation: 'list' })).toBe('There are no notes yet.')
  const open = await start()
  expect(await memory(open, { operation: 'write', fileName: '../../../etc/Passwd.md', body: 'x' })).toBe(
    'The note was kept as etc-passwd.md.',
  )
  expect(await memory(open, { operation: 'write', name: '日本', body: 'x' })).toMatch(/kept as note-[0-9a-f]{8}\.md/)
  expect(await memory(open, { operation: 'read', path: '../../server.json' })).toContain('There is no such note.')
  const place = placeOf(open)
  writeFileSync(join(place, 'by-hand.md'), '---\nname: [broken\n---\nStill here.\n')
  mkdirSync(join(place, 'folder.md'))
  expect(await memory(open, { operation: 'list' })).toContain('- by-hand.md: by-hand\n- etc-passwd.md')
  for (let index = readdirSync(place).length; index < LIMITS.memory.notes + 1; index++) writeFileSync(join(place, `n${index}.md`), 'x')
  expect(await memory(open, { operation: 'write', name: 'one more', body: 'x' })).toContain('the most there may be')
  expect(await memory(open, { operation: 'write', name: 'by-hand', body: 'x' })).toContain('was replaced')
  const large = 'é'.repeat(LIMITS.memory.noteBytes - 10)
  expect(await memory(open, { operation: 'write', name: 'by-hand', body: large })).toContain(`at most ${LIMITS.memory.noteBytes} bytes`)
})
