/** Programs that abuse what they have of the host: what they do times when they do it. `generated.mjs` of the fixtures plays them. */
import { readFileSync } from 'node:fs'
import { PATIENCE } from '../../../fakes/patience.js'
import type { Hostile } from '../../../e2e/plugin/hostile.js'
import { choicesOf } from './random.js'

export interface Abuse {
  readonly act: string
  readonly at: string
  readonly name: string
  /** How its call may end, once it is active. */
  readonly outcome: 'answers' | 'either'
}

const HARMLESS_ACTS = [
  'nothing',
  'late-answers',
  'wrong-ids',
  'garbage',
  'huge-frame',
  'deep-frame',
  'many-keys',
  'log-flood',
  'long-log',
  'another-owner',
  'forks',
  'descriptors',
  'processor',
  'memory',
  'deaf-to-signals',
]
/** What ends it, or holds up its own answer. */
const FATAL_ACTS = [
  // More than a thousand frames in a second that are of no protocol.
  'streams',
  'progress',
  'endless-garbage',
  'half-a-frame',
  'host-flood',
  'host-answers',
  'forks-away',
  'forks-with-pipes',
  'signal-stop',
  'signal-terminate',
  'signal-abort',
  'signal-group',
  'closes-output',
  'closes-input',
  'exits',
  'throws',
  'writes-without-a-line',
]
const MOMENTS = ['call', 'late', 'event', 'end']

/** All of them, in an order that stays. */
export const ABUSES: readonly Abuse[] = MOMENTS.flatMap((at) => [
  ...HARMLESS_ACTS.map((act) => ({ act, at, name: `${act}-${at}`, outcome: 'answers' as const })),
  ...FATAL_ACTS.map((act) => ({ act, at, name: `${act}-${at}`, outcome: 'either' as const })),
])

const FOLDER = new URL('../../../fixtures/plugin-attacks/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, FOLDER), 'utf8')

export const idOf = ({ name }: Abuse) => `hostile.${name}`
export const toolOf = ({ name }: Abuse) => name.replaceAll('-', '_')

export function programOf(abuse: Abuse, seed: number): Hostile {
  const { number, word } = choicesOf(seed, ABUSES.indexOf(abuse))
  const spec = { at: abuse.at, act: abuse.act, many: number(1, 2000), bytes: number(1, 60_000), word: word(number(1, 20)) }
  return {
    id: idOf(abuse),
    agent: { command: ['node', 'plugin.mjs', toolOf(abuse)] },
    files: { 'plugin.mjs': read('generated.mjs'), 'conversation.mjs': read('conversation.mjs'), 'abuse.json': JSON.stringify(spec) },
    options: { timeoutMs: abuse.outcome === 'answers' ? PATIENCE : 1000 },
  }
}
