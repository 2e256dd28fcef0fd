/** Answers of a model that no model gives. */
import { bytes, finish, type Reply, reply, type Step, text, toolCall, usageChunk } from '../../fixtures/model-server.js'
import type { Flood, Flooded } from './scene.js'

const KiB = 1024
const MiB = 1024 * KiB

const event = (delta: object) => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`
/** The same event many times, written a thousand at a time. */
const many = (piece: string, count: number) => [
  ...Array.from({ length: Math.floor(count / 1000) }, () => bytes(piece.repeat(1000))),
  bytes(piece.repeat(count % 1000)),
]
const whole = (...steps: readonly (Step | readonly Step[])[]): Reply => reply(...steps, text('end'), finish('stop'))
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

const REPLIES: Readonly<Record<string, (share: number) => readonly Reply[]>> = {
  'one event of 30 MiB': (share) => [whole(bytes(event({ content: 'x'.repeat(30 * MiB * share) })))],
  'one event within its bound': (share) => [whole(bytes(event({ content: 'x'.repeat(1000 * KiB * share) })))],
  'events within their bound': (share) => [whole(many(event({ content: 'x'.repeat(1000 * KiB) }), Math.ceil(25 * share)))],
  'one line of 30 MiB without an end': (share) => [reply(bytes(`data: ${'x'.repeat(30 * MiB * share)}`))],
  newlines: (share) => [whole(bytes('\n'.repeat(900 * KiB * share)), bytes('\n'.repeat(8 * MiB * share)))],
  'empty events': (share) => [whole(many('data: \n\n', 100_000 * share))],
  comments: (share) => [whole(many(': keep alive\n\n', 1_000_000 * share))],
  'lines of one event': (share) => [whole(bytes(`${'data: x\n'.repeat(100_000 * share)}\n`))],
  'tiny deltas': (share) => [whole(many(event({ content: 'x' }), 200_000 * share))],
  'tiny deltas of newlines': (share) => [whole(many(event({ content: '\n' }), 200_000 * share))],
  'tiny thoughts': (share) => [whole(many(event({ reasoning_content: 'x' }), 200_000 * share))],
  'thoughts and text in turn': (share) => [whole(many(event({ reasoning_content: 'x' }) + event({ content: 'y' }), 100_000 * share))],
  'empty deltas': (share) => [whole(many(event({}), 200_000 * share))],
  'arguments of 5 MiB in pieces of a byte': (share) => [
    reply(
      bytes(event({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'glob', arguments: '' } }] })),
      many(event({ tool_calls: [{ index: 0, function: { arguments: ' ' } }] }), 360_000 * share),
      finish('tool_calls'),
    ),
  ],
  'arguments of 5 MiB at once': (share) => [
    reply(toolCall({ id: 'c', name: 'glob', input: { pattern: 'x'.repeat(5 * MiB * share) }, pieces: 6 }), finish('tool_calls')),
  ],
  'arguments of 500 KiB, 20 times': (share) => [
    reply(
      ...Array.from({ length: Math.ceil(20 * share) }, (_, index) =>
        toolCall({
          id: `c${index}`,
          index,
          name: 'write',
          input: { filePath: `f${index}`, content: 'x\n'.repeat(120 * KiB) },
          pieces: 100,
        }),
      ),
      finish('tool_calls'),
    ),
  ],
  'arguments of many values': (share) => [
    reply(toolCall({ id: 'c', name: 'glob', input: `[${'{},'.repeat(160_000 * share)}1]`, pieces: 10 }), finish('tool_calls')),
  ],
  'deep arguments': (share) => [reply(toolCall({ id: 'c', name: 'glob', input: nested(250_000 * share) }), finish('tool_calls'))],
  'deep JSON': (share) => [whole(bytes(`data: {"choices":[{"delta":{"content":"x"}}],"deep":${nested(500_000 * share)}}\n\n`))],
  'many values': (share) => [whole(bytes(`data: {"choices":[{"delta":{"content":"x"}}],"many":[${'{},'.repeat(300_000 * share)}1]}\n\n`))],
  'many choices': (share) => [whole(bytes(`data: {"choices":[${'{"delta":{"content":"x"}},'.repeat(30_000 * share)}{}]}\n\n`))],
  'many calls': (share) => [
    reply(
      ...Array.from({ length: 10_000 * share }, (_, index) =>
        toolCall({ id: `c${index}`, index, name: 'glob', input: { pattern: '*.md' } }),
      ),
      finish('tool_calls'),
    ),
  ],
  'many usages': (share) => [whole(...Array.from({ length: 20_000 * share }, () => usageChunk()))],
  'long names': (share) => [whole(toolCall({ id: 'i'.repeat(200 * KiB * share), name: 'n'.repeat(500 * KiB * share), input: {} }))],
  'a refusal of 30 MiB': (share) => [{ status: 400, body: 'x'.repeat(30 * MiB * share) }],
  'no JSON': (share) => [whole(many('data: {{{{{{{{\n\n', 100_000 * share))],
}

const flood = (name: string, replies: (share: number) => readonly Reply[]): Flood => ({
  name,
  run: ({ ask, size }: Flooded) => ask(replies(size === 'whole' ? 1 : 0.05)),
})

export const ANSWERS: readonly Flood[] = Object.entries(REPLIES).map(([name, replies]) => flood(name, replies))
const SAMPLE = ['one event of 30 MiB', 'tiny deltas', 'arguments of 5 MiB in pieces of a byte', 'deep JSON', 'many values']
export const SAMPLED_ANSWERS = ANSWERS.filter(({ name }) => SAMPLE.includes(name))
