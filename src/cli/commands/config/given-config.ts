/** Configuration for one command: `key=value`, put over what the environment says. */
import { setProperty } from '../../../actors/resource/config/jsonc-edit.js'
import { parseJsonc } from '../../../actors/resource/config/config-parse.js'
import { isRecord } from '../../../protocol/text/json.js'
import { wrongUse } from '../../line/wrong-use.js'
import { stepsOf } from './key-steps.js'
import { meantValue, refuseUnknown } from './typed-key.js'

const PAIR = /^((?:"[^"]*"|[^"=])+)=([^]*)$/

/** The text for `SVC_AGENT_CONFIG_CONTENT`. Throws where a key is not known, or the text that is there cannot be read. */
export function givenConfig(pairs: readonly string[], before = ''): string {
  const text = before.trim() === '' ? '{}' : before
  if (!parseJsonc(text).ok) throw wrongUse('SVC_AGENT_CONFIG_CONTENT cannot be read as JSON')
  return pairs.reduce((all, pair) => {
    const [, key, value] = PAIR.exec(pair) ?? []
    if (key === undefined || value === undefined) throw wrongUse(`--config takes key=value, not "${pair}"`)
    const steps = stepsOf(key)
    refuseUnknown(steps, '(svc config schema)')
    return withSteps(all, steps, meantValue(value))
  }, text)
}

/** Objects on the way are made where there are none. */
function withSteps(text: string, steps: readonly string[], value: unknown): string {
  let inner: unknown = documentOf(text)
  for (const [index, step] of steps.entries()) {
    const next: unknown = isRecord(inner) ? inner[step] : undefined
    const isLast = index === steps.length - 1
    if (isLast || !isRecord(next)) {
      const rest = steps.slice(index + 1).reduceRight<unknown>((made, each) => ({ [each]: made }), value)
      return setProperty(text, steps.slice(0, index + 1), rest)
    }
    inner = next
  }
  return text
}

function documentOf(text: string): unknown {
  const parsed = parseJsonc(text)
  return parsed.ok ? parsed.value : undefined
}
