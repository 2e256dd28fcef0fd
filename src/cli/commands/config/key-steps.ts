/** A key of the configuration as it is typed: steps between dots, and in quotes a step that has dots itself (`provider.x.models."a.b".name`). Pure. */
import { wrongUse } from '../../line/wrong-use.js'

const STEP = /(?:"([^"]+)"|([^."]+))(\.(?!$)|$)/y
/** What an entry of a plugin has: what comes before is its id, which always has dots (plugin-protocol §1.2). */
const OF_A_PLUGIN = new Set(['enabled', 'options'])

/** Throws where it is no key. */
export function stepsOf(key: string): readonly string[] {
  const steps: string[] = []
  STEP.lastIndex = 0
  while (STEP.lastIndex < key.length) {
    const [, quoted, plain] = STEP.exec(key) ?? []
    const step = quoted ?? plain
    if (step === undefined) throw wrongUse(`"${key}" is no key: write steps with dots between them, and one with dots of its own in quotes`)
    steps.push(step)
  }
  return withPluginId(steps)
}

function withPluginId(steps: readonly string[]): readonly string[] {
  const at = steps[0] === 'agent' ? 1 : 0
  const first = at + 1
  if (steps[at] !== 'plugins' || steps[first] === undefined) return steps
  const idUntil = (end: number) => steps.slice(first, end).join('.')
  const found = steps.findIndex((step, index) => index > first && OF_A_PLUGIN.has(step) && idUntil(index).includes('.'))
  const end = found === -1 ? steps.length : found
  return [...steps.slice(0, first), idUntil(end), ...steps.slice(end)]
}
