/** What a new package is held to by `svc plugin test`: the same in every language, as its templates do the same. Pure. */
import { type Names, namesOf, TEXTS } from './template.js'
import type { Kind } from '../plugin-kinds.js'
import type { Check } from '../check-file.js'

/** Of the file beside the package. */
export function checksFor(id: string, kinds: readonly Kind[]): string {
  return `${JSON.stringify({ checks: kinds.map((kind) => CHECKS[kind](namesOf(id))) }, null, 2)}\n`
}

const CHECKS: Readonly<Record<Kind, (names: Names) => Check>> = {
  tool: ({ word }) => ({ tool: word, input: { name: 'Ada' }, expect: { title: `${word} Ada`, output: 'Hello, Ada!' } }),
  hook: ({ word }) => ({ hook: 'shell.env', context: { cwd: '/' }, value: { A: '1' }, expect: { A: '1', [word.toUpperCase()]: '1' } }),
  event: () => ({ event: { type: 'session.created' }, log: 'heard session.created' }),
  command: ({ short }) => ({ service: 'commands', id: `${short}-commands`, expect: [{ name: short, template: TEXTS.template }] }),
  agent: ({ short }) => ({ service: 'agents', id: `${short}-agents`, expect: { agents: [{ name: short, mode: 'subagent' }] } }),
  context: ({ short }) => ({ service: 'systemContext', id: `${short}-context`, expect: [{ id: short, content: TEXTS.context }] }),
  route: ({ short }) => ({ route: `${short}-status`, expect: { status: 200, body: { ok: true } } }),
  socket: ({ short }) => ({
    socket: `${short}-echo`,
    send: [{ kind: 'text', data: 'hello' }, { kind: 'close' }],
    expect: [
      { kind: 'text', data: 'ready' },
      { kind: 'text', data: 'hello' },
    ],
  }),
  provider: ({ short }) => ({
    provider: short,
    request: { providerId: short, modelId: 'echo', messages: [{ role: 'user', content: 'hello' }] },
    expect: [{ type: 'text-start' }, { type: 'text-delta', delta: 'hello' }, { type: 'text-end' }, { type: 'finish', finish: 'stop' }],
  }),
}
